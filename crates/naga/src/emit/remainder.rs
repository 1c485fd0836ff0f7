//! The remainder of floats, exactly: by shifts and subtractions of the bits, one for each bit by which the exponents
//! differ. No shader language has it; theirs round on the way.

use super::Emitter;
use super::cast::Kind;
use super::code::{Code, Expr};
use crate::plan::Register;
use naga::{
    BinaryOperator as Operator, Expression, Function, FunctionArgument, FunctionResult, Handle, MathFunction,
    Statement,
};

impl Emitter<'_> {
    /// `a % b`.
    pub(super) fn remainder(&mut self, kind: Kind, a: Expr, b: Expr) -> Expr {
        // A remainder of halves is a half.
        let register = if kind.register == Register::F64 { Register::F64 } else { Register::F32 };
        let narrow = kind.register == Register::F16;
        let [a, b] = [a, b].map(|x| if narrow { self.code.convert(x, register) } else { x });
        let function = match self.remainders.get(&register) {
            Some(&function) => function,
            None => {
                let function = self.code.nested(|code| define(code, register));
                self.remainders.insert(register, function);
                function
            }
        };
        let result = self.code.call(function, vec![a, b]);
        if narrow { self.code.convert(result, Register::F16) } else { result }
    }
}

impl Code {
    fn call(&mut self, function: Handle<Function>, arguments: Vec<Expr>) -> Expr {
        let result = self.constant(Expression::CallResult(function));
        self.push(Statement::Call { function, arguments, result: Some(result) });
        result
    }

    /// Zero bits above the highest one bit.
    fn leading_zeros(&mut self, bits: Register, x: Expr) -> Expr {
        if bits == Register::U32 {
            return self.math(MathFunction::CountLeadingZeros, &[x]);
        }
        let (low, high) = self.halves(x);
        let in_high = self.math(MathFunction::CountLeadingZeros, &[high]);
        let in_low = self.math(MathFunction::CountLeadingZeros, &[low]);
        let (zero, width) = (self.u32(0), self.u32(32));
        let more = self.binary(Operator::Add, in_low, width);
        let none = self.binary(Operator::Equal, high, zero);
        self.select(none, more, in_high)
    }
}

/// The parts of a float that is not zero: its significand with the highest bit set, and its exponent, which is that of a
/// subnormal number if it is not positive.
struct Parts {
    significand: Expr,
    exponent: Expr,
}

struct Format {
    bits: Register,
    digits: u32,
    hidden: Expr,
    /// How many zeros there are above the hidden bit.
    above: Expr,
}

fn parts(code: &mut Code, format: &Format, magnitude: Expr) -> Parts {
    let (mask, digits) = (code.number(format.bits, (1 << format.digits) - 1), code.u32(format.digits));
    let fraction = code.binary(Operator::And, magnitude, mask);
    let exponent = code.binary(Operator::ShiftRight, magnitude, digits);
    let exponent =
        if format.bits == Register::U64 { code.convert(exponent, Register::U32) } else { exponent };
    let exponent = code.bitcast(exponent, Register::I32);
    let normal = code.binary(Operator::InclusiveOr, fraction, format.hidden);
    let zeros = code.leading_zeros(format.bits, fraction);
    let shift = code.binary(Operator::Subtract, zeros, format.above);
    let subnormal = code.binary(Operator::ShiftLeft, fraction, shift);
    let (zero, one) = (code.i32(0), code.i32(1));
    let shift = code.bitcast(shift, Register::I32);
    let lowered = code.binary(Operator::Subtract, one, shift);
    let is_normal = code.binary(Operator::NotEqual, exponent, zero);
    Parts {
        significand: code.select(is_normal, normal, subnormal),
        exponent: code.select(is_normal, exponent, lowered),
    }
}

