//! `exp` and `exp2`, and the exponential function near zero on which `pow` and `tanh` build too.
//!
//! The argument is written as `n ln 2 + t` with `|t| <= ln 2 / 2`, `t` in double-word arithmetic so that the reduction
//! costs no digit, and the result is `2^n e^t`.

use std::f64::consts::{LN_2, LOG2_E};

use super::double_word::DoubleWord;
use super::emit::Emit;
use crate::kernel::Value;

/// `(e^t - 1 - t) / t^2` for `|t| <= ln 2 / 2`, in `f32`; error of `e^t` 2^-32.
const EXP_F32: &[f64] = &[0.5, 0.166666672, 0.041666463, 0.00833331048, 0.00139336672, 0.0001989101];

/// The same in `f64`; error 2^-68.
const EXP_F64: &[f64] = &[
    0.5,
    0.16666666666666666,
    0.04166666666666668,
    0.008333333333333333,
    0.001388888888887906,
    0.0001984126984126329,
    2.48015873364817e-05,
    2.755731924724503e-06,
    2.7557263236863376e-07,
    2.5052071066149638e-08,
    2.0918153355978567e-09,
    1.6086638366705033e-10,
];

/// ln 2 less its `f32`.
const LN_2_LOW_F32: f64 = -1.90465421e-09;
/// ln 2 less its `f64`.
const LN_2_LOW_F64: f64 = 2.3190468138462996e-17;

/// e to the `x`.
pub(super) fn exp(e: &mut Emit<'_>, x: Value) -> Value {
    // Beyond these the result is 0 or infinite anyway.
    let range = e.pick([-104.0, 89.0], [-746.0, 710.0]);
    let x = clamp(e, x, range);
    let (n, t) = reduce(e, x);
    let power = exp_near_zero(e, t);
    scale(e, power, n)
}

/// 2 to the `x`.
pub(super) fn exp2(e: &mut Emit<'_>, x: Value) -> Value {
    let range = e.pick([-151.0, 129.0], [-1076.0, 1025.0]);
    let x = clamp(e, x, range);
    let n = e.round_even(x);
    let rest = e.sub(x, n);
    let ln_2 = ln_2(e);
    let t = e.mul_number(ln_2, rest);
    let power = exp_near_zero(e, t);
    scale(e, power, n)
}

/// Writes `x` as `n ln 2 + t`; `n` is a whole number. Not for numbers whose power is far out of range.
pub(super) fn reduce(e: &mut Emit<'_>, x: Value) -> (Value, DoubleWord) {
    let log2_e = e.number(LOG2_E);
    let n = e.mul(x, log2_e);
    let n = e.round_even(n);
    let ln_2 = ln_2(e);
    let minus_n = e.neg(n);
    // Exact: the difference is less than 1/2, and both terms are multiples of the last place of numbers in [1/4, 1/2).
    let high = e.fma(minus_n, ln_2.high, x);
    let low = e.mul(minus_n, ln_2.low);
    (n, e.fast_two_sum(high, low))
}

/// e to the `t`, for `|t| <= ln 2 / 2`.
pub(super) fn exp_near_zero(e: &mut Emit<'_>, t: DoubleWord) -> Value {
    let one = e.number(1.0);
    let linear = e.fast_two_sum(one, t.high);
    // e^(high + low) = e^high + low e^high + ...
    let low = e.fma(t.low, linear.high, linear.low);
    let coefficients = e.pick(EXP_F32, EXP_F64);
    let rest = e.polynomial(t.high, coefficients);
    let square = e.mul(t.high, t.high);
    let low = e.fma(square, rest, low);
    e.add(linear.high, low)
}

/// `a` times 2 to the `n`, a whole number; rounded once where the result is subnormal. `n` may be twice as large as the
/// largest exponent.
pub(super) fn scale(e: &mut Emit<'_>, a: Value, n: Value) -> Value {
    let n = e.cast(n, e.int());
    let first = e.shr(n, 1);
    let second = e.sub(n, first);
    let factor = e.power_of_two(first);
    let a = e.mul(a, factor);
    let factor = e.power_of_two(second);
    e.mul(a, factor)
}

/// ln 2.
pub(super) fn ln_2(e: &mut Emit<'_>) -> DoubleWord {
    let low = e.pick(LN_2_LOW_F32, LN_2_LOW_F64);
    e.double_word([LN_2, low])
}

/// The nearest number between two, and NaN if `x` is.
fn clamp(e: &mut Emit<'_>, x: Value, [low, high]: [f64; 2]) -> Value {
    let low = e.number(low);
    let below = e.lt(x, low);
    let x = e.select(below, low, x);
    let high = e.number(high);
    let above = e.gt(x, high);
    e.select(above, high, x)
}
