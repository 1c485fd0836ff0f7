//! Views of tensors: transposed, reshaped, sliced, copied and filled; and views that the host makes.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn transposed(out: &mut TileTensor<usize, 2>, a: &TileTensor<usize, 2>) {
    let t = a.transpose();
    let (i, j) = (thread_idx().x / 3, thread_idx().x % 3);
    out[[i, j]] = t[[i, j]];
}

#[kernel]
fn reshaped(out: &mut TileTensor<usize, 2>, a: &TileTensor<usize, 2>) {
    let (i, j) = (thread_idx().x / 6, thread_idx().x % 6);
    out[[i, j]] = a.reshape([2, 6])[[i, j]];
}

#[kernel]
fn transposed_then_reshaped(out: &mut TileTensor<usize, 2>, a: &TileTensor<usize, 2>) {
    out[[0, 0]] = a.transpose().reshape([2, 6])[[0, 0]];
}

/// VIEW-5
#[test]
fn transpose_and_reshape() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([3, 4]), |[r, c]| 4 * r + c)?;
        let mut out = ctx.zeros::<usize, 2>(row_major([4, 3]))?;
        ctx.enqueue_function(transposed(&mut out, &a), grid_dim(1), block_dim(12))?;
        assert_eq!(out.to_host()?, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);

        let mut out = ctx.zeros::<usize, 2>(row_major([2, 6]))?;
        ctx.enqueue_function(reshaped(&mut out, &a), grid_dim(1), block_dim(12))?;
        assert_eq!(out.to_host()?, (0..12).collect::<Vec<_>>());

        let refused = ctx.enqueue_function(transposed_then_reshaped(&mut out, &a), grid_dim(1), block_dim(1));
        let message = refused.expect_err("a transpose cannot be reshaped").to_string();
        assert!(message.contains("views.rs") && message.contains("copy it"), "{message}");
        Ok(())
    });
}

#[kernel]
fn reshaped_to(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 2>, rows: usize, cols: usize) {
    let b = a.reshape([rows, cols]);
    let c = b.reshape([rows * cols]);
    for i in 0..b.dim(0) {
        for j in 0..b.dim(1) {
            out[i * cols + j] = 10 * b[[i, j]] + c[i * cols + j];
        }
    }
}

#[test]
fn reshape_to_extents_of_the_launch() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([3, 4]), |[r, c]| (4 * r + c) as u32)?;
        for (rows, cols) in [(2, 6), (12, 1), (4, 3)] {
            let mut out = zeros(ctx, 12)?;
            ctx.enqueue_function(reshaped_to(&mut out, &a, rows, cols), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, (0..12).map(|i| 11 * i).collect::<Vec<_>>(), "{rows} x {cols}");
        }
        // 5 x 2 are not 12 elements: nothing can be read there.
        let mut out = zeros(ctx, 12)?;
        ctx.enqueue_function(reshaped_to(&mut out, &a, 5, 2), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [0; 12]);
        Ok(())
    });
}

/// A window that is copied to shared memory and back to another place.
#[kernel]
fn window(out: &mut TileTensor<i32, 2>, a: &TileTensor<i32, 2>, row: usize, col: usize) {
    let part = a.slice([row..row + 2, col..col + 3]);
    let kept = stack_allocation::<i32, 2>(AddressSpace::Shared, row_major([2, 3]));
    let local = stack_allocation::<i32, 2>(AddressSpace::Local, col_major([2, 3]));
    if thread_idx().x == 0 {
        kept.copy_from(&part);
    }
    barrier();
    local.copy_from(&kept);
    if thread_idx().x == 1 {
        out.fill(-1);
        out.slice([1..3, 0..3]).copy_from(&local);
        out.slice([0..1, 0..2]).fill(7);
    }
}

#[test]
fn slices_are_copied_and_filled() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([5, 6]), |[r, c]| (10 * r + c) as i32)?;
        for (row, col) in [(0, 0), (1, 2), (3, 3)] {
            let mut out = ctx.zeros::<i32, 2>(row_major([3, 4]))?;
            ctx.enqueue_function(window(&mut out, &a, row, col), grid_dim(1), block_dim(2))?;
            let at = |r: usize, c: usize| (10 * (row + r) + col + c) as i32;
            let expected =
                [[7, 7, -1, -1], [at(0, 0), at(0, 1), at(0, 2), -1], [at(1, 0), at(1, 1), at(1, 2), -1]];
            assert_eq!(out.to_host()?, *expected.as_flattened());
        }
        Ok(())
    });
}

#[kernel]
fn copy(out: &mut TileTensor<i32, 2>, a: &TileTensor<i32, 2>) {
    if thread_idx().x == 0 {
        out.copy_from(a);
    }
}

/// Column-major, with a pitch, a part, a diagonal, transposed, a single row: one kernel for all.
#[test]
fn layouts_and_views_of_the_host() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([4, 4]), |[r, c]| (10 * r + c) as i32)?;
        let mut out = ctx.full::<i32, 2>(col_major([2, 2]), -5)?;
        ctx.enqueue_function(
            copy(&mut out, a.view_at::<2>(5, Layout::new((2, 2), (4, 1))?)?),
            grid_dim(1),
            block_dim(1),
        )?;
        assert_eq!(out.to_host()?, [11, 12, 21, 22]);
        assert_eq!(out.into_buffer().to_host()?, [11, 21, 12, 22]);

        let mut out = ctx.zeros::<i32, 2>(Layout::new((4, 4), (6, 1))?)?;
        ctx.enqueue_function(copy(&mut out, a.transpose()), grid_dim(1), block_dim(1))?;
        assert_eq!(out.get([1, 3])?, 31);
        assert_eq!(out.transpose().to_host()?, a.to_host()?);

        let mut out = ctx.zeros::<i32, 2>(row_major([4, 4]))?;
        let diagonal = a.view_at::<2>(0, Layout::new((1, 4), (0, 5))?)?;
        ctx.enqueue_function(
            copy(out.view_mut_at::<2>(8, row_major([1, 4]))?, diagonal),
            grid_dim(1),
            block_dim(1),
        )?;
        assert_eq!(out.to_host()?[8..12], [0, 11, 22, 33]);
        assert_eq!(out.to_host()?[..8], [0; 8]);
        Ok(())
    });
}

#[kernel]
fn shift_by_one(out: &mut TileTensor<u32, 1>, input: &TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    let v = input[(tid + 1) % input.dim(0)];
    barrier();
    out[tid] = v;
    barrier();
    out[tid] += input[tid];
}

/// Output and input are the same memory, and the kernel is told so: a read after a write sees what was written.
#[test]
fn in_place() {
    each_device(|ctx| {
        let mut a = vector(ctx, &[1, 2, 3, 4, 5])?;
        let (out, input) = a.in_out();
        ctx.enqueue_function(shift_by_one(out, input), grid_dim(1), block_dim(5))?;
        assert_eq!(a.to_host()?, [4, 6, 8, 10, 2]);
        Ok(())
    });
}
