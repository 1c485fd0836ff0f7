//! `output[i] = a[i] + b[i]`: one element a thread, one SIMD value a thread, and the patterns of puzzle 23.

use tilewise::prelude::*;

/// Elements of a tile, or SIMD values of a chunk, that one thread works on in the patterns of puzzle 23.
pub(crate) const TILE: usize = 32;

/// Lanes of a SIMD value: 16 bytes, the widest access of a thread.
pub(crate) const WIDTH: usize = 4;

/// Threads of a block.
pub(crate) const THREADS: usize = 256;

type Vector = DeviceTensor<f32, 1>;

/// One element a thread.
#[kernel]
pub(crate) fn scalar(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        output[i] = a[i] + b[i];
    }
}

/// One SIMD value a thread. The number of elements is a multiple of its lanes.
#[kernel]
pub(crate) fn vectors(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let i = WIDTH * (block_dim().x * block_idx().x + thread_idx().x);
    if i < output.dim(0) {
        output.aligned_store(i, a.aligned_load(i, WIDTH) + b.aligned_load(i, WIDTH));
    }
}

/// `elementwise`: one SIMD value a thread, the rest element by element.
pub(crate) fn elementwise_pattern(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
) -> Result<()> {
    let add = tilewise::kernel!([mut output, a, b] |width, [i]| {
        output.aligned_store(i, a.aligned_load(i, width) + b.aligned_load(i, width));
    });
    elementwise(ctx, WIDTH, [a.len()], add)
}

/// A thread adds a tile, element by element.
pub(crate) fn tiled_pattern(ctx: &DeviceContext, output: &mut Vector, a: &Vector, b: &Vector) -> Result<()> {
    let tiles = a.len().div_ceil(TILE);
    let add_tile = tilewise::kernel!([mut output, a, b] |[tile]| {
        let (output, a, b) = (output.tile(TILE, tile), a.tile(TILE, tile), b.tile(TILE, tile));
        for i in 0..output.dim(0) {
            output[i] = a[i] + b[i];
        }
    });
    elementwise(ctx, 1, [tiles], add_tile)
}

/// A thread adds a chunk of [`TILE`] SIMD values, whose indices it computes. The number of elements is a multiple of the
/// chunk's.
pub(crate) fn manual_vectorized_pattern(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
) -> Result<()> {
    let chunks = a.len().div_ceil(TILE * WIDTH);
    let add_chunk = tilewise::kernel!([mut output, a, b] |[chunk]| {
        for k in comptime(0..TILE) {
            let i = chunk * (TILE * WIDTH) + k * WIDTH;
            output.aligned_store(i, a.aligned_load(i, WIDTH) + b.aligned_load(i, WIDTH));
        }
    });
    elementwise(ctx, 1, [chunks], add_chunk)
}

/// A thread adds a tile with `vectorize`, in SIMD values as far as they fit.
pub(crate) fn vectorized_pattern(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
) -> Result<()> {
    let size = a.len();
    let tiles = size.div_ceil(TILE);
    let add_tile = tilewise::kernel!([mut output, a, b, size] |[tile]| {
        let start = tile * TILE;
        let end = min(start + TILE, size);
        vectorize(WIDTH, end - start, |width, k| {
            let i = start + k;
            output.aligned_store(i, a.aligned_load(i, width) + b.aligned_load(i, width));
        });
    });
    elementwise(ctx, 1, [tiles], add_tile)
}
