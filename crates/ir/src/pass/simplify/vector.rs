//! Rules for vectors: splat, pack, extract.

use super::{Expression, Simpler, Simplifier};
use crate::kernel::Value;
use crate::op::Op;
use crate::types::Type;
use smallvec::SmallVec;

impl Simplifier<'_> {
    /// Rules for [`Op::Pack`].
    pub(super) fn pack(&mut self, lanes: &[Value]) -> Option<Simpler> {
        let &first = lanes.first()?;
        if lanes.len() == 1 {
            return Simpler::value(first);
        }
        if lanes.iter().all(|&lane| lane == first) {
            return Simpler::expression(Op::Splat(lanes.len() as u8), [first]);
        }
        // Every lane of one vector, in order.
        let source = match self.definition(first)? {
            Expression { op: Op::Extract(0), args } => args[0],
            _ => return None,
        };
        let in_order = |(i, &lane): (usize, &Value)| match self.definition(lane) {
            Some(Expression { op: Op::Extract(n), args }) => usize::from(*n) == i && args[0] == source,
            _ => false,
        };
        let whole = usize::from(self.kernel.ty(source).lanes) == lanes.len();
        (whole && lanes.iter().enumerate().all(in_order)).then_some(Simpler::Value(source))
    }

    /// Rules for [`Op::Extract`].
    pub(super) fn extract(&mut self, lane: u8, vector: Value) -> Option<Simpler> {
        if self.kernel.ty(vector).lanes == 1 {
            return Simpler::value(vector);
        }
        if let Some(constant) = self.constants.get(vector) {
            return Simpler::constant(constant);
        }
        match self.definition(vector)? {
            Expression { op: Op::Pack, args } => Simpler::value(*args.get(usize::from(lane))?),
            Expression { op: Op::Splat(_), args } => Simpler::value(args[0]),
            _ => None,
        }
    }

    /// An operation on vectors that are each one value in all lanes: the operation on those values, in all lanes.
    pub(super) fn splat_result(&mut self, expression: &Expression, ty: Type) -> Option<Simpler> {
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
        if ty.lanes == 1 {
            return None;
        }
        let lanes: Option<SmallVec<[Value; 4]>> =
            expression.args.iter().map(|&arg| self.splatted(arg)).collect();
        let lane = self.emit(expression.op.clone(), lanes?, ty.with_lanes(1));
        Simpler::expression(Op::Splat(ty.lanes), [lane])
    }

    /// The value that is in each lane of `vector`.
    fn splatted(&mut self, vector: Value) -> Option<Value> {
        let ty = self.kernel.ty(vector);
        if ty.lanes == 1 {
            return Some(vector);
        }
        if let Some(constant) = self.constants.get(vector) {
            return Some(self.constant(constant, constant.scalar.ty()));
        }
        match self.definition(vector)? {
            Expression { op: Op::Splat(_), args } => Some(args[0]),
            _ => None,
        }
    }
}
