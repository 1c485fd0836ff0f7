//! SIMD values: loads and stores of every width, alignment, lanes.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn double_by_fours(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, start: usize, end: usize) {
    let v = a.slice([start..end]);
    let i = 4 * thread_idx().x;
    out.store(i, 2.0 * v.load(i, 4));
}

/// VEC-1
#[test]
fn a_view_that_starts_at_element_1_is_not_aligned() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([12]), |[i]| i as f32)?;
        for start in [0, 1, 0, 3] {
            let mut out = zeros(ctx, 8)?;
            let launch = double_by_fours(&mut out, &a, start, start + 8);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(2))?;
            let expected: Vec<f32> = (start..start + 8).map(|i| 2.0 * i as f32).collect();
            assert_eq!(out.to_host()?, expected, "from element {start}");
        }
        Ok(())
    });
}

#[kernel]
fn row_sums(sum: &mut TileTensor<f32, 1>, m: &TileTensor<f32, 2>) {
    let r = thread_idx().x;
    sum[r] = m.load([r, 0], 4).reduce_add() + m[[r, 4]];
}

/// VEC-3
#[test]
fn a_row_pitch_of_5_breaks_the_alignment_of_the_rows() {
    each_device(|ctx| {
        for layout in [row_major([3, 5]), Layout::new((3, 5), (8, 1))?] {
            let m = ctx.tensor_from_fn(layout, |[r, c]| (10 * r + c) as f32)?;
            let mut sum = zeros(ctx, 3)?;
            ctx.enqueue_function(row_sums(&mut sum, &m), grid_dim(1), block_dim(3))?;
            assert_eq!(sum.to_host()?, [10.0, 60.0, 110.0]);
        }
        Ok(())
    });
}

#[kernel]
fn add_rows(b: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    for i in 0..2 {
        vectorize(8, 8, |width, j| {
            b[i] += a.load(8 * i + j, width).reduce_add();
        });
    }
}

/// VEC-5
#[test]
fn a_vectorised_loop_adds_into_one_element() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([16]), |[k]| k as u32 + 1)?;
        let mut b = vector(ctx, &[100, 200])?;
        ctx.enqueue_function(add_rows(&mut b, &a), grid_dim(1), block_dim(1))?;
        assert_eq!(b.to_host()?, [136, 300]);
        Ok(())
    });
}

/// Lane by lane arithmetic, a broadcast scalar, selection, and the lanes in reverse.
#[kernel]
fn lanes<T: Num>(
    out: &mut TileTensor<T, 1>,
    reversed: &mut TileTensor<T, 1>,
    reduced: &mut TileTensor<T, 1>,
    a: &TileTensor<T, 1>,
    #[comptime] width: usize,
) {
    let two = T::from_f64(2.0);
    let v = a.load(0, width);
    let w = v * v + v * two;
    out.store(0, select(w > v.lane(0), w, v));
    #[comptime]
    let mut back = Vec::new();
    for lane in comptime((0..width).rev()) {
        back.push(v.lane(lane));
    }
    reversed.store(0, Val::from_lanes(&back));
    reduced[0] = v.reduce_add();
    reduced[1] = v.reduce_max();
    reduced[2] = v.reduce_min();
}

#[test]
fn values_of_1_to_8_lanes() {
    fn check<T: Num + std::fmt::Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        for width in 1..=8 {
            let number = |n: usize| T::from_f64(n as f64);
            let a = ctx.tensor_from_fn(row_major([width]), |[i]| number(i % 3 + 1))?;
            let (mut out, mut reversed) = (zeros(ctx, width)?, zeros(ctx, width)?);
            let mut reduced = zeros(ctx, 3)?;
            let launch = lanes(&mut out, &mut reversed, &mut reduced, &a, width);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
            let values: Vec<usize> = (0..width).map(|i| i % 3 + 1).collect();
            let expected: Vec<T> = values.iter().map(|&x| number(x * x + 2 * x)).collect();
            assert_eq!(out.to_host()?, expected, "{width} lanes of {}", T::SCALAR);
            let expected: Vec<T> = values.iter().rev().map(|&x| number(x)).collect();
            assert_eq!(reversed.to_host()?, expected, "{width} lanes of {}", T::SCALAR);
            let sum = number(values.iter().sum());
            assert_eq!(reduced.to_host()?, [sum, number(width.min(3)), T::ONE]);
        }
        Ok(())
    }
    each_device(|ctx| {
        check::<i8>(ctx)?;
        check::<u16>(ctx)?;
        check::<i32>(ctx)?;
        check::<u64>(ctx)?;
        check::<usize>(ctx)?;
        check::<f16>(ctx)?;
        check::<bf16>(ctx)?;
        check::<f32>(ctx)?;
        check::<f64>(ctx)
    });
}

