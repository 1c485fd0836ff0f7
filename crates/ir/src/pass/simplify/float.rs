//! Rules for floats. Each gives the same bits as what it replaces, for zeros of both signs, infinities and numbers
//! below the normal range too; only the bits of a NaN may differ.

use super::{Expression, Simpler, Simplifier};
use crate::eval;
use crate::kernel::Value;
use crate::op::{BinaryOp, Op, UnaryOp};
use crate::types::{Const, Scalar};

impl Simplifier<'_> {
    /// Rules for [`Op::Binary`] of floats.
    pub(super) fn binary_float(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
        match op {
            BinaryOp::Min | BinaryOp::Max if a == b => return Simpler::value(a),
            BinaryOp::Add | BinaryOp::Sub => {
                if let Some(simpler) = self.sum_of_opposites(op, a, b) {
                    return Some(simpler);
                }
            }
            BinaryOp::Mul | BinaryOp::Div => {
                if let (Some(x), Some(y)) = (self.negated(a), self.negated(b)) {
                    return Simpler::expression(Op::Binary(op), [x, y]);
                }
            }
            _ => {}
        }
        let constant = self.constants.get(b)?;
        let value = constant.as_float()?;
        match op {
            // Not `x + 0.0`: it is 0.0 for -0.0.
            BinaryOp::Add if is_zero(value, true) => Simpler::value(a),
            BinaryOp::Sub if is_zero(value, false) => Simpler::value(a),
            BinaryOp::Mul | BinaryOp::Div if value == 1.0 => Simpler::value(a),
            BinaryOp::Mul | BinaryOp::Div if value == -1.0 => {
                Simpler::expression(Op::Unary(UnaryOp::Neg), [a])
            }
            BinaryOp::Div => {
                let reciprocal = reciprocal_of_power_of_two(constant)?;
                let reciprocal = self.constant(reciprocal, self.kernel.ty(b));
                Simpler::expression(Op::Binary(BinaryOp::Mul), [a, reciprocal])
            }
            _ => None,
        }
    }

    /// Rules for [`Op::MulAdd`]. Each keeps the one rounding.
    pub(super) fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Option<Simpler> {
        if self.constants.get(a).is_some() && self.constants.get(b).is_none() {
            return Simpler::expression(Op::MulAdd, [b, a, c]);
        }
        if let (Some(x), Some(y)) = (self.negated(a), self.negated(b)) {
            return Simpler::expression(Op::MulAdd, [x, y, c]);
        }
        if let Some(factor) = self.float_constant(b) {
            if factor == 1.0 {
                return Simpler::expression(Op::Binary(BinaryOp::Add), [a, c]);
            }
            if factor == -1.0 {
                return Simpler::expression(Op::Binary(BinaryOp::Sub), [c, a]);
            }
        }
        if self.float_constant(c).is_some_and(|value| is_zero(value, true)) {
            return Simpler::expression(Op::Binary(BinaryOp::Mul), [a, b]);
        }
        None
    }

    fn float_constant(&self, value: Value) -> Option<f64> {
        self.constants.get(value)?.as_float()
    }

    /// `x`, if the value is `-x`.
    fn negated(&self, value: Value) -> Option<Value> {
        match self.definition(value)? {
            Expression { op: Op::Unary(UnaryOp::Neg), args } => Some(args[0]),
            _ => None,
        }
    }
}

fn is_zero(value: f64, negative: bool) -> bool {
    value == 0.0 && value.is_sign_negative() == negative
}

/// `1 / constant`, if both are normal powers of two: then to divide by the one and to multiply by the other is the
/// same.
fn reciprocal_of_power_of_two(constant: Const) -> Option<Const> {
    let fraction_bits = match constant.scalar {
        Scalar::F16 => 10,
        Scalar::BF16 => 7,
        Scalar::F32 => 23,
        Scalar::F64 => 52,
        _ => return None,
    };
    let is_power = |c: Const| {
        let exponent = Const::from_bits(c.scalar, c.bits << 1).bits >> (fraction_bits + 1);
        let largest = (1 << (c.scalar.bits() - 1 - fraction_bits)) - 1;
        c.bits & ((1 << fraction_bits) - 1) == 0 && exponent != 0 && exponent != largest
    };
    let reciprocal = eval::float(constant.scalar, 1.0 / constant.as_float()?)?;
    (is_power(constant) && is_power(reciprocal)).then_some(reciprocal)
}
