//! The dot product of the tutorial: one multiply a thread, then a tree reduction in shared memory.
use tilewise::prelude::*;

const TPB: usize = 8;
const SIZE: usize = 8;

/// One multiply a thread, then a tree reduction in shared memory.
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

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32)?;
    let b = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32)?;
    let mut out = ctx.zeros::<f32, 1>(row_major([1]))?;

    ctx.enqueue_function(dot_product(&mut out, &a, &b, SIZE), grid_dim(1), block_dim(TPB))?;

    println!("out: {}", out.to_host()?);
    Ok(())
}
