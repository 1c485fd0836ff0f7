//! `atan2`: the arc tangent of the smaller coordinate divided by the larger, and from it the angle by the octant.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::emit::Emit;
use crate::kernel::Value;

/// `(atan(q) / q - 1) / q^2` in `q^2`, for `|q| <= 1`, in `f32`; error of `atan` 2^-29.
const ATAN_F32: &[f64] = &[
    -0.333333343,
    0.199999496,
    -0.142840043,
    0.110882618,
    -0.089318268,
    0.0703191459,
    -0.0489605144,
    0.0263050012,
    -0.00914462935,
    0.00148869189,
];

/// The same in `f64`; error 2^-58.
const ATAN_F64: &[f64] = &[
    -0.3333333333333333,
    0.19999999999999554,
    -0.14285714285648404,
    0.11111111107234799,
    -0.09090908969557403,
    0.07692305354678655,
    -0.06666636435777692,
    0.05882074956371294,
    -0.05261265735709454,
    0.04752086773576656,
    -0.04308119655330471,
    0.03872640214042632,
    -0.033750132001619734,
    0.027567942297344678,
    -0.020238706986393514,
    0.012756172907694298,
    -0.006575683344151699,
    0.002622977891906089,
    -0.0007518472526973822,
    0.0001368724853148122,
    -1.1832505417555692e-05,
];

/// π/2 and π less their `f32` and `f64`.
const FRAC_PI_2_LOW_F32: f64 = -4.37113883e-08;
const FRAC_PI_2_LOW_F64: f64 = 6.123233995736766e-17;
const PI_LOW_F32: f64 = -8.74227766e-08;
const PI_LOW_F64: f64 = 1.2246467991473532e-16;

/// Angle of the point (`x`, `y`).
pub(super) fn atan2(e: &mut Emit<'_>, y: Value, x: Value) -> Value {
    let y_sign = e.sign_bit(y);
    let x_sign = e.sign_bit(x);
    let width = e.abs(x);
    let height = e.abs(y);
    let smaller = e.min(width, height);
    let larger = e.max(width, height);

    // 0 / 0 counts as 0 here, and infinity / infinity as 1.
    let zero = e.number(0.0);
    let one = e.number(1.0);
    let q = e.div(smaller, larger);
    let is_diagonal = e.eq(smaller, larger);
    let q = e.select(is_diagonal, one, q);
    let is_axis = e.eq(smaller, zero);
    let q = e.select(is_axis, zero, q);

    let z = e.mul(q, q);
    let coefficients = e.pick(ATAN_F32, ATAN_F64);
    let rest = e.polynomial(z, coefficients);
    let cube = e.mul(q, z);
    let angle = e.fma(cube, rest, q);
    let is_one = e.eq(q, one);
    let eighth = e.number(FRAC_PI_4);
    let angle = e.select(is_one, eighth, angle);

    // | octant            | angle    |
    // | x >= 0, |y| <= |x| | a        |
    // | x >= 0, |y| > |x|  | π/2 - a  |
    // | x < 0, |y| > |x|   | π/2 + a  |
    // | x < 0, |y| <= |x|  | π - a    |
    let is_steep = e.gt(height, width);
    let no_sign = e.unsigned(0);
    let is_left = e.ne(x_sign, no_sign);
    let flips = e.xor(is_steep, is_left);
    let minus_angle = e.neg(angle);
    let angle = e.select(flips, minus_angle, angle);
    let pi_low = e.pick(PI_LOW_F32, PI_LOW_F64);
    let pi = e.double_word([PI, pi_low]);
    let half_pi_low = e.pick(FRAC_PI_2_LOW_F32, FRAC_PI_2_LOW_F64);
    let half_pi = e.double_word([FRAC_PI_2, half_pi_low]);
    let high = e.select(is_left, pi.high, zero);
    let high = e.select(is_steep, half_pi.high, high);
    let low = e.select(is_left, pi.low, zero);
    let low = e.select(is_steep, half_pi.low, low);
    let angle = e.add(angle, low);
    let angle = e.add(high, angle);
    let angle = e.flip_sign(angle, y_sign);

    // `min` and `max` pass over a NaN.
    let x_is_nan = e.ne(x, x);
    let y_is_nan = e.ne(y, y);
    let is_nan = e.or(x_is_nan, y_is_nan);
    let nan = e.add(x, y);
    e.select(is_nan, nan, angle)
}
