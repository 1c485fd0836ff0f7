//! The same code with values known while the kernel is described and with values of the device.

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};
use crate::operands::{binary, unary};

#[device]
fn first_bit_of(word: u32) -> u32 {
    if word != 0 { 1 + word.trailing_zeros() } else { 0 }
}

/// Column 0 by a loop of the device, 1 by one that is unrolled up to a constant, 2 by one that is unrolled up to a
/// `#[comptime]` argument.
#[kernel]
fn first_set_bit(out: &mut TileTensor<u32, 2>, w: &TileTensor<u32, 2>, #[comptime] words: usize) {
    let t = thread_idx().x;
    let mut r = 0;
    for i in 0..4 {
        let p = first_bit_of(w[[t, i]]);
        if p != 0 {
            r += p;
            break;
        }
        r += 32;
    }
    out[[t, 0]] = r;

    let mut r = 0;
    for i in comptime(0..4) {
        let p = first_bit_of(w[[t, i]]);
        if p != 0 {
            r += p;
            break;
        }
        r += 32;
    }
    out[[t, 1]] = r;

    let mut r = 0;
    for i in comptime(0..words) {
        let p = first_bit_of(w[[t, i]]);
        if p != 0 {
            r += p;
            break;
        }
        r += 32;
    }
    out[[t, 2]] = r;
}

/// CTRT-1
#[test]
fn break_leaves_an_unrolled_loop() {
    each_device(|ctx| {
        let words = [[0, 0, 65_536, 5], [0, 0, 0, 0], [8, 0, 0, 0], [0, 2_147_483_648, 1, 1]];
        let w = ctx.tensor_from_fn(row_major([4, 4]), |[t, i]| words[t][i])?;
        let mut out = ctx.zeros(row_major([4, 3]))?;
        ctx.enqueue_function(first_set_bit(&mut out, &w, 4), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [81, 81, 81, 128, 128, 128, 4, 4, 4, 64, 64, 64]);
        Ok(())
    });
}

#[device]
fn greater(a: u32, b: u32) -> bool {
    a > b
}

#[device]
fn to_int(x: f32) -> i32 {
    x as i32
}

/// CTRT-3
#[test]
fn constants_follow_the_rules_of_the_device() {
    each_device(|ctx| {
        assert_eq!(binary(ctx, |a: Val<i32>, b: Val<i32>| a % b, &[(7, -3)])?, [1]);
        assert_eq!(binary(ctx, |a: Val<i32>, b: Val<i32>| a / b, &[(-7, 2)])?, [-3]);
        assert_eq!(binary(ctx, |a: Val<i32>, b: Val<i32>| a >> b, &[(-7, 1)])?, [-4]);
        assert_eq!(binary(ctx, |a: Val<u8>, b: Val<u8>| a + b, &[(255, 3)])?, [2]);
        assert_eq!(unary(ctx, to_int, &[1e10])?, [2_147_483_647]);
        assert_eq!(binary(ctx, |a: Val<f32>, b: Val<f32>| max(a, b), &[(f32::NAN, 1.0)])?, [1.0]);
        assert_eq!(binary(ctx, |a: Val<u32>, b: Val<u32>| a - b, &[(3, 5)])?, [4_294_967_294]);
        assert_eq!(binary(ctx, greater, &[(4_000_000_000, 1)])?, [true]);
        Ok(())
    });
}

/// Trip counts 0, 1, 3, 4, 5 and 9 as constants, as a `#[comptime]` argument and as an argument of the launch; and by
/// hand four at a time with the rest behind.
#[kernel]
fn polynomial<const N: u32>(out: &mut TileTensor<u32, 1>, #[comptime] plain: u32, n: u32) {
    let mut a: u32 = 0;
    for i in 0..N {
        a = a * 7 + i;
    }
    out[0] = a;

    a = 0;
    for i in comptime(0..plain) {
        a = a * 7 + i;
    }
    out[1] = a;

    a = 0;
    for i in 0..n {
        a = a * 7 + i;
    }
    out[2] = a;

    a = 0;
    for i in (0..n / 4 * 4).step_by(4) {
        for k in comptime(0..4) {
            a = a * 7 + (i + k);
        }
    }
    for i in n / 4 * 4..n {
        a = a * 7 + i;
    }
    out[3] = a;
}

/// CTRT-5
#[test]
fn a_trip_count_is_a_constant_or_an_argument() {
    fn check<const N: u32>(ctx: &DeviceContext, expected: u32) -> tilewise::Result<()> {
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(polynomial::<N>(&mut out, N, N), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [expected; 4], "{N} rounds");
        Ok(())
    }
    each_device(|ctx| {
        check::<0>(ctx, 0)?;
        check::<1>(ctx, 0)?;
        check::<3>(ctx, 9)?;
        check::<4>(ctx, 66)?;
        check::<5>(ctx, 466)?;
        check::<9>(ctx, 1_120_932)
    });
}
