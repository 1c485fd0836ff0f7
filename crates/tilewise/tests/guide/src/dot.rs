//! The dot product without the barrier before its loop.
use tilewise::prelude::*;

const TPB: usize = 8;

#[kernel]
pub(crate) fn dot_product(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;

    if global_i < size {
        shared[local_i] = a[global_i] * b[global_i];
    }

    let mut stride = TPB / 2;
    while stride > 0 {
        if local_i < stride {
            shared[local_i] += shared[local_i + stride];
        }
        barrier();
        stride /= 2;
    }

    if local_i == 0 {
        output[0] = shared[0];
    }
}
