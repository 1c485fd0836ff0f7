//! Puzzle 21: an embedding lookup with threads along the features, and with threads along the positions.

use tilewise::prelude::*;

use crate::harness::{printed, profile, rows};

const POSITIONS: usize = 8 * 512;
const FEATURES: usize = 512;
const VOCABULARY: usize = 10_000;

#[kernel]
fn along_features(
    output: &mut TileTensor<f32, 2>,
    indices: &TileTensor<i32, 1>,
    weights: &TileTensor<f32, 2>,
) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    let (position, feature) = (i / FEATURES, i % FEATURES);
    let row = indices[position] as usize; // index
    output[[position, feature]] = weights[[row, feature]]; // copy
}

#[kernel]
fn along_positions(
    output: &mut TileTensor<f32, 2>,
    indices: &TileTensor<i32, 1>,
    weights: &TileTensor<f32, 2>,
) {
    let position = block_dim().x * block_idx().x + thread_idx().x;
    let feature = block_dim().y * block_idx().y + thread_idx().y;
    let row = indices[position] as usize; // row
    output[[position, feature]] = weights[[row, feature]]; // gather
}

fn text(in_two_dimensions: bool) -> String {
    printed(&profile(|ctx| {
        let row = |position: usize| 7919 * position % VOCABULARY;
        let indices = ctx.tensor_from_fn(row_major([POSITIONS]), |[position]| row(position) as i32)?;
        let weights = ctx.tensor_from_fn(row_major([VOCABULARY, FEATURES]), |[row, feature]| {
            (FEATURES * row + feature) as f32
        })?;
        let mut output = ctx.zeros::<f32, 2>(row_major([POSITIONS, FEATURES]))?;
        if in_two_dimensions {
            let grid = grid_dim((POSITIONS / 16, FEATURES / 16));
            ctx.enqueue_function(
                along_positions(&mut output, &indices, &weights),
                grid,
                block_dim((16, 16)),
            )?;
        } else {
            let grid = grid_dim(POSITIONS * FEATURES / 256);
            ctx.enqueue_function(along_features(&mut output, &indices, &weights), grid, block_dim(256))?;
        }
        let output = output.to_host()?;
        let expected = |i: usize| (FEATURES * row(i / FEATURES) + i % FEATURES) as f32;
        assert!(output.iter().enumerate().all(|(i, &x)| x == expected(i)));
        Ok(())
    }))
}

/// Weights and stores take 4 sectors for a warp's request along the features and 16 along the positions, indices 1 and 2.
#[test]
fn sectors_are_4_and_16() {
    let text = text(false);
    assert_eq!(
        rows(&text, "index"),
        ["read `indices` 65536 requests 32.0 lanes 8.0 MiB 1.00 sectors each, 400% used"]
    );
    let whole = "65536 requests 32.0 lanes 8.0 MiB 4.00 sectors each, 100% used";
    assert_eq!(rows(&text, "copy"), [format!("read `weights` {whole}"), format!("write `output` {whole}")]);
}

#[test]
fn sectors_along_positions() {
    let text = text(true);
    assert_eq!(
        rows(&text, "row"),
        ["read `indices` 65536 requests 32.0 lanes 8.0 MiB 2.00 sectors each, 200% used"]
    );
    let parts = "65536 requests 32.0 lanes 8.0 MiB 16.00 sectors each, 25% used";
    assert_eq!(rows(&text, "gather"), [format!("read `weights` {parts}"), format!("write `output` {parts}")]);
}
