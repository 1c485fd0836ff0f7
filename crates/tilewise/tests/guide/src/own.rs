//! Each thread uses only its own element of shared memory.
use tilewise::prelude::*;

const TPB: usize = 8;

#[kernel]
pub(crate) fn own(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
    let i = thread_idx().x;
    shared[i] = a[i] + 1.0;
    barrier();
    output[i] = 2.0 * shared[i];
}
