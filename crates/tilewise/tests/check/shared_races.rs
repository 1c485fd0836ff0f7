//! Races in shared memory.

use tilewise::prelude::*;
use tilewise::report::{Datum, Kind, Report};

use crate::harness::{assert_found, clean, element, lines, parties, report, vector, what, zeros};

fn integer(value: Datum) -> i128 {
    match value {
        Datum::Value(number) => number.0.as_int().expect("an integer"),
        other => panic!("{other}"),
    }
}

#[kernel]
fn scan_in_place(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([7]));
    let tid = thread_idx().x;
    s[tid] = tid + 1;
    barrier();
    let mut off = 1;
    while off < 7 {
        if tid >= off {
            s[tid] += s[tid - off]; // scan
        }
        barrier();
        off *= 2;
    }
    out[tid] = s[tid];
}

#[kernel]
fn scan_fixed(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([7]));
    let tid = thread_idx().x;
    s[tid] = tid + 1;
    barrier();
    let mut off = 1;
    while off < 7 {
        let mut v = 0;
        if tid >= off {
            v = s[tid - off];
        }
        barrier();
        s[tid] += v;
        barrier();
        off *= 2;
    }
    out[tid] = s[tid];
}

/// RACE-1
#[test]
fn a_prefix_scan_in_place() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 7)?;
        ctx.enqueue_function(scan_in_place(&mut out), grid_dim(1), block_dim(7))
    });
    assert_found(&report, &[("read-write", &["scan", "scan"], 8, 5)]);
    let race = &report.findings[0];
    assert_eq!((element(race), parties(race)), ("s[1]".to_owned(), vec![(0, 2), (0, 1)]));
    assert_eq!(race.parties[0].interval, 1);
    let Kind::Race { right, wrong, .. } = race.kind else { panic!("{race}") };
    // s[1] is 2, and 3 once thread 1 has added s[0].
    assert_eq!((integer(right), integer(wrong)), (2, 3));
    assert_eq!(race.steps.iter().map(|step| step.party).collect::<Vec<_>>(), [1, 0]);
    clean(|ctx| {
        let mut out = zeros(ctx, 7)?;
        ctx.enqueue_function(scan_fixed(&mut out), grid_dim(1), block_dim(7))?;
        assert_eq!(out.to_host()?, [1, 3, 6, 10, 15, 21, 28]);
        Ok(())
    });
}

#[kernel]
fn tiles(out: &mut TileTensor<usize, 1>, a: &TileTensor<usize, 1>, rounds: usize, fixed: bool) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([5]));
    let tid = thread_idx().x;
    let mut acc = 0;
    for k in 0..rounds {
        s[tid] = a[k * 5 + tid]; // fill
        barrier();
        acc += s[(tid + 2) % 5]; // use
        if fixed {
            barrier();
        }
    }
    out[tid] = acc;
}

/// RACE-3
#[test]
fn a_barrier_is_missing_at_the_end_of_a_tile_loop() {
    let launch = |rounds, fixed| {
        move |ctx: &DeviceContext| {
            let a = vector(ctx, &(0..20).collect::<Vec<usize>>())?;
            let mut out = zeros(ctx, 5)?;
            ctx.enqueue_function(tiles(&mut out, &a, rounds, fixed), grid_dim(1), block_dim(5))
        }
    };
    assert_found(&report(launch(1, false)), &[]);
    let four = report(launch(4, false));
    assert_found(&four, &[("read-write", &["use", "fill"], 15, 5)]);
    for race in &four.findings {
        let (_, reader) = parties(race)[0];
        let (_, writer) = parties(race)[1];
        assert_eq!(reader, (writer + 3) % 5);
    }
    assert_found(&report(launch(4, true)), &[]);
}

#[kernel]
fn warp_style(out: &mut TileTensor<usize, 1>, fixed: bool) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([32]));
    let tid = thread_idx().x;
    s[tid] = tid + 1;
    barrier();
    for d in comptime([16usize, 8, 4, 2, 1]) {
        if tid < d {
            s[tid] += s[tid + d]; // add
        }
        if fixed {
            barrier();
        }
    }
    if tid == 0 {
        out[0] = s[0];
    }
}

/// RACE-5, with barriers of the block in place of those of the warp
#[test]
fn threads_of_a_warp_are_not_in_step() {
    let launch = |fixed| {
        move |ctx: &DeviceContext| {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(warp_style(&mut out, fixed), grid_dim(1), block_dim(32))
        }
    };
    let found = report(launch(false));
    assert_found(&found, &[("write-read", &["add", "add"], 15, 15)]);
    let race = &found.findings[0];
    assert_eq!((element(race), parties(race)), ("s[8]".to_owned(), vec![(0, 8), (0, 0)]));
    let Kind::Race { right, wrong, .. } = race.kind else { panic!("{race}") };
    assert_eq!((integer(right), integer(wrong)), (9 + 25, 9));
    // The last barrier has nothing behind it but thread 0.
    assert_found(&report(launch(true)), &[]);
}

#[kernel]
fn two_buffers(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 2>(AddressSpace::Shared, row_major([2, 5]));
    let tid = thread_idx().x;
    let mut acc = 0;
    for k in 0..4usize {
        s[[k % 2, tid]] = tid + k;
        barrier();
        acc += s[[k % 2, (tid + 1) % 5]];
    }
    out[tid] = acc;
}

