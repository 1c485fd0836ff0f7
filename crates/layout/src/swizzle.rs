//! [`Swizzle`]: mixes bits of an offset so that accesses spread over memory banks.
//!
//! ```
//! use tilewise_layout::{Swizzle, row_major};
//!
//! // A tile of 4 rows of 8 elements: the row, in bits 3 and 4, is mixed into bits 1 and 2.
//! let (tile, swizzle) = (row_major((4, 8)), Swizzle::new(2, 1, 2)?);
//! let row_1: Vec<usize> = (0..8).map(|c| swizzle.apply(8 + c)).collect();
//! assert_eq!(row_1, [10, 11, 8, 9, 14, 15, 12, 13]);
//! assert_eq!(swizzle.offset(&tile, (1, 0))?, 10);
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use std::fmt;

use crate::error::{LayoutError, Result};
use crate::{IntTuple, Layout};

/// The function `i ^ ((i & mask) >> shift)`, where `mask` has `bits` ones that start at bit
/// `base + shift`; with a negative shift it is `i ^ ((i & mask) << -shift)`, and the ones
/// start at bit `base`.
///
/// In words: `bits` bits of the offset are taken, moved down by `shift`, and mixed by
/// exclusive or into the bits there. The lowest `base` bits never change, so runs of
/// `2^base` elements stay together.
///
/// # Law
///
/// swizzle(swizzle(i)) = i, and swizzle permutes each aligned block of period() offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// The swizzle of these parameters, in CuTe's order.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Swizzle`] if the source and target bits overlap (`shift` nearer to 0
    /// than `bits`) or reach beyond the bits of a `usize`.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle> {
        let top = u64::from(bits) + u64::from(base) + u64::from(shift.unsigned_abs());
        if shift.unsigned_abs() < bits || top > u64::from(usize::BITS) {
            return Err(LayoutError::Swizzle { bits, base, shift });
        }
        Ok(Swizzle { bits, base, shift })
    }

    /// How many bits are mixed.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// How many low bits never change.
    #[must_use]
    pub fn base(self) -> u32 {
        self.base
    }

    /// How far the source bits lie above the target bits; below them if negative.
    #[must_use]
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// The source bits.
    #[must_use]
    pub fn mask(self) -> usize {
        if self.bits == 0 {
            return 0;
        }
        let ones = usize::MAX >> (usize::BITS - self.bits);
        ones << (self.base + self.shift.max(0).unsigned_abs())
    }

    /// The block of offsets within which the swizzle permutes: 2 to the power of bits, base
    /// and distance of the shift. `None` if that is beyond a `usize`: all of them.
    #[must_use]
    pub fn period(self) -> Option<usize> {
        1usize.checked_shl(self.bits + self.base + self.shift.unsigned_abs())
    }

    /// The swizzled offset.
    #[must_use]
    pub fn apply(self, offset: usize) -> usize {
        let (source, distance) = (offset & self.mask(), self.shift.unsigned_abs());
        // A distance of all bits is possible only with no bits to mix.
        let moved = if self.shift >= 0 { source.checked_shr(distance) } else { source.checked_shl(distance) };
        offset ^ moved.unwrap_or(0)
    }

    /// The swizzled offset of a coordinate of `layout`: CuTe's composed layout.
    ///
    /// # Errors
    ///
    /// As [`Layout::offset`].
    pub fn offset(self, layout: &Layout, coord: impl Into<IntTuple>) -> Result<usize> {
        Ok(self.apply(layout.offset(coord)?))
    }
}

/// As CuTe prints it: `Sw<2,1,2>`.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}
