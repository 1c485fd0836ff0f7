//! A report as JSON: one object, on one line. `json.md` describes its fields.

use serde::Serialize;

use super::{headline, help};
use crate::{Finding, NotModelled, Report, Severity};

/// Version of the format that [`json`] writes.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    kernel: &'a str,
    grid: [u32; 3],
    block: [u32; 3],
    clean: bool,
    findings: Vec<Entry<'a>>,
    not_modelled: &'a [NotModelled],
}

#[derive(Serialize)]
struct Entry<'a> {
    headline: String,
    help: String,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// The report as one JSON object, on one line without a line break at its end. The fields:
///
#[doc = include_str!("json.md")]
pub fn json(report: &Report) -> String {
    let Report { kernel, grid, block, findings: _, not_modelled } = report;
    let ordered = [Severity::Error, Severity::Warning, Severity::Advice].map(|severity| report.of(severity));
    let findings = ordered.into_iter().flatten();
    let document = Document {
        format: FORMAT,
        kernel,
        grid: *grid,
        block: *block,
        clean: report.is_clean(),
        findings: findings
            .map(|finding| Entry { headline: headline(finding), help: help(finding), finding })
            .collect(),
        not_modelled,
    };
    // Strings, numbers and lists: nothing that JSON has not.
    serde_json::to_string(&document).unwrap_or_default()
}
