//! The width of integers in index arithmetic.

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};
use crate::operands::binary;

#[device]
fn widened_before(row: u32, pitch: u32) -> u64 {
    row as u64 * pitch as u64
}

#[device]
fn widened_after(row: u32, pitch: u32) -> u64 {
    (row * pitch) as u64
}

/// INDEX-1
#[test]
fn a_product_is_as_wide_as_its_operands() {
    each_device(|ctx| {
        let operands = [(70_000u32, 65_537u32)];
        assert_eq!(binary(ctx, widened_before, &operands)?, [4_587_590_000]);
        assert_eq!(binary(ctx, widened_after, &operands)?, [292_622_704]);
        Ok(())
    });
}

#[kernel]
fn stepped(out: &mut TileTensor<u32, 1>, start: u32, end: u32, step: u32) {
    let (mut count, mut last) = (0, 0);
    for i in (start..end).step_by(step) {
        count += 1;
        last = i;
    }
    out[0] = count;
    out[1] = last;
}

/// INDEX-3
#[test]
fn a_stepped_range_ends_near_the_top_of_its_type() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 2)?;
        let launch = stepped(&mut out, 7, 4_294_967_290, 1_073_741_824);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [4, 3_221_225_479]);
        Ok(())
    });
}

/// The index type has 64 bits where a number needs them.
#[kernel]
fn large_indices(out: &mut TileTensor<u64, 1>, n: usize) {
    let square = n * n;
    out[0] = square as u64;
    out[1] = (square / 3) as u64;
    out[2] = (square % 1000) as u64;
}

#[test]
fn an_index_does_not_wrap_at_32_bits() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 3)?;
        ctx.enqueue_function(large_indices(&mut out, 100_000), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [10_000_000_000, 3_333_333_333, 0]);
        Ok(())
    });
}
