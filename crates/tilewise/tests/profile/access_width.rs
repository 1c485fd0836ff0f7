//! Puzzle 35: four elements for each thread in one access, with the alignment of one element and of four.

use tilewise::prelude::*;

use crate::harness::{printed, profile, rows};
use tilewise::report::{Action, profile::Counts};

const SIZE: usize = 1 << 20;
const TPB: usize = 256;

#[kernel]
fn unaligned(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let first = 4 * (block_dim().x * block_idx().x + thread_idx().x);
    let x = a.load(first, 4); // load
    output.store(first, 2.0 * x + 1.0); // store
}

#[kernel]
fn aligned(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let first = 4 * (block_dim().x * block_idx().x + thread_idx().x);
    let x = a.aligned_load(first, 4); // load
    output.aligned_store(first, 2.0 * x + 1.0); // store
}

#[kernel]
fn scalar(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    let x = a[i]; // load
    output[i] = 2.0 * x + 1.0; // store
}

fn text(width: usize, claims: bool) -> String {
    printed(&profile(|ctx| {
        let a = ctx.tensor_from_fn(row_major([SIZE]), |[i]| (i % 97) as f32)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([SIZE]))?;
        let launch = match (width, claims) {
            (1, _) => scalar(&mut output, &a),
            (_, false) => unaligned(&mut output, &a),
            (_, true) => aligned(&mut output, &a),
        };
        ctx.enqueue_function(launch, grid_dim(SIZE / TPB / width), block_dim(TPB))?;
        assert!(output.to_host()?.iter().enumerate().all(|(i, &x)| x == 2.0 * (i % 97) as f32 + 1.0));
        Ok(())
    }))
}

/// Load and store instructions of warps: 32768 each where 4 bytes are claimed, 8192 each where 16 are.
#[test]
fn instructions_are_32768_and_8192() {
    for (width, claims, cost) in [
        (4, false, "32768 requests 32.0 lanes 4.0 MiB 16.00 sectors each, 25% used"),
        (4, true, "8192 requests 32.0 lanes 4.0 MiB 16.00 sectors each, 100% used"),
        (1, false, "32768 requests 32.0 lanes 4.0 MiB 4.00 sectors each, 100% used"),
    ] {
        let text = text(width, claims);
        assert_eq!(rows(&text, "load"), [format!("read `a` {cost}")]);
        assert_eq!(rows(&text, "store"), [format!("write `output` {cost}")]);
    }
}

/// The loads of 32 threads, four elements each, from an array that is shorter.
fn partly_outside(len: usize, aligned: bool) -> (Counts, u64) {
    let profile = profile(|ctx| {
        let a = ctx.zeros::<f32, 1>(row_major([len]))?;
        let mut output = ctx.zeros::<f32, 1>(row_major([128]))?;
        let launch = if aligned { self::aligned(&mut output, &a) } else { unaligned(&mut output, &a) };
        ctx.enqueue_function(launch, grid_dim(1), block_dim(32))?;
        // It is a fault.
        assert!(ctx.synchronize().is_err());
        Ok(())
    });
    (profile.counts("a", Action::Read), profile.global.read)
}

/// Only what is inside is asked for: of the thread with half of its elements inside, half.
#[test]
fn what_is_outside_of_an_access_is_not_counted() {
    // Fourteen threads read all of their elements, one reads two, the others none.
    let (counts, read) = partly_outside(58, false);
    assert_eq!((counts.bytes, read), (4 * 58, 4 * 58));
    assert_eq!((counts.accesses, counts.requests, counts.lanes), (1, 4, 15 + 15 + 14 + 14));
    assert_eq!(counts.sectors, 8 + 8 + 7 + 7);
    let (counts, read) = partly_outside(58, true);
    assert_eq!((counts.bytes, read), (4 * 58, 4 * 58));
    assert_eq!((counts.accesses, counts.requests, counts.lanes, counts.sectors), (1, 1, 15, 8));
}
