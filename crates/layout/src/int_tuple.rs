//! [`IntTuple`]: an integer, or a tuple of integer tuples.
//!
//! Shapes, strides and coordinates are all integer tuples. They are written as Rust
//! tuples, arrays and numbers:
//!
//! ```
//! use tilewise_layout::{IntTuple, fixed};
//!
//! let shape = IntTuple::from((2, (3, 4)));
//! assert_eq!(shape.to_string(), "(2,(3,4))");
//! assert_eq!((shape.rank(), shape.depth(), shape.flat_rank()), (2, 2, 3));
//! assert_eq!(shape.product()?, 24);
//!
//! assert_eq!(IntTuple::from([4, 8]), IntTuple::from((4, fixed(8))));
//! assert_eq!(IntTuple::from(7).rank(), 1);
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use std::fmt;
use std::slice;

use crate::error::Result;
use crate::{Int, fixed};

/// An [`Int`], or a tuple of integer tuples nested to any depth.
///
/// Equality is by value and nesting: `(4,8)` equals `(4,8)` whether its integers are
/// static or not, `8` does not equal `(8)`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum IntTuple {
    /// One integer.
    Int(Int),
    /// A tuple; each of its entries is a mode.
    Tuple(Vec<IntTuple>),
}

impl IntTuple {
    /// How many modes it has: the length of a tuple, 1 for an integer.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// How deep it is nested: 0 for an integer, else one more than its deepest mode.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            IntTuple::Int(_) => 0,
            IntTuple::Tuple(modes) => 1 + modes.iter().map(IntTuple::depth).max().unwrap_or(0),
        }
    }

    /// How many integers it holds.
    #[must_use]
    pub fn flat_rank(&self) -> usize {
        match self {
            IntTuple::Int(_) => 1,
            IntTuple::Tuple(modes) => modes.iter().map(IntTuple::flat_rank).sum(),
        }
    }

    /// Its modes; an integer is its own only mode.
    #[must_use]
    pub fn modes(&self) -> &[IntTuple] {
        match self {
            IntTuple::Int(_) => slice::from_ref(self),
            IntTuple::Tuple(modes) => modes,
        }
    }

    /// Mode `i`, if there is one.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&IntTuple> {
        self.modes().get(i)
    }

    /// The integer, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<Int> {
        match self {
            IntTuple::Int(n) => Some(*n),
            IntTuple::Tuple(_) => None,
        }
    }

    /// Its integers from left to right.
    #[must_use]
    pub fn flatten(&self) -> Vec<Int> {
        let mut flat = Vec::with_capacity(self.flat_rank());
        self.for_each(&mut |n| flat.push(n));
        flat
    }

    /// The product of its integers: the size, if it is a shape. The empty product is a static 1.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overflow`](crate::LayoutError::Overflow) if the product does not fit; a
    /// factor of 0 makes it 0 whatever the others are.
    pub fn product(&self) -> Result<Int> {
        let flat = self.flatten();
        if flat.iter().any(|n| *n == 0) {
            return Ok(self.saturating_product());
        }
        flat.into_iter().try_fold(fixed(1), Int::mul)
    }

    /// The product, `usize::MAX` where it does not fit, 0 where a factor is 0.
    pub(crate) fn saturating_product(&self) -> Int {
        let (mut product, mut zero) = (fixed(1), false);
        self.for_each(&mut |n| {
            product = product.saturating_mul(n);
            zero |= n == 0;
        });
        match product {
            Int::Static(_) if zero => Int::Static(0),
            Int::Dynamic(_) if zero => Int::Dynamic(0),
            product => product,
        }
    }

    /// Whether all its integers are static.
    #[must_use]
    pub fn is_static(&self) -> bool {
        match self {
            IntTuple::Int(n) => n.is_static(),
            IntTuple::Tuple(modes) => modes.iter().all(IntTuple::is_static),
        }
    }

    /// The same values, all known only at launch.
    #[must_use]
    pub fn to_dynamic(&self) -> IntTuple {
        self.map(&mut Int::to_dynamic)
    }

    /// Whether `other` is nested in the same way, whatever the values.
    ///
    /// ```
    /// use tilewise_layout::IntTuple;
    ///
    /// let shape = IntTuple::from((2, (3, 4)));
    /// assert!(shape.is_congruent(&IntTuple::from((1, (2, 6)))));
    /// assert!(!shape.is_congruent(&IntTuple::from((1, 2, 6))));
    /// ```
    #[must_use]
    pub fn is_congruent(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Int(_), IntTuple::Int(_)) => true,
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_congruent(b))
            }
            _ => false,
        }
    }

    /// Whether every coordinate into shape `self` is also one into shape `other`: `other` has the
    /// same sizes and is nested at least as deep.
    ///
    /// ```
    /// use tilewise_layout::IntTuple;
    ///
    /// let shape = IntTuple::from((4, 6));
    /// assert!(shape.is_compatible(&IntTuple::from((4, (2, 3)))));
    /// assert!(!shape.is_compatible(&IntTuple::from((6, 4))));
    /// assert!(!shape.is_compatible(&IntTuple::from(24)));
    /// ```
    #[must_use]
    pub fn is_compatible(&self, other: &IntTuple) -> bool {
        match (self, other) {
            (IntTuple::Int(size), other) => other.product().is_ok_and(|product| product == *size),
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_compatible(b))
            }
            (IntTuple::Tuple(_), IntTuple::Int(_)) => false,
        }
    }

    /// Applies `f` to each integer, from left to right, and keeps the nesting.
    pub(crate) fn map(&self, f: &mut impl FnMut(Int) -> Int) -> IntTuple {
        match self {
            IntTuple::Int(n) => IntTuple::Int(f(*n)),
            IntTuple::Tuple(modes) => IntTuple::Tuple(modes.iter().map(|mode| mode.map(f)).collect()),
        }
    }

    /// The nesting of `self` with the integers of `flat`, as far as they go.
    pub(crate) fn with_flat(&self, flat: &[Int]) -> IntTuple {
        let mut rest = flat.iter();
        self.map(&mut |n| rest.next().copied().unwrap_or(n))
    }

    fn for_each(&self, f: &mut impl FnMut(Int)) {
        match self {
            IntTuple::Int(n) => f(*n),
            IntTuple::Tuple(modes) => modes.iter().for_each(|mode| mode.for_each(f)),
        }
    }
}

