//! Types of elements: what a tensor holds and a [`Val`] stands for.

use half::{bf16, f16};
use tilewise_ir::{Const, Scalar};

use crate::staged::DeviceType;
use crate::val::Val;

/// A type of which a kernel has values: `bool`, integers, floats, and fieldless enums with `#[device]`.
///
/// In a kernel a parameter or variable of such a type is a [`Val`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    label = "a kernel has no values of this type",
    note = "element types are bool, i8 to i64, u8 to u64, usize, isize, f16, bf16, f32, f64 and fieldless enums with #[device]"
)]
pub trait Element: Copy + PartialEq + 'static + DeviceType<Staged = Val<Self>> {
    /// The type in the IR.
    const SCALAR: Scalar;

    /// The value as a constant of the IR.
    fn to_const(self) -> Const;

    /// The value with these bits; those above the type's width are ignored.
    fn from_bits(bits: u64) -> Self;
}

/// An element type with arithmetic: all integers and floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number type of kernels",
    note = "number types are i8 to i64, u8 to u64, usize, isize, f16, bf16, f32, f64"
)]
pub trait Num: Element {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The number nearest to `value`: rounded for floats; truncated and saturated for integers.
    ///
    /// For constants in generic kernels: `T::from_f64(0.5) * x`.
    fn from_f64(value: f64) -> Self;
}

/// An integer element type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer type of kernels",
    note = "integer types are i8 to i64, u8 to u64, usize and isize"
)]
pub trait Int: Num + Bits {}

/// A signed number type: signed integers and floats.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a signed number type of kernels")]
pub trait Signed: Num {}

/// A floating-point element type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point type of kernels",
    note = "floating-point types are f16, bf16, f32 and f64; convert with `x as f32`"
)]
pub trait Float: Signed {}

/// An element type with bitwise operations: integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bitwise operations",
    note = "bitwise operations exist for integers and bool"
)]
pub trait Bits: Element {}

/// An element type with atomic operations: integers of 32 and 64 bits, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "there are no atomic operations on `{Self}`",
    note = "atomics exist for i32, u32, i64, u64, usize, isize, f32 and f64"
)]
pub trait Atomic: Num {}

macro_rules! element {
    ($($ty:ty, $scalar:ident, |$v:ident| $bits:expr, |$b:ident| $from:expr;)*) => {$(
        impl DeviceType for $ty {
            type Staged = Val<$ty>;
        }

        impl Element for $ty {
            const SCALAR: Scalar = Scalar::$scalar;

            fn to_const(self) -> Const {
                let $v = self;
                Const::from_bits(Scalar::$scalar, $bits)
            }

            fn from_bits($b: u64) -> Self {
                $from
            }
        }
    )*};
}

element! {
    bool, Bool, |v| v as u64, |b| b & 1 != 0;
    i8, I8, |v| v as u8 as u64, |b| b as i8;
    i16, I16, |v| v as u16 as u64, |b| b as i16;
    i32, I32, |v| v as u32 as u64, |b| b as i32;
    i64, I64, |v| v as u64, |b| b as i64;
    u8, U8, |v| v as u64, |b| b as u8;
    u16, U16, |v| v as u64, |b| b as u16;
    u32, U32, |v| v as u64, |b| b as u32;
    u64, U64, |v| v, |b| b;
    usize, Index, |v| v as u64, |b| b as usize;
    isize, I64, |v| v as u64, |b| b as isize;
    f16, F16, |v| v.to_bits() as u64, |b| f16::from_bits(b as u16);
    bf16, BF16, |v| v.to_bits() as u64, |b| bf16::from_bits(b as u16);
    f32, F32, |v| v.to_bits() as u64, |b| f32::from_bits(b as u32);
    f64, F64, |v| v.to_bits(), |b| f64::from_bits(b);
}

macro_rules! numbers {
    ($($ty:ty),*; $zero:expr, $one:expr, $from:expr) => {$(
        impl Num for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            fn from_f64(value: f64) -> Self {
                let from: fn(f64) -> $ty = $from;
                from(value)
            }
        }
    )*};
}

numbers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize; 0, 1, |v| v as _);
numbers!(f32, f64; 0.0, 1.0, |v| v as _);
// Rounded once, as on the device; `half` goes through f32.
numbers!(f16; f16::ZERO, f16::ONE, |v| f16::from_bits(rounded(Scalar::F16, v) as u16));
numbers!(bf16; bf16::ZERO, bf16::ONE, |v| bf16::from_bits(rounded(Scalar::BF16, v) as u16));

/// The bits of the float of type `scalar` that is nearest to `value`; some NaN for NaN.
fn rounded(scalar: Scalar, value: f64) -> u64 {
    match tilewise_ir::eval::float(scalar, value) {
        Some(constant) => constant.bits,
        None if scalar == Scalar::F16 => f16::NAN.to_bits() as u64,
        None => bf16::NAN.to_bits() as u64,
    }
}

macro_rules! mark {
    ($($trait:ident: $($ty:ty)*;)*) => {$($(impl $trait for $ty {})*)*};
}

mark! {
    Int: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Signed: i8 i16 i32 i64 isize f16 bf16 f32 f64;
    Float: f16 bf16 f32 f64;
    Atomic: i32 i64 isize u32 u64 usize f32 f64;
}
