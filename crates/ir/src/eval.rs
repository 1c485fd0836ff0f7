//! Constant evaluation: what an operation gives on constants, in the operand's own type and with the roundings that
//! [`op`](crate::op) defines.
//!
//! Each function gives `None` where the result is not one certain pattern of bits:
//!
//! - a division of integers by zero: it is a fault, and the fault must stay;
//! - a transcendental function (`exp`, `sin`, `pow`, ..., also `rsqrt` and `recip`): devices differ in the last bits;
//! - a result that is NaN: devices differ in its payload and sign;
//! - `min` and `max` of two zeros of unlike sign: either is right;
//! - operands of types that the verifier does not let through.
//!
//! All else is exact or rounded once, to nearest, ties to even; so a pass may put the result in place of the
//! operation, whatever the device.
//!
//! ```
//! use tilewise_ir::{BinaryOp, Const, Scalar, eval};
//!
//! let a = Const::int(Scalar::I8, 127);
//! let b = Const::int(Scalar::I8, 1);
//! assert_eq!(eval::binary(BinaryOp::Add, a, b), Some(Const::int(Scalar::I8, -128)));
//! assert_eq!(eval::binary(BinaryOp::Div, a, Const::int(Scalar::I8, 0)), None);
//! ```

use crate::op::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::types::{Const, Scalar};

/// The result of an operation that works lane by lane, for one lane. `None` for any other operation, too.
pub fn operation(op: &Op, operands: &[Const]) -> Option<Const> {
    match (op, operands) {
        (&Op::Unary(op), &[a]) => unary(op, a),
        (&Op::Binary(op), &[a, b]) => binary(op, a, b),
        (&Op::Compare(op), &[a, b]) => compare(op, a, b).map(Const::bool),
        (Op::MulAdd, &[a, b, c]) => mul_add(a, b, c),
        (Op::Select, &[condition, a, b]) => Some(if condition.is_zero() { b } else { a }),
        (&Op::Cast(to), &[a]) => cast(a, to),
        (&Op::Bitcast(to), &[a]) => bitcast(a, to),
        _ => None,
    }
}

/// The result of [`Op::Unary`].
pub fn unary(op: UnaryOp, a: Const) -> Option<Const> {
    if a.scalar.is_float() { unary_float(op, a) } else { unary_int(op, a) }
}

/// The result of [`Op::Binary`].
pub fn binary(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    if a.scalar != b.scalar {
        return None;
    }
    match a.scalar {
        Scalar::Bool => binary_bool(op, a, b),
        scalar if scalar.is_float() => binary_float(op, a, b),
        _ => binary_int(op, a, b),
    }
}

/// The result of [`Op::Compare`].
pub fn compare(op: CompareOp, a: Const, b: Const) -> Option<bool> {
    if a.scalar != b.scalar {
        return None;
    }
    let order = match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_float()?.partial_cmp(&b.as_float()?),
    };
    Some(match op {
        CompareOp::Eq => order.is_some_and(|o| o.is_eq()),
        CompareOp::Ne => order.is_none_or(|o| o.is_ne()),
        CompareOp::Lt => order.is_some_and(|o| o.is_lt()),
        CompareOp::Le => order.is_some_and(|o| o.is_le()),
        CompareOp::Gt => order.is_some_and(|o| o.is_gt()),
        CompareOp::Ge => order.is_some_and(|o| o.is_ge()),
    })
}

/// The result of [`Op::MulAdd`]: `a * b + c` rounded once.
pub fn mul_add(a: Const, b: Const, c: Const) -> Option<Const> {
    if a.scalar != b.scalar || a.scalar != c.scalar {
        return None;
    }
    let (x, y, z) = (a.as_float()?, b.as_float()?, c.as_float()?);
    let result = match a.scalar {
        Scalar::F64 => x.mul_add(y, z),
        Scalar::F32 => f64::from((x as f32).mul_add(y as f32, z as f32)),
        // The product of two halves is exact in f64; the sum may not be.
        _ => add_to_odd(x * y, z),
    };
    float(a.scalar, result)
}

/// The result of [`Op::Cast`].
pub fn cast(a: Const, to: Scalar) -> Option<Const> {
    if to == a.scalar {
        return Some(a);
    }
    if let Some(value) = a.as_int() {
        return match to {
            Scalar::Bool => Some(Const::bool(value != 0)),
            Scalar::F64 => Some(Const { scalar: to, bits: (value as f64).to_bits() }),
            Scalar::F32 => Some(Const::f32(value as f32)),
            Scalar::F16 | Scalar::BF16 => float(to, int_to_odd(value)),
            _ => Some(Const::int(to, value)),
        };
    }
    let value = a.as_float()?;
    Some(match to {
        Scalar::Bool => Const::bool(value != 0.0),
        Scalar::I8 => Const::int(to, (value as i8).into()),
        Scalar::I16 => Const::int(to, (value as i16).into()),
        Scalar::I32 => Const::int(to, (value as i32).into()),
        Scalar::I64 => Const::int(to, (value as i64).into()),
        Scalar::U8 => Const::int(to, (value as u8).into()),
        Scalar::U16 => Const::int(to, (value as u16).into()),
        Scalar::U32 => Const::int(to, (value as u32).into()),
        Scalar::U64 | Scalar::Index => Const::int(to, (value as u64).into()),
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => return float(to, value),
    })
}

/// The result of [`Op::Bitcast`].
pub fn bitcast(a: Const, to: Scalar) -> Option<Const> {
    let defined = a.scalar != Scalar::Bool && to != Scalar::Bool && a.scalar.size() == to.size();
    defined.then_some(Const { scalar: to, bits: a.bits })
}

