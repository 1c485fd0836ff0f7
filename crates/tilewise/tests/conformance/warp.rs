//! Shuffles, votes and sums of warps, also of warps that have not all their lanes.

use tilewise::ir::FaultKind;
use tilewise::prelude::*;

use crate::harness::{Need, assert_same, each_device, each_device_with, fault, source_line, vector, zeros};

#[kernel]
fn down_and_up(down: &mut TileTensor<usize, 1>, up: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let v = 100 + lane_id();
    down[tid] = warp::shuffle_down(v, 5);
    up[tid] = warp::shuffle_up(v, 3);
}

/// SHFL-1
#[test]
fn down_and_up_end_at_the_edge_of_the_warp() {
    each_device(|ctx| {
        let (mut down, mut up) = (zeros(ctx, 64)?, zeros(ctx, 64)?);
        ctx.enqueue_function(down_and_up(&mut down, &mut up), grid_dim(1), block_dim(64))?;
        let lanes = || (0..64usize).map(|t| t % 32);
        let expected_down: Vec<_> = lanes().map(|l| if l < 27 { 105 + l } else { 100 + l }).collect();
        let expected_up: Vec<_> = lanes().map(|l| if l < 3 { 100 + l } else { 97 + l }).collect();
        assert_eq!(down.to_host()?, expected_down);
        assert_eq!(up.to_host()?, expected_up);
        Ok(())
    });
}

#[kernel]
fn by_number(out: &mut TileTensor<u32, 2>, numbers: &TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let v = tid as u32;
    let n = numbers[tid];
    out[[0, tid]] = warp::shuffle_down(v, n);
    out[[1, tid]] = warp::shuffle_up(v, n);
    out[[2, tid]] = warp::shuffle_xor(v, n);
    out[[3, tid]] = warp::shuffle_idx(v, n);
}

#[test]
fn numbers_of_shuffles_may_differ_and_be_large() {
    each_device(|ctx| {
        let numbers: Vec<usize> =
            (0..64).map(|t| [0, 1, 5, 31, 32, 33, 64, 1 << 32, usize::MAX][t % 9]).collect();
        let mut out = ctx.zeros(row_major([4, 64]))?;
        ctx.enqueue_function(by_number(&mut out, &vector(ctx, &numbers)?), grid_dim(1), block_dim(64))?;
        let out = out.to_host()?;
        for (t, &n) in numbers.iter().enumerate() {
            let (first, lane) = (t / 32 * 32, t % 32);
            let down = if n < 32 - lane { t + n } else { t };
            let up = if n <= lane { t - n } else { t };
            let expected = [down, up, first + (lane ^ (n % 32)), first + n % 32];
            assert_eq!([0, 1, 2, 3].map(|k| out[k * 64 + t] as usize), expected, "thread {t}, number {n}");
        }
        Ok(())
    });
}

#[kernel]
fn past_the_edge(out: &mut TileTensor<usize, 2>, distances: &TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    out[[0, tid]] = warp::shuffle_down(tid, distances[tid]);
    out[[1, tid]] = warp::shuffle_up(tid, distances[tid]);
    out[[2, tid]] = warp::shuffle_up(tid, 12);
}

#[test]
fn past_the_edge_no_lane_is_missing() {
    each_device(|ctx| {
        let distances: Vec<usize> = (0..44).map(|t| [32, 33, 40, 64, usize::MAX][t % 5]).collect();
        let mut out = ctx.zeros(row_major([3, 44]))?;
        ctx.enqueue_function(past_the_edge(&mut out, &vector(ctx, &distances)?), grid_dim(1), block_dim(44))?;
        let own: Vec<usize> = (0..44).collect();
        let by_twelve: Vec<usize> = (0..44).map(|t| if t % 32 < 12 { t } else { t - 12 }).collect();
        assert_eq!(out.to_host()?, [own.clone(), own, by_twelve].concat());
        Ok(())
    });
}

#[kernel]
fn butterfly(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let mut v = 3 * tid + 1;
    for m in comptime([16, 8, 4, 2, 1]) {
        v += warp::shuffle_xor(v, m);
    }
    if lane_id() == 0 {
        out[tid / WARP_SIZE] = v;
    }
}

