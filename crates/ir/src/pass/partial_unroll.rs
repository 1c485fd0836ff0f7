//! Partial unrolling: a loop of many rounds that waits for memory becomes a loop of several rounds at a time, and one for the
//! rounds that are left.
//!
//! ```text
//!                                         %n = max %hi, %lo          (as far as they are not constants)
//!                                         %all = sub %n, %lo
//!                                         %whole = and %all, -4
//!                                         %mid = add %lo, %whole
//! for ^0 %k = %lo to %hi step 1 {         for ^1 %k = %lo to %mid step 4 {
//!     %i = add %row, %k                       %i = add %row, %k
//!     %x = load %a[%i]                        %x = load %a[%i]
//!     ...                          =>         ...
//!     continue ^0 %next                       %i.1 = add %i, 1
//! }                                           %x.1 = load %a[%i.1]
//!                                             ... and twice more
//!                                             continue ^1 %next.3
//!                                         }
//!                                         for ^0 %k = %mid to %hi step 1 { as before }
//! ```
//!
//! The loads of several rounds are under way together then, on devices whose compilers do not see to that themselves, and
//! those of neighbouring elements can become one load of several lanes ([`vectorize`](crate::pass::vectorize)). An offset that
//! grows by the same amount in each round is a sum, not computed anew.
//!
//! **Which.** A `For` whose counter is an integer and whose step is a constant power of two, where all threads of a block run
//! the same rounds: so the rounds that are left cost the block no time that others would fill. It is left at its end alone, and
//! its body is plain operations, at most [`MAX_OPS`] after all, of which none can be a fault, and some load from memory of the
//! device, at most [`MAX_BYTES`] after all. It is not known to have fewer than two times [as many rounds as are run at a
//! time](FACTORS). When the kernel has [`MAX_KERNEL_OPS`] operations, no more are added.
//!
//! **Why it is right.** The same operations are run on the same values, in the same order. `%mid` is not above `%hi`, unless no
//! round is run, since a multiple of the new step that is at most `%hi - %lo` is added to `%lo`; and each round of the first
//! loop starts at least a new step below `%mid`, so none of its counters is beyond `%hi`.

