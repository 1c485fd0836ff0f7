//! Arithmetic of floats. Halves that the device has not are computed in `f32`, which has more than twice their digits, so
//! that rounding again gives what one rounding would.

use super::code::{Code, Expr};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, MathFunction, UnaryOperator};
use tilewise_ir::{BinaryOp, Scalar, UnaryOp};

/// How a device does `a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MulAdd {
    /// By a function that rounds once.
    Fused,
    /// Of `f32` in `f64`, of `f64` as a product and a sum.
    Wide,
    /// As a product and a sum.
    Separate,
}

impl Code {
    /// Rounds what was computed in `f32` to a half.
    pub(super) fn round(&mut self, scalar: Scalar, register: Register, x: Expr) -> Expr {
        match (scalar, register) {
            (Scalar::F16, Register::F32) => self.round_f16(x),
            (Scalar::BF16, _) => self.round_bf16(x),
            _ => x,
        }
    }

    /// The `f32` that is the nearest `f16`.
    pub(super) fn round_f16(&mut self, x: Expr) -> Expr {
        let bits = self.bitcast(x, Register::U32);
        let abs = self.masked(bits, 0x7fff_ffff);
        let sign = self.masked(bits, 0x8000_0000);
        // 13 bits fewer, ties to even.
        let rounded = self.without_lower_bits(abs, 13);
        let (overflow, infinity) = (self.u32(0x4780_0000), self.u32(0x7f80_0000));
        let overflows = self.binary(Operator::GreaterEqual, rounded, overflow);
        let normal = self.select(overflows, infinity, rounded);
        // Below 2^-14 all have one unit, 2^-24.
        let (up, down) = (self.f32(16_777_216.0), self.f32(1.0 / 16_777_216.0));
        let magnitude = self.bitcast(abs, Register::F32);
        let units = self.binary(Operator::Multiply, magnitude, up);
        let whole = self.math(MathFunction::Round, &[units]);
        let small = self.binary(Operator::Multiply, whole, down);
        let small = self.bitcast(small, Register::U32);
        let least_normal = self.u32(0x3880_0000);
        let is_small = self.binary(Operator::Less, abs, least_normal);
        let result = self.select(is_small, small, normal);
        let result = self.binary(Operator::InclusiveOr, result, sign);
        self.unless_nan(abs, result, x)
    }

    /// The `f32` that is the nearest `bf16`.
    pub(super) fn round_bf16(&mut self, x: Expr) -> Expr {
        let bits = self.bitcast(x, Register::U32);
        let abs = self.masked(bits, 0x7fff_ffff);
        let rounded = self.without_lower_bits(bits, 16);
        self.unless_nan(abs, rounded, x)
    }

    fn masked(&mut self, bits: Expr, mask: u32) -> Expr {
        let mask = self.u32(mask);
        self.binary(Operator::And, bits, mask)
    }

    /// Rounds to a multiple of 2^`count`, ties to even.
    fn without_lower_bits(&mut self, bits: Expr, count: u32) -> Expr {
        let shift = self.u32(count);
        let odd = self.binary(Operator::ShiftRight, bits, shift);
        let odd = self.masked(odd, 1);
        let half = self.u32((1 << (count - 1)) - 1);
        let sum = self.binary(Operator::Add, bits, half);
        let sum = self.binary(Operator::Add, sum, odd);
        self.masked(sum, !((1 << count) - 1))
    }

    fn unless_nan(&mut self, abs: Expr, bits: Expr, x: Expr) -> Expr {
        let infinity = self.u32(0x7f80_0000);
        let is_nan = self.binary(Operator::Greater, abs, infinity);
        let value = self.bitcast(bits, Register::F32);
        self.select(is_nan, x, value)
    }

