//! Puzzle 23: functional patterns.
//!
//! `output[i] = a[i] + b[i]`, by closures that `elementwise` and `vectorize` run. Four patterns do it; from one to the
//! next there are fewer threads, or each has more to do:
//!
//! - `elementwise`: a thread adds one SIMD value, of four elements.
//! - `tiled`: a thread adds a tile, element by element.
//! - `manual_vectorized`: a thread adds a chunk of SIMD values, and computes itself where each lies.
//! - `vectorized`: a thread adds a tile with `vectorize`, which goes in SIMD values as far as they fit.
//!
//! Fill in the gaps, then: `cargo puzzle p23 --elementwise`, `--tiled`, `--manual-vectorized`, `--vectorized`; and in the
//! end `--benchmark`

use tilewise::prelude::*;

use super::benchmark::{self, Pattern};
use crate::check::{Verdict, compare};

/// Elements of a vector.
const SIZE: usize = 1024;

/// Elements of a tile.
const TILE_SIZE: usize = 32;

/// Elements that a thread loads, adds and stores at once.
const SIMD_WIDTH: usize = 4;

type Vector = DeviceTensor<f32, 1>;

fn elementwise_add(ctx: &DeviceContext, output: &mut Vector, a: &Vector, b: &Vector) -> Result<()> {
    let add = tilewise::kernel!([mut output, a, b] |simd_width, [idx]| {
        // FILL IN (2 to 4 lines)
    });
    elementwise(ctx, SIMD_WIDTH, [a.len()], add)
}

fn tiled_elementwise_add(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
    tile_size: usize,
) -> Result<()> {
    let num_tiles = a.len().div_ceil(tile_size);
    let process_tile = tilewise::kernel!([mut output, a, b] |[tile_id]| {
        let output_tile = output.tile(tile_size, tile_id);
        let a_tile = a.tile(tile_size, tile_id);
        let b_tile = b.tile(tile_size, tile_id);

        // FILL IN (6 lines at most), in place of this line:
        println!("tile_id: {tile_id}");
    });
    elementwise(ctx, 1, [num_tiles], process_tile)
}

fn manual_vectorized_tiled_elementwise_add(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
    tile_size: usize,
) -> Result<()> {
    // A chunk has tile_size SIMD values; the vectors are some number of whole chunks.
    let chunk_size = tile_size * SIMD_WIDTH;
    let num_tiles = a.len().div_ceil(chunk_size);
    let process_chunk = tilewise::kernel!([mut output, a, b] |[tile_id]| {
        // FILL IN (7 lines at most), in place of this line:
        println!("tile_id: {tile_id}");
    });
    elementwise(ctx, 1, [num_tiles], process_chunk)
}

fn vectorize_within_tiles_elementwise_add(
    ctx: &DeviceContext,
    output: &mut Vector,
    a: &Vector,
    b: &Vector,
    tile_size: usize,
) -> Result<()> {
    let size = a.len();
    let num_tiles = size.div_ceil(tile_size);
    let process_tile = tilewise::kernel!([mut output, a, b, size] |[tile_id]| {
        let tile_start = tile_id * tile_size;
        let tile_end = min(tile_start + tile_size, size);
        let actual_tile_size = tile_end - tile_start;

        // FILL IN (9 lines at most), in place of this line:
        println!(
            "tile_id: {tile_id} tile_start: {tile_start} tile_end: {tile_end} actual_tile_size: {actual_tile_size}"
        );
    });
    elementwise(ctx, 1, [num_tiles], process_tile)
}

/// `cargo puzzle p23 --elementwise`
pub(crate) fn elementwise_pattern(ctx: &DeviceContext) -> Result<Verdict> {
    announce(None);
    run(ctx, elementwise_add)
}

/// `cargo puzzle p23 --tiled`
pub(crate) fn tiled_pattern(ctx: &DeviceContext) -> Result<Verdict> {
    announce(Some(TILE_SIZE));
    run(ctx, |ctx, output, a, b| tiled_elementwise_add(ctx, output, a, b, TILE_SIZE))
}

/// `cargo puzzle p23 --manual-vectorized`
pub(crate) fn manual_vectorized_pattern(ctx: &DeviceContext) -> Result<Verdict> {
    announce(Some(TILE_SIZE));
    run(ctx, |ctx, output, a, b| manual_vectorized_tiled_elementwise_add(ctx, output, a, b, TILE_SIZE))
}

/// `cargo puzzle p23 --vectorized`
pub(crate) fn vectorized_pattern(ctx: &DeviceContext) -> Result<Verdict> {
    announce(Some(TILE_SIZE));
    run(ctx, |ctx, output, a, b| vectorize_within_tiles_elementwise_add(ctx, output, a, b, TILE_SIZE))
}

/// `cargo puzzle p23 --benchmark`
pub(crate) fn benchmark_patterns(ctx: &DeviceContext) -> Result<Verdict> {
    let patterns: [(&str, Pattern); 4] = [
        ("elementwise", |ctx, output, a, b, _| elementwise_add(ctx, output, a, b)),
        ("tiled", tiled_elementwise_add),
        ("manual_vectorized", manual_vectorized_tiled_elementwise_add),
        ("vectorized", vectorize_within_tiles_elementwise_add),
    ];
    println!("simd_width: {SIMD_WIDTH}");
    benchmark::run(ctx, &patterns)
}

fn announce(tile_size: Option<usize>) {
    println!("SIZE: {SIZE}");
    println!("simd_width: {SIMD_WIDTH}");
    if let Some(tile_size) = tile_size {
        println!("tile size: {tile_size}");
    }
}

/// Makes the data, runs a pattern, compares its result with sums on the host.
fn run(
    ctx: &DeviceContext,
    pattern: impl Fn(&DeviceContext, &mut Vector, &Vector, &Vector) -> Result<()>,
) -> Result<Verdict> {
    let a = ctx.tensor_from_fn(row_major([SIZE]), |[i]| (2 * i) as f32)?;
    let b = ctx.tensor_from_fn(row_major([SIZE]), |[i]| (2 * i + 1) as f32)?;
    let mut out = ctx.zeros(row_major([SIZE]))?;

    pattern(ctx, &mut out, &a, &b)?;

    let expected = a.to_host()?.iter().zip(&b.to_host()?).map(|(a, b)| a + b).collect();
    Ok(compare(out.to_host()?, expected))
}
