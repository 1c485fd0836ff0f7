//! Functions on values: the methods of Rust's own number types, lane by lane.

use std::panic::Location;

use tilewise_ir::{BinaryOp, Op, UnaryOp};

use crate::element::{Bits, Element, Float, Int, Num, Signed};
use crate::recorder;
use crate::staged::{Stage, StageAs};
use crate::val::{Val, binary, unary};

macro_rules! unary_methods {
    ($($class:ident { $($(#[$doc:meta])* $name:ident $op:ident;)* })*) => {$(
        impl<T: $class> Val<T> {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(self) -> Val<T> {
                unary(UnaryOp::$op, self)
            }
        )*}
    )*};
}

unary_methods! {
    Signed {
        /// Absolute value; the least integer stays itself.
        abs Abs;
        /// -1, 0 or 1; for floats 1 with the sign of the value, NaN for NaN.
        signum Signum;
    }
    Float {
        /// Square root.
        sqrt Sqrt;
        /// `1 / sqrt(x)`.
        rsqrt Rsqrt;
        /// `1 / x`.
        recip Recip;
        /// e to the `x`.
        exp Exp;
        /// 2 to the `x`.
        exp2 Exp2;
        /// Natural logarithm. Rust's `f32::ln` has this name too: [`ln`](Val::ln).
        log Log;
        /// Natural logarithm.
        ln Log;
        /// Logarithm to base 2.
        log2 Log2;
        /// Sine of radians.
        sin Sin;
        /// Cosine of radians.
        cos Cos;
        /// Hyperbolic tangent.
        tanh Tanh;
        /// Largest integer not above.
        floor Floor;
        /// Smallest integer not below.
        ceil Ceil;
        /// Nearest integer, halves away from zero.
        round Round;
        /// Nearest integer, halves to even.
        round_ties_even RoundEven;
        /// The integer part, towards zero.
        trunc Trunc;
    }
}

impl<T: Int> Val<T> {
    /// Number of one bits, in the width of `T`.
    #[track_caller]
    pub fn count_ones(self) -> Val<u32> {
        crate::cast::cast_val(unary::<T, T>(UnaryOp::CountOnes, self))
    }

    /// Number of zero bits above the highest one bit; the width of `T` for 0.
    #[track_caller]
    pub fn leading_zeros(self) -> Val<u32> {
        crate::cast::cast_val(unary::<T, T>(UnaryOp::LeadingZeros, self))
    }

    /// Number of zero bits below the lowest one bit; the width of `T` for 0.
    #[track_caller]
    pub fn trailing_zeros(self) -> Val<u32> {
        crate::cast::cast_val(unary::<T, T>(UnaryOp::TrailingZeros, self))
    }

    /// `self + rhs`, wrapping: what `+` does in a kernel.
    #[track_caller]
    pub fn wrapping_add(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        self + rhs
    }

    /// `self - rhs`, wrapping: what `-` does in a kernel.
    #[track_caller]
    pub fn wrapping_sub(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        self - rhs
    }

    /// `self * rhs`, wrapping: what `*` does in a kernel.
    #[track_caller]
    pub fn wrapping_mul(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        self * rhs
    }

    /// `self + rhs`, or the largest or smallest number where that does not fit.
    #[track_caller]
    pub fn saturating_add(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        let rhs = rhs.stage_as();
        if !T::SCALAR.is_signed_int() {
            // As a range analysis sees: for numbers that are far from the largest this is their sum.
            return self.min(largest::<T>().stage() - rhs) + rhs;
        }
        let sum = self + rhs;
        // It does not fit if its sign is that of neither.
        self.saturated(sum, (sum ^ self) & (sum ^ rhs))
    }

    /// `self - rhs`, or the largest or smallest number where that does not fit: `i.saturating_sub(1)` is 0 for an `i` of 0.
    #[track_caller]
    pub fn saturating_sub(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        let rhs = rhs.stage_as();
        if !T::SCALAR.is_signed_int() {
            return self.max(rhs) - rhs;
        }
        let difference = self - rhs;
        self.saturated(difference, (self ^ rhs) & (self ^ difference))
    }

    /// `value`, or where `overflows` is negative the number that is furthest away on the side of `self`.
    #[track_caller]
    fn saturated(self, value: Val<T>, overflows: Val<T>) -> Val<T> {
        use tilewise_ir::CompareOp::Lt;
        let zero = T::ZERO.stage();
        let (below, over) = (crate::val::compare(Lt, self, zero), crate::val::compare(Lt, overflows, zero));
        let largest = largest::<T>();
        let furthest = select(below, !largest.stage(), largest);
        select(over, furthest, value)
    }

    /// The quotient rounded up; both numbers must not be negative. No sum overflows on the way.
    #[track_caller]
    pub fn div_ceil(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        let rhs = rhs.stage_as();
        let (quotient, remainder) = (self / rhs, self % rhs);
        let up = crate::val::compare(tilewise_ir::CompareOp::Ne, remainder, T::ZERO.stage());
        quotient + select(up, T::ONE, T::ZERO)
    }

    /// Quotient of Euclidean division: the remainder is never negative.
    #[track_caller]
    pub fn div_euclid(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        use tilewise_ir::CompareOp::{Gt, Lt};
        let rhs = rhs.stage_as();
        let (quotient, remainder) = (self / rhs, self % rhs);
        let below = crate::val::compare(Lt, remainder, T::ZERO.stage());
        let positive = crate::val::compare(Gt, rhs, T::ZERO.stage());
        let rounded = select(positive, quotient - T::ONE, quotient + T::ONE);
        select(below, rounded, quotient)
    }

    /// Remainder of Euclidean division, never negative.
    #[track_caller]
    pub fn rem_euclid(self, rhs: impl StageAs<Val<T>>) -> Val<T> {
        use tilewise_ir::CompareOp::Lt;
        let rhs = rhs.stage_as();
        let remainder = self % rhs;
        let below = crate::val::compare(Lt, remainder, T::ZERO.stage());
        let rhs_below = crate::val::compare(Lt, rhs, T::ZERO.stage());
        let size = select(rhs_below, T::ZERO.stage() - rhs, rhs);
        select(below, remainder + size, remainder)
    }

    /// `self` to a power known while the kernel is described, by repeated squaring; wraps.
    #[track_caller]
    pub fn pow(self, exponent: u32) -> Val<T> {
        self.repeated_squares(exponent)
    }
}

/// The largest number.
fn largest<T: Int>() -> T {
    let bits = 8 * T::SCALAR.size() as u32 - u32::from(T::SCALAR.is_signed_int());
    T::from_bits(u64::MAX >> (64 - bits))
}

macro_rules! abs_diff {
    ($($int:ty => $unsigned:ty),+ $(,)?) => {$(
        impl Val<$int> {
            /// The distance of two numbers, which always fits.
            #[track_caller]
            pub fn abs_diff(self, other: impl StageAs<Val<$int>>) -> Val<$unsigned> {
                let other = other.stage_as();
                crate::cast::cast_val(self.max(other) - self.min(other))
            }
        }
    )+};
}

abs_diff! {
    i8 => u8, i16 => u16, i32 => u32, i64 => u64, isize => usize,
    u8 => u8, u16 => u16, u32 => u32, u64 => u64, usize => usize,
}

impl<T: Num> Val<T> {
    /// `self` to the power `exponent`.
    #[track_caller]
    fn repeated_squares(self, exponent: u32) -> Val<T> {
        let mut result: Option<Val<T>> = None;
        let (mut base, mut left) = (self, exponent);
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(r) => r * base,
                    None => base,
                });
            }
            left >>= 1;
            if left > 0 {
                base = base * base;
            }
        }
        result.unwrap_or_else(|| T::ONE.stage().splat(self.lanes()))
    }

    /// The smaller of two; of floats one that is not NaN if there is one.
    #[track_caller]
    pub fn min(self, other: impl StageAs<Val<T>>) -> Val<T> {
        binary(BinaryOp::Min, self, other)
    }

    /// The larger of two; of floats one that is not NaN if there is one.
    #[track_caller]
    pub fn max(self, other: impl StageAs<Val<T>>) -> Val<T> {
        binary(BinaryOp::Max, self, other)
    }

    /// `low` if less than it, `high` if more than it, else the value itself; NaN stays NaN.
    #[track_caller]
    pub fn clamp(self, low: impl StageAs<Val<T>>, high: impl StageAs<Val<T>>) -> Val<T> {
        use tilewise_ir::CompareOp::{Gt, Lt};
        let (low, high) = (low.stage_as(), high.stage_as());
        let raised = select(crate::val::compare(Lt, self, low), low, self);
        select(crate::val::compare(Gt, raised, high), high, raised)
    }

    /// Sum of all lanes, from the first to the last.
    #[track_caller]
    pub fn reduce_add(self) -> Val<T> {
        let mut sum = self.lane(0);
        for lane in 1..self.lanes() {
            sum = sum + self.lane(lane);
        }
        sum
    }

    /// Largest lane.
    #[track_caller]
    pub fn reduce_max(self) -> Val<T> {
        let mut best = self.lane(0);
        for lane in 1..self.lanes() {
            best = best.max(self.lane(lane));
        }
        best
    }

    /// Smallest lane.
    #[track_caller]
    pub fn reduce_min(self) -> Val<T> {
        let mut best = self.lane(0);
        for lane in 1..self.lanes() {
            best = best.min(self.lane(lane));
        }
        best
    }
}

