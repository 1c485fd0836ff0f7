//! Integer arithmetic, and comparisons. All of it wraps in the width of the scalar.

use super::code::{Code, Expr};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, MathFunction, UnaryOperator};
use tilewise_ir::{BinaryOp, CompareOp, Scalar, UnaryOp};

impl Code {
    /// Keeps the value of 8 or 16 bits that its lower bits stand for.
    pub(super) fn wrap(&mut self, scalar: Scalar, x: Expr) -> Expr {
        match scalar {
            Scalar::I8 | Scalar::I16 => {
                let unused = self.u32(32 - scalar.bits());
                let high = self.binary(Operator::ShiftLeft, x, unused);
                self.binary(Operator::ShiftRight, high, unused)
            }
            Scalar::U8 | Scalar::U16 => {
                let mask = self.u32((1 << scalar.bits()) - 1);
                self.binary(Operator::And, x, mask)
            }
            _ => x,
        }
    }

    /// An integer's bits, zero-extended: `u32`, or `u64` if the register has 64 bits.
    pub(super) fn integer_bits(&mut self, scalar: Scalar, register: Register, x: Expr) -> Expr {
        match (register, scalar) {
            (Register::I32, Scalar::I8 | Scalar::I16) => {
                let bits = self.bitcast(x, Register::U32);
                let mask = self.u32((1 << scalar.bits()) - 1);
                self.binary(Operator::And, bits, mask)
            }
            (Register::I32, _) => self.bitcast(x, Register::U32),
            (Register::I64, _) => self.bitcast(x, Register::U64),
            _ => x,
        }
    }

    /// The lower and upper half of 64 bits.
    pub(super) fn halves(&mut self, x: Expr) -> (Expr, Expr) {
        let low = self.convert(x, Register::U32);
        let count = self.u32(32);
        let high = self.binary(Operator::ShiftRight, x, count);
        (low, self.convert(high, Register::U32))
    }

    /// A small number in an integer register.
    pub(super) fn small(&mut self, x: Expr, register: Register) -> Expr {
        match register {
            Register::I32 => self.bitcast(x, register),
            Register::I64 | Register::U64 => self.convert(x, register),
            _ => x,
        }
    }

    pub(super) fn integer_unary(&mut self, op: UnaryOp, scalar: Scalar, register: Register, x: Expr) -> Expr {
        let zero = self.zero(register);
        match op {
            UnaryOp::Neg => {
                let negative = self.binary(Operator::Subtract, zero, x);
                self.wrap(scalar, negative)
            }
            UnaryOp::Not => {
                let not = self.unary(UnaryOperator::BitwiseNot, x);
                self.wrap(scalar, not)
            }
            UnaryOp::Abs if scalar.is_signed_int() => {
                let negative = self.binary(Operator::Subtract, zero, x);
                let is_negative = self.binary(Operator::Less, x, zero);
                let abs = self.select(is_negative, negative, x);
                self.wrap(scalar, abs)
            }
            UnaryOp::Signum => {
                let one = self.number(register, 1);
                let positive = self.binary(Operator::Greater, x, zero);
                let sign = self.select(positive, one, zero);
                if !scalar.is_signed_int() {
                    return sign;
                }
                let minus_one = self.number(register, u64::MAX);
                let negative = self.binary(Operator::Less, x, zero);
                self.select(negative, minus_one, sign)
            }
            UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {
                let bits = self.integer_bits(scalar, register, x);
                let count = match register {
                    Register::I64 | Register::U64 => self.count_wide(op, bits),
                    _ => self.count(op, scalar, bits),
                };
                self.small(count, register)
            }
            _ => x,
        }
    }

    fn count(&mut self, op: UnaryOp, scalar: Scalar, bits: Expr) -> Expr {
        let width = scalar.bits();
        match op {
            UnaryOp::CountOnes => self.math(MathFunction::CountOneBits, &[bits]),
            UnaryOp::LeadingZeros => {
                let zeros = self.math(MathFunction::CountLeadingZeros, &[bits]);
                // The register has more or fewer bits than the scalar.
                let difference = self.u32(width.abs_diff(32));
                let op = if width > 32 { Operator::Add } else { Operator::Subtract };
                self.binary(op, zeros, difference)
            }
            _ => {
                let zeros = self.math(MathFunction::CountTrailingZeros, &[bits]);
                if width == 32 {
                    return zeros;
                }
                let (zero, width) = (self.u32(0), self.u32(width));
                let none = self.binary(Operator::Equal, bits, zero);
                self.select(none, width, zeros)
            }
        }
    }

