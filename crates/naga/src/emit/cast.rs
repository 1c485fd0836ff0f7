//! Conversions between scalars, and between values and their bits.

use super::code::{Code, Expr};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, Expression, MathFunction, TypeInner, VectorSize};
use tilewise_ir::Scalar;

/// A scalar and the register that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) scalar: Scalar,
    pub(super) register: Register,
}

impl Code {
    /// Rust's `as`.
    pub(super) fn cast(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        if to.scalar == Scalar::Bool {
            if from.scalar == Scalar::Bool {
                return x;
            }
            // NaN is not zero.
            let zero = self.zero(from.register);
            let is_zero = self.binary(Operator::Equal, x, zero);
            return self.not(is_zero);
        }
        if from.scalar == Scalar::Bool {
            let one =
                if to.scalar.is_float() { self.float(to.register, 1.0) } else { self.number(to.register, 1) };
            let zero = self.zero(to.register);
            return self.select(x, one, zero);
        }
        match (from.scalar.is_float(), to.scalar.is_float()) {
            (false, false) => self.integer_to_integer(from, to, x),
            (false, true) => self.integer_to_float(from, to, x),
            (true, false) => self.float_to_integer(from, to, x),
            (true, true) => self.float_to_float(from, to, x),
        }
    }

    pub(super) fn integer_to_integer(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        use Register::{I32, I64, U32, U64};
        let x = match (from.register, to.register) {
            (I32, I64 | U64) if self.extends_by_halves => {
                let count = self.u32(31);
                let sign = self.binary(Operator::ShiftRight, x, count);
                let [low, high] = [x, sign].map(|half| self.bitcast(half, U32));
                let wide = self.join(low, high);
                if to.register == I64 { self.bitcast(wide, I64) } else { wide }
            }
            (I32, I64 | U64) => {
                let wide = self.convert(x, I64);
                if to.register == U64 { self.bitcast(wide, U64) } else { wide }
            }
            (U32, I64 | U64) => {
                let wide = self.convert(x, U64);
                if to.register == I64 { self.bitcast(wide, I64) } else { wide }
            }
            (I64 | U64, I32 | U32) => {
                let bits = if from.register == I64 { self.bitcast(x, U64) } else { x };
                let low = self.convert(bits, U32);
                if to.register == I32 { self.bitcast(low, I32) } else { low }
            }
            (from, to) if from == to => x,
            (_, to) => self.bitcast(x, to),
        };
        // A number that fits stays as it is.
        let fits = from.scalar == to.scalar
            || from.scalar.bits() < to.scalar.bits()
                && from.scalar.is_signed_int() == to.scalar.is_signed_int();
        if fits { x } else { self.wrap(to.scalar, x) }
    }

    fn integer_to_float(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        match to.scalar {
            // All beyond the digits of an `f32` is beyond the largest `f16`, so the first rounding does no harm.
            Scalar::F16 => {
                let x = self.convert(x, Register::F32);
                let half = self.round_f16(x);
                if to.register == Register::F16 { self.convert(half, Register::F16) } else { half }
            }
            Scalar::BF16 => {
                let x = self.integer_to_odd(from, x);
                self.round_bf16(x)
            }
            _ => self.convert(x, to.register),
        }
    }

    /// An `f32` that is rounded to a `bf16` as the integer would be: bits that do not fit leave a one behind.
    fn integer_to_odd(&mut self, from: Kind, x: Expr) -> Expr {
        if from.scalar.bits() <= 16 {
            return self.convert(x, Register::F32);
        }
        let zero = self.zero(from.register);
        let bits = self.integer_bits(from.scalar, from.register, x);
        let is_wide = matches!(from.register, Register::I64 | Register::U64);
        let unsigned = if is_wide { Register::U64 } else { Register::U32 };
        let none = self.zero(unsigned);
        let negated = self.binary(Operator::Subtract, none, bits);
        let negative = self.binary(Operator::Less, x, zero);
        let magnitude = self.select(negative, negated, bits);
        let result = if is_wide { self.u64_to_odd(magnitude) } else { self.u32_to_odd(magnitude) };
        let minus = self.unary(naga::UnaryOperator::Negate, result);
        self.select(negative, minus, result)
    }

