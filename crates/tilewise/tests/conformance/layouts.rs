//! Layouts as the maps of tensors in kernels.

use tilewise::layout::composition;
use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn outer_sum(out: &mut TileTensor<i32, 2>, row: &TileTensor<i32, 2>, col: &TileTensor<i32, 2>) {
    let (i, j) = (thread_idx().y, thread_idx().x);
    out[[i, j]] = row[[i, j]] * 10 + col[[i, j]];
}

/// LAY-7
#[test]
fn a_row_and_a_column_are_broadcast() {
    each_device(|ctx| {
        let (x, y) = (vector(ctx, &[1, 2, 3, 4])?, vector(ctx, &[5, 6, 7])?);
        let row = x.view::<2>(Layout::new((3, 4), (0, 1))?)?;
        let col = y.view::<2>(Layout::new((3, 4), (1, 0))?)?;
        let mut out = ctx.zeros::<i32, 2>(row_major([3, 4]))?;
        ctx.enqueue_function(outer_sum(&mut out, row, col), grid_dim(1), block_dim((4, 3)))?;
        assert_eq!(out.to_host()?, [15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47]);
        Ok(())
    });
}

#[kernel]
fn by_coordinates(out: &mut TileTensor<usize, 1>, a: &TileTensor<usize, 2>, #[comptime] rows: usize) {
    let i = thread_idx().x;
    out[i] = a[[i % rows, i / rows]];
}

/// LAY-1 in a kernel: a layout that is composed, if it can be, is the map of a view.
#[test]
fn a_composed_layout_is_the_map_of_a_view() {
    let a = Layout::new((4, 5), (1, 10)).unwrap();
    let step = Layout::new(5, 3).unwrap();
    match composition(&a, &step) {
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains('4') && message.contains('3'), "{message}");
        }
        Ok(composed) => {
            let table: Vec<usize> = composed.offsets().collect();
            assert_eq!(table, [0, 3, 12, 21, 30]);
        }
    }
    each_device(|ctx| {
        let memory = ctx.tensor_from_fn(row_major([64]), |[k]| k)?;
        // By coordinates (0..4, 0..5) with the first fastest.
        let view = memory.view::<2>(&a)?;
        let mut out = zeros(ctx, 20)?;
        ctx.enqueue_function(by_coordinates(&mut out, view, 4), grid_dim(1), block_dim(20))?;
        let expected: Vec<usize> = (0..20).map(|i| i % 4 + 10 * (i / 4)).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn static_extents<const R: usize, const C: usize>(out: &mut TileTensor<u32, 2>, a: &TileTensor<u32, 2>) {
    for r in comptime(0..R) {
        for c in comptime(0..C) {
            out[[r, c]] = a[[r, c]] + 1;
        }
    }
}

/// Extents that are constants of the kernel give the same as those of the launch.
#[test]
fn extents_may_be_constants() {
    each_device(|ctx| {
        let values: Vec<u32> = (0..6).collect();
        for layout in [row_major((fixed(2), fixed(3))), row_major((2, fixed(3))), row_major([2, 3])] {
            let a = ctx.tensor_from_slice(&layout, &values)?;
            let mut out = ctx.zeros::<u32, 2>(&layout)?;
            ctx.enqueue_function(static_extents::<2, 3>(&mut out, &a), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, [1, 2, 3, 4, 5, 6], "{layout}");
        }
        Ok(())
    });
}
