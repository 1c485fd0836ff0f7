//! Order by atomics and fences: what it allows, and what too little of it does not.

use tilewise::prelude::*;
use tilewise::report::Kind;

use crate::harness::{assert_found, clean, element, report, vector, what, zeros};

#[kernel]
fn locked(lock: &mut TileTensor<u32, 1>, x: &mut TileTensor<u32, 1>, #[comptime] ordered: bool) {
    let (acquire, release) =
        if ordered { (Ordering::Acquire, Ordering::Release) } else { (Ordering::Relaxed, Ordering::Relaxed) };
    loop {
        if lock.atomic(0).ordering(acquire).compare_exchange(0, 1) == 0 {
            x[0] += 1; // count
            lock.atomic(0).ordering(release).store(0);
            break;
        }
    }
}

/// ATOM-7
#[test]
fn a_lock() {
    for (blocks, threads) in [(1, 32), (4, 8)] {
        clean(|ctx| {
            let (mut lock, mut x) = (zeros(ctx, 1)?, zeros(ctx, 1)?);
            ctx.enqueue_function(locked(&mut lock, &mut x, true), grid_dim(blocks), block_dim(threads))?;
            assert_eq!(x.to_host()?, [32]);
            Ok(())
        });
        let found = report(|ctx| {
            let (mut lock, mut x) = (zeros(ctx, 1)?, zeros(ctx, 1)?);
            ctx.enqueue_function(locked(&mut lock, &mut x, false), grid_dim(blocks), block_dim(threads))
        });
        assert!(found.first_error().is_some_and(|race| element(race) == "x[0]"), "{found}");
    }
}

#[kernel]
fn message(
    out: &mut TileTensor<u32, 1>,
    data: &mut TileTensor<u32, 1>,
    flag: &mut TileTensor<u32, 1>,
    #[comptime] scope: Scope,
    #[comptime] store: Ordering,
    #[comptime] load: Ordering,
    #[comptime] fences: bool,
) {
    let (tid, bid) = (thread_idx().x, block_idx().x);
    if bid == 1 {
        data[tid] = 7 + tid as u32; // write
        barrier();
        if tid == 0 {
            if fences {
                fence(scope, Ordering::Release);
            }
            flag.atomic(0).scope(scope).ordering(store).store(1);
        }
    } else {
        if tid == 0 {
            while flag.atomic(0).scope(scope).ordering(load).load() == 0 {}
            if fences {
                fence(scope, Ordering::Acquire);
            }
        }
        barrier();
        out[tid] = data[tid]; // read
    }
}

#[derive(Clone, Copy)]
struct Flag {
    scope: Scope,
    store: Ordering,
    load: Ordering,
    fences: bool,
}

const FLAG: Flag =
    Flag { scope: Scope::Device, store: Ordering::Release, load: Ordering::Acquire, fences: false };
const RELAXED: Flag = Flag { store: Ordering::Relaxed, load: Ordering::Relaxed, ..FLAG };

fn send(flag: Flag) -> impl Fn(&DeviceContext) -> tilewise::Result<()> {
    move |ctx| {
        let (mut out, mut data, mut cell) = (zeros(ctx, 4)?, zeros(ctx, 4)?, zeros(ctx, 1)?);
        let Flag { scope, store, load, fences } = flag;
        ctx.enqueue_function(
            message(&mut out, &mut data, &mut cell, scope, store, load, fences),
            grid_dim(2),
            block_dim(4),
        )
    }
}

#[test]
fn a_flag_between_blocks() {
    // What all threads of a block wrote before a barrier is published by one of them, and waited for by one.
    assert_found(&report(send(FLAG)), &[]);
    assert_found(&report(send(Flag { store: Ordering::SeqCst, load: Ordering::SeqCst, ..FLAG })), &[]);
    assert_found(&report(send(Flag { fences: true, ..RELAXED })), &[]);
    let race = [("write-read between blocks", &["write", "read"] as &[_], 4, 4)];
    assert_found(&report(send(RELAXED)), &race);
    assert_found(&report(send(Flag { store: Ordering::Relaxed, ..FLAG })), &race);
    assert_found(&report(send(Flag { load: Ordering::Relaxed, ..FLAG })), &race);
}

