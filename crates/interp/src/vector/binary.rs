//! Operations of two and three operands of one type.
//!
//! `fast` functions are compiled for each kind of processor; what no vector instruction computes, and the 16-bit
//! floats, whose lanes are converted one by one, are compiled once.

use tilewise_ir::{BinaryOp, CompareOp, Scalar};

use super::map::Context;
use crate::column::Reg;
use crate::half_float::{BF16, F16};
use crate::lane::{Float, Int, Number};

/// Calls a method of the context with the operands and a function of the lane type `$L`. A type without an arm leaves
/// the result as it is; the verifier lets no such operation through.
macro_rules! with_lane {
    // Integers by width alone, for what does not depend on the sign.
    (signless $scalar:ident, $context:ident.$method:ident $operands:tt, $L:ident => $f:expr) => {
        match $scalar {
            Scalar::I8 | Scalar::U8 => with_lane!(u8, $context.$method $operands, $L => $f),
            Scalar::I16 | Scalar::U16 => with_lane!(u16, $context.$method $operands, $L => $f),
            Scalar::I32 | Scalar::U32 => with_lane!(u32, $context.$method $operands, $L => $f),
            Scalar::I64 | Scalar::U64 | Scalar::Index => with_lane!(u64, $context.$method $operands, $L => $f),
            _ => {}
        }
    };
    (ints $scalar:ident, $context:ident.$method:ident $operands:tt, $L:ident => $f:expr) => {
        match $scalar {
            Scalar::I8 => with_lane!(i8, $context.$method $operands, $L => $f),
            Scalar::I16 => with_lane!(i16, $context.$method $operands, $L => $f),
            Scalar::I32 => with_lane!(i32, $context.$method $operands, $L => $f),
            Scalar::I64 => with_lane!(i64, $context.$method $operands, $L => $f),
            Scalar::U8 => with_lane!(u8, $context.$method $operands, $L => $f),
            Scalar::U16 => with_lane!(u16, $context.$method $operands, $L => $f),
            Scalar::U32 => with_lane!(u32, $context.$method $operands, $L => $f),
            Scalar::U64 | Scalar::Index => with_lane!(u64, $context.$method $operands, $L => $f),
            _ => {}
        }
    };
    (halves $scalar:ident, $context:ident.$method:ident $operands:tt, $L:ident => $f:expr) => {
        match $scalar {
            Scalar::F16 => with_lane!(F16, $context.$method $operands, $L => $f),
            Scalar::BF16 => with_lane!(BF16, $context.$method $operands, $L => $f),
            _ => {}
        }
    };
    (all_floats $scalar:ident, $context:ident.$method:ident $operands:tt, $L:ident => $f:expr) => {
        match $scalar {
            Scalar::F16 => with_lane!(F16, $context.$method $operands, $L => $f),
            Scalar::BF16 => with_lane!(BF16, $context.$method $operands, $L => $f),
            Scalar::F32 => with_lane!(f32, $context.$method $operands, $L => $f),
            Scalar::F64 => with_lane!(f64, $context.$method $operands, $L => $f),
            _ => {}
        }
    };
    (floats $scalar:ident, $context:ident.$method:ident $operands:tt, $L:ident => $f:expr) => {
        match $scalar {
            Scalar::F32 => with_lane!(f32, $context.$method $operands, $L => $f),
            Scalar::F64 => with_lane!(f64, $context.$method $operands, $L => $f),
            _ => {}
        }
    };
    ($ty:ty, $context:ident.$method:ident ($($operand:expr),*), $L:ident => $f:expr) => {{
        type $L = $ty;
        $context.$method($($operand,)* $f)
    }};
}

/// Whether [`slow`] computes an operation on operands of type `scalar`, not [`fast`].
pub(super) fn is_slow(op: BinaryOp, scalar: Scalar) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => false,
        BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2 => true,
        BinaryOp::Div if !scalar.is_float() => true,
        _ => is_half(scalar),
    }
}

/// A float of 16 bits.
pub(super) fn is_half(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::F16 | Scalar::BF16)
}

/// Computes an operation for which [`is_slow`] holds.
#[inline(never)]
pub(super) fn slow(context: &mut Context<'_>, op: BinaryOp, scalar: Scalar, a: Reg, b: Reg) {
    let float = scalar.is_float();
    match op {
        BinaryOp::Add => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::add),
        BinaryOp::Sub => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::sub),
        BinaryOp::Mul => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::mul),
        BinaryOp::Div if float => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::div),
        BinaryOp::Div => with_lane!(ints scalar, context.slow2(a, b), L => <L as Number>::div),
        BinaryOp::Rem if float => with_lane!(all_floats scalar, context.slow2(a, b), L => <L as Number>::rem),
        BinaryOp::Rem => with_lane!(ints scalar, context.slow2(a, b), L => <L as Number>::rem),
        BinaryOp::Min => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::min),
        BinaryOp::Max => with_lane!(halves scalar, context.map2(a, b), L => <L as Number>::max),
        BinaryOp::Pow => with_lane!(all_floats scalar, context.slow2(a, b), L => <L as Float>::powf),
        BinaryOp::Atan2 => with_lane!(all_floats scalar, context.slow2(a, b), L => <L as Float>::atan2),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {}
    }
}

