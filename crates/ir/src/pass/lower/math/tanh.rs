//! `tanh`: a polynomial near zero, else `1 - 2 / (e^(2|x|) + 1)`.

use super::emit::Emit;
use super::exp;
use crate::kernel::Value;

/// Below this the polynomial is used. Above, `tanh` is more than 1/2, so the subtraction from 1 loses no digit.
const BOUND: f64 = 0.55;

/// `(tanh(x) / x - 1) / x^2` in `x^2`, for `|x| <= 0.5625`, in `f32`; error of `tanh` 2^-32.
const TANH_F32: &[f64] =
    &[-0.333333343, 0.133333221, -0.0539640635, 0.0218119025, -0.00849924795, 0.00248761475];

/// The same in `f64`; error 2^-58.
const TANH_F64: &[f64] = &[
    -0.3333333333333333,
    0.13333333333332392,
    -0.0539682539670594,
    0.021869488476962563,
    -0.008863234021529514,
    0.003592105532132769,
    -0.0014556239774192678,
    0.0005887537111834804,
    -0.00023410556936672797,
    8.426522203958066e-05,
    -2.0026740085317684e-05,
];

/// Hyperbolic tangent.
pub(super) fn tanh(e: &mut Emit<'_>, x: Value) -> Value {
    let sign = e.sign_bit(x);
    let magnitude = e.abs(x);

    let z = e.mul(magnitude, magnitude);
    let coefficients = e.pick(TANH_F32, TANH_F64);
    let rest = e.polynomial(z, coefficients);
    let cube = e.mul(magnitude, z);
    let near_zero = e.fma(cube, rest, magnitude);

    // From there on the result is 1.
    let limit = e.number(e.pick(10.0, 22.0));
    let above = e.gt(magnitude, limit);
    let limited = e.select(above, limit, magnitude);
    let twice = e.add(limited, limited);
    let (n, t) = exp::reduce(e, twice);
    let power = exp::exp_near_zero(e, t);
    let n = e.cast(n, e.int());
    let factor = e.power_of_two(n);
    let power = e.mul(power, factor);
    let one = e.number(1.0);
    let two = e.number(2.0);
    let divisor = e.add(power, one);
    let quotient = e.div(two, divisor);
    let far = e.sub(one, quotient);

    let bound = e.number(BOUND);
    let is_near = e.lt(magnitude, bound);
    let result = e.select(is_near, near_zero, far);
    e.flip_sign(result, sign)
}
