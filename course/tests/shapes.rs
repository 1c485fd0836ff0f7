//! The course's kernels at shapes that its puzzles do not have: one element, ragged edges, many blocks, rectangles.

use tilewise::prelude::*;

mod dot_product {
    use super::*;

    const TPB: usize = 256;

    /// Puzzle 12 for any size: what lies beyond the vectors adds zero, and each block adds its sum to the result.
    #[kernel]
    fn dot_product(
        output: &mut TileTensor<f32, 1>,
        a: &TileTensor<f32, 1>,
        b: &TileTensor<f32, 1>,
        size: usize,
    ) {
        let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB]));
        let global_i = block_dim().x * block_idx().x + thread_idx().x;
        let local_i = thread_idx().x;

        shared[local_i] = if global_i < size { a[global_i] * b[global_i] } else { 0.0 };
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

    #[test]
    fn of_any_size() -> Result<()> {
        let ctx = DeviceContext::new()?;
        for n in [1, 7, 8, 9, 255, 256, 257, 1000, 1 << 20] {
            let a = ctx.tensor_from_fn(row_major([n]), |[i]| (i % 4 + 1) as f32)?;
            let b = ctx.tensor_from_fn(row_major([n]), |[i]| (i % 3) as f32)?;
            let mut output = ctx.zeros::<f32, 1>(row_major([1]))?;
            let launch = dot_product(&mut output, &a, &b, n);
            ctx.enqueue_function(launch, grid_dim(n.div_ceil(TPB)), block_dim(TPB))?;
            // Every partial sum is a whole number below 2^24, which f32 has exactly.
            let expected: usize = (0..n).map(|i| (i % 4 + 1) * (i % 3)).sum();
            assert!(expected < 1 << 24);
            assert_eq!(output.to_host()?, [expected as f32], "n = {n}");
        }
        Ok(())
    }
}

mod matmul {
    use super::*;

    /// Puzzle 16 for any shape: `output` (m by n) is `a` (m by k) times `b` (k by n).
    #[kernel]
    fn matmul<const TILE: usize>(
        output: &mut TileTensor<f32, 2>,
        a: &TileTensor<f32, 2>,
        b: &TileTensor<f32, 2>,
    ) {
        let a_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
        let b_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
        let (local_row, local_col) = (thread_idx().y, thread_idx().x);
        let row = block_idx().y * TILE + local_row;
        let col = block_idx().x * TILE + local_col;
        let (rows, cols, inner) = (output.dim(0), output.dim(1), a.dim(1));

        let mut acc = 0.0;
        for start in (0..inner).step_by(TILE) {
            let (a_col, b_row) = (start + local_col, start + local_row);
            a_shared[[local_row, local_col]] =
                if row < rows && a_col < inner { a[[row, a_col]] } else { 0.0 };
            b_shared[[local_row, local_col]] =
                if b_row < inner && col < cols { b[[b_row, col]] } else { 0.0 };
            barrier();
            for k in comptime(0..TILE) {
                acc += a_shared[[local_row, k]] * b_shared[[k, local_col]];
            }
            barrier();
        }
        if row < rows && col < cols {
            output[[row, col]] = acc;
        }
    }

    fn check<const TILE: usize>(ctx: &DeviceContext, [m, k, n]: [usize; 3]) -> Result<()> {
        let a_at = |i, j| (3 * i + j) % 7;
        let b_at = |i, j| (i + 5 * j) % 4;
        let a = ctx.tensor_from_fn(row_major([m, k]), |[i, j]| a_at(i, j) as f32)?;
        let b = ctx.tensor_from_fn(row_major([k, n]), |[i, j]| b_at(i, j) as f32)?;
        // What is not written stays visible.
        let mut output = ctx.full::<f32, 2>(row_major([m, n]), -1.0)?;
        let grid = grid_dim((n.div_ceil(TILE), m.div_ceil(TILE)));
        ctx.enqueue_function(matmul::<TILE>(&mut output, &a, &b), grid, block_dim((TILE, TILE)))?;
        let element = |i, j| (0..k).map(|l| a_at(i, l) * b_at(l, j)).sum::<usize>() as f32;
        let expected: Vec<f32> = (0..m * n).map(|i| element(i / n, i % n)).collect();
        assert_eq!(output.to_host()?, expected, "{m} by {k} times {k} by {n}, tiles of {TILE}");
        Ok(())
    }

