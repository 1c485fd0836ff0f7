//! Matrix products in `f32`: as one writes it first, the tutorial's tiles in shared memory, and tiles in registers.

use tilewise::prelude::*;

/// The matrix product as one writes it first: one element a thread, which is added up where it lies.
#[kernel]
pub(crate) fn naive(c: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, b: &TileTensor<f32, 2>) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;
    if row < c.dim(0) && col < c.dim(1) {
        c[[row, col]] = 0.0;
        for k in 0..a.dim(1) {
            c[[row, col]] += a[[row, k]] * b[[k, col]];
        }
    }
}

/// Rows and columns of the tutorial's tile; a block has as many threads along y and x.
pub(crate) const TILE: usize = 32;

/// The tutorial's matrix product: one element a thread, tiles of both matrices in shared memory.
#[kernel]
pub(crate) fn tiled<const TILE: usize>(
    c: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
) {
    let row = block_dim().y * block_idx().y + thread_idx().y;
    let col = block_dim().x * block_idx().x + thread_idx().x;
    let (local_row, local_col) = (thread_idx().y, thread_idx().x);
    let a_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let b_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let (m, n, k) = (c.dim(0), c.dim(1), a.dim(1));

    let mut acc = 0.0;
    for tile in 0..k.div_ceil(TILE) {
        let (a_col, b_row) = (tile * TILE + local_col, tile * TILE + local_row);
        a_shared[[local_row, local_col]] = if row < m && a_col < k { a[[row, a_col]] } else { 0.0 };
        b_shared[[local_row, local_col]] = if b_row < k && col < n { b[[b_row, col]] } else { 0.0 };
        barrier();
        for i in comptime(0..TILE) {
            acc += b_shared[[i, local_col]] * a_shared[[local_row, i]];
        }
        barrier();
    }
    if row < m && col < n {
        c[[row, col]] = acc;
    }
}

/// Rows and columns of the tile of `c` that a block of [`registers`] computes.
pub(crate) const BLOCK_TILE: usize = 128;

/// Columns of `a`, and rows of `b`, that it has in shared memory at a time.
pub(crate) const DEPTH: usize = 8;

/// Its threads: each has 8 by 8 elements of the tile.
pub(crate) const THREADS: usize = 256;

/// Lanes of a SIMD value: 16 bytes, the widest access of a thread.
const WIDTH: usize = 4;

/// Whether [`registers`] can multiply matrices of `m` by `k` and `k` by `n` elements: all are whole tiles, and along `k`
/// an even number of them, since the loop works on two at a time.
pub(crate) fn is_whole(m: usize, n: usize, k: usize) -> bool {
    m.is_multiple_of(BLOCK_TILE) && n.is_multiple_of(BLOCK_TILE) && k > 0 && k.is_multiple_of(2 * DEPTH)
}

/// A matrix product whose tile of `c` lies in registers.
///
/// A block computes 128 by 128 elements, a warp of it 64 by 32, a thread 8 by 8: four groups of 4 by 4, which lie 32
/// rows and 16 columns apart. So the threads of a warp read neighbouring SIMD values of shared memory, without bank
/// conflicts, and each element that is read is used eight times.
///
/// Both inputs come through shared memory in slices, 8 along `k`. There are two pairs of slices: while one is
/// multiplied, the next is on its way from global memory to registers, and then goes to the other pair. That takes one
/// barrier a slice. The columns of `a` are the rows of its slice, so that a thread reads 4 rows of `a` at once; 4
/// elements of padding keep the transposing stores off each other's banks.
///
/// Rows and columns are whole tiles: see [`is_whole`].
#[kernel]
pub(crate) fn registers(c: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, b: &TileTensor<f32, 2>) {
    let a_slice = || stack_allocation::<f32, 2>(AddressSpace::Shared, padded_rows());
    let b_slice = || stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([DEPTH, BLOCK_TILE]));
    let (even, odd) = ((a_slice(), b_slice()), (a_slice(), b_slice()));

    // What a thread copies of each slice: 4 neighbours of a row of `a`, 4 of a row of `b`.
    let thread = thread_idx().x;
    let (a_row, a_col) = (thread / (DEPTH / WIDTH), WIDTH * (thread % (DEPTH / WIDTH)));
    let (b_row, b_col) = (thread / (BLOCK_TILE / WIDTH), WIDTH * (thread % (BLOCK_TILE / WIDTH)));
    let (first_row, first_col) = (BLOCK_TILE * block_idx().y, BLOCK_TILE * block_idx().x);

    // What it computes: rows `row + 0..4` and `row + 32 + 0..4` of the tile, columns `col + 0..4` and `col + 16 + 0..4`.
    let (warp, lane) = (thread / 32, thread % 32);
    let row = 64 * (warp / 4) + WIDTH * (lane / 4);
    let col = 32 * (warp % 4) + WIDTH * (lane % 4);
    let mut acc = [[splat(0.0); 2]; 8];

    let slices = a.dim(1) / DEPTH;
    let a_first = a.aligned_load([first_row + a_row, a_col], WIDTH);
    let b_first = b.aligned_load([b_row, first_col + b_col], WIDTH);
    for i in comptime(0..WIDTH) {
        even.0[[a_col + i, a_row]] = a_first.lane(i);
    }
    even.1.aligned_store([b_row, b_col], b_first);
    barrier();

    for pair in 0..slices / 2 {
        for (parity, current, other) in comptime([(0, even, odd), (1, odd, even)]) {
            // After the last slice the last one again, which nobody multiplies.
            let next = DEPTH * min(2 * pair + (parity + 1), slices - 1);
            let a_next = a.aligned_load([first_row + a_row, next + a_col], WIDTH);
            let b_next = b.aligned_load([next + b_row, first_col + b_col], WIDTH);

            for k in comptime(0..DEPTH) {
                let a_part =
                    [current.0.aligned_load([k, row], WIDTH), current.0.aligned_load([k, row + 32], WIDTH)];
                let b_part =
                    [current.1.aligned_load([k, col], WIDTH), current.1.aligned_load([k, col + 16], WIDTH)];
                for (i, half) in comptime(pairs(8, 2)) {
                    acc[i][half] += a_part[i / WIDTH].lane(i % WIDTH) * b_part[half];
                }
            }

            for i in comptime(0..WIDTH) {
                other.0[[a_col + i, a_row]] = a_next.lane(i);
            }
            other.1.aligned_store([b_row, b_col], b_next);
            barrier();
        }
    }

    for (i, half) in comptime(pairs(8, 2)) {
        let (row, col) = (row + (32 * (i / WIDTH) + i % WIDTH), col + 16 * half);
        c.aligned_store([first_row + row, first_col + col], acc[i][half]);
    }
}

