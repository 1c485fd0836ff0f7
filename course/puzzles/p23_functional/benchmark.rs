//! `cargo puzzle p23 --benchmark`: how long each pattern takes.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use tilewise::layout::row_major;
use tilewise::{DeviceContext, DeviceTensor, Result};

use crate::check::{Verdict, verdict};

/// Adds `a` and `b` with tiles of the given size.
pub(super) type Pattern = fn(
    ctx: &DeviceContext,
    output: &mut DeviceTensor<f32, 1>,
    a: &DeviceTensor<f32, 1>,
    b: &DeviceTensor<f32, 1>,
    tile_size: usize,
) -> Result<()>;

/// Number of elements, and of elements of a tile.
const SIZES: [(usize, usize); 3] = [(16, 4), (128, 16), (1 << 20, 1024)];

/// Each measurement has at most so many iterations after the one that warms up.
const ITERATIONS: usize = 10;

/// And no further iteration when it has taken so long.
const ENOUGH: Duration = Duration::from_secs(2);

/// Measures each pattern at each size, and prints a table. What a pattern computes is checked before it is measured.
pub(super) fn run(ctx: &DeviceContext, patterns: &[(&str, Pattern)]) -> Result<Verdict> {
    // A pattern that is not solved yet prints a line a tile.
    let ctx = ctx.clone().with_output(|_: &str| {});
    let progress = Progress::new();
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for (size, tile_size) in SIZES {
        let a = ctx.tensor_from_fn(row_major([size]), |[i]| (2 * i) as f32)?;
        let b = ctx.tensor_from_fn(row_major([size]), |[i]| (2 * i + 1) as f32)?;
        let expected: Vec<f32> = (0..size).map(|i| (4 * i + 1) as f32).collect();
        for &(name, pattern) in patterns {
            // A result of its own for each, so that none is taken for another's.
            let mut output = ctx.zeros(row_major([size]))?;
            pattern(&ctx, &mut output, &a, &b, tile_size)?;
            let result = match verdict(&output.to_host()?, &expected) {
                Verdict::Right => Some(measure(&ctx, || pattern(&ctx, &mut output, &a, &b, tile_size))?),
                Verdict::Wrong(why) => {
                    failures.push(format!("{name} with {size} elements: {why}"));
                    None
                }
            };
            rows.push(row(name, size, tile_size, result));
            progress.step();
        }
    }
    drop(progress);

    println!("| pattern           |    size | tile |   min ms | median ms | iterations |");
    println!("| ----------------- | ------: | ---: | -------: | --------: | ---------: |");
    for row in rows {
        println!("{row}");
    }
    Ok(match failures.into_iter().next() {
        None => Verdict::Right,
        Some(first) => Verdict::Wrong(first),
    })
}

fn row(name: &str, size: usize, tile_size: usize, times: Option<Vec<Duration>>) -> String {
    let (min, median, iterations) = match &times {
        Some(times) => (millis(times[0]), millis(times[times.len() / 2]), times.len().to_string()),
        None => ("wrong".to_owned(), "wrong".to_owned(), "0".to_owned()),
    };
    format!("| {name:<17} | {size:>7} | {tile_size:>4} | {min:>8} | {median:>9} | {iterations:>10} |")
}

fn millis(time: Duration) -> String {
    format!("{:.4}", 1000.0 * time.as_secs_f64())
}

/// The times of all iterations, the shortest first. It has run once already, which warmed it up.
fn measure(ctx: &DeviceContext, mut run: impl FnMut() -> Result<()>) -> Result<Vec<Duration>> {
    ctx.synchronize()?;
    let mut times = Vec::with_capacity(ITERATIONS);
    let begin = Instant::now();
    while times.len() < ITERATIONS && (times.is_empty() || begin.elapsed() < ENOUGH) {
        let start = Instant::now();
        run()?;
        ctx.synchronize()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times)
}

/// A dot on the terminal for each measurement; the line is cleared in the end.
struct Progress {
    shown: bool,
}

impl Progress {
    fn new() -> Progress {
        Progress { shown: stderr().is_terminal() }
    }

    fn step(&self) {
        if self.shown {
            eprint!(".");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