impl<T: Float> Val<T> {
    /// `self` to the power `exponent`.
    #[track_caller]
    pub fn powf(self, exponent: impl StageAs<Val<T>>) -> Val<T> {
        binary(BinaryOp::Pow, self, exponent)
    }

    /// `self` to a whole power known while the kernel is described, by repeated squaring.
    #[track_caller]
    pub fn powi(self, exponent: i32) -> Val<T> {
        let power = self.repeated_squares(exponent.unsigned_abs());
        if exponent < 0 { power.recip() } else { power }
    }

    /// Tangent of radians: the sine over the cosine.
    #[track_caller]
    pub fn tan(self) -> Val<T> {
        self.sin() / self.cos()
    }

    /// Angle of the point (`x`, `self`) in radians.
    #[track_caller]
    pub fn atan2(self, x: impl StageAs<Val<T>>) -> Val<T> {
        binary(BinaryOp::Atan2, self, x)
    }

    /// `self * a + b` with one rounding.
    #[track_caller]
    pub fn mul_add(self, a: impl StageAs<Val<T>>, b: impl StageAs<Val<T>>) -> Val<T> {
        let location = Location::caller();
        let (x, a) = self.broadcast(a.stage_as());
        let (x, b) = x.broadcast(b.stage_as());
        let (a, b) = a.broadcast(b);
        let ty = recorder::ty(location, x.raw);
        Val::from_raw(recorder::emit(location, Op::MulAdd, [x.raw, a.raw, b.raw], ty))
    }

