//! What operations do to ranges: from ranges of the operands to a range of the result.
//!
//! Each function holds for each lane, with the wrap-around and the harmless results that [`op`](crate::op) defines.

use super::range::Range;
use super::residue::Residue;
use crate::op::{BinaryOp, CompareOp, UnaryOp};
use crate::types::Scalar;

/// The range of [`Op::Unary`](crate::Op::Unary) on operands of type `scalar`.
pub fn unary(op: UnaryOp, scalar: Scalar, a: Range) -> Range {
    let width = i128::from(scalar.bits());
    let among = |lo, hi| Range::wrapped(scalar, lo, hi, Residue::UNKNOWN);
    match op {
        UnaryOp::IsNan | UnaryOp::IsInf => Range::BOOL,
        _ if scalar.is_float() => Range::all(scalar),
        UnaryOp::Neg => negated(scalar, a),
        UnaryOp::Not => Range::wrapped(scalar, -1 - a.hi(), -1 - a.lo(), !a.residue()),
        UnaryOp::Abs if a.lo() >= 0 => a,
        UnaryOp::Abs if a.hi() <= 0 => negated(scalar, a),
        UnaryOp::Abs => among(0, a.hi().max(-a.lo())),
        UnaryOp::Signum => among(a.lo().signum(), a.hi().signum()),
        UnaryOp::CountOnes => among(i128::from(!a.contains(0)), width),
        UnaryOp::LeadingZeros if a.lo() >= 0 => {
            let zeros = |value: i128| width - 128 + i128::from(value.leading_zeros());
            among(zeros(a.hi()), zeros(a.lo()))
        }
        UnaryOp::LeadingZeros => among(0, width),
        UnaryOp::TrailingZeros => {
            let zeros = i128::from(a.residue().trailing_zeros()).min(width);
            let all_known = zeros < i128::from(a.residue().bits());
            among(zeros, if all_known { zeros } else { width })
        }
        UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Recip
        | UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tanh
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::RoundEven
        | UnaryOp::Trunc => Range::all(scalar),
    }
}

/// The range of [`Op::Binary`](crate::Op::Binary) on operands of type `scalar`.
pub fn binary(op: BinaryOp, scalar: Scalar, a: Range, b: Range) -> Range {
    if scalar.is_float() {
        return Range::all(scalar);
    }
    let (x, y) = (a.residue(), b.residue());
    match op {
        BinaryOp::Add => Range::wrapped(scalar, a.lo() + b.lo(), a.hi() + b.hi(), x + y),
        BinaryOp::Sub => Range::wrapped(scalar, a.lo() - b.hi(), a.hi() - b.lo(), x - y),
        BinaryOp::Mul => product(scalar, a, b, x * y),
        BinaryOp::Div => quotient(scalar, a, b),
        BinaryOp::Rem => remainder(scalar, a, b),
        BinaryOp::Min => {
            Range::wrapped(scalar, a.lo().min(b.lo()), a.hi().min(b.hi()), one_of(a, b, a.hi() < b.lo()))
        }
        BinaryOp::Max => {
            Range::wrapped(scalar, a.lo().max(b.lo()), a.hi().max(b.hi()), one_of(a, b, a.lo() > b.hi()))
        }
        BinaryOp::And => {
            let hi = match (a.lo() >= 0, b.lo() >= 0) {
                (true, true) => a.hi().min(b.hi()),
                (true, false) => a.hi(),
                (false, true) => b.hi(),
                (false, false) => return with_bits(scalar, x & y),
            };
            Range::wrapped(scalar, 0, hi, x & y)
        }
        BinaryOp::Or if a.lo() >= 0 && b.lo() >= 0 => {
            Range::wrapped(scalar, a.lo().max(b.lo()), all_ones(a.hi() | b.hi()), x | y)
        }
        BinaryOp::Xor if a.lo() >= 0 && b.lo() >= 0 => {
            Range::wrapped(scalar, 0, all_ones(a.hi() | b.hi()), x ^ y)
        }
        BinaryOp::Or => with_bits(scalar, x | y),
        BinaryOp::Xor => with_bits(scalar, x ^ y),
        BinaryOp::Shl => shifted_left(scalar, a, b),
        BinaryOp::Shr => shifted_right(scalar, a, b),
        BinaryOp::Pow | BinaryOp::Atan2 => Range::all(scalar),
    }
}

/// The range of [`Op::Compare`](crate::Op::Compare) on operands of type `scalar`.
pub fn compare(op: CompareOp, scalar: Scalar, a: Range, b: Range) -> Range {
    if scalar.is_float() {
        return Range::BOOL;
    }
    let (holds, fails) = match op {
        CompareOp::Eq => (a.value().is_some() && a == b, a.meet(b).is_none()),
        CompareOp::Ne => (a.meet(b).is_none(), a.value().is_some() && a == b),
        CompareOp::Lt => (a.hi() < b.lo(), a.lo() >= b.hi()),
        CompareOp::Le => (a.hi() <= b.lo(), a.lo() > b.hi()),
        CompareOp::Gt => (a.lo() > b.hi(), a.hi() <= b.lo()),
        CompareOp::Ge => (a.lo() >= b.hi(), a.hi() < b.lo()),
    };
    match (holds, fails) {
        (true, _) => Range::exact(1),
        (_, true) => Range::exact(0),
        _ => Range::BOOL,
    }
}

