//! Variables to SSA: local memory that is only touched at constant offsets becomes values.
//!
//! Staging makes a local allocation of every `let mut` variable, every value of an `if` expression and every fixed
//! array. Here each element of such an allocation becomes a variable of its own (scalar replacement), and each
//! variable becomes values: a load is the value that was stored last; where control flow meets, the value is a result
//! of the `If` or `Loop`, or is carried by the loop.
//!
//! **Which.** A [`Space::Local`] allocation of at most [`MAX_ELEMENTS`] elements, of which every access is a plain
//! `Load` or `Store` at a constant offset inside it, with bounds (if any) that are constants and hold. An access of
//! several lanes touches as many elements. One access of any other kind, and the allocation stays memory.
//!
//! **Why it is right.** Local memory belongs to one thread, so nothing but the thread's own stores changes it, and
//! with constant offsets no two elements are the same. The contents of memory that nobody has written are undefined;
//! here such a read gives zero.
//!
//! Every structure first passes on each variable that is stored in it; those that are not needed, or do not change,
//! are taken out at once by [`carried`] and [`dce`]. The allocations stay, unused, until
//! [`compact`](crate::pass::compact).

use crate::kernel::{AllocId, Block, Inst, Kernel, MemRef, Space, Value};
use crate::op::{Label, Op};
use crate::pass::constants::{Constants, Prologue};
use crate::pass::rewrite::Substitution;
use crate::pass::uses::LabelCounts;
use crate::pass::{access, assigned, carried, dce};
use crate::types::{Const, Type};
use std::ops::Range;

/// Allocations of more elements than this stay memory: so many values would not fit into registers anyway.
pub const MAX_ELEMENTS: u64 = 1024;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let variables = Variables::find(kernel);
    rewrite(kernel, variables)
}

/// [`run`], but for allocations of which an element may be read before it is written: they stay memory, so that a
/// checked run sees the read.
pub fn run_assigned(kernel: &mut Kernel) -> bool {
    let mut variables = Variables::find(kernel);
    variables.drop_unassigned(kernel);
    rewrite(kernel, variables)
}

fn rewrite(kernel: &mut Kernel, variables: Variables) -> bool {
    if variables.types.is_empty() {
        return false;
    }
    let labels = LabelCounts::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut stored = Vec::new();
    variables.stored_in(kernel, &body, &mut stored);
    let mut promoter = Promoter {
        current: vec![None; variables.types.len()],
        substitution: Substitution::new(kernel),
        prologue: Prologue::take(&mut body),
        loops: vec![LoopVariables::default(); kernel.labels as usize],
        labels,
        kernel,
        variables,
        stored,
        structure: 0,
    };
    promoter.block(&mut body, &[]);
    promoter.prologue.put(&mut body);
    kernel.body = body;
    carried::run(kernel);
    dce::prune(kernel);
    true
}

/// The elements of the allocations that become values.
struct Variables {
    /// For each allocation, the number of the variable of its first element.
    first: Vec<Option<usize>>,
    /// Type of each variable.
    types: Vec<Type>,
    /// What offsets and bounds are.
    constants: Constants,
}

impl Variables {
    fn find(kernel: &Kernel) -> Variables {
        let mut candidates: Vec<bool> = kernel
            .allocs
            .iter()
            .map(|alloc| alloc.space == Space::Local && alloc.len <= MAX_ELEMENTS && alloc.elem.lanes > 0)
            .collect();
        let mut touched = vec![false; candidates.len()];
        let mut variables =
            Variables { first: Vec::new(), types: Vec::new(), constants: Constants::default() };
        if !candidates.contains(&true) {
            return variables;
        }
        variables.constants = Constants::of(kernel);
        kernel.body.visit(&mut |inst| {
            if let Some(MemRef::Alloc(alloc)) = inst.op.access().map(|access| access.mem) {
                let index = alloc.0 as usize;
                touched[index] = true;
                candidates[index] = candidates[index] && variables.is_plain(kernel, inst, alloc);
            }
        });
        for (alloc, (candidate, touched)) in kernel.allocs.iter().zip(candidates.iter().zip(touched)) {
            variables.first.push((*candidate && touched).then_some(variables.types.len()));
            if *candidate && touched {
                variables.types.extend((0..alloc.len).map(|_| alloc.elem));
            }
        }
        variables
    }