    /// Whether the value is NaN.
    #[track_caller]
    pub fn is_nan(self) -> Val<bool> {
        unary(UnaryOp::IsNan, self)
    }

    /// Whether the value is an infinity.
    #[track_caller]
    pub fn is_infinite(self) -> Val<bool> {
        unary(UnaryOp::IsInf, self)
    }
}

impl<T: Bits> Val<T> {
    /// All lanes combined with `|`.
    #[track_caller]
    pub fn reduce_or(self) -> Val<T> {
        let mut all = self.lane(0);
        for lane in 1..self.lanes() {
            all = all | self.lane(lane);
        }
        all
    }

    /// All lanes combined with `&`.
    #[track_caller]
    pub fn reduce_and(self) -> Val<T> {
        let mut all = self.lane(0);
        for lane in 1..self.lanes() {
            all = all & self.lane(lane);
        }
        all
    }
}

macro_rules! bit_casts {
    ($($float:ty, $bits:ty;)*) => {$(
        impl Val<$float> {
            /// The bits of the value.
            #[track_caller]
            pub fn to_bits(self) -> Val<$bits> {
                bitcast(self)
            }
        }

        impl Val<$bits> {
            /// The float with these bits: Rust's `from_bits`, as a method.
            #[track_caller]
            pub fn from_bits_as<F: Float>(self) -> Val<F> {
                let location = Location::caller();
                if F::SCALAR.size() != <$bits as Element>::SCALAR.size() {
                    recorder::fail(location, format!("{} has not as many bits as {}", F::SCALAR, stringify!($bits)));
                }
                bitcast(self)
            }
        }
    )*};
}