/// Bits and truth values of the lanes together, and a choice lane by lane.
#[kernel]
fn conditions(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, b: &TileTensor<u32, 1>) {
    let (v, w) = (a.load(0, 4), b.load(0, 4));
    let less = v < w;
    out.store(0, select(less, v, w));
    out[4] = less.reduce_or() as u32;
    out[5] = less.reduce_and() as u32;
    out[6] = v.reduce_or();
    out[7] = v.reduce_and();
    out.store(8, (less & (v != 1)) as u32);
    if (v == w).reduce_and() {
        out[12] = 1;
    }
}

#[test]
fn conditions_have_lanes() {
    each_device(|ctx| {
        let (a, b) = (vector(ctx, &[1, 5, 3, 7])?, vector(ctx, &[2, 4, 3, 9])?);
        let mut out = zeros(ctx, 13)?;
        ctx.enqueue_function(conditions(&mut out, &a, &b), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [1, 4, 3, 7, 1, 0, 7, 1, 0, 0, 0, 1, 0]);
        Ok(())
    });
}

/// A variable of several lanes, assigned in a loop.
#[kernel]
fn accumulated(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 2>) {
    let mut sum = a.load([0, 0], 4);
    for row in 1..a.dim(0) {
        sum += a.load([row, 0], 4);
        if row == 2 {
            sum = sum * 2.0;
        }
    }
    out.aligned_store(0, sum);
}

#[test]
fn a_variable_may_have_lanes() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([4, 4]), |[r, c]| (r * 4 + c) as f32)?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(accumulated(&mut out, &a), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [36.0, 43.0, 50.0, 57.0]);
        Ok(())
    });
}

/// Lanes of a column: they are not neighbours in memory.
#[kernel]
fn columns(out: &mut TileTensor<i32, 2>, a: &TileTensor<i32, 2>) {
    let c = thread_idx().x;
    let column = a.transpose().load([c, 0], 3);
    out.transpose().store([c, 0], column * 10);
}

#[test]
fn lanes_may_be_apart_in_memory() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([3, 4]), |[r, c]| (4 * r + c) as i32)?;
        let mut out = ctx.zeros::<i32, 2>(row_major([3, 4]))?;
        ctx.enqueue_function(columns(&mut out, &a), grid_dim(1), block_dim(4))?;
        let expected: Vec<i32> = (0..12).map(|i| 10 * i).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

/// Element by element beyond the end, and the whole body at full width.
#[kernel]
fn scaled(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] width: usize) {
    vectorize(width, a.dim(0), |width, i| out.store(i, a.load(i, width) * 3.0));
}

#[test]
fn vectorize_takes_each_element_once() {
    each_device(|ctx| {
        for len in [0, 1, 3, 4, 5, 8, 15, 16, 17, 100] {
            let a = ctx.tensor_from_fn(row_major([len]), |[i]| i as f32)?;
            let expected: Vec<f32> = (0..len).map(|i| 3.0 * i as f32).collect();
            for width in [1, 2, 3, 4, 8, 16] {
                let mut out = zeros(ctx, len)?;
                ctx.enqueue_function(scaled(&mut out, &a, width), grid_dim(1), block_dim(1))?;
                assert_eq!(out.to_host()?, expected, "{len} elements, width {width}");
            }
        }
        Ok(())
    });
}

/// Rows of SIMD values that threads take in turn.
#[kernel]
fn distributed(out: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>) {
    let threads = row_major([2, 2]);
    let share = a.vectorize([1, 4]).distribute(threads.clone(), thread_idx().x);
    let to = out.vectorize([1, 4]).distribute(threads, thread_idx().x);
    for r in 0..share.dim(0) {
        for c in 0..share.dim(1) {
            to[[r, c]] = share[[r, c]] + 1.0;
        }
    }
}

#[test]
fn a_vectorized_tensor_is_distributed_by_whole_values() {
    each_device(|ctx| {
        for (rows, cols) in [(2, 8), (4, 16), (6, 8)] {
            let a = ctx.tensor_from_fn(row_major([rows, cols]), |[r, c]| (100 * r + c) as f32)?;
            let mut out = ctx.zeros::<f32, 2>(row_major([rows, cols]))?;
            ctx.enqueue_function(distributed(&mut out, &a), grid_dim(1), block_dim(4))?;
            let expected: Vec<f32> = a.to_host()?.iter().map(|x| x + 1.0).collect();
            assert_eq!(out.to_host()?, expected, "{rows} x {cols}");
        }
        Ok(())
    });
}
