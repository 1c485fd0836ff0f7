//! Control flow: branches that are decided, loops that are none, code that is not reached.
//!
//! - An `If` on a constant is the arm that is taken. What a condition is, is also known in the arms of its own `If`,
//!   behind an arm that leaves, and behind an assertion; what follows from it (`a && b` holds, so `a` does) too.
//! - An `If` on `!c` is one on `c` with its arms exchanged.
//! - An arm that leaves (ends with anything but `Yield`) makes the other arm a part of what follows: that moves out of
//!   the `If`. So no results are needed, and the rest of the block sees its values.
//! - If the rest of the block leaves in the same way, it moves into the other arm instead, and both leave together
//!   behind the `If` (`tails`): an early `return` becomes an `else`, a `break` out of a block a value.
//! - An `If` with pure, cheap arms computes both and selects (`select`).
//! - A `Loop` that has no second round, and is left only at its end, is its body. Staging makes such loops of labelled
//!   blocks, early returns of device functions, and `continue`.
//! - A `For` that has no round is dropped.
//! - What follows a loop that is never left, or a failing assertion, is dropped; the block ends with `Return`.
//!
//! Each keeps the order of all effects, and which threads reach them: a barrier is never copied or put under another
//! condition.

mod select;
mod tails;

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{BinaryOp, Label, Op, UnaryOp};
use crate::pass::constants::{Constants, Prologue};
use crate::pass::rewrite::Substitution;
use crate::pass::uses::LabelCounts;
use crate::span::Span;
use crate::types::{Const, Type};

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let labels = LabelCounts::of(kernel);
    let constants = Constants::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut control = Control {
        substitution: Substitution::new(kernel),
        prologue: Prologue::take(&mut body),
        facts: vec![None; kernel.values.len()],
        trail: Vec::new(),
        logic: vec![Logic::Other; kernel.values.len()],
        kernel,
        constants,
        labels,
        depth: 0,
        changed: false,
    };
    control.block(&mut body);
    let changed = control.changed;
    control.prologue.put(&mut body);
    kernel.body = body;
    changed
}

/// How a truth value is made, as far as something follows from it.
#[derive(Clone, Copy)]
enum Logic {
    Other,
    Not(Value),
    And(Value, Value),
    Or(Value, Value),
}

/// Where control goes behind what has been written.
#[derive(Clone, Copy, PartialEq)]
enum Flow {
    /// To the next operation.
    Next,
    /// Elsewhere: the block has its terminator.
    Left,
    /// Nowhere, but there is no terminator.
    Never,
}

struct Control<'k> {
    kernel: &'k mut Kernel,
    substitution: Substitution,
    prologue: Prologue,
    constants: Constants,
    /// At least as many as there are.
    labels: LabelCounts,
    /// By value: what is known of a condition here.
    facts: Vec<Option<bool>>,
    /// The conditions in `facts`, in order.
    trail: Vec<Value>,
    /// By value.
    logic: Vec<Logic>,
    /// How many blocks are around.
    depth: usize,
    changed: bool,
}

