//! Shared memory at every second element.

fn two_way(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([512]));
    let i = block_dim().x * block_idx().x + thread_idx().x;
    shared[2 * thread_idx().x] = a[i] + 10.0;
    barrier();
    output[i] = 2.0 * shared[2 * thread_idx().x];
}
