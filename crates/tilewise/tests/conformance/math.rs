//! The functions of numbers, against those of Rust.
//!
//! What IEEE 754 defines to the last bit is compared so. Of the others (`exp`, `sin`, ...) devices differ: they are
//! compared with the value of `f64` and may be off by [`ULPS`] units in the last place.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, bits, each_device};
use crate::operands::{binary, unary, unary_branching};

/// How far a function that is not exact may be from the true value, in units in the last place.
const ULPS: f64 = 4.0;

/// A float type with the functions of Rust to compare with.
trait Reference: Float + Debug {
    /// Bits of the significand, the hidden one included.
    const DIGITS: i32;
    fn to_f64(self) -> f64;
}

macro_rules! references {
    ($($float:ty, $digits:literal, |$x:ident| $to:expr;)*) => {$(
        impl Reference for $float {
            const DIGITS: i32 = $digits;

            fn to_f64(self) -> f64 {
                let $x = self;
                $to
            }
        }
    )*};
}

references! {
    f32, 24, |x| x.into();
    f64, 53, |x| x;
    f16, 11, |x| x.into();
    bf16, 8, |x| x.into();
}

/// Asserts that `found` is as near to `exact` as a function may be in the type `T`.
fn assert_near<T: Reference>(found: T, exact: f64, what: &str) {
    let rounded = T::from_f64(exact);
    if found.to_const() == rounded.to_const() || found.to_f64().is_nan() && exact.is_nan() {
        return;
    }
    let (_, exponent) = frexp(exact);
    let ulp = 2f64.powi(exponent - T::DIGITS);
    let error = (found.to_f64() - exact).abs() / ulp;
    assert!(error <= ULPS, "{what}: {found:?} is {error} units from {exact}");
}

/// The exponent `e` with `2^(e-1) <= |x| < 2^e`, and the rest.
fn frexp(x: f64) -> (f64, i32) {
    let exponent = if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log2().floor() as i32 + 1 };
    (x / 2f64.powi(exponent), exponent)
}

const NUMBERS: [f64; 20] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.5,
    -2.5,
    3.75,
    -7.25,
    0.1,
    -0.3,
    100.5,
    1000.0,
    -1023.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Tests for a list of functions of one float, exact or near, in all four types.
macro_rules! float_functions {
    ($($name:ident $how:ident of $inputs:expr, |$x:ident| $exact:expr;)*) => {$(
        #[test]
        fn $name() {
            fn check<T: Reference>(ctx: &DeviceContext) -> tilewise::Result<Vec<tilewise::ir::Const>> {
                let inputs: Vec<T> = $inputs.into_iter().map(T::from_f64).collect();
                let found: Vec<T> = unary(ctx, |x: Val<T>| x.$name(), &inputs)?;
                let expected = inputs.iter().map(|input| {
                    let $x = input.to_f64();
                    $exact
                });
                float_functions!(@$how found, expected, inputs, $name);
                Ok(bits(&found))
            }
            each_device(|ctx| {
                Ok((check::<f32>(ctx)?, check::<f64>(ctx)?, check::<f16>(ctx)?, check::<bf16>(ctx)?))
            });
        }
    )*};
    (@exact $found:ident, $expected:ident, $inputs:ident, $name:ident) => {
        let expected: Vec<T> = $expected.map(T::from_f64).collect();
        let what = format!("{} of {:?} as {}", stringify!($name), $inputs, T::SCALAR);
        assert_same(&$found, &expected, &what);
    };
    (@near $found:ident, $expected:ident, $inputs:ident, $name:ident) => {
        for ((found, expected), input) in $found.iter().zip($expected).zip(&$inputs) {
            assert_near(*found, expected, &format!("{} of {input:?} as {}", stringify!($name), T::SCALAR));
        }
    };
}

