//! Minimum, maximum, clamping and comparisons with NaN.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, each_device};
use crate::operands::{binary, unary};

fn floats<T: Num, const N: usize>(values: [f64; N]) -> [T; N] {
    values.map(T::from_f64)
}

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

/// NAN-1
#[test]
fn the_extremes_ignore_one_nan() {
    fn check<T: Float + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let a = floats::<T, 5>([NAN, 2.0, NAN, INFINITY, -1.0]);
        let b = floats([2.0, NAN, NAN, NAN, NAN]);
        let expected = floats([2.0, 2.0, NAN, INFINITY, -1.0]);
        let pairs: Vec<(T, T)> = a.into_iter().zip(b).collect();
        let swapped: Vec<(T, T)> = b.into_iter().zip(a).collect();
        for pairs in [pairs, swapped] {
            let high = binary(ctx, |a: Val<T>, b: Val<T>| a.max(b), &pairs)?;
            assert_same(&high, &expected, "max");
            let low = binary(ctx, |a: Val<T>, b: Val<T>| a.min(b), &pairs)?;
            assert_same(&low, &expected, "min");
        }
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx)?;
        check::<f64>(ctx)?;
        check::<f16>(ctx)?;
        check::<bf16>(ctx)
    });
}

/// NAN-3
#[test]
fn clamp_keeps_nan() {
    fn check<T: Float + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let [low, high]: [T; 2] = floats([-2.0, 5.0]);
        let clamped =
            unary(ctx, move |x: Val<T>| x.clamp(low, high), &floats::<T, 4>([NAN, 7.0, -3.0, 1.5]))?;
        assert_same(&clamped, &floats([NAN, 5.0, -2.0, 1.5]), "clamp");
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx)?;
        check::<f64>(ctx)?;
        check::<f16>(ctx)?;
        check::<bf16>(ctx)
    });
}

/// One bit for each comparison that holds.
#[device]
fn comparisons<T: Float>(a: T, b: T) -> u32 {
    (a == b) as u32
        | ((a != b) as u32) << 1
        | ((a < b) as u32) << 2
        | ((a <= b) as u32) << 3
        | ((a > b) as u32) << 4
        | ((a >= b) as u32) << 5
}

#[test]
fn comparisons_with_nan_are_false_but_for_not_equal() {
    fn check<T: Float + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let pairs = [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (1.0, 2.0), (2.0, 1.0), (-0.0, 0.0)];
        let pairs = pairs.map(|(a, b)| (T::from_f64(a), T::from_f64(b)));
        let found = binary(ctx, |a: Val<T>, b: Val<T>| comparisons(a, b), &pairs)?;
        assert_eq!(found, [0b00_0010, 0b00_0010, 0b00_0010, 0b00_1110, 0b11_0010, 0b10_1001]);
        let kinds = unary(ctx, |a: Val<T>| a.is_nan(), &floats::<T, 3>([NAN, INFINITY, 0.0]))?;
        assert_eq!(kinds, [true, false, false]);
        let kinds =
            unary(ctx, |a: Val<T>| a.is_infinite(), &floats::<T, 4>([NAN, INFINITY, -INFINITY, 1.0]))?;
        assert_eq!(kinds, [false, true, true, false]);
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx)?;
        check::<f64>(ctx)?;
        check::<f16>(ctx)?;
        check::<bf16>(ctx)
    });
}
