//! [`Int`]: an integer that is either part of a kernel or given to it at launch.
//!
//! Both kinds have a value on the host, so every operation of this crate sees plain
//! numbers. What the two kinds say is where the number lives in a kernel: a
//! [static](Int::Static) one is a constant in its code, a [dynamic](Int::Dynamic) one
//! is a parameter of the launch, so that one kernel serves all its values.
//!
//! ```
//! use tilewise_layout::{Int, fixed};
//!
//! let tile = fixed(32);
//! let rows = Int::from(1000);
//! assert!(tile.is_static() && !rows.is_static());
//!
//! let tiles = rows.div_ceil(tile)?;
//! assert_eq!(tiles, 32);
//! assert!(!tiles.is_static(), "one of the operands is known only at launch");
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::{LayoutError, Result};

/// A non-negative integer that is static (a constant of the kernel) or dynamic (a
/// parameter of its launch).
///
/// Two `Int`s are equal when their values are, whatever their kind. A cache of compiled
/// kernels must therefore not be keyed by an `Int` but by [`Int::static_value`], or by
/// [`Layout::static_key`](crate::Layout::static_key) for a whole layout.
///
/// # Law
///
/// A result of arithmetic on `Int`s is static if both operands are, and an error if it
/// does not fit.
#[derive(Clone, Copy)]
pub enum Int {
    /// Part of the type of a kernel: a constant in its code.
    Static(usize),
    /// Known on the host at launch: a launch parameter in the kernel.
    Dynamic(usize),
}

/// The static integer `n`.
///
/// ```
/// use tilewise_layout::{fixed, row_major};
///
/// assert_eq!(format!("{:#}", row_major((100, fixed(8)))), "(100,_8):(_8,_1)");
/// ```
#[must_use]
pub const fn fixed(n: usize) -> Int {
    Int::Static(n)
}

impl Int {
    /// The value, whatever the kind.
    #[must_use]
    pub const fn get(self) -> usize {
        match self {
            Int::Static(n) | Int::Dynamic(n) => n,
        }
    }

    /// Whether this is a constant of the kernel.
    #[must_use]
    pub const fn is_static(self) -> bool {
        matches!(self, Int::Static(_))
    }

    /// The value if it is a constant of the kernel: all that its compiled code may depend on.
    #[must_use]
    pub const fn static_value(self) -> Option<usize> {
        match self {
            Int::Static(n) => Some(n),
            Int::Dynamic(_) => None,
        }
    }

    /// The same value, known only at launch.
    #[must_use]
    pub const fn to_dynamic(self) -> Int {
        Int::Dynamic(self.get())
    }

    /// `self + other`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overflow`] if the sum does not fit in a `usize`.
    #[allow(clippy::should_implement_trait)] // `+` cannot return an error
    pub fn add(self, other: Int) -> Result<Int> {
        self.checked("+", other, usize::checked_add)
    }

    /// `self * other`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overflow`] if the product does not fit in a `usize`.
    #[allow(clippy::should_implement_trait)]
    pub fn mul(self, other: Int) -> Result<Int> {
        self.checked("*", other, usize::checked_mul)
    }

    /// `self / other`, rounded down.
    ///
    /// # Errors
    ///
    /// [`LayoutError::DivisionByZero`] if `other` is 0.
    #[allow(clippy::should_implement_trait)]
    pub fn div(self, other: Int) -> Result<Int> {
        self.divided(other, |a, b| a / b)
    }

    /// `self / other`, rounded up.
    ///
    /// # Errors
    ///
    /// [`LayoutError::DivisionByZero`] if `other` is 0.
    pub fn div_ceil(self, other: Int) -> Result<Int> {
        self.divided(other, usize::div_ceil)
    }

    /// The remainder of `self / other`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::DivisionByZero`] if `other` is 0.
    #[allow(clippy::should_implement_trait)]
    pub fn rem(self, other: Int) -> Result<Int> {
        self.divided(other, |a, b| a % b)
    }

    /// `self * other`, or `usize::MAX` where that does not fit.
    pub(crate) fn saturating_mul(self, other: Int) -> Int {
        self.kind_with(other, self.get().saturating_mul(other.get()))
    }

    fn checked(
        self,
        operation: &'static str,
        other: Int,
        f: fn(usize, usize) -> Option<usize>,
    ) -> Result<Int> {
        let (left, right) = (self.get(), other.get());
        match f(left, right) {
            Some(n) => Ok(self.kind_with(other, n)),
            None => Err(LayoutError::Overflow { left, operation, right }),
        }
    }

    fn divided(self, other: Int, f: fn(usize, usize) -> usize) -> Result<Int> {
        let (dividend, divisor) = (self.get(), other.get());
        if divisor == 0 {
            return Err(LayoutError::DivisionByZero { dividend });
        }
        Ok(self.kind_with(other, f(dividend, divisor)))
    }

    /// `n`, static if both operands it came from are.
    const fn kind_with(self, other: Int, n: usize) -> Int {
        if self.is_static() && other.is_static() { Int::Static(n) } else { Int::Dynamic(n) }
    }
}

/// A plain number is dynamic; see [`fixed`] for a static one.
impl From<usize> for Int {
    fn from(n: usize) -> Int {
        Int::Dynamic(n)
    }
}

impl PartialEq for Int {
    fn eq(&self, other: &Int) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Int {}

impl PartialEq<usize> for Int {
    fn eq(&self, other: &usize) -> bool {
        self.get() == *other
    }
}

impl Hash for Int {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        self.get().cmp(&other.get())
    }
}

/// The value; `{:#}` puts an underscore before a static one, as CuTe prints it.
impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() && self.is_static() {
            f.write_str("_")?;
        }
        write!(f, "{}", self.get())
    }
}

/// As `{:#}` of [`Display`](fmt::Display): `_4` for a static 4.
impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
