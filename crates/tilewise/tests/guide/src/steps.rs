//! A loop whose step is an argument.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn steps(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, step: usize) {
    for i in (0..a.dim(0)).step_by(step) {
        output[i] = a[i];
    }
}
