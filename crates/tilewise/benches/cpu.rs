//! The CPU device against a plain single-thread Rust loop, in one run: `cargo bench --bench cpu`.
//!
//! Results are checked against a reference on random data in every run. Times are medians; what counts is their ratio.

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use tilewise::prelude::*;

#[path = "../../../bench/src/kernels/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "shared with the benchmark program, which uses all of it, and tests it"
)]
mod kernels;

use kernels::{add, dot, matmul};

/// The tutorial's puzzle 12.
#[kernel]
fn p12(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>, size: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([8]));
    let i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;
    if i < size {
        shared[local_i] = a[i] * b[i];
    }
    barrier();
    let mut stride = 4;
    while stride > 0 {
        if local_i < stride {
            shared[local_i] += shared[local_i + stride];
        }
        barrier();
        stride /= 2;
    }
    if local_i == 0 {
        output[0] = shared[0];
    }
}

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
fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

fn report(name: &str, plain: Duration, device: Duration, aim: f64) {
    let ratio = device.as_secs_f64() / plain.as_secs_f64();
    println!(
        "{name:<44} {:>9.1} ms {:>9.1} ms {ratio:>8.2}   {aim:>4}  {}",
        plain.as_secs_f64() * 1e3,
        device.as_secs_f64() * 1e3,
        if ratio <= aim { "met" } else { "MISSED" },
    );
}

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::open("cpu")?;
    if std::env::args().any(|a| a == "--p12") {
        let a = ctx.tensor_from_fn(row_major([8]), |[i]| i as f32)?;
        let mut out = ctx.zeros::<f32, 1>(row_major([1]))?;
        ctx.enqueue_function(p12(&mut out, &a, &a, 8), grid_dim(1), block_dim(8))?;
        println!("out: {}", out.to_host()?);
        return Ok(());
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    println!("CPU device on {cores} cores; medians; a ratio is device time over the time of the plain loop");
    println!("{:<44} {:>12} {:>12} {:>8}   {:>4}", "", "plain loop", "CPU device", "ratio", "aim");

    let n = 1 << 24;
    let (a_host, b_host) = (random(1, n), random(2, n));
    let a = ctx.tensor_from_slice(row_major([n]), &a_host)?;
    let b = ctx.tensor_from_slice(row_major([n]), &b_host)?;

    let mut sum = vec![0.0f32; n];
    let plain = median(5, || {
        for ((s, a), b) in sum.iter_mut().zip(&a_host).zip(&b_host) {
            *s = a + b;
        }
        black_box(&sum);
    });
    let mut out = ctx.zeros::<f32, 1>(row_major([n]))?;
    let mut failed = None;
    let device = median(5, || {
        let done = ctx.enqueue_function(add::scalar(&mut out, &a, &b), grid_dim(n / 256), block_dim(256));
        failed = done.and_then(|()| ctx.synchronize()).err();
    });
    failed.map_or(Ok(()), Err)?;
    assert!(out.to_host()?[..] == sum[..], "add: wrong result");
    report("add f32, n = 2^24", plain, device, 12.0);

    let mut reference = 0.0f32;
    let plain = median(5, || {
        reference = a_host.iter().zip(&b_host).map(|(a, b)| a * b).sum();
        black_box(reference);
    });
    let exact: f64 = a_host.iter().zip(&b_host).map(|(&a, &b)| a as f64 * b as f64).sum();
    let mut total = ctx.zeros::<f32, 1>(row_major([1]))?;
    let mut failed = None;
    let device = median(5, || {
        let done = total.enqueue_fill(0.0).and_then(|()| {
            ctx.enqueue_function(
                dot::tree(&mut total, &a, &b),
                grid_dim(n / dot::THREADS),
                block_dim(dot::THREADS),
            )
        });
        failed = done.and_then(|()| ctx.synchronize()).err();
    });
    failed.map_or(Ok(()), Err)?;
    let got = total.to_host()?[0] as f64;
    assert!((got - exact).abs() <= 1e-3 * exact, "dot: {got} is not {exact}");
    report("tree dot f32, n = 2^24, 256 threads", plain, device, 40.0);

    let m = 512;
    let (a_host, b_host) = (random(3, m * m), random(4, m * m));
    let a = ctx.tensor_from_slice(row_major([m, m]), &a_host)?;
    let b = ctx.tensor_from_slice(row_major([m, m]), &b_host)?;
    let mut product = vec![0.0f32; m * m];
    let plain = median(5, || {
        product.fill(0.0);
        for i in 0..m {
            for k in 0..m {
                let x = a_host[i * m + k];
                for (c, b) in product[i * m..][..m].iter_mut().zip(&b_host[k * m..][..m]) {
                    *c += x * b;
                }
            }
        }
        black_box(&product);
    });
    let mut c = ctx.zeros::<f32, 2>(row_major([m, m]))?;
    let mut failed = None;
    let device = median(5, || {
        let done = ctx.enqueue_function(
            matmul::tiled::<16>(&mut c, &a, &b),
            grid_dim((m / 16, m / 16)),
            block_dim((16, 16)),
        );
        failed = done.and_then(|()| ctx.synchronize()).err();
    });
    failed.map_or(Ok(()), Err)?;
    let worst = c.to_host()?.iter().zip(&product).map(|(x, y)| (x - y).abs() / y).fold(0.0, f32::max);
    assert!(worst < 1e-4, "matmul: relative error {worst}");
    report("tiled matmul f32, 512, tile 16, vs i-k-j", plain, device, 30.0);

    let staged = median(50, || {
        if let Ok(mut kernel) = matmul::tiled::<16>(&mut c, &a, &b).into_kernel() {
            tilewise::ir::pass::prepare(&mut kernel);
            tilewise::ir::pass::optimize(&mut kernel);
            black_box(kernel);
        }
    });
    println!(
        "{:<44} {:>12} {:>9.2} ms   aim 2 ms",
        "staging and passes of the tiled matmul",
        "",
        staged.as_secs_f64() * 1e3
    );

    let exe = std::env::current_exe().ok();
    if let Some(exe) = exe {
        let mut wrong = false;
        let whole = median(20, || {
            let output = Command::new(&exe).arg("--p12").output();
            wrong |= !output.is_ok_and(|o| o.stdout == b"out: HostBuffer([140.0])\n");
        });
        assert!(!wrong, "p12 printed something else");
        println!(
            "{:<44} {:>12} {:>9.2} ms   aim 50 ms",
            "p12, process start to printed result",
            "",
            whole.as_secs_f64() * 1e3
        );
    }
    if let Some(peak) = peak_memory() {
        // At the peak: three arrays of 2^24 floats on the host, three on the device, and one that is read back.
        let arrays = 7 * n * 4;
        println!(
            "memory at the peak: {} MiB, of which arrays {} MiB, everything else {} MiB   aim 64 MiB",
            peak >> 20,
            arrays >> 20,
            peak.saturating_sub(arrays) >> 20
        );
    }
    Ok(())
}

/// The most memory that the process had at a time, in bytes, where the system tells.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}