float_functions! {
    abs exact of NUMBERS, |x| x.abs();
    signum exact of NUMBERS, |x| x.signum();
    floor exact of NUMBERS, |x| x.floor();
    ceil exact of NUMBERS, |x| x.ceil();
    round exact of NUMBERS, |x| x.round();
    round_ties_even exact of NUMBERS, |x| x.round_ties_even();
    trunc exact of NUMBERS, |x| x.trunc();
    // The root of a number of few bits is not near the middle of two others: rounding twice does not show.
    sqrt exact of NUMBERS, |x| x.sqrt();
    rsqrt near of [0.25, 0.3, 1.0, 2.0, 3.0, 100.0, 1e-3, 60_000.0], |x| 1.0 / x.sqrt();
    recip near of [0.25, -0.3, 1.0, 2.0, 3.0, -7.0, 1e-3, 1000.0], |x| 1.0 / x;
    exp near of [0.0, -0.0, 1.0, -1.0, 0.1, 5.5, -7.25, 10.0], |x| x.exp();
    exp2 near of [0.0, 1.0, -1.0, 0.5, 3.7, -8.25, 10.0], |x| x.exp2();
    ln near of [1.0, 2.0, 0.5, 0.1, 10.0, 1000.0, 1e-3], |x| x.ln();
    log near of [1.0, 2.75, 0.25, 60_000.0], |x| x.ln();
    log2 near of [1.0, 2.0, 0.5, 0.1, 10.0, 1024.0, 1e-3], |x| x.log2();
    sin near of [0.0, 0.5, 1.0, -1.5, 3.0, -6.0, 10.0], |x| x.sin();
    cos near of [0.0, 0.5, 1.0, -1.25, 3.0, -6.0, 10.0], |x| x.cos();
    tan near of [0.0, 0.5, 1.0, -1.25, 3.0, -6.0, 10.0], |x| x.tan();
    tanh near of [0.0, 0.1, -0.5, 1.0, 3.0, -20.0], |x| x.tanh();
}

#[test]
fn functions_at_the_edges() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    fn check<T: Reference>(
        ctx: &DeviceContext,
        function: impl Fn(Val<T>) -> Val<T> + Copy,
        pairs: &[(f64, f64)],
    ) -> tilewise::Result<()> {
        let (inputs, expected): (Vec<T>, Vec<T>) =
            pairs.iter().map(|&(x, y)| (T::from_f64(x), T::from_f64(y))).unzip();
        let found: Vec<T> = unary(ctx, function, &inputs)?;
        assert_same(&found, &expected, &format!("{inputs:?} as {}", T::SCALAR));
        Ok(())
    }
    fn all<T: Reference>(ctx: &DeviceContext) -> tilewise::Result<()> {
        check::<T>(ctx, |x| x.exp(), &[(INF, INF), (-INF, 0.0), (NAN, NAN), (0.0, 1.0)])?;
        check::<T>(ctx, |x| x.ln(), &[(0.0, -INF), (INF, INF), (-1.0, NAN), (NAN, NAN), (1.0, 0.0)])?;
        check::<T>(ctx, |x| x.sqrt(), &[(-1.0, NAN), (INF, INF), (-0.0, -0.0), (4.0, 2.0)])?;
        check::<T>(ctx, |x| x.rsqrt(), &[(0.0, INF), (INF, 0.0), (-1.0, NAN)])?;
        check::<T>(ctx, |x| x.recip(), &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (NAN, NAN)])?;
        check::<T>(ctx, |x| x.sin(), &[(INF, NAN), (NAN, NAN), (0.0, 0.0)])?;
        check::<T>(ctx, |x| x.cos(), &[(-INF, NAN), (0.0, 1.0)])?;
        check::<T>(ctx, |x| x.tanh(), &[(INF, 1.0), (-INF, -1.0), (NAN, NAN)])
    }
    each_device(|ctx| {
        all::<f32>(ctx)?;
        all::<f64>(ctx)?;
        all::<f16>(ctx)?;
        all::<bf16>(ctx)
    });
}

