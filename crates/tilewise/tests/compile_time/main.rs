//! How long a kernel takes from its function to code for a device: under 100 ms for ten thousand operations, and twice as
//! long for twice as many.
//!
//! `cargo test --release -p tilewise --test compile_time -- --nocapture` prints a table: for each kernel of [`kernels`] the
//! operations as staged and the most that there were, and the milliseconds of each step.

mod kernels;
mod steps;

use kernels::SHAPES;
use steps::{STEPS, Times, measure};

/// A kernel of ten thousand operations is compiled for a device in less, in a build with optimisation.
const LIMIT_MS: f64 = 100.0;

/// Twice as many operations take at most so many times as long. A machine that does other things as well adds to it.
const GROWTH: f64 = 3.0;

/// How often a kernel is compiled: the shortest time of each step counts.
const RUNS: usize = if cfg!(debug_assertions) { 3 } else { 7 };

/// How often that is done again where times grow too fast: the machine may have been busy.
const AGAIN: usize = 8;

fn print(name: &str, times: &Times) {
    print!("{name:<26} {:>7} {:>7}", times.staged, times.most);
    times.steps.iter().for_each(|ms| print!(" {ms:>8.2}"));
    println!(" {:>8.2}", times.total());
}

#[test]
fn time_is_linear_and_short() {
    print!("{:<26} {:>7} {:>7}", "milliseconds", "staged", "most");
    STEPS.iter().for_each(|step| print!(" {step:>8}"));
    println!(" {:>8}", "total");
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let growth = |times: [&Times; 2]| times[1].total() / times[0].total();
        let mut once = measure(RUNS, shape.launch, shape.n);
        let mut twice = measure(RUNS, shape.launch, 2 * shape.n);
        for _ in 0..AGAIN {
            if growth([&once, &twice]) <= GROWTH {
                break;
            }
            once = once.best(measure(RUNS, shape.launch, shape.n));
            twice = twice.best(measure(RUNS, shape.launch, 2 * shape.n));
        }
        print(shape.name, &once);
        print(shape.name, &twice);
        let ops = once.staged.max(once.most);
        if !(9_500..=10_500).contains(&ops) {
            wrong.push(format!("{}: {ops} operations, not ten thousand", shape.name));
        }
        let ratio = growth([&once, &twice]);
        if ratio > GROWTH {
            wrong.push(format!("{}: twice as many operations take {ratio:.1} times as long", shape.name));
        }
        if !cfg!(debug_assertions) && once.to_device() > LIMIT_MS {
            wrong.push(format!("{}: {:.0} ms, aim {LIMIT_MS} ms", shape.name, once.to_device()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
