//! `kernel!` with `elementwise`: rank 1 to 3, every width, captured tensors, views and numbers.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[test]
fn rank_1() {
    each_device(|ctx| {
        for len in [0, 1, 5, 64, 257, 1000] {
            let a = ctx.tensor_from_fn(row_major([len]), |[i]| i as f32)?;
            let factor = 3.0f32;
            let expected: Vec<f32> = (0..len).map(|i| 3.0 * i as f32 + 1.0).collect();
            for width in [1, 2, 3, 4, 8] {
                let mut out = zeros(ctx, len)?;
                let body = tilewise::kernel!([mut out, a, factor] |[i]| out[i] = a[i] * factor + 1.0);
                elementwise(ctx, width, [len], body)?;
                assert_eq!(out.to_host()?, expected, "{len} by {width}");

                let mut out = zeros(ctx, len)?;
                let body = tilewise::kernel!([mut out, a] |width, [i]| {
                    let v = a.load(i, width);
                    out.store(i, v * factor + 1.0);
                });
                elementwise(ctx, width, [len], body)?;
                assert_eq!(out.to_host()?, expected, "{len} by {width}, with loads and stores");
            }
        }
        Ok(())
    });
}

#[test]
fn rank_2_and_3() {
    each_device(|ctx| {
        for (rows, cols) in [(1, 1), (3, 5), (7, 16), (0, 4), (4, 0)] {
            for width in [1, 4] {
                let a = ctx.tensor_from_fn(row_major([rows, cols]), |[r, c]| 100 * r + c)?;
                let mut out = ctx.zeros::<usize, 2>(row_major([rows, cols]))?;
                let body = tilewise::kernel!([mut out, a] |[r, c]| out[[r, c]] = a[[r, c]] + 1);
                elementwise(ctx, width, [rows, cols], body)?;
                let expected: Vec<usize> = a.to_host()?.iter().map(|x| x + 1).collect();
                assert_eq!(out.to_host()?, expected, "{rows} x {cols} by {width}");
            }
        }
        let mut out = ctx.zeros::<usize, 3>(row_major([3, 4, 5]))?;
        let body = tilewise::kernel!([mut out] |[i, j, k]| out[[i, j, k]] = 100 * i + 10 * j + k);
        elementwise(ctx, 2, [3, 4, 5], body)?;
        let expected: Vec<usize> = (0..60).map(|n| 100 * (n / 20) + 10 * (n / 5 % 4) + n % 5).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

/// A transposed write: the lanes lie apart.
#[test]
fn other_layouts() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([6, 4]), |[r, c]| (10 * r + c) as f32)?;
        let mut out = ctx.zeros::<f32, 2>(row_major([4, 6]))?;
        {
            let mut turned = out.as_view_mut();
            let body = tilewise::kernel!([mut turned, a] |[r, c]| turned[[c, r]] = a[[r, c]]);
            elementwise(ctx, 4, [6, 4], body)?;
        }
        assert_eq!(out.to_host()?, a.transpose().to_host()?);
        Ok(())
    });
}

/// References, views and buffers are captured like tensors; control flow is that of kernels.
#[test]
fn captures_and_control_flow() {
    each_device(|ctx| {
        let a = vector(ctx, &[3, 1, 4, 1, 5, 9, 2, 6])?;
        let view = a.view_at::<1>(2, row_major([4]))?;
        let mut buffer = ctx.enqueue_create_buffer::<i32>(4)?;
        let limit = 4;
        let table = [10, 20, 30];
        {
            let to = &mut buffer;
            let body = tilewise::kernel!([mut to, view, limit] |_width, [i]| {
                let mut v = view[i];
                if v > limit {
                    v = -v;
                } else {
                    for t in table {
                        v += t;
                    }
                }
                to[i] = v;
            });
            elementwise(ctx, 1, [4], body)?;
        }
        assert_eq!(buffer.to_host()?, [64, 61, -5, -9]);
        Ok(())
    });
}

/// The extents and captured numbers are no part of the kernel; whether the width divides the length is.
#[test]
fn one_kernel_serves_all_sizes() {
    each_device(|ctx| {
        for (round, len) in [8, 16, 24, 400, 7, 13, 21, 401].into_iter().enumerate() {
            let a = ctx.full::<u32, 1>(row_major([len]), round as u32)?;
            let mut out = zeros(ctx, len)?;
            let by = round as u32;
            let body = tilewise::kernel!([mut out, a, by] |[i]| out[i] = a[i] * by);
            elementwise(ctx, 4, [len], body)?;
            assert_eq!(out.to_host()?, vec![by * by; len]);
        }
        assert_eq!(ctx.compilations(), 2);
        Ok(())
    });
}
