//! Tail merging: an arm that leaves as its block leaves.
//!
//! ```text
//! if %c {                     %r = if %c {
//!     A                           A
//!     break loop0(%a)             yield %a
//! } else {               =>   } else {
//!     yield                       rest
//! }                               yield %b
//! rest                        }
//! break loop0(%b)             break loop0(%r)
//! ```
//!
//! Not where the rest has a barrier or an operation of a warp: threads that have left do not take part in it, and whoever reads the kernel
//! should see that they have left, not a barrier under a condition.
//!
//! Done from the last such `If` to the first, so that of several each moves into the arm of the one before.

use super::{Control, yields};
use crate::kernel::Inst;
use crate::op::Op;

/// Blocks do not get nested deeper than this: passes and backends recurse.
const MAX_DEPTH: usize = 64;

impl Control<'_> {
    pub(super) fn merge_tails(&mut self, insts: &mut Vec<Inst>) {
        // How many operations are not looked at yet, and how deep those are nested that are.
        let (mut unseen, mut height) = (insts.len(), 0);
        while let Some(last) = insts.last()
            && matches!(last.op, Op::Break(_) | Op::Continue(_) | Op::Return)
        {
            let leaves_alike = |inst: &Inst| {
                inst.op == Op::If
                    && yields(&inst.blocks[0]) != yields(&inst.blocks[1])
                    && inst.blocks.iter().any(|arm| arm.insts.last().is_some_and(|end| end.op == last.op))
            };
            let Some(position) = insts.iter().rposition(leaves_alike) else { return };
            let Some(nested) = insts[position..unseen.max(position)]
                .iter()
                .try_fold(height, |height, inst| Some(height.max(height_without_barrier(inst)?)))
            else {
                return;
            };
            (unseen, height) = (position, nested + 1);
            if self.depth + height > MAX_DEPTH {
                return;
            }
            self.merge_tail(insts, position);
        }
    }

    fn merge_tail(&mut self, insts: &mut Vec<Inst>, position: usize) {
        let rest = insts.split_off(position + 1);
        let Some(mut branch) = insts.pop() else { return };
        let other = usize::from(yields(&branch.blocks[1]));
        branch.blocks[other].insts.pop();
        branch.blocks[other].insts.extend(rest);
        let mut end = None;
        for arm in &mut branch.blocks {
            let Some(last) = arm.insts.last_mut() else { return };
            end = Some(Inst::new(last.op.clone(), [], [], last.span));
            last.op = Op::Yield;
        }
        let Some(mut end) = end else { return };
        let args = branch.blocks[0].insts.last().map(|last| last.args.clone()).unwrap_or_default();
        for arg in args {
            let result = self.kernel.new_value(self.kernel.ty(arg));
            branch.results.push(result);
            end.args.push(result);
        }
        insts.push(branch);
        insts.push(end);
        self.changed = true;
    }
}

/// How many blocks are nested in an operation; `None` if it has a barrier in it.
fn height_without_barrier(inst: &Inst) -> Option<usize> {
    if inst.op == Op::Barrier || inst.op.is_warp_operation() {
        return None;
    }
    let mut height = 0;
    for block in &inst.blocks {
        for inner in &block.insts {
            height = height.max(1 + height_without_barrier(inner)?);
        }
    }
    Some(height)
}
