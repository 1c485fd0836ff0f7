//! Races in global memory, in a block and between blocks.

use tilewise::prelude::*;
use tilewise::report::Kind;

use crate::harness::{assert_found, clean, element, parties, report, vector, what, zeros};

#[kernel]
fn accumulate(
    out: &mut TileTensor<u32, 1>,
    x: &TileTensor<u32, 1>,
    #[comptime] atomic: bool,
    #[comptime] wait: bool,
) {
    let tid = thread_idx().x;
    let gid = block_idx().x * block_dim().x + tid;
    if atomic {
        out.atomic(tid).fetch_add(x[gid]);
    } else {
        out[tid] = out[tid] + x[gid]; // add
    }
    if wait {
        barrier(); // wait
    }
}

/// GRACE-1
#[test]
fn two_blocks_add_to_the_same_elements() {
    let launch = |wait| {
        move |ctx: &DeviceContext| {
            let x = vector(ctx, &(1..=8).collect::<Vec<u32>>())?;
            let mut out = zeros(ctx, 4)?;
            ctx.enqueue_function(accumulate(&mut out, &x, false, wait), grid_dim(2), block_dim(4))
        }
    };
    let found = report(launch(false));
    let races = [
        ("write-write between blocks", &["add"] as &[_], 4, 4),
        ("read-write between blocks", &["add", "add"], 8, 4),
    ];
    let mut sorted: Vec<_> = found.findings.iter().map(crate::harness::what).collect();
    sorted.sort();
    assert_eq!(sorted, ["read-write between blocks", "write-write between blocks"], "{found}");
    for race in &found.findings {
        let expected = races.iter().find(|(what, ..)| *what == crate::harness::what(race)).expect("a race");
        assert_eq!((race.count, race.elements), (expected.2, expected.3), "{found}");
        assert_eq!((element(race), parties(race)), ("out[0]".to_owned(), vec![(0, 0), (1, 0)]));
    }
    let with_barrier = report(launch(true));
    assert_eq!(with_barrier.findings.iter().filter(|f| crate::harness::what(f) != "redundant").count(), 2);
    clean(|ctx| {
        let x = vector(ctx, &(1..=8).collect::<Vec<u32>>())?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(accumulate(&mut out, &x, true, false), grid_dim(2), block_dim(4))?;
        assert_eq!(out.to_host()?, [6, 8, 10, 12]);
        Ok(())
    });
}

#[kernel]
fn stencil_in_place(a: &mut TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    let mut v = 0;
    if gid > 0 {
        v += a[gid - 1]; // left
    }
    if gid < 7 {
        v += a[gid + 1]; // right
    }
    barrier();
    a[gid] = v; // write
}

/// GRACE-3
#[test]
fn a_stencil_in_place() {
    let launch = |blocks: usize| {
        move |ctx: &DeviceContext| {
            let mut a = vector(ctx, &(1..=8).collect::<Vec<u32>>())?;
            ctx.enqueue_function(stencil_in_place(&mut a), grid_dim(blocks), block_dim(8 / blocks))
        }
    };
    let found = report(launch(2));
    assert_found(
        &found,
        &[
            ("read-write between blocks", &["right", "write"], 1, 1),
            ("write-read between blocks", &["write", "left"], 1, 1),
        ],
    );
    assert_eq!(
        (element(&found.findings[0]), parties(&found.findings[0])),
        ("a[4]".to_owned(), vec![(0, 3), (1, 0)])
    );
    assert_eq!(
        (element(&found.findings[1]), parties(&found.findings[1])),
        ("a[3]".to_owned(), vec![(0, 3), (1, 0)])
    );
    assert_found(&report(launch(1)), &[]);
}

#[kernel]
fn find(found: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>, #[comptime] atomic: bool) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    if x[gid] > 5 {
        if atomic {
            found.atomic(0).store(1);
        } else {
            found[0] = 1; // found
        }
    }
}

/// GRACE-5
#[test]
fn everybody_writes_the_same_value() {
    let launch = |atomic| {
        move |ctx: &DeviceContext| {
            let x = vector(ctx, &[7u32, 1, 9, 2, 8, 6])?;
            let mut found = zeros(ctx, 1)?;
            ctx.enqueue_function(find(&mut found, &x, atomic), grid_dim(2), block_dim(3))
        }
    };
    let found = report(launch(false));
    assert_found(
        &found,
        &[("harmless write-write", &["found"], 2, 1), ("harmless between blocks", &["found"], 4, 1)],
    );
    assert_eq!(parties(&found.findings[0]), [(0, 0), (0, 2)]);
    assert_found(&report(launch(true)), &[]);
}

