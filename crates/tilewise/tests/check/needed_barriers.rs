//! Which barriers are needed: advice to leave one out is given only where no two accesses need it.

use tilewise::prelude::*;

use crate::harness::{lines, report, what, zeros};

/// What a thread does to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Does {
    Nothing,
    Read,
    Write,
    AtomicRead,
    AtomicAdd,
}

use Does::*;

const ALL: [Does; 5] = [Nothing, Read, Write, AtomicRead, AtomicAdd];

impl Does {
    fn order_matters(self, other: Does) -> bool {
        let writes = |does| matches!(does, Write | AtomicAdd);
        self != Nothing && other != Nothing && (writes(self) || writes(other))
    }

    fn races_with(self, other: Does) -> bool {
        let is_atomic = |does| matches!(does, AtomicRead | AtomicAdd);
        self.order_matters(other) && !(is_atomic(self) && is_atomic(other))
    }
}

#[device]
fn step(cells: &mut TileTensor<u32, 1>, out: &mut TileTensor<u32, 1>, thread: usize, #[comptime] does: Does) {
    if does != Nothing {
        if thread_idx().x == thread {
            let found = match does {
                Nothing | Write => 7,
                Read => cells[1],
                AtomicRead => cells.atomic(1).load(),
                AtomicAdd => cells.atomic(1).fetch_add(1),
            };
            if does == Write {
                cells[1] = found;
            }
            out[thread] += found;
        }
    }
}

/// What the first thread does before a barrier, and what it and then the second one do after it.
#[kernel]
fn steps(
    cells: &mut TileTensor<u32, 1>,
    out: &mut TileTensor<u32, 1>,
    #[comptime] before: Does,
    #[comptime] after: [Does; 2],
    #[comptime] in_shared: bool,
    #[comptime] warp: bool,
) {
    let shared = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([3]));
    if in_shared {
        if thread_idx().x == 1 {
            shared[1] = 1;
        }
        barrier();
        step(&mut shared, out, 0, before);
        barrier(); // between
        step(&mut shared, out, 0, after[0]);
        step(&mut shared, out, 1, after[1]);
    } else {
        step(cells, out, 0, before);
        barrier(); // between
        step(cells, out, 0, after[0]);
        step(cells, out, 1, after[1]);
    }
    if warp {
        syncwarp();
    }
}

/// The second thread needs the barrier if what the first one does before it conflicts, whatever that does after it.
#[test]
fn a_barrier_is_needed_by_what_comes_before_it() {
    let accesses = ALL.into_iter().flat_map(|before| ALL.map(|first| (before, first)));
    for (before, after) in accesses.flat_map(|(before, first)| ALL.map(|second| (before, [first, second]))) {
        if after[0].races_with(after[1]) {
            continue;
        }
        for (in_shared, warp) in [(false, false), (false, true), (true, false), (true, true)] {
            let found = report(|ctx| {
                let (mut cells, mut out) = (zeros(ctx, 3)?, zeros(ctx, 2)?);
                let launch = steps(&mut cells, &mut out, before, after, in_shared, warp);
                ctx.enqueue_function(launch, grid_dim(1), block_dim(2))
            });
            assert!(found.is_clean(), "{found}");
            let advised = found.findings.iter().any(|f| what(f) == "redundant" && lines(f) == ["between"]);
            // In shared memory the first barrier is left out if the first thread does nothing before the second one.
            let is_alone = in_shared && before == Nothing;
            let needed = before.order_matters(after[1]) || is_alone && after[0] != Nothing;
            assert_ne!(advised, needed, "{before:?}, then {after:?}: {in_shared}, {warp}\n{found}");
        }
    }
}

#[kernel]
fn totals(out: &mut TileTensor<u32, 1>) {
    let count = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    if tid < 4 {
        count[tid] = 0;
    }
    barrier();
    count.atomic(tid % 4).fetch_add(1);
    barrier(); // counted
    // Each thread takes a number of its own, and the total is that of all.
    let number = count.atomic(tid % 4).fetch_add(1);
    let total = count.atomic((tid + 1) % 4).load();
    out[tid] = number + total;
}

/// Several elements, each of several threads, and each thread goes on with one that it had before.
#[test]
fn a_barrier_between_atomics_of_the_same_threads() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(totals(&mut out), grid_dim(2), block_dim(8))
    });
    assert!(found.findings.iter().all(|f| what(f) != "redundant"), "{found}");
}

#[kernel]
fn flags(out: &mut TileTensor<u32, 1>) {
    let flag = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    flag[0] = 1;
    barrier(); // set
    if tid == 1 {
        out[0] = flag[0];
    }
}

/// The last thread to write is the one that reads, which hides the other write of the same value.
#[test]
fn a_barrier_after_a_harmless_race() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(flags(&mut out), grid_dim(1), block_dim(2))
    });
    assert_eq!(found.findings.iter().map(what).collect::<Vec<_>>(), ["harmless write-write"], "{found}");
}

#[kernel]
fn two_in_a_row(out: &mut TileTensor<usize, 1>, #[comptime] both: bool) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    s[tid] = tid;
    barrier(); // first
    if both {
        barrier(); // second
    }
    out[4 * block_idx().x + tid] = s[3 - tid];
}

/// Who leaves out all that are named has a right kernel.
#[test]
fn of_two_barriers_in_a_row_one_is_needed() {
    for both in [false, true] {
        let found = report(|ctx| {
            let mut out = zeros(ctx, 12)?;
            ctx.enqueue_function(two_in_a_row(&mut out, both), grid_dim(3), block_dim(4))
        });
        let advice: Vec<_> = found.findings.iter().map(|f| (what(f), lines(f))).collect();
        let expected = [("redundant", vec!["first".to_owned()])];
        assert_eq!(advice, expected[..usize::from(both)], "{found}");
    }
}