#[kernel]
fn warp_sums(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let v = warp::sum(3 * tid + 1);
    if lane_id() == 0 {
        out[tid / WARP_SIZE] = v;
    }
}

/// SHFL-3
#[test]
fn a_butterfly_over_twelve_lanes_is_a_fault() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(butterfly(&mut out), grid_dim(1), block_dim(44))?;
        let report = fault(ctx);
        assert_eq!(report.fault.kind, FaultKind::AbsentLane { lane: 16 });
        assert_eq!(report.fault.thread, [32, 0, 0]);
        assert_eq!(source_line(&report.fault), "v += warp::shuffle_xor(v, m);");
        assert_eq!(out.to_host()?[0], 1520);

        ctx.enqueue_function(warp_sums(&mut out), grid_dim(1), block_dim(44))?;
        assert_eq!(out.to_host()?, [1520, 1362]);
        Ok(())
    });
}

#[kernel]
fn neighbours(
    a: &mut TileTensor<u64, 1>,
    b: &mut TileTensor<i8, 1>,
    c: &mut TileTensor<f64, 1>,
    d: &mut TileTensor<bool, 1>,
    e: &mut TileTensor<f16, 1>,
) {
    let lane = lane_id();
    a[lane] = warp::shuffle_xor(1099511627776u64 + lane as u64, 1);
    b[lane] = warp::shuffle_xor(-(lane as i8), 1);
    c[lane] = warp::shuffle_xor(lane as f64 / 4.0, 1);
    d[lane] = warp::shuffle_xor(lane % 3 == 0, 1);
    e[lane] = warp::shuffle_xor(lane as f16, 1);
}

/// SHFL-5
#[test]
fn shuffles_take_every_element_type() {
    each_device(|ctx| {
        let (mut a, mut b, mut c) = (zeros(ctx, 32)?, zeros(ctx, 32)?, zeros(ctx, 32)?);
        let (mut d, mut e) = (zeros(ctx, 32)?, zeros(ctx, 32)?);
        let launch = neighbours(&mut a, &mut b, &mut c, &mut d, &mut e);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(32))?;
        let (a, b, c) = (a.to_host()?, b.to_host()?, c.to_host()?);
        let (d, e) = (d.to_host()?, e.to_host()?);
        for lane in 0..32 {
            let other = lane ^ 1;
            assert_eq!(a[lane], 1099511627776 + other as u64);
            assert_eq!(b[lane], -(other as i8));
            assert_eq!(c[lane], other as f64 / 4.0);
            assert_eq!(d[lane], other % 3 == 0);
            assert_eq!(e[lane], f16::from_f32(other as f32));
        }
        assert_eq!((a[6], b[6], c[6], d[6], e[6].to_f32()), (1099511627783, -7, 1.75, false, 7.0));
        Ok(())
    });
}

#[kernel]
fn votes(
    any: &mut TileTensor<bool, 1>,
    all: &mut TileTensor<bool, 1>,
    bits: &mut TileTensor<u32, 1>,
    limit: usize,
) {
    let tid = thread_idx().x;
    let is_below = tid < limit;
    any[tid] = warp::any(is_below);
    all[tid] = warp::all(is_below);
    bits[tid] = warp::ballot(is_below);
}

#[test]
fn votes_count_the_lanes_that_there_are() {
    each_device(|ctx| {
        for (threads, limit) in [(1, 1), (12, 12), (44, 40), (44, 0), (64, 44), (64, 64)] {
            let (mut any, mut all, mut bits) =
                (zeros(ctx, threads)?, zeros(ctx, threads)?, zeros(ctx, threads)?);
            let launch = votes(&mut any, &mut all, &mut bits, limit);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(threads))?;
            let (any, all, bits) = (any.to_host()?, all.to_host()?, bits.to_host()?);
            for t in 0..threads {
                let first = t / 32 * 32;
                let lanes = (threads - first).min(32);
                let holds = limit.saturating_sub(first).min(lanes);
                let expected_bits = (0..holds).fold(0u32, |bits, lane| bits | 1 << lane);
                let expected = (holds > 0, holds == lanes, expected_bits);
                assert_eq!((any[t], all[t], bits[t]), expected, "{threads} threads, {limit}, thread {t}");
            }
        }
        Ok(())
    });
}