/// A number in each lane of a SIMD value.
#[device]
fn splat(x: f32) -> f32 {
    x.splat(WIDTH)
}

/// A slice of `a`: [`DEPTH`] rows of [`BLOCK_TILE`] elements, which lie 4 further apart than they are long.
fn padded_rows() -> Layout {
    Layout::new((DEPTH, BLOCK_TILE), (BLOCK_TILE + WIDTH, 1))
        .unwrap_or_else(|_| row_major([DEPTH, BLOCK_TILE]))
}

/// The pairs of a number below `m` and one below `n`.
fn pairs(m: usize, n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..m).flat_map(move |i| (0..n).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use tilewise::ir::{MemRef, Op, Space, pass};

    use super::*;

    /// The kernel after the passes.
    fn optimized(launch: Launch<'_>) -> Result<tilewise::ir::Kernel> {
        let mut kernel = launch.into_kernel()?;
        pass::prepare(&mut kernel);
        pass::optimize(&mut kernel);
        Ok(kernel)
    }

    #[test]
    fn the_tile_lies_in_registers() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let a = ctx.zeros::<f32, 2>(row_major([BLOCK_TILE, BLOCK_TILE]))?;
        let mut c = ctx.zeros::<f32, 2>(row_major([BLOCK_TILE, BLOCK_TILE]))?;
        let kernel = optimized(registers(&mut c, &a, &a))?;
        assert!(kernel.allocs.iter().all(|alloc| alloc.space == Space::Shared), "{kernel}");
        let (mut products, mut narrow) = (0, 0);
        kernel.body.visit(&mut |inst| match &inst.op {
            Op::MulAdd => products += 1,
            // All accesses are of whole SIMD values, but for the stores that transpose.
            Op::Load(access) => narrow += usize::from(access.align != 16),
            Op::Store(access) => {
                narrow +=
                    usize::from(access.align != 16 && access.mem == MemRef::Param(tilewise::ir::ParamId(0)));
            }
            _ => {}
        });
        // Two slices in the loop, 8 by 8 products for each number along `k`, of 4 lanes each.
        assert_eq!((products, narrow), (2 * DEPTH * 8 * 8 / WIDTH, 0));
        Ok(())
    }

    #[test]
    fn sizes_are_whole_tiles() {
        assert!(is_whole(128, 256, 16) && is_whole(4096, 4096, 4096));
        assert!(!is_whole(64, 128, 16) && !is_whole(128, 130, 16) && !is_whole(128, 128, 8));
        assert!(!is_whole(128, 128, 0));
    }

    /// Sizes that differ along the dimensions, against three loops.
    #[test]
    fn matrices_need_not_be_square() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let (m, n, k) = (256, 128, 48);
        let element = |i: usize, j: usize| ((i * 7 + j * 13) % 9) as f32 - 4.0;
        let a = ctx.tensor_from_fn(row_major([m, k]), |[i, j]| element(i, j))?;
        let b = ctx.tensor_from_fn(row_major([k, n]), |[i, j]| element(j, i))?;
        let (mut first, mut second) = (ctx.zeros(row_major([m, n]))?, ctx.zeros(row_major([m, n]))?);
        let grid = grid_dim((n / BLOCK_TILE, m / BLOCK_TILE));
        ctx.enqueue_function(registers(&mut first, &a, &b), grid, block_dim(THREADS))?;
        let grid = grid_dim((n / TILE, m / TILE));
        ctx.enqueue_function(tiled::<TILE>(&mut second, &a, &b), grid, block_dim((TILE, TILE)))?;
        let product = |i: usize| (0..k).map(|s| element(i / n, s) * element(i % n, s)).sum::<f32>();
        let expected: Vec<f32> = (0..m * n).map(product).collect();
        assert_eq!(first.to_host()?, expected);
        assert_eq!(second.to_host()?, expected);
        Ok(())
    }
}
