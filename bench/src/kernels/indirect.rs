//! Indices that come from memory: no proof before the launch can tell whether they are in bounds, so the checks stay.

use tilewise::prelude::*;

/// Threads of a block.
pub(crate) const THREADS: usize = 256;

/// Bins of the histogram.
pub(crate) const BINS: usize = 256;

/// Elements that a thread of the histogram counts.
pub(crate) const COUNTED: usize = 16;

/// `output[i] = table[index[i]]`.
#[kernel]
pub(crate) fn gather(
    output: &mut TileTensor<f32, 1>,
    table: &TileTensor<f32, 1>,
    index: &TileTensor<u32, 1>,
) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        output[i] = table[index[i] as usize];
    }
}

/// How often each number is in `data`: counted in shared memory, block by block, then added up.
#[kernel]
pub(crate) fn histogram(counts: &mut TileTensor<u32, 1>, data: &TileTensor<u32, 1>) {
    let bins = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([BINS]));
    let thread = thread_idx().x;
    bins[thread] = 0;
    barrier();
    for k in comptime(0..COUNTED) {
        let i = THREADS * (COUNTED * block_idx().x + k) + thread;
        if i < data.dim(0) {
            bins.atomic(data[i] as usize).fetch_add(1);
        }
    }
    barrier();
    counts.atomic(thread).fetch_add(bins[thread]);
}

/// Sums of the rows of a sparse matrix times a vector, a thread for each row. Row `r` has the entries from `starts[r]` up to
/// `starts[r + 1]`: each a value and a column.
#[kernel]
pub(crate) fn sparse_rows(
    output: &mut TileTensor<f32, 1>,
    starts: &TileTensor<u32, 1>,
    columns: &TileTensor<u32, 1>,
    values: &TileTensor<f32, 1>,
    x: &TileTensor<f32, 1>,
) {
    let row = block_dim().x * block_idx().x + thread_idx().x;
    if row < output.dim(0) {
        let mut sum = 0.0;
        for k in starts[row] as usize..starts[row + 1] as usize {
            sum += values[k] * x[columns[k] as usize];
        }
        output[row] = sum;
    }
}