/// The range of [`Op::Cast`](crate::Op::Cast).
pub fn cast(from: Scalar, to: Scalar, a: Range) -> Range {
    if from.is_float() || to.is_float() {
        return Range::all(to);
    }
    match to {
        Scalar::Bool if !a.contains(0) => Range::exact(1),
        Scalar::Bool if a.value() == Some(0) => Range::exact(0),
        Scalar::Bool => Range::BOOL,
        _ => Range::wrapped(to, a.lo(), a.hi(), a.residue()),
    }
}

/// The range of [`Op::Bitcast`](crate::Op::Bitcast).
pub fn bitcast(from: Scalar, to: Scalar, a: Range) -> Range {
    // Among integers of one size the bits are the value modulo the size, as in a cast.
    cast(from, to, a)
}

fn negated(scalar: Scalar, a: Range) -> Range {
    Range::wrapped(scalar, -a.hi(), -a.lo(), Residue::exact(0) - a.residue())
}

/// Any value of the type with these low bits.
fn with_bits(scalar: Scalar, residue: Residue) -> Range {
    let all = Range::all(scalar);
    Range::wrapped(scalar, all.lo(), all.hi(), residue)
}

/// The least number that is all ones in binary and not below `value`, which is not negative.
fn all_ones(value: i128) -> i128 {
    (1 << (128 - value.leading_zeros())) - 1
}

/// The low bits of what is one of two values, the first one if `first`.
fn one_of(a: Range, b: Range, first: bool) -> Residue {
    if first { a.residue() } else { a.residue().join(b.residue()) }
}

fn product(scalar: Scalar, a: Range, b: Range, residue: Residue) -> Range {
    let corners = [(a.lo(), b.lo()), (a.lo(), b.hi()), (a.hi(), b.lo()), (a.hi(), b.hi())];
    let (mut lo, mut hi) = (i128::MAX, i128::MIN);
    for (x, y) in corners {
        // Beyond this the period would not be counted rightly either.
        match x.checked_mul(y) {
            Some(product) if product.unsigned_abs() < 1 << 126 => {
                (lo, hi) = (lo.min(product), hi.max(product));
            }
            _ => return with_bits(scalar, residue.truncated(scalar.bits())),
        }
    }
    Range::wrapped(scalar, lo, hi, residue)
}

fn quotient(scalar: Scalar, a: Range, b: Range) -> Range {
    let (mut lo, mut hi) = if b.contains(0) { (0, 0) } else { (i128::MAX, i128::MIN) };
    // Between these the quotient only falls or only rises.
    let divisors = [b.lo(), b.hi(), -1, 1];
    for y in divisors.into_iter().filter(|&y| y != 0 && b.lo() <= y && y <= b.hi()) {
        for x in [a.lo(), a.hi()] {
            (lo, hi) = (lo.min(x / y), hi.max(x / y));
        }
    }
    if lo > hi {
        return Range::all(scalar);
    }
    let residue = match b.value() {
        Some(divisor) if a.lo() >= 0 && divisor > 0 && divisor.count_ones() == 1 => {
            a.residue() >> divisor.trailing_zeros()
        }
        _ => Residue::UNKNOWN,
    };
    Range::wrapped(scalar, lo, hi, residue)
}

fn remainder(scalar: Scalar, a: Range, b: Range) -> Range {
    let largest = b.lo().abs().max(b.hi().abs()) - 1;
    if largest < 0 {
        return Range::exact(0);
    }
    if b.contains(0) {
        return Range::wrapped(scalar, a.lo().clamp(-largest, 0), a.hi().clamp(0, largest), Residue::UNKNOWN);
    }
    if a.lo() >= 0 && b.lo() > a.hi() {
        return a;
    }
    let residue = a.residue().truncated(b.residue().trailing_zeros());
    Range::wrapped(scalar, a.lo().clamp(-largest, 0), a.hi().clamp(0, largest), residue)
}

/// The least and the greatest count of a shift.
fn counts(scalar: Scalar, b: Range) -> (u32, u32) {
    let width = scalar.bits();
    match b.value() {
        Some(count) => {
            let count = count as u32 & (width - 1);
            (count, count)
        }
        None if b.lo() >= 0 && b.hi() < i128::from(width) => (b.lo() as u32, b.hi() as u32),
        None => (0, width - 1),
    }
}

fn shifted_left(scalar: Scalar, a: Range, b: Range) -> Range {
    let (least, most) = counts(scalar, b);
    let residue = if least == most {
        a.residue() * Residue::exact(1 << least)
    } else {
        Residue::new(a.residue().trailing_zeros() + least, 0)
    };
    let factors = Range::interval(1 << least, 1 << most).unwrap_or(Range::exact(1 << least));
    product(scalar, a, factors, residue)
}

fn shifted_right(scalar: Scalar, a: Range, b: Range) -> Range {
    let (least, most) = counts(scalar, b);
    let lo = (a.lo() >> least).min(a.lo() >> most);
    let hi = (a.hi() >> least).max(a.hi() >> most);
    let residue = if least == most { a.residue() >> least } else { Residue::UNKNOWN };
    Range::wrapped(scalar, lo, hi, residue)
}
