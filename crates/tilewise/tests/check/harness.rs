//! Checked launches and what their reports say, by lines of the source.

use std::env;
use std::fs;
use std::path::Path;

use tilewise::prelude::*;
use tilewise::report::{Finding, Kind, Location, RacePattern, Report, Severity};

/// Runs `test` with checked launches and gives the report of the one launch that has any; empty if none has.
#[track_caller]
pub(crate) fn report(test: impl Fn(&DeviceContext) -> tilewise::Result<()>) -> Report {
    let mut first: Option<Report> = None;
    for threads in [1, 3] {
        let ctx = DeviceContext::open("cpu").expect("every machine has it").checked().with_threads(threads);
        test(&ctx).unwrap_or_else(|error| panic!("{error}"));
        // What a report says is looked at here; the error is its first one.
        let error = ctx.synchronize().err();
        let mut reports = ctx.take_reports();
        assert!(reports.len() < 2, "one launch with a report: {reports:?}");
        let report = reports.pop().unwrap_or_else(nothing);
        assert_eq!(error.is_some(), report.first_error().is_some());
        match &first {
            None => first = Some(report),
            Some(first) => assert_eq!(*first, report, "with 1 and with {threads} host threads"),
        }
    }
    first.expect("at least one run")
}

fn nothing() -> Report {
    Report {
        kernel: String::new(),
        grid: [0; 3],
        block: [0; 3],
        findings: Vec::new(),
        not_modelled: Vec::new(),
    }
}

/// Asserts that nothing is found by checked launches; `test` reads and compares results.
#[track_caller]
pub(crate) fn clean(test: impl Fn(&DeviceContext) -> tilewise::Result<()>) {
    for threads in [1, 3] {
        let ctx = DeviceContext::open("cpu").expect("every machine has it").checked().with_threads(threads);
        test(&ctx).unwrap_or_else(|error| panic!("{error}"));
        ctx.synchronize().unwrap_or_else(|error| panic!("{error}"));
        for report in ctx.take_reports() {
            assert!(report.is_clean() && report.findings.is_empty(), "{report}");
        }
    }
}

/// Asserts what a report says: kind, marks of the lines, count, elements.
#[track_caller]
pub(crate) fn assert_found(report: &Report, expected: &[(&str, &[&str], u64, u64)]) {
    let found: Vec<_> = report.findings.iter().map(|f| (what(f), lines(f), f.count, f.elements)).collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|&(what, lines, count, elements)| {
            (what, lines.iter().map(|l| l.to_string()).collect::<Vec<_>>(), count, elements)
        })
        .collect();
    assert_eq!(found, expected, "{report}");
    assert!(report.not_modelled.is_empty(), "{report}");
}

/// The kind of a finding in short.
pub(crate) fn what(finding: &Finding) -> &'static str {
    match (&finding.kind, finding.severity) {
        (Kind::Race { pattern, between_blocks, .. }, severity) => match (pattern, between_blocks, severity) {
            (RacePattern::ReadWrite, false, Severity::Error) => "read-write",
            (RacePattern::WriteRead, false, Severity::Error) => "write-read",
            (RacePattern::WriteWrite, false, Severity::Error) => "write-write",
            (RacePattern::ReadWrite, true, Severity::Error) => "read-write between blocks",
            (RacePattern::WriteRead, true, Severity::Error) => "write-read between blocks",
            (RacePattern::WriteWrite, true, Severity::Error) => "write-write between blocks",
            (RacePattern::ReadWrite, false, _) => "harmless read-write",
            (RacePattern::WriteRead, false, _) => "harmless write-read",
            (RacePattern::WriteWrite, false, _) => "harmless write-write",
            (_, true, _) => "harmless between blocks",
        },
        (Kind::UninitialisedRead, _) => "unwritten",
        (Kind::OutOfBounds { .. }, _) => "bounds",
        (Kind::OutsideMemory { .. }, _) => "outside",
        (Kind::Misaligned { .. }, _) => "misaligned",
        (Kind::BarrierDivergence { .. }, _) => "divergence",
        (Kind::NoProgress { .. }, _) => "no progress",
        (Kind::StepLimit { .. }, _) => "step limit",
        (Kind::DivisionByZero, _) => "division",
        (Kind::RangeStep { .. }, _) => "range",
        (Kind::IndexOverflow { .. }, _) => "overflow",
        (Kind::Assertion { .. }, _) => "assertion",
        (Kind::WarpDivergence { .. }, _) => "warp divergence",
        (Kind::AbsentLane { .. }, _) => "absent lane",
        (Kind::RedundantBarrier, _) => "redundant",
    }
}

/// For each position of a finding the mark of its line: what stands behind `//`, or the line if nothing does.
pub(crate) fn lines(finding: &Finding) -> Vec<String> {
    finding.sites.iter().map(|site| mark(site.location.as_ref().expect("a position"))).collect()
}

/// What stands behind `//` in a line, or the line.
pub(crate) fn mark(location: &Location) -> String {
    let file = &location.file;
    let inner = file.find("tests").map_or(&file[..], |at| &file[at..]);
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let text =
        fs::read_to_string(Path::new(&folder).join(inner)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let line = text.lines().nth(location.line as usize - 1).unwrap_or_else(|| panic!("{location}: no line"));
    line.split_once("// ").map_or(line, |(_, mark)| mark).trim().to_owned()
}

/// The element of the first instance, as text.
pub(crate) fn element(finding: &Finding) -> String {
    finding.element.as_ref().expect("an element").to_string()
}

/// The threads of the first instance along x, with their blocks.
pub(crate) fn parties(finding: &Finding) -> Vec<(u32, u32)> {
    finding.parties.iter().map(|party| (party.block[0], party.thread[0])).collect()
}

/// A tensor of rank 1.
pub(crate) fn vector<T: Element>(ctx: &DeviceContext, values: &[T]) -> tilewise::Result<DeviceTensor<T, 1>> {
    ctx.tensor_from_slice(row_major([values.len()]), values)
}

/// A tensor of rank 1, all bits zero.
pub(crate) fn zeros<T: Element>(ctx: &DeviceContext, len: usize) -> tilewise::Result<DeviceTensor<T, 1>> {
    ctx.zeros(row_major([len]))
}