#[test]
fn powers_and_angles() {
    fn check<T: Reference>(ctx: &DeviceContext) -> tilewise::Result<Vec<tilewise::ir::Const>> {
        let pairs = [(2.0, 3.0), (2.0, -1.0), (9.0, 0.5), (1.5, 2.5), (10.0, 0.0), (0.0, 2.0)];
        let pairs = pairs.map(|(a, b)| (T::from_f64(a), T::from_f64(b)));
        let powers = binary(ctx, |a: Val<T>, b: Val<T>| a.powf(b), &pairs)?;
        for (found, (a, b)) in powers.iter().zip(pairs) {
            assert_near(*found, a.to_f64().powf(b.to_f64()), &format!("{a:?} to the power {b:?}"));
        }
        let bases = [2.0, -1.5, 0.25, 1.0, -3.0].map(T::from_f64);
        for exponent in [5, 2, 1, 0, -1, -3] {
            let powers = unary(ctx, |x: Val<T>| x.powi(exponent), &bases)?;
            for (found, x) in powers.iter().zip(bases) {
                assert_near(*found, x.to_f64().powi(exponent), &format!("{x:?} to the power {exponent}"));
            }
        }
        let pairs =
            [(1.0, 2.0), (-1.0, 2.0), (1.0, -2.0), (-1.0, -2.0), (0.0, 1.0), (1.0, 0.0), (-0.0, -1.0)];
        let pairs = pairs.map(|(y, x)| (T::from_f64(y), T::from_f64(x)));
        let angles = binary(ctx, |y: Val<T>, x: Val<T>| y.atan2(x), &pairs)?;
        for (found, (y, x)) in angles.iter().zip(pairs) {
            assert_near(*found, y.to_f64().atan2(x.to_f64()), &format!("atan2 of {y:?} and {x:?}"));
        }
        Ok([bits(&powers), bits(&angles)].concat())
    }
    each_device(|ctx| Ok((check::<f32>(ctx)?, check::<f64>(ctx)?, check::<f16>(ctx)?, check::<bf16>(ctx)?)));
}

/// One rounding: the product alone would lose the small part.
#[test]
fn multiply_and_add() {
    let small = 1.0 + f32::EPSILON;
    each_device(|ctx| {
        let pairs = [(small, small), (0.1, 10.0), (-3.0, 7.0), (f32::MAX, 2.0)];
        let found = binary(ctx, |a: Val<f32>, b: Val<f32>| a.mul_add(b, -1.0), &pairs)?;
        let expected = pairs.map(|(a, b)| a.mul_add(b, -1.0));
        assert_same(&found, &expected, "a * b - 1 as f32");

        let pairs = pairs.map(|(a, b)| (f64::from(a) + f64::EPSILON, f64::from(b)));
        let found = binary(ctx, |a: Val<f64>, b: Val<f64>| a.mul_add(b, -1.0), &pairs)?;
        let expected = pairs.map(|(a, b)| a.mul_add(b, -1.0));
        assert_same(&found, &expected, "a * b - 1 as f64");

        // The exact result of halves fits a double: 1/1024 squared is kept.
        let one = f16::from_bits(f16::ONE.to_bits() + 1);
        let found = binary(ctx, |a: Val<f16>, b: Val<f16>| a.mul_add(b, f16::NEG_ONE), &[(one, one)])?;
        let exact = f64::from(one) * f64::from(one) - 1.0;
        assert_same(&found, &[f16::from_f64(exact)], "a * b - 1 as f16");
        Ok(())
    });
}

#[kernel]
fn product_and_sum(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    out[0] = a[0] * a[0] - 1.0;
}

