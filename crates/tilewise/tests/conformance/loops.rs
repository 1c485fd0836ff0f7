//! Loops: `break` and `continue`, trip counts that differ from thread to thread, loops in branches.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[device]
fn inner_jumps(rows: i32, cols: i32) -> i32 {
    let mut acc = 0;
    for i in 0..rows {
        for j in 0..cols {
            if j == i {
                continue;
            }
            if i * j > 6 {
                break;
            }
            acc += 10 * i + j;
        }
    }
    acc
}

#[kernel]
fn inner_jumps_both_ways(out: &mut TileTensor<i32, 1>, rows: i32, cols: i32) {
    out[0] = inner_jumps(5, 5);
    out[1] = inner_jumps(rows, cols);
}

/// LOOP-1
#[test]
fn break_and_continue_mean_the_inner_loop() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(inner_jumps_both_ways(&mut out, 5, 5), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [297, 297]);
        Ok(())
    });
}

#[kernel]
fn collatz(out: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>) {
    let t = thread_idx().x;
    let mut n = x[t];
    let mut k = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        k += 1;
    }
    out[t] = k;
}

/// LOOP-3
#[test]
fn threads_leave_a_while_loop_at_different_times() {
    each_device(|ctx| {
        let x = vector(ctx, &[1, 6, 7, 97, 2])?;
        let mut out = zeros(ctx, 5)?;
        ctx.enqueue_function(collatz(&mut out, &x), grid_dim(1), block_dim(5))?;
        assert_eq!(out.to_host()?, [0, 8, 16, 118, 1]);
        Ok(())
    });
}

#[kernel]
fn squares(out: &mut TileTensor<i32, 1>, m: i32) {
    let mut i = 0;
    let mut acc = 0;
    loop {
        i += 1;
        if i > m {
            break;
        }
        if i % 3 == 0 {
            continue;
        }
        acc += i * i;
    }
    for _ in 0..m {
        break;
    }
    out[0] = acc;
}

/// LOOP-5
#[test]
fn an_endless_loop_breaks_first_and_continues_in_the_middle() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(squares(&mut out, 10), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [259]);
        Ok(())
    });
}

#[kernel]
fn loop_in_each_arm(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let mut a = 0;
    let mut b = 0;
    if tid % 2 == 0 {
        for k in 0..tid {
            a += k;
        }
    } else {
        for _ in 0..tid {
            a += 2;
        }
        b = 3;
    }
    out[tid] = a * 10 + b;
}

/// LOOP-7
#[test]
fn each_arm_of_an_if_has_its_loop() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(loop_in_each_arm(&mut out), grid_dim(1), block_dim(6))?;
        assert_eq!(out.to_host()?, [0, 23, 10, 63, 60, 103]);
        Ok(())
    });
}
