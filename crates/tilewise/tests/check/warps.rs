//! Operations of warps: what they order, which lanes have to be there, lanes that are not.

use tilewise::prelude::*;
use tilewise::report::Kind;

use crate::harness::{assert_found, clean, lines, parties, report, vector, what, zeros};

#[kernel]
fn tail(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([32]));
    let tid = thread_idx().x;
    s[tid] = tid + 1;
    syncwarp();
    for d in comptime([16usize, 8, 4, 2, 1]) {
        if tid < d {
            s[tid] += s[tid + d];
        }
        syncwarp();
    }
    if tid == 0 {
        out[0] = s[0];
    }
}

/// RACE-5, fixed
#[test]
fn a_barrier_of_the_warp_orders_its_lanes() {
    clean(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(tail(&mut out), grid_dim(1), block_dim(32))?;
        assert_eq!(out.to_host()?, [528]);
        Ok(())
    });
}

#[kernel]
fn neighbours(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([64]));
    let tid = thread_idx().x;
    s[tid] = tid; // write
    syncwarp();
    out[tid] = s[(tid + 1) % 64]; // read
}

#[test]
fn a_barrier_of_the_warp_does_not_order_other_warps() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 64)?;
        ctx.enqueue_function(neighbours(&mut out), grid_dim(1), block_dim(64))
    });
    // Lane 31 reads what lane 0 of the other warp writes, and lane 63 what thread 0 writes.
    assert_found(&report, &[("write-read", &["write", "read"], 2, 2)]);
}

#[kernel]
fn half_of_a_warp(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([32]));
    let tid = thread_idx().x;
    if tid < 16 {
        s[tid] = tid; // write
        warp::syncwarp_mask(0xffff);
        out[tid] = s[15 - tid];
    } else {
        out[tid] = s[tid - 16]; // read
    }
}

#[test]
fn a_barrier_of_a_part_of_a_warp_orders_that_part() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(half_of_a_warp(&mut out), grid_dim(1), block_dim(32))
    });
    assert_found(&report, &[("write-read", &["write", "read"], 16, 16)]);
}

#[kernel]
fn butterfly(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let mut v = 3 * tid + 1;
    for m in comptime([16usize, 8, 4, 2, 1]) {
        v += warp::shuffle_xor(v, m); // shuffle
    }
    if lane_id() == 0 {
        out[tid / 32] = v;
    }
}

#[kernel]
fn sums(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let sum = warp::sum(3 * tid + 1);
    if lane_id() == 0 {
        out[tid / 32] = sum;
    }
}

/// SHFL-3
#[test]
fn a_butterfly_over_a_warp_of_12_lanes() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(butterfly(&mut out), grid_dim(1), block_dim(44))
    });
    // With 16 all twelve lanes have no partner, with 8 those from 4 to 7, with 4 those from 8 to 11.
    assert_found(&report, &[("absent lane", &["shuffle"], 20, 0)]);
    assert!(matches!(report.findings[0].kind, Kind::AbsentLane { lane: 16 }), "{report}");
    assert_eq!(parties(&report.findings[0]), [(0, 32)]);
    clean(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(sums(&mut out), grid_dim(1), block_dim(44))?;
        assert_eq!(out.to_host()?, [1520, 1362]);
        Ok(())
    });
}

#[kernel]
fn some_lanes(out: &mut TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    if tid < 20 {
        syncwarp(); // here
    }
    out[tid] = tid;
}

#[test]
fn an_operation_that_not_all_lanes_reach() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(some_lanes(&mut out), grid_dim(1), block_dim(32))
    });
    assert_found(&report, &[("warp divergence", &["here"], 1, 0)]);
    let Kind::WarpDivergence { waiting, ended } = &report.findings[0].kind else { panic!("{report}") };
    assert_eq!((waiting[0].count, ended.as_ref().map(|group| group.count)), (20, Some(12)));
}

