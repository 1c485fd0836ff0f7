//! A kernel that is `async`.

use tilewise::prelude::*;

#[kernel]
async fn wait(out: &mut TileTensor<f32, 1>) {
    out[0] = 1.0;
}

fn main() {}
