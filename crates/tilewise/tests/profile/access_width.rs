//! Puzzle 35: four elements for each thread in one access, with the alignment of one element and of four.

use tilewise::prelude::*;

use crate::harness::{printed, profile, rows};

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