    /// Whether a float is NaN, told by its bits: a compiler may take it for granted that no float is.
    pub(super) fn is_nan(&mut self, register: Register, x: Expr) -> Expr {
        match self.f32_magnitude(register, x) {
            Some(abs) => {
                let infinity = self.u32(0x7f80_0000);
                self.binary(Operator::Greater, abs, infinity)
            }
            None => {
                let equal = self.binary(Operator::Equal, x, x);
                self.not(equal)
            }
        }
    }

    fn is_inf(&mut self, register: Register, x: Expr) -> Expr {
        match self.f32_magnitude(register, x) {
            Some(abs) => {
                let infinity = self.u32(0x7f80_0000);
                self.binary(Operator::Equal, abs, infinity)
            }
            None => {
                let abs = self.math(MathFunction::Abs, &[x]);
                let largest = self.number(register, f64::MAX.to_bits());
                self.binary(Operator::Greater, abs, largest)
            }
        }
    }

    /// The bits of the absolute value as an `f32`; `None` for an `f64`.
    fn f32_magnitude(&mut self, register: Register, x: Expr) -> Option<Expr> {
        let x = match register {
            Register::F64 => return None,
            Register::F16 => self.convert(x, Register::F32),
            _ => x,
        };
        let bits = self.bitcast(x, Register::U32);
        Some(self.masked(bits, 0x7fff_ffff))
    }

    pub(super) fn float(&mut self, register: Register, value: f32) -> Expr {
        let bits = match register {
            Register::F16 => half::f16::from_f32(value).to_bits().into(),
            Register::F64 => f64::from(value).to_bits(),
            _ => value.to_bits().into(),
        };
        self.number(register, bits)
    }

    pub(super) fn reciprocal(&mut self, register: Register, x: Expr) -> Expr {
        let one = self.float(register, 1.0);
        self.binary(Operator::Divide, one, x)
    }

    pub(super) fn float_unary(&mut self, op: UnaryOp, scalar: Scalar, register: Register, x: Expr) -> Expr {
        let function = |code: &mut Code, function| {
            let result = code.math(function, &[x]);
            code.round(scalar, register, result)
        };
        match op {
            UnaryOp::Neg => self.unary(UnaryOperator::Negate, x),
            UnaryOp::Abs => self.math(MathFunction::Abs, &[x]),
            UnaryOp::Signum => {
                let (one, minus_one) = (self.float(register, 1.0), self.float(register, -1.0));
                let negative = self.is_negative(register, x);
                let sign = self.select(negative, minus_one, one);
                let is_nan = self.is_nan(register, x);
                self.select(is_nan, x, sign)
            }
            UnaryOp::Sqrt => function(self, MathFunction::Sqrt),
            UnaryOp::Rsqrt => function(self, MathFunction::InverseSqrt),
            UnaryOp::Recip => {
                let result = self.reciprocal(register, x);
                self.round(scalar, register, result)
            }
            UnaryOp::Exp => function(self, MathFunction::Exp),
            UnaryOp::Exp2 => function(self, MathFunction::Exp2),
            UnaryOp::Log => function(self, MathFunction::Log),
            UnaryOp::Log2 => function(self, MathFunction::Log2),
            UnaryOp::Sin => function(self, MathFunction::Sin),
            UnaryOp::Cos => function(self, MathFunction::Cos),
            UnaryOp::Tanh => function(self, MathFunction::Tanh),
            UnaryOp::Floor => self.math(MathFunction::Floor, &[x]),
            UnaryOp::Ceil => self.math(MathFunction::Ceil, &[x]),
            UnaryOp::Trunc => {
                let whole = self.math(MathFunction::Trunc, &[x]);
                self.with_sign_of(register, whole, x)
            }
            UnaryOp::RoundEven if register == Register::F64 => self.round_even(x),
            // naga's `Round` is to even.
            UnaryOp::RoundEven => self.math(MathFunction::Round, &[x]),
            UnaryOp::Round => self.round_away(register, x),
            UnaryOp::IsNan => self.is_nan(register, x),
            UnaryOp::IsInf => self.is_inf(register, x),
            UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => x,
        }
    }