use crate::analysis::uniform::{Ended, Uniform};
use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{Access, BinaryOp, Effect, Label, Op};
use crate::pass::constants::{Constants, Prologue};
use crate::pass::effects;
use crate::pass::rewrite::{Copier, Substitution};
use crate::pass::unroll::MAX_KERNEL_OPS;
use crate::pass::uses::LabelCounts;
use crate::span::Span;
use crate::types::{Const, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// How many rounds are run at a time: the first number with which the body does not become too large.
pub const FACTORS: [usize; 3] = [8, 4, 2];

/// Bytes of a line of memory: rounds that are farther apart share none.
const LINE: i128 = 128;

/// The most operations, constants not counted, that the body of a loop may become.
pub const MAX_OPS: usize = 128;

/// The most bytes that a round of the loop loads from memory of the device: 1024 threads of a multiprocessor, half of what it can
/// hold, have 64 KiB under way with it. To keep its memory busy an H200 needs half of that (4.8 TB/s for 0.8 us, over 132
/// multiprocessors), and each load has registers meanwhile that other threads could have.
pub const MAX_BYTES: usize = 64;

/// The largest step of a loop.
const MAX_STEP: i128 = 1 << 16;

/// The bytes that a run of a block loads from memory of the device, each of its loads once.
pub fn loaded_bytes(kernel: &Kernel, block: &Block) -> usize {
    let mut bytes = 0;
    block.visit(&mut |inst| {
        if let (Op::Load(Access { mem: MemRef::Param(_), .. }), Some(result)) = (&inst.op, inst.result()) {
            bytes += kernel.ty(result).size();
        }
    });
    bytes
}

/// Whether the pass would change the kernel.
pub fn applies(kernel: &Kernel) -> bool {
    let constants = Constants::of(kernel);
    let labels = LabelCounts::of(kernel);
    let room = room(kernel);
    let mut candidates = Vec::new();
    kernel.body.visit(&mut |inst| {
        if factor(kernel, &constants, &labels, inst).is_some_and(|(_, ops)| ops <= room) {
            candidates.push(inst);
        }
    });
    if candidates.is_empty() {
        return false;
    }
    let uniform = Uniform::analyze(kernel, Ended::Gone, None);
    candidates.iter().any(|inst| is_common(&uniform, inst))
}

/// Runs the pass; gives whether the kernel has changed. It is to run once: the loops that it makes may be such loops again.
pub fn run(kernel: &mut Kernel) -> bool {
    if !applies(kernel) {
        return false;
    }
    let constants = Constants::of(kernel);
    let labels = LabelCounts::of(kernel);
    let uniform = Uniform::analyze(kernel, Ended::Gone, None);
    let room = room(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let prologue = Prologue::take(&mut body);
    let mut unroller = Unroller { kernel, constants, labels, uniform, prologue, room };
    unroller.block(&mut body);
    unroller.prologue.put(&mut body);
    kernel.body = body;
    true
}

/// Whether the pass would unroll a loop whose rounds are the same in all threads, and little would be gained by more: each of
/// its rounds accesses lines of memory that the others do not.
pub(super) fn streams(kernel: &Kernel, constants: &Constants, labels: &LabelCounts, inst: &Inst) -> bool {
    if factor(kernel, constants, labels, inst).is_none() {
        return false;
    }
    let body = &inst.blocks[0];
    let slopes = Slopes::of_body(kernel, constants, body, inst.args[2]);
    let is_apart = |inst: &Inst| match inst.op.access() {
        Some(access) => {
            let bytes = kernel.mem_elem(access.mem).map_or(0, |elem| elem.size() as i128);
            let slope = slopes.by_value.get(&inst.args[0]).copied().flatten();
            matches!((access.mem, slope), (MemRef::Param(_), Some(Slope::Constant(slope))) if slope * bytes >= LINE)
        }
        None => true,
    };
    body.insts.iter().all(is_apart)
}

/// How many operations a kernel may have more.
fn room(kernel: &Kernel) -> usize {
    MAX_KERNEL_OPS.saturating_sub(kernel.op_count())
}

/// Whether all threads of a block run the same rounds.
fn is_common(uniform: &Uniform, inst: &Inst) -> bool {
    inst.args[..2].iter().all(|&arg| !uniform.varies(arg))
}

/// How many rounds of a loop are to be run at a time, if several are, and how many operations they are.
fn factor(
    kernel: &Kernel,
    constants: &Constants,
    labels: &LabelCounts,
    inst: &Inst,
) -> Option<(usize, usize)> {
    let Op::For(label) = inst.op else { return None };
    let (lo, hi) = (constants.int(inst.args[0]), constants.int(inst.args[1]));
    let step = constants.int(inst.args[2])?;
    if step <= 0 || step > MAX_STEP || step & (step - 1) != 0 {
        return None;
    }
    // The number of rounds of a loop that counts from below zero may be too large for its type.
    if kernel.ty(inst.args[0]).scalar.is_signed_int() && lo.is_none_or(|lo| lo < 0) {
        return None;
    }
    let (last, insts) = inst.blocks[0].insts.split_last()?;
    if last.op != Op::Continue(label) || labels.breaks(label) + labels.continues(label) != 1 {
        return None;
    }
    let is_plain = |inst: &Inst| {
        let access = inst.op.access();
        let is_memory = matches!(inst.op, Op::Load(_) | Op::Store(_));
        let is_pure = effects::effect(kernel, constants, inst) == Effect::Pure;
        inst.blocks.is_empty()
            && (is_pure || is_memory)
            && access.is_none_or(|access| access.bounds.is_empty())
    };
    let bytes = loaded_bytes(kernel, &inst.blocks[0]);
    if !insts.iter().all(is_plain) || bytes == 0 {
        return None;
    }
    let ops = insts.iter().filter(|inst| !matches!(inst.op, Op::Const(_))).count();
    let factor = FACTORS.into_iter().find(|factor| factor * ops <= MAX_OPS && factor * bytes <= MAX_BYTES)?;
    let is_many = |rounds: i128| rounds >= 2 * factor as i128;
    lo.zip(hi).is_none_or(|(lo, hi)| is_many((hi - lo) / step)).then_some((factor, factor * ops))
}

struct Unroller<'k> {
    kernel: &'k mut Kernel,
    constants: Constants,
    labels: LabelCounts,
    uniform: Uniform,
    prologue: Prologue,
    /// How many operations there may be more.
    room: usize,
}

impl Unroller<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            match factor(self.kernel, &self.constants, &self.labels, &inst) {
                Some((factor, ops)) if ops <= self.room && is_common(&self.uniform, &inst) => {
                    self.room -= ops;
                    self.unroll(inst, factor, &mut block.insts);
                }
                _ => {
                    inst.blocks.iter_mut().for_each(|inner| self.block(inner));
                    block.insts.push(inst);
                }
            }
        }
    }

    fn unroll(&mut self, mut rest: Inst, factor: usize, out: &mut Vec<Inst>) {
        let ty = self.kernel.ty(rest.args[0]);
        let long = self.constants.int(rest.args[2]).unwrap_or(1) * factor as i128;
        let mid = self.mid(&rest, long, out);
        let long = self.prologue.value(self.kernel, Const::int(ty.scalar, long), ty);
        let label = self.kernel.new_label();
        let body = self.rounds(&rest.blocks[0], label, factor, rest.args[2], out);

        let initial = rest.args[3..].iter().copied();
        let args = [rest.args[0], mid, long].into_iter().chain(initial);
        let results: Vec<Value> =
            rest.results.iter().map(|&result| self.kernel.new_value(self.kernel.ty(result))).collect();
        let mut main = Inst::new(Op::For(label), args, results, rest.span);
        main.blocks.push(body);
        rest.args[0] = mid;
        rest.args.truncate(3);
        rest.args.extend_from_slice(&main.results);
        out.extend([main, rest]);
    }

    /// Where the first loop ends.
    fn mid(&mut self, inst: &Inst, long: i128, out: &mut Vec<Inst>) -> Value {
        let (lo, hi) = (inst.args[0], inst.args[1]);
        let ty = self.kernel.ty(lo);
        if let (Some(first), Some(end)) = (self.constants.int(lo), self.constants.int(hi)) {
            let mid = first + (end - first) / long * long;
            return self.prologue.value(self.kernel, Const::int(ty.scalar, mid), ty);
        }
        let mask = self.prologue.value(self.kernel, Const::int(ty.scalar, -long), ty);
        let mut binary = |op, a, b| {
            let result = self.kernel.new_value(ty);
            out.push(Inst::new(Op::Binary(op), [a, b], [result], inst.span));
            result
        };
        let end = binary(BinaryOp::Max, hi, lo);
        let all = binary(BinaryOp::Sub, end, lo);
        let whole = binary(BinaryOp::And, all, mask);
        binary(BinaryOp::Add, lo, whole)
    }

    /// The body of a loop that runs several rounds of another. What it needs from before the loop goes to `before`.
    fn rounds(
        &mut self,
        body: &Block,
        label: Label,
        factor: usize,
        step: Value,
        before: &mut Vec<Inst>,
    ) -> Block {
        let Some((last, insts)) = body.insts.split_last() else { return Block::default() };
        let growth = self.growth(body, step, before);
        let needed = needed(insts, last, &growth);
        let mut copier = Copier::new(Substitution::new(self.kernel));
        let new_value = |&value: &Value| self.kernel.new_value(self.kernel.ty(value));
        let params: Vec<Value> = body.params.iter().map(new_value).collect();
        copier.values.set_all(&body.params, &params);
        let mut out = copier.copy_insts(self.kernel, insts);
        let next = |copier: &Copier| last.args.iter().map(|&arg| copier.values.get(arg)).collect::<Vec<_>>();
        for _ in 1..factor {
            let carried = next(&copier);
            self.grow(&mut copier, body.params[0], step, last.span, &mut out);
            copier.values.set_all(&body.params[1..], &carried);
            for (inst, &is_needed) in insts.iter().zip(&needed) {
                match inst.result().and_then(|result| growth.get(&result)) {
                    Some(&amount) => self.grow(&mut copier, inst.results[0], amount, inst.span, &mut out),
                    None if is_needed => {
                        out.extend(copier.copy_insts(self.kernel, std::slice::from_ref(inst)));
                    }
                    None => {}
                }
            }
        }
        out.push(Inst::new(Op::Continue(label), next(&copier), [], last.span));
        Block { params, insts: out }
    }

    /// Makes the copy of a value be what it was in the round before, and an amount.
    fn grow(&mut self, copier: &mut Copier, value: Value, amount: Value, span: Span, out: &mut Vec<Inst>) {
        let now = self.kernel.new_value(self.kernel.ty(value));
        out.push(Inst::new(Op::Binary(BinaryOp::Add), [copier.values.get(value), amount], [now], span));
        copier.values.set(value, now);
    }

    /// The offsets of a body that grow from round to round, with the amount: a value from outside the loop, which may have to
    /// be computed before it.
    fn growth(&mut self, body: &Block, step: Value, before: &mut Vec<Inst>) -> FxHashMap<Value, Value> {
        let slopes = Slopes::of_body(self.kernel, &self.constants, body, step);
        let offsets = body.insts.iter().filter(|inst| inst.op.access().is_some()).map(|inst| inst.args[0]);
        let found: Vec<(Value, Slope)> = offsets
            .filter(|offset| !body.params.contains(offset))
            .filter_map(|offset| Some((offset, slopes.by_value.get(&offset).copied()??)))
            .collect();
        let mut growth = FxHashMap::default();
        for (offset, slope) in found {
            let ty = self.kernel.ty(offset);
            let constant = |unroller: &mut Self, number| {
                unroller.prologue.value(unroller.kernel, Const::int(ty.scalar, number), ty)
            };
            let amount = match slope {
                Slope::Constant(0) => continue,
                Slope::Constant(number) => constant(self, number),
                Slope::Value(value, 1) => value,
                Slope::Value(value, times) => {
                    let times = constant(self, times);
                    let amount = self.kernel.new_value(ty);
                    before.push(Inst::new(Op::Binary(BinaryOp::Mul), [value, times], [amount], Span::NONE));
                    amount
                }
            };
            growth.insert(offset, amount);
        }
        growth
    }
}

