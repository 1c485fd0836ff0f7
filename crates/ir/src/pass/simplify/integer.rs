//! Rules for integers. All hold for arithmetic that wraps.

use super::{Expression, Simpler, Simplifier};
use crate::eval;
use crate::kernel::Value;
use crate::op::{BinaryOp, Op, UnaryOp};
use crate::types::{Const, Scalar};

/// The smallest value of an integer type.
pub(super) fn min(scalar: Scalar) -> Const {
    let bits = if scalar.is_signed_int() { 1 << (scalar.bits() - 1) } else { 0 };
    Const::from_bits(scalar, bits)
}

/// The largest value of an integer type.
pub(super) fn max(scalar: Scalar) -> Const {
    Const::from_bits(scalar, if scalar.is_signed_int() { u64::MAX >> (65 - scalar.bits()) } else { u64::MAX })
}

fn zero(scalar: Scalar) -> Option<Simpler> {
    Simpler::constant(Const::from_bits(scalar, 0))
}

/// The exponent of a power of two.
fn power_of_two(constant: Const) -> Option<u32> {
    constant.bits.is_power_of_two().then(|| constant.bits.trailing_zeros())
}

impl Simplifier<'_> {
    /// Rules for [`Op::Unary`].
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> Option<Simpler> {
        let scalar = self.kernel.ty(a).scalar;
        if op == UnaryOp::Abs && scalar.is_int() && !scalar.is_signed_int() {
            return Simpler::value(a);
        }
        let inner = self.definition(a)?;
        match (op, &inner.op, &inner.args[..]) {
            (UnaryOp::Neg, Op::Unary(UnaryOp::Neg), &[x]) | (UnaryOp::Not, Op::Unary(UnaryOp::Not), &[x]) => {
                Simpler::value(x)
            }
            (UnaryOp::Neg, Op::Binary(BinaryOp::Sub), &[x, y]) if scalar.is_int() => {
                Simpler::expression(Op::Binary(BinaryOp::Sub), [y, x])
            }
            (UnaryOp::Abs, Op::Unary(UnaryOp::Abs), _) => Simpler::value(a),
            (UnaryOp::Abs, Op::Unary(UnaryOp::Neg), &[x]) => {
                Simpler::expression(Op::Unary(UnaryOp::Abs), [x])
            }
            (UnaryOp::Not, &Op::Compare(compare), &[x, y]) => {
                let inverse = super::logic::inverse(compare, self.kernel.ty(x).scalar)?;
                Simpler::expression(Op::Compare(inverse), [x, y])
            }
            _ => None,
        }
    }

    /// Rules for [`Op::Binary`].
    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
        let scalar = self.kernel.ty(a).scalar;
        let commutes = match op {
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
            // Of two zeros of unlike sign, a device may give the first.
            BinaryOp::Min | BinaryOp::Max => !scalar.is_float(),
            _ => false,
        };
        if commutes && self.constants.get(a).is_some() && self.constants.get(b).is_none() {
            return Simpler::expression(Op::Binary(op), [b, a]);
        }
        if scalar.is_float() {
            return self.binary_float(op, a, b);
        }
        if scalar == Scalar::Bool {
            return self.binary_bitwise(op, a, b);
        }
        if a == b {
            match op {
                BinaryOp::Sub => return zero(scalar),
                BinaryOp::Min | BinaryOp::Max => return Simpler::value(a),
                _ => {}
            }
        }
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => return self.binary_bitwise(op, a, b),
            BinaryOp::Add | BinaryOp::Sub => {
                if let Some(simpler) = self.sum_of_opposites(op, a, b) {
                    return Some(simpler);
                }
            }
            _ => {}
        }
        let constant = self.constants.get(b)?;
        match op {
            BinaryOp::Add | BinaryOp::Sub => self.add_constant(op, a, constant),
            BinaryOp::Mul => self.multiply_by_constant(a, constant),
            BinaryOp::Div => self.divide_by_constant(a, constant),
            BinaryOp::Rem => self.remainder_by_constant(a, constant),
            BinaryOp::Shl | BinaryOp::Shr => self.shift_by_constant(op, a, constant),
            BinaryOp::Min if constant == min(scalar) => Simpler::constant(constant),
            BinaryOp::Min if constant == max(scalar) => Simpler::value(a),
            BinaryOp::Max if constant == max(scalar) => Simpler::constant(constant),
            BinaryOp::Max if constant == min(scalar) => Simpler::value(a),
            _ => None,
        }
    }

    /// `a + -y`, `a - -y`, also for floats; for integers `(x - b) + b`, `(x + b) - b`, `(b + x) - b`.
    pub(super) fn sum_of_opposites(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
        let opposite = if op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add };
        if let Some(Expression { op: Op::Unary(UnaryOp::Neg), args }) = self.definition(b) {
            return Simpler::expression(Op::Binary(opposite), [a, args[0]]);
        }
        if self.kernel.ty(a).scalar.is_float() {
            return None;
        }
        match self.definition(a)? {
            Expression { op: Op::Binary(inner), args } if *inner == opposite => {
                if args[1] == b {
                    Simpler::value(args[0])
                } else if *inner == BinaryOp::Add && args[0] == b {
                    Simpler::value(args[1])
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// `x + 0`, `(x + c) + d` and so on.
    fn add_constant(&mut self, op: BinaryOp, a: Value, constant: Const) -> Option<Simpler> {
        if constant.is_zero() {
            return Simpler::value(a);
        }
        let (x, inner, first) = match self.definition(a)? {
            Expression { op: Op::Binary(inner @ (BinaryOp::Add | BinaryOp::Sub)), args } => {
                (args[0], *inner, self.constants.get(args[1])?)
            }
            _ => return None,
        };
        let (first, second) = (first.as_int()?, constant.as_int()?);
        let sum = if inner == BinaryOp::Add { first } else { -first }
            + if op == BinaryOp::Add { second } else { -second };
        let (op, sum) = if sum < 0 { (BinaryOp::Sub, -sum) } else { (BinaryOp::Add, sum) };
        let sum = self.constant(Const::int(constant.scalar, sum), self.kernel.ty(a));
        Simpler::expression(Op::Binary(op), [x, sum])
    }

    fn multiply_by_constant(&mut self, a: Value, constant: Const) -> Option<Simpler> {
        let scalar = constant.scalar;
        if constant.is_zero() {
            return Simpler::constant(constant);
        }
        if constant == Const::one(scalar) {
            return Simpler::value(a);
        }
        if scalar.is_signed_int() && constant == Const::int(scalar, -1) {
            return Simpler::expression(Op::Unary(UnaryOp::Neg), [a]);
        }
        let inner = match self.definition(a) {
            Some(Expression { op: Op::Binary(inner), args }) => {
                self.constants.get(args[1]).map(|c| (*inner, args[0], c))
            }
            _ => None,
        };
        let factor = match inner {
            Some((BinaryOp::Mul, x, first)) => Some((x, first)),
            Some((BinaryOp::Shl, x, count)) => {
                eval::binary(BinaryOp::Shl, Const::one(scalar), count).map(|factor| (x, factor))
            }
            _ => None,
        };
        if let Some((x, first)) = factor {
            let product = eval::binary(BinaryOp::Mul, first, constant)?;
            let product = self.constant(product, self.kernel.ty(a));
            return Simpler::expression(Op::Binary(BinaryOp::Mul), [x, product]);
        }
        match power_of_two(constant) {
            Some(exponent) if !scalar.is_signed_int() => self.shift(BinaryOp::Shl, a, exponent),
            _ => None,
        }
    }

    fn divide_by_constant(&mut self, a: Value, constant: Const) -> Option<Simpler> {
        let scalar = constant.scalar;
        if constant == Const::one(scalar) {
            return Simpler::value(a);
        }
        if scalar.is_signed_int() {
            let is_minus_one = constant == Const::int(scalar, -1);
            return is_minus_one.then(|| Simpler::Expression(Expression::new(Op::Unary(UnaryOp::Neg), [a])));
        }
        self.shift(BinaryOp::Shr, a, power_of_two(constant)?)
    }

    fn remainder_by_constant(&mut self, a: Value, constant: Const) -> Option<Simpler> {
        let scalar = constant.scalar;
        if constant == Const::one(scalar) || (scalar.is_signed_int() && constant == Const::int(scalar, -1)) {
            return zero(scalar);
        }
        if scalar.is_signed_int() || power_of_two(constant).is_none() {
            return None;
        }
        let mask = self.constant(Const::from_bits(scalar, constant.bits - 1), self.kernel.ty(a));
        Simpler::expression(Op::Binary(BinaryOp::And), [a, mask])
    }

    fn shift(&mut self, op: BinaryOp, a: Value, count: u32) -> Option<Simpler> {
        let ty = self.kernel.ty(a);
        let count = self.constant(Const::from_bits(ty.scalar, count.into()), ty);
        Simpler::expression(Op::Binary(op), [a, count])
    }

    fn shift_by_constant(&mut self, op: BinaryOp, a: Value, constant: Const) -> Option<Simpler> {
        let scalar = constant.scalar;
        let count = constant.bits as u32 & (scalar.bits() - 1);
        if count == 0 {
            return Simpler::value(a);
        }
        if u64::from(count) != constant.bits {
            return self.shift(op, a, count);
        }
        let (x, first) = match self.definition(a)? {
            Expression { op: Op::Binary(inner), args } if *inner == op => {
                (args[0], self.constants.get(args[1])?)
            }
            _ => return None,
        };
        let sum = count + (first.bits as u32 & (scalar.bits() - 1));
        if sum < scalar.bits() {
            return self.shift(op, x, sum);
        }
        if op == BinaryOp::Shr && scalar.is_signed_int() {
            // All bits are the sign by now.
            return self.shift(op, x, scalar.bits() - 1);
        }
        zero(scalar)
    }
}
