//! Barriers: uniform ones, divergent ones, missing and redundant ones.

use tilewise::prelude::*;
use tilewise::report::{Group, Kind};

use crate::harness::{assert_found, clean, mark, report, vector, zeros};

/// Threads of a group along x, as ranges, and the mark of their line.
fn group(group: &Group) -> (Vec<(u32, u32)>, String) {
    let ranges = group.threads.iter().map(|range| (range.first[0], range.last[0])).collect();
    (ranges, group.location.as_ref().map(mark).unwrap_or_default())
}

#[kernel]
fn nested(out: &mut TileTensor<u32, 1>, a: u32, b: u32, p: i32, q: i32) {
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
fn barriers_that_depend_on_arguments() {
    for (p, q) in [(1, 2), (2, 1), (1, 0), (0, 0)] {
        let found = report(|ctx| {
            let mut out = zeros(ctx, 6)?;
            ctx.enqueue_function(nested(&mut out, 2, 3, p, q), grid_dim(1), block_dim(6))
        });
        assert!(found.is_clean(), "{found}");
    }
}

#[kernel]
fn rotate(a: &mut TileTensor<u32, 1>, #[comptime] wait: bool) {
    let tid = thread_idx().x;
    let v = a[tid]; // read
    if wait {
        barrier();
    }
    a[(tid + 3) % 10] = v; // write
}

/// BAR-3
#[test]
fn a_rotation_in_global_memory() {
    let launch = |wait| {
        move |ctx: &DeviceContext| {
            let mut a = vector(ctx, &(10..20).collect::<Vec<u32>>())?;
            ctx.enqueue_function(rotate(&mut a, wait), grid_dim(1), block_dim(10))
        }
    };
    assert_found(&report(launch(true)), &[]);
    assert_found(&report(launch(false)), &[("read-write", &["read", "write"], 10, 10)]);
}

#[kernel]
fn two_rounds(out: &mut TileTensor<usize, 1>, #[comptime] second: bool) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    s[tid] = tid;
    barrier();
    let v = s[(tid + 1) % 8]; // first
    if second {
        barrier();
    }
    s[tid] = 100 + tid; // again
    barrier();
    let w = s[(tid + 1) % 8];
    out[tid] = v * 1000 + w;
}

/// BAR-6
#[test]
fn a_read_and_the_next_write() {
    let launch = |second| {
        move |ctx: &DeviceContext| {
            let mut out = zeros(ctx, 8)?;
            ctx.enqueue_function(two_rounds(&mut out, second), grid_dim(1), block_dim(8))
        }
    };
    assert_found(&report(launch(true)), &[]);
    assert_found(&report(launch(false)), &[("read-write", &["first", "again"], 8, 8)]);
}

#[kernel]
fn half(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([48]));
    let tid = thread_idx().x;
    s[tid] = tid; // write
    if tid < 20 {
        barrier(); // some
    }
    out[tid] = s[(tid + 1) % 48];
}

#[kernel]
fn whole(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([48]));
    let tid = thread_idx().x;
    s[tid] = tid;
    barrier();
    out[tid] = s[(tid + 1) % 48];
}

/// BDIV-1
#[test]
fn a_barrier_for_half_of_the_block() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 48)?;
        ctx.enqueue_function(half(&mut out), grid_dim(1), block_dim(48))
    });
    let divergence = found.findings.iter().find(|f| matches!(f.kind, Kind::BarrierDivergence { .. }));
    let Some(Kind::BarrierDivergence { waiting, ended: Some(ended) }) = divergence.map(|f| &f.kind) else {
        panic!("{found}")
    };
    assert_eq!(waiting.iter().map(group).collect::<Vec<_>>(), [(vec![(0, 19)], "some".to_owned())]);
    assert_eq!(group(ended), (vec![(20, 47)], String::new()));
    clean(|ctx| {
        let mut out = zeros(ctx, 48)?;
        ctx.enqueue_function(whole(&mut out), grid_dim(1), block_dim(48))?;
        assert_eq!(out.to_host()?[47], 0);
        Ok(())
    });
}

#[kernel]
fn arms(out: &mut TileTensor<u32, 1>, #[comptime] fixed: bool) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid < 4 {
        s[tid] = 1;
        if !fixed {
            barrier(); // A
        }
    } else {
        s[tid] = 2;
        if !fixed {
            barrier(); // B
        }
    }
    if fixed {
        barrier();
    }
    out[tid] = s[7 - tid];
}

/// BDIV-3
#[test]
fn different_barriers_in_two_arms() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(arms(&mut out, false), grid_dim(1), block_dim(8))
    });
    assert_found(&found, &[("divergence", &["A", "B"], 1, 0)]);
    let Kind::BarrierDivergence { waiting, ended: None } = &found.findings[0].kind else { panic!("{found}") };
    let expected = [(vec![(0, 3)], "A".to_owned()), (vec![(4, 7)], "B".to_owned())];
    assert_eq!(waiting.iter().map(group).collect::<Vec<_>>(), expected);
    clean(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(arms(&mut out, true), grid_dim(1), block_dim(8))?;
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
fn blocks_may_differ() {
    clean(|ctx| {
        let mut out = zeros(ctx, 12)?;
        ctx.enqueue_function(every_second_block(&mut out), grid_dim(3), block_dim(4))?;
        assert_eq!(out.to_host()?, [0, 5, 10, 15, 6, 11, 16, 1, 2, 7, 12, 17]);
        Ok(())
    });
}

#[kernel]
fn one_too_many(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    barrier(); // before
    s[tid] = tid;
    barrier(); // between
    out[tid] = s[7 - tid];
    barrier(); // after
}

#[test]
fn redundant_barriers_are_advice() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 16)?;
        ctx.enqueue_function(one_too_many(&mut out), grid_dim(2), block_dim(8))
    });
    let redundant: Vec<_> =
        found.findings.iter().filter(|f| matches!(f.kind, Kind::RedundantBarrier)).collect();
    let lines: Vec<_> = redundant.iter().map(|f| crate::harness::lines(f)[0].clone()).collect();
    assert_eq!(lines, ["before", "after"]);
    assert_eq!(redundant[0].count, 2);
}

#[kernel]
fn two_branches(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    if thread_idx().x == 0 {
        s[0] = 1; // write
    } else {
        out[0] = s[0]; // read
    }
}

/// No barrier can be put between two branches.
#[test]
fn a_race_between_branches() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(two_branches(&mut out), grid_dim(1), block_dim(2))
    });
    let text = found.to_string();
    assert!(text.contains("different branches of one `if`"), "{text}");
    assert!(!text.contains("between line"), "{text}");
}

#[kernel]
fn sum_of_some(out: &mut TileTensor<u32, 1>) {
    if thread_idx().x < 40 {
        out[0] = block::sum(1u32); // sum
    }
}

/// It is told in the words of the source, which has no barrier and no warp.
#[test]
fn a_sum_that_some_threads_do_not_reach() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(sum_of_some(&mut out), grid_dim(1), block_dim(64))
    });
    let first = &found.findings[0];
    let text = tilewise::report::Report { findings: vec![first.clone()], ..found.clone() }.to_string();
    assert!(text.contains("not all threads of the block reach this operation of the block"), "{text}");
    assert!(!text.contains("barrier()") && !text.contains("warp"), "{text}");
}