bit_casts! {
    f32, u32;
    f64, u64;
}

impl Val<half::f16> {
    /// The bits of the value.
    #[track_caller]
    pub fn to_bits(self) -> Val<u16> {
        bitcast(self)
    }
}

impl Val<half::bf16> {
    /// The bits of the value.
    #[track_caller]
    pub fn to_bits(self) -> Val<u16> {
        bitcast(self)
    }
}

impl Val<u16> {
    /// The float with these bits: Rust's `from_bits`, as a method.
    #[track_caller]
    pub fn from_bits_as<F: Float>(self) -> Val<F> {
        let location = Location::caller();
        if F::SCALAR.size() != 2 {
            recorder::fail(location, format!("{} has not as many bits as u16", F::SCALAR));
        }
        bitcast(self)
    }
}

#[track_caller]
fn bitcast<T: Element, U: Element>(value: Val<T>) -> Val<U> {
    let location = Location::caller();
    let ty = recorder::ty(location, value.raw).with_scalar(U::SCALAR);
    Val::from_raw(recorder::emit(location, Op::Bitcast(U::SCALAR), [value.raw], ty))
}

/// `then` where the condition holds, else `otherwise`. Both are computed: use `if` to avoid that.
///
/// The condition may be one for all lanes or have a lane for each.
#[track_caller]
pub fn select<T: Element>(
    condition: impl StageAs<Val<bool>>,
    then: impl StageAs<Val<T>>,
    otherwise: impl StageAs<Val<T>>,
) -> Val<T> {
    let location = Location::caller();
    let condition = condition.stage_as();
    let (a, b) = then.stage_as().broadcast(otherwise.stage_as());
    let (a, b, condition) = if condition.lanes() == 1 {
        (a, b, condition)
    } else {
        let (a, condition) = a.broadcast(condition);
        let (b, condition) = b.broadcast(condition);
        (a, b, condition)
    };
    let ty = recorder::ty(location, a.raw);
    Val::from_raw(recorder::emit(location, Op::Select, [condition.raw, a.raw, b.raw], ty))
}

/// The smaller or larger of two: plain if both are plain, else a value of the kernel.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` take two numbers of one type, found `{Self}` and `{B}`",
    note = "numbers are not converted by themselves: write `x as f32`, `i as usize`"
)]
pub trait MinMax<B> {
    /// Type of the result.
    type Output;

    /// The smaller.
    #[track_caller]
    fn smaller(self, other: B) -> Self::Output;
    /// The larger.
    #[track_caller]
    fn larger(self, other: B) -> Self::Output;
}

impl<T: Num, B: StageAs<Val<T>>> MinMax<B> for Val<T> {
    type Output = Val<T>;

    #[track_caller]
    fn smaller(self, other: B) -> Val<T> {
        self.min(other)
    }

    #[track_caller]
    fn larger(self, other: B) -> Val<T> {
        self.max(other)
    }
}

macro_rules! plain_min_max {
    ($($plain:ty)*) => {$(
        impl MinMax<Val<$plain>> for $plain {
            type Output = Val<$plain>;

            #[track_caller]
            fn smaller(self, other: Val<$plain>) -> Val<$plain> {
                self.stage().min(other)
            }

            #[track_caller]
            fn larger(self, other: Val<$plain>) -> Val<$plain> {
                self.stage().max(other)
            }
        }

        impl MinMax<$plain> for $plain {
            type Output = $plain;

            fn smaller(self, other: $plain) -> $plain {
                self.min(other)
            }

            fn larger(self, other: $plain) -> $plain {
                self.max(other)
            }
        }
    )*};
}

plain_min_max!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 half::f16 half::bf16);

/// The smaller of two numbers; plain if both are plain.
#[track_caller]
pub fn min<A: MinMax<B>, B>(a: A, b: B) -> A::Output {
    a.smaller(b)
}

/// The larger of two numbers; plain if both are plain.
#[track_caller]
pub fn max<A: MinMax<B>, B>(a: A, b: B) -> A::Output {
    a.larger(b)
}
