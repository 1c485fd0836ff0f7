//! Which launches share a compiled kernel.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn times(out: &mut TileTensor<i32, 1>, x: &TileTensor<i32, 1>, #[comptime] k: i32) {
    out[0] = x[0] * k;
}

#[kernel]
fn divide<T: Num>(out: &mut TileTensor<T, 1>, x: &TileTensor<T, 1>, y: &TileTensor<T, 1>) {
    out[0] = x[0] / y[0];
}

/// CACHE-1
#[test]
fn compile_time_values_and_types_make_kernels_of_their_own() {
    each_device(|ctx| {
        let x = vector(ctx, &[7])?;
        for (k, expected) in [(3, 21), (5, 35), (3, 21)] {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(times(&mut out, &x, k), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, [expected]);
        }
        assert_eq!(ctx.compilations(), 2);

        let (x, y, mut out) = (vector(ctx, &[5.0])?, vector(ctx, &[2.0])?, zeros::<f32>(ctx, 1)?);
        ctx.enqueue_function(divide(&mut out, &x, &y), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [2.5]);
        let (x, y, mut out) = (vector(ctx, &[5])?, vector(ctx, &[2])?, zeros::<i32>(ctx, 1)?);
        ctx.enqueue_function(divide(&mut out, &x, &y), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [2]);
        assert_eq!(ctx.compilations(), 4);
        Ok(())
    });
}

#[kernel]
fn element(out: &mut TileTensor<usize, 1>, v: &TileTensor<usize, 2>) {
    out[0] = v[[1, 2]];
}

/// CACHE-3
#[test]
fn strides_count() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([24]), |[k]| k)?;
        let pitched = Layout::new((3, 4), (6, 1))?;
        for (layout, expected) in [(row_major([3, 4]), 6), (col_major([3, 4]), 7), (pitched, 8)] {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(element(&mut out, a.view::<2>(&layout)?), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, [expected], "{layout}");
        }
        Ok(())
    });
}

#[kernel]
fn affine(out: &mut TileTensor<i32, 1>, x: &TileTensor<i32, 1>, factor: i32, n: i32) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    if gid < out.dim(0) {
        out[gid] = x[gid] * factor + n;
    }
}

/// CACHE-5
#[test]
fn arguments_lengths_and_buffers_do_not_count() {
    each_device(|ctx| {
        let launch = |round: i32| -> tilewise::Result<()> {
            let len = (round % 17 + 1) as usize;
            let x = ctx.tensor_from_fn(row_major([len]), |[i]| i as i32)?;
            let mut out = zeros(ctx, len)?;
            let grid = grid_dim(len.div_ceil(8));
            ctx.enqueue_function(affine(&mut out, &x, round, -round), grid, block_dim(8))?;
            assert_eq!(out.to_host()?[len - 1], (len as i32 - 1) * round - round);
            Ok(())
        };
        (0..500).try_for_each(launch)?;
        assert_eq!(ctx.compilations(), 1);
        let x = vector(ctx, &[1])?;
        for k in 0..20 {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(times(&mut out, &x, k), grid_dim(1), block_dim(1))?;
        }
        assert_eq!(ctx.compilations(), 21);
        (500..1000).try_for_each(launch)?;
        assert_eq!(ctx.compilations(), 21);
        Ok(())
    });
}

/// Clones of a context share their kernels; the optimiser makes other ones.
#[test]
fn clones_share_kernels() {
    each_device(|ctx| {
        let x = vector(ctx, &[2])?;
        for ctx in [ctx.clone(), ctx.clone().with_threads(2), ctx.clone()] {
            let mut out = zeros(&ctx, 1)?;
            ctx.enqueue_function(times(&mut out, &x, 3), grid_dim(1), block_dim(1))?;
            assert_eq!(ctx.compilations(), 1);
        }
        for optimizer in [true, false] {
            let ctx = ctx.clone().with_optimizer(optimizer);
            let mut out = zeros(&ctx, 1)?;
            ctx.enqueue_function(times(&mut out, &x, 3), grid_dim(1), block_dim(1))?;
        }
        assert_eq!(ctx.compilations(), 2);
        Ok(())
    });
}
