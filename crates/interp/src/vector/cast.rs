//! Casts between scalar types, as Rust's `as`. They are compiled once, for any processor.

use tilewise_ir::Scalar;

use super::map::Context;
use crate::column::Reg;
use crate::half_float::{BF16, F16, HalfFloat, odd_from_f64, odd_from_int};

/// Casts operands of type `from` to type `to`.
#[inline(never)]
pub(super) fn cast(context: &mut Context<'_>, from: Scalar, to: Scalar, a: Reg) {
    /// From an integer: `as` wraps, so only the width of an integer result matters.
    macro_rules! from_int {
        ($S:ty) => {
            match to {
                Scalar::Bool => context.map1(a, |a: $S| (a != 0) as u32),
                Scalar::I8 | Scalar::U8 => context.map1(a, |a: $S| a as u8),
                Scalar::I16 | Scalar::U16 => context.map1(a, |a: $S| a as u16),
                Scalar::I32 | Scalar::U32 => context.map1(a, |a: $S| a as u32),
                Scalar::I64 | Scalar::U64 | Scalar::Index => context.map1(a, |a: $S| a as u64),
                // What f32 rounds is too large for binary16 in any case.
                Scalar::F16 => context.map1(a, |a: $S| F16::from_f32(a as f32)),
                Scalar::BF16 => context.map1(a, |a: $S| {
                    let (negative, magnitude) = ((a as i128) < 0, (a as i128).unsigned_abs() as u64);
                    BF16::from_f32(odd_from_int(negative, magnitude))
                }),
                Scalar::F32 => context.map1(a, |a: $S| a as f32),
                Scalar::F64 => context.map1(a, |a: $S| a as f64),
            }
        };
    }
    /// From a float, through a type `$F` that computes: `as` truncates and saturates.
    macro_rules! from_float {
        ($S:ty, $to_float:path, $to_f16:expr, $to_bf16:expr) => {
            match to {
                Scalar::Bool => context.map1(a, |a: $S| ($to_float(a) != 0.0) as u32),
                Scalar::I8 => context.map1(a, |a: $S| $to_float(a) as i8),
                Scalar::I16 => context.map1(a, |a: $S| $to_float(a) as i16),
                Scalar::I32 => context.map1(a, |a: $S| $to_float(a) as i32),
                Scalar::I64 => context.map1(a, |a: $S| $to_float(a) as i64),
                Scalar::U8 => context.map1(a, |a: $S| $to_float(a) as u8),
                Scalar::U16 => context.map1(a, |a: $S| $to_float(a) as u16),
                Scalar::U32 => context.map1(a, |a: $S| $to_float(a) as u32),
                Scalar::U64 | Scalar::Index => context.map1(a, |a: $S| $to_float(a) as u64),
                Scalar::F16 => context.map1(a, $to_f16),
                Scalar::BF16 => context.map1(a, $to_bf16),
                Scalar::F32 => context.map1(a, |a: $S| $to_float(a) as f32),
                Scalar::F64 => context.map1(a, |a: $S| $to_float(a) as f64),
            }
        };
    }
    match from {
        // Cells are zero-extended.
        Scalar::Bool | Scalar::U8 | Scalar::U16 | Scalar::U32 => from_int!(u32),
        Scalar::I8 => from_int!(i8),
        Scalar::I16 => from_int!(i16),
        Scalar::I32 => from_int!(i32),
        Scalar::I64 => from_int!(i64),
        Scalar::U64 | Scalar::Index => from_int!(u64),
        Scalar::F16 => from_float!(F16, F16::to_f32, |a: F16| a, |a: F16| BF16::from_f32(a.to_f32())),
        Scalar::BF16 => from_float!(BF16, BF16::to_f32, |a: BF16| F16::from_f32(a.to_f32()), |a: BF16| a),
        Scalar::F32 => from_float!(f32, f32::from, F16::from_f32, BF16::from_f32),
        Scalar::F64 => from_float!(f64, f64::from, |a: f64| F16::from_f32(odd_from_f64(a)), |a: f64| {
            BF16::from_f32(odd_from_f64(a))
        }),
    }
}
