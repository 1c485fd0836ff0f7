//! The reports of `docs/checker.md`, each of a checked launch of its kernel.

use std::sync::{Arc, Mutex};

use tilewise::prelude::*;
use tilewise::report::render::text;
use tilewise::report::{Group, Kind, Report};

use crate::kernels::{
    any, dot, double, fill, find, halve, mean, own, reverse, ring, root, signal, six, smooth, steps, total,
};

/// The report of the launch.
fn report(launch: impl FnOnce(&DeviceContext) -> Result<()>) -> Report {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    let ctx = DeviceContext::open("cpu").expect("every machine has it");
    let ctx = ctx.with_max_rounds(1 << 16).checked_with(move |report| sink.lock().unwrap().push(report));
    launch(&ctx).unwrap_or_else(|error| panic!("{error}"));
    let mut report: Report = reports.lock().unwrap().pop().expect("a launch");
    for finding in &mut report.findings {
        finding.sites.iter_mut().for_each(|site| crate::shorten(&mut site.location));
        groups(&mut finding.kind).into_iter().for_each(|group| crate::shorten(&mut group.location));
    }
    report
}

/// The groups of threads that a finding names.
fn groups(kind: &mut Kind) -> Vec<&mut Group> {
    match kind {
        Kind::BarrierDivergence { waiting, ended } | Kind::WarpDivergence { waiting, ended } => {
            waiting.iter_mut().chain(ended).collect()
        }
        Kind::NoProgress { spinning, at_barrier, .. } => spinning.iter_mut().chain(at_barrier).collect(),
        Kind::StepLimit { running, .. } => running.iter_mut().collect(),
        Kind::Race { .. }
        | Kind::UninitialisedRead
        | Kind::OutOfBounds { .. }
        | Kind::OutsideMemory { .. }
        | Kind::Misaligned { .. }
        | Kind::AbsentLane { .. }
        | Kind::DivisionByZero
        | Kind::RangeStep { .. }
        | Kind::IndexOverflow { .. }
        | Kind::Assertion { .. }
        | Kind::RedundantBarrier => Vec::new(),
    }
}

/// A vector of so many elements.
fn zeros<T: Element>(ctx: &DeviceContext, len: usize) -> Result<DeviceTensor<T, 1>> {
    ctx.zeros(row_major([len]))
}

/// The vector 0, 1, 2 and so on.
fn numbers(ctx: &DeviceContext, len: usize) -> Result<DeviceTensor<f32, 1>> {
    ctx.tensor_from_fn(row_major([len]), |[i]| i as f32)
}

/// A vector of these elements.
fn vector<T: Element>(ctx: &DeviceContext, values: &[T]) -> Result<DeviceTensor<T, 1>> {
    ctx.tensor_from_slice(row_major([values.len()]), values)
}

/// Eight numbers, of which 2 and 5 are above ten.
const LARGE: [f32; 8] = [1.0, 3.0, 20.0, 4.0, 0.0, 11.0, 2.0, 5.0];

/// The dot product with a barrier before its loop.
fn dot_product(size: usize) -> Report {
    report(|ctx| {
        let (mut output, a, b) = (zeros(ctx, 1)?, numbers(ctx, size)?, numbers(ctx, size)?);
        ctx.enqueue_function(six::dot_product(&mut output, &a, &b, size), grid_dim(1), block_dim(8))
    })
}

/// 1000 elements, for 1024 threads.
#[expect(unsafe_code, reason = "what is shown is what is said of an unchecked launch")]
fn filled(is_unchecked: bool) -> Report {
    report(|ctx| {
        let mut output = zeros(ctx, 1000)?;
        let launch = fill::fill(&mut output, 1.0);
        // SAFETY: on the CPU an access outside does no harm.
        let launch = if is_unchecked { unsafe { launch.unchecked() } } else { launch };
        ctx.enqueue_function(launch, grid_dim(4), block_dim(256))
    })
}

fn reports() -> Vec<(&'static str, Report)> {
    let one = |ctx: &DeviceContext, launch: Launch<'_>, threads: usize| {
        ctx.enqueue_function(launch, grid_dim(1), block_dim(threads))
    };
    vec![
        (
            "dot",
            report(|ctx| {
                let (mut output, a, b) = (zeros(ctx, 1)?, numbers(ctx, 8)?, numbers(ctx, 8)?);
                one(ctx, dot::dot_product(&mut output, &a, &b, 8), 8)
            }),
        ),
        ("clean", dot_product(8)),
        ("six", dot_product(6)),
        ("find", report(|ctx| one(ctx, find::find(&mut zeros(ctx, 1)?, &vector(ctx, &LARGE)?), 8))),
        ("any", report(|ctx| one(ctx, any::any(&mut zeros(ctx, 1)?, &vector(ctx, &LARGE)?), 8))),
        (
            "total",
            report(|ctx| {
                let (mut output, mut sums, a) = (zeros(ctx, 1)?, zeros(ctx, 4)?, numbers(ctx, 4)?);
                let launch = total::total(&mut output, &mut sums, &a);
                ctx.enqueue_function(launch, grid_dim(4), block_dim(1))
            }),
        ),
        ("fill", filled(false)),
        ("fill unchecked", filled(true)),
        ("smooth", report(|ctx| one(ctx, smooth::smooth(&mut zeros(ctx, 8)?, &numbers(ctx, 8)?), 8))),
        ("ring", report(|ctx| one(ctx, ring::ring(&mut zeros(ctx, 5)?, &numbers(ctx, 5)?, 5), 5))),
        ("double", report(|ctx| one(ctx, double::double(&mut zeros(ctx, 16)?, &numbers(ctx, 16)?), 4))),
        ("reverse", report(|ctx| one(ctx, reverse::reverse(&mut zeros(ctx, 6)?, &numbers(ctx, 6)?, 6), 8))),
        ("signal", report(|ctx| one(ctx, signal::signal(&mut zeros(ctx, 1)?), 8))),
        ("halve", report(|ctx| one(ctx, halve::halve(&mut zeros(ctx, 8)?), 8))),
        (
            "mean",
            report(|ctx| {
                let (sum, count) = (vector(ctx, &[6, 4, 0, 9])?, vector(ctx, &[3, 2, 0, 3])?);
                one(ctx, mean::mean(&mut zeros(ctx, 4)?, &sum, &count), 4)
            }),
        ),
        ("steps", report(|ctx| one(ctx, steps::steps(&mut zeros(ctx, 4)?, &numbers(ctx, 4)?, 0), 1))),
        (
            "root",
            report(|ctx| {
                let a = vector(ctx, &[1.0, 4.0, 9.0, -2.0, 16.0, -1.0, 25.0, 36.0])?;
                one(ctx, root::root(&mut zeros(ctx, 8)?, &a), 8)
            }),
        ),
        ("own", report(|ctx| one(ctx, own::own(&mut zeros(ctx, 8)?, &numbers(ctx, 8)?), 8))),
    ]
}

#[test]
fn the_guide_shows_these_kernels_and_reports() {
    let texts: Vec<_> =
        reports().into_iter().map(|(name, report)| (name, text(&report, &crate::style()))).collect();
    crate::check("checker.md", "report", &texts);
}
