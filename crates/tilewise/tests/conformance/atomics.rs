//! Atomic operations, on global and on shared memory.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, each_device, vector, zeros};

/// `cells`: the largest, the smallest, the largest of both signs, the smallest of two zeros.
#[kernel]
fn extremes(cells: &mut TileTensor<f32, 1>, #[comptime] space: AddressSpace) {
    let tid = thread_idx().x;
    let local = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([4]));
    if space == AddressSpace::Shared {
        if tid < 4 {
            local[tid] = cells[tid];
        }
        barrier();
        update_extremes(&mut local, tid);
        barrier();
        if tid < 4 {
            cells[tid] = local[tid];
        }
    } else {
        update_extremes(cells, tid);
    }
}

#[device]
fn update_extremes(cells: &mut TileTensor<f32, 1>, tid: usize) {
    let v = -0.5 * (tid as f32) - 0.25;
    cells.atomic(0).fetch_max(v);
    cells.atomic(1).fetch_min(v);
    cells.atomic(2).fetch_max(tid as f32 - 31.5);
    cells.atomic(3).fetch_min(if tid % 2 == 0 { 0.0 } else { -0.0 });
}

/// ATOM-1
#[test]
fn extremes_of_floats_of_both_signs() {
    each_device(|ctx| {
        for space in [AddressSpace::Local, AddressSpace::Shared] {
            let mut cells = vector(ctx, &[f32::NEG_INFINITY, f32::INFINITY, -1e30, 1.0])?;
            ctx.enqueue_function(extremes(&mut cells, space), grid_dim(1), block_dim(64))?;
            assert_eq!(cells.to_host()?, [-0.25, -31.75, 31.5, 0.0]);
        }
        Ok(())
    });
}

#[kernel]
fn subtract_bytes<T: Atomic>(
    cell: &mut TileTensor<T, 1>,
    seen: &mut TileTensor<T, 1>,
    w: &TileTensor<u8, 1>,
) {
    let tid = thread_idx().x;
    seen[tid] = cell.atomic(0).fetch_sub(w[tid] as T);
}

/// ATOM-3
#[test]
fn subtraction_of_a_narrower_operand() {
    fn check<T: Atomic + Ord + Debug + From<u16>>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let w = [200u8, 100, 255];
        let (mut cell, mut seen) = (vector(ctx, &[T::from(1000)])?, zeros(ctx, 3)?);
        let bytes = vector(ctx, &w)?;
        ctx.enqueue_function(subtract_bytes(&mut cell, &mut seen, &bytes), grid_dim(1), block_dim(3))?;
        assert_eq!(cell.to_host()?, [T::from(445)]);
        // The old values are a chain: sorted downwards they are what is left after each subtraction.
        let seen = seen.to_host()?;
        let mut order = [0, 1, 2];
        order.sort_by_key(|&t| std::cmp::Reverse(seen[t]));
        let mut left = 1000;
        for t in order {
            assert_eq!(seen[t], T::from(left));
            left -= u16::from(w[t]);
        }
        Ok(())
    }
    each_device(|ctx| {
        check::<u32>(ctx)?;
        check::<i64>(ctx)
    });
}

#[kernel]
fn add_all<T: Atomic>(cell: &mut TileTensor<T, 1>, v: &TileTensor<T, 1>) {
    cell.atomic(0).fetch_add(v[thread_idx().x]);
}

/// ATOM-5
#[test]
fn a_sum_that_becomes_nan_ends() {
    fn check<T: Atomic + Float + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        for (third, expected) in [(2.0, 13.0), (f64::NAN, f64::NAN)] {
            let v = [2.0, 2.0, third, 2.0, 2.0, 2.0].map(T::from_f64);
            let (mut cell, v) = (vector(ctx, &[T::ONE])?, vector(ctx, &v)?);
            ctx.enqueue_function(add_all(&mut cell, &v), grid_dim(1), block_dim(6))?;
            assert_same(&cell.to_host()?, &[T::from_f64(expected)], "sum");
        }
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx)?;
        check::<f64>(ctx)
    });
}

#[kernel]
fn under_a_lock(lock: &mut TileTensor<u32, 1>, x: &mut TileTensor<u32, 1>) {
    loop {
        let free = lock.atomic(0).ordering(Ordering::Acquire).compare_exchange(0, 1);
        if free == 0 {
            x[0] = x[0] + 1;
            lock.atomic(0).ordering(Ordering::Release).store(0);
            break;
        }
    }
}

