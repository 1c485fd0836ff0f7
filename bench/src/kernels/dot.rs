//! Dot products: the tutorial's tree, and the one that reads memory as fast as it comes.
//!
//! Both add to `output[0]`, which is 0 before.

use tilewise::prelude::*;

/// Threads of a block.
pub(crate) const THREADS: usize = 256;

/// SIMD values that a thread of [`vectors`] reads from each of its two inputs before it waits for the first.
pub(crate) const IN_FLIGHT: usize = 4;

/// Lanes of these SIMD values: 16 bytes, the widest access of a thread.
pub(crate) const WIDTH: usize = 4;

/// The tutorial's dot product: one product a thread, a tree in shared memory, one atomic addition a block.
#[kernel]
pub(crate) fn tree(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let product = if global_i < a.dim(0) { a[global_i] * b[global_i] } else { 0.0 };
    add_block_sum(output, product);
}

/// A dot product of few blocks, which go through the inputs together, a grid at a time.
///
/// Each thread has [`IN_FLIGHT`] sums of [`WIDTH`] lanes, so that no load waits for another and no addition for the one
/// before it. The sums are added up at the end: lanes, then the threads of a block, then the blocks.
#[kernel]
pub(crate) fn vectors(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
    let thread = block_dim().x * block_idx().x + thread_idx().x;
    let threads = block_dim().x * grid_dim().x;
    let n = a.dim(0);
    let count = n / WIDTH;
    let rounds = count / (threads * IN_FLIGHT);

    let mut sums = [splat(0.0); IN_FLIGHT];
    for round in 0..rounds {
        let first = round * IN_FLIGHT * threads + thread;
        let loads: [_; IN_FLIGHT] = std::array::from_fn(|k| {
            let i = WIDTH * (first + k * threads);
            (a.aligned_load(i, WIDTH), b.aligned_load(i, WIDTH))
        });
        for (k, (x, y)) in comptime(loads.into_iter().enumerate()) {
            sums[k] += x * y;
        }
    }
    // Fewer vectors are left than a whole round has.
    for v in (rounds * IN_FLIGHT * threads + thread..count).step_by(threads) {
        sums[0] += a.aligned_load(WIDTH * v, WIDTH) * b.aligned_load(WIDTH * v, WIDTH);
    }
    let mut sum = (sums[0] + sums[1] + (sums[2] + sums[3])).reduce_add();
    // And fewer elements than a vector has.
    let last = WIDTH * count + thread;
    if last < n {
        sum += a[last] * b[last];
    }
    add_block_sum(output, sum);
}

/// A number in each lane of a SIMD value.
#[device]
fn splat(x: f32) -> f32 {
    x.splat(WIDTH)
}

/// Adds the values of a block's threads by a tree in shared memory, and the sum to `output[0]`.
#[device]
fn add_block_sum(output: &mut TileTensor<f32, 1>, value: f32) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([THREADS]));
    let i = thread_idx().x;
    shared[i] = value;
    barrier();
    let mut stride = THREADS / 2;
    while stride > 0 {
        if i < stride {
            shared[i] += shared[i + stride];
        }
        barrier();
        stride /= 2;
    }
    if i == 0 {
        output.atomic(0).fetch_add(shared[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole rounds, the vectors left after them, the elements left after those, and combinations of them.
    #[test]
    fn every_element_counts_once() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let round = 2 * THREADS * WIDTH * IN_FLIGHT;
        for n in [1, 3, 4, 1023, round, round + 4, 3 * round + 2 * THREADS * WIDTH + 5] {
            let a = ctx.tensor_from_fn(row_major([n]), |[i]| (i % 5) as f32 - 1.0)?;
            let b = ctx.tensor_from_fn(row_major([n]), |[i]| (i % 3) as f32 - 1.0)?;
            let expected: f32 = (0..n).map(|i| ((i % 5) as f32 - 1.0) * ((i % 3) as f32 - 1.0)).sum();
            let (mut first, mut second) = (ctx.zeros(row_major([1]))?, ctx.zeros(row_major([1]))?);
            ctx.enqueue_function(vectors(&mut first, &a, &b), grid_dim(2), block_dim(THREADS))?;
            let blocks = n.div_ceil(THREADS);
            ctx.enqueue_function(tree(&mut second, &a, &b), grid_dim(blocks), block_dim(THREADS))?;
            assert_eq!((first.get([0])?, second.get([0])?), (expected, expected), "{n} elements");
        }
        Ok(())
    }
}