/// Where an order or a scope is what is missing, the report says so.
#[test]
fn weak_atomics_are_named() {
    for flag in [RELAXED, Flag { store: Ordering::Relaxed, ..FLAG }, Flag { load: Ordering::Relaxed, ..FLAG }]
    {
        let text = report(send(flag)).to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("if the atomics on `flag` are to order these accesses: relaxed ones"),
            "{text}"
        );
    }
    let narrow = report(send(Flag { scope: Scope::Block, ..FLAG }));
    let text = narrow.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("those of scope `Block` order threads of one block only"), "{text}");
    assert!(text.contains("an atomic of scope `Block` is none for threads of other blocks"), "{text}");
    assert!(!text.contains("use atomics (`flag.atomic(i)`)"), "{text}");
}

#[test]
fn a_scope_that_is_too_narrow_orders_nothing() {
    let found = report(send(Flag { scope: Scope::Block, ..FLAG }));
    assert!(found.findings.iter().any(|f| what(f) == "write-read between blocks" && element(f) == "data[0]"));
    // The flag itself is not atomic between blocks.
    assert!(found.findings.iter().any(|f| element(f) == "flag[0]"), "{found}");
    let fenced = report(send(Flag { scope: Scope::Block, fences: true, ..RELAXED }));
    assert!(fenced.findings.iter().any(|f| element(f) == "data[0]"), "{fenced}");
}

#[kernel]
fn last_block(
    out: &mut TileTensor<u32, 1>,
    partial: &mut TileTensor<u32, 1>,
    done: &mut TileTensor<u32, 1>,
    x: &TileTensor<u32, 1>,
    #[comptime] ordering: Ordering,
    #[comptime] fences: bool,
) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let is_last = stack_allocation::<bool, 1>(AddressSpace::Shared, row_major([1]));
    let (tid, bid) = (thread_idx().x, block_idx().x);
    s[tid] = x[bid * 8 + tid];
    barrier();
    for d in comptime([4usize, 2, 1]) {
        if tid < d {
            s[tid] += s[tid + d];
        }
        barrier();
    }
    if tid == 0 {
        partial[bid] = s[0]; // partial
        if fences {
            fence(Scope::Device, Ordering::AcqRel);
        }
        let before = done.atomic(0).ordering(ordering).fetch_add(1);
        if fences {
            fence(Scope::Device, Ordering::AcqRel);
        }
        is_last[0] = before as usize == grid_dim().x - 1;
    }
    barrier();
    if is_last[0] {
        if tid == 0 {
            let mut sum = 0;
            for i in 0..grid_dim().x {
                sum += partial[i]; // sum
            }
            out[0] = sum;
        }
    }
}

fn count_blocks(ordering: Ordering, fences: bool) -> impl Fn(&DeviceContext) -> tilewise::Result<()> {
    move |ctx| {
        let x = vector(ctx, &[1u32; 40])?;
        let (mut out, mut partial, mut done) = (zeros(ctx, 1)?, zeros(ctx, 5)?, zeros(ctx, 1)?);
        ctx.enqueue_function(
            last_block(&mut out, &mut partial, &mut done, &x, ordering, fences),
            grid_dim(5),
            block_dim(8),
        )
    }
}

#[test]
fn the_last_block_sums_up() {
    assert_found(&report(count_blocks(Ordering::AcqRel, false)), &[]);
    assert_found(&report(count_blocks(Ordering::SeqCst, false)), &[]);
    assert_found(&report(count_blocks(Ordering::Relaxed, true)), &[]);
    let race = [("write-read between blocks", &["partial", "sum"] as &[_], 4, 4)];
    assert_found(&report(count_blocks(Ordering::Relaxed, false)), &race);
    assert_found(&report(count_blocks(Ordering::Release, false)), &race);
    assert_found(&report(count_blocks(Ordering::Acquire, false)), &race);
}

#[kernel]
fn only_atomics(hist: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    hist.atomic(x[gid] as usize % 4).fetch_add(1);
    hist.atomic(0).fetch_max(x[gid]);
}

#[test]
fn atomics_only() {
    clean(|ctx| {
        let x = vector(ctx, &(0..64).collect::<Vec<u32>>())?;
        let mut hist = zeros(ctx, 4)?;
        ctx.enqueue_function(only_atomics(&mut hist, &x), grid_dim(4), block_dim(16))?;
        assert_eq!(hist.to_host()?[1..], [16, 16, 16]);
        Ok(())
    });
}

#[kernel]
fn atomic_and_plain(out: &mut TileTensor<u32, 1>, hist: &mut TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    hist.atomic(0).fetch_add(1); // atomic
    out[gid] = hist[0]; // plain
}