#[kernel]
fn last_differs(out: &mut TileTensor<u32, 1>, #[comptime] by_block: bool) {
    let number = if by_block { block_idx().x } else { thread_idx().x };
    out[0] = if number < 3 { 7 } else { number as u32 }; // write
}

/// Most of the values are equal; what is shown are two that differ, the same in each run.
#[test]
fn the_instance_that_shows_a_difference_is_told() {
    for (by_block, grid, block) in [(false, 1, 5), (true, 5, 1)] {
        let found = report(|ctx| {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(last_differs(&mut out, by_block), grid_dim(grid), block_dim(block))
        });
        let kind = if by_block { "write-write between blocks" } else { "write-write" };
        assert_eq!((what(&found.findings[0]), found.findings.len()), (kind, 1), "{found}");
        let Kind::Race { right, wrong, .. } = found.findings[0].kind else { panic!("{found}") };
        assert_eq!((right.to_string(), wrong.to_string()), ("3".to_owned(), "7".to_owned()), "{found}");
        let first = if by_block { (0, 0) } else { (0, 2) };
        let second = if by_block { (3, 0) } else { (0, 3) };
        assert_eq!(parties(&found.findings[0]), [first, second], "{found}");
    }
}

#[kernel]
fn for_a_while(out: &mut TileTensor<i32, 1>, x: &mut TileTensor<i32, 1>) {
    let (bid, tid) = (block_idx().x, thread_idx().x);
    if bid == 0 && tid == 0 {
        x[0] = 9;
        x[0] = 5; // again
    }
    if bid == 1 {
        out[tid] = x[0]; // read
    }
}

#[kernel]
fn cleared(out: &mut TileTensor<i32, 1>, x: &mut TileTensor<i32, 1>) {
    if block_idx().x == 0 {
        x.atomic(0).fetch_and(0);
    } else {
        out[thread_idx().x] = x[0]; // read
    }
}

/// What another block finds may be a value that was there for a while, or was there before an atomic: no such race is harmless.
#[test]
fn values_in_between() {
    let races = [
        report(|ctx| {
            let (mut out, mut x) = (zeros(ctx, 4)?, vector(ctx, &[5])?);
            ctx.enqueue_function(for_a_while(&mut out, &mut x), grid_dim(2), block_dim(4))
        }),
        report(|ctx| {
            let (mut out, mut x) = (zeros(ctx, 4)?, vector(ctx, &[5])?);
            ctx.enqueue_function(cleared(&mut out, &mut x), grid_dim(2), block_dim(4))
        }),
    ];
    for report in races {
        assert!(report.first_error().is_some(), "{report}");
    }
}

#[kernel]
fn written_and_counted(out: &mut TileTensor<u32, 1>) {
    if thread_idx().x == 0 {
        out[0] = 5; // write
    }
    out.atomic(0).fetch_add(1); // count
}

/// Between the two accesses that are shown another may have changed the element.
#[test]
fn a_line_is_said_to_write_what_it_wrote() {
    let report = report(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(written_and_counted(&mut out), grid_dim(1), block_dim(2))
    });
    assert_found(&report, &[("write-write", &["write", "count"], 1, 1)]);
    let text = report.to_string();
    assert!(text.contains("thread (0, 0, 0) of block (0, 0, 0) writes 5 to `out[0]`"), "{text}");
    assert!(text.contains("7 is left if the lines run in the order of the source; 5 in the order"), "{text}");
    assert!(!text.contains("writes 6"), "{text}");
}

#[kernel]
fn shifted(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let i = thread_idx().x;
    if i < 3 {
        out[i] = a[i + 1] + 1;
    }
}

/// Both sides of a race may have a name of their own for the memory.
#[test]
fn two_names_for_one_memory() {
    let report = report(|ctx| {
        let mut a = vector(ctx, &[1, 2, 3, 4])?;
        let (mut out, a) = a.in_out();
        ctx.enqueue_function(shifted(&mut out, a), grid_dim(1), block_dim(4))
    });
    let text = report.to_string();
    assert!(text.contains("`a` and `out` are one memory in this launch"), "{text}");
}
