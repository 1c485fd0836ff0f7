//! Rust's operators on values of a kernel.
//!
//! `Val<T>` goes with whatever can be a `Val<T>`: another one, or a plain `T` of the host. With a plain value on the
//! left the operators exist for each element type on its own, since Rust does not allow them for all at once.

use std::ops;

use half::{bf16, f16};
use tilewise_ir::{BinaryOp, UnaryOp};

use crate::element::{Bits, Int, Num, Signed};
use crate::staged::{Stage, StageAs};
use crate::val::{Val, binary, unary};

macro_rules! binary_operators {
    ($($trait:ident $method:ident $op:ident $class:ident: $($plain:ty)*;)*) => {$(
        impl<T: $class, R: StageAs<Val<T>>> ops::$trait<R> for Val<T> {
            type Output = Val<T>;

            #[track_caller]
            fn $method(self, rhs: R) -> Val<T> {
                binary(BinaryOp::$op, self, rhs)
            }
        }

        impl<T: $class, R: StageAs<Val<T>>> ops::$trait<R> for &Val<T> {
            type Output = Val<T>;

            #[track_caller]
            fn $method(self, rhs: R) -> Val<T> {
                binary(BinaryOp::$op, *self, rhs)
            }
        }

        $(
            impl ops::$trait<Val<$plain>> for $plain {
                type Output = Val<$plain>;

                #[track_caller]
                fn $method(self, rhs: Val<$plain>) -> Val<$plain> {
                    binary(BinaryOp::$op, self.stage(), rhs)
                }
            }
        )*
    )*};
}

binary_operators! {
    Add add Add Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64;
    Sub sub Sub Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64;
    Mul mul Mul Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64;
    Div div Div Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64;
    Rem rem Rem Num: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64;
    BitAnd bitand And Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitOr bitor Or Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    BitXor bitxor Xor Bits: bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
}

/// The number of places of a shift: any integer, as in Rust. It is taken modulo the width of the shifted value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of places to shift a `{T}` by",
    note = "a shift count is an integer"
)]
pub trait ShiftCount<T> {
    /// The count in the type of the shifted value.
    #[doc(hidden)]
    #[track_caller]
    fn count(self) -> Val<T>;
}

impl<T: Int, U: Int> ShiftCount<T> for Val<U> {
    #[track_caller]
    fn count(self) -> Val<T> {
        crate::cast::cast_val(self)
    }
}

macro_rules! shift_counts {
    ($($plain:ty)*) => {$(
        impl<T: Int> ShiftCount<T> for $plain {
            #[track_caller]
            fn count(self) -> Val<T> {
                T::from_bits(self as u64).stage()
            }
        }
    )*};
}

shift_counts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! shifts {
    ($($trait:ident $method:ident $op:ident: $($plain:ty)*;)*) => {$(
        impl<T: Int, R: ShiftCount<T>> ops::$trait<R> for Val<T> {
            type Output = Val<T>;

            #[track_caller]
            fn $method(self, rhs: R) -> Val<T> {
                binary(BinaryOp::$op, self, rhs.count())
            }
        }

        $(
            impl<U: Int> ops::$trait<Val<U>> for $plain {
                type Output = Val<$plain>;

                #[track_caller]
                fn $method(self, rhs: Val<U>) -> Val<$plain> {
                    binary(BinaryOp::$op, self.stage(), ShiftCount::<$plain>::count(rhs))
                }
            }
        )*
    )*};
}

shifts! {
    Shl shl Shl: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
    Shr shr Shr: i8 i16 i32 i64 isize u8 u16 u32 u64 usize;
}

impl<T: Signed> ops::Neg for Val<T> {
    type Output = Val<T>;

    #[track_caller]
    fn neg(self) -> Val<T> {
        unary(UnaryOp::Neg, self)
    }
}

impl<T: Bits> ops::Not for Val<T> {
    type Output = Val<T>;

    #[track_caller]
    fn not(self) -> Val<T> {
        unary(UnaryOp::Not, self)
    }
}

impl<T: Num> std::iter::Sum for Val<T> {
    #[track_caller]
    fn sum<I: Iterator<Item = Val<T>>>(mut iter: I) -> Val<T> {
        match iter.next() {
            Some(first) => iter.fold(first, |a, b| a + b),
            None => T::ZERO.stage(),
        }
    }
}

impl<T: Num> std::iter::Product for Val<T> {
    #[track_caller]
    fn product<I: Iterator<Item = Val<T>>>(mut iter: I) -> Val<T> {
        match iter.next() {
            Some(first) => iter.fold(first, |a, b| a * b),
            None => T::ONE.stage(),
        }
    }
}
