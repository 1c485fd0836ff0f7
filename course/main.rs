//! `cargo puzzle`: runs the puzzles of the course and checks what they compute.
//!
//! [`puzzles`] has the puzzles, a folder each: the learner's file, its solution, hints. [`puzzle`] is what the command
//! knows of a puzzle, [`cli`] reads the arguments, [`check`] compares a result with what it should be, [`mod@emit`] shows
//! the code that kernels become, [`progress`] how far a long launch is.
//!
//! The exit code is 0 if the result is right; 1 if it is wrong, or the kernel went wrong; 2 if the command was given
//! something that there is not: a flag, a puzzle, a device.
#![forbid(unsafe_code)]

mod check;
mod cli;
#[cfg(feature = "inspect")]
mod emit;
mod progress;
mod puzzle;
mod puzzles;

use std::io::stderr;
use std::process::{self, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, panic};

use tilewise::report::profile::Profile;
use tilewise::report::{Report, render, render::Style};
use tilewise::{DeviceContext, Error, Result};

use crate::check::Verdict;
use crate::cli::{Emit, Request, Start};
use crate::progress::Bar;

/// The result is wrong, or the kernel went wrong.
const FAILED: u8 = 1;

/// There is no such flag, puzzle or device.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    end_where_nobody_listens();
    match cli::parse(env::args_os()) {
        Ok(Request::Show(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Request::Start(start)) => run(&start),
        Ok(Request::Emit(start, asked)) => emit(&start, &asked),
        Err(message) => fail(&message, USAGE),
    }
}

/// Ends the program when what it prints to is closed, as by `| head`: the macros that print, also in a learner's file, panic then.
fn end_where_nobody_listens() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info
            .payload()
            .downcast_ref::<String>()
            .is_some_and(|message| message.starts_with("failed printing to std"))
        {
            process::exit(i32::from(FAILED));
        }
        before(info);
    }));
}

