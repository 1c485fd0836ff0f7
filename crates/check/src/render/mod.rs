//! Reports as people and programs read them: text for the terminal, and JSON.
//!
//! [`text`] shows a [`Report`]: errors first, then warnings, then advice; each with a headline, the source lines of all
//! sides underlined, the barrier interval, the values, the steps that go wrong, how many are like it, and what to do.
//! [`json`] is one object with all of it, in a format that has a version. [`line()`] is a finding in one line.
//! [`profile()`] and [`profile_json`] show a profile.
//!
//! ```
//! use tilewise_check::Report;
//! use tilewise_check::render::{Style, text};
//!
//! let report = Report {
//!     kernel: "add".to_owned(),
//!     grid: [64, 1, 1],
//!     block: [256, 1, 1],
//!     findings: Vec::new(),
//!     not_modelled: Vec::new(),
//! };
//! assert!(text(&report, &Style::plain()).starts_with("checked `add`: no races"));
//! ```

mod help;
mod json;
mod paragraph;
mod profile;
mod snippet;
mod source;
mod underline;
mod words;

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::PathBuf;

pub use help::help;
pub use json::{FORMAT, json};
pub use profile::{profile, profile_json};
pub use words::{headline, line};

use crate::{Finding, Kind, Report, Severity};
use paragraph::wrap;
use snippet::Label;
pub use source::Sources;
use underline::Extent;

/// How a report is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether in colour.
    pub colour: bool,
    /// Columns of a line.
    pub width: usize,
    /// How many findings are shown in full; the rest are counted.
    pub findings: usize,
    /// The folder that source files are relative to. Without one they are looked for in the current folder, the package
    /// and the folders above.
    pub folder: Option<PathBuf>,
}

impl Style {
    /// No colours, 100 columns, ten findings.
    pub fn plain() -> Style {
        Style { colour: false, width: 100, findings: 10, folder: None }
    }

    /// As fits the stream: coloured and as wide as the terminal if it is one, and in any case without colours if
    /// the environment has a `NO_COLOR` that is not empty.
    pub fn of(stream: &impl IsTerminal) -> Style {
        let mut style = Style::plain();
        if stream.is_terminal() {
            style.colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            if let Some((terminal_size::Width(width), _)) = terminal_size::terminal_size() {
                style.width = usize::from(width).max(60);
            }
        }
        style
    }
}

