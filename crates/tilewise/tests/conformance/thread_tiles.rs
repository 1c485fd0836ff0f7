//! Threads that each go through a tile of their own: on GPUs those of a block go through its tiles together.

use tilewise::prelude::*;

use crate::harness::each_device;

/// Elements of a tile.
const TILE: usize = 8;

#[kernel]
fn add_tiles(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let tile = block_idx().x * block_dim().x + thread_idx().x;
    let (out, a, b) = (out.tile(TILE, tile), a.tile(TILE, tile), b.tile(TILE, tile));
    for i in 0..out.dim(0) {
        out[i] = a[i] + b[i];
    }
}

#[kernel]
fn square_in_place(x: &mut TileTensor<u32, 1>, n: usize) {
    let start = (block_idx().x * block_dim().x + thread_idx().x) * TILE;
    for i in start..(start + TILE).min(n) {
        x[i] = x[i] * x[i] + (i as u32);
    }
}

#[kernel]
fn neighbours(out: &mut TileTensor<u64, 1>, a: &TileTensor<u64, 1>) {
    let start = thread_idx().x * TILE;
    for k in 0..TILE {
        let i = start + k;
        out[i] = a[i] + 10 * a[i + 1] + 100 * a[i / 2];
    }
}

#[kernel]
fn rounds_count(out: &mut TileTensor<u32, 1>) {
    let start = thread_idx().x * TILE;
    for k in 0..TILE {
        out[start + k] = (100 * thread_idx().x + k) as u32;
    }
}

#[kernel]
fn vectors(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let start = (block_idx().x * block_dim().x + thread_idx().x) * 4 * TILE;
    for k in 0..TILE {
        let i = start + 4 * k;
        out.store(i, a.load(i, 4) * 3.0);
    }
}

#[kernel]
fn tail_of_a_neighbour(out: &mut TileTensor<u32, 1>, last: &mut TileTensor<u32, 1>) {
    let t = thread_idx().x;
    for k in 0..TILE {
        out[t * TILE + k] = (t * TILE + k + 1) as u32;
    }
    last[t] = out[t * TILE + TILE - 1];
}

#[test]
fn tiles_of_every_size() {
    each_device(|ctx| {
        for threads in [1, 2, 32, 64, 100] {
            for n in [TILE, 5 * TILE + 3, 2 * threads * TILE, 3 * threads * TILE - 1] {
                let a = ctx.tensor_from_fn(row_major([n]), |[i]| i as f32)?;
                let b = ctx.tensor_from_fn(row_major([n]), |[i]| 0.5 * i as f32)?;
                let mut out = ctx.zeros::<f32, 1>(row_major([n]))?;
                let blocks = n.div_ceil(threads * TILE);
                ctx.enqueue_function(add_tiles(&mut out, &a, &b), grid_dim(blocks), block_dim(threads))?;
                let expected: Vec<f32> = (0..n).map(|i| 1.5 * i as f32).collect();
                assert_eq!(out.to_host()?, expected, "{n} by {threads}");

                let mut x = ctx.tensor_from_fn(row_major([n]), |[i]| i as u32 % 1000)?;
                ctx.enqueue_function(square_in_place(&mut x, n), grid_dim(blocks), block_dim(threads))?;
                let expected: Vec<u32> = (0..n as u32).map(|i| (i % 1000) * (i % 1000) + i).collect();
                assert_eq!(x.to_host()?, expected, "{n} by {threads}, in place");
            }
        }
        Ok(())
    });
}

#[test]
fn what_a_round_depends_on() {
    each_device(|ctx| {
        let threads = 64;
        let n = threads * TILE;
        let a = ctx.tensor_from_fn(row_major([n + 1]), |[i]| (i * i) as u64)?;
        let mut out = ctx.zeros::<u64, 1>(row_major([n]))?;
        ctx.enqueue_function(neighbours(&mut out, &a), grid_dim(1), block_dim(threads))?;
        let square = |i: usize| (i * i) as u64;
        let expected: Vec<u64> =
            (0..n).map(|i| square(i) + 10 * square(i + 1) + 100 * square(i / 2)).collect();
        assert_eq!(out.to_host()?, expected);

        // Which thread and which round counts: the threads keep their tiles.
        let mut out = ctx.zeros::<u32, 1>(row_major([n]))?;
        ctx.enqueue_function(rounds_count(&mut out), grid_dim(1), block_dim(threads))?;
        let expected: Vec<u32> = (0..n).map(|i| (100 * (i / TILE) + i % TILE) as u32).collect();
        assert_eq!(out.to_host()?, expected);

        // A thread reads what it has written.
        let mut last = ctx.zeros::<u32, 1>(row_major([threads]))?;
        ctx.enqueue_function(tail_of_a_neighbour(&mut out, &mut last), grid_dim(1), block_dim(threads))?;
        let expected: Vec<u32> = (1..=threads).map(|t| (t * TILE) as u32).collect();
        assert_eq!(last.to_host()?, expected);
        Ok(())
    });
}

#[test]
fn tiles_of_vectors() {
    each_device(|ctx| {
        let (threads, blocks) = (32, 3);
        let n = blocks * threads * 4 * TILE;
        let a = ctx.tensor_from_fn(row_major([n]), |[i]| i as f32)?;
        let mut out = ctx.zeros::<f32, 1>(row_major([n]))?;
        ctx.enqueue_function(vectors(&mut out, &a), grid_dim(blocks), block_dim(threads))?;
        let expected: Vec<f32> = (0..n).map(|i| 3.0 * i as f32).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}
