//! Floats of 16 bits: rounding, and arithmetic in their own precision.

use tilewise::prelude::*;

use crate::harness::{assert_same, each_device, zeros};
use crate::operands::{binary, unary};

#[device]
fn half_bits(x: f32) -> u16 {
    (x as f16).to_bits()
}

/// HALF-1
#[test]
fn singles_round_to_halves() {
    let power = |n: i32| 2.0f32.powi(n);
    let x = [
        1.0 + power(-11),
        1.0 + 3.0 * power(-11),
        1.0 + power(-11) + power(-20),
        65_519.0,
        65_520.0,
        power(-24),
        power(-25),
        1.5 * power(-25),
        0.99999,
        -0.12499,
    ];
    each_device(|ctx| {
        let bits = unary(ctx, half_bits, &x)?;
        let expected = [0x3c00, 0x3c02, 0x3c01, 0x7bff, 0x7c00, 0x0001, 0x0000, 0x0001, 0x3c00, 0xb000];
        assert_eq!(bits, expected);
        Ok(())
    });
}

#[kernel]
fn accumulate(out: &mut TileTensor<f32, 1>, rounds: u32) {
    let one = f16::ONE;
    let mut half: f16 = f16::ZERO;
    let mut single: f32 = 0.0;
    for _ in 0..rounds {
        half += one;
        single += one as f32;
    }
    out[0] = half as f32;
    out[1] = single;
}

/// HALF-3
#[test]
fn an_accumulator_has_the_precision_of_its_type() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(accumulate(&mut out, 4096), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [2048.0, 4096.0]);
        Ok(())
    });
}

/// Each operation rounds to the type, as the operators of the crate `half` do.
#[test]
fn arithmetic_rounds_after_each_operation() {
    let numbers = [1.0, 0.1, -3.7, 2049.0, 65_504.0, 6e-8, 0.333];
    macro_rules! check {
        ($ctx:ident, $half:ident, $($operator:tt)*) => {$({
            let pairs: Vec<($half, $half)> = numbers
                .iter()
                .flat_map(|&a| numbers.map(|b| ($half::from_f64(a), $half::from_f64(b))))
                .collect();
            let found = binary($ctx, |a: Val<$half>, b: Val<$half>| a $operator b, &pairs)?;
            let expected: Vec<$half> = pairs.iter().map(|&(a, b)| a $operator b).collect();
            assert_same(&found, &expected, stringify!($half $operator));
        })*};
    }
    each_device(|ctx| {
        check!(ctx, f16, + - * / %);
        check!(ctx, bf16, + - * / %);
        Ok(())
    });
}
