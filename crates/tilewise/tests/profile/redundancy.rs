//! Puzzle 30: three ways to add two vectors, of which one adds each element again and again.

use tilewise::prelude::*;
use tilewise::report::profile::Profile;

use crate::harness::{assert_line, printed, profile, rows};

const TPB: usize = 1024;

#[kernel]
fn each_once(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < size {
        output[i] = a[i] + b[i]; // once
    }
}

#[kernel]
fn again_and_again(
    output: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    b: &TileTensor<f32, 1>,
    size: usize,
    step: usize,
) {
    let mut i = block_dim().x * block_idx().x + thread_idx().x;
    while i < size {
        output[i] = a[i] + b[i]; // again
        i += step;
    }
}

#[kernel]
fn backwards(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < size {
        output[size - 1 - i] = a[size - 1 - i] + b[size - 1 - i]; // back
    }
}

#[derive(Clone, Copy)]
enum Way {
    Once,
    Again { step: usize },
    Backwards,
}

fn run(way: Way, size: usize) -> Profile {
    profile(|ctx| {
        let a = ctx.tensor_from_fn(row_major([size]), |[i]| i as f32 + 1.0)?;
        let b = ctx.tensor_from_fn(row_major([size]), |[i]| i as f32 + 2.0)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([size]))?;
        let launch = match way {
            Way::Once => each_once(&mut output, &a, &b, size),
            Way::Again { step } => again_and_again(&mut output, &a, &b, size, step),
            Way::Backwards => backwards(&mut output, &a, &b, size),
        };
        ctx.enqueue_function(launch, grid_dim(size.div_ceil(TPB)), block_dim(TPB.min(size)))?;
        assert!(output.to_host()?.iter().enumerate().all(|(i, &x)| x == 2.0 * i as f32 + 3.0));
        Ok(())
    })
}

/// Element `i` is added by the threads `i`, `i - step`, and so on: `size / step + 1` over two on average.
fn expected(size: usize, step: usize) -> f64 {
    (size / step + 1) as f64 / 2.0
}

#[test]
fn sixty_four_and_a_half_times_of_2_to_the_16_elements() {
    let text = printed(&run(Way::Again { step: 512 }, 1 << 16));
    assert_line(&text, "global memory 48.4 MiB requested, 768.0 KiB of them different: redundancy 64.50");
    let row = "132096 requests 32.0 lanes 16.1 MiB 4.00 sectors each, 100% used";
    assert_eq!(
        rows(&text, "again"),
        ["read `a`", "read `b`", "write `output`"].map(|what| format!("{what} {row}"))
    );
}

/// The size of the puzzle takes 10^11 additions. What is counted follows the law wherever it is tried, and the law gives
/// 16384.5 there; a smaller vector and a smaller step with the same number of rounds have it, too.
#[test]
fn sixteen_thousand_times_of_2_to_the_24_elements() {
    for (size, step) in [(512, 512), (4096, 512), (32_768, 512), (4096, 64), (8192, 4)] {
        assert_eq!(run(Way::Again { step }, size).global.redundancy(), expected(size, step));
    }
    assert_eq!(expected(1 << 24, 512), 16_384.5);
}

#[test]
fn once_and_backwards_ask_for_each_byte_once() {
    for (way, mark) in [(Way::Once, "once"), (Way::Backwards, "back")] {
        let text = printed(&run(way, 1 << 16));
        assert_line(&text, "global memory 768.0 KiB requested, 768.0 KiB of them different: redundancy 1.00");
        assert_line(&text, "computes 65536 operations, arithmetic intensity 0.083 operations a byte");
        assert!(rows(&text, mark).iter().all(|row| row.ends_with("4.00 sectors each, 100% used")), "{text}");
    }
}
