//! Puzzle 12: dot product.
//!
//! Multiply two vectors element by element and add up the products: `output[0] = a[0] * b[0] + a[1] * b[1] + ...`.
//! There is one thread for each element. Each reads its elements of `a` and `b` once; then the threads of the block add
//! up the products together, in shared memory, and one of them writes the sum.
//!
//! Fill in the gap, then: `cargo puzzle p12`

use tilewise::prelude::*;

use crate::check::{Verdict, compare};

/// Threads of a block.
const TPB: usize = 8;

/// Elements of a vector.
const SIZE: usize = 8;

const BLOCKS_PER_GRID: usize = 1;
const THREADS_PER_BLOCK: usize = TPB;

#[kernel]
fn dot_product(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;

    if global_i < size {
        shared[local_i] = a[global_i] * b[global_i];
    }
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
        output[0] = shared[0];
    }
}

/// Makes the data, launches the kernel, compares its result with the sum by one loop.
pub(crate) fn run(ctx: &DeviceContext) -> Result<Verdict> {
    let a = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32)?;
    let b = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32)?;
    let mut out = ctx.zeros::<f32, 1>(row_major([1]))?;

    let launch = dot_product(&mut out, &a, &b, SIZE);
    ctx.enqueue_function(launch, grid_dim(BLOCKS_PER_GRID), block_dim(THREADS_PER_BLOCK))?;

    let expected = a.to_host()?.iter().zip(&b.to_host()?).map(|(a, b)| a * b).sum();
    Ok(compare(out.to_host()?, vec![expected]))
}
