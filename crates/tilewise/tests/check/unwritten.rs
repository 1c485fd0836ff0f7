//! Reads of shared and local memory that nobody has written.

use tilewise::prelude::*;

use crate::harness::{assert_found, clean, element, parties, report, vector, zeros};

#[kernel]
fn reduce(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, n: usize, #[comptime] fixed: bool) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid < n {
        s[tid] = a[tid];
    } else if fixed {
        s[tid] = 0;
    }
    barrier();
    for d in comptime([4usize, 2, 1]) {
        if tid < d {
            s[tid] += s[tid + d]; // add
        }
        barrier(); // after
    }
    if tid == 0 {
        out[0] = s[0];
    }
}

/// UNINIT-1
#[test]
fn a_guarded_load_and_a_reduction_of_all() {
    let launch = |fixed| {
        move |ctx: &DeviceContext| {
            let a = vector(ctx, &[10, 11, 12, 13, 14, 15])?;
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(reduce(&mut out, &a, 6, fixed), grid_dim(1), block_dim(8))
        }
    };
    let found = report(launch(false));
    assert_found(&found, &[("unwritten", &["add"], 2, 2)]);
    assert_eq!((element(&found.findings[0]), parties(&found.findings[0])), ("s[6]".to_owned(), vec![(0, 2)]));
    assert_found(&report(launch(true)), &[]);
}

#[kernel]
fn count(
    out: &mut TileTensor<u32, 1>,
    x: &TileTensor<usize, 1>,
    #[comptime] zero: bool,
    #[comptime] wait: bool,
) {
    let hist = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    if zero {
        if tid < 4 {
            hist[tid] = 0; // zero
        }
    }
    if wait {
        barrier();
    }
    hist.atomic(x[tid]).fetch_add(1); // count
    barrier();
    if tid < 4 {
        out[tid] = hist[tid]; // read
    }
}

/// UNINIT-3
#[test]
fn counters_in_shared_memory() {
    let launch = |zero, wait| {
        move |ctx: &DeviceContext| {
            let x = vector(ctx, &[1usize, 3, 1, 0, 3, 3])?;
            let mut out = zeros(ctx, 4)?;
            ctx.enqueue_function(count(&mut out, &x, zero, wait), grid_dim(1), block_dim(6))
        }
    };
    let found = report(launch(false, false));
    assert_found(&found, &[("unwritten", &["count"], 3, 3), ("unwritten", &["read"], 1, 1)]);
    assert_eq!(
        (element(&found.findings[1]), parties(&found.findings[1])),
        ("hist[2]".to_owned(), vec![(0, 2)])
    );
    assert_found(&report(launch(true, true)), &[]);
    // No thread counts in the element that it has cleared itself.
    let raced = report(launch(true, false));
    assert_found(&raced, &[("write-write", &["zero", "count"], 6, 3)]);
}

#[kernel]
fn own_array(out: &mut TileTensor<u32, 1>, n: usize) {
    let tid = thread_idx().x;
    let own = stack_allocation::<u32, 1>(AddressSpace::Local, row_major([4]));
    for i in 0..n {
        own[i] = i as u32;
    }
    out[tid] = own[tid] + own[3]; // sum
}

#[kernel]
fn one_way(out: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    let own = stack_allocation::<u32, 1>(AddressSpace::Local, row_major([1]));
    if tid > 0 {
        own[0] = 7;
    }
    out[tid] = own[0]; // own
}

#[test]
fn local_memory() {
    let launch = |n| {
        move |ctx: &DeviceContext| {
            let mut out = zeros(ctx, 4)?;
            ctx.enqueue_function(own_array(&mut out, n), grid_dim(1), block_dim(4))
        }
    };
    assert_found(&report(launch(4)), &[]);
    // Thread 3 reads its own[3] at both places, the others at one.
    assert_found(&report(launch(3)), &[("unwritten", &["sum"], 1, 1), ("unwritten", &["sum"], 4, 4)]);
    let found = report(|ctx| {
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(one_way(&mut out), grid_dim(1), block_dim(4))
    });
    assert_found(&found, &[("unwritten", &["own"], 1, 1)]);
}

#[kernel]
fn another_block(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let (tid, bid) = (thread_idx().x, block_idx().x);
    if bid == 0 {
        s[tid] = tid as u32;
    }
    out[bid * 4 + tid] = s[tid]; // read
}

#[test]
fn what_another_block_wrote_is_not_there() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 12)?;
        ctx.enqueue_function(another_block(&mut out), grid_dim(3), block_dim(4))
    });
    assert_found(&found, &[("unwritten", &["read"], 8, 8)]);
    assert_eq!(parties(&found.findings[0]), [(1, 0)]);
    clean(|_| Ok(()));
}
