//! `log` and `log2`.
//!
//! The argument is written as `2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`, and with `s = f / (2 + f)`
//! the logarithm of `1 + f` is `2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2))`, as in fdlibm. The first two terms are added
//! in double-word arithmetic.

use std::f64::consts::LOG2_E;

use super::double_word::DoubleWord;
use super::emit::Emit;
use crate::kernel::Value;

/// `R(z) / z`, where `R(s^2) = 2 atanh(s) / s - 2`, for `|s| <= 3 - sqrt(8)`, in `f32`; error of the logarithm 2^-35.
const LOG_F32: &[f64] = &[0.666666687, 0.400001228, 0.285508066, 0.233308569];

/// The same in `f64`; error 2^-64.
const LOG_F64: &[f64] = &[
    0.6666666666666666,
    0.4000000000000088,
    0.28571428570802315,
    0.22222222392008084,
    0.18181795608704632,
    0.15386241411965831,
    0.1326872737379105,
    0.13087104671767694,
];

/// ln 2: its first 15 digits, so that whole multiples are exact, and the rest.
const LN_2_F32: [f64; 2] = [0.693145752, 1.42860677e-06];
/// ln 2: its first 42 digits, and the rest.
const LN_2_F64: [f64; 2] = [0.6931471805598903, 5.497923018708371e-14];

/// The logarithm of e to base 2 less its `f32`.
const LOG2_E_LOW_F32: f64 = 1.92596303e-08;
/// The logarithm of e to base 2 less its `f64`.
const LOG2_E_LOW_F64: f64 = 2.0355273740931033e-17;

/// Natural logarithm.
pub(super) fn log(e: &mut Emit<'_>, x: Value) -> Value {
    let (k, f) = split(e, x);
    let log = log_near_one(e, f);
    let ln_2 = e.pick(LN_2_F32, LN_2_F64);
    let ln_2 = e.double_word(ln_2);
    let whole = e.mul(k, ln_2.high);
    let sum = e.fast_two_sum(whole, log.high);
    let low = e.fma(k, ln_2.low, log.low);
    let low = e.add(sum.low, low);
    let result = e.add(sum.high, low);
    special_cases(e, x, result)
}

/// Logarithm to base 2.
pub(super) fn log2(e: &mut Emit<'_>, x: Value) -> Value {
    let (k, f) = split(e, x);
    let log = log_near_one(e, f);
    let low = e.pick(LOG2_E_LOW_F32, LOG2_E_LOW_F64);
    let log2_e = e.double_word([LOG2_E, low]);
    let log = e.mul_double_word(log, log2_e);
    let sum = e.fast_two_sum(k, log.high);
    let low = e.add(sum.low, log.low);
    let result = e.add(sum.high, low);
    special_cases(e, x, result)
}

/// Writes a positive number as `2^k (1 + f)`, with `1 + f` from `sqrt(1/2)` to `sqrt(2)`; `k` is a whole number. Of other
/// numbers, some finite `k` and `f`.
pub(super) fn split(e: &mut Emit<'_>, x: Value) -> (Value, Value) {
    let least_normal = e.pick(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
    let least_normal = e.number(least_normal);
    let subnormal = e.lt(x, least_normal);
    let digits = e.fraction_bits() + 1;
    let factor = e.number((1u64 << digits) as f64);
    let scaled = e.mul(x, factor);
    let x = e.select(subnormal, scaled, x);

    // In the bits of a number relative to those of sqrt(1/2), the exponent is `k`, and the fraction tells how far
    // `1 + f` is above sqrt(1/2).
    let bits = e.bitcast(x, e.int());
    let sqrt_half = e.integer(e.pick(0x3f35_04f3, 0x3fe6_a09e_667f_3bcc));
    let relative = e.sub(bits, sqrt_half);
    let exponent = e.shr(relative, e.fraction_bits());
    let mask = e.integer((1 << e.fraction_bits()) - 1);
    let fraction = e.and(relative, mask);
    let fraction = e.add(fraction, sqrt_half);
    let fraction = e.bitcast(fraction, e.float());
    let one = e.number(1.0);
    let f = e.sub(fraction, one);

    let k = e.cast(exponent, e.float());
    let shift = e.number(f64::from(digits));
    let shifted = e.sub(k, shift);
    (e.select(subnormal, shifted, k), f)
}

/// The natural logarithm of `1 + f`, to a few digits more than a number has.
fn log_near_one(e: &mut Emit<'_>, f: Value) -> DoubleWord {
    let two = e.number(2.0);
    let sum = e.add(f, two);
    let s = e.div(f, sum);
    let z = e.mul(s, s);
    let coefficients = e.pick(LOG_F32, LOG_F64);
    let rest = e.polynomial(z, coefficients);
    let half = e.number(0.5);
    let half_f = e.mul(f, half);
    let half_square = e.mul(half_f, f);
    let rest = e.fma(z, rest, half_square);
    let minus_half_square = e.neg(half_square);
    let sum = e.fast_two_sum(f, minus_half_square);
    let low = e.fma(s, rest, sum.low);
    DoubleWord { high: sum.high, low }
}

/// `result`, but for zero, infinity, NaN and what is less than zero.
fn special_cases(e: &mut Emit<'_>, x: Value, result: Value) -> Value {
    let infinity = e.number(f64::INFINITY);
    let finite = e.lt(x, infinity);
    let result = e.select(finite, result, x);
    let zero = e.number(0.0);
    let is_zero = e.eq(x, zero);
    let minus_infinity = e.number(f64::NEG_INFINITY);
    let result = e.select(is_zero, minus_infinity, result);
    let negative = e.lt(x, zero);
    let nan = e.number(f64::NAN);
    e.select(negative, nan, result)
}
