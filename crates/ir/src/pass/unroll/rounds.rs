//! `Loop`s whose rounds can be counted by running what leads to their `Break` on constants.
//!
//! ```text
//! loop ^0 carry (%i = %8) {                copy of A
//!     A                                    copy of B
//!     if %done {              =>           ...
//!         break ^0 %x                      copy of A
//!     }
//!     B
//!     continue ^0 %next
//! }
//! ```

use super::{MAX_ROUNDS, Unroller};
use crate::kernel::{Block, Inst, Value};
use crate::op::{Label, Op};
use crate::types::Const;

/// Where a loop is left.
struct Exit {
    /// Position of the `If` in the body.
    position: usize,
    /// The arm that ends with `Break`; the other one yields.
    arm: usize,
}

impl Unroller<'_> {
    /// Unrolls a `Loop` with so many operations in it, if it is to be; gives how many operations it becomes.
    pub(super) fn repeat(
        &mut self,
        inst: &Inst,
        label: Label,
        ops: usize,
        out: &mut Vec<Inst>,
    ) -> Option<usize> {
        let body = &inst.blocks[0];
        if self.labels.breaks(label) != 1 || self.labels.continues(label) != 1 || inst.args.is_empty() {
            return None;
        }
        let (last, insts) = body.insts.split_last()?;
        if last.op != Op::Continue(label) {
            return None;
        }
        let exit = find_exit(insts, label)?;
        let rounds = self.count_rounds(inst, &exit)?;
        let after = self.affordable(body, ops, rounds + 1)?;

        let branch = &insts[exit.position];
        let mut carried: Vec<Value> = inst.args.to_vec();
        for _ in 0..rounds {
            self.copier.values.set_all(&body.params, &carried);
            out.extend(self.copier.copy_insts(self.kernel, &insts[..exit.position]));
            self.splice(&branch.blocks[1 - exit.arm], &branch.results, out);
            out.extend(self.copier.copy_insts(self.kernel, &insts[exit.position + 1..]));
            carried = last.args.iter().map(|&arg| self.copier.values.get(arg)).collect();
        }
        self.copier.values.set_all(&body.params, &carried);
        out.extend(self.copier.copy_insts(self.kernel, &insts[..exit.position]));
        self.splice(&branch.blocks[exit.arm], &inst.results, out);
        Some(after)
    }

    /// Copies an arm; the operands of its terminator stand in for `results`.
    fn splice(&mut self, arm: &Block, results: &[Value], out: &mut Vec<Inst>) {
        let Some((last, insts)) = arm.insts.split_last() else { return };
        out.extend(self.copier.copy_insts(self.kernel, insts));
        self.copier.values.set_all(results, &last.args);
    }

    /// How many rounds go to their end before the loop is left.
    fn count_rounds(&mut self, inst: &Inst, exit: &Exit) -> Option<usize> {
        let mut carried: Vec<Option<Const>> = inst.args.iter().map(|&arg| self.constants.get(arg)).collect();
        let mut rounds = 0;
        let known = loop {
            match self.is_left(inst, exit, &carried) {
                Some(false) if rounds < MAX_ROUNDS => rounds += 1,
                is_left => break is_left == Some(true),
            }
            carried = inst.blocks[0].insts.last()?.args.iter().map(|&arg| self.constants.get(arg)).collect();
        };
        // Forget what holds in one round only.
        carried.fill(None);
        self.is_left(inst, exit, &carried);
        known.then_some(rounds)
    }

    /// Whether a loop is left in a round that starts with these carried values. Takes note of what is constant then.
    fn is_left(&mut self, inst: &Inst, exit: &Exit, carried: &[Option<Const>]) -> Option<bool> {
        let body = &inst.blocks[0];
        for (&param, &constant) in body.params.iter().zip(carried) {
            self.constants.replace(param, constant);
        }
        for inner in &body.insts {
            if let Some(result) = inner.result() {
                self.constants.replace(result, self.constants.evaluate(inner));
            }
        }
        let condition = self.constants.get(body.insts[exit.position].args[0])?;
        Some(condition.is_zero() == (exit.arm == 1))
    }
}

/// The `If` in a body whose arm ends with the `Break` of the label.
fn find_exit(insts: &[Inst], label: Label) -> Option<Exit> {
    let ends_with = |block: &Block, op: &Op| block.insts.last().is_some_and(|last| last.op == *op);
    insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::If).find_map(|(position, inst)| {
        let arm = inst.blocks.iter().position(|block| ends_with(block, &Op::Break(label)))?;
        ends_with(&inst.blocks[1 - arm], &Op::Yield).then_some(Exit { position, arm })
    })
}