    /// Whether the sign is set, also of zero.
    fn is_negative(&mut self, register: Register, x: Expr) -> Expr {
        let narrow = if register == Register::F32 { x } else { self.convert(x, Register::F32) };
        let bits = self.bitcast(narrow, Register::I32);
        let zero = self.i32(0);
        self.binary(Operator::Less, bits, zero)
    }

    /// Nearest integer, halves away from zero.
    fn round_away(&mut self, register: Register, x: Expr) -> Expr {
        let whole = self.math(MathFunction::Trunc, &[x]);
        let rest = self.binary(Operator::Subtract, x, whole);
        let rest = self.math(MathFunction::Abs, &[rest]);
        let half = self.float(register, 0.5);
        let away = self.binary(Operator::GreaterEqual, rest, half);
        let (one, minus_one) = (self.float(register, 1.0), self.float(register, -1.0));
        let negative = self.is_negative(register, x);
        let step = self.select(negative, minus_one, one);
        let next = self.binary(Operator::Add, whole, step);
        let result = self.select(away, next, whole);
        self.with_sign_of(register, result, x)
    }

    /// Nearest integer of an `f64`, halves to even. Drivers have no such instruction, and some get it wrong.
    fn round_even(&mut self, x: Expr) -> Expr {
        let register = Register::F64;
        let whole = self.math(MathFunction::Trunc, &[x]);
        let rest = self.binary(Operator::Subtract, x, whole);
        let rest = self.math(MathFunction::Abs, &[rest]);
        let half = self.float(register, 0.5);
        let halved = self.binary(Operator::Multiply, whole, half);
        let even = self.math(MathFunction::Trunc, &[halved]);
        let even = self.binary(Operator::Equal, even, halved);
        let odd = self.not(even);
        let tie = self.binary(Operator::Equal, rest, half);
        let tie = self.and(tie, odd);
        let above = self.binary(Operator::Greater, rest, half);
        let away = self.or(above, tie);
        let (one, minus_one) = (self.float(register, 1.0), self.float(register, -1.0));
        let negative = self.is_negative(register, x);
        let step = self.select(negative, minus_one, one);
        let next = self.binary(Operator::Add, whole, step);
        let result = self.select(away, next, whole);
        self.with_sign_of(register, result, x)
    }

    /// An `f64` with the sign of another, which drivers lose where a result is zero.
    fn with_sign_of(&mut self, register: Register, magnitude: Expr, x: Expr) -> Expr {
        if register != Register::F64 {
            return magnitude;
        }
        let bits = Register::U64;
        let (sign, rest) = (self.number(bits, 1 << 63), self.number(bits, u64::MAX >> 1));
        let (x, magnitude) = (self.bitcast(x, bits), self.bitcast(magnitude, bits));
        let sign = self.binary(Operator::And, x, sign);
        let magnitude = self.binary(Operator::And, magnitude, rest);
        let result = self.binary(Operator::InclusiveOr, magnitude, sign);
        self.bitcast(result, register)
    }

