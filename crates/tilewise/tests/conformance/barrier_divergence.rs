//! Barriers that not all threads of a block reach.

use tilewise::ir::{FaultKind, Waiting};
use tilewise::prelude::*;

use crate::harness::{Need, each_device, each_device_with, fault, source_line_at, zeros};

/// Who waits where: how many threads, the first of them, and the line.
fn summary(waiting: &[Waiting]) -> Vec<(u32, u32, String)> {
    let one = |w: &Waiting| {
        let location = w.location.as_ref().expect("a barrier has a position");
        (w.count, w.threads[0][0], source_line_at(&location.file, location.line))
    };
    waiting.iter().map(one).collect()
}

#[kernel]
fn half_of_the_block(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([48]));
    let tid = thread_idx().x;
    s[tid] = tid;
    if tid < 20 {
        barrier(); // for some
    }
    out[tid] = s[(tid + 1) % 48];
}

#[kernel]
fn all_of_the_block(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([48]));
    let tid = thread_idx().x;
    s[tid] = tid;
    barrier();
    out[tid] = s[(tid + 1) % 48];
}

/// BDIV-1
#[test]
fn a_barrier_for_half_of_the_block_is_a_fault() {
    each_device_with(&[Need::FindsDivergence], |ctx| {
        let mut out = zeros(ctx, 48)?;
        ctx.enqueue_function(half_of_the_block(&mut out), grid_dim(1), block_dim(48))?;
        let FaultKind::BarrierDivergence { waiting, .. } = fault(ctx).fault.kind else {
            panic!("another fault than expected")
        };
        assert_eq!(summary(&waiting)[0], (20, 0, "barrier(); // for some".to_owned()));

        ctx.enqueue_function(all_of_the_block(&mut out), grid_dim(1), block_dim(48))?;
        let expected: Vec<usize> = (0..48).map(|t| (t + 1) % 48).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn some_wait_earlier(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    if tid < 20 {
        barrier(); // of the first twenty
    }
    out[tid] = tid;
    barrier(); // of the rest
}

#[test]
fn threads_at_different_barriers_are_a_fault() {
    each_device_with(&[Need::FindsDivergence], |ctx| {
        let mut out = zeros(ctx, 48)?;
        ctx.enqueue_function(some_wait_earlier(&mut out), grid_dim(1), block_dim(48))?;
        let FaultKind::BarrierDivergence { waiting, ended: 0 } = fault(ctx).fault.kind else {
            panic!("another fault than expected")
        };
        let expected = [
            (20, 0, "barrier(); // of the first twenty".to_owned()),
            (28, 20, "barrier(); // of the rest".to_owned()),
        ];
        assert_eq!(summary(&waiting), expected);
        Ok(())
    });
}

#[kernel]
fn a_barrier_in_each_arm(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid < 4 {
        s[tid] = 1;
        barrier(); // of the first four
    } else {
        s[tid] = 2;
        barrier(); // of the last four
    }
    out[tid] = s[7 - tid];
}

#[kernel]
fn one_barrier_after_the_arms(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid < 4 {
        s[tid] = 1;
    } else {
        s[tid] = 2;
    }
    barrier();
    out[tid] = s[7 - tid];
}

/// BDIV-3
#[test]
fn different_barriers_in_two_arms_are_a_fault() {
    each_device_with(&[Need::FindsDivergence], |ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(a_barrier_in_each_arm(&mut out), grid_dim(1), block_dim(8))?;
        let FaultKind::BarrierDivergence { waiting, ended: 0 } = fault(ctx).fault.kind else {
            panic!("another fault than expected")
        };
        let expected = [
            (4, 0, "barrier(); // of the first four".to_owned()),
            (4, 4, "barrier(); // of the last four".to_owned()),
        ];
        assert_eq!(summary(&waiting), expected);

        ctx.enqueue_function(one_barrier_after_the_arms(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [2, 2, 2, 2, 1, 1, 1, 1]);
        Ok(())
    });
}

#[kernel]
fn every_second_block(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([4]));
    let (tid, bid) = (thread_idx().x, block_idx().x);
    let gid = bid * block_dim().x + tid;
    s[tid] = 5 * tid + bid;
    if bid % 2 == 1 {
        barrier();
        out[gid] = s[(tid + 1) % 4];
    } else {
        out[gid] = s[tid];
    }
}

/// BDIV-5
#[test]
fn blocks_may_differ_in_their_barriers() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 12)?;
        ctx.enqueue_function(every_second_block(&mut out), grid_dim(3), block_dim(4))?;
        assert_eq!(out.to_host()?, [0, 5, 10, 15, 6, 11, 16, 1, 2, 7, 12, 17]);
        Ok(())
    });
}