/// By how much a value grows from round to round.
#[derive(Clone, Copy, Debug)]
enum Slope {
    Constant(i128),
    /// A value from outside the loop, times a constant.
    Value(Value, i128),
}

/// The slopes of what a body computes from the counter, in the type of the counter alone: its sums and products wrap around
/// as those of offsets do.
struct Slopes<'a> {
    kernel: &'a Kernel,
    constants: &'a Constants,
    /// By value that the body defines; `None` where it is not known.
    by_value: FxHashMap<Value, Option<Slope>>,
}

impl<'a> Slopes<'a> {
    /// Those in the body of a loop with this step.
    fn of_body(kernel: &'a Kernel, constants: &'a Constants, body: &Block, step: Value) -> Slopes<'a> {
        let mut slopes = Slopes { kernel, constants, by_value: FxHashMap::default() };
        let step_by = constants.int(step).unwrap_or(1);
        slopes.by_value.extend(body.params.iter().map(|&param| (param, None)));
        slopes.by_value.insert(body.params[0], Some(Slope::Constant(step_by)));
        body.insts.iter().for_each(|inst| slopes.record(inst));
        slopes
    }

    fn record(&mut self, inst: &Inst) {
        let slope = match inst.op {
            Op::Const(_) => Some(Slope::Constant(0)),
            Op::Binary(op) if self.kernel.ty(inst.args[0]) == Type::INDEX => {
                self.binary(op, inst.args[0], inst.args[1])
            }
            _ => None,
        };
        self.by_value.extend(inst.results.iter().map(|&result| (result, slope)));
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Option<Slope> {
        let (of_a, of_b) = (self.of(a)?, self.of(b)?);
        match (op, of_a, of_b) {
            (BinaryOp::Add, Slope::Constant(a), Slope::Constant(b)) => Some(Slope::Constant(a + b)),
            (BinaryOp::Sub, Slope::Constant(a), Slope::Constant(b)) => Some(Slope::Constant(a - b)),
            (BinaryOp::Add | BinaryOp::Sub, slope, Slope::Constant(0)) => Some(slope),
            (BinaryOp::Add, Slope::Constant(0), slope) => Some(slope),
            (BinaryOp::Mul, slope, Slope::Constant(0)) => self.times(slope, b),
            (BinaryOp::Mul, Slope::Constant(0), slope) => self.times(slope, a),
            (BinaryOp::Shl, slope, Slope::Constant(0)) => {
                let count = self.constants.int(b).filter(|count| (0..32).contains(count))?;
                scaled(slope, 1 << count)
            }
            _ => None,
        }
    }

    /// The slope of a product with a value that does not grow.
    fn times(&self, slope: Slope, value: Value) -> Option<Slope> {
        match (slope, self.constants.int(value)) {
            (slope, Some(constant)) => scaled(slope, constant),
            (Slope::Constant(0), None) => Some(slope),
            (Slope::Constant(number), None) if !self.by_value.contains_key(&value) => {
                Some(Slope::Value(value, number))
            }
            _ => None,
        }
    }

    fn of(&self, value: Value) -> Option<Slope> {
        // What is from outside the loop does not grow.
        self.by_value.get(&value).copied().unwrap_or(Some(Slope::Constant(0)))
    }
}

/// A slope times a constant, unless that leaves what an offset can be.
fn scaled(slope: Slope, by: i128) -> Option<Slope> {
    let number = |number: i128| number.checked_mul(by).filter(|number| number.abs() <= i64::MAX.into());
    match slope {
        Slope::Constant(constant) => number(constant).map(Slope::Constant),
        Slope::Value(value, times) => number(times).map(|times| Slope::Value(value, times)),
    }
}

/// Which operations of a body have an effect, or compute what one that is needed takes; those that compute a value that grows
/// are not needed.
fn needed(insts: &[Inst], last: &Inst, growth: &FxHashMap<Value, Value>) -> Vec<bool> {
    let mut wanted: FxHashSet<Value> = last.args.iter().copied().collect();
    let mut needed = vec![false; insts.len()];
    for (inst, needed) in insts.iter().zip(&mut needed).rev() {
        let is_wanted = inst.results.iter().any(|result| wanted.contains(result));
        let grows = inst.result().is_some_and(|result| growth.contains_key(&result));
        if (is_wanted || matches!(inst.op, Op::Store(_))) && !grows {
            *needed = true;
            wanted.extend(&inst.args);
        }
    }
    needed
}
