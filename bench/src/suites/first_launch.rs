//! A kernel's first launch: description, passes, the device's compiler. Each in a process of its own.
//!
//! What is timed is puzzle 12's kernel, from `enqueue_function` until its result is there, in a process whose context
//! is open and has copied to and from the device. Cold has no cache on disk, neither ours nor the driver's; warm has
//! ours, from a run before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tilewise::prelude::*;

use crate::check;
use crate::checks::Checks;
use crate::error::{Error, Result};
use crate::kernels::empty::small_dot;
use crate::report::Record;
use crate::settings::{Benchmark, Settings};
use crate::suites::Session;
use crate::timing::{median, sorted};

/// Elements of puzzle 12's vectors.
const SIZE: usize = 8;

/// Where compiled kernels are kept, or `off`.
const CACHE: &str = "TILEWISE_CACHE";

/// What a process has measured, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Times {
    /// `enqueue_function`: description, passes, compilation, launch.
    enqueue: f64,
    /// And until the result was there.
    whole: f64,
    /// Description alone, done once more.
    describe: f64,
    /// The passes alone, done once more.
    passes: f64,
}

pub(super) fn run(session: &mut Session) -> Result<()> {
    let settings = &session.settings;
    let repeats = settings.repeats().min(15);
    let folder = std::env::temp_dir().join(format!("tilewise-bench-{}", process::id()));
    let write_error = |source| Error::Write { path: folder.clone(), source };
    fs::create_dir_all(&folder).map_err(write_error)?;

    let cold = children(settings, Path::new("off"), repeats)?;
    // The first one fills the cache.
    let warm = children(settings, &folder, 1).and_then(|_| children(settings, &folder, repeats));
    fs::remove_dir_all(&folder).map_err(write_error)?;
    let warm = warm?;

    let part = |name, times: &[Times], of: fn(&Times) -> f64, aim| {
        record(name, session.device(), times.iter().map(of), aim)
    };
    let records = vec![
        part("cold", &cold, |t| t.whole, Some(30e-3)),
        part("cold, enqueue alone", &cold, |t| t.enqueue, None),
        part("disk cache", &warm, |t| t.whole, Some(3e-3)),
        part("disk cache, enqueue alone", &warm, |t| t.enqueue, None),
        part("description again", &cold, |t| t.describe, None),
        part("passes again", &cold, |t| t.passes, None),
    ];
    session.report.add(&format!("first launch of puzzle 12's kernel, {repeats} processes each"), records);
    Ok(())
}

fn record(
    name: &str,
    device: Option<String>,
    times: impl Iterator<Item = f64>,
    aim_seconds: Option<f64>,
) -> Record {
    let times = sorted(times.map(Duration::from_secs_f64).collect());
    Record {
        benchmark: Benchmark::FirstLaunch.name().to_owned(),
        by: Checks::On.by().to_owned(),
        name: name.to_owned(),
        device,
        seconds_median: median(&times).as_secs_f64(),
        seconds_min: times[0].as_secs_f64(),
        aim_seconds,
        check: "exact".to_owned(),
        ..Record::default()
    }
}

/// Starts this program again and again, to run [`child`].
fn children(settings: &Settings, cache: &Path, count: usize) -> Result<Vec<Times>> {
    let unnamed = PathBuf::from("tilewise-bench");
    let program = std::env::current_exe().map_err(|error| Error::Program {
        program: unnamed,
        what: format!("cannot be found, to start it again: {error}"),
    })?;
    (0..count)
        .map(|_| {
            let mut command = Command::new(&program);
            command.arg("--first-launch-child").env(CACHE, cache).env("CUDA_CACHE_DISABLE", "1");
            if let Some(device) = &settings.device {
                command.arg("--device").arg(device);
            }
            let failed = |what| Error::Program { program: program.clone(), what };
            let output =
                command.output().map_err(|error| failed(format!("could not be started: {error}")))?;
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                return Err(failed(format!("--first-launch-child failed: {}", why.trim())));
            }
            let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            serde_json::from_str(&line).map_err(|source| Error::Line {
                program: program.clone(),
                line,
                source,
            })
        })
        .collect()
}

/// Times the first launch in this process, and prints the times as a line of JSON.
pub(crate) fn child(ctx: &DeviceContext) -> Result<()> {
    let seeds = [1, 2];
    let [a, b] = seeds.map(|seed| ctx.tensor_from_fn(row_major([SIZE]), |[i]| check::whole(seed, i)));
    let (a, b): (DeviceTensor<f32, 1>, DeviceTensor<f32, 1>) = (a?, b?);
    let mut output = ctx.zeros::<f32, 1>(row_major([1]))?;
    a.to_host()?;

    let start = Instant::now();
    ctx.enqueue_function(small_dot(&mut output, &a, &b, SIZE), grid_dim(1), block_dim(SIZE))?;
    let enqueue = start.elapsed();
    ctx.synchronize()?;
    let whole = start.elapsed();

    check::equal(output.get([0])?, check::whole_dot(seeds, SIZE)).map_err(|what| Error::Wrong {
        benchmark: Benchmark::FirstLaunch.name(),
        name: "tilewise/small_dot".to_owned(),
        what,
    })?;
    let start = Instant::now();
    let mut kernel = small_dot(&mut output, &a, &b, SIZE).into_kernel()?;
    let describe = start.elapsed();
    tilewise::ir::pass::prepare(&mut kernel);
    tilewise::ir::pass::optimize(&mut kernel);
    let passes = start.elapsed() - describe;
    let [enqueue, whole, describe, passes] = [enqueue, whole, describe, passes].map(|t| t.as_secs_f64());
    let times = Times { enqueue, whole, describe, passes };
    println!("{}", serde_json::json!(times));
    Ok(())
}