#[kernel]
fn all_sums<T: Num>(out: &mut TileTensor<T, 2>, x: &TileTensor<T, 1>) {
    let tid = thread_idx().x;
    let v = x[tid];
    out[[0, tid]] = warp::sum(v);
    out[[1, tid]] = warp::prefix_sum(v);
    out[[2, tid]] = warp::exclusive_prefix_sum(v);
    out[[3, tid]] = warp::max(v);
    out[[4, tid]] = warp::min(v);
    out[[5, tid]] = warp::product(v);
}

/// Runs [`all_sums`] on warps of several sizes, and compares with the same on the host, by the order that is documented.
fn check_sums<T: Num + std::fmt::Debug>(
    ctx: &DeviceContext,
    value: impl Fn(usize) -> T,
    add: impl Fn(T, T) -> T,
    mul: impl Fn(T, T) -> T,
    max: impl Fn(T, T) -> T,
    min: impl Fn(T, T) -> T,
) -> tilewise::Result<()> {
    for threads in [1, 5, 31, 32, 33, 44, 100] {
        let x: Vec<T> = (0..threads).map(&value).collect();
        let mut out = ctx.zeros(row_major([6, threads]))?;
        ctx.enqueue_function(all_sums(&mut out, &vector(ctx, &x)?), grid_dim(1), block_dim(threads))?;
        let out = out.to_host()?;
        let what = format!("{} of {threads} threads", T::SCALAR);
        let row = |row: usize| &out[row * threads..][..threads];
        let (mut sums, mut prefixes, mut exclusives) = (Vec::new(), Vec::new(), Vec::new());
        let (mut largest, mut smallest, mut products) = (Vec::new(), Vec::new(), Vec::new());
        for warp in x.chunks(32) {
            sums.extend(vec![combined(warp, &add); warp.len()]);
            largest.extend(vec![combined(warp, &max); warp.len()]);
            smallest.extend(vec![combined(warp, &min); warp.len()]);
            products.extend(vec![combined(warp, &mul); warp.len()]);
            let scanned = scanned(warp, &add);
            exclusives.push(T::ZERO);
            exclusives.extend_from_slice(&scanned[..warp.len() - 1]);
            prefixes.extend(scanned);
        }
        assert_same(row(0), &sums, &format!("sum, {what}"));
        assert_same(row(1), &prefixes, &format!("prefix sum, {what}"));
        assert_same(row(2), &exclusives, &format!("exclusive prefix sum, {what}"));
        assert_same(row(3), &largest, &format!("max, {what}"));
        assert_same(row(4), &smallest, &format!("min, {what}"));
        assert_same(row(5), &products, &format!("product, {what}"));
    }
    Ok(())
}

/// What a warp with these lanes gives: a tree if it is whole, else one after the other.
fn combined<T: Copy>(lanes: &[T], f: impl Fn(T, T) -> T) -> T {
    let mut lanes = lanes.to_vec();
    if lanes.len() < 32 {
        return lanes.into_iter().reduce(f).expect("a lane");
    }
    for distance in [16, 8, 4, 2, 1] {
        lanes = (0..32).map(|lane| f(lanes[lane], lanes[lane ^ distance])).collect();
    }
    lanes[0]
}

/// The values up to each lane.
fn scanned<T: Copy>(lanes: &[T], f: impl Fn(T, T) -> T) -> Vec<T> {
    let mut lanes = lanes.to_vec();
    for distance in [1, 2, 4, 8, 16] {
        let before = lanes.clone();
        for lane in distance..lanes.len() {
            lanes[lane] = f(before[lane - distance], before[lane]);
        }
    }
    lanes
}