    /// Leaves only allocations of which each element is written before it is read.
    fn drop_unassigned(&mut self, kernel: &Kernel) {
        if self.types.is_empty() {
            return;
        }
        let touched = |inst: &Inst| self.touched(kernel, inst);
        let sound = assigned::definitely(&kernel.body, self.types.len(), kernel.labels, touched);
        let (mut first, mut types) = (Vec::new(), Vec::new());
        for (old, alloc) in self.first.iter().zip(&kernel.allocs) {
            let range = old.map(|first| first..first + alloc.len as usize);
            let range = range.filter(|range| sound[range.clone()].iter().all(|sound| *sound));
            first.push(range.as_ref().map(|_| types.len()));
            types.extend(range.into_iter().flatten().map(|variable| self.types[variable]));
        }
        (self.first, self.types) = (first, types);
    }

    /// Whether an access is a load or store of elements that are known and inside the allocation.
    fn is_plain(&self, kernel: &Kernel, inst: &Inst, alloc: AllocId) -> bool {
        if !matches!(inst.op, Op::Load(_) | Op::Store(_)) {
            return false;
        }
        let alloc = &kernel.allocs[alloc.0 as usize];
        let Some(value) = (match inst.op {
            Op::Store(_) => inst.args.get(1).copied(),
            _ => inst.result(),
        }) else {
            return false;
        };
        let ty = kernel.ty(value);
        if ty.scalar != alloc.elem.scalar || (alloc.elem.lanes != 1 && ty.lanes != alloc.elem.lanes) {
            return false;
        }
        let count = access::elements(kernel, inst);
        let in_bounds = !access::held_bounds(kernel, &self.constants, inst).contains(&false);
        let offset = self.constants.int(inst.args[0]);
        in_bounds && offset.is_some_and(|o| o >= 0 && o + i128::from(count) <= i128::from(alloc.len))
    }

    /// The variables that a load or store touches, if its allocation becomes values.
    fn touched(&self, kernel: &Kernel, inst: &Inst) -> Option<Range<usize>> {
        let MemRef::Alloc(alloc) = inst.op.access()?.mem else { return None };
        let first = self.first[alloc.0 as usize]?;
        let offset = self.constants.int(*inst.args.first()?)? as usize;
        let start = first + offset;
        Some(start..start + access::elements(kernel, inst) as usize)
    }

    /// Finds the variables that are stored in a block, and for each structure in it, outer before inner, those that
    /// are stored in that structure.
    fn stored_in(&self, kernel: &Kernel, block: &Block, structures: &mut Vec<Vec<usize>>) -> Vec<usize> {
        let mut stored = Vec::new();
        for inst in &block.insts {
            if let Op::Store(_) = inst.op {
                stored.extend(self.touched(kernel, inst).into_iter().flatten());
            }
            if !inst.blocks.is_empty() {
                let index = structures.len();
                structures.push(Vec::new());
                let mut inner: Vec<usize> = inst
                    .blocks
                    .iter()
                    .flat_map(|nested| self.stored_in(kernel, nested, structures))
                    .collect();
                inner.sort_unstable();
                inner.dedup();
                stored.extend_from_slice(&inner);
                structures[index] = inner;
            }
        }
        stored
    }
}

/// What the exits of a loop pass on besides what they did before.
#[derive(Clone, Debug, Default)]
struct LoopVariables {
    /// The variables that are stored in the loop.
    stored: Vec<usize>,
    /// Whether the loop carries them.
    carried: bool,
}

struct Promoter<'k> {
    kernel: &'k mut Kernel,
    variables: Variables,
    /// By structure, outer before inner: the variables that are stored in it.
    stored: Vec<Vec<usize>>,
    /// How many structures have been entered.
    structure: usize,
    /// By variable: its value here, if it has been stored.
    current: Vec<Option<Value>>,
    /// By label, once its loop has been entered.
    loops: Vec<LoopVariables>,
    labels: LabelCounts,
    substitution: Substitution,
    prologue: Prologue,
}

