//! If-conversion: both arms are computed, and the condition selects.

use super::Control;
use crate::kernel::Inst;
use crate::op::{Effect, Op};
use crate::pass::effects;

/// The most that the arms and the selections of their results may cost together, in simple operations.
const MAX_COST: usize = 12;

impl Control<'_> {
    /// Writes an `If` of which both arms yield as pure operations and selections, if the arms are pure and cheap. An
    /// `If` without results whose arms do nothing is nothing.
    pub(super) fn select(&mut self, inst: &mut Inst, out: &mut Vec<Inst>) -> bool {
        let mut cost = inst.results.len();
        for block in &inst.blocks {
            for inner in &block.insts[..block.insts.len() - 1] {
                if effects::effect(self.kernel, &self.constants, inner) != Effect::Pure {
                    return false;
                }
                cost += effects::cost(inner);
            }
        }
        if cost > MAX_COST && !inst.results.is_empty() {
            return false;
        }
        self.changed = true;
        if inst.results.is_empty() {
            return true;
        }
        let mut values = Vec::with_capacity(2);
        for block in &mut inst.blocks {
            values.push(block.insts.pop().map(|last| last.args).unwrap_or_default());
            out.append(&mut block.insts);
        }
        for ((&result, &a), &b) in inst.results.iter().zip(&values[0]).zip(&values[1]) {
            if a == b {
                self.substitution.set(result, a);
            } else {
                out.push(Inst::new(Op::Select, [inst.args[0], a, b], [result], inst.span));
            }
        }
        true
    }
}