    fn u64_to_odd(&mut self, x: Expr) -> Expr {
        let (low, high) = self.halves(x);
        let [zero, sixteen, mask] = [0, 16, 0xffff].map(|number| self.u32(number));
        // Of the upper, middle or lower 32 bits, those that have digits enough.
        let upper = self.sticky(high, low);
        let upper = self.u32_to_odd(upper);
        let scale = self.f32(4_294_967_296.0);
        let upper = self.binary(Operator::Multiply, upper, scale);
        let left = self.binary(Operator::ShiftLeft, high, sixteen);
        let right = self.binary(Operator::ShiftRight, low, sixteen);
        let middle = self.binary(Operator::InclusiveOr, left, right);
        let rest = self.binary(Operator::And, low, mask);
        let middle = self.sticky(middle, rest);
        let middle = self.u32_to_odd(middle);
        let scale = self.f32(65_536.0);
        let middle = self.binary(Operator::Multiply, middle, scale);
        let lower = self.u32_to_odd(low);
        let is_large = self.binary(Operator::Greater, high, mask);
        let is_small = self.binary(Operator::Equal, high, zero);
        let result = self.select(is_large, upper, middle);
        self.select(is_small, lower, result)
    }

    /// The upper half, odd if the lower is not zero.
    fn sticky(&mut self, high: Expr, low: Expr) -> Expr {
        let (zero, one) = (self.u32(0), self.u32(1));
        let exact = self.binary(Operator::Equal, low, zero);
        let rest = self.select(exact, zero, one);
        self.binary(Operator::InclusiveOr, high, rest)
    }

    fn u32_to_odd(&mut self, x: Expr) -> Expr {
        let (eight, low_mask) = (self.u32(8), self.u32(0xff));
        let high = self.binary(Operator::ShiftRight, x, eight);
        let low = self.binary(Operator::And, x, low_mask);
        let odd = self.sticky(high, low);
        let large = self.convert(odd, Register::F32);
        let scale = self.f32(256.0);
        let large = self.binary(Operator::Multiply, large, scale);
        let small = self.convert(x, Register::F32);
        let limit = self.u32(1 << 24);
        let fits = self.binary(Operator::Less, x, limit);
        self.select(fits, small, large)
    }

    fn float_to_float(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        if from.scalar == to.scalar {
            return x;
        }
        if to.register == Register::F64 {
            return if from.register == Register::F64 { x } else { self.convert(x, Register::F64) };
        }
        let narrow = match from.register {
            Register::F64 if to.scalar == Scalar::F32 => self.convert(x, Register::F32),
            Register::F64 => self.f64_to_odd(x),
            Register::F16 => self.convert(x, Register::F32),
            _ => x,
        };
        match to.scalar {
            Scalar::F16 => {
                let half = self.round_f16(narrow);
                if to.register == Register::F16 { self.convert(half, Register::F16) } else { half }
            }
            Scalar::BF16 => self.round_bf16(narrow),
            _ => narrow,
        }
    }

    /// The neighbouring `f32` that is odd, unless the number is an `f32`.
    fn f64_to_odd(&mut self, x: Expr) -> Expr {
        let near = self.convert(x, Register::F32);
        let back = self.convert(near, Register::F64);
        let (given, got) = (self.math(MathFunction::Abs, &[x]), self.math(MathFunction::Abs, &[back]));
        let outward = self.binary(Operator::Greater, got, given);
        let inward = self.binary(Operator::Less, got, given);
        let inexact = self.or(outward, inward);
        let one = self.u32(1);
        let bits = self.bitcast(near, Register::U32);
        let less = self.binary(Operator::Subtract, bits, one);
        let bits = self.select(outward, less, bits);
        let bits = self.binary(Operator::InclusiveOr, bits, one);
        let odd = self.bitcast(bits, Register::F32);
        self.select(inexact, odd, near)
    }

    /// Towards zero; saturates, and NaN gives zero.
    fn float_to_integer(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        let (x, float) = match from.register {
            Register::F16 => (self.convert(x, Register::F32), Register::F32),
            register => (x, register),
        };
        if (to.scalar, to.register) == (Scalar::Index, Register::U32) {
            return self.float_to_lower_half(float, x);
        }
        let bits = to.scalar.bits();
        let signed = to.scalar.is_signed_int();
        let least = if signed { -(2f32.powi(bits as i32 - 1)) } else { 0.0 };
        let above = 2f32.powi(if signed { bits as i32 - 1 } else { bits as i32 });
        let (least, above) = (self.float(float, least), self.float(float, above));
        let low = self.binary(Operator::LessEqual, x, least);
        let high = self.binary(Operator::GreaterEqual, x, above);
        let nan = self.is_nan(float, x);
        let outside = self.or(low, high);
        let outside = self.or(outside, nan);
        let zero = self.zero(float);
        let inside = self.select(outside, zero, x);
        let result = self.convert(inside, to.register);
        let (min, max) = if signed {
            (u64::MAX << (bits - 1), (1 << (bits - 1)) - 1)
        } else {
            (0, u64::MAX >> (64 - bits))
        };
        let (min, max) =
            (self.number(to.register, sign_extended(to.register, min)), self.number(to.register, max));
        let result = self.select(low, min, result);
        self.select(high, max, result)
    }