    fn count_wide(&mut self, op: UnaryOp, bits: Expr) -> Expr {
        let (low, high) = self.halves(bits);
        let count = |code: &mut Code, half| code.count(op, Scalar::U32, half);
        let (in_low, in_high) = (count(self, low), count(self, high));
        if op == UnaryOp::CountOnes {
            return self.binary(Operator::Add, in_low, in_high);
        }
        let (first, other, half) =
            if op == UnaryOp::LeadingZeros { (in_high, in_low, high) } else { (in_low, in_high, low) };
        let (zero, width) = (self.u32(0), self.u32(32));
        let more = self.binary(Operator::Add, other, width);
        let none = self.binary(Operator::Equal, half, zero);
        self.select(none, more, first)
    }

    /// A binary operation. A division by zero gives zero.
    pub(super) fn integer_binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        register: Register,
        a: Expr,
        b: Expr,
    ) -> Expr {
        let plain = |code: &mut Code, op| {
            let result = code.binary(op, a, b);
            code.wrap(scalar, result)
        };
        match op {
            BinaryOp::Add => plain(self, Operator::Add),
            BinaryOp::Sub => plain(self, Operator::Subtract),
            BinaryOp::Mul => plain(self, Operator::Multiply),
            BinaryOp::And => self.binary(Operator::And, a, b),
            BinaryOp::Or => self.binary(Operator::InclusiveOr, a, b),
            BinaryOp::Xor => self.binary(Operator::ExclusiveOr, a, b),
            BinaryOp::Div | BinaryOp::Rem => self.divide(op, scalar, register, a, b),
            BinaryOp::Min | BinaryOp::Max => {
                let op = if op == BinaryOp::Min { Operator::Less } else { Operator::Greater };
                let first = self.binary(op, a, b);
                self.select(first, a, b)
            }
            BinaryOp::Shl => self.shift(Operator::ShiftLeft, scalar, register, a, b),
            BinaryOp::Shr => self.shift(Operator::ShiftRight, scalar, register, a, b),
            BinaryOp::Pow | BinaryOp::Atan2 => a,
        }
    }

    fn divide(&mut self, op: BinaryOp, scalar: Scalar, register: Register, a: Expr, b: Expr) -> Expr {
        if let Some(divisor) = self.literal_integer(b).filter(|&divisor| divisor != 0) {
            return match u64::try_from(divisor) {
                Ok(divisor) if divisor.is_power_of_two() => {
                    self.divide_by_power(op, scalar, register, a, divisor.trailing_zeros())
                }
                _ => self.quotient_or_rest(op, scalar, a, b),
            };
        }
        let (zero, one) = (self.zero(register), self.number(register, 1));
        let by_zero = self.binary(Operator::Equal, b, zero);
        let divisor = self.select(by_zero, one, b);
        let result = self.quotient_or_rest(op, scalar, a, divisor);
        self.select(by_zero, zero, result)
    }

    /// A division by what is not zero.
    fn quotient_or_rest(&mut self, op: BinaryOp, scalar: Scalar, a: Expr, divisor: Expr) -> Expr {
        // `MIN / -1` wraps by the rules of WGSL, which naga keeps everywhere.
        let result = match op {
            BinaryOp::Div => self.binary(Operator::Divide, a, divisor),
            // Vulkan leaves the remainder of negative numbers undefined, but not their quotient.
            _ if scalar.is_signed_int() => {
                let quotient = self.binary(Operator::Divide, a, divisor);
                let product = self.binary(Operator::Multiply, quotient, divisor);
                self.binary(Operator::Subtract, a, product)
            }
            _ => self.binary(Operator::Modulo, a, divisor),
        };
        self.wrap(scalar, result)
    }

    /// A division by 2^`exponent`. That it is left to no driver is not for speed: NVIDIA's for Vulkan (580.159) takes the
    /// truth of `x % 2 != 0` of a negative even `x` for true where `x % 2 == 0` is computed beside it.
    fn divide_by_power(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        register: Register,
        a: Expr,
        exponent: u32,
    ) -> Expr {
        if exponent == 0 {
            return if op == BinaryOp::Div { a } else { self.zero(register) };
        }
        let (count, mask) = (self.u32(exponent), self.number(register, (1 << exponent) - 1));
        if !scalar.is_signed_int() {
            return match op {
                BinaryOp::Div => self.binary(Operator::ShiftRight, a, count),
                _ => self.binary(Operator::And, a, mask),
            };
        }
        // Quotients round to zero: a negative number is divided as if it were larger by all that a remainder can be.
        let last = self.u32(scalar.bits().max(32) - 1);
        let sign = self.binary(Operator::ShiftRight, a, last);
        let more = self.binary(Operator::And, sign, mask);
        let sum = self.binary(Operator::Add, a, more);
        match op {
            BinaryOp::Div => self.binary(Operator::ShiftRight, sum, count),
            _ => {
                let rest = self.binary(Operator::And, sum, mask);
                self.binary(Operator::Subtract, rest, more)
            }
        }
    }

    fn shift(&mut self, op: Operator, scalar: Scalar, register: Register, a: Expr, b: Expr) -> Expr {
        let count = match register {
            Register::I32 => self.bitcast(b, Register::U32),
            Register::I64 | Register::U64 => self.convert(b, Register::U32),
            _ => b,
        };
        let mask = scalar.bits() - 1;
        if let Some(number) =
            self.literal_u32(count).filter(|_| scalar == Scalar::Index && register == Register::U32)
        {
            let (number, zero) = (number & mask, self.u32(0));
            let small = self.u32(number);
            return if number < 32 { self.binary(op, a, small) } else { zero };
        }
        let mask = self.u32(mask);
        let count = self.binary(Operator::And, count, mask);
        if (scalar, register) != (Scalar::Index, Register::U32) {
            let result = self.binary(op, a, count);
            return self.wrap(scalar, result);
        }
        // The lower half of an index.
        let (mask, zero, width) = (self.u32(31), self.u32(0), self.u32(32));
        let small = self.binary(Operator::And, count, mask);
        let result = self.binary(op, a, small);
        let stays = self.binary(Operator::Less, count, width);
        self.select(stays, result, zero)
    }

    /// A comparison of numbers or truth values.
    pub(super) fn compare(&mut self, op: CompareOp, scalar: Scalar, a: Expr, b: Expr) -> Expr {
        if scalar == Scalar::Bool {
            return self.compare_bools(op, a, b);
        }
        match op {
            CompareOp::Eq => self.binary(Operator::Equal, a, b),
            CompareOp::Ne if !scalar.is_float() => self.binary(Operator::NotEqual, a, b),
            // It holds if one is NaN, while naga's `NotEqual` does not.
            CompareOp::Ne => {
                let equal = self.binary(Operator::Equal, a, b);
                self.not(equal)
            }
            CompareOp::Lt => self.binary(Operator::Less, a, b),
            CompareOp::Le => self.binary(Operator::LessEqual, a, b),
            CompareOp::Gt => self.binary(Operator::Greater, a, b),
            CompareOp::Ge => self.binary(Operator::GreaterEqual, a, b),
        }
    }

    fn compare_bools(&mut self, op: CompareOp, a: Expr, b: Expr) -> Expr {
        match op {
            CompareOp::Eq => self.binary(Operator::Equal, a, b),
            CompareOp::Ne => self.binary(Operator::NotEqual, a, b),
            CompareOp::Lt => {
                let not = self.not(a);
                self.and(not, b)
            }
            CompareOp::Le => {
                let not = self.not(a);
                self.or(not, b)
            }
            CompareOp::Gt => {
                let not = self.not(b);
                self.and(a, not)
            }
            CompareOp::Ge => {
                let not = self.not(b);
                self.or(a, not)
            }
        }
    }

    /// Logic of truth values.
    pub(super) fn logic(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        match op {
            BinaryOp::And => self.and(a, b),
            BinaryOp::Or => self.or(a, b),
            _ => self.binary(Operator::NotEqual, a, b),
        }
    }
}
