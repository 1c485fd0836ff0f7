//! `let ... else` in a kernel.

use tilewise::prelude::*;

#[kernel]
fn first(out: &mut TileTensor<f32, 1>, #[comptime] value: Option<f32>) {
    let Some(value) = value else { return };
    out[0] = value;
}

fn main() {}
