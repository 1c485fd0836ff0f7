//! The worked example of `docs/profile.md`.

use tilewise::prelude::*;
use tilewise::report::render;

use crate::kernels::transpose::{by_element, by_tile};

const SIZE: usize = 256;

/// The profile as printed; by tiles with rows of so many elements, if there are any.
fn text(width: Option<usize>) -> String {
    let ctx = DeviceContext::open("cpu").expect("every machine has it").profiled();
    let launched = || {
        let a = ctx.tensor_from_fn(row_major([SIZE, SIZE]), |[row, col]| (SIZE * row + col) as f32)?;
        let mut output = ctx.zeros::<f32, 2>(row_major([SIZE, SIZE]))?;
        let launch = match width {
            None => by_element(&mut output, &a),
            Some(width) => by_tile(&mut output, &a, width),
        };
        ctx.enqueue_function(launch, grid_dim((SIZE / 32, SIZE / 32)), block_dim((32, 32)))?;
        output.to_host()
    };
    let output = launched().unwrap_or_else(|error| panic!("{error}"));
    assert!(output.iter().enumerate().all(|(i, &x)| x == (SIZE * (i % SIZE) + i / SIZE) as f32));
    let mut profile = ctx.take_profiles().remove(0);
    for line in &mut profile.lines {
        crate::shorten(&mut line.location);
    }
    let text = render::profile(&profile, &crate::style());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    text
}

#[test]
fn the_guide_is_what_is_printed() {
    // The table of GPUs once.
    let by_tile = text(Some(32));
    let (by_tile, _) = by_tile.split_once("\n\nGPU").expect("a table of GPUs");
    let padded = text(Some(33));
    let row = padded.lines().find(|line| line.contains("read   `tile`")).expect("the row of the tile");
    let texts = [("by element", text(None)), ("by tile", by_tile.to_owned()), ("padded", row.to_owned())];
    crate::check("profile.md", "profile", &texts);
}
