//! Puzzle 31: SAXPY with no, much and some shared memory, and how full GPUs get with it.

use tilewise::prelude::*;

use crate::harness::{assert_line, printed, profile};

const SIZE: usize = 1 << 16;
const TPB: usize = 1024;

/// `y = alpha * x + y`; `shared_floats` elements of shared memory on the way if there are any.
#[kernel]
fn saxpy(y: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>, alpha: f32, #[comptime] shared_floats: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if shared_floats == 0 {
        y[i] = alpha * x[i] + y[i];
    } else {
        let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([shared_floats]));
        shared[thread_idx().x] = x[i];
        barrier();
        y[i] = alpha * shared[thread_idx().x] + y[i];
    }
}

fn text(shared_floats: usize) -> String {
    printed(&profile(|ctx| {
        let x = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32 + 1.0)?;
        let mut y = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32 + 2.0)?;
        ctx.enqueue_function(saxpy(&mut y, &x, 2.5, shared_floats), grid_dim(SIZE / TPB), block_dim(TPB))?;
        assert!(y.to_host()?.iter().enumerate().all(|(i, &y)| y == 3.5 * i as f32 + 4.5));
        Ok(())
    }))
}

#[test]
fn all_three_fill_two_thirds_of_an_a10g() {
    for shared_bytes in [0, 49_152, 16_384] {
        assert_line(&text(shared_bytes / 4), "A10G, RTX 30 1 32 66.7% threads");
    }
}

#[test]
fn shared_memory_limits_where_more_threads_fit() {
    // 228 KiB hold two blocks of 1024 threads with 48 KiB each; a third would be too many threads.
    assert_line(&text(12_288), "H100, H200 2 64 100.0% threads");
    assert_line(&text(12_288), "T4, RTX 20 1 32 100.0% threads");
}

/// Two operations for 8 bytes read and 4 written; of 2^25 elements, that is 384 MiB.
#[test]
fn two_operations_for_twelve_bytes() {
    for shared_floats in [0, 4096] {
        let text = text(shared_floats);
        assert_line(&text, "global memory 768.0 KiB requested, 768.0 KiB of them different: redundancy 1.00");
        assert_line(&text, "computes 131072 operations, arithmetic intensity 0.167 operations a byte");
    }
}
