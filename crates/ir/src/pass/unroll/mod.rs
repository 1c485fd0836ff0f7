//! Unrolling: a loop that runs a known, small number of rounds becomes that many copies of its body.
//!
//! The counter is then a constant in each copy, and so are, after simplification, the offsets that depend on it: an
//! array in local memory that is indexed by the counter can become values (see [`promote`](crate::pass::promote)).
//!
//! Unrolled are, if there are at most [`MAX_ROUNDS`] rounds, and at most [`MAX_OPS`] operations afterwards
//! ([`MAX_OPS_LOCAL`] if the body uses local memory):
//!
//! - a `For` whose `lo`, `hi` and `step` are constants and the step positive, whose body ends with its `Continue` and
//!   has no other jump of its label;
//! - a `Loop` with one `Continue`, at its end, and one `Break`, at the end of an arm of an `If` in its body, whose
//!   condition is known in each round, because it follows from constants that the loop carries.
//!
//! A `For` whose rounds share no line of memory is left to [`partial_unroll`]: more of its rounds at a time than that
//! pass has would take registers and gain little (`docs/passes.md`).
//!
//! Inner loops come first. When the kernel has [`MAX_KERNEL_OPS`] operations, no more are added.
//!
//! Right because round after round runs the same operations on the same values. A barrier in the body is copied too:
//! with a number of rounds that is the same for all threads, they meet at it in the same round.

mod rounds;

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use crate::pass::constants::{Constants, Prologue};
use crate::pass::partial_unroll;
use crate::pass::rewrite::{Copier, Substitution};
use crate::pass::uses::LabelCounts;
use crate::types::Const;

/// The most rounds that are unrolled.
pub const MAX_ROUNDS: usize = 64;
/// The most operations, constants not counted, that a loop may unroll to.
pub const MAX_OPS: usize = 1024;
/// The most operations that a loop may unroll to if its body uses local memory, which may then become values.
pub const MAX_OPS_LOCAL: usize = 4096;
/// Unrolling stops when the kernel has so many operations.
pub const MAX_KERNEL_OPS: usize = 16_384;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let constants = Constants::of(kernel);
    let labels = LabelCounts::of(kernel);
    let ops = kernel.op_count();
    let mut body = std::mem::take(&mut kernel.body);
    let mut unroller = Unroller {
        copier: Copier::new(Substitution::new(kernel)),
        prologue: Prologue::take(&mut body),
        kernel,
        constants,
        labels,
        ops,
        changed: false,
    };
    unroller.block(&mut body);
    let changed = unroller.changed;
    unroller.prologue.put(&mut body);
    kernel.body = body;
    changed
}

struct Unroller<'k> {
    kernel: &'k mut Kernel,
    constants: Constants,
    labels: LabelCounts,
    prologue: Prologue,
    /// Also what stands in for the results of loops that are gone.
    copier: Copier,
    /// About how many operations the kernel has.
    ops: usize,
    changed: bool,
}

impl Unroller<'_> {
    /// Unrolls in a block; gives how many operations it has then, constants not counted.
    fn block(&mut self, block: &mut Block) -> usize {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        let mut ops = 0;
        for mut inst in insts {
            self.copier.values.apply(&mut inst);
            let inner: usize = inst.blocks.iter_mut().map(|nested| self.block(nested)).sum();
            let after = match inst.op {
                Op::For(label) => self.count(&inst, label, inner, &mut block.insts),
                Op::Loop(label) => self.repeat(&inst, label, inner, &mut block.insts),
                _ => None,
            };
            match after {
                Some(after) => {
                    self.changed = true;
                    self.ops += after;
                    ops += after;
                }
                None => {
                    ops += inner + usize::from(!matches!(inst.op, Op::Const(_)));
                    block.insts.push(inst);
                }
            }
        }
        ops
    }

    /// Unrolls a `For` with so many operations in it, if it is to be; gives how many operations it becomes.
    fn count(&mut self, inst: &Inst, label: Label, ops: usize, out: &mut Vec<Inst>) -> Option<usize> {
        let rounds = self.counter_values(inst, label)?;
        if partial_unroll::streams(self.kernel, &self.constants, &self.labels, inst) {
            return None;
        }
        let after = self.affordable(&inst.blocks[0], ops, rounds.len())?;
        let body = &inst.blocks[0];
        let counter = body.params[0];
        let ty = self.kernel.ty(counter);
        let (last, insts) = body.insts.split_last()?;
        let mut carried: Vec<Value> = inst.args[3..].to_vec();
        for i in rounds {
            let value = self.prologue.value(self.kernel, Const::int(ty.scalar, i), ty);
            self.copier.values.set(counter, value);
            self.copier.values.set_all(&body.params[1..], &carried);
            out.extend(self.copier.copy_insts(self.kernel, insts));
            carried = last.args.iter().map(|&arg| self.copier.values.get(arg)).collect();
        }
        self.copier.values.set_all(&inst.results, &carried);
        Some(after)
    }

    /// The values of the counter, if they are known.
    fn counter_values(&self, inst: &Inst, label: Label) -> Option<Vec<i128>> {
        let [lo, hi, step] = [0, 1, 2].map(|i| self.constants.int(inst.args[i]));
        let (lo, hi, step) = (lo?, hi?, step?);
        let last = inst.blocks[0].insts.last()?;
        let jumps = self.labels.breaks(label) + self.labels.continues(label);
        if step <= 0 || last.op != Op::Continue(label) || jumps != 1 || hi - lo > step * MAX_ROUNDS as i128 {
            return None;
        }
        Some(std::iter::successors(Some(lo), |i| Some(i + step)).take_while(|&i| i < hi).collect())
    }

    /// How many operations so many copies of a body of `ops` operations are, if that is not too many.
    fn affordable(&self, body: &Block, ops: usize, rounds: usize) -> Option<usize> {
        let limit = if uses_local(self.kernel, body) { MAX_OPS_LOCAL } else { MAX_OPS };
        let after = ops * rounds;
        (after <= limit && self.ops + after <= MAX_KERNEL_OPS).then_some(after)
    }
}

/// Whether a block touches local memory.
fn uses_local(kernel: &Kernel, block: &Block) -> bool {
    let mut uses = false;
    block.visit(&mut |inst| {
        uses |= inst.op.access().is_some_and(|access| kernel.is_local_memory(access.mem));
    });
    uses
}
