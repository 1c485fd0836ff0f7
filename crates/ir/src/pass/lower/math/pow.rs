//! `pow`: 2 to the `y log2(x)`, where the logarithm and the product are in double-word arithmetic, because the error of
//! the exponent is multiplied by up to the largest exponent in the result.
//!
//! With `x = 2^k (1 + f)` as in [`log`](super::log) and `s = f / (2 + f)` in double-word arithmetic,
//! `log2(x) = k + 2/ln 2 s (1 + s^2 (1/3 + s^2 P(s^2)))`.

use super::double_word::DoubleWord;
use super::emit::Emit;
use super::{exp, log};
use crate::kernel::Value;

/// `P(s^2) = (atanh(s) / s - 1 - s^2/3) / s^4` for `|s| <= 3 - sqrt(8)`, in `f32`; error of the logarithm 2^-41.
const POW_LOG_F32: &[f64] = &[0.200000003, 0.142857656, 0.111023769, 0.0956034362];

/// The same in `f64`; error 2^-70.
const POW_LOG_F64: &[f64] = &[
    0.2,
    0.14285714285714685,
    0.11111111110827528,
    0.0909090916779043,
    0.07692297471213777,
    0.0666740289319692,
    0.05853103543180248,
    0.05861742242460351,
];

const THIRD_F32: [f64; 2] = [0.333333343, -9.93410776e-09];
const THIRD_F64: [f64; 2] = [0.3333333333333333, 1.850371707708594e-17];

const TWO_OVER_LN_2_F32: [f64; 2] = [2.88539004, 3.85192607e-08];
const TWO_OVER_LN_2_F64: [f64; 2] = [2.8853900817779268, 4.0710547481862066e-17];

/// `x` to the power `y`, with the special cases of IEEE 754 and C.
pub(super) fn pow(e: &mut Emit<'_>, x: Value, y: Value) -> Value {
    let magnitude = e.abs(x);
    let power = pow_of_magnitude(e, magnitude, y);

    // A negative base: the sign of an odd power, and no power that is not whole.
    let whole = e.trunc(y);
    let is_whole = e.eq(whole, y);
    let half = e.number(0.5);
    let half_y = e.mul(y, half);
    let half_whole = e.trunc(half_y);
    let is_not_even = e.ne(half_whole, half_y);
    let is_odd = e.and(is_whole, is_not_even);
    let sign = e.sign_bit(x);
    let no_sign = e.unsigned(0);
    let sign = e.select(is_odd, sign, no_sign);
    let power = e.flip_sign(power, sign);

    let zero = e.number(0.0);
    let infinity = e.number(f64::INFINITY);
    let negative = e.lt(x, zero);
    let finite = e.lt(magnitude, infinity);
    let is_not_whole = e.not(is_whole);
    let invalid = e.and(negative, finite);
    let invalid = e.and(invalid, is_not_whole);
    let nan = e.number(f64::NAN);
    let power = e.select(invalid, nan, power);

    // These hold even if the other operand is NaN.
    let one = e.number(1.0);
    let base_is_one = e.eq(x, one);
    let exponent_is_zero = e.eq(y, zero);
    let is_one = e.or(base_is_one, exponent_is_zero);
    e.select(is_one, one, power)
}

/// `x` to the power `y`, for `x` that is not negative, and not for 1 to the power NaN and NaN to the power 0.
fn pow_of_magnitude(e: &mut Emit<'_>, x: Value, y: Value) -> Value {
    let mut exponent = log2(e, x);
    // log2(0) is -infinity, and infinity and NaN are their own logarithms.
    let zero = e.number(0.0);
    let infinity = e.number(f64::INFINITY);
    let minus_infinity = e.number(f64::NEG_INFINITY);
    let finite = e.lt(x, infinity);
    exponent.high = e.select(finite, exponent.high, x);
    let is_zero = e.eq(x, zero);
    exponent.high = e.select(is_zero, minus_infinity, exponent.high);

    let product = e.two_product(exponent.high, y);
    let low = e.fma(exponent.low, y, product.low);
    // What is far out of range becomes 0 or infinite; its low word may be NaN.
    let limit = e.pick(160.0, 1100.0);
    let largest = e.number(limit);
    let too_large = e.gt(product.high, largest);
    let high = e.select(too_large, largest, product.high);
    let low = e.select(too_large, zero, low);
    let smallest = e.number(-limit);
    let too_small = e.lt(product.high, smallest);
    let high = e.select(too_small, smallest, high);
    let low = e.select(too_small, zero, low);

    let n = e.round_even(high);
    let rest = e.sub(high, n);
    let rest = e.fast_two_sum(rest, low);
    let ln_2 = exp::ln_2(e);
    let t = e.mul_double_word(rest, ln_2);
    let power = exp::exp_near_zero(e, t);
    let power = exp::scale(e, power, n);

    // 1 to an infinite power.
    let one = e.number(1.0);
    let base_is_one = e.eq(x, one);
    let nan_if_nan = e.mul(y, zero);
    let is_nan = e.ne(y, y);
    let power_of_one = e.select(is_nan, nan_if_nan, one);
    e.select(base_is_one, power_of_one, power)
}

/// The logarithm of a positive finite number to base 2, to about 10 (`f32`) and 12 (`f64`) digits more than a number has.
fn log2(e: &mut Emit<'_>, x: Value) -> DoubleWord {
    let (k, f) = log::split(e, x);
    let s = quotient(e, f);
    let z = e.mul_double_word(s, s);

    let coefficients = e.pick(POW_LOG_F32, POW_LOG_F64);
    let rest = e.polynomial(z.high, coefficients);
    let rest = e.mul(z.high, rest);
    let third = e.pick(THIRD_F32, THIRD_F64);
    let third = e.double_word(third);
    let sum = e.fast_two_sum(third.high, rest);
    let low = e.add(sum.low, third.low);
    let sum = DoubleWord { high: sum.high, low };
    let series = e.mul_double_word(z, sum);
    let one = e.number(1.0);
    let series = e.add_double_word(one, series);

    let factor = e.pick(TWO_OVER_LN_2_F32, TWO_OVER_LN_2_F64);
    let factor = e.double_word(factor);
    let log = e.mul_double_word(s, series);
    let log = e.mul_double_word(log, factor);
    e.add_double_word(k, log)
}

/// `f / (2 + f)`.
fn quotient(e: &mut Emit<'_>, f: Value) -> DoubleWord {
    let two = e.number(2.0);
    let divisor = e.fast_two_sum(two, f);
    let high = e.div(f, divisor.high);
    let minus_high = e.neg(high);
    let rest = e.fma(minus_high, divisor.high, f);
    let rest = e.fma(minus_high, divisor.low, rest);
    let low = e.div(rest, divisor.high);
    DoubleWord { high, low }
}
