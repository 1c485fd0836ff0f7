//! Four elements a thread, from the wrong place.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn double(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    output.store(4 * i, a.aligned_load(i, 4) * 2.0);
}