#[test]
fn an_atomic_update_and_a_plain_read() {
    let found = report(|ctx| {
        let (mut out, mut hist) = (zeros(ctx, 6)?, zeros(ctx, 1)?);
        ctx.enqueue_function(atomic_and_plain(&mut out, &mut hist), grid_dim(2), block_dim(3))
    });
    let kinds: Vec<_> = found.findings.iter().map(what).collect();
    assert_eq!(kinds, ["write-read", "read-write between blocks"], "{found}");
    assert!(found.findings.iter().all(|f| matches!(f.kind, Kind::Race { .. }) && element(f) == "hist[0]"));
}

#[kernel]
fn handover(s_out: &mut TileTensor<u32, 1>, #[comptime] ordered: bool) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([2]));
    let tid = thread_idx().x;
    let (acquire, release) =
        if ordered { (Ordering::Acquire, Ordering::Release) } else { (Ordering::Relaxed, Ordering::Relaxed) };
    if tid == 0 {
        s.atomic(1).scope(Scope::Block).store(0);
    }
    barrier();
    if tid == 0 {
        s[0] = 5; // give
        s.atomic(1).scope(Scope::Block).ordering(release).store(1);
    } else {
        while s.atomic(1).scope(Scope::Block).ordering(acquire).load() == 0 {}
        s_out[block_idx().x * 4 + tid] = s[0]; // take
    }
}

#[test]
fn a_flag_in_shared_memory() {
    let launch = |ordered| {
        move |ctx: &DeviceContext| {
            let mut out = zeros(ctx, 8)?;
            ctx.enqueue_function(handover(&mut out, ordered), grid_dim(2), block_dim(4))
        }
    };
    assert_found(&report(launch(true)), &[]);
    assert!(report(launch(false)).findings.iter().any(|f| what(f) == "write-read" && element(f) == "s[0]"));
}

#[kernel]
fn nobody(flag: &mut TileTensor<u32, 1>) {
    while flag.atomic(0).ordering(Ordering::Acquire).load() == 0 {} // spin
}

#[test]
fn a_flag_that_nobody_sets() {
    let found = report(|ctx| {
        let mut flag = zeros(ctx, 1)?;
        ctx.enqueue_function(nobody(&mut flag), grid_dim(1), block_dim(4))
    });
    assert_found(&found, &[("no progress", &["spin"], 1, 0)]);
    let Kind::NoProgress { cycles: false, spinning, .. } = &found.findings[0].kind else { panic!("{found}") };
    assert_eq!(spinning[0].count, 4);
}

#[kernel]
fn handed_over(
    out: &mut TileTensor<u32, 1>,
    data: &mut TileTensor<u32, 1>,
    flag: &mut TileTensor<u32, 1>,
    #[comptime] more: bool,
) {
    let (tid, bid) = (thread_idx().x, block_idx().x);
    if bid == 0 {
        data[tid] = tid as u32;
        barrier();
        if more {
            barrier(); // more
        }
        if tid == 0 {
            flag.atomic(0).ordering(Ordering::Release).store(1);
        }
    } else {
        if tid == 0 {
            while flag.atomic(0).ordering(Ordering::Acquire).load() == 0 {}
        }
        barrier();
        out[tid] = data[3 - tid];
        if more {
            barrier(); // last
        }
    }
}

/// Advice on barriers where atomics order threads, too: those before a release and after an acquire are needed.
#[test]
fn a_barrier_that_nothing_needs_beside_atomics() {
    let launch = |more| {
        move |ctx: &DeviceContext| {
            let (mut out, mut data, mut flag) = (zeros(ctx, 4)?, zeros(ctx, 4)?, zeros(ctx, 1)?);
            let launch = handed_over(&mut out, &mut data, &mut flag, more);
            ctx.enqueue_function(launch, grid_dim(2), block_dim(4))?;
            assert_eq!(out.to_host()?, [3, 2, 1, 0]);
            Ok(())
        }
    };
    clean(launch(false));
    let found = report(launch(true));
    assert!(found.is_clean());
    let lines: Vec<_> = found.findings.iter().map(|f| (what(f), crate::harness::lines(f))).collect();
    // Of the two before the release one is enough.
    assert_eq!(lines.len(), 2, "{found}");
    assert!(lines.contains(&("redundant", vec!["last".to_owned()])), "{found}");
}

#[kernel]
fn counted(out: &mut TileTensor<u32, 1>) {
    let count = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        count[0] = 0;
    }
    barrier();
    count.atomic(0).fetch_add(1);
    barrier();
    out[tid] = count.atomic(0).load();
}

/// Atomics are no race without a barrier, but what they read depends on it.
#[test]
fn a_barrier_between_atomics_is_not_redundant() {
    clean(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(counted(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [8; 8]);
        Ok(())
    });
}
