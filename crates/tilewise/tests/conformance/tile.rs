//! Tiles at a ragged edge.

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};

#[kernel]
fn number_tiles(out: &mut TileTensor<i32, 2>, counts: &mut TileTensor<usize, 2>) {
    let (row, col) = (block_idx().y, block_idx().x);
    let t = out.tile([2, 3], [row, col]);
    let count = t.size();
    for k in 0..count {
        let cols = t.dim(1);
        t[[k / cols, k % cols]] = (10 * (row * 3 + col) + k) as i32;
    }
    counts[[row, col]] = count;
}

/// TILE-1
#[test]
fn every_element_is_in_one_tile() {
    each_device(|ctx| {
        // 20 more elements behind the 35 of the tensor.
        let mut buffer = ctx.enqueue_create_buffer::<i32>(55)?;
        buffer.enqueue_fill(-1)?;
        let mut counts = ctx.zeros::<usize, 2>(row_major([3, 3]))?;
        let out = buffer.view_mut::<2>(row_major([5, 7]))?;
        ctx.enqueue_function(number_tiles(out, &mut counts), grid_dim((3, 3)), block_dim(1))?;
        assert_eq!(counts.to_host()?, [6, 6, 2, 6, 6, 2, 3, 3, 1]);
        let rows = [
            [0, 1, 2, 10, 11, 12, 20],
            [3, 4, 5, 13, 14, 15, 21],
            [30, 31, 32, 40, 41, 42, 50],
            [33, 34, 35, 43, 44, 45, 51],
            [60, 61, 62, 70, 71, 72, 80],
        ];
        let host = buffer.to_host()?;
        assert_eq!(host[..35], *rows.as_flattened());
        assert_eq!(host[35..], [-1; 20]);
        Ok(())
    });
}

#[kernel]
fn double_tile(out: &mut TileTensor<usize, 2>, a: &TileTensor<usize, 2>, #[comptime] size: [usize; 2]) {
    let at = [block_idx().y, block_idx().x];
    let (to, from) = (out.tile(size, at), a.tile(size, at));
    let (r, c) = (thread_idx().y, thread_idx().x);
    if r < from.dim(0) && c < from.dim(1) {
        to[[r, c]] = 2 * from[[r, c]];
    }
}

/// TILE-3
#[test]
fn a_tile_may_be_larger_than_the_tensor() {
    each_device(|ctx| {
        for ([rows, cols], size) in [([3, 2], [4, 4]), ([1, 9], [1, 4]), ([0, 5], [4, 4])] {
            let a = ctx.tensor_from_fn(row_major([rows, cols]), |[r, c]| r * 2 + c + 1)?;
            let mut out = ctx.zeros::<usize, 2>(row_major([rows, cols]))?;
            let grid = grid_dim((cols.div_ceil(size[1]), rows.div_ceil(size[0])));
            let block = block_dim((size[1], size[0]));
            ctx.enqueue_function(double_tile(&mut out, &a, size), grid, block)?;
            let expected: Vec<usize> = a.to_host()?.iter().map(|x| 2 * x).collect();
            assert_eq!(out.to_host()?, expected, "{rows} x {cols}");
        }
        Ok(())
    });
}

/// The number of the tile known while the kernel is described, by a value, and mixed.
#[kernel]
fn extents(out: &mut TileTensor<usize, 2>, a: &TileTensor<f32, 2>, two: usize) {
    let tiles = [a.tile([4, 4], [2, 1]), a.tile([4, 4], [two, 1]), a.tile([4, 4], [two, two - 1])];
    for (k, tile) in tiles.iter().enumerate() {
        out[[k, 0]] = tile.dim(0);
        out[[k, 1]] = tile.dim(1);
    }
    let past = a.tile([4, 4], [5, 0]);
    out[[3, 0]] = past.dim(0);
    out[[3, 1]] = past.dim(1);
}

#[test]
fn the_last_tile_tells_how_much_of_it_is_there() {
    each_device(|ctx| {
        let a = ctx.zeros::<f32, 2>(row_major([10, 7]))?;
        let mut out = ctx.zeros::<usize, 2>(row_major([4, 2]))?;
        ctx.enqueue_function(extents(&mut out, &a, 2), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [2, 3, 2, 3, 2, 3, 0, 4]);
        Ok(())
    });
}

/// Tiles of tiles, of ranks 1 and 3.
#[kernel]
fn nested(line: &mut TileTensor<usize, 1>, cube: &mut TileTensor<usize, 3>) {
    let (b, t) = (block_idx().x, thread_idx().x);
    let outer = line.tile(6, b);
    let inner = outer.tile(2, t);
    for i in 0..inner.dim(0) {
        inner[i] = 100 * b + 10 * t + i;
    }
    let outer = cube.tile([2, 2, 2], [b, 0, t]);
    for i in 0..outer.dim(0) {
        for j in 0..outer.dim(1) {
            for k in 0..outer.dim(2) {
                outer[[i, j, k]] = 1000 * b + 100 * t + 10 * i + j * 5 + k;
            }
        }
    }
}

#[test]
fn tiles_of_tiles_and_of_other_ranks() {
    each_device(|ctx| {
        let mut line = zeros(ctx, 11)?;
        let mut cube = ctx.zeros::<usize, 3>(row_major([3, 2, 5]))?;
        ctx.enqueue_function(nested(&mut line, &mut cube), grid_dim(2), block_dim(3))?;
        assert_eq!(line.to_host()?, [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120]);
        let expected: Vec<usize> = (0..30)
            .map(|n| {
                let (i, j, k) = (n / 10, n / 5 % 2, n % 5);
                1000 * (i / 2) + 100 * (k / 2) + 10 * (i % 2) + 5 * j + k % 2
            })
            .collect();
        assert_eq!(cube.to_host()?, expected);
        Ok(())
    });
}

/// Every thread takes every second row and every third column.
#[kernel]
fn distributed(out: &mut TileTensor<usize, 2>) {
    let t = thread_idx().x;
    let share = out.distribute(row_major([2, 3]), t);
    for r in 0..share.dim(0) {
        for c in 0..share.dim(1) {
            share[[r, c]] = 100 * t + 10 * r + c;
        }
    }
}

#[test]
fn threads_take_elements_in_turn() {
    each_device(|ctx| {
        for (rows, cols) in [(4, 6), (5, 7), (1, 2), (2, 3)] {
            let mut out = ctx.zeros::<usize, 2>(row_major([rows, cols]))?;
            ctx.enqueue_function(distributed(&mut out), grid_dim(1), block_dim(6))?;
            let expected: Vec<usize> = (0..rows * cols)
                .map(|n| {
                    let (r, c) = (n / cols, n % cols);
                    100 * (r % 2 * 3 + c % 3) + 10 * (r / 2) + c / 3
                })
                .collect();
            assert_eq!(out.to_host()?, expected, "{rows} x {cols}");
        }
        Ok(())
    });
}
