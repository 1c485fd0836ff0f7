//! What checking costs: checked launches against unchecked ones on the CPU, and against riri, which checks accesses to
//! buffers of its own with an OS thread for each thread of the kernel. All in one run: `cargo bench --bench checked`.
//!
//! Times are medians; what counts is their ratio. Every checked launch has to be clean, and its results right.

use std::time::{Duration, Instant};

use riri::GlobalBuf;
use tilewise::prelude::*;

#[path = "../../../bench/src/kernels/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "shared with the benchmark program, which uses all of it, and tests it"
)]
mod kernels;

use kernels::{add, dot, matmul};

/// The tree alone: what riri runs below.
#[kernel]
fn tree(output: &mut TileTensor<u32, 1>, input: &TileTensor<u32, 1>) {
    let tile = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([256]));
    let i = thread_idx().x;
    tile[i] = input[block_idx().x * 256 + i];
    barrier();
    let mut stride = 128;
    while stride > 0 {
        if i < stride {
            tile[i] += tile[i + stride];
        }
        barrier();
        stride /= 2;
    }
    if i == 0 {
        output[block_idx().x] = tile[0];
    }
}

/// The same kernel for riri.
fn riri_tree(t: &riri::ThreadCtx<'_>, input: &GlobalBuf<u32>, output: &GlobalBuf<u32>) {
    let tile = t.shared::<u32>("tile", 256);
    let i = t.thread_linear();
    tile.write(t, i, input.read(t, t.global_linear()));
    t.sync_threads();
    let mut stride = 128;
    while stride > 0 {
        if i < stride {
            let sum = tile.read(t, i) + tile.read(t, i + stride);
            tile.write(t, i, sum);
        }
        t.sync_threads();
        stride /= 2;
    }
    if i == 0 {
        output.write(t, t.block_linear(), tile.read(t, 0));
    }
}

/// Accesses of the tree of one block: the copies, three for each addition, and the result.
const ACCESSES: u64 = 2 * 256 + 3 * 255 + 2;

/// Numbers between 0 and 1 of a xorshift generator.
fn random(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..n).map(|_| next()).collect()
}

/// Median of `rounds` runs after one to warm up.
fn median(rounds: usize, mut run: impl FnMut() -> tilewise::Result<()>) -> tilewise::Result<Duration> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[rounds / 2])
}

/// Times `run` with plain, checked and profiled launches, on what `make` makes for each.
fn compare<T>(
    name: &str,
    rounds: usize,
    make: impl Fn(&DeviceContext) -> tilewise::Result<T>,
    run: impl Fn(&DeviceContext, &mut T) -> tilewise::Result<()>,
) -> tilewise::Result<()> {
    let time = |ctx: &DeviceContext| {
        let mut tensors = make(ctx)?;
        median(rounds, || {
            run(ctx, &mut tensors)?;
            ctx.synchronize()
        })
    };
    let plain = time(&DeviceContext::open("cpu")?)?;
    let ctx = DeviceContext::open("cpu")?.checked();
    let checked = time(&ctx)?;
    for report in ctx.take_reports() {
        assert!(report.is_clean(), "{report}");
    }
    let profiled = time(&DeviceContext::open("cpu")?.profiled())?;
    let ratio = checked.as_secs_f64() / plain.as_secs_f64();
    println!(
        "{name:<44} {:>9.1} ms {:>9.1} ms {ratio:>8.2}   {:>4}  {:<6} {:>9.1} ms",
        plain.as_secs_f64() * 1e3,
        checked.as_secs_f64() * 1e3,
        6.0,
        if ratio <= 6.0 { "met" } else { "MISSED" },
        profiled.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn main() -> tilewise::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("CPU device on {cores} cores; medians; a ratio is checked over unchecked");
    println!(
        "{:<44} {:>12} {:>12} {:>8}   {:>4}  {:<6} {:>12}",
        "", "unchecked", "checked", "ratio", "aim", "", "profiled"
    );
    let n = 1 << 20;
    let (a_host, b_host) = (random(1, n), random(2, n));
    let vectors = |ctx: &DeviceContext| {
        let a = ctx.tensor_from_slice(row_major([n]), &a_host)?;
        let b = ctx.tensor_from_slice(row_major([n]), &b_host)?;
        Ok((a, b, ctx.zeros::<f32, 1>(row_major([n]))?))
    };
    compare("add f32, n = 2^20, 256 threads", 11, vectors, |ctx, (a, b, out)| {
        ctx.enqueue_function(add::scalar(out, a, b), grid_dim(n / 256), block_dim(256))
    })?;
    compare("tree dot f32, n = 2^20, 256 threads", 11, vectors, |ctx, (a, b, out)| {
        ctx.enqueue_function(dot::tree(out, a, b), grid_dim(n / dot::THREADS), block_dim(dot::THREADS))
    })?;
    let m = 1 << 10;
    let matrices = |ctx: &DeviceContext| {
        let a = ctx.tensor_from_slice(row_major([m, m]), &a_host)?;
        let b = ctx.tensor_from_slice(row_major([m, m]), &b_host)?;
        Ok((a, b, ctx.zeros::<f32, 2>(row_major([m, m]))?))
    };
    compare("tiled matmul f32, 2^20 elements, tile 16", 1, matrices, |ctx, (a, b, c)| {
        ctx.enqueue_function(matmul::tiled::<16>(c, a, b), grid_dim((m / 16, m / 16)), block_dim((16, 16)))
    })?;

    let blocks = 64;
    let numbers: Vec<u32> = (0..blocks as u32 * 256).collect();
    let (input, output) =
        (GlobalBuf::new("input", numbers.clone()), GlobalBuf::new("output", vec![0; blocks]));
    let start = Instant::now();
    let config = riri::LaunchConfig::new(blocks as u32, 256).resident_blocks(4);
    let report = riri::launch(&config, |t| riri_tree(t, &input, &output));
    let riri_time = start.elapsed();
    assert!(report.is_clean(), "{report}");

    let ctx = DeviceContext::open("cpu")?.checked();
    let input = ctx.tensor_from_slice(row_major([numbers.len()]), &numbers)?;
    let mut sums = ctx.zeros::<u32, 1>(row_major([blocks]))?;
    let ours = median(11, || {
        ctx.enqueue_function(tree(&mut sums, &input), grid_dim(blocks), block_dim(256))?;
        ctx.synchronize()
    })?;
    assert_eq!(sums.to_host()?[..], output.to_vec()[..]);
    let rate = |time: Duration| (blocks as u64 * ACCESSES) as f64 / time.as_secs_f64();
    println!("tree of {blocks} blocks x 256 threads, checked accesses a second (aim: 200 times riri's):");
    println!("  riri 0.8 {:>12.0}", rate(riri_time));
    println!("  tilewise {:>12.0}   {:.0} times", rate(ours), rate(ours) / rate(riri_time));
    Ok(())
}
