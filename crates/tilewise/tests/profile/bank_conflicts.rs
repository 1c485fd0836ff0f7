//! Puzzle 32: shared memory at each thread's own element, and at every second one.

use tilewise::prelude::*;

use crate::harness::{printed, profile, rows};

const SIZE: usize = 8192;
const TPB: usize = 256;

#[kernel]
fn by_way_of_shared(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] stride: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB * stride]));
    let i = block_dim().x * block_idx().x + thread_idx().x;
    let place = stride * thread_idx().x;
    if i < output.dim(0) {
        shared[place] = a[i] + 10.0; // fills
        barrier();
        output[i] = 2.0 * shared[place]; // takes
    }
}

fn text(stride: usize) -> String {
    printed(&profile(|ctx| {
        let a = ctx.tensor_from_fn(row_major([SIZE]), |[i]| i as f32 + 1.0)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([SIZE]))?;
        let launch = by_way_of_shared(&mut output, &a, stride);
        ctx.enqueue_function(launch, grid_dim(SIZE / TPB), block_dim(TPB))?;
        assert!(output.to_host()?.iter().enumerate().all(|(i, &x)| x == 2.0 * (i as f32 + 11.0)));
        Ok(())
    }))
}

/// 32 blocks of 8 warps: no extra pass for loads and stores with stride 1, one for each request with stride 2.
#[test]
fn conflicts_are_0_and_0_or_256_and_256() {
    let shared = |stride| {
        let text = text(stride);
        [rows(&text, "fills").remove(1), rows(&text, "takes").remove(0)]
    };
    let row = |action, passes, extra| {
        format!(
            "{action} `shared` 256 requests 32.0 lanes 32.0 KiB {passes} passes each, {extra} extra passes"
        )
    };
    assert_eq!(shared(1), [row("write", "1.00", 0), row("read", "1.00", 0)]);
    assert_eq!(shared(2), [row("write", "2.00", 256), row("read", "2.00", 256)]);
}

/// A stride has as many passes as its common factor with the 32 banks; an odd one has no conflicts.
#[test]
fn other_strides() {
    // 48 KiB are 48 elements for each thread.
    for (stride, passes) in [(3, 1), (4, 4), (5, 1), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1)] {
        let text = text(stride);
        let (passes, extra) = (format!("{passes}.00 passes each"), 256 * (passes - 1));
        assert!(rows(&text, "takes")[0].ends_with(&format!("{passes}, {extra} extra passes")), "{text}");
    }
}
