//! Each element moves one place on, around the end.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn ring(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, n: usize) {
    let i = thread_idx().x;
    output[i] = a[(i - 1) % n];
}