#[test]
fn numbers_of_every_type_are_combined() {
    macro_rules! ints {
        ($ctx:ident: $($ty:ty)*) => {$(
            let value = |t: usize| (7 * t + 1) as $ty;
            check_sums($ctx, value, <$ty>::wrapping_add, <$ty>::wrapping_mul, Ord::max, Ord::min)?;
        )*};
    }
    each_device(|ctx| {
        ints!(ctx: i8 u8 i16 u16 i32 u32 i64 u64 usize);
        let single = |t: usize| (t as f32).mul_add(0.37, -9.1);
        check_sums(ctx, single, |a, b| a + b, |a, b| a * b, f32::max, f32::min)?;
        let double = |t: usize| (t as f64).mul_add(0.37, -9.1);
        check_sums(ctx, double, |a, b| a + b, |a, b| a * b, f64::max, f64::min)?;
        let half = |t: usize| f16::from_f32(t as f32 * 0.37 - 9.1);
        check_sums(ctx, half, |a, b| a + b, |a, b| a * b, f16::max, f16::min)
    });
}

#[kernel]
fn bits_of_warps(out: &mut TileTensor<u32, 2>, odd: &mut TileTensor<bool, 1>) {
    let tid = thread_idx().x;
    let v = 0xff00 | tid as u32;
    out[[0, tid]] = warp::and(v);
    out[[1, tid]] = warp::or(v);
    out[[2, tid]] = warp::xor(v);
    odd[tid] = warp::xor(tid % 3 == 0);
}

#[test]
fn bits_are_combined() {
    each_device(|ctx| {
        let (mut out, mut odd) = (ctx.zeros(row_major([3, 40]))?, zeros(ctx, 40)?);
        ctx.enqueue_function(bits_of_warps(&mut out, &mut odd), grid_dim(1), block_dim(40))?;
        let (out, odd) = (out.to_host()?, odd.to_host()?);
        let at = |t: usize| [out[t], out[40 + t], out[80 + t]];
        assert_eq!((at(0), at(31)), ([0xff00, 0xff1f, 0], [0xff00, 0xff1f, 0]));
        assert_eq!((at(32), at(39)), ([0xff20, 0xff27, 0], [0xff20, 0xff27, 0]));
        // 11 of 0..32 are multiples of 3, and 3 of 32..40.
        assert_eq!((odd[0], odd[39]), (true, true));
        Ok(())
    });
}

#[kernel]
fn after_returns(out: &mut TileTensor<u32, 2>, leaves: &TileTensor<bool, 1>) {
    let tid = thread_idx().x;
    if leaves[tid] {
        return;
    }
    let v = tid as u32 + 1;
    out[[0, tid]] = warp::sum(v);
    out[[1, tid]] = warp::prefix_sum(v);
    out[[2, tid]] = warp::exclusive_prefix_sum(v as f32) as u32;
    out[[3, tid]] = warp::ballot(v % 2 == 0);
    out[[4, tid]] = warp::max(v as f64) as u32;
    syncwarp();
}

#[test]
fn lanes_that_have_returned_are_left_out() {
    each_device(|ctx| {
        let n = 70;
        let masks: [fn(usize) -> bool; 4] = [|t| t >= 50, |t| t % 3 == 1, |t| t < 40, |t| t == 0 || t == 33];
        for leaves in masks {
            let left: Vec<bool> = (0..n).map(leaves).collect();
            let mut out = ctx.zeros(row_major([5, n]))?;
            ctx.enqueue_function(after_returns(&mut out, &vector(ctx, &left)?), grid_dim(1), block_dim(n))?;
            let out = out.to_host()?;
            for t in 0..n {
                let stays: Vec<usize> =
                    (t / 32 * 32..n.min(t / 32 * 32 + 32)).filter(|&t| !left[t]).collect();
                let sum = |threads: &[usize]| threads.iter().map(|&t| t as u32 + 1).sum::<u32>();
                let below: Vec<usize> = stays.iter().copied().filter(|&other| other < t).collect();
                let even = stays.iter().filter(|&&t| t % 2 == 1).fold(0u32, |bits, &t| bits | 1 << (t % 32));
                let expected = match left[t] {
                    true => [0; 5],
                    false => {
                        let largest = stays.iter().max().expect("itself") + 1;
                        [sum(&stays), sum(&below) + t as u32 + 1, sum(&below), even, largest as u32]
                    }
                };
                assert_eq!([0, 1, 2, 3, 4].map(|row| out[row * n + t]), expected, "thread {t} of {left:?}");
            }
        }
        Ok(())
    });
}

#[kernel]
fn one_warp_only(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let mut v = tid;
    if tid / WARP_SIZE == 1 {
        v = warp::sum(v);
    }
    out[tid] = v;
}

