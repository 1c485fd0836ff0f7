//! Every thread that finds a large element says so in one place.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn find(found: &mut TileTensor<i32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    if a[i] > 10.0 {
        found[0] = i as i32;
    }
}