#[kernel]
fn under_a_lock_to_the_end(lock: &mut TileTensor<u32, 1>, x: &mut TileTensor<u32, 1>) {
    loop {
        if lock.atomic(0).ordering(Ordering::Acquire).compare_exchange(0, 1) == 0 {
            x[0] = x[0] + 1;
            lock.atomic(0).ordering(Ordering::Release).store(0);
            return;
        }
    }
}

/// Each thread takes the lock twice, and leaves two loops the second time.
#[kernel]
fn under_a_lock_twice(lock: &mut TileTensor<u32, 1>, x: &mut TileTensor<u32, 1>) {
    let mut times = 0;
    'turns: loop {
        while lock.atomic(0).ordering(Ordering::Acquire).compare_exchange(0, 1) == 0 {
            x[0] = x[0] + 1;
            times += 1;
            lock.atomic(0).ordering(Ordering::Release).store(0);
            if times == 2 {
                break 'turns;
            }
        }
    }
    x.atomic(1).fetch_add(times);
}

/// ATOM-7
#[test]
fn threads_of_a_warp_take_turns_under_a_lock() {
    each_device(|ctx| {
        for (grid, block) in [(1, 32), (4, 8)] {
            let check = |kernel: u32, expected: [u32; 2]| {
                let (mut lock, mut x) = (zeros(ctx, 1)?, zeros(ctx, 2)?);
                let (grid, block) = (grid_dim(grid), block_dim(block));
                match kernel {
                    0 => ctx.enqueue_function(under_a_lock(&mut lock, &mut x), grid, block)?,
                    1 => ctx.enqueue_function(under_a_lock_to_the_end(&mut lock, &mut x), grid, block)?,
                    _ => ctx.enqueue_function(under_a_lock_twice(&mut lock, &mut x), grid, block)?,
                }
                assert_eq!(x.to_host()?, expected);
                assert_eq!(lock.to_host()?, [0]);
                Ok::<(), tilewise::Error>(())
            };
            check(0, [32, 0])?;
            check(1, [32, 0])?;
            check(2, [64, 64])?;
        }
        Ok(())
    });
}

/// The operations that give the same whatever the order of the threads; each on a cell of its own.
#[device]
fn update_numbers<T: Atomic>(cells: &mut TileTensor<T, 1>, v: T) {
    cells.atomic(0).fetch_add(v);
    cells.atomic(1).fetch_sub(v);
    cells.atomic(2).fetch_min(v);
    cells.atomic(3).fetch_max(v);
    let old = cells.atomic(4).exchange(v);
    cells.atomic(5).fetch_add(old);
    // One thread finds what it expects.
    cells.atomic(6).compare_exchange(v, v + T::from_f64(100.0));
    let now = cells.atomic(6).load();
    cells.atomic(7).store(now - now);
}

#[device]
fn update_bits<T: Atomic + Int>(cells: &mut TileTensor<T, 1>, v: T) {
    cells.atomic(8).fetch_and(v);
    cells.atomic(9).fetch_or(v);
    cells.atomic(10).fetch_xor(v);
}

#[kernel]
fn numbers<T: Atomic>(cells: &mut TileTensor<T, 1>, v: &TileTensor<T, 1>) {
    let tid = thread_idx().x;
    update_numbers(cells, v[block_idx().x * block_dim().x + tid]);
}

#[kernel]
fn numbers_and_bits<T: Atomic + Int>(cells: &mut TileTensor<T, 1>, v: &TileTensor<T, 1>) {
    let tid = thread_idx().x;
    let value = v[block_idx().x * block_dim().x + tid];
    update_numbers(cells, value);
    update_bits(cells, value);
}

/// The same in shared memory, from where one block copies its cells.
#[kernel]
fn shared_numbers_and_bits<T: Atomic + Int>(cells: &mut TileTensor<T, 1>, v: &TileTensor<T, 1>) {
    let shared = stack_allocation::<T, 1>(AddressSpace::Shared, row_major([11]));
    let tid = thread_idx().x;
    if tid < 11 {
        shared[tid] = cells[tid];
    }
    barrier();
    update_numbers(&mut shared, v[tid]);
    update_bits(&mut shared, v[tid]);
    barrier();
    if tid < 11 {
        cells[tid] = shared[tid];
    }
}

#[kernel]
fn shared_numbers<T: Atomic>(cells: &mut TileTensor<T, 1>, v: &TileTensor<T, 1>) {
    let shared = stack_allocation::<T, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid < 8 {
        shared[tid] = cells[tid];
    }
    barrier();
    update_numbers(&mut shared, v[tid]);
    barrier();
    if tid < 8 {
        cells[tid] = shared[tid];
    }
}

