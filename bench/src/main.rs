//! `tilewise-bench`: how fast tilewise's kernels are, beside CUDA C++ and NVIDIA's libraries.
//!
//! [`kernels`] has what is measured, [`suites`] the benchmarks with their inputs and aims. [`timing`] times, [`check`]
//! makes inputs and checks results, [`peers`] runs the program of the peers, [`report`] prints tables and writes JSON.

mod check;
mod checks;
mod error;
mod kernels;
mod peers;
mod report;
mod settings;
mod suites;
mod timing;

use std::cell::Cell;
use std::process::ExitCode;

use clap::Parser;
use tilewise::DeviceContext;

use crate::error::Result;
use crate::peers::Peers;
use crate::report::Report;
use crate::settings::Settings;
use crate::suites::Session;

fn main() -> ExitCode {
    match run(Settings::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(settings: Settings) -> Result<ExitCode> {
    settings.check()?;
    let ctx = match &settings.device {
        Some(name) => DeviceContext::open(name)?,
        None => DeviceContext::new()?,
    };
    if settings.first_launch_child {
        return suites::first_launch_child(&ctx).map(|()| ExitCode::SUCCESS);
    }
    let info = ctx.device_info();
    println!("device: {} ({})", info.name, info.description);
    let peers = Peers::find(&settings);
    match peers.program() {
        Some(program) => println!("peers: {}", program.display()),
        None => println!("peers: none"),
    }
    println!("times are medians of {}; a ratio is a peer's time over ours", settings.repeats());

    let failed = Cell::new(false);
    let mut session = Session { ctx, settings, peers, report: Report::default(), failed };
    for benchmark in session.settings.benchmarks() {
        session.run(benchmark);
    }
    if let Some(path) = &session.settings.json {
        session.report.write(path)?;
    }
    Ok(if session.failed.get() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
