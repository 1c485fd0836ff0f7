//! Matrix multiplication with tiles in shared memory.

use tilewise::prelude::*;

use crate::harness::each_device;

const TILE: usize = 4;

/// `c = a * b`, or `c += a * b`.
#[kernel]
fn matmul(
    c: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
    #[comptime] accumulate: bool,
) {
    let a_tile = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let b_tile = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let (local_row, local_col) = (thread_idx().x / TILE, thread_idx().x % TILE);
    let (row, col) = (block_idx().y * TILE + local_row, block_idx().x * TILE + local_col);
    let inside = row < c.dim(0) && col < c.dim(1);
    let mut acc: f32 = 0.0;
    for t in 0..a.dim(1).div_ceil(TILE) {
        let (k_a, k_b) = (t * TILE + local_col, t * TILE + local_row);
        a_tile[[local_row, local_col]] = if row < a.dim(0) && k_a < a.dim(1) { a[[row, k_a]] } else { 0.0 };
        b_tile[[local_row, local_col]] = if k_b < b.dim(0) && col < b.dim(1) { b[[k_b, col]] } else { 0.0 };
        barrier();
        for k in comptime(0..TILE) {
            acc += a_tile[[local_row, k]] * b_tile[[k, local_col]];
        }
        barrier();
    }
    if inside {
        c[[row, col]] = if accumulate { c[[row, col]] + acc } else { acc };
    }
}

fn launch(
    ctx: &DeviceContext,
    c: &mut DeviceTensor<f32, 2>,
    a: &DeviceTensor<f32, 2>,
    b: &DeviceTensor<f32, 2>,
    accumulate: bool,
) -> tilewise::Result<()> {
    let [rows, cols] = c.shape();
    let grid = grid_dim((cols.div_ceil(TILE), rows.div_ceil(TILE)));
    ctx.enqueue_function(matmul(c, a, b, accumulate), grid, block_dim(TILE * TILE))
}

/// MM-1: the operands lie among NaN.
#[test]
fn five_by_seven_times_seven_by_three() {
    each_device(|ctx| {
        let operand = |layout: Layout, len: usize| -> tilewise::Result<DeviceTensor<f32, 2>> {
            let mut buffer = ctx.enqueue_create_buffer::<f32>(len)?;
            buffer.enqueue_fill(f32::NAN)?;
            ctx.tensor_from_buffer(buffer, layout)
        };
        let mut a = operand(Layout::new((5, 7), (9, 1))?, 64)?;
        a.map_to_host(|host| (0..35).for_each(|i| host[i] = (i / 7 + i % 7) as f32))?;
        let mut b = operand(Layout::new((7, 3), (5, 1))?, 64)?;
        b.map_to_host(|host| (0..21).for_each(|i| host[i] = (i / 3) as f32 - (i % 3) as f32))?;
        let mut buffer = ctx.enqueue_create_buffer::<f32>(35)?;
        buffer.enqueue_fill(77.0)?;
        let c = buffer.view_mut::<2>(row_major([5, 3]))?;
        ctx.enqueue_function(matmul(c, &a, &b, false), grid_dim((1, 2)), block_dim(TILE * TILE))?;
        let host = buffer.to_host()?;
        let expected = [91, 70, 49, 112, 84, 56, 133, 98, 63, 154, 112, 70, 175, 126, 77].map(|x| x as f32);
        assert_eq!(host[..15], expected);
        assert_eq!(host[15..], [77.0; 20]);
        Ok(())
    });
}

/// MM-3
#[test]
fn a_matrix_may_have_no_columns_or_no_rows() {
    each_device(|ctx| {
        let matrix = |rows, cols| ctx.full::<f32, 2>(row_major([rows, cols]), 9.0);
        let (mut c, mut d) = (matrix(3, 4)?, matrix(3, 4)?);
        let (a, b) = (matrix(3, 0)?, matrix(0, 4)?);
        launch(ctx, &mut c, &a, &b, false)?;
        launch(ctx, &mut d, &a, &b, true)?;
        assert_eq!(c.to_host()?, [0.0; 12]);
        assert_eq!(d.to_host()?, [9.0; 12]);
        for (m, n) in [(0, 4), (3, 0)] {
            let mut c = matrix(m, n)?;
            launch(ctx, &mut c, &matrix(m, 5)?, &matrix(5, n)?, false)?;
            assert!(c.to_host()?.is_empty());
        }
        Ok(())
    });
}

#[test]
fn many_sizes() {
    each_device(|ctx| {
        for (m, k, n) in [(1, 1, 1), (4, 4, 4), (3, 9, 5), (8, 12, 4), (17, 6, 13)] {
            let a = ctx.tensor_from_fn(row_major([m, k]), |[i, j]| (i + 2 * j) as f32)?;
            let b = ctx.tensor_from_fn(col_major([k, n]), |[i, j]| (3 * i) as f32 - j as f32)?;
            let mut c = ctx.zeros::<f32, 2>(row_major([m, n]))?;
            launch(ctx, &mut c, &a, &b, false)?;
            let product = |i: usize, j: usize| -> f32 {
                (0..k).map(|x| (i + 2 * x) as f32 * ((3 * x) as f32 - j as f32)).sum()
            };
            let expected: Vec<f32> = (0..m * n).map(|e| product(e / n, e % n)).collect();
            assert_eq!(c.to_host()?, expected, "{m} x {k} x {n}");
        }
        Ok(())
    });
}
