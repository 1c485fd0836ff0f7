//! Operations of one operand. They are compiled once, for any processor: few of them are worth more.

use tilewise_ir::{Scalar, UnaryOp};

use super::map::Context;
use crate::column::Reg;
use crate::half_float::{BF16, F16};
use crate::lane::{Float, Int, Number};

/// Computes an operation on operands of type `scalar`. What a type does not have leaves the result as it is; the
/// verifier lets no such operation through.
#[inline(never)]
pub(super) fn unary(context: &mut Context<'_>, op: UnaryOp, scalar: Scalar, a: Reg) {
    /// The same for signed and unsigned integers.
    macro_rules! signless {
        ($method:ident, $L:ident => $f:expr) => {
            match scalar {
                Scalar::I8 | Scalar::U8 => ints!(@one $method, $L = u8, $f),
                Scalar::I16 | Scalar::U16 => ints!(@one $method, $L = u16, $f),
                Scalar::I32 | Scalar::U32 => ints!(@one $method, $L = u32, $f),
                Scalar::I64 | Scalar::U64 | Scalar::Index => ints!(@one $method, $L = u64, $f),
                _ => {}
            }
        };
    }
    macro_rules! ints {
        ($method:ident, $L:ident => $f:expr) => {
            match scalar {
                Scalar::I8 => ints!(@one $method, $L = i8, $f),
                Scalar::I16 => ints!(@one $method, $L = i16, $f),
                Scalar::I32 => ints!(@one $method, $L = i32, $f),
                Scalar::I64 => ints!(@one $method, $L = i64, $f),
                Scalar::U8 => ints!(@one $method, $L = u8, $f),
                Scalar::U16 => ints!(@one $method, $L = u16, $f),
                Scalar::U32 => ints!(@one $method, $L = u32, $f),
                Scalar::U64 | Scalar::Index => ints!(@one $method, $L = u64, $f),
                _ => {}
            }
        };
        (@one $method:ident, $L:ident = $ty:ty, $f:expr) => {{
            type $L = $ty;
            context.$method(a, $f)
        }};
    }
    macro_rules! floats {
        ($method:ident, $L:ident => $f:expr) => {
            match scalar {
                Scalar::F16 => ints!(@one $method, $L = F16, $f),
                Scalar::BF16 => ints!(@one $method, $L = BF16, $f),
                Scalar::F32 => ints!(@one $method, $L = f32, $f),
                Scalar::F64 => ints!(@one $method, $L = f64, $f),
                _ => {}
            }
        };
    }
    match op {
        UnaryOp::Neg if scalar.is_float() => floats!(map1, L => <L as Number>::neg),
        UnaryOp::Neg => signless!(map1, L => <L as Number>::neg),
        UnaryOp::Not if scalar == Scalar::Bool => context.map1(a, |a: u32| a ^ 1),
        UnaryOp::Not => signless!(map1, L => <L as Int>::not),
        UnaryOp::Abs if scalar.is_float() => floats!(map1, L => <L as Number>::abs),
        UnaryOp::Abs => ints!(map1, L => <L as Number>::abs),
        UnaryOp::Signum if scalar.is_float() => floats!(map1, L => <L as Number>::signum),
        UnaryOp::Signum => ints!(map1, L => <L as Number>::signum),
        UnaryOp::Sqrt => floats!(map1, L => <L as Float>::sqrt),
        UnaryOp::Rsqrt => floats!(map1, L => <L as Float>::rsqrt),
        UnaryOp::Recip => floats!(map1, L => <L as Float>::recip),
        UnaryOp::Exp => floats!(slow1, L => <L as Float>::exp),
        UnaryOp::Exp2 => floats!(slow1, L => <L as Float>::exp2),
        UnaryOp::Log => floats!(slow1, L => <L as Float>::ln),
        UnaryOp::Log2 => floats!(slow1, L => <L as Float>::log2),
        UnaryOp::Sin => floats!(slow1, L => <L as Float>::sin),
        UnaryOp::Cos => floats!(slow1, L => <L as Float>::cos),
        UnaryOp::Tanh => floats!(slow1, L => <L as Float>::tanh),
        UnaryOp::Floor => floats!(slow1, L => <L as Float>::floor),
        UnaryOp::Ceil => floats!(slow1, L => <L as Float>::ceil),
        UnaryOp::Round => floats!(slow1, L => <L as Float>::round),
        UnaryOp::RoundEven => floats!(slow1, L => <L as Float>::round_ties_even),
        UnaryOp::Trunc => floats!(slow1, L => <L as Float>::trunc),
        UnaryOp::CountOnes => signless!(map1, L => <L as Int>::count_ones),
        UnaryOp::LeadingZeros => signless!(map1, L => <L as Int>::leading_zeros),
        UnaryOp::TrailingZeros => signless!(map1, L => <L as Int>::trailing_zeros),
        UnaryOp::IsNan => floats!(map1, L => |a: L| <L as Float>::is_nan(a) as u32),
        UnaryOp::IsInf => floats!(map1, L => |a: L| <L as Float>::is_infinite(a) as u32),
    }
}