impl Promoter<'_> {
    /// Rewrites a block. `yielded` are the variables that its `Yield` passes on.
    fn block(&mut self, block: &mut Block, yielded: &[usize]) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            self.substitution.apply(&mut inst);
            match inst.op {
                Op::Load(_) => {
                    if let Some(touched) = self.variables.touched(self.kernel, &inst) {
                        self.load(inst, touched, &mut block.insts);
                        continue;
                    }
                }
                Op::Store(_) => {
                    if let Some(touched) = self.variables.touched(self.kernel, &inst) {
                        self.store(inst, touched, &mut block.insts);
                        continue;
                    }
                }
                Op::If => self.branch(&mut inst),
                Op::Loop(label) => self.repeat(&mut inst, label),
                Op::For(label) => self.count(&mut inst, label),
                Op::Yield => self.pass_on(&mut inst, yielded),
                Op::Break(label) => {
                    let stored = std::mem::take(&mut self.loops[label.0 as usize].stored);
                    self.pass_on(&mut inst, &stored);
                    self.loops[label.0 as usize].stored = stored;
                }
                Op::Continue(label) if self.loops[label.0 as usize].carried => {
                    let stored = std::mem::take(&mut self.loops[label.0 as usize].stored);
                    self.pass_on(&mut inst, &stored);
                    self.loops[label.0 as usize].stored = stored;
                }
                _ => {}
            }
            block.insts.push(inst);
        }
    }

    fn load(&mut self, mut inst: Inst, touched: Range<usize>, out: &mut Vec<Inst>) {
        let result = inst.results[0];
        if touched.len() == 1 {
            let value = self.value(touched.start);
            self.substitution.set(result, value);
        } else {
            inst.op = Op::Pack;
            inst.args = touched.map(|variable| self.value(variable)).collect();
            out.push(inst);
        }
    }

    fn store(&mut self, inst: Inst, touched: Range<usize>, out: &mut Vec<Inst>) {
        let value = inst.args[1];
        if touched.len() == 1 {
            self.current[touched.start] = Some(value);
            return;
        }
        for (lane, variable) in touched.enumerate() {
            let element = self.kernel.new_value(self.variables.types[variable]);
            out.push(Inst::new(Op::Extract(lane as u8), [value], [element], inst.span));
            self.current[variable] = Some(element);
        }
    }

    fn branch(&mut self, inst: &mut Inst) {
        let stored = self.enter();
        let before: Vec<_> = stored.iter().map(|&variable| self.current[variable]).collect();
        let mut falls_through = false;
        for block in &mut inst.blocks {
            self.restore(&stored, &before);
            self.block(block, &stored);
            falls_through |= block.insts.last().is_some_and(|last| last.op == Op::Yield);
        }
        if falls_through {
            self.add_results(inst, &stored);
        } else {
            self.restore(&stored, &before);
        }
    }

    fn repeat(&mut self, inst: &mut Inst, label: Label) {
        let stored = self.enter();
        let carried = self.labels.continues(label) > 0;
        if carried {
            self.carry(inst, &stored);
        }
        self.loops[label.0 as usize] = LoopVariables { stored: stored.clone(), carried };
        self.block(&mut inst.blocks[0], &[]);
        self.add_results(inst, &stored);
    }

    fn count(&mut self, inst: &mut Inst, label: Label) {
        let stored = self.enter();
        self.carry(inst, &stored);
        self.loops[label.0 as usize] = LoopVariables { stored: stored.clone(), carried: true };
        self.block(&mut inst.blocks[0], &[]);
        self.add_results(inst, &stored);
    }

    /// The variables that are stored in the structure that is entered now.
    fn enter(&mut self) -> Vec<usize> {
        self.structure += 1;
        std::mem::take(&mut self.stored[self.structure - 1])
    }

    fn restore(&mut self, variables: &[usize], values: &[Option<Value>]) {
        for (&variable, &value) in variables.iter().zip(values) {
            self.current[variable] = value;
        }
    }

    /// Makes a loop carry variables, and their values in its body the carried ones.
    fn carry(&mut self, inst: &mut Inst, variables: &[usize]) {
        for &variable in variables {
            let initial = self.value(variable);
            inst.args.push(initial);
            let param = self.kernel.new_value(self.variables.types[variable]);
            inst.blocks[0].params.push(param);
            self.current[variable] = Some(param);
        }
    }

    /// Makes variables results of a structure, and their values behind it those results.
    fn add_results(&mut self, inst: &mut Inst, variables: &[usize]) {
        for &variable in variables {
            let result = self.kernel.new_value(self.variables.types[variable]);
            inst.results.push(result);
            self.current[variable] = Some(result);
        }
    }

    /// Makes a terminator pass on the values of variables.
    fn pass_on(&mut self, inst: &mut Inst, variables: &[usize]) {
        for &variable in variables {
            let value = self.value(variable);
            inst.args.push(value);
        }
    }

    /// The value of a variable here: what was stored last, or zero.
    fn value(&mut self, variable: usize) -> Value {
        if let Some(value) = self.current[variable] {
            return value;
        }
        let ty = self.variables.types[variable];
        self.prologue.value(self.kernel, Const::from_bits(ty.scalar, 0), ty)
    }
}