#[test]
fn a_warp_may_come_alone() {
    each_device_with(&[Need::WarpsApart], |ctx| {
        let mut out = zeros(ctx, 96)?;
        ctx.enqueue_function(one_warp_only(&mut out), grid_dim(1), block_dim(96))?;
        let expected: Vec<usize> = (0..96).map(|t| if t / 32 == 1 { 1520 } else { t }).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn after_ways_of_their_own(out: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    let mut rounds = 0;
    for _ in 0..tid % 7 {
        rounds += 1;
    }
    if tid % 2 == 0 {
        rounds += 100;
    }
    out[tid] = warp::broadcast(rounds) + warp::max(rounds);
}

#[test]
fn lanes_meet_after_ways_of_their_own() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 64)?;
        ctx.enqueue_function(after_ways_of_their_own(&mut out), grid_dim(1), block_dim(64))?;
        // Lane 0 of the second warp is thread 32, with 4 rounds.
        assert_eq!(out.to_host()?, [[206; 32], [210; 32]].concat());
        Ok(())
    });
}

#[kernel]
fn tree_in_shared_memory(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([32]));
    let tid = thread_idx().x;
    s[tid] = tid + 1;
    barrier();
    for d in comptime([16, 8, 4, 2, 1]) {
        if tid < d {
            s[tid] += s[tid + d];
        }
        syncwarp();
    }
    out[tid] = s[0];
}

/// RACE-5, as it is right.
#[test]
fn a_barrier_of_the_warp_orders_memory() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(tree_in_shared_memory(&mut out), grid_dim(1), block_dim(32))?;
        assert_eq!(out.to_host()?, [528; 32]);
        Ok(())
    });
}

#[kernel]
fn quarters(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([32]));
    let lane = lane_id();
    let quarter = lane / 8;
    let mask = 0xffu32 << (quarter * 8);
    s[lane] = lane as u32;
    if quarter == 0 {
        warp::syncwarp_mask(mask);
        out[lane] = s[7 - lane];
    } else {
        warp::syncwarp_mask(mask);
        out[lane] = s[8 * quarter + (lane + 1) % 8];
    }
}

#[test]
fn part_of_a_warp_has_a_barrier_of_its_own() {
    each_device_with(&[Need::WarpsApart], |ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(quarters(&mut out), grid_dim(1), block_dim(32))?;
        let expected: Vec<u32> =
            (0..32).map(|lane| if lane < 8 { 7 - lane } else { lane / 8 * 8 + (lane + 1) % 8 }).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn half_of_a_warp(out: &mut TileTensor<u32, 1>) {
    let lane = lane_id();
    if lane < 20 {
        out[lane] = warp::ballot(true); // for some
    }
}

#[test]
fn an_operation_for_half_of_a_warp_is_a_fault() {
    each_device_with(&[Need::FindsDivergence], |ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(half_of_a_warp(&mut out), grid_dim(1), block_dim(32))?;
        let report = fault(ctx);
        assert_eq!(source_line(&report.fault), "out[lane] = warp::ballot(true); // for some");
        let FaultKind::WarpDivergence { waiting, ended: 12 } = report.fault.kind else {
            panic!("another fault than expected: {:?}", report.fault.kind)
        };
        assert_eq!((waiting.len(), waiting[0].count, waiting[0].threads[0]), (1, 20, [0, 0, 0]));
        Ok(())
    });
}

#[kernel]
fn of_vectors(out: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>) {
    let lane = lane_id();
    let v = x.load(4 * lane, 4);
    out.store(4 * lane, warp::sum(v) + warp::shuffle_xor(v, 1));
}

#[test]
fn vectors_are_taken_lane_by_lane() {
    each_device(|ctx| {
        let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
        let mut out = zeros(ctx, 128)?;
        ctx.enqueue_function(of_vectors(&mut out, &vector(ctx, &x)?), grid_dim(1), block_dim(32))?;
        let sums: Vec<f32> = (0..4).map(|k| (0..32).map(|lane| (4 * lane + k) as f32).sum()).collect();
        let expected: Vec<f32> = (0..128).map(|i| sums[i % 4] + (i ^ 4) as f32).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}