    pub(super) fn float_binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        register: Register,
        a: Expr,
        b: Expr,
    ) -> Expr {
        let rounded = |code: &mut Code, result| code.round(scalar, register, result);
        match op {
            BinaryOp::Add => {
                let sum = self.binary(Operator::Add, a, b);
                rounded(self, sum)
            }
            BinaryOp::Sub => {
                let difference = self.binary(Operator::Subtract, a, b);
                rounded(self, difference)
            }
            BinaryOp::Mul => {
                let product = self.binary(Operator::Multiply, a, b);
                rounded(self, product)
            }
            BinaryOp::Div => {
                let quotient = self.binary(Operator::Divide, a, b);
                rounded(self, quotient)
            }
            BinaryOp::Min | BinaryOp::Max => {
                let op = if op == BinaryOp::Min { Operator::Less } else { Operator::Greater };
                let first = self.binary(op, a, b);
                let is_nan = self.is_nan(register, b);
                let first = self.or(first, is_nan);
                self.select(first, a, b)
            }
            BinaryOp::Pow => {
                let power = self.math(MathFunction::Pow, &[a, b]);
                rounded(self, power)
            }
            BinaryOp::Atan2 => {
                let angle = self.math(MathFunction::Atan2, &[a, b]);
                rounded(self, angle)
            }
            // The remainder is a function of its own.
            BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => a,
        }
    }

    /// `a * b + c`. `zero` is a word of which no compiler knows that it is zero.
    pub(super) fn mul_add(
        &mut self,
        how: MulAdd,
        scalar: Scalar,
        register: Register,
        operands: [Expr; 3],
        zero: Expr,
    ) -> Expr {
        let [a, b, c] = operands;
        match (scalar, how) {
            (Scalar::F16 | Scalar::BF16, _) => {
                let wide = operands.map(|x| match register {
                    Register::F16 => self.convert(x, Register::F32),
                    _ => x,
                });
                // The product is exact, the sum is rounded to odd.
                let product = self.binary(Operator::Multiply, wide[0], wide[1]);
                let sum = self.sum_to_odd(Register::F32, product, wide[2], zero);
                if register == Register::F16 {
                    let half = self.round_f16(sum);
                    return self.convert(half, Register::F16);
                }
                self.round(scalar, register, sum)
            }
            (_, MulAdd::Fused) => self.math(MathFunction::Fma, &operands),
            (Scalar::F32, MulAdd::Wide) => {
                let [a, b, c] = operands.map(|x| self.convert(x, Register::F64));
                let product = self.binary(Operator::Multiply, a, b);
                let sum = self.sum_to_odd(Register::F64, product, c, zero);
                self.convert(sum, Register::F32)
            }
            _ => {
                let product = self.binary(Operator::Multiply, a, b);
                self.binary(Operator::Add, product, c)
            }
        }
    }

    /// `a + b`, where an inexact sum becomes the one of the two neighbours that is odd, so that rounding it again to fewer
    /// digits is as rounding once.
    fn sum_to_odd(&mut self, register: Register, a: Expr, b: Expr, zero: Expr) -> Expr {
        let bits_of = if register == Register::F64 { Register::U64 } else { Register::U32 };
        let hide = |code: &mut Code, x: Expr| {
            let zero = if bits_of == Register::U64 { code.convert(zero, bits_of) } else { zero };
            let bits = code.bitcast(x, bits_of);
            let bits = code.binary(Operator::ExclusiveOr, bits, zero);
            code.bitcast(bits, register)
        };
        let sum = self.binary(Operator::Add, a, b);
        // The error of the sum is a float. A driver would say that it is zero, if it saw what is computed here.
        let sum = hide(self, sum);
        let b_part = self.binary(Operator::Subtract, sum, a);
        let b_part = hide(self, b_part);
        let a_part = self.binary(Operator::Subtract, sum, b_part);
        let b_error = self.binary(Operator::Subtract, b, b_part);
        let a_error = self.binary(Operator::Subtract, a, a_part);
        let error = self.binary(Operator::Add, a_error, b_error);
        let (none, one) = (self.float(register, 0.0), self.number(bits_of, 1));
        // Not of infinities and NaN, whose error is NaN.
        let over = self.binary(Operator::Greater, error, none);
        let under = self.binary(Operator::Less, error, none);
        let inexact = self.or(over, under);
        // Towards zero, if the sum was rounded away from it; then to odd.
        let positive = self.binary(Operator::Greater, sum, none);
        let outward = self.select(positive, under, over);
        let bits = self.bitcast(sum, bits_of);
        let less = self.binary(Operator::Subtract, bits, one);
        let bits = self.select(outward, less, bits);
        let bits = self.binary(Operator::InclusiveOr, bits, one);
        let odd = self.bitcast(bits, register);
        self.select(inexact, odd, sum)
    }
}
