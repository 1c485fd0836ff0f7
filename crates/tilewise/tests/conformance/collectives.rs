//! What the threads of a block do together, for blocks of any size.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

/// Sizes of blocks: one thread, parts of a warp, whole ones, and all between.
const SIZES: [usize; 13] = [1, 17, 31, 32, 33, 45, 48, 64, 96, 100, 1000, 1023, 1024];

#[kernel]
fn block_sum(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let v = 2 * tid + 3;
    out[tid] = block::sum(v);
}

/// PART-1
#[test]
fn sums_of_blocks_of_any_size() {
    each_device(|ctx| {
        for b in SIZES {
            let mut out = zeros(ctx, b)?;
            ctx.enqueue_function(block_sum(&mut out), grid_dim(1), block_dim(b))?;
            assert_eq!(out.to_host()?, vec![b * (b + 2); b], "{b} threads");
        }
        Ok(())
    });
}

#[kernel]
fn other_operations(
    numbers: &mut TileTensor<u32, 2>,
    truth: &mut TileTensor<bool, 2>,
    floats: &mut TileTensor<f32, 2>,
) {
    let tid = thread_idx().x;
    numbers[[0, tid]] = block::min(1000 + tid as u32);
    truth[[0, tid]] = block::all(tid < 1024);
    numbers[[1, tid]] = block::product(if tid % 2 == 0 { 1u32 } else { 3 });
    numbers[[2, tid]] = block::and(0xff00 | tid as u32);
    truth[[1, tid]] = block::any(tid == 6);
    truth[[2, tid]] = block::all(tid != 6);
    floats[[0, tid]] = block::max(-1.5 - tid as f32);
    floats[[1, tid]] = block::min(f32::INFINITY);
    floats[[2, tid]] = block::sum(-0.0f32);
    floats[[3, tid]] = block::max(f32::NAN);
}

/// PART-3
#[test]
fn lanes_that_are_missing_change_nothing() {
    each_device(|ctx| {
        for (b, product) in [(7, 27), (40, 3486784401u32)] {
            let mut numbers = ctx.zeros(row_major([3, b]))?;
            let mut truth = ctx.zeros(row_major([3, b]))?;
            let mut floats = ctx.zeros(row_major([4, b]))?;
            let launch = other_operations(&mut numbers, &mut truth, &mut floats);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(b))?;
            let expected = [1000, product, 65280].map(|n| vec![n; b]).concat();
            assert_eq!(numbers.to_host()?, expected, "{b} threads");
            let expected = [true, true, false].map(|t| vec![t; b]).concat();
            assert_eq!(truth.to_host()?, expected, "{b} threads");
            let floats = floats.to_host()?;
            assert_eq!(floats[..2 * b], [vec![-1.5; b], vec![f32::INFINITY; b]].concat());
            let minus_zero = (-0.0f32).to_bits();
            assert!(floats[2 * b..3 * b].iter().all(|v| v.to_bits() == minus_zero), "{floats:?}");
            assert!(floats[3 * b..].iter().all(|v| v.is_nan()), "{floats:?}");
        }
        Ok(())
    });
}

#[kernel]
fn partial_sums(part: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>, n: usize) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    let v = if gid < n { x[gid] } else { 0 };
    let total = block::sum(v);
    if thread_idx().x == 0 {
        part[block_idx().x] = total;
    }
}

/// PART-5
#[test]
fn the_last_block_of_a_grid_is_not_full() {
    each_device(|ctx| {
        let x: Vec<u32> = (0..300).collect();
        let mut part = zeros(ctx, 4)?;
        ctx.enqueue_function(partial_sums(&mut part, &vector(ctx, &x)?, 300), grid_dim(4), block_dim(96))?;
        assert_eq!(part.to_host()?, [4560, 13776, 22992, 3522]);
        Ok(())
    });
}

#[kernel]
fn behind_a_return(part: &mut TileTensor<u32, 1>, n: usize) {
    let gid = thread_idx().x;
    if gid >= n {
        return;
    }
    part[0] = block::sum(1u32);
}

/// PART-5
#[test]
fn nothing_is_combined_behind_a_return() {
    each_device(|ctx| {
        let mut part = zeros(ctx, 1)?;
        let error =
            ctx.enqueue_function(behind_a_return(&mut part, 5), grid_dim(1), block_dim(8)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("all threads of a block have to take part"), "{message}");
        assert!(message.contains("collectives.rs"), "{message}");
        Ok(())
    });
}

#[kernel]
fn prefix_sums(inclusive: &mut TileTensor<i32, 1>, exclusive: &mut TileTensor<i32, 1>) {
    let tid = thread_idx().x;
    let v = tid as i32 % 7 - 2;
    inclusive[tid] = block::prefix_sum(v);
    exclusive[tid] = block::exclusive_prefix_sum(v);
}

#[kernel]
fn prefix_sums_of_floats(inclusive: &mut TileTensor<f32, 1>, exclusive: &mut TileTensor<f32, 1>) {
    let tid = thread_idx().x;
    let v = 0.25 * (tid % 5) as f32;
    inclusive[tid] = block::prefix_sum(v);
    exclusive[tid] = block::exclusive_prefix_sum(v);
}

