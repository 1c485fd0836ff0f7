//! Findings for the tests, with positions given by the text that stands there.

use std::fs;

use tilewise_check::{
    Action, Datum, Element, Finding, Group, Kind, Location, MemorySpace, Number, Party, Report, Severity,
    Site, ThreadRange,
};
use tilewise_ir::Scalar;

/// Where `token` stands in the first line of a file that contains `line`.
pub(crate) fn location(file: &str, line: &str, token: &str) -> Option<Location> {
    let text =
        fs::read_to_string(super::folder().join("sources").join(file)).expect("a source file of the tests");
    let (number, found) =
        text.lines().enumerate().find(|(_, l)| l.contains(line)).expect("a line with the text");
    let byte = found.find(line).expect("it is there") + line.find(token).expect("the line has the token");
    Some(Location {
        file: file.to_owned(),
        line: number as u32 + 1,
        column: found[..byte].chars().count() as u32 + 1,
    })
}

pub(crate) fn site(action: Action, location: Option<Location>) -> Site {
    Site { location, action }
}

pub(crate) fn party(block: u32, thread: u32, site: usize, interval: u32) -> Party {
    Party { block: [block, 0, 0], thread: [thread, 0, 0], site, interval }
}

pub(crate) fn f32(value: f32) -> Datum {
    Datum::Value(Number::new(Scalar::F32, value.to_bits().into()))
}

pub(crate) fn i32(value: i32) -> Datum {
    Datum::Value(Number::new(Scalar::I32, u64::from(value as u32)))
}

pub(crate) fn element(memory: &str, space: MemorySpace, index: &[i64]) -> Option<Element> {
    Some(Element { memory: memory.to_owned(), space, index: index.iter().map(|&i| i as u64).collect() })
}

/// Threads `first` to `last` of a one-dimensional block.
pub(crate) fn group(location: Option<Location>, first: u32, last: u32) -> Group {
    let range = ThreadRange { first: [first, 0, 0], last: [last, 0, 0] };
    Group { location, count: last - first + 1, threads: vec![range] }
}

pub(crate) fn out_of_bounds(dim: u8, index: u64, extent: u64) -> Kind {
    Kind::OutOfBounds { dim, index, extent, extents: vec![extent] }
}

/// An error that was found once, with nothing else known.
pub(crate) fn finding(kind: Kind) -> Finding {
    Finding {
        kind,
        severity: Severity::Error,
        count: 1,
        elements: 0,
        sites: Vec::new(),
        element: None,
        parties: Vec::new(),
        steps: Vec::new(),
        notes: Vec::new(),
    }
}

pub(crate) fn report(kernel: &str, grid: u32, block: u32, findings: Vec<Finding>) -> Report {
    Report {
        kernel: kernel.to_owned(),
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        findings,
        not_modelled: Vec::new(),
    }
}
