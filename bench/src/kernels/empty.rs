//! A kernel that does nothing, and the small dot product of puzzle 12: what a launch itself costs.

use tilewise::prelude::*;

/// Nothing: its time is that of a launch.
#[kernel]
pub(crate) fn empty() {}

/// The dot product of puzzle 12: one block of 8 threads, a tree in shared memory.
#[kernel]
pub(crate) fn small_dot(
    output: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    b: &TileTensor<f32, 1>,
    size: usize,
) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([8]));
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;

    if global_i < size {
        shared[local_i] = a[global_i] * b[global_i];
    }
    barrier();

    let mut stride = 4;
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
