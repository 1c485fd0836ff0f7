//! A barrier that only half of the threads reach.
use tilewise::prelude::*;

const TPB: usize = 8;

#[kernel]
pub(crate) fn reverse(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, size: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
    let i = thread_idx().x;
    if i < size {
        shared[i] = a[i];
        barrier();
        output[i] = shared[size - 1 - i];
    }
}
