//! Which values are needed: those that operations with effects use, and what these are computed from.

use tilewise_ir::analysis::facts::is_integer_division;
use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{Effect, Inst, Kernel, MemRef, Op, Value};

use super::{Def, Plan, Structure, yielded};

/// For each value whether it is needed. Bounds that are known to hold need nothing, and an offset in memory of the
/// kernel's own needs the terms of its [sum](super::Sum), which the address is made of.
pub(super) fn analyze(
    kernel: &Kernel,
    facts: &Facts,
    structure: &Structure<'_>,
    plan: &Plan<'_>,
) -> Vec<bool> {
    let mut marks = Marks { needed: vec![false; kernel.values.len()], work: Vec::new() };
    let (mut accesses, mut divisions) = (0, 0);
    kernel.body.visit(&mut |inst| {
        if let (Some(access), Some(first)) = (inst.op.access(), inst.op.access_args()) {
            let known = facts.accesses.get(accesses).copied().unwrap_or_default();
            accesses += 1;
            match access.mem {
                MemRef::Param(_) => marks.mark(inst.args[0]),
                MemRef::Alloc(_) => {
                    plan.sum(inst.args[0]).terms.iter().for_each(|&(term, _)| marks.mark(term))
                }
            }
            marks.all(&inst.args[1..first]);
            for n in 0..access.bounds.len() {
                if !is_proven(known, n) {
                    marks.all(&inst.args[first + 2 * n..][..2]);
                }
            }
            return;
        }
        if is_integer_division(kernel, inst) {
            // Without a fault it is as pure as any other.
            if !facts.divisors.get(divisions).copied().unwrap_or(false) {
                marks.all(&inst.args);
            }
            divisions += 1;
            return;
        }
        match inst.op.effect() {
            Effect::Read | Effect::Write | Effect::Sync | Effect::Output => marks.all(&inst.args),
            Effect::Structure => match inst.op {
                Op::If => marks.all(&inst.args),
                Op::For(_) => {
                    marks.all(&inst.args[..3]);
                    marks.mark(inst.blocks[0].params[0]);
                }
                _ => {}
            },
            Effect::Pure | Effect::Fault | Effect::Terminator => {}
        }
    });
    while let Some(value) = marks.work.pop() {
        match structure.defs[value.0 as usize] {
            Some(Def::Result(inst, n)) => result(&mut marks, structure, inst, n),
            Some(Def::Param(inst, n)) => param(&mut marks, structure, inst, n),
            None => {}
        }
    }
    marks.needed
}

/// Whether an entry of the bounds of an access is known to hold.
pub(crate) fn is_proven(known: AccessFacts, entry: usize) -> bool {
    entry < 8 && known.in_bounds >> entry & 1 == 1
}

struct Marks {
    needed: Vec<bool>,
    work: Vec<Value>,
}

impl Marks {
    fn mark(&mut self, value: Value) {
        if !std::mem::replace(&mut self.needed[value.0 as usize], true) {
            self.work.push(value);
        }
    }

    fn all(&mut self, values: &[Value]) {
        for &value in values {
            self.mark(value);
        }
    }
}

/// Result `n` of an operation is needed.
fn result(marks: &mut Marks, structure: &Structure<'_>, inst: &Inst, n: usize) {
    match inst.op {
        Op::If => {
            for inst in inst.blocks.iter().filter_map(yielded) {
                marks.mark(inst.args[n]);
            }
        }
        Op::Loop(label) | Op::For(label) => {
            for inst in structure.breaks(label) {
                marks.mark(inst.args[n]);
            }
            if matches!(inst.op, Op::For(_)) {
                marks.mark(inst.blocks[0].params[1 + n]);
            }
        }
        // The operands of an access have been marked for what it does.
        _ if inst.op.access().is_some() => {}
        _ => marks.all(&inst.args),
    }
}

/// Parameter `n` of the block of a loop is needed.
fn param(marks: &mut Marks, structure: &Structure<'_>, inst: &Inst, n: usize) {
    let (label, initial, carried) = match inst.op {
        Op::Loop(label) => (label, n, n),
        Op::For(label) if n > 0 => (label, 2 + n, n - 1),
        _ => return,
    };
    marks.mark(inst.args[initial]);
    for inst in structure.continues(label) {
        marks.mark(inst.args[carried]);
    }
}