/// The float constant of type `scalar` nearest to `value`, ties to even; `None` for a NaN, and for a `scalar` that is
/// no float.
pub fn float(scalar: Scalar, value: f64) -> Option<Const> {
    if value.is_nan() {
        return None;
    }
    let bits = match scalar {
        Scalar::F64 => value.to_bits(),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        Scalar::F16 => narrow(value, 5, 10),
        Scalar::BF16 => narrow(value, 8, 7),
        _ => return None,
    };
    Some(Const { scalar, bits })
}

fn unary_int(op: UnaryOp, a: Const) -> Option<Const> {
    let value = a.as_int()?;
    if a.scalar == Scalar::Bool {
        return (op == UnaryOp::Not).then(|| Const::bool(value == 0));
    }
    let width = a.scalar.bits();
    let result = match op {
        UnaryOp::Neg => -value,
        UnaryOp::Not => !value,
        UnaryOp::Abs => value.abs(),
        UnaryOp::Signum => value.signum(),
        UnaryOp::CountOnes => a.bits.count_ones().into(),
        UnaryOp::LeadingZeros => (a.bits.leading_zeros() - (64 - width)).into(),
        UnaryOp::TrailingZeros => a.bits.trailing_zeros().min(width).into(),
        _ => return None,
    };
    Some(Const::int(a.scalar, result))
}

fn unary_float(op: UnaryOp, a: Const) -> Option<Const> {
    let value = a.as_float()?;
    let result = match op {
        UnaryOp::Neg => -value,
        UnaryOp::Abs => value.abs(),
        UnaryOp::Signum => value.signum(),
        // Of f32 and the halves, f64 has more than twice the digits, so rounding again is harmless.
        UnaryOp::Sqrt => value.sqrt(),
        UnaryOp::Floor => value.floor(),
        UnaryOp::Ceil => value.ceil(),
        UnaryOp::Round => value.round(),
        UnaryOp::RoundEven => value.round_ties_even(),
        UnaryOp::Trunc => value.trunc(),
        UnaryOp::IsNan => return Some(Const::bool(value.is_nan())),
        UnaryOp::IsInf => return Some(Const::bool(value.is_infinite())),
        UnaryOp::Rsqrt
        | UnaryOp::Recip
        | UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tanh
        | UnaryOp::Not
        | UnaryOp::CountOnes
        | UnaryOp::LeadingZeros
        | UnaryOp::TrailingZeros => return None,
    };
    float(a.scalar, result)
}

fn binary_bool(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let bits = match op {
        BinaryOp::And => a.bits & b.bits,
        BinaryOp::Or => a.bits | b.bits,
        BinaryOp::Xor => a.bits ^ b.bits,
        _ => return None,
    };
    Some(Const { scalar: Scalar::Bool, bits })
}

fn binary_int(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let (x, y) = (a.as_int()?, b.as_int()?);
    let count = b.bits & u64::from(a.scalar.bits() - 1);
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        // Two unsigned operands of 64 bits need all of u128; only the low half is kept.
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div => x.checked_div(y)?,
        BinaryOp::Rem => x.checked_rem(y)?,
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => x << count,
        BinaryOp::Shr => x >> count,
        BinaryOp::Pow | BinaryOp::Atan2 => return None,
    };
    Some(Const::int(a.scalar, result))
}

fn binary_float(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let (x, y) = (a.as_float()?, b.as_float()?);
    // Computed in f64 and rounded again. For +, -, * and / that is the same as rounding once, because f64 has at
    // least two digits more than twice those of the type; a remainder is exact.
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Min | BinaryOp::Max => return min_max(op, a, b),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2 => return None,
    };
    float(a.scalar, result)
}

fn min_max(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let (x, y) = (a.as_float()?, b.as_float()?);
    if x.is_nan() || y.is_nan() {
        return [a, b].into_iter().find(|c| c.as_float().is_some_and(|v| !v.is_nan()));
    }
    if x == y {
        return (a == b).then_some(a);
    }
    Some(if (x < y) == (op == BinaryOp::Min) { a } else { b })
}

/// The bits of the float with these many exponent and fraction bits that is nearest to `value`, ties to even.
/// Larger than the largest is infinity.
fn narrow(value: f64, exponent_bits: u32, fraction_bits: u32) -> u64 {
    let sign = u64::from(value.is_sign_negative()) << (exponent_bits + fraction_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    let lowest = 2 - (1i64 << (exponent_bits - 1));
    let exponent = ((magnitude.to_bits() >> 52) as i64 - 1023).max(lowest);
    // The value as a number of units of the last place: dividing by a power of two is exact.
    let unit = f64::from_bits(((exponent - i64::from(fraction_bits) + 1023) as u64) << 52);
    let units = (magnitude / unit).round_ties_even() as u64;
    // The leading one of a normal number, or the carry of a rounding up, goes into the exponent by itself.
    let bits = ((exponent - lowest) as u64) << fraction_bits;
    sign | (bits + units).min(infinity)
}

/// `a + b` rounded to odd: what is not exact gets an odd last digit, so that a later rounding to fewer digits is
/// right.
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    if error == 0.0 || bits & 1 == 1 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

/// An integer rounded to odd.
fn int_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let lost = magnitude & ((1 << excess) - 1) != 0;
    let digits = (magnitude >> excess) | u128::from(lost);
    let result = (digits << excess) as f64;
    if value < 0 { -result } else { result }
}