#[kernel]
fn returned(out: &mut TileTensor<usize, 1>, n: usize) {
    let tid = thread_idx().x;
    if tid >= n {
        return;
    }
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([64]));
    s[tid] = tid;
    syncwarp();
    out[tid] = s[tid / 32 * 32];
}

#[test]
fn lanes_that_have_returned_are_not_waited_for() {
    clean(|ctx| {
        let mut out = zeros(ctx, 41)?;
        ctx.enqueue_function(returned(&mut out, 41), grid_dim(1), block_dim(60))?;
        assert_eq!(out.to_host()?[31..34], [0, 32, 32]);
        Ok(())
    });
}

#[kernel]
fn sum_in_place(s_out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        s[0] = 2;
    }
    barrier();
    let sum = warp::sum(s[0]); // read
    if tid == 0 {
        s[0] = sum; // write
    }
    barrier();
    s_out[tid] = s[0];
}

/// The write needs what is read: there is no order of steps in which it comes first.
#[test]
fn a_write_that_depends_on_the_reads_of_other_lanes() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 32)?;
        ctx.enqueue_function(sum_in_place(&mut out), grid_dim(1), block_dim(32))
    });
    let race = &found.findings[0];
    assert_eq!(lines(race), ["read", "write"], "{found}");
    assert!(race.steps.is_empty(), "{found}");
    let text = found.to_string();
    assert!(!text.contains("instead of") && text.contains("syncwarp();"), "{text}");
}

/// Which operation of the warp hands over what the lanes have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hands {
    Sum,
    Any,
    Scan,
    Broadcast,
    Neighbour,
    Nothing,
}

#[kernel]
fn combined(
    out: &mut TileTensor<u32, 1>,
    writer: usize,
    #[comptime] hands: Hands,
    #[comptime] rounds: usize,
    #[comptime] order: bool,
) {
    let tid = thread_idx().x;
    for _ in 0..rounds {
        let mut found = out[0]; // read
        match hands {
            Hands::Sum => found = warp::sum(found),
            Hands::Any => {
                if !warp::any(found > 100) {
                    found = 7;
                }
            }
            Hands::Scan => found = warp::prefix_sum(found),
            Hands::Broadcast => found = warp::broadcast(found),
            Hands::Neighbour => found = warp::shuffle_down(found, 1),
            Hands::Nothing => {}
        }
        if order {
            syncwarp();
        }
        if tid == writer {
            out[0] = found + 1; // write
        }
        if order {
            syncwarp();
        }
    }
}

/// An operation of a warp orders no memory, but a lane cannot write what is computed from a read that comes later.
#[test]
fn no_order_is_shown_that_does_not_exist() {
    let launch = |writer, hands, rounds, order| {
        move |ctx: &DeviceContext| {
            let mut out = vector(ctx, &[2])?;
            let launch = combined(&mut out, writer, hands, rounds, order);
            ctx.enqueue_function(launch, grid_dim(1), block_dim(32))
        }
    };
    for (hands, writer, exists) in [
        (Hands::Sum, 0, false),
        (Hands::Any, 0, false),
        // Of the reads those of lanes 31 and 30 are told.
        (Hands::Scan, 31, false),
        (Hands::Scan, 0, true),
        (Hands::Broadcast, 0, true),
        (Hands::Neighbour, 30, false),
        (Hands::Neighbour, 0, true),
        (Hands::Nothing, 0, true),
    ] {
        for rounds in [1, 2] {
            let report = report(launch(writer, hands, rounds, false));
            let race = report.findings.iter().find(|race| what(race) == "read-write");
            let race = race.unwrap_or_else(|| panic!("{hands:?}: {report}"));
            assert_eq!(lines(race), ["read", "write"]);
            assert_eq!(!race.steps.is_empty(), exists, "{hands:?} by {writer}: {report}");
        }
        assert_found(&report(launch(writer, hands, 2, true)), &[]);
    }
    let text = report(launch(0, Hands::Sum, 1, false)).to_string();
    assert!(!text.contains("steps:") && !text.contains("value:"), "{text}");
}
