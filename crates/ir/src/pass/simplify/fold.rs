//! Folding of operations on constants, lane by lane.

use super::{Expression, Simpler, Simplifier};
use crate::eval;
use crate::kernel::Value;
use crate::op::Op;
use crate::types::{Const, Type};
use smallvec::SmallVec;

impl Simplifier<'_> {
    /// The result of an operation of which each operand is a constant.
    pub(super) fn fold(&mut self, expression: &Expression, ty: Type) -> Option<Simpler> {
        let args = &expression.args[..];
        match expression.op {
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_) => {}
            _ => return None,
        }
        // The usual case first: the same in each lane.
        let same: Option<SmallVec<[Const; 4]>> = args.iter().map(|&arg| self.constants.get(arg)).collect();
        if let Some(operands) = same {
            return Some(Simpler::Constant(eval::operation(&expression.op, &operands)?));
        }
        if ty.lanes == 1 || !args.iter().all(|&arg| self.is_constant_vector(arg)) {
            return None;
        }
        let lanes: Option<SmallVec<[Const; 4]>> = (0..ty.lanes)
            .map(|lane| {
                let operands: Option<SmallVec<[Const; 4]>> =
                    args.iter().map(|&arg| self.lane_constant(arg, lane)).collect();
                eval::operation(&expression.op, &operands?)
            })
            .collect();
        let lanes = lanes?;
        if lanes.iter().all(|lane| *lane == lanes[0]) {
            return Some(Simpler::Constant(lanes[0]));
        }
        let values: Vec<Value> =
            lanes.into_iter().map(|lane| self.constant(lane, lane.scalar.ty())).collect();
        Simpler::expression(Op::Pack, values)
    }

    fn is_constant_vector(&self, value: Value) -> bool {
        self.constants.get(value).is_some()
            || self.definition(value).is_some_and(|definition| definition.op == Op::Pack)
    }

    /// The constant in one lane of a value.
    fn lane_constant(&self, value: Value, lane: u8) -> Option<Const> {
        if let Some(constant) = self.constants.get(value) {
            return Some(constant);
        }
        match self.definition(value)? {
            Expression { op: Op::Pack, args } => self.constants.get(*args.get(lane as usize)?),
            _ => None,
        }
    }
}
