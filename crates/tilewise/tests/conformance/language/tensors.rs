//! Elements of tensors: read, assigned, compound assignment, of all types and ranks.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn compound_assignment(out: &mut TileTensor<i32, 2>, x: &TileTensor<i32, 1>) {
    let t = thread_idx().x;
    out[[t, 0]] = x[t];
    out[[t, 0]] += 7;
    out[[t, 0]] -= x[0];
    out[[t, 0]] *= 3;
    out[[t, 0]] /= 2;
    out[[t, 1]] = out[[t, 0]];
    out[[t, 1]] %= 5;
    out[[t, 1]] ^= 0x3c;
    out[[t, 1]] &= 0x2f;
    out[[t, 1]] |= 0x40;
    out[[t, 1]] <<= 2;
    out[[t, 1]] >>= 1;
}

#[test]
fn elements_are_assigned() {
    each_device(|ctx| {
        let values = [4, 0, -9, 100];
        let x = vector(ctx, &values)?;
        let mut out = ctx.zeros::<i32, 2>(row_major([4, 2]))?;
        ctx.enqueue_function(compound_assignment(&mut out, &x), grid_dim(1), block_dim(4))?;
        let expected: Vec<i32> = values
            .iter()
            .flat_map(|x| {
                let first = (x + 7 - 4) * 3 / 2;
                [first, (((first % 5) ^ 0x3c) & 0x2f | 0x40) << 2 >> 1]
            })
            .collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn doubled<T: Num>(out: &mut TileTensor<T, 3>, a: &TileTensor<T, 3>) {
    let t = thread_idx();
    out[[t.z, t.y, t.x]] = a[[t.z, t.y, t.x]] + a[[t.z, t.y, t.x]];
}

#[test]
fn tensors_of_every_number_type() {
    fn check<T: Num + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let a =
            ctx.tensor_from_fn(col_major([2, 3, 4]), |[i, j, k]| T::from_f64((12 * i + 4 * j + k) as f64))?;
        let mut out = ctx.zeros::<T, 3>(row_major([2, 3, 4]))?;
        ctx.enqueue_function(doubled(&mut out, &a), grid_dim(1), block_dim((4, 3, 2)))?;
        let expected: Vec<T> = (0..24).map(|i| T::from_f64(f64::from(2 * i))).collect();
        assert_eq!(out.to_host()?, expected, "{}", T::SCALAR);
        Ok(())
    }
    each_device(|ctx| {
        check::<i8>(ctx)?;
        check::<i16>(ctx)?;
        check::<i32>(ctx)?;
        check::<i64>(ctx)?;
        check::<isize>(ctx)?;
        check::<u8>(ctx)?;
        check::<u16>(ctx)?;
        check::<u32>(ctx)?;
        check::<u64>(ctx)?;
        check::<usize>(ctx)?;
        check::<f16>(ctx)?;
        check::<bf16>(ctx)?;
        check::<f32>(ctx)?;
        check::<f64>(ctx)
    });
}

/// Scalars of every kind; a `mut` one is a variable of the thread.
#[kernel]
fn scalars(
    out: &mut TileTensor<f64, 1>,
    a: i8,
    b: u16,
    c: i64,
    d: bool,
    e: f16,
    f: bf16,
    mut g: f64,
    h: usize,
    i: isize,
) {
    g += 1.0;
    out[0] = a as f64;
    out[1] = b as f64;
    out[2] = c as f64;
    out[3] = if d { 1.0 } else { 0.0 };
    out[4] = e as f64;
    out[5] = f as f64;
    out[6] = g;
    out[7] = h as f64;
    out[8] = i as f64;
}

#[test]
fn scalar_arguments_of_every_type() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 9)?;
        let (e, f) = (f16::from_f64(1.5), bf16::from_f64(-2.0));
        let launch = scalars(&mut out, -3, 65_000, -1 << 40, true, e, f, 0.25, 1 << 40, -7);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        let large = (1u64 << 40) as f64;
        assert_eq!(out.to_host()?, [-3.0, 65_000.0, -large, 1.0, 1.5, -2.0, 1.25, large, -7.0]);
        Ok(())
    });
}

/// Extents, strides and sizes as the kernel sees them.
#[kernel]
fn extents(out: &mut TileTensor<usize, 1>, a: &TileTensor<f32, 3>) {
    for d in comptime(0..3) {
        out[d] = a.dim(d);
        out[3 + d] = a.stride(d);
    }
    out[6] = a.size();
}

#[test]
fn tensors_know_their_extents() {
    each_device(|ctx| {
        let cases = [(row_major([2, 3, 4]), [12, 4, 1]), (col_major([2, 3, 4]), [1, 2, 6])];
        for (layout, strides) in cases {
            let a = ctx.zeros::<f32, 3>(layout)?;
            let mut out = zeros(ctx, 7)?;
            ctx.enqueue_function(extents(&mut out, &a), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, [[2, 3, 4].as_slice(), &strides, &[24]].concat());
        }
        Ok(())
    });
}

/// A dot product and a stencil: the shapes of the tutorials' kernels, on many sizes.
#[kernel]
fn dot(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([64]));
    let i = block_dim().x * block_idx().x + thread_idx().x;
    let local = thread_idx().x;
    shared[local] = if i < size { a[i] * b[i] } else { 0.0 };
    barrier();
    let mut stride = block_dim().x / 2;
    while stride > 0 {
        if local < stride {
            shared[local] += shared[local + stride];
        }
        barrier();
        stride /= 2;
    }
    if local == 0 {
        out.atomic(0).fetch_add(shared[0]);
    }
}

#[test]
fn dot_products_of_many_sizes() {
    each_device(|ctx| {
        for size in [1, 2, 63, 64, 65, 1000] {
            let a = ctx.tensor_from_fn(row_major([size]), |[i]| (i % 7) as f32)?;
            let b = ctx.tensor_from_fn(row_major([size]), |[i]| (i % 5) as f32)?;
            let mut out = zeros(ctx, 1)?;
            let launch = dot(&mut out, &a, &b, size);
            ctx.enqueue_function(launch, grid_dim(size.div_ceil(64)), block_dim(64))?;
            let expected: usize = (0..size).map(|i| (i % 7) * (i % 5)).sum();
            assert_eq!(out.to_host()?, [expected as f32], "{size}");
        }
        Ok(())
    });
}
