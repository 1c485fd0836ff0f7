//! Expressions, copies and conditions.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn heads(head: &mut TileTensor<u32, 1>, a: &TileTensor<i32, 1>) {
    let i = thread_idx().x;
    head[i] = (i == 0 || a[i - 1] != a[i]) as u32;
}

/// EXPR-1: thread 0 reading `a[-1]` would be a fault.
#[test]
fn the_right_side_of_or_is_not_evaluated_behind_true() {
    each_device(|ctx| {
        let a = vector(ctx, &[4, 4, 7, 7, 7, 2, 2, 9])?;
        let mut head = zeros(ctx, 8)?;
        ctx.enqueue_function(heads(&mut head, &a), grid_dim(1), block_dim(8))?;
        assert_eq!(head.to_host()?, [1, 0, 1, 0, 0, 1, 0, 1]);
        Ok(())
    });
}

#[device]
fn bump(mut v: i32) -> i32 {
    v += 1;
    v
}

#[kernel]
fn copies(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>) {
    let mut x = a[0];
    let y = x;
    x = x + 1;
    out[0] = y * 100 + x;
    let z = a[1];
    let w = bump(z);
    out[1] = z * 10 + w;
}

/// EXPR-3
#[test]
fn a_copy_does_not_follow_the_original() {
    each_device(|ctx| {
        let a = vector(ctx, &[5, 6])?;
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(copies(&mut out, &a), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [506, 67]);
        Ok(())
    });
}

#[kernel]
fn taps(out: &mut TileTensor<i32, 1>, x: &TileTensor<i32, 1>) {
    let i = thread_idx().x as i32;
    let mut acc = 0;
    for d in -2..=2 {
        let j = i + d;
        let mut ok = true;
        ok = ok && j >= 0;
        ok = ok && j < 6;
        if ok {
            acc += x[j as usize];
        }
    }
    out[i as usize] = acc;
}

/// EXPR-5
#[test]
fn a_condition_may_be_gathered_in_a_variable() {
    each_device(|ctx| {
        let x = vector(ctx, &[1, 2, 3, 4, 5, 6])?;
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(taps(&mut out, &x), grid_dim(1), block_dim(6))?;
        assert_eq!(out.to_host()?, [6, 10, 15, 20, 18, 15]);
        Ok(())
    });
}