/// `a * b + c` is contracted to one rounding, unless that is turned off.
#[test]
fn contraction() {
    each_device(|ctx| {
        let small = 1.0 + f32::EPSILON;
        let a = crate::harness::vector(ctx, &[small])?;
        let mut out = crate::harness::zeros(ctx, 1)?;
        ctx.enqueue_function(product_and_sum(&mut out, &a), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [small.mul_add(small, -1.0)]);
        let launch = product_and_sum(&mut out, &a).no_contraction();
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [small * small - 1.0]);
        Ok(())
    });
}

/// Functions of integers, which wrap.
/// A test for each type of integer, so that they run side by side: some drivers take seconds for each kernel.
macro_rules! integers {
    ($($int:ident: $($signed:ident)?),+ $(,)?) => {
        mod integers {
            use super::*;
            $(
                #[test]
                fn $int() {
                    each_device(|ctx| {
                        let x = [0, 1, 2, 7, 100, $int::MAX, $int::MIN, $int::MAX - 1, $int::MIN + 1];
                        let pairs: Vec<($int, $int)> = x.iter().flat_map(|&a| x.map(|b| (a, b))).collect();
                        let each = |f: fn($int, $int) -> $int| pairs.iter().map(|&(a, b)| f(a, b)).collect::<Vec<_>>();
                        type V = Val<$int>;
                        assert_eq!(binary(ctx, |a: V, b: V| a.min(b), &pairs)?, each(|a, b| a.min(b)));
                        assert_eq!(binary(ctx, |a: V, b: V| max(a, b), &pairs)?, each(|a, b| a.max(b)));
                        assert_eq!(binary(ctx, |a: V, b: V| a + b, &pairs)?, each($int::wrapping_add));
                        assert_eq!(binary(ctx, |a: V, b: V| a - b, &pairs)?, each($int::wrapping_sub));
                        assert_eq!(binary(ctx, |a: V, b: V| a * b, &pairs)?, each($int::wrapping_mul));
                        let saturated = each($int::saturating_add);
                        assert_eq!(binary(ctx, |a: V, b: V| a.saturating_add(b), &pairs)?, saturated);
                        let saturated = each($int::saturating_sub);
                        assert_eq!(binary(ctx, |a: V, b: V| a.saturating_sub(b), &pairs)?, saturated);
                        let distances: Vec<_> = pairs.iter().map(|&(a, b)| a.abs_diff(b)).collect();
                        assert_eq!(binary(ctx, |a: V, b: V| a.abs_diff(b), &pairs)?, distances);
                        assert_eq!(unary(ctx, |a: V| a.pow(5), &x)?, x.map(|a| a.wrapping_pow(5)));
                        assert_eq!(unary(ctx, |a: V| a.pow(0), &x)?, [1; 9]);
                        assert_eq!(unary(ctx, |a: V| a.clamp(2, 50), &x)?, x.map(|a| a.clamp(2, 50)));
                        assert_eq!(unary(ctx, |a: V| !a, &x)?, x.map(|a| !a));
                        $(
                            let _ = stringify!($signed);
                            assert_eq!(unary(ctx, |a: V| a.abs(), &x)?, x.map($int::wrapping_abs));
                            assert_eq!(unary(ctx, |a: V| a.signum(), &x)?, x.map($int::signum));
                            assert_eq!(unary(ctx, |a: V| -a, &x)?, x.map($int::wrapping_neg));
                        )?
                        let divisors: Vec<($int, $int)> = pairs.iter().copied().filter(|&(_, b)| b != 0).collect();
                        let each = |f: fn($int, $int) -> $int| divisors.iter().map(|&(a, b)| f(a, b)).collect::<Vec<_>>();
                        assert_eq!(binary(ctx, |a: V, b: V| a / b, &divisors)?, each($int::wrapping_div));
                        assert_eq!(binary(ctx, |a: V, b: V| a % b, &divisors)?, each($int::wrapping_rem));
                        assert_eq!(
                            binary(ctx, |a: V, b: V| a.div_euclid(b), &divisors)?,
                            each($int::wrapping_div_euclid)
                        );
                        assert_eq!(
                            binary(ctx, |a: V, b: V| a.rem_euclid(b), &divisors)?,
                            each($int::wrapping_rem_euclid)
                        );
                        Ok(())
                    });
                }
            )+
        }
    };
}

