//! Which operations exist for which scalars (rules V9 and V13).

use crate::op::{AtomicOp, BinaryOp, UnaryOp};
use crate::types::Scalar;

/// Whether a unary operation exists for a scalar.
pub const fn unary_exists(op: UnaryOp, scalar: Scalar) -> bool {
    match op {
        UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Signum => scalar.is_int() || scalar.is_float(),
        UnaryOp::Not => scalar.is_int() || matches!(scalar, Scalar::Bool),
        UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => scalar.is_int(),
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
        | UnaryOp::Trunc
        | UnaryOp::IsNan
        | UnaryOp::IsInf => scalar.is_float(),
    }
}

/// Whether a binary operation exists for a scalar.
pub const fn binary_exists(op: BinaryOp, scalar: Scalar) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Min
        | BinaryOp::Max => scalar.is_int() || scalar.is_float(),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => scalar.is_int() || matches!(scalar, Scalar::Bool),
        BinaryOp::Shl | BinaryOp::Shr => scalar.is_int(),
        BinaryOp::Pow | BinaryOp::Atan2 => scalar.is_float(),
    }
}

/// Whether the lanes of a warp can be combined with an operation ([`WarpReduce`](crate::op::Op::WarpReduce)): sums,
/// products, minima and maxima of numbers, and bitwise operations where they exist.
pub const fn reduction_exists(op: BinaryOp, scalar: Scalar) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Mul
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor => binary_exists(op, scalar),
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Pow
        | BinaryOp::Atan2 => false,
    }
}

/// Whether the bits of one scalar are those of another: sizes are equal and neither is `bool`.
pub const fn bitcast_exists(from: Scalar, to: Scalar) -> bool {
    from.size() == to.size() && !matches!(from, Scalar::Bool) && !matches!(to, Scalar::Bool)
}

/// Whether memory of this element type can be accessed atomically: integers and floats of 32 and 64 bits.
pub const fn atomic_exists(scalar: Scalar) -> bool {
    matches!(scalar.bits(), 32 | 64)
}

/// Whether an atomic read-modify-write operation exists for a scalar: bitwise ones for integers only.
pub const fn rmw_exists(op: AtomicOp, scalar: Scalar) -> bool {
    match op {
        AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::Exchange => atomic_exists(scalar),
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => atomic_exists(scalar) && scalar.is_int(),
    }
}
