//! `?` in a kernel.

use tilewise::prelude::*;

#[kernel]
fn first(out: &mut TileTensor<f32, 1>, #[comptime] values: Vec<f32>) {
    out[0] = *values.first()?;
}

fn main() {}
