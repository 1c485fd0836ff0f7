//! Offsets taken apart: a sum of values times constants, and a constant. So accesses that differ in the constant alone can
//! share a register, and the constant goes into the instruction.

use smallvec::SmallVec;
use tilewise_ir::{BinaryOp, Inst, Op, Value};

use super::Plan;

/// How many operations deep an offset is taken apart.
const DEPTH: usize = 6;

/// A sum of values times factors, and a constant; modulo 2^64.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) terms: SmallVec<[(Value, u64); 2]>,
    pub(crate) constant: u64,
}

impl Sum {
    /// A sum that is one value.
    pub(crate) fn of(value: Value) -> Sum {
        Sum { terms: [(value, 1)].into_iter().collect(), constant: 0 }
    }

    /// The terms of a sum of elements of `size` bytes, in bytes.
    pub(crate) fn scaled_terms(&self, size: u64) -> SmallVec<[(Value, u64); 2]> {
        self.terms.iter().map(|&(value, by)| (value, by.wrapping_mul(size))).collect()
    }
}

impl Plan<'_> {
    /// An offset as a sum.
    pub(crate) fn sum(&self, offset: Value) -> Sum {
        let mut sum = Sum::default();
        self.add_to_sum(&mut sum, offset, 1, DEPTH);
        sum.terms.sort_unstable();
        sum.terms.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 = a.1.wrapping_add(b.1);
            }
            same
        });
        sum.terms.retain(|&mut (_, factor)| factor != 0);
        sum
    }

    fn add_to_sum(&self, sum: &mut Sum, value: Value, factor: u64, depth: usize) {
        if let Some(constant) = self.constant(value) {
            sum.constant = sum.constant.wrapping_add(constant.wrapping_mul(factor));
            return;
        }
        if !self.has_constant(value, depth) {
            sum.terms.push((value, factor));
            return;
        }
        let Some(inst) = self.inst(value) else { return };
        let (a, b) = (inst.args[0], inst.args[1]);
        match inst.op {
            Op::Binary(BinaryOp::Add) => {
                self.add_to_sum(sum, a, factor, depth - 1);
                self.add_to_sum(sum, b, factor, depth - 1);
            }
            Op::Binary(BinaryOp::Sub) => {
                self.add_to_sum(sum, a, factor, depth - 1);
                self.add_to_sum(sum, b, factor.wrapping_neg(), depth - 1);
            }
            _ => {
                if let Some((value, by)) = self.scaled(inst) {
                    self.add_to_sum(sum, value, factor.wrapping_mul(by), depth - 1);
                }
            }
        }
    }

    /// Whether a value is a sum with a constant in it, times constants, or a sum of such.
    fn has_constant(&self, value: Value, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        let Some(inst) = self.inst(value) else { return false };
        match inst.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub) => {
                inst.args.iter().any(|&arg| self.constant(arg).is_some() || self.has_constant(arg, depth - 1))
            }
            _ => self.scaled(inst).is_some_and(|(value, _)| self.has_constant(value, depth - 1)),
        }
    }

    /// A value and the constant that it is multiplied by.
    fn scaled(&self, inst: &Inst) -> Option<(Value, u64)> {
        let constant = |n: usize| self.constant(inst.args[n]);
        match inst.op {
            Op::Binary(BinaryOp::Mul) => match (constant(0), constant(1)) {
                (_, Some(by)) => Some((inst.args[0], by)),
                (Some(by), _) => Some((inst.args[1], by)),
                (None, None) => None,
            },
            Op::Binary(BinaryOp::Shl) => Some((inst.args[0], 1 << (constant(1)? & 63))),
            _ => None,
        }
    }

    /// The bits of a value that is a constant of the code.
    pub(crate) fn constant(&self, value: Value) -> Option<u64> {
        match self.inst(value)?.op {
            Op::Const(constant) => Some(constant.bits),
            Op::Builtin(tilewise_ir::Builtin::BlockDim, axis) => {
                self.block.map(|block| block[axis as usize].into())
            }
            _ => None,
        }
    }
}
