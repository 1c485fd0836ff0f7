//! Every thread that finds a large element writes the same flag.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn any(flag: &mut TileTensor<i32, 1>, a: &TileTensor<f32, 1>) {
    if a[thread_idx().x] > 10.0 {
        flag[0] = 1;
    }
}