/// RACE-7
#[test]
fn two_buffers_in_turn_need_one_barrier_a_round() {
    clean(|ctx| {
        let mut out = zeros(ctx, 5)?;
        ctx.enqueue_function(two_buffers(&mut out), grid_dim(1), block_dim(5))?;
        assert_eq!(out.to_host()?, [10, 14, 18, 22, 6]);
        Ok(())
    });
}

#[kernel]
fn copy_and_fill(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>, fixed: bool) {
    let s = stack_allocation::<i32, 1>(AddressSpace::Shared, row_major([24]));
    let tid = thread_idx().x;
    for i in (tid..24).step_by(8) {
        s[i] = a[i]; // copy
    }
    if fixed {
        barrier();
    }
    if tid < 4 {
        for j in 0..5usize {
            s[4 + tid + 4 * j] = -9; // fill
        }
    }
    barrier();
    for i in (tid..24).step_by(8) {
        out[i] = s[i];
    }
}

/// RACE-10
#[test]
fn a_copy_and_a_partial_fill() {
    let launch = |fixed| {
        move |ctx: &DeviceContext| {
            let a = vector(ctx, &(0..24).collect::<Vec<i32>>())?;
            let mut out = zeros(ctx, 24)?;
            ctx.enqueue_function(copy_and_fill(&mut out, &a, fixed), grid_dim(1), block_dim(8))
        }
    };
    let found = report(launch(false));
    assert_found(&found, &[("write-write", &["copy", "fill"], 12, 12)]);
    assert_eq!(parties(&found.findings[0]), [(0, 4), (0, 0)]);
    assert_found(&report(launch(true)), &[]);
}

#[kernel]
fn largest(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>) {
    let s = stack_allocation::<i32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        s[0] = a[0];
        for k in 1..a.dim(0) {
            s[0] = s[0].max(a[k]); // next
        }
    }
    out[tid] = s[0]; // read
}

/// Who reads too early may find any of the values in between, also where the last write changed nothing.
#[test]
fn a_value_that_is_written_several_times() {
    let report = report(|ctx| {
        let a = vector(ctx, &[1, 9, 3, 2])?;
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(largest(&mut out, &a), grid_dim(1), block_dim(8))
    });
    assert!(report.first_error().is_some(), "{report}");
    let race = &report.findings[0];
    assert!(matches!(race.kind, Kind::Race { harmless: false, .. }), "{report}");
}

#[kernel]
fn counted(out: &mut TileTensor<u32, 1>, #[comptime] atomic: bool) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        s[0] = 1;
    }
    barrier();
    if tid == 1 {
        if atomic {
            s[0] = 5; // first
        } else {
            out[0] = s[0]; // first
        }
    }
    if tid == 2 {
        if atomic {
            s.atomic(0).fetch_add(1);
        } else {
            s[0] = 6;
        }
    }
    if tid == 3 {
        s[0] = 9; // last
    }
}

/// Between the two accesses of a race another may have changed the element: what the first did is told, or nothing.
#[test]
fn a_line_is_said_to_do_what_it_did() {
    for (atomic, did) in [(true, "writes 5 to `s[0]`"), (false, "reads `s[0]`")] {
        let report = report(|ctx| {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(counted(&mut out, atomic), grid_dim(1), block_dim(4))
        });
        let race = report.findings.iter().find(|race| lines(race) == ["first", "last"]);
        let race = race.unwrap_or_else(|| panic!("{report}"));
        let alone = Report { findings: vec![race.clone()], ..report.clone() }.to_string();
        assert!(alone.contains(&format!("thread (1, 0, 0) of block (0, 0, 0) {did}")), "{alone}");
        assert!(!alone.contains("writes 6") && !alone.contains("instead of 6"), "{alone}");
    }
}

#[kernel]
fn read_by_all(out: &mut TileTensor<u32, 1>, #[comptime] how: usize) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        s[0] = 1;
        out[0] = 1;
    }
    barrier();
    let mut found = 0;
    if how == 0 {
        found = s[0]; // shared
    } else if how == 1 {
        found = out[0]; // global
    } else if how == 2 {
        // All threads read the same element, each by an index of its own.
        found = out[tid / 70]; // gather
    } else if how == 3 {
        // Many elements, in no order.
        for k in 0..700usize {
            found += out[300 * k % 701]; // scattered
        }
    } else {
        // So many that those that are read last are not kept.
        for k in 1..5004usize {
            found += out[300 * k % 5003]; // far
        }
    }
    out[5003 + tid] = found;
    if tid == 5 {
        if how == 0 {
            s[0] = 2; // write
        } else {
            out[0] = 2; // write
        }
    }
}

/// All that read are counted, or the report says that there may be more.
#[test]
fn each_reader_is_a_pair() {
    for (how, read) in [(0, "shared"), (1, "global"), (2, "gather"), (3, "scattered"), (4, "far")] {
        let found = report(|ctx| {
            let mut out = zeros(ctx, 5003 + 64)?;
            ctx.enqueue_function(read_by_all(&mut out, how), grid_dim(1), block_dim(64))
        });
        let race = found.findings.iter().find(|race| what(race) == "read-write");
        let race = race.unwrap_or_else(|| panic!("{found}"));
        assert_eq!(lines(race), [read, "write"], "{found}");
        let text = found.to_string();
        if how != 2 && how != 4 {
            assert_eq!(race.count, 63, "{text}");
            assert!(text.contains("and 62 more pairs of accesses like it, on the same element"), "{text}");
        } else {
            assert!(text.contains("and at least 1 more pair of accesses like it"), "{text}");
        }
    }
}
