//! The kernels that the benchmarks of the CPU device run, checked or not.

use tilewise::prelude::*;

/// One element a thread.
#[kernel]
pub(crate) fn add(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        output[i] = a[i] + b[i];
    }
}

/// The tutorial's tree in shared memory, and one atomic addition a block.
#[kernel]
pub(crate) fn dot<const TPB: usize>(
    output: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    b: &TileTensor<f32, 1>,
) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;
    shared[local_i] = if global_i < a.dim(0) { a[global_i] * b[global_i] } else { 0.0 };
    barrier();
    let mut stride = TPB / 2;
    while stride > 0 {
        if local_i < stride {
            shared[local_i] += shared[local_i + stride];
        }
        barrier();
        stride /= 2;
    }
    if local_i == 0 {
        output.atomic(0).fetch_add(shared[0]);
    }
}

/// The tutorial's matrix product by tiles in shared memory.
#[kernel]
pub(crate) fn matmul<const T: usize>(
    c: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;
    let (local_row, local_col) = (thread_idx().y, thread_idx().x);
    let a_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([T, T]));
    let b_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([T, T]));
    let (m, n, k) = (c.dim(0), c.dim(1), a.dim(1));
    let mut acc = 0.0;
    for tile in 0..k.div_ceil(T) {
        let (a_col, b_row) = (tile * T + local_col, tile * T + local_row);
        a_shared[[local_row, local_col]] = if row < m && a_col < k { a[[row, a_col]] } else { 0.0 };
        b_shared[[local_row, local_col]] = if b_row < k && col < n { b[[b_row, col]] } else { 0.0 };
        barrier();
        for i in comptime(0..T) {
            acc += a_shared[[local_row, i]] * b_shared[[i, local_col]];
        }
        barrier();
    }
    if row < m && col < n {
        c[[row, col]] = acc;
    }
}
