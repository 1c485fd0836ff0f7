//! `async` and `.await` in a kernel.

use tilewise::prelude::*;

#[kernel]
fn asynchronous(out: &mut TileTensor<f32, 1>) {
    let later = async { 1.0 };
    out[0] = later.await;
}

fn main() {}