/// Computes an operation for which [`is_slow`] does not hold.
#[inline(always)]
pub(super) fn fast(context: &mut Context<'_>, op: BinaryOp, scalar: Scalar, a: Reg, b: Reg) {
    let float = scalar.is_float();
    let wide = scalar.size() == 8;
    match op {
        BinaryOp::Add if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::add),
        BinaryOp::Add => with_lane!(signless scalar, context.map2(a, b), L => <L as Number>::add),
        BinaryOp::Sub if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::sub),
        BinaryOp::Sub => with_lane!(signless scalar, context.map2(a, b), L => <L as Number>::sub),
        BinaryOp::Mul if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::mul),
        BinaryOp::Mul => with_lane!(signless scalar, context.map2(a, b), L => <L as Number>::mul),
        BinaryOp::Div if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::div),
        BinaryOp::Min if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::min),
        BinaryOp::Min => with_lane!(ints scalar, context.map2(a, b), L => <L as Number>::min),
        BinaryOp::Max if float => with_lane!(floats scalar, context.map2(a, b), L => <L as Number>::max),
        BinaryOp::Max => with_lane!(ints scalar, context.map2(a, b), L => <L as Number>::max),
        BinaryOp::And if wide => context.map2(a, b, |a: u64, b: u64| a & b),
        BinaryOp::And => context.map2(a, b, |a: u32, b: u32| a & b),
        BinaryOp::Or if wide => context.map2(a, b, |a: u64, b: u64| a | b),
        BinaryOp::Or => context.map2(a, b, |a: u32, b: u32| a | b),
        BinaryOp::Xor if wide => context.map2(a, b, |a: u64, b: u64| a ^ b),
        BinaryOp::Xor => context.map2(a, b, |a: u32, b: u32| a ^ b),
        BinaryOp::Shl => with_lane!(signless scalar, context.map2(a, b), L => <L as Int>::shl),
        BinaryOp::Shr => with_lane!(ints scalar, context.map2(a, b), L => <L as Int>::shr),
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2 => {}
    }
}

/// Compares 16-bit floats.
#[inline(never)]
pub(super) fn compare_halves(context: &mut Context<'_>, op: CompareOp, scalar: Scalar, a: Reg, b: Reg) {
    match op {
        CompareOp::Eq => with_lane!(halves scalar, context.test2(a, b), L => <L as Number>::eq),
        CompareOp::Ne => with_lane!(halves scalar, context.test2(a, b), L => |a, b| !<L as Number>::eq(a, b)),
        CompareOp::Lt => with_lane!(halves scalar, context.test2(a, b), L => <L as Number>::lt),
        CompareOp::Le => with_lane!(halves scalar, context.test2(a, b), L => <L as Number>::le),
        CompareOp::Gt => with_lane!(halves scalar, context.test2(b, a), L => <L as Number>::lt),
        CompareOp::Ge => with_lane!(halves scalar, context.test2(b, a), L => <L as Number>::le),
    }
}

/// Compares operands of type `scalar`, which is no 16-bit float.
#[inline(always)]
pub(super) fn compare(context: &mut Context<'_>, op: CompareOp, scalar: Scalar, a: Reg, b: Reg) {
    let (op, a, b) = match op {
        CompareOp::Gt => (CompareOp::Lt, b, a),
        CompareOp::Ge => (CompareOp::Le, b, a),
        op => (op, a, b),
    };
    let float = scalar.is_float();
    // Cells are zero-extended, so the cells of unsigned integers and truth values compare as the values do.
    let scalar = match scalar {
        Scalar::Bool | Scalar::U8 | Scalar::U16 => Scalar::U32,
        scalar => scalar,
    };
    match op {
        CompareOp::Eq if float => with_lane!(floats scalar, context.test2(a, b), L => <L as Number>::eq),
        CompareOp::Eq if scalar.size() == 8 => context.test2(a, b, <u64 as Number>::eq),
        CompareOp::Eq => context.test2(a, b, <u32 as Number>::eq),
        CompareOp::Ne if float => {
            with_lane!(floats scalar, context.test2(a, b), L => |a, b| !<L as Number>::eq(a, b));
        }
        CompareOp::Ne if scalar.size() == 8 => context.test2(a, b, |a: u64, b: u64| a != b),
        CompareOp::Ne => context.test2(a, b, |a: u32, b: u32| a != b),
        CompareOp::Lt if float => with_lane!(floats scalar, context.test2(a, b), L => <L as Number>::lt),
        CompareOp::Lt => with_lane!(ints scalar, context.test2(a, b), L => <L as Number>::lt),
        CompareOp::Le if float => with_lane!(floats scalar, context.test2(a, b), L => <L as Number>::le),
        CompareOp::Le => with_lane!(ints scalar, context.test2(a, b), L => <L as Number>::le),
        CompareOp::Gt | CompareOp::Ge => {}
    }
}

/// Computes `a * b + c` with one rounding on 16-bit floats.
#[inline(never)]
pub(super) fn mul_add_halves(context: &mut Context<'_>, scalar: Scalar, a: Reg, b: Reg, c: Reg) {
    with_lane!(halves scalar, context.map3(a, b, c), L => <L as Float>::mul_add);
}

/// Computes `a * b + c` with one rounding; no 16-bit floats.
#[inline(always)]
pub(super) fn mul_add(context: &mut Context<'_>, scalar: Scalar, a: Reg, b: Reg, c: Reg) {
    with_lane!(floats scalar, context.map3(a, b, c), L => <L as Float>::mul_add);
}
