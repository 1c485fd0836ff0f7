//! One element a thread, without a guard.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn fill(output: &mut TileTensor<f32, 1>, x: f32) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    output[i] = x;
}
