//! Barriers in uniform control flow.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn conditional_barriers(out: &mut TileTensor<u32, 1>, a: u32, b: u32, p: i32, q: i32) {
    let mut c = 0;
    for _ in 0..a {
        for _ in 0..b {
            c += 1;
            if p > q {
                barrier();
            }
            if q > 0 {
                barrier();
            }
            c += 100;
        }
        if q > 0 {
            barrier();
        }
    }
    out[thread_idx().x] = c;
}

/// BAR-1
#[test]
fn barriers_in_nested_loops_depend_on_arguments() {
    each_device(|ctx| {
        for (p, q) in [(1, 2), (2, 1), (1, 0), (0, 0)] {
            let mut out = zeros(ctx, 6)?;
            ctx.enqueue_function(conditional_barriers(&mut out, 2, 3, p, q), grid_dim(1), block_dim(6))?;
            assert_eq!(out.to_host()?, [606; 6], "p = {p}, q = {q}");
        }
        Ok(())
    });
}

#[kernel]
fn rotate(a: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    let v = a[tid];
    barrier();
    a[(tid + 3) % 10] = v;
}

/// BAR-3
#[test]
fn a_value_lives_across_a_barrier() {
    each_device(|ctx| {
        let mut a = vector(ctx, &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19])?;
        ctx.enqueue_function(rotate(&mut a), grid_dim(1), block_dim(10))?;
        assert_eq!(a.to_host()?, [17, 18, 19, 10, 11, 12, 13, 14, 15, 16]);
        Ok(())
    });
}

#[kernel]
fn two_rounds(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    s[tid] = tid;
    barrier();
    let v = s[(tid + 1) % 8];
    barrier();
    s[tid] = 100 + tid;
    barrier();
    let w = s[(tid + 1) % 8];
    out[tid] = v * 1000 + w;
}

/// BAR-6
#[test]
fn loads_stay_on_their_side_of_a_barrier() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(two_rounds(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [1101, 2102, 3103, 4104, 5105, 6106, 7107, 100]);
        Ok(())
    });
}

#[kernel]
fn threads_that_ended(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid >= 5 {
        return;
    }
    s[tid] = tid as u32 + 1;
    barrier();
    out[tid] = s[4 - tid];
}

#[test]
fn a_barrier_does_not_wait_for_threads_that_have_ended() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(threads_that_ended(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [5, 4, 3, 2, 1, 0, 0, 0]);
        Ok(())
    });
}