#[test]
fn prefix_sums_go_over_the_edges_of_warps() {
    each_device(|ctx| {
        for b in SIZES {
            let (mut inclusive, mut exclusive) = (zeros(ctx, b)?, zeros(ctx, b)?);
            let launch = prefix_sums(&mut inclusive, &mut exclusive);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(b))?;
            let before = |end: usize| (0..end).map(|t| t as i32 % 7 - 2).sum::<i32>();
            assert_eq!(
                inclusive.to_host()?,
                (0..b).map(|t| before(t + 1)).collect::<Vec<_>>(),
                "{b} threads"
            );
            assert_eq!(exclusive.to_host()?, (0..b).map(before).collect::<Vec<_>>(), "{b} threads");

            let (mut inclusive, mut exclusive) = (zeros(ctx, b)?, zeros(ctx, b)?);
            let launch = prefix_sums_of_floats(&mut inclusive, &mut exclusive);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(b))?;
            // Quarters add up exactly, whatever the order.
            let before = |end: usize| (0..end).map(|t| 0.25 * (t % 5) as f32).sum::<f32>();
            assert_eq!(
                inclusive.to_host()?,
                (0..b).map(|t| before(t + 1)).collect::<Vec<_>>(),
                "{b} threads"
            );
            assert_eq!(exclusive.to_host()?, (0..b).map(before).collect::<Vec<_>>(), "{b} threads");
        }
        Ok(())
    });
}

#[kernel]
fn in_three_dimensions(sums: &mut TileTensor<usize, 3>, given: &mut TileTensor<usize, 3>, from: usize) {
    let t = thread_idx();
    let size = block_dim();
    let number = (t.z * size.y + t.y) * size.x + t.x;
    sums[[t.z, t.y, t.x]] = block::exclusive_prefix_sum(number);
    given[[t.z, t.y, t.x]] = block::broadcast(number * number, from);
}

#[test]
fn threads_are_numbered_x_fastest() {
    each_device(|ctx| {
        let shape = row_major([2, 5, 7]);
        let (mut sums, mut given) = (ctx.zeros(shape.clone())?, ctx.zeros(shape)?);
        for from in [0, 33, 69] {
            let launch = in_three_dimensions(&mut sums, &mut given, from);
            ctx.enqueue_function(launch, grid_dim(1), block_dim((7, 5, 2)))?;
            let expected: Vec<usize> = (0..70).map(|n| n * (n.max(1) - 1) / 2).collect();
            assert_eq!(sums.to_host()?, expected);
            assert_eq!(given.to_host()?, [from * from; 70]);
        }
        Ok(())
    });
}

#[kernel]
fn again_and_again(out: &mut TileTensor<u64, 1>, rounds: usize) {
    let tid = thread_idx().x;
    let mut v = tid as u64;
    for k in 0..rounds {
        let total = block::sum(v);
        let given = block::broadcast(v + k as u64, k % block_dim().x);
        v = total % 1000 + given % 10 + block::exclusive_prefix_sum(v) % 100 + tid as u64;
    }
    out[tid] = v;
}

#[test]
fn collectives_in_a_loop_use_their_memory_again() {
    each_device(|ctx| {
        for b in [5, 64, 100] {
            let mut out = zeros(ctx, b)?;
            ctx.enqueue_function(again_and_again(&mut out, 9), grid_dim(1), block_dim(b))?;
            let mut v: Vec<u64> = (0..b as u64).collect();
            for k in 0..9 {
                let total: u64 = v.iter().sum();
                let given = v[k % b] + k as u64;
                let mut before = 0;
                v = (0..b)
                    .map(|t| {
                        let next = total % 1000 + given % 10 + before % 100 + t as u64;
                        before += v[t];
                        next
                    })
                    .collect();
            }
            assert_eq!(out.to_host()?, v, "{b} threads");
        }
        Ok(())
    });
}

#[kernel]
fn around_and_around(out: &mut TileTensor<usize, 1>, last: usize) {
    let tid = thread_idx().x;
    let mut sum = 0;
    let mut k = 0;
    loop {
        sum += block::broadcast(tid + k, k);
        k += 1;
        if k == last {
            break;
        }
    }
    out[tid] = sum;
}

#[test]
fn a_value_is_given_again_when_all_have_read_the_last() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 1000)?;
        ctx.enqueue_function(around_and_around(&mut out, 1000), grid_dim(1), block_dim(1000))?;
        assert_eq!(out.to_host()?, [999_000; 1000]);
        Ok(())
    });
}

#[kernel]
fn normalize(out: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>) {
    let tid = thread_idx().x;
    let mean = block::sum(x[tid]) / block_dim().x as f32;
    out[tid] = x[tid] / mean;
}

#[test]
fn a_sum_can_be_divided_by() {
    each_device(|ctx| {
        let x: Vec<f32> = (0..128).map(|i| (i % 8 + 1) as f32).collect();
        let mut out = zeros(ctx, 128)?;
        ctx.enqueue_function(normalize(&mut out, &vector(ctx, &x)?), grid_dim(1), block_dim(128))?;
        let expected: Vec<f32> = x.iter().map(|v| v / 4.5).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}
