//! `tilewise-bench`: how fast tilewise's kernels are, beside CUDA C++ and NVIDIA's libraries.
//!
//! [`kernels`] has what is measured, [`suites`] the benchmarks with their inputs and aims. [`timing`] times, [`check`]
//! makes inputs and checks results, [`peers`] runs the program of the peers, [`report`] prints tables and writes JSON. [`code`] has
//! what kernels become, [`passes`] what each pass of the optimiser gains, [`progress`] how long that will take, [`twins`]
//! registers beside those of CUDA C++.

mod check;
mod checks;
mod code;
mod error;
mod kernels;
mod passes;
mod peers;
mod progress;
mod report;
mod settings;
mod suites;
mod timing;
mod twins;

use std::cell::Cell;
use std::process::ExitCode;

use clap::Parser;
use tilewise::DeviceContext;

use crate::code::CodeFolder;
use crate::error::Result;
use crate::peers::Peers;
use crate::report::Report;
use crate::settings::Settings;
use crate::suites::{Beside, Session};

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
    if settings.passes {
        return passes::run(&settings).map(|()| ExitCode::SUCCESS);
    }
    let (code, ctx) = match &settings.ptx {
        Some(folder) => {
            let (code, ctx) = CodeFolder::new(folder.clone(), ctx)?;
            (Some(code), ctx)
        }
        None => (None, ctx),
    };
    let info = ctx.device_info();
    println!("device: {} ({})", info.name, info.description);
    let beside = settings.beside.as_ref().map(|name| DeviceContext::open(name)).transpose()?;
    let beside = beside.map(|ctx| Beside { ctx, runs: false });
    if let Some(Beside { ctx, .. }) = &beside {
        let info = ctx.device_info();
        println!("beside: {} ({})", info.name, info.description);
    }
    let peers = Peers::find(&settings);
    match peers.program() {
        Some(program) => println!("peers: {}", program.display()),
        None => println!("peers: none"),
    }
    println!("times are medians of {}; a ratio is a peer's time over ours", settings.repeats());

    let failed = Cell::new(false);
    let mut session = Session { ctx, settings, peers, report: Report::default(), code, beside, failed };
    for benchmark in session.settings.benchmarks() {
        session.run(benchmark);
    }
    if let Some(path) = &session.settings.json {
        session.report.write(path)?;
    }
    let Settings { ptx, ptxas, registers, .. } = &session.settings;
    if let (Some(ptx), Some(ptxas), Some(table)) = (ptx, ptxas, registers) {
        let fine = twins::compare(ptx, table, ptxas)?;
        session.failed.set(session.failed.get() || !fine);
    }
    Ok(if session.failed.get() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