fn define(code: &mut Code, float: Register) {
    let (bits, digits, exponents) = match float {
        Register::F64 => (Register::U64, 52, 0x7ff_u64),
        _ => (Register::U32, 23, 0xff),
    };
    let ty = code.register_ty(float);
    let mut argument = |name: &str| {
        code.function.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding: None });
        code.constant(Expression::FunctionArgument(code.function.arguments.len() as u32 - 1))
    };
    let (x, y) = (argument("x"), argument("y"));
    code.function.name = Some("remainder".to_owned());
    code.function.result = Some(FunctionResult { ty, binding: None });
    let give = |code: &mut Code, value| code.push(Statement::Return { value: Some(value) });

    let width = if bits == Register::U64 { 64 } else { 32 };
    let sign_bit = code.number(bits, 1 << (width - 1));
    let magnitude_mask = code.number(bits, (1 << (width - 1)) - 1);
    let infinity = code.number(bits, exponents << digits);
    let zero = code.zero(bits);
    let x_bits = code.bitcast(x, bits);
    let y_bits = code.bitcast(y, bits);
    let sign = code.binary(Operator::And, x_bits, sign_bit);
    let a = code.binary(Operator::And, x_bits, magnitude_mask);
    let b = code.binary(Operator::And, y_bits, magnitude_mask);

    let not_finite = code.binary(Operator::GreaterEqual, a, infinity);
    let is_nan = code.binary(Operator::Greater, b, infinity);
    let by_zero = code.binary(Operator::Equal, b, zero);
    let invalid = code.or(not_finite, is_nan);
    let invalid = code.or(invalid, by_zero);
    code.open();
    let nan = code.number(float, (exponents << digits) | 1 << (digits - 1));
    give(code, nan);
    code.close_if(invalid);
    let is_less = code.binary(Operator::Less, a, b);
    code.open();
    give(code, x);
    code.close_if(is_less);

    let hidden = code.number(bits, 1 << digits);
    let above = code.u32(width - 1 - digits);
    let format = Format { bits, digits, hidden, above };
    let (a, b) = (parts(code, &format, a), parts(code, &format, b));
    let rest = code.variable(bits);
    let exponent = code.variable(Register::I32);
    code.store(rest, a.significand);
    code.store(exponent, a.exponent);
    let one = code.u32(1);
    code.open();
    let now = code.load(rest);
    let fits = code.binary(Operator::GreaterEqual, now, b.significand);
    let less = code.binary(Operator::Subtract, now, b.significand);
    let now = code.select(fits, less, now);
    code.store(rest, now);
    let at = code.load(exponent);
    let done = code.binary(Operator::LessEqual, at, b.exponent);
    code.open();
    code.push(Statement::Break);
    code.close_if(done);
    let doubled = code.binary(Operator::ShiftLeft, now, one);
    code.store(rest, doubled);
    let step = code.i32(1);
    let next = code.binary(Operator::Subtract, at, step);
    code.store(exponent, next);
    code.close_loop();

    let rest = code.load(rest);
    let is_zero = code.binary(Operator::Equal, rest, zero);
    code.open();
    let signed_zero = code.bitcast(sign, float);
    give(code, signed_zero);
    code.close_if(is_zero);
    let zeros = code.leading_zeros(bits, rest);
    let shift = code.binary(Operator::Subtract, zeros, format.above);
    let significand = code.binary(Operator::ShiftLeft, rest, shift);
    let shift = code.bitcast(shift, Register::I32);
    let exponent = code.binary(Operator::Subtract, b.exponent, shift);
    let (none, first) = (code.i32(0), code.i32(1));
    let is_normal = code.binary(Operator::Greater, exponent, none);
    // Both sides of a selection are computed: a count of the other side may be anything.
    let missing = code.binary(Operator::Subtract, first, exponent);
    let missing = code.bitcast(missing, Register::U32);
    let subnormal = code.binary(Operator::ShiftRight, significand, missing);
    let fraction = code.binary(Operator::Subtract, significand, format.hidden);
    let biased = code.bitcast(exponent, Register::U32);
    let biased = if bits == Register::U64 { code.convert(biased, bits) } else { biased };
    let digits = code.u32(digits);
    let biased = code.binary(Operator::ShiftLeft, biased, digits);
    let normal = code.binary(Operator::InclusiveOr, fraction, biased);
    let magnitude = code.select(is_normal, normal, subnormal);
    let result = code.binary(Operator::InclusiveOr, magnitude, sign);
    let result = code.bitcast(result, float);
    give(code, result);
}