/// The report for the terminal. Ends with a line break.
pub fn text(report: &Report, style: &Style) -> String {
    let mut sources = Sources::new(style.folder.as_deref());
    let mut out = String::new();
    let ordered = [Severity::Error, Severity::Warning, Severity::Advice].map(|severity| report.of(severity));
    for finding in ordered.into_iter().flatten().take(style.findings) {
        show(&mut out, finding, &mut sources, style);
        out.push('\n');
    }
    for (i, not_modelled) in report.not_modelled.iter().enumerate() {
        let place = match &not_modelled.location {
            Some(location) => format!(" ({location})"),
            None => String::new(),
        };
        row(&mut out, "not checked", &format!("{}{place}", not_modelled.what), style);
        if i + 1 == report.not_modelled.len() {
            out.push('\n');
        }
    }
    for line in wrap(&summary(report, style.findings), style.width) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// A finding in full.
fn show(out: &mut String, finding: &Finding, sources: &mut Sources, style: &Style) {
    let missing = snippet::draw(out, finding.severity, headline(finding), labels(finding), sources, style);
    for label in missing {
        row(out, "at", &format!("{}: {}", label.location, label.text), style);
    }
    for (name, text) in unplaced(finding) {
        row(out, name, &text, style);
    }
    if let Some(text) = words::extents(finding) {
        row(out, "index", &text, style);
    }
    if let Some(text) = words::one_memory(finding) {
        row(out, "memory", &text, style);
    }
    if let Some(text) = words::interval(finding) {
        row(out, "when", &text, style);
    }
    if let Some(text) = words::values(finding) {
        row(out, "value", &text, style);
    }
    // Where both orders give the same there is none that goes wrong.
    let harmless = matches!(finding.kind, Kind::Race { harmless: true, .. });
    let steps = if harmless { &[] } else { finding.steps.as_slice() };
    for (i, step) in steps.iter().enumerate() {
        let name = if i == 0 { "steps" } else { "" };
        row(out, name, &format!("{}. {}", i + 1, words::step(finding, step)), style);
    }
    if let Some(text) = words::more(finding) {
        row(out, "more", &text, style);
    }
    row(out, "help", &help(finding), style);
}

/// What happens where: a label for each group of threads, or for each thread, and for sites that have neither.
fn labels(finding: &Finding) -> Vec<Label> {
    let mut labels = Vec::new();
    let groups = words::groups(finding);
    if !groups.is_empty() {
        for (group, verb, action) in groups {
            if let Some(location) = group.location.clone() {
                let extent = Extent::Of(action);
                labels.push(Label { location, extent, text: words::group_does(group, verb) });
            }
        }
        return labels;
    }
    let extent_of = |action| match finding.kind {
        Kind::IndexOverflow { .. } => Extent::Difference,
        _ => Extent::Of(action),
    };
    for (i, party) in finding.parties.iter().enumerate() {
        let Some(site) = finding.sites.get(party.site) else { continue };
        if let Some(location) = site.location.clone() {
            labels.push(Label { location, extent: extent_of(site.action), text: words::does(finding, i) });
        }
    }
    for (number, site) in finding.sites.iter().enumerate() {
        let taken = finding.parties.iter().any(|party| party.site == number);
        if let (false, Some(location)) = (taken, site.location.clone()) {
            let text = match finding.kind {
                Kind::RedundantBarrier => "not needed in this launch".to_owned(),
                _ => "here".to_owned(),
            };
            labels.push(Label { location, extent: extent_of(site.action), text });
        }
    }
    labels
}

/// Who takes part and has no place in the source: rows with their names.
fn unplaced(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let groups = words::groups(finding);
    for (group, verb, _) in &groups {
        if group.location.is_none() {
            rows.push(("who", words::group_does(group, *verb)));
        }
    }
    if let Kind::BarrierDivergence { ended: Some(ended), .. }
    | Kind::WarpDivergence { ended: Some(ended), .. } = &finding.kind
    {
        rows.push(("ended", words::group_does(ended, ("did not wait", "did not wait"))));
    }
    if !groups.is_empty() {
        rows.extend(finding.parties.first().map(|party| ("block", words::triple(party.block))));
        return rows;
    }
    for (i, party) in finding.parties.iter().enumerate() {
        if finding.sites.get(party.site).is_none_or(|site| site.location.is_none()) {
            rows.push(("who", words::does(finding, i)));
        }
    }
    rows
}

/// The last line: what was found in which launch, and what is not shown.
fn summary(report: &Report, shown: usize) -> String {
    let launch = words::launch(report.grid, report.block);
    let counts: Vec<_> = [Severity::Error, Severity::Warning, Severity::Advice]
        .into_iter()
        .filter_map(|severity| {
            let n = report.of(severity).count() as u64;
            let (singular, plural) = words::severity(severity);
            (n > 0).then(|| words::counted(n, singular, plural))
        })
        .collect();
    let advice = || match counts.is_empty() {
        true => String::new(),
        false => format!("; {}", counts.join(", ")),
    };
    let kernel = &report.kernel;
    let mut summary = if report.is_clean() {
        format!(
            "checked `{kernel}`: no races, no unwritten memory read, no index outside, no divergent barrier in {launch}{}",
            advice()
        )
    } else if report.findings.is_empty() {
        format!("checked `{kernel}` in part: nothing found in what could be checked, in {launch}")
    } else {
        let part = if report.not_modelled.is_empty() { "" } else { " in part" };
        format!("checked `{kernel}`{part}: {} in {launch}", counts.join(", "))
    };
    let hidden = report.findings.len().saturating_sub(shown) as u64;
    if hidden > 0 {
        let _ = write!(summary, "; {} not shown", words::counted(hidden, "of them is", "of them are"));
    }
    summary
}

/// A row below the snippet: its name, then text that is wrapped behind it.
fn row(out: &mut String, name: &str, text: &str, style: &Style) {
    const NAME: usize = 7;
    let indent = name.len().max(NAME) + 2;
    for (i, line) in wrap(text, style.width.saturating_sub(indent)).iter().enumerate() {
        let _ = match (i, name) {
            (0, "") => writeln!(out, "{:indent$}{line}", ""),
            (0, name) if style.colour => writeln!(out, "\u{1b}[36m{name:>NAME$}:\u{1b}[0m {line}"),
            (0, name) => writeln!(out, "{name:>NAME$}: {line}"),
            _ => writeln!(out, "{:indent$}{line}", ""),
        };
    }
}
