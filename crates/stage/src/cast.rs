//! `x as T` on values of a kernel and on plain ones.

use std::panic::Location;

use half::{bf16, f16};
use tilewise_ir::Op;

use crate::element::{Element, Num};
use crate::recorder;
use crate::val::Val;

/// What `as T` converts: a value of the kernel to a value of the kernel, a plain number to a plain number.
///
/// The rules are Rust's: integers truncate or extend, float to integer truncates towards zero and saturates (NaN
/// gives 0), to a float rounds to nearest even. Unlike in Rust, `bool` is made from a number by `x as bool`: whether it
/// is not zero.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted with `as {T}` in a kernel",
    label = "not a number",
    note = "`as` converts numbers and bools"
)]
pub trait Cast<T> {
    /// `Val<T>` for a value of the kernel, else `T`.
    type Output;

    /// `self as T`
    #[track_caller]
    fn cast(self) -> Self::Output;
}

impl<T: Element, U: Element> Cast<T> for Val<U> {
    type Output = Val<T>;

    #[track_caller]
    fn cast(self) -> Val<T> {
        cast_val(self)
    }
}

impl<T: Element, U: Element> Cast<T> for &Val<U> {
    type Output = Val<T>;

    #[track_caller]
    fn cast(self) -> Val<T> {
        cast_val(*self)
    }
}

#[track_caller]
pub(crate) fn cast_val<T: Element, U: Element>(value: Val<U>) -> Val<T> {
    let location = Location::caller();
    if T::SCALAR == U::SCALAR {
        return Val::from_raw(value.raw);
    }
    let ty = recorder::ty(location, value.raw).with_scalar(T::SCALAR);
    Val::from_raw(recorder::emit(location, Op::Cast(T::SCALAR), [value.raw], ty))
}

macro_rules! plain_casts {
    ($($from:ident)* => $to:tt) => {$(
        impl Cast<$to> for $from {
            type Output = $to;

            fn cast(self) -> $to {
                self as $to
            }
        }
    )*};
}

macro_rules! plain_casts_to {
    ($($to:tt)*) => {$(
        plain_casts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 => $to);

        impl Cast<$to> for f16 {
            type Output = $to;

            fn cast(self) -> $to {
                self.to_f64() as $to
            }
        }

        impl Cast<$to> for bf16 {
            type Output = $to;

            fn cast(self) -> $to {
                self.to_f64() as $to
            }
        }
    )*};
}

plain_casts_to!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
plain_casts!(bool => u8);
plain_casts!(bool => u16);
plain_casts!(bool => u32);
plain_casts!(bool => u64);
plain_casts!(bool => usize);
plain_casts!(bool => i8);
plain_casts!(bool => i16);
plain_casts!(bool => i32);
plain_casts!(bool => i64);
plain_casts!(bool => isize);

macro_rules! plain_casts_to_half {
    ($($half:ident)*) => {$(
        plain_casts_to_half!($half: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
    )*};
    ($half:ident: $($from:ident)*) => {$(
        impl Cast<$half> for $from {
            type Output = $half;

            fn cast(self) -> $half {
                <$half as Num>::from_f64(self as f64)
            }
        }
    )*};
}

plain_casts_to_half!(f16 bf16);
