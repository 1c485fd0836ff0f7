//! Grids: empty ones, large ones, and blocks in any order.

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};

#[kernel]
fn add_one(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, n: usize) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    if gid < n {
        out[gid] = a[gid] + 1;
    }
}

/// GRID-1
#[test]
fn an_empty_grid_succeeds_and_does_nothing() {
    each_device(|ctx| {
        for len in [0, 4] {
            let a = ctx.full::<u32, 1>(row_major([len]), 5)?;
            let mut out = ctx.full::<u32, 1>(row_major([len]), 9)?;
            for grid in [(0, 0, 0), (0, 1, 1), (5, 0, 1)] {
                for _ in 0..2 {
                    ctx.enqueue_function(add_one(&mut out, &a, len), grid_dim(grid), block_dim(32))?;
                }
            }
            let blocks = 0usize.div_ceil(32);
            ctx.enqueue_function(add_one(&mut out, &a, 0), grid_dim(blocks), block_dim(32))?;
            elementwise(ctx, 4, [0], tilewise::kernel!([mut out, a] |[i]| out[i] = a[i]))?;
            assert_eq!(out.to_host()?, vec![9; len]);
        }
        Ok(())
    });
}

/// A grid that is not empty on tensors that are.
#[test]
fn a_tensor_without_elements_is_an_argument_like_another() {
    each_device(|ctx| {
        let (a, mut out) = (zeros(ctx, 0)?, zeros(ctx, 0)?);
        ctx.enqueue_function(add_one(&mut out, &a, 0), grid_dim(2), block_dim(8))?;
        assert!(out.to_host()?.is_empty());
        Ok(())
    });
}

#[kernel]
fn count_blocks(count: &mut TileTensor<u32, 1>) {
    if thread_idx().x == 0 {
        count.atomic(0).fetch_add(1);
    }
}

/// GRID-3
#[test]
fn a_grid_runs_all_its_blocks_or_is_refused() {
    each_device(|ctx| {
        let limits = ctx.device_info().limits.max_grid_dim;
        for (axis, blocks) in [(1, 70_000), (2, 65_536), (0, 70_000)] {
            let mut count = zeros(ctx, 1)?;
            let mut grid = [1; 3];
            grid[axis] = blocks;
            let launched = ctx.enqueue_function(count_blocks(&mut count), grid_dim(grid), block_dim(32));
            if blocks <= limits[axis] {
                launched?;
                assert_eq!(count.to_host()?, [blocks as u32]);
            } else {
                let message = launched.expect_err("over the limit").to_string();
                let axis = ["along x", "along y", "along z"][axis];
                assert!(message.contains(axis) && message.contains(&blocks.to_string()), "{message}");
                assert!(message.contains("65535"), "{message}");
                assert_eq!(count.to_host()?, [0]);
            }
        }
        Ok(())
    });
}

#[kernel]
fn block_numbers(out: &mut TileTensor<usize, 1>, sum: &mut TileTensor<u32, 1>) {
    let bid = block_idx().x;
    let gid = bid * block_dim().x + thread_idx().x;
    out[gid] = 3 * gid + bid;
    if thread_idx().x == 0 {
        sum.atomic(0).fetch_add(bid as u32);
    }
}

/// GRID-5
#[test]
fn blocks_run_in_any_order() {
    let expected: Vec<usize> = (0..185).map(|i| 3 * i + i / 5).collect();
    each_device(|ctx| {
        let (mut out, mut sum) = (zeros(ctx, 185)?, zeros(ctx, 1)?);
        ctx.enqueue_function(block_numbers(&mut out, &mut sum), grid_dim(37), block_dim(5))?;
        assert_eq!(out.to_host()?, expected);
        assert_eq!(sum.to_host()?, [666]);
        Ok(())
    });
}

#[kernel]
fn coordinates(out: &mut TileTensor<usize, 3>) {
    let (t, b, n, g) = (thread_idx(), block_idx(), block_dim(), grid_dim());
    let (x, y, z) = (b.x * n.x + t.x, b.y * n.y + t.y, b.z * n.z + t.z);
    let block = (b.z * g.y + b.y) * g.x + b.x;
    let thread = (t.z * n.y + t.y) * n.x + t.x;
    out[[z, y, x]] = block * 1000 + thread;
}

#[test]
fn grids_and_blocks_have_three_axes() {
    each_device(|ctx| {
        let mut out = ctx.zeros(row_major([4, 6, 8]))?;
        ctx.enqueue_function(coordinates(&mut out), grid_dim((4, 2, 2)), block_dim((2, 3, 2)))?;
        let expected: Vec<usize> = (0..4 * 6 * 8)
            .map(|i| {
                let (z, y, x) = (i / 48, i / 8 % 6, i % 8);
                let block = (z / 2 * 2 + y / 3) * 4 + x / 2;
                let thread = (z % 2 * 3 + y % 3) * 2 + x % 2;
                block * 1000 + thread
            })
            .collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}