/// What 60 threads with the values 1 to 60 make of the first eight cells, which start at `[0, 0, 100, 0, 0, 0, 7, 5]`.
const START: [f64; 8] = [0.0, 0.0, 100.0, 0.0, 0.0, 0.0, 7.0, 5.0];
const SUM: f64 = 1830.0;

#[track_caller]
fn check_numbers<T: Num + Debug>(found: &[T], minus_sum: T) {
    let expected = [SUM, 0.0, 1.0, 60.0].map(T::from_f64);
    assert_same(&[found[0], found[2], found[3]], &[expected[0], expected[2], expected[3]], "add, min, max");
    assert_same(&[found[1]], &[minus_sum], "sub");
    // The values go round: what the last exchange left and what the others got make up the sum.
    let last = (1..=60)
        .map(f64::from)
        .find(|&last| found[4] == T::from_f64(last) && found[5] == T::from_f64(SUM - last));
    assert!(last.is_some(), "exchange: {:?} and {:?}", found[4], found[5]);
    assert_same(&found[6..8], &[T::from_f64(107.0), T::ZERO], "compare and exchange, load and store");
}

#[test]
fn every_operation_on_floats() {
    fn check<T: Atomic + Float + Debug>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let v = ctx.tensor_from_fn(row_major([60]), |[i]| T::from_f64(i as f64 + 1.0))?;
        let start = START.map(T::from_f64);
        let mut cells = vector(ctx, &start)?;
        ctx.enqueue_function(numbers(&mut cells, &v), grid_dim(4), block_dim(15))?;
        check_numbers(&cells.to_host()?, T::from_f64(-SUM));
        let mut cells = vector(ctx, &start)?;
        ctx.enqueue_function(shared_numbers(&mut cells, &v), grid_dim(1), block_dim(60))?;
        check_numbers(&cells.to_host()?, T::from_f64(-SUM));
        Ok(())
    }
    each_device(|ctx| {
        check::<f32>(ctx)?;
        check::<f64>(ctx)
    });
}

#[test]
fn every_operation_on_integers() {
    fn check<T: Atomic + Int + Debug>(ctx: &DeviceContext, minus_sum: T) -> tilewise::Result<()> {
        let v = ctx.tensor_from_fn(row_major([60]), |[i]| T::from_f64(i as f64 + 1.0))?;
        let bits = [127.0, 0.0, 0.0].map(T::from_f64);
        let start: Vec<T> = START.map(T::from_f64).into_iter().chain(bits).collect();
        // The and of 1 to 60 is 0, the or 63, the exclusive or 60.
        let expected_bits = [0.0, 63.0, 60.0].map(T::from_f64);
        let mut cells = vector(ctx, &start)?;
        ctx.enqueue_function(numbers_and_bits(&mut cells, &v), grid_dim(4), block_dim(15))?;
        check_numbers(&cells.to_host()?, minus_sum);
        assert_same(&cells.to_host()?[8..], &expected_bits, "and, or, xor");
        let mut cells = vector(ctx, &start)?;
        ctx.enqueue_function(shared_numbers_and_bits(&mut cells, &v), grid_dim(1), block_dim(60))?;
        check_numbers(&cells.to_host()?, minus_sum);
        assert_same(&cells.to_host()?[8..], &expected_bits, "and, or, xor in shared memory");
        Ok(())
    }
    each_device(|ctx| {
        check(ctx, -1830i32)?;
        check(ctx, 1830u32.wrapping_neg())?;
        check(ctx, -1830i64)?;
        check(ctx, 1830u64.wrapping_neg())?;
        check(ctx, -1830isize)?;
        check(ctx, 1830usize.wrapping_neg())
    });
}

#[kernel]
fn histogram(hist: &mut TileTensor<u32, 1>, x: &TileTensor<u8, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    if gid < x.dim(0) {
        hist.atomic(x[gid] as usize % 10).scope(Scope::Device).fetch_add(1);
    }
}

#[test]
fn a_histogram_counts_each_element_once() {
    each_device(|ctx| {
        let x = ctx.tensor_from_fn(row_major([1000]), |[i]| (i * i % 251) as u8)?;
        let mut hist = zeros(ctx, 10)?;
        ctx.enqueue_function(histogram(&mut hist, &x), grid_dim(8), block_dim(128))?;
        let mut expected = [0u32; 10];
        x.to_host()?.iter().for_each(|&x| expected[x as usize % 10] += 1);
        assert_eq!(hist.to_host()?, expected);
        Ok(())
    });
}