integers! { i8: signed, i16: signed, i32: signed, i64: signed, u8:, u16:, u32:, u64: }

#[kernel]
fn neighbours(out: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    let last = x.dim(0) - 1;
    out[i] =
        x[i.saturating_sub(1)] + 100.0 * x[min(i.saturating_add(2), last)] + (10_000 * i.abs_diff(3)) as f32;
}

/// Indices saturate as `usize` does, however wide a device makes them.
#[test]
fn indices() {
    each_device(|ctx| {
        let x: [f32; 7] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let input = crate::harness::vector(ctx, &x)?;
        let mut out = crate::harness::zeros(ctx, 7)?;
        ctx.enqueue_function(neighbours(&mut out, &input), grid_dim(1), block_dim(7))?;
        let expected = |i: usize| {
            x[i.saturating_sub(1)] + 100.0 * x[i.saturating_add(2).min(6)] + (10_000 * i.abs_diff(3)) as f32
        };
        assert_eq!(out.to_host()?, (0..7).map(expected).collect::<Vec<_>>());
        Ok(())
    });
}

#[device]
fn from_bits_and_back(x: f32) -> f32 {
    let sign = x.to_bits() >> 31;
    let magnitude = (x.to_bits() & 0x7fff_ffff).from_bits_as::<f32>();
    if sign == 1 { -magnitude } else { magnitude }
}

#[test]
fn bits_of_floats() {
    each_device(|ctx| {
        let x = [0.0f32, -0.0, 1.5, -2.25e-30, f32::MIN_POSITIVE / 4.0, f32::INFINITY];
        assert_same(&unary_branching(ctx, from_bits_and_back, &x)?, &x, "there and back");
        assert_eq!(unary(ctx, |x: Val<f32>| x.to_bits(), &x)?, x.map(f32::to_bits));
        let x = x.map(f64::from);
        assert_eq!(unary(ctx, |x: Val<f64>| x.to_bits(), &x)?, x.map(f64::to_bits));
        let x = x.map(f16::from_f64);
        assert_eq!(unary(ctx, |x: Val<f16>| x.to_bits(), &x)?, x.map(f16::to_bits));
        let x = [bf16::ONE, bf16::MIN];
        assert_eq!(unary(ctx, |x: Val<bf16>| x.to_bits(), &x)?, x.map(bf16::to_bits));
        Ok(())
    });
}

type Operator<T> = fn(T, T) -> T;

/// Arithmetic of floats is that of the host, to the bit.
#[test]
fn arithmetic_of_floats() {
    macro_rules! operators {
        () => {
            [|a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b, |a, b| a % b]
        };
    }
    fn check<T: Reference>(ctx: &DeviceContext, host: [Operator<T>; 5]) -> tilewise::Result<()> {
        let values = [0.0, -0.0, 1.0, -1.5, 0.1, 3e-5, -7e4, f64::INFINITY, f64::NAN].map(T::from_f64);
        let pairs: Vec<(T, T)> = values.iter().flat_map(|&a| values.map(|b| (a, b))).collect();
        let device: [Operator<Val<T>>; 5] = operators!();
        for ((device, host), name) in device.into_iter().zip(host).zip(["+", "-", "*", "/", "%"]) {
            let expected: Vec<T> = pairs.iter().map(|&(a, b)| host(a, b)).collect();
            assert_same(&binary(ctx, device, &pairs)?, &expected, &format!("{name} of {}", T::SCALAR));
        }
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx, operators!())?;
        check::<f64>(ctx, operators!())?;
        check::<f16>(ctx, operators!())?;
        check::<bf16>(ctx, operators!())
    });
}
