//! How long the analysis takes.
//!
//! Measured only in builds with optimisation: `cargo test --release -p tilewise-ir --test facts speed -- --nocapture`.

use crate::kernels;
use crate::support::generate;
use std::time::{Duration, Instant};
use tilewise_ir::analysis::{LaunchNumbers, analyze};
use tilewise_ir::{Kernel, pass};

/// The best of some runs.
fn time(kernel: &Kernel, numbers: &LaunchNumbers) -> Duration {
    let run = || {
        let start = Instant::now();
        std::hint::black_box(analyze(kernel, numbers));
        start.elapsed()
    };
    (0..20).map(|_| run()).min().expect("some runs")
}

fn assert_fast(name: &str, kernel: &Kernel, took: Duration, limit: Duration) {
    let ops = kernel.op_count();
    println!("{name}: {ops} operations in {took:?}");
    assert!(cfg!(debug_assertions) || took < limit, "{name}: {ops} operations in {took:?}");
}

#[test]
fn of_the_course() {
    for case in kernels::CASES {
        let (kernel, numbers) = (case.kernel(), case.numbers());
        assert_fast(case.name, &kernel, time(&kernel, &numbers), Duration::from_micros(200));
    }
}

#[test]
fn of_large_kernels() {
    for seed in 0..3 {
        let mut kernel = generate::large_kernel(seed, 10_000);
        pass::prepare(&mut kernel);
        let numbers = LaunchNumbers { grid: [16; 3], block: [8; 3], args: [].into_iter().collect() };
        assert_fast(&kernel.name, &kernel, time(&kernel, &numbers), Duration::from_millis(10));
    }
}

/// Loops in loops, each with a carried value that the inner ones change.
#[test]
fn of_nested_loops() {
    let mut text = String::from(
        "kernel @nested(%out: tensor<index, 1, mut>) {
           %zero = const index 0
           %limit = load %out[%zero] : index
           %r0 = thread_idx.x\n",
    );
    const DEPTH: usize = 24;
    for depth in 1..=DEPTH {
        let (outer, initial) = (depth - 1, if depth == 1 { "%r0" } else { &format!("%c{}", depth - 1) });
        text += &format!("%o{outer} = loop ^{depth} carry (%c{depth} = {initial}) : index {{\n");
        for n in 0..20 {
            text += &format!("%a{depth}_{n} = add %c{depth}, %limit\n");
            text += &format!("store %out[%a{depth}_{n}], %zero if (0: %a{depth}_{n} < %limit)\n");
        }
    }
    text += &format!("%o{DEPTH} = add %c{DEPTH}, %limit\n");
    for depth in (1..=DEPTH).rev() {
        text += &format!("%is_done{depth} = lt %o{depth}, %limit\n");
        text += &format!(
            "if %is_done{depth} {{\n break ^{depth} %c{depth}\n }}\n continue ^{depth} %o{depth}\n }}\n"
        );
    }
    text += "return\n}\n";
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}"));
    let numbers = LaunchNumbers { grid: [16; 3], block: [8; 3], args: [].into_iter().collect() };
    assert_fast("nested", &kernel, time(&kernel, &numbers), Duration::from_millis(20));
}
