//! Puzzle 16: matrix multiplication.
//!
//! `output = a * b` for square matrices, with one thread for each element of `output`. Three kernels do it:
//!
//! - `naive`: each thread reads its row of `a` and its column of `b` from global memory.
//! - `single_block`: the block copies both matrices to shared memory first, so that each element is read from global
//!   memory once.
//! - `tiled`: for matrices larger than a block, tile by tile.
//!
//! Rows are numbered along y, columns along x.
//!
//! Fill in the gaps, then: `cargo puzzle p16 --naive`, `--single-block`, `--tiled`

use tilewise::prelude::*;

use crate::check::{Verdict, compare};

/// Threads of a block along x, and along y.
const TPB: usize = 3;

/// Rows and columns for the first two kernels.
const SIZE: usize = 2;

const BLOCKS_PER_GRID: (usize, usize) = (1, 1);
const THREADS_PER_BLOCK: (usize, usize) = (TPB, TPB);

#[kernel]
fn naive_matmul<const SIZE: usize>(
    output: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;

    // FILL ME IN (roughly 6 lines)
}

#[kernel]
fn single_block_matmul<const SIZE: usize>(
    output: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;
    let local_row = thread_idx().y;
    let local_col = thread_idx().x;

    // FILL ME IN (roughly 12 lines)
}

/// Rows and columns for the tiled kernel.
const SIZE_TILED: usize = 9;

/// Each block computes a tile of 3 by 3 elements.
const BLOCKS_PER_GRID_TILED: (usize, usize) = (3, 3);
const THREADS_PER_BLOCK_TILED: (usize, usize) = (TPB, TPB);

#[kernel]
fn matmul_tiled<const SIZE: usize>(
    output: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
) {
    let local_row = thread_idx().y;
    let local_col = thread_idx().x;
    let tiled_row = block_idx().y * TPB + local_row;
    let tiled_col = block_idx().x * TPB + local_col;

    // FILL ME IN (roughly 20 lines)
}

/// `cargo puzzle p16 --naive`
pub(crate) fn naive(ctx: &DeviceContext) -> Result<Verdict> {
    let (mut out, a, b) = matrices(ctx, SIZE)?;
    let launch = naive_matmul::<SIZE>(&mut out, &a, &b);
    ctx.enqueue_function(launch, grid_dim(BLOCKS_PER_GRID), block_dim(THREADS_PER_BLOCK))?;
    Ok(compare(out.to_host()?, product(&a, &b)?))
}

/// `cargo puzzle p16 --single-block`
pub(crate) fn single_block(ctx: &DeviceContext) -> Result<Verdict> {
    let (mut out, a, b) = matrices(ctx, SIZE)?;
    let launch = single_block_matmul::<SIZE>(&mut out, &a, &b);
    ctx.enqueue_function(launch, grid_dim(BLOCKS_PER_GRID), block_dim(THREADS_PER_BLOCK))?;
    Ok(compare(out.to_host()?, product(&a, &b)?))
}

/// `cargo puzzle p16 --tiled`
pub(crate) fn tiled(ctx: &DeviceContext) -> Result<Verdict> {
    let (mut out, a, b) = matrices(ctx, SIZE_TILED)?;
    let launch = matmul_tiled::<SIZE_TILED>(&mut out, &a, &b);
    ctx.enqueue_function(launch, grid_dim(BLOCKS_PER_GRID_TILED), block_dim(THREADS_PER_BLOCK_TILED))?;
    Ok(compare(out.to_host()?, product(&a, &b)?))
}

type Matrix = DeviceTensor<f32, 2>;

/// `out`, all zero; `a`, numbered from 0 row by row; `b`, twice that.
fn matrices(ctx: &DeviceContext, size: usize) -> Result<(Matrix, Matrix, Matrix)> {
    let out = ctx.zeros(row_major([size, size]))?;
    let a = ctx.tensor_from_fn(row_major([size, size]), |[row, col]| (row * size + col) as f32)?;
    let b = ctx.tensor_from_fn(row_major([size, size]), |[row, col]| 2.0 * (row * size + col) as f32)?;
    Ok((out, a, b))
}

/// What `out` should be, by three loops on the host.
fn product(a: &Matrix, b: &Matrix) -> Result<Vec<f32>> {
    let [size, _] = a.shape();
    let (a, b) = (a.to_host()?, b.to_host()?);
    let element = |row, col| (0..size).map(|k| a[row * size + k] * b[k * size + col]).sum();
    Ok((0..size * size).map(|i| element(i / size, i % size)).collect())
}