/// Opens the device, runs the program, tells how it went.
fn run(start: &Start) -> ExitCode {
    let ctx = match open(start) {
        Ok(ctx) => ctx,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    let ctx = if start.explain { ctx.with_explain(|line: &str| eprintln!("{line}")) } else { ctx };
    // A benchmark is not slowed down by what nobody asked for.
    let by_default = ctx.device_name() == "cpu" && !start.name.ends_with("--benchmark");
    let reports: Arc<Mutex<Vec<Report>>> = Arc::default();
    let ctx = match start.check.unwrap_or(by_default) {
        true => {
            let reports = Arc::clone(&reports);
            let keep = move |report| reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
            ctx.checked_with(keep)
        }
        false => ctx,
    };
    let profiles: Arc<Mutex<Vec<(Profile, usize)>>> = Arc::default();
    let ctx = match start.profile {
        true => {
            let profiles = Arc::clone(&profiles);
            ctx.profiled_with(move |profile| {
                let mut profiles = profiles.lock().unwrap_or_else(PoisonError::into_inner);
                match profiles.iter_mut().find(|(known, _)| *known == profile) {
                    Some((_, count)) => *count += 1,
                    None => profiles.push((profile, 1)),
                }
            })
        }
        false => ctx,
    };
    let result = (start.program)(&shown_while_it_runs(ctx));
    show_profiles(&profiles.lock().unwrap_or_else(PoisonError::into_inner));
    let reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
    let result = match shown(&reports, start.check == Some(true)) {
        0 => result,
        launches => result.map(|verdict| found(verdict, launches)),
    };
    let (message, code) = report(start, result);
    eprintln!("{message}");
    ExitCode::from(code)
}

/// The context, whose watched launches are shown on the terminal while they run, if there is one.
fn shown_while_it_runs(ctx: DeviceContext) -> DeviceContext {
    if !(ctx.is_checked() || ctx.is_profiled()) {
        return ctx;
    }
    let Some(bar) = Bar::on(stderr()) else { return ctx };
    let print = {
        let bar = bar.clone();
        move |line: &str| bar.aside(|| println!("{line}"))
    };
    ctx.with_output(print).with_progress(bar)
}

/// Opens the device. What only the CPU can do is asked of the CPU, and refused of another device, whether it is there or not.
fn open(start: &Start) -> Result<DeviceContext> {
    let by_environment = || env::var("TILEWISE_DEVICE").ok().filter(|name| !name.trim().is_empty());
    let name = start.device.clone().or_else(by_environment);
    let is_watched = start.profile || start.check == Some(true);
    let opened = match &name {
        Some(name) => DeviceContext::open(name),
        None if is_watched => DeviceContext::open("cpu"),
        None => DeviceContext::new(),
    };
    let is_watched = is_watched || opened.as_ref().is_ok_and(|ctx| ctx.is_checked() || ctx.is_profiled());
    let is_other = match &opened {
        Ok(ctx) => ctx.device_name() != "cpu",
        Err(error) => matches!(
            error,
            Error::NoDriver { .. }
                | Error::DriverTooOld { .. }
                | Error::NoHardware { .. }
                | Error::NoAdapter { .. }
                | Error::DeviceNotBuilt { .. }
                | Error::DeviceTooOld { .. }
        ),
    };
    match name {
        Some(device) if is_watched && is_other => Err(Error::CannotWatch { device }),
        _ => opened,
    }
}

/// Shows what the checker has found; with advice, and what was checked, if `all`. Gives how many launches went wrong.
fn shown(reports: &[Report], all: bool) -> usize {
    let style = Style::of(&stderr());
    let mut wrong = 0;
    for report in reports {
        let is_wrong = report.first_error().is_some();
        wrong += usize::from(is_wrong);
        if all || !report.is_clean() {
            eprint!("{}", render::text(report, &style));
        }
    }
    wrong
}

/// Shows what was counted, of equal launches once.
fn show_profiles(profiles: &[(Profile, usize)]) {
    let style = Style::of(&stderr());
    for (profile, count) in profiles {
        eprint!("{}", render::profile(profile, &style));
        match count {
            1 => eprintln!(),
            n => eprintln!("{n} launches are like this one\n"),
        }
    }
}

/// What the checker found counts, whatever the result is: on another device, or at another time, it may be wrong.
fn found(verdict: Verdict, launches: usize) -> Verdict {
    let launches = if launches == 1 { "the launch".to_owned() } else { format!("{launches} launches") };
    match verdict {
        Verdict::Right => {
            Verdict::Wrong(format!("the result is right, but {launches} may go wrong: see above"))
        }
        Verdict::Wrong(why) => Verdict::Wrong(format!("{why}; and {launches} may go wrong: see above")),
    }
}

/// Shows the code that a program's kernels become.
#[cfg(feature = "inspect")]
fn emit(start: &Start, asked: &Emit) -> ExitCode {
    match emit::emit(start, asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(emit::Failure::Usage(message)) => fail(&message, USAGE),
        Err(emit::Failure::Failed(message)) => fail(&message, FAILED),
    }
}

#[cfg(not(feature = "inspect"))]
fn emit(_: &Start, asked: &Emit) -> ExitCode {
    fail(
        &format!("`--emit {}` is not in this build; build it with the feature `inspect`", asked.target),
        USAGE,
    )
}

/// What is said at the end, and the exit code.
fn report(start: &Start, result: Result<Verdict>) -> (String, u8) {
    let name = &start.name;
    match (result, start.file) {
        (Ok(Verdict::Right), _) => (format!("{name}: right"), 0),
        (Ok(Verdict::Wrong(why)), None) => (format!("{name}: not solved: {why}"), FAILED),
        (Ok(Verdict::Wrong(why)), Some(file)) => {
            let next = format!("your kernel is in {file}; `cargo puzzle {name} --hint` prints tips");
            (format!("{name}: not solved: {why}\n{next}"), FAILED)
        }
        (Err(error), _) => (format!("error: {error}"), FAILED),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use tilewise::prelude::*;

    use super::{Start, Verdict, report};

    #[kernel]
    fn out_of_bounds(output: &mut TileTensor<f32, 1>) {
        output[thread_idx().x + 1] = 1.0;
    }

    #[kernel]
    fn tile_of_nothing(output: &mut TileTensor<f32, 1>) {
        output.tile(0, 0)[0] = 1.0;
    }

    /// What is said of a kernel, launched by four threads.
    fn run(kernel: impl for<'k> Fn(&'k mut DeviceTensor<f32, 1>) -> Launch<'k>) -> (String, u8) {
        let start = Start {
            name: "p00".to_owned(),
            program: |_| Ok(Verdict::Right),
            file: None,
            device: None,
            explain: false,
            check: None,
            profile: false,
        };
        let launch = || {
            let ctx = DeviceContext::open("cpu")?;
            let mut output = ctx.zeros(row_major([4]))?;
            ctx.enqueue_function(kernel(&mut output), grid_dim(1), block_dim(4))?;
            output.to_host()?;
            Ok(Verdict::Right)
        };
        report(&start, launch())
    }

    #[test]
    fn a_kernel_that_goes_wrong_fails_with_the_place() {
        let (message, code) = run(|output| out_of_bounds(output));
        assert_eq!(code, 1);
        assert!(message.starts_with("error: course/main.rs:"), "{message}");
        assert!(message.contains("index 4 is outside dimension 0, whose extent is 4"), "{message}");
    }

    #[test]
    fn a_kernel_that_cannot_be_described_fails_with_the_place() {
        let (message, code) = run(|output| tile_of_nothing(output));
        assert_eq!(code, 1);
        assert!(message.starts_with("error: course/main.rs:"), "{message}");
        assert!(message.contains("each size is at least 1"), "{message}");
    }
}
