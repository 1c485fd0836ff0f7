//! The types of lanes: how a scalar lies in a cell of a register, and what can be computed with it.

use crate::column::Cell;
use crate::half_float::{BF16, F16, HalfFloat, mul_add};

/// A scalar type as it is computed with.
pub(crate) trait Lane: Copy {
    /// Size of its registers.
    type Cell: Cell;

    /// The value in a cell.
    fn get(cell: Self::Cell) -> Self;

    /// The cell of a value: its bits, zero-extended.
    fn put(self) -> Self::Cell;
}

/// What integers and floats have in common. Integers wrap.
pub(crate) trait Number: Lane {
    /// `-a`
    fn neg(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Sign.
    fn signum(self) -> Self;
    /// `a + b`
    fn add(self, other: Self) -> Self;
    /// `a - b`
    fn sub(self, other: Self) -> Self;
    /// `a * b`
    fn mul(self, other: Self) -> Self;
    /// `a / b`; 0 for an integer divisor of 0.
    fn div(self, other: Self) -> Self;
    /// Remainder; 0 for an integer divisor of 0.
    fn rem(self, other: Self) -> Self;
    /// The smaller.
    fn min(self, other: Self) -> Self;
    /// The larger.
    fn max(self, other: Self) -> Self;
    /// `a == b`
    fn eq(self, other: Self) -> bool;
    /// `a < b`
    fn lt(self, other: Self) -> bool;
    /// `a <= b`
    fn le(self, other: Self) -> bool;
}

/// What only integers have.
pub(crate) trait Int: Number {
    /// `!a`
    fn not(self) -> Self;
    /// Shift left, modulo the width.
    fn shl(self, other: Self) -> Self;
    /// Shift right, modulo the width.
    fn shr(self, other: Self) -> Self;
    /// Number of one bits.
    fn count_ones(self) -> Self;
    /// Zero bits above the highest one.
    fn leading_zeros(self) -> Self;
    /// Zero bits below the lowest one.
    fn trailing_zeros(self) -> Self;
}

/// What only floats have.
pub(crate) trait Float: Number {
    /// The functions of one operand.
    fn sqrt(self) -> Self;
    fn rsqrt(self) -> Self;
    fn recip(self) -> Self;
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn ln(self) -> Self;
    fn log2(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn powf(self, other: Self) -> Self;
    fn atan2(self, other: Self) -> Self;
    /// `a * b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

macro_rules! int {
    ($($int:ident: $unsigned:ident in $cell:ident, $signed:tt;)*) => { $(
        impl Lane for $int {
            type Cell = $cell;

            #[inline(always)]
            fn get(cell: $cell) -> $int {
                cell as $int
            }

            #[inline(always)]
            fn put(self) -> $cell {
                self as $unsigned as $cell
            }
        }

        impl Number for $int {
            #[inline(always)]
            fn neg(self) -> $int {
                self.wrapping_neg()
            }
            int!(@sign $int $signed);
            #[inline(always)]
            fn add(self, other: $int) -> $int {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: $int) -> $int {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul(self, other: $int) -> $int {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn div(self, other: $int) -> $int {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn rem(self, other: $int) -> $int {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline(always)]
            fn min(self, other: $int) -> $int {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: $int) -> $int {
                Ord::max(self, other)
            }
            #[inline(always)]
            fn eq(self, other: $int) -> bool {
                self == other
            }
            #[inline(always)]
            fn lt(self, other: $int) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: $int) -> bool {
                self <= other
            }
        }

        impl Int for $int {
            #[inline(always)]
            fn not(self) -> $int {
                !self
            }
            #[inline(always)]
            fn shl(self, other: $int) -> $int {
                self.wrapping_shl(other as u32)
            }
            #[inline(always)]
            fn shr(self, other: $int) -> $int {
                self.wrapping_shr(other as u32)
            }
            #[inline(always)]
            fn count_ones(self) -> $int {
                $int::count_ones(self) as $int
            }
            #[inline(always)]
            fn leading_zeros(self) -> $int {
                $int::leading_zeros(self) as $int
            }
            #[inline(always)]
            fn trailing_zeros(self) -> $int {
                $int::trailing_zeros(self) as $int
            }
        }
    )* };
    (@sign $int:ident signed) => {
        #[inline(always)]
        fn abs(self) -> $int {
            self.wrapping_abs()
        }
        #[inline(always)]
        fn signum(self) -> $int {
            $int::signum(self)
        }
    };
    (@sign $int:ident unsigned) => {
        #[inline(always)]
        fn abs(self) -> $int {
            self
        }
        #[inline(always)]
        fn signum(self) -> $int {
            (self != 0) as $int
        }
    };
}

int! {
    i8: u8 in u32, signed;
    i16: u16 in u32, signed;
    i32: u32 in u32, signed;
    i64: u64 in u64, signed;
    u8: u8 in u32, unsigned;
    u16: u16 in u32, unsigned;
    u32: u32 in u32, unsigned;
    u64: u64 in u64, unsigned;
}

macro_rules! float_lane {
    ($float:ident, $cell:ident) => {
        impl Lane for $float {
            type Cell = $cell;

            #[inline(always)]
            fn get(cell: $cell) -> $float {
                $float::from_bits(cell)
            }

            #[inline(always)]
            fn put(self) -> $cell {
                self.to_bits()
            }
        }
    };
}

float_lane!(f32, u32);
float_lane!(f64, u64);

macro_rules! half_lane {
    ($half:ident) => {
        impl Lane for $half {
            type Cell = u32;

            #[inline(always)]
            fn get(cell: u32) -> $half {
                $half(cell as u16)
            }

            #[inline(always)]
            fn put(self) -> u32 {
                self.0 as u32
            }
        }
    };
}

half_lane!(F16);
half_lane!(BF16);

/// Floats through a type `$wide` that computes: itself, or `f32` for the halves. Rounding a sum, difference, product,
/// quotient or square root of halves again is harmless, because `f32` has more than twice their digits.
macro_rules! float {
    ($float:ident, $to:path, $from:path, $mul_add:path) => {
        impl Number for $float {
            #[inline(always)]
            fn neg(self) -> $float {
                let sign = 1 << (8 * size_of::<$float>() - 1);
                $float::get(self.put() ^ sign)
            }
            #[inline(always)]
            fn abs(self) -> $float {
                let sign = 1 << (8 * size_of::<$float>() - 1);
                $float::get(self.put() & !sign)
            }
            float!(@unary Number, $float, $to, $from, signum);
            #[inline(always)]
            fn add(self, other: $float) -> $float {
                $from($to(self) + $to(other))
            }
            #[inline(always)]
            fn sub(self, other: $float) -> $float {
                $from($to(self) - $to(other))
            }
            #[inline(always)]
            fn mul(self, other: $float) -> $float {
                $from($to(self) * $to(other))
            }
            #[inline(always)]
            fn div(self, other: $float) -> $float {
                $from($to(self) / $to(other))
            }
            #[inline(always)]
            fn rem(self, other: $float) -> $float {
                $from($to(self) % $to(other))
            }
            #[inline(always)]
            fn min(self, other: $float) -> $float {
                $from($to(self).min($to(other)))
            }
            #[inline(always)]
            fn max(self, other: $float) -> $float {
                $from($to(self).max($to(other)))
            }
            #[inline(always)]
            fn eq(self, other: $float) -> bool {
                $to(self) == $to(other)
            }
            #[inline(always)]
            fn lt(self, other: $float) -> bool {
                $to(self) < $to(other)
            }
            #[inline(always)]
            fn le(self, other: $float) -> bool {
                $to(self) <= $to(other)
            }
        }

        impl Float for $float {
            float!(@unary Float, $float, $to, $from, sqrt exp exp2 ln log2 sin cos tanh);
            float!(@unary Float, $float, $to, $from, floor ceil round round_ties_even trunc recip);
            #[inline(always)]
            fn rsqrt(self) -> $float {
                $from(1.0 / $to(self).sqrt())
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $to(self).is_nan()
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                $to(self).is_infinite()
            }
            #[inline(always)]
            fn powf(self, other: $float) -> $float {
                $from($to(self).powf($to(other)))
            }
            #[inline(always)]
            fn atan2(self, other: $float) -> $float {
                $from($to(self).atan2($to(other)))
            }
            #[inline(always)]
            fn mul_add(self, b: $float, c: $float) -> $float {
                $mul_add(self, b, c)
            }
        }
    };
    (@unary $trait:ident, $float:ident, $to:path, $from:path, $($function:ident)*) => { $(
        #[inline(always)]
        fn $function(self) -> $float {
            $from($to(self).$function())
        }
    )* };
}

float!(f32, f32::from, f32::from, f32::mul_add);
float!(f64, f64::from, f64::from, f64::mul_add);
float!(F16, F16::to_f32, F16::from_f32, mul_add);
float!(BF16, BF16::to_f32, BF16::from_f32, mul_add);