/// As CuTe prints it: `(2,(3,4))`. `{:#}` puts an underscore before static integers: `(_2,(_3,4))`.
impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntTuple::Int(n) => fmt::Display::fmt(n, f),
            IntTuple::Tuple(modes) => {
                f.write_str("(")?;
                for (i, mode) in modes.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    fmt::Display::fmt(mode, f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// As `{:#}` of [`Display`](fmt::Display), which shows static integers.
impl fmt::Debug for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl From<usize> for IntTuple {
    fn from(n: usize) -> IntTuple {
        IntTuple::Int(Int::from(n))
    }
}

impl From<Int> for IntTuple {
    fn from(n: Int) -> IntTuple {
        IntTuple::Int(n)
    }
}

impl From<&IntTuple> for IntTuple {
    fn from(tuple: &IntTuple) -> IntTuple {
        tuple.clone()
    }
}

impl<T: Into<IntTuple>, const N: usize> From<[T; N]> for IntTuple {
    fn from(modes: [T; N]) -> IntTuple {
        IntTuple::Tuple(modes.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<IntTuple> + Clone> From<&[T]> for IntTuple {
    fn from(modes: &[T]) -> IntTuple {
        IntTuple::Tuple(modes.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Into<IntTuple>> From<Vec<T>> for IntTuple {
    fn from(modes: Vec<T>) -> IntTuple {
        IntTuple::Tuple(modes.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_tuple {
    ($($name:ident)+) => {
        impl<$($name: Into<IntTuple>),+> From<($($name,)+)> for IntTuple {
            #[allow(non_snake_case)] // each variable has the name of its type
            fn from(($($name,)+): ($($name,)+)) -> IntTuple {
                IntTuple::Tuple(vec![$($name.into()),+])
            }
        }
    };
}

from_tuple!(A);
from_tuple!(A B);
from_tuple!(A B C);
from_tuple!(A B C D);
from_tuple!(A B C D E);
from_tuple!(A B C D E F);
