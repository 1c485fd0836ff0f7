//! `sin` and `cos`: polynomials on a quarter of the circle around the nearest axis.
//!
//! The magnitude of the argument is written as `n π/2 + t` with `|t| <= π/4`, `t` in double-word arithmetic; the last two
//! bits of `n` tell which of the polynomials counts, with which sign. Up to [`LIMIT_F32`] and [`LIMIT_F64`], `n π/2` is
//! subtracted with π/2 in three parts (Cody and Waite); beyond, see [`payne_hanek`](super::payne_hanek), which stands in
//! a branch.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::double_word::DoubleWord;
use super::emit::Emit;
use super::payne_hanek;
use crate::kernel::Value;

/// `(sin(t) / t - 1) / t^2` in `t^2`, for `|t| <= π/4`, in `f32`; error of the sine 2^-35.
const SIN_F32: &[f64] = &[-0.166666672, 0.00833333191, -0.00019840087, 2.72498755e-06];

/// The same in `f64`; error 2^-66.
const SIN_F64: &[f64] = &[
    -0.16666666666666666,
    0.008333333333333331,
    -0.0001984126984126506,
    2.7557319219336156e-06,
    -2.50521062314023e-08,
    1.6058531453319466e-10,
    -7.586687352764324e-13,
];

/// `(cos(t) - 1 + t^2/2) / t^4` in `t^2`, for `|t| <= π/4`, in `f32`; error of the cosine 2^-30.
const COS_F32: &[f64] = &[0.0416666642, -0.00138883025, 2.45479005e-05];

/// The same in `f64`; error 2^-60.
const COS_F64: &[f64] = &[
    0.041666666666666664,
    -0.0013888888888887395,
    2.480158729876386e-05,
    -2.755731727078194e-07,
    2.0876146070870107e-09,
    -1.1382618195091082e-11,
];

/// What the `f32` and then the next `f32` leave of π/2.
const FRAC_PI_2_REST_F32: [f64; 2] = [-4.37113883e-08, -1.71512451e-15];
/// What the `f64` and then the next `f64` leave of π/2.
const FRAC_PI_2_REST_F64: [f64; 2] = [6.123233995736766e-17, -1.4973849048591698e-33];

/// The largest `f32` for which three parts of π/2 suffice: the `n`-fold of what is missing of π/2 stays far below a unit
/// in the last place of the smallest `t`.
const LIMIT_F32: f64 = 131_072.0;
/// The same for `f64`.
const LIMIT_F64: f64 = 1_073_741_824.0;

/// Sine of radians.
pub(super) fn sin(e: &mut Emit<'_>, x: Value) -> Value {
    let (n, t) = reduce(e, x);
    let result = by_quadrant(e, n, t);
    let sign = e.sign_bit(x);
    let result = e.flip_sign(result, sign);
    nan_unless_finite(e, x, result)
}

/// Cosine of radians.
pub(super) fn cos(e: &mut Emit<'_>, x: Value) -> Value {
    let (n, t) = reduce(e, x);
    let one = e.unsigned(1);
    let n = e.add(n, one);
    let result = by_quadrant(e, n, t);
    nan_unless_finite(e, x, result)
}

/// Writes the magnitude of a finite number as `n π/2 + t`; of `n`, an unsigned integer, only the last two bits are
/// certain.
fn reduce(e: &mut Emit<'_>, x: Value) -> (Value, DoubleWord) {
    let magnitude = e.abs(x);
    let frac_2_pi = e.number(FRAC_2_PI);
    let n = e.mul(magnitude, frac_2_pi);
    let n = e.round_even(n);
    let t = subtract_multiple(e, magnitude, n);
    let n = e.cast(n, e.uint());

    let limit = e.number(e.pick(LIMIT_F32, LIMIT_F64));
    let is_large = e.gt(magnitude, limit);
    let [n, high, low] = e.replace_where(is_large, [n, t.high, t.low], |e| {
        let (n, t) = payne_hanek::reduce(e, magnitude);
        [n, t.high, t.low]
    });
    (n, DoubleWord { high, low })
}

/// `x - n π/2`.
fn subtract_multiple(e: &mut Emit<'_>, x: Value, n: Value) -> DoubleWord {
    let minus_n = e.neg(n);
    let frac_pi_2 = e.number(FRAC_PI_2);
    // Exact: it is less than 1, and no digit of `x` or of `n π/2` is below the last place of a number in [1/2, 1).
    let first = e.fma(minus_n, frac_pi_2, x);
    let [second, third] = e.pick(FRAC_PI_2_REST_F32, FRAC_PI_2_REST_F64);
    let second = e.number(second);
    let product = e.two_product(minus_n, second);
    let sum = e.two_sum(first, product.high);
    let low = e.add(sum.low, product.low);
    let third = e.number(third);
    let low = e.fma(minus_n, third, low);
    e.fast_two_sum(sum.high, low)
}

/// The sine of `n π/2 + t`.
fn by_quadrant(e: &mut Emit<'_>, n: Value, t: DoubleWord) -> Value {
    let sin = sin_near_zero(e, t);
    let cos = cos_near_zero(e, t);
    let one = e.unsigned(1);
    let odd = e.and(n, one);
    let is_odd = e.eq(odd, one);
    let result = e.select(is_odd, cos, sin);
    let two = e.unsigned(2);
    let sign = e.and(n, two);
    let sign = e.shl(sign, e.width() - 2);
    e.flip_sign(result, sign)
}

/// The sine of `t`, for `|t| <= π/4`.
fn sin_near_zero(e: &mut Emit<'_>, t: DoubleWord) -> Value {
    let z = e.mul(t.high, t.high);
    let cube = e.mul(z, t.high);
    let coefficients = e.pick(SIN_F32, SIN_F64);
    let rest = e.polynomial(z, coefficients);
    // sin(high + low) = sin(high) + low (1 - high^2/2 + ...)
    let minus_half = e.number(-0.5);
    let half_square = e.mul(z, minus_half);
    let low = e.fma(half_square, t.low, t.low);
    let low = e.fma(cube, rest, low);
    e.add(t.high, low)
}

/// The cosine of `t`, for `|t| <= π/4`.
fn cos_near_zero(e: &mut Emit<'_>, t: DoubleWord) -> Value {
    let z = e.mul(t.high, t.high);
    let coefficients = e.pick(COS_F32, COS_F64);
    let rest = e.polynomial(z, coefficients);
    let one = e.number(1.0);
    let minus_half = e.number(-0.5);
    let minus_half_square = e.mul(z, minus_half);
    let sum = e.fast_two_sum(one, minus_half_square);
    // cos(high + low) = cos(high) - low (high - ...)
    let minus_high = e.neg(t.high);
    let low = e.fma(minus_high, t.low, sum.low);
    let fourth_power = e.mul(z, z);
    let low = e.fma(fourth_power, rest, low);
    e.add(sum.high, low)
}

/// `result`, but NaN for what is not finite.
fn nan_unless_finite(e: &mut Emit<'_>, x: Value, result: Value) -> Value {
    let magnitude = e.abs(x);
    let infinity = e.number(f64::INFINITY);
    let finite = e.lt(magnitude, infinity);
    let nan = e.sub(x, x);
    e.select(finite, result, nan)
}