    #[test]
    fn of_any_shape() -> Result<()> {
        let ctx = DeviceContext::new()?;
        for shape in [[1, 1, 1], [2, 2, 2], [9, 9, 9], [33, 17, 65], [1, 40, 5], [64, 64, 64]] {
            check::<1>(&ctx, shape)?;
            check::<3>(&ctx, shape)?;
            check::<8>(&ctx, shape)?;
            check::<16>(&ctx, shape)?;
        }
        check::<32>(&ctx, [64, 64, 64])?;
        check::<32>(&ctx, [33, 17, 65])
    }
}

mod vectorized_add {
    use super::*;

    const SIZES: [usize; 5] = [1, 3, 1023, 1024, 1025];
    const WIDTHS: [usize; 4] = [1, 2, 4, 8];

    type Vector = DeviceTensor<f32, 1>;

    /// Two vectors of `n` elements, and their sum.
    fn data(ctx: &DeviceContext, n: usize) -> Result<(Vector, Vector, Vec<f32>)> {
        let a = ctx.tensor_from_fn(row_major([n]), |[i]| (2 * i) as f32)?;
        let b = ctx.tensor_from_fn(row_major([n]), |[i]| (2 * i + 1) as f32)?;
        Ok((a, b, (0..n).map(|i| (4 * i + 1) as f32).collect()))
    }

    /// Puzzle 23, `--vectorized`, without a claim of alignment, which tiles of odd sizes break.
    fn add(
        ctx: &DeviceContext,
        output: &mut Vector,
        a: &Vector,
        b: &Vector,
        width: usize,
        tile_size: usize,
    ) -> Result<()> {
        let size = a.len();
        let num_tiles = size.div_ceil(tile_size);
        let process_tile = tilewise::kernel!([mut output, a, b, size] |[tile_id]| {
            let tile_start = tile_id * tile_size;
            let actual_tile_size = min(tile_start + tile_size, size) - tile_start;
            vectorize(width, actual_tile_size, |width, i| {
                let at = tile_start + i;
                output.store(at, a.load(at, width) + b.load(at, width));
            });
        });
        elementwise(ctx, 1, [num_tiles], process_tile)
    }

    /// The same through views of the tiles, the last of which may be short.
    fn add_views(
        ctx: &DeviceContext,
        output: &mut Vector,
        a: &Vector,
        b: &Vector,
        width: usize,
        tile_size: usize,
    ) -> Result<()> {
        let num_tiles = a.len().div_ceil(tile_size);
        let process_tile = tilewise::kernel!([mut output, a, b] |[tile_id]| {
            let output_tile = output.tile(tile_size, tile_id);
            let a_tile = a.tile(tile_size, tile_id);
            let b_tile = b.tile(tile_size, tile_id);
            vectorize(width, output_tile.dim(0), |width, i| {
                output_tile.store(i, a_tile.load(i, width) + b_tile.load(i, width));
            });
        });
        elementwise(ctx, 1, [num_tiles], process_tile)
    }

    #[test]
    fn with_any_width_and_tile_size() -> Result<()> {
        let ctx = DeviceContext::new()?;
        for n in SIZES {
            let (a, b, expected) = data(&ctx, n)?;
            for width in WIDTHS {
                for tile_size in 1..=64 {
                    let case = format!("n = {n}, width {width}, tile size {tile_size}");
                    let mut output = ctx.zeros(row_major([n]))?;
                    add(&ctx, &mut output, &a, &b, width, tile_size)?;
                    assert_eq!(output.to_host()?, expected, "{case}");
                    let mut output = ctx.zeros(row_major([n]))?;
                    add_views(&ctx, &mut output, &a, &b, width, tile_size)?;
                    assert_eq!(output.to_host()?, expected, "{case}, views");
                }
            }
        }
        Ok(())
    }

    /// Puzzle 23, `--elementwise`.
    #[test]
    fn with_any_width_element_by_element() -> Result<()> {
        let ctx = DeviceContext::new()?;
        for n in SIZES {
            let (a, b, expected) = data(&ctx, n)?;
            for width in WIDTHS {
                let mut output = ctx.zeros::<f32, 1>(row_major([n]))?;
                let add = tilewise::kernel!([mut output, a, b] |width, [i]| {
                    output.store(i, a.aligned_load(i, width) + b.aligned_load(i, width));
                });
                elementwise(&ctx, width, [n], add)?;
                assert_eq!(output.to_host()?, expected, "n = {n}, width {width}");

                let mut output = ctx.zeros::<f32, 1>(row_major([n]))?;
                let add = tilewise::kernel!([mut output, a, b] |[i]| output[i] = a[i] + b[i]);
                elementwise(&ctx, width, [n], add)?;
                assert_eq!(output.to_host()?, expected, "n = {n}, width {width}, short form");
            }
        }
        Ok(())
    }
}
