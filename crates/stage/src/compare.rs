//! Comparisons: `a < b` is a `Val<bool>` if one side is a value of the kernel, and a plain `bool` if none is.
//!
//! Rust's comparison operators always give `bool`, so `#[kernel]` rewrites them to calls of these methods. The three
//! traits have the same methods; method lookup finds the first that fits: a value of the kernel on the left, one on
//! the right, or any two things of the host.

use tilewise_ir::CompareOp;

use crate::element::{Element, Num};
use crate::staged::StageAs;
use crate::val::{Val, compare};

/// The two sides of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a, A, B>(pub &'a A, pub &'a B);

/// A value of the kernel on the left.
pub trait CompareLeft<T, R> {
    /// `==`
    #[track_caller]
    fn tw_eq(&self) -> Val<bool>
    where
        T: Element,
        R: StageAs<Val<T>> + Copy;
    /// `!=`
    #[track_caller]
    fn tw_ne(&self) -> Val<bool>
    where
        T: Element,
        R: StageAs<Val<T>> + Copy;
    /// `<`
    #[track_caller]
    fn tw_lt(&self) -> Val<bool>
    where
        T: Num,
        R: StageAs<Val<T>> + Copy;
    /// `<=`
    #[track_caller]
    fn tw_le(&self) -> Val<bool>
    where
        T: Num,
        R: StageAs<Val<T>> + Copy;
    /// `>`
    #[track_caller]
    fn tw_gt(&self) -> Val<bool>
    where
        T: Num,
        R: StageAs<Val<T>> + Copy;
    /// `>=`
    #[track_caller]
    fn tw_ge(&self) -> Val<bool>
    where
        T: Num,
        R: StageAs<Val<T>> + Copy;
}

/// A value of the kernel on the right, a plain one on the left.
pub trait CompareRight<L, T> {
    /// `==`
    #[track_caller]
    fn tw_eq(&self) -> Val<bool>
    where
        T: Element,
        L: StageAs<Val<T>> + Copy;
    /// `!=`
    #[track_caller]
    fn tw_ne(&self) -> Val<bool>
    where
        T: Element,
        L: StageAs<Val<T>> + Copy;
    /// `<`
    #[track_caller]
    fn tw_lt(&self) -> Val<bool>
    where
        T: Num,
        L: StageAs<Val<T>> + Copy;
    /// `<=`
    #[track_caller]
    fn tw_le(&self) -> Val<bool>
    where
        T: Num,
        L: StageAs<Val<T>> + Copy;
    /// `>`
    #[track_caller]
    fn tw_gt(&self) -> Val<bool>
    where
        T: Num,
        L: StageAs<Val<T>> + Copy;
    /// `>=`
    #[track_caller]
    fn tw_ge(&self) -> Val<bool>
    where
        T: Num,
        L: StageAs<Val<T>> + Copy;
}

/// Two things of the host.
pub trait CompareHost<A, B> {
    /// `==`
    fn tw_eq(&self) -> bool
    where
        A: PartialEq<B>;
    /// `!=`
    fn tw_ne(&self) -> bool
    where
        A: PartialEq<B>;
    /// `<`
    fn tw_lt(&self) -> bool
    where
        A: PartialOrd<B>;
    /// `<=`
    fn tw_le(&self) -> bool
    where
        A: PartialOrd<B>;
    /// `>`
    fn tw_gt(&self) -> bool
    where
        A: PartialOrd<B>;
    /// `>=`
    fn tw_ge(&self) -> bool
    where
        A: PartialOrd<B>;
}

macro_rules! comparisons {
    ($($method:ident $op:ident $class:ident $host:ident $operator:tt;)*) => {
        impl<T, R> CompareLeft<T, R> for &&Sides<'_, Val<T>, R> {
            $(
                #[track_caller]
                fn $method(&self) -> Val<bool>
                where
                    T: $class,
                    R: StageAs<Val<T>> + Copy,
                {
                    compare(CompareOp::$op, *self.0, (*self.1).stage_as())
                }
            )*
        }

        impl<L, T> CompareRight<L, T> for &Sides<'_, L, Val<T>> {
            $(
                #[track_caller]
                fn $method(&self) -> Val<bool>
                where
                    T: $class,
                    L: StageAs<Val<T>> + Copy,
                {
                    compare(CompareOp::$op, (*self.0).stage_as(), *self.1)
                }
            )*
        }

        impl<A, B> CompareHost<A, B> for Sides<'_, A, B> {
            $(
                fn $method(&self) -> bool
                where
                    A: $host<B>,
                {
                    *self.0 $operator *self.1
                }
            )*
        }
    };
}

comparisons! {
    tw_eq Eq Element PartialEq ==;
    tw_ne Ne Element PartialEq !=;
    tw_lt Lt Num PartialOrd <;
    tw_le Le Num PartialOrd <=;
    tw_gt Gt Num PartialOrd >;
    tw_ge Ge Num PartialOrd >=;
}

/// The value of a `match`, to have Rust check the patterns against its type.
#[derive(Clone, Copy, Debug)]
pub struct Scrutinee<'a, M>(pub &'a M);

/// The scrutinee is a value of the kernel: the patterns are of its element type.
pub trait ScrutineeStaged<T> {
    /// A value of the patterns' type; only for the type checker.
    fn pattern_type(&self) -> T;
}

/// The scrutinee is of the host: the patterns are of its type.
pub trait ScrutineeHost<M> {
    /// A value of the patterns' type; only for the type checker.
    fn pattern_type(&self) -> M;
}

impl<T> ScrutineeStaged<T> for &Scrutinee<'_, Val<T>> {
    fn pattern_type(&self) -> T {
        unreachable!("never run")
    }
}

impl<M> ScrutineeHost<M> for Scrutinee<'_, M> {
    fn pattern_type(&self) -> M {
        unreachable!("never run")
    }
}

/// Stands for the guard of a match arm where patterns are checked for being exhaustive.
pub fn sometimes() -> bool {
    false
}
