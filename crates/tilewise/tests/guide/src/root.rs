//! A kernel that checks its input.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn root(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    assert!(a[i] >= 0.0, "a[{i}] is {}", a[i]);
    output[i] = a[i].sqrt();
}
