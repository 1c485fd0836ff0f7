//! Shifts: by type, of narrow values, by counts beyond the width.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::each_device;
use crate::operands::{binary, unary};

/// SHIFT-1
#[test]
fn right_shifts_are_logical_for_unsigned_and_arithmetic_for_signed() {
    fn check<T: Int + Debug>(ctx: &DeviceContext, bits: T, expected: T) -> tilewise::Result<()> {
        assert_eq!(unary(ctx, |x: Val<T>| x >> 3, &[bits])?, [expected]);
        assert_eq!(binary(ctx, |x: Val<T>, n: Val<i32>| x >> n, &[(bits, 3)])?, [expected]);
        Ok(())
    }
    each_device(|ctx| {
        check(ctx, 0x8000_0013u32, 268_435_458)?;
        check(ctx, 0x8000_0013u32 as i32, -268_435_454)?;
        check(ctx, 0x8013u16, 4098)?;
        check(ctx, 0x8013u16 as i16, -4094)?;
        check(ctx, 0x93u8, 18)?;
        check(ctx, 0x93u8 as i8, -14)
    });
}

/// SHIFT-3
#[test]
fn a_narrow_difference_wraps_before_the_shift() {
    each_device(|ctx| {
        let shifted = |x: Val<u8>, n: Val<u8>| (0 - x) >> n;
        assert_eq!(binary(ctx, shifted, &[(1, 7), (200, 4)])?, [1, 3]);
        let shifted = |x: Val<u16>, n: Val<u16>| (0 - x) >> n;
        assert_eq!(binary(ctx, shifted, &[(3, 13), (40_000, 9)])?, [7, 49]);
        Ok(())
    });
}

/// As `wrapping_shl` and `wrapping_shr`: the count is taken modulo the width.
#[test]
fn counts_are_masked() {
    each_device(|ctx| {
        let left = [(1i32, 31u32), (1, 32), (1, 33), (5, 64)];
        assert_eq!(binary(ctx, |x: Val<i32>, n: Val<u32>| x << n, &left)?, [i32::MIN, 1, 2, 5]);
        let left = [(1u8, 7u64), (1, 8), (3, 15), (1, 256)];
        assert_eq!(binary(ctx, |x: Val<u8>, n: Val<u64>| x << n, &left)?, [128, 1, 128, 1]);
        let right = [(i64::MIN, 63i8), (i64::MIN, 64), (-8, 65)];
        assert_eq!(binary(ctx, |x: Val<i64>, n: Val<i8>| x >> n, &right)?, [-1, i64::MIN, -4]);
        Ok(())
    });
}
