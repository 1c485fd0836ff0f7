//! `a[i, j]`, as in other languages.

use tilewise::prelude::*;

#[kernel]
fn copy(out: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>) {
    let (i, j) = (thread_idx().y, thread_idx().x);
    out[[i, j]] = a[i, j];
}

fn main() {}
