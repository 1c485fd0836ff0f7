//! Early `return`.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[device]
fn root(v: i32) -> i32 {
    if v < 0 {
        return -1;
    }
    if v == 0 {
        return 0;
    }
    for k in 1..=20 {
        if k * k >= v {
            return k;
        }
    }
    return 99;
}

#[kernel]
fn two_roots(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>, b: &TileTensor<i32, 1>) {
    let t = thread_idx().x;
    out[t] = root(a[t]) * 100 + root(b[t]);
}

/// RET-1
#[test]
fn a_function_of_four_exits_is_used_twice_in_one_expression() {
    each_device(|ctx| {
        let (a, b) = (vector(ctx, &[-5, 0, 10, 401])?, vector(ctx, &[0, 10, -1, 400])?);
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(two_roots(&mut out, &a, &b), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [-100, 4, 399, 9920]);
        Ok(())
    });
}

#[device]
fn need(condition: bool) {
    assert!(condition, "need");
}

#[kernel]
fn slots(out: &mut TileTensor<usize, 1>, limit: i32) {
    let tid = thread_idx().x;
    if tid % 7 == 0 {
        need(limit > 0);
    }
    let slot = tid % 7;
    out[tid] = slot;
}

/// RET-4
#[test]
fn a_function_that_may_fail_leaves_its_neighbours_alone() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 16)?;
        ctx.enqueue_function(slots(&mut out, 5), grid_dim(1), block_dim(16))?;
        assert_eq!(out.to_host()?, [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1]);
        Ok(())
    });
}

#[kernel]
fn some_threads_end_early(out: &mut TileTensor<u32, 1>, n: usize) {
    let tid = thread_idx().x;
    if tid >= n {
        return;
    }
    for k in 0..10 {
        out[tid] += 1;
        if k == tid {
            return;
        }
    }
    out[tid] += 100;
}

#[test]
fn return_ends_the_thread() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 16)?;
        ctx.enqueue_function(some_threads_end_early(&mut out, 12), grid_dim(1), block_dim(16))?;
        assert_eq!(out.to_host()?, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 110, 110, 0, 0, 0, 0]);
        Ok(())
    });
}