    /// The lower half of the 64 bits that a float gives.
    fn float_to_lower_half(&mut self, float: Register, x: Expr) -> Expr {
        let whole = self.math(MathFunction::Trunc, &[x]);
        let (scale, zero) = (self.float(float, 4_294_967_296.0), self.zero(float));
        let upper = self.binary(Operator::Divide, whole, scale);
        let upper = self.math(MathFunction::Floor, &[upper]);
        let upper = self.binary(Operator::Multiply, upper, scale);
        let lower = self.binary(Operator::Subtract, whole, upper);
        let above = self.float(float, 2f32.powi(64));
        let high = self.binary(Operator::GreaterEqual, x, above);
        let positive = self.binary(Operator::Greater, x, zero);
        let inside = self.not(high);
        let inside = self.and(positive, inside);
        let lower = self.select(inside, lower, zero);
        let result = self.convert(lower, Register::U32);
        let max = self.u32(u32::MAX);
        self.select(high, max, result)
    }

    // ---- bits ----

    /// The bits of a value, zero-extended: `u32`, or `u64` if it has 64 of them.
    pub(super) fn bits(&mut self, kind: Kind, x: Expr) -> Expr {
        match (kind.scalar, kind.register) {
            (Scalar::Bool, _) => {
                let (zero, one) = (self.u32(0), self.u32(1));
                self.select(x, one, zero)
            }
            (Scalar::F16, register) => {
                let x = if register == Register::F16 { self.convert(x, Register::F32) } else { x };
                let ty = self.ty(TypeInner::Vector { size: VectorSize::Bi, scalar: naga::Scalar::F32 });
                let zero = self.f32(0.0);
                let pair = self.emit(Expression::Compose { ty, components: vec![x, zero] });
                self.math(MathFunction::Pack2x16float, &[pair])
            }
            (Scalar::BF16, _) => {
                let bits = self.bitcast(x, Register::U32);
                let count = self.u32(16);
                self.binary(Operator::ShiftRight, bits, count)
            }
            (_, Register::F32) => self.bitcast(x, Register::U32),
            (_, Register::F64) => self.bitcast(x, Register::U64),
            (scalar, register) => self.integer_bits(scalar, register, x),
        }
    }

    /// The value with these bits; those above its own do not count.
    pub(super) fn value_of_bits(&mut self, kind: Kind, bits: Expr) -> Expr {
        match (kind.scalar, kind.register) {
            (Scalar::Bool, _) => {
                let (zero, mask) = (self.u32(0), self.u32(0xff));
                let byte = self.binary(Operator::And, bits, mask);
                self.binary(Operator::NotEqual, byte, zero)
            }
            (Scalar::F16, register) => {
                let mask = self.u32(0xffff);
                let bits = self.binary(Operator::And, bits, mask);
                let pair = self.math(MathFunction::Unpack2x16float, &[bits]);
                let x = self.part(pair, 0);
                if register == Register::F16 { self.convert(x, Register::F16) } else { x }
            }
            (Scalar::BF16, _) => {
                let count = self.u32(16);
                let bits = self.binary(Operator::ShiftLeft, bits, count);
                self.bitcast(bits, Register::F32)
            }
            (_, Register::U32 | Register::U64) => self.wrap(kind.scalar, bits),
            (scalar, register) => {
                let value = self.bitcast(bits, register);
                self.wrap(scalar, value)
            }
        }
    }

    /// The lower and upper word of the bits of a value.
    pub(super) fn words(&mut self, kind: Kind, x: Expr) -> (Expr, Expr) {
        let bits = self.bits(kind, x);
        match kind.register {
            Register::I64 | Register::U64 | Register::F64 => self.halves(bits),
            _ => (bits, self.u32(0)),
        }
    }

    /// 64 bits of two words.
    pub(super) fn join(&mut self, low: Expr, high: Expr) -> Expr {
        let low = self.convert(low, Register::U64);
        let high = self.convert(high, Register::U64);
        let count = self.u32(32);
        let high = self.binary(Operator::ShiftLeft, high, count);
        self.binary(Operator::InclusiveOr, high, low)
    }
}

/// Bits as a number of the register takes them.
pub(super) fn sign_extended(register: Register, bits: u64) -> u64 {
    match register {
        Register::I32 => u64::from(bits as u32),
        _ => bits,
    }
}
