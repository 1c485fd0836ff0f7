//! [`Range`]: what is known of an integer value: an interval, and low bits.

use std::fmt;

use super::residue::Residue;
use crate::types::Scalar;

/// A set of mathematical integers, never empty: those from `lo` to `hi` that have the low bits of a [`Residue`].
///
/// A value of an integer type stands for the number that it is in that type, `false` and `true` for 0 and 1. Both ends
/// belong to the set.
///
/// ```
/// use tilewise_ir::analysis::{Range, Residue};
///
/// let index = Range::new(0, 1022, Residue::new(2, 0)).expect("not empty");
/// assert_eq!((index.lo(), index.hi()), (0, 1020));
/// assert_eq!(index.residue().trailing_zeros(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    lo: i128,
    hi: i128,
    residue: Residue,
}

impl Range {
    /// The range of both truth values.
    pub const BOOL: Range = Range { lo: 0, hi: 1, residue: Residue::UNKNOWN };

    /// The numbers from `lo` to `hi` that have these low bits; `None` if there is none.
    pub fn new(lo: i128, hi: i128, residue: Residue) -> Option<Range> {
        if lo > hi {
            return None;
        }
        let (bits, low) = (residue.bits(), residue.low());
        let up = Residue::new(bits, low.wrapping_sub(lo as u64)).low();
        let down = Residue::new(bits, (hi as u64).wrapping_sub(low)).low();
        let (lo, hi) = (lo + i128::from(up), hi - i128::from(down));
        match lo.cmp(&hi) {
            std::cmp::Ordering::Less => Some(Range { lo, hi, residue }),
            std::cmp::Ordering::Equal => Some(Range::exact(lo)),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// One number.
    pub const fn exact(value: i128) -> Range {
        Range { lo: value, hi: value, residue: Residue::exact(value) }
    }

    /// The numbers from `lo` to `hi`; `None` if there is none.
    pub fn interval(lo: i128, hi: i128) -> Option<Range> {
        Range::new(lo, hi, Residue::UNKNOWN)
    }

    /// All values of a type. Of a float nothing is known, and nothing is said by the range that this gives.
    pub const fn all(scalar: Scalar) -> Range {
        let (lo, hi) = match scalar {
            Scalar::Bool => (0, 1),
            Scalar::I8 => (i8::MIN as i128, i8::MAX as i128),
            Scalar::I16 => (i16::MIN as i128, i16::MAX as i128),
            Scalar::I32 => (i32::MIN as i128, i32::MAX as i128),
            Scalar::I64 => (i64::MIN as i128, i64::MAX as i128),
            Scalar::U8 => (0, u8::MAX as i128),
            Scalar::U16 => (0, u16::MAX as i128),
            Scalar::U32 => (0, u32::MAX as i128),
            Scalar::U64 | Scalar::Index => (0, u64::MAX as i128),
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => (i64::MIN as i128, u64::MAX as i128),
        };
        Range { lo, hi, residue: Residue::UNKNOWN }
    }

    /// The values that numbers from `lo` to `hi` have in a type that they may be too large for: they wrap.
    pub(crate) fn wrapped(scalar: Scalar, lo: i128, hi: i128, residue: Residue) -> Range {
        let all = Range::all(scalar);
        let inside = if all.lo <= lo && hi <= all.hi {
            Range::new(lo, hi, residue)
        } else {
            // All of them may lie in the same period, as those of `0 - 1` do.
            let width = scalar.bits();
            let residue = residue.truncated(width);
            let period = (lo - all.lo) >> width;
            if period == (hi - all.lo) >> width {
                let shift = period << width;
                Range::new(lo - shift, hi - shift, residue)
            } else {
                Range::new(all.lo, all.hi, residue)
            }
        };
        inside.unwrap_or(all)
    }

    /// The least number.
    pub const fn lo(self) -> i128 {
        self.lo
    }

    /// The greatest number.
    pub const fn hi(self) -> i128 {
        self.hi
    }

    /// The known low bits.
    pub const fn residue(self) -> Residue {
        self.residue
    }

    /// The number, if there is but one.
    pub fn value(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Whether a number is in the set.
    pub fn contains(self, value: i128) -> bool {
        self.lo <= value && value <= self.hi && self.residue.contains(value)
    }

    /// Whether all numbers of the set are in `other`.
    pub fn is_within(self, other: Range) -> bool {
        other.lo <= self.lo && self.hi <= other.hi && self.residue.join(other.residue) == other.residue
    }

    /// The least range that has the numbers of both.
    pub fn join(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.min(other.lo), self.hi.max(other.hi));
        Range { lo, hi, residue: self.residue.join(other.residue) }
    }

    /// The numbers that are in both, `None` if there is none.
    pub fn meet(self, other: Range) -> Option<Range> {
        let residue = self.residue.meet(other.residue)?;
        Range::new(self.lo.max(other.lo), self.hi.min(other.hi), residue)
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { lo, hi, residue } = self;
        match residue.bits() {
            _ if lo == hi => write!(f, "{lo}"),
            0 => write!(f, "{lo}..={hi}"),
            bits => write!(f, "{lo}..={hi} ({} mod 2^{bits})", residue.low()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_the_low_bits() {
        let odd = Residue::new(1, 1);
        assert_eq!(format!("{:?}", Range::new(-4, 4, odd).expect("not empty")), "-3..=3 (1 mod 2^1)");
        assert_eq!(Range::new(4, 4, odd), None);
        assert_eq!(Range::new(4, 5, odd), Some(Range::exact(5)));
        assert_eq!(Range::interval(1, 0), None);
    }

    #[test]
    fn wrapping() {
        let wrapped = |scalar, lo, hi| {
            let range = Range::wrapped(scalar, lo, hi, Residue::UNKNOWN);
            (range.lo, range.hi)
        };
        assert_eq!(wrapped(Scalar::U8, 3, 255), (3, 255));
        assert_eq!(wrapped(Scalar::U8, -3, -1), (253, 255));
        assert_eq!(wrapped(Scalar::U8, -1, 0), (0, 255));
        assert_eq!(wrapped(Scalar::I8, 128, 130), (-128, -126));
        assert_eq!(wrapped(Scalar::I8, -129, -128), (-128, 127));
        assert_eq!(wrapped(Scalar::Bool, -2, -1), (0, 1));
        let multiple_of_4 = Range::wrapped(Scalar::U8, -4, 8, Residue::new(2, 0));
        assert_eq!((multiple_of_4.lo, multiple_of_4.hi), (0, 252));
    }

    #[test]
    fn meet_and_join() {
        let (a, b) = (Range::exact(4), Range::exact(12));
        let both = a.join(b);
        assert_eq!(both, Range::new(4, 12, Residue::new(3, 4)).expect("not empty"));
        assert!(a.is_within(both) && b.is_within(both) && !both.is_within(a));
        assert!(both.contains(4) && !both.contains(8));
        assert_eq!(both.meet(Range::interval(5, 12).expect("not empty")), Some(b));
        assert_eq!(both.meet(Range::exact(8)), None);
    }
}
