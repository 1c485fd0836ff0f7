//! Elements of 8 and 16 bits, and `bool`.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};
use crate::operands::{binary, unary};

#[device]
fn wide<T: Int, R: Int>(x: T) -> R {
    x as R
}

#[device]
fn half_the_sum(a: i8, b: i8) -> i32 {
    ((a + b) / 2) as i32
}

/// NARROW-1
#[test]
fn narrow_sums_wrap_and_widening_keeps_the_sign() {
    each_device(|ctx| {
        assert_eq!(binary(ctx, |a: Val<u8>, b: Val<u8>| (a + b) / 2, &[(200, 100)])?, [22]);
        assert_eq!(binary(ctx, half_the_sum, &[(100, 100)])?, [-28]);
        assert_eq!(unary(ctx, wide::<i8, i32>, &[-3])?, [-3]);
        assert_eq!(unary(ctx, wide::<u8, i32>, &[253])?, [253]);
        assert_eq!(unary(ctx, wide::<i16, i64>, &[-32_768])?, [-32_768]);
        assert_eq!(unary(ctx, wide::<u32, i64>, &[3_000_000_000])?, [3_000_000_000]);
        Ok(())
    });
}

#[kernel]
fn all_but_one(out: &mut TileTensor<u8, 1>) {
    let tid = thread_idx().x;
    if tid != 5 {
        out[tid] = (0xf0 + tid) as u8;
    }
}

/// NARROW-3
#[test]
fn neighbouring_bytes_are_written_by_themselves() {
    each_device(|ctx| {
        let mut out = ctx.full::<u8, 1>(row_major([8]), 0x11)?;
        ctx.enqueue_function(all_but_one(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0x11, 0xf6, 0xf7]);
        Ok(())
    });
}

#[kernel]
fn flags(
    flag: &mut TileTensor<bool, 1>,
    bytes: &mut TileTensor<u8, 1>,
    x: &TileTensor<u32, 1>,
    invert: bool,
) {
    let shared = stack_allocation::<bool, 1>(AddressSpace::Shared, row_major([8]));
    let t = thread_idx().x;
    shared[t] = (x[t] & 6) != 0;
    barrier();
    flag[t] = shared[t] != invert;
    bytes[t] = flag[t] as u8;
}

#[kernel]
fn count(n: &mut TileTensor<u32, 1>, flag: &TileTensor<bool, 1>) {
    for t in 0..flag.dim(0) {
        n[0] += flag[t] as u32;
    }
}

/// NARROW-5
#[test]
fn a_stored_truth_value_is_0_or_1() {
    each_device(|ctx| {
        let x = vector(ctx, &[0, 1, 2, 4, 6, 7, 8, 9])?;
        for (invert, expected) in [(false, [0, 0, 1, 1, 1, 1, 0, 0]), (true, [1, 1, 0, 0, 0, 0, 1, 1])] {
            let (mut flag, mut bytes) = (zeros(ctx, 8)?, zeros(ctx, 8)?);
            ctx.enqueue_function(flags(&mut flag, &mut bytes, &x, invert), grid_dim(1), block_dim(8))?;
            assert_eq!(bytes.to_host()?, expected);
            assert_eq!(flag.to_host()?, expected.map(|byte| byte == 1));
            let mut n = zeros(ctx, 1)?;
            ctx.enqueue_function(count(&mut n, &flag), grid_dim(1), block_dim(1))?;
            assert_eq!(n.to_host()?, [4]);
        }
        Ok(())
    });
}

/// NARROW-7
#[test]
fn bits_are_counted_in_the_width_of_the_type() {
    fn check<T: Int + Debug>(ctx: &DeviceContext, x: T, expected: (u32, u32, u32)) -> tilewise::Result<()> {
        assert_eq!(unary(ctx, |x: Val<T>| x.count_ones(), &[x])?, [expected.0], "ones of {x:?}");
        assert_eq!(unary(ctx, |x: Val<T>| x.leading_zeros(), &[x])?, [expected.1], "leading zeros of {x:?}");
        assert_eq!(
            unary(ctx, |x: Val<T>| x.trailing_zeros(), &[x])?,
            [expected.2],
            "trailing zeros of {x:?}"
        );
        Ok(())
    }
    each_device(|ctx| {
        check(ctx, 0x00f0_0000_0000_3000u64, (6, 8, 12))?;
        check(ctx, 0u64, (0, 64, 64))?;
        check(ctx, 0x0001_0000u32, (1, 15, 16))?;
        check(ctx, 0x0180u16, (2, 7, 7))?;
        check(ctx, 0u8, (0, 8, 8))?;
        check(ctx, -1i64, (64, 0, 0))?;
        check(ctx, -1i8, (8, 0, 0))?;
        check(ctx, i16::MIN, (1, 0, 15))
    });
}