impl Control<'_> {
    fn block(&mut self, block: &mut Block) {
        let mark = self.trail.len();
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        self.depth += 1;
        self.insts(insts, &mut block.insts);
        self.merge_tails(&mut block.insts);
        self.depth -= 1;
        self.forget(mark);
    }

    /// Rewrites operations to the end of `out`.
    fn insts(&mut self, insts: Vec<Inst>, out: &mut Vec<Inst>) -> Flow {
        let mut insts = insts.into_iter();
        while let Some(inst) = insts.next() {
            let flow = self.inst(inst, out);
            if flow == Flow::Next {
                continue;
            }
            if flow == Flow::Never {
                match insts.next() {
                    Some(inst) if inst.op == Op::Return => out.push(inst),
                    _ => {
                        out.push(Inst::new(Op::Return, [], [], Span::NONE));
                        self.changed = true;
                    }
                }
            }
            self.changed |= insts.len() > 0;
            return Flow::Left;
        }
        Flow::Next
    }

    fn inst(&mut self, mut inst: Inst, out: &mut Vec<Inst>) -> Flow {
        self.resolve(&mut inst);
        match inst.op {
            Op::If => return self.branch(inst, out),
            Op::Loop(label) => return self.repeat(inst, label, out),
            Op::For(label) => return self.count(inst, label, out),
            Op::Assert(_) => return self.assert(inst, out),
            _ => {}
        }
        self.remember_logic(&inst);
        let flow = if inst.op.is_terminator() { Flow::Left } else { Flow::Next };
        out.push(inst);
        flow
    }

    fn branch(&mut self, mut inst: Inst, out: &mut Vec<Inst>) -> Flow {
        let mut condition = inst.args[0];
        if let Some(constant) = self.constants.get(condition) {
            self.changed = true;
            let taken = inst.blocks.swap_remove(usize::from(constant.is_zero()));
            return self.splice(taken, &Op::Yield, &inst.results, out);
        }
        while let Logic::Not(inner) = self.logic(condition) {
            condition = inner;
            inst.args[0] = inner;
            inst.blocks.swap(0, 1);
            self.changed = true;
        }
        for (arm, holds) in [true, false].into_iter().enumerate() {
            let mark = self.trail.len();
            self.assume(condition, holds);
            self.block(&mut inst.blocks[arm]);
            self.forget(mark);
        }
        match (yields(&inst.blocks[0]), yields(&inst.blocks[1])) {
            (true, true) => {
                if !self.select(&mut inst, out) {
                    out.push(inst);
                }
                Flow::Next
            }
            (false, true) => {
                self.assume(condition, false);
                self.flatten(inst, 1, out)
            }
            (true, false) => {
                self.assume(condition, true);
                self.flatten(inst, 0, out)
            }
            (false, false) => {
                inst.results.clear();
                self.flatten(inst, 1, out)
            }
        }
    }

    /// Moves one arm behind the `If`. The other leaves.
    fn flatten(&mut self, mut inst: Inst, arm: usize, out: &mut Vec<Inst>) -> Flow {
        let mut moved = std::mem::take(&mut inst.blocks[arm].insts);
        let Some(last) = moved.pop() else { return Flow::Next };
        let results = std::mem::take(&mut inst.results);
        inst.blocks[arm].insts.push(Inst::new(Op::Yield, [], [], last.span));
        out.push(inst);
        self.changed |= !moved.is_empty() || !results.is_empty() || last.op != Op::Yield;
        out.append(&mut moved);
        if last.op == Op::Yield {
            self.substitution.set_all(&results, &last.args);
            return Flow::Next;
        }
        out.push(last);
        Flow::Left
    }

    fn repeat(&mut self, mut inst: Inst, label: Label, out: &mut Vec<Inst>) -> Flow {
        let last = inst.blocks[0].insts.last().map(|last| &last.op);
        let breaks_at_end = u32::from(last == Some(&Op::Break(label)));
        if self.labels.continues(label) == 0 && self.labels.breaks(label) == breaks_at_end {
            self.changed = true;
            let body = inst.blocks.swap_remove(0);
            self.substitution.set_all(&body.params, &inst.args);
            return self.splice(body, &Op::Break(label), &inst.results, out);
        }
        self.block(&mut inst.blocks[0]);
        out.push(inst);
        if self.labels.breaks(label) == 0 { Flow::Never } else { Flow::Next }
    }

    fn count(&mut self, mut inst: Inst, label: Label, out: &mut Vec<Inst>) -> Flow {
        let bounds = [0, 1, 2].map(|i| self.constants.int(inst.args[i]));
        if let [Some(lo), Some(hi), Some(step)] = bounds
            && step > 0
            && lo >= hi
        {
            self.changed = true;
            self.substitution.set_all(&inst.results, &inst.args[3..]);
            return Flow::Next;
        }
        debug_assert_eq!(inst.op, Op::For(label));
        self.block(&mut inst.blocks[0]);
        out.push(inst);
        Flow::Next
    }

    fn assert(&mut self, inst: Inst, out: &mut Vec<Inst>) -> Flow {
        let condition = inst.args[0];
        let constant = self.constants.get(condition);
        if constant == Some(Const::bool(true)) {
            self.changed = true;
            return Flow::Next;
        }
        out.push(inst);
        if constant.is_some() {
            return Flow::Never;
        }
        self.assume(condition, true);
        Flow::Next
    }

    /// Rewrites a block in place of the structure that it is the body of. If it ends with `end`, that sets the results
    /// of the structure.
    fn splice(&mut self, mut block: Block, end: &Op, results: &[Value], out: &mut Vec<Inst>) -> Flow {
        let Some(mut last) = block.insts.pop() else { return Flow::Next };
        let flow = self.insts(block.insts, out);
        if flow != Flow::Next {
            return flow;
        }
        self.resolve(&mut last);
        if last.op == *end {
            self.substitution.set_all(results, &last.args);
            return Flow::Next;
        }
        out.push(last);
        Flow::Left
    }

    /// Substitutes the operands of an operation, those that are known conditions by constants.
    fn resolve(&mut self, inst: &mut Inst) {
        self.substitution.apply(inst);
        if self.trail.is_empty() {
            return;
        }
        for arg in &mut inst.args {
            if let Some(&Some(holds)) = self.facts.get(arg.0 as usize) {
                let constant = Const::bool(holds);
                *arg = self.prologue.value(self.kernel, constant, Type::BOOL);
                self.constants.set(*arg, constant);
                self.changed = true;
            }
        }
    }

    /// Takes note of what a condition is from here on.
    fn assume(&mut self, condition: Value, holds: bool) {
        let Some(fact) = self.facts.get_mut(condition.0 as usize) else { return };
        if fact.is_some() || self.constants.get(condition).is_some() {
            return;
        }
        *fact = Some(holds);
        self.trail.push(condition);
        match self.logic(condition) {
            Logic::Not(a) => self.assume(a, !holds),
            Logic::And(a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            Logic::Or(a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            _ => {}
        }
    }

    /// Forgets what has been taken note of since the trail was so long.
    fn forget(&mut self, mark: usize) {
        for condition in self.trail.drain(mark..) {
            self.facts[condition.0 as usize] = None;
        }
    }

    fn logic(&self, condition: Value) -> Logic {
        self.logic.get(condition.0 as usize).copied().unwrap_or(Logic::Other)
    }

    fn remember_logic(&mut self, inst: &Inst) {
        let logic = match (&inst.op, &inst.args[..]) {
            (Op::Unary(UnaryOp::Not), &[a]) => Logic::Not(a),
            (Op::Binary(BinaryOp::And), &[a, b]) => Logic::And(a, b),
            (Op::Binary(BinaryOp::Or), &[a, b]) => Logic::Or(a, b),
            _ => return,
        };
        if let Some(result) = inst.result()
            && self.kernel.ty(result) == Type::BOOL
            && let Some(place) = self.logic.get_mut(result.0 as usize)
        {
            *place = logic;
        }
    }
}

/// Whether control goes through the end of an arm of `If` to what follows.
fn yields(block: &Block) -> bool {
    block.insts.last().is_some_and(|last| last.op == Op::Yield)
}
