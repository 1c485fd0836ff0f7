//! A profile as text: what each line asks of memory, what the launch moves, and how full GPUs get; and as JSON.

use std::fmt::Write;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::json::FORMAT;
use super::source::Sources;
use super::{Style, words};
use crate::profile::{Accesses, BlockNeeds, DEVICES, Limiter, Occupancy, Profile};
use crate::{Action, MemorySpace};

/// The profile for the terminal: the lines of the source with what they ask of memory, the launch's totals, and the occupancy
/// of GPUs. Ends with a line break.
///
/// ```
/// use tilewise_check::profile::{BlockNeeds, Profile, Traffic};
/// use tilewise_check::render::{Style, profile};
///
/// let counted = Profile {
///     kernel: "add".to_owned(),
///     grid: [64, 1, 1],
///     block: [256, 1, 1],
///     lines: Vec::new(),
///     operations: 16_384,
///     global: Traffic { requested: 196_608, read: 131_072, written: 65_536 },
///     needs: BlockNeeds { threads: 256, registers: 16, shared: 0 },
/// };
/// let text = profile(&counted, &Style::plain());
/// assert!(text.starts_with("profile of `add`: 64 blocks x 256 threads\n"));
/// assert!(text.contains("16384 operations, arithmetic intensity 0.083 operations a byte\n"));
/// ```
pub fn profile(profile: &Profile, style: &Style) -> String {
    let mut out =
        format!("profile of `{}`: {}\n", profile.kernel, words::launch(profile.grid, profile.block));
    lines(&mut out, profile, style);
    out.push('\n');
    let global = profile.global;
    if global.unique() > 0 {
        let (requested, unique) = (bytes(global.requested), bytes(global.unique()));
        let redundancy = global.redundancy();
        let _ = writeln!(
            out,
            "global memory  {requested} requested, {unique} of them different: redundancy {redundancy:.2}"
        );
    }
    if profile.operations > 0 {
        let operations = words::counted(profile.operations, "operation", "operations");
        let _ = write!(out, "computes       {operations}");
        let _ = match global.unique() {
            0 => writeln!(out),
            _ => writeln!(out, ", arithmetic intensity {:.3} operations a byte", profile.intensity()),
        };
    }
    let needs = profile.needs;
    let _ = writeln!(
        out,
        "a block takes  {}, about {} for each, {} of shared memory\n",
        words::counted(needs.threads.into(), "thread", "threads"),
        words::counted(needs.registers.into(), "register", "registers"),
        bytes(needs.shared.into())
    );
    table(&mut out, &occupancy(needs));
    out
}

/// Each line of the source, and below it its accesses.
fn lines(out: &mut String, profile: &Profile, style: &Style) {
    let mut sources = Sources::new(style.folder.as_deref());
    let digits = profile.lines.iter().filter_map(|line| line.location.as_ref()).map(|l| l.line).max();
    let gutter = digits.unwrap_or(0).to_string().len() + 1;
    let rows: Vec<Vec<_>> =
        profile.lines.iter().map(|line| line.accesses.iter().map(row).collect::<Vec<_>>()).collect();
    let widths = widths(rows.iter().flatten());
    let mut file = None;
    for (line, rows) in profile.lines.iter().zip(&rows) {
        let at = line.location.as_ref();
        if file != Some(at.map(|at| &at.file)) {
            file = Some(at.map(|at| &at.file));
            let _ = writeln!(out, "\n{}", at.map_or("(no position)", |at| &at.file));
        }
        if let Some(at) = at {
            let text = sources.text(&at.file);
            let source = text.as_ref().and_then(|text| text.lines().nth(at.line.checked_sub(1)? as usize));
            let source = source.unwrap_or_default().trim();
            let source: String = source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let operations = match line.operations {
                0 => String::new(),
                n => words::counted(n, "operation", "operations"),
            };
            let room = style.width.saturating_sub(gutter + 3 + operations.len() + 2).max(20);
            let source = cut(&source, room);
            let pad = if operations.is_empty() { 0 } else { room - source.width() + 2 };
            let _ = writeln!(out, "{:gutter$} | {source}{:pad$}{operations}", at.line, "");
        } else if line.operations > 0 {
            let _ = writeln!(
                out,
                "{:gutter$} | {}",
                "",
                words::counted(line.operations, "operation", "operations")
            );
        }
        for row in rows {
            let _ = writeln!(out, "{:gutter$} |   {}", "", padded(row, &widths));
        }
    }
}

/// What a line asks of one memory: what it does, the memory, requests, lanes, bytes, and what that costs.
fn row(Accesses { place, counts }: &Accesses) -> Vec<String> {
    let cost = match place.space {
        MemorySpace::Shared => {
            let extra = words::counted(counts.extra_passes, "extra pass", "extra passes");
            format!("{:.2} passes each, {extra}", counts.passes_per_request())
        }
        MemorySpace::Global | MemorySpace::Local => {
            let used = 100.0 * counts.efficiency();
            format!("{:.2} sectors each, {used:.0}% used", counts.sectors_per_request())
        }
    };
    let action = match place.action {
        Action::Read => "read",
        Action::Write => "write",
        Action::AtomicRead | Action::AtomicWrite | Action::AtomicUpdate => "atomic",
        Action::Barrier | Action::Loop | Action::Compute => "other",
    };
    vec![
        action.to_owned(),
        format!("`{}`", place.memory),
        words::counted(counts.requests, "request", "requests"),
        format!("{:.1} lanes", counts.lanes_per_request()),
        bytes(counts.bytes),
        cost,
    ]
}

fn occupancy(needs: BlockNeeds) -> Vec<Vec<String>> {
    let head = ["GPU", "blocks", "warps", "occupancy", "limited by"].map(str::to_owned).to_vec();
    let rows = DEVICES.iter().map(|device| {
        let occupancy = device.occupancy(needs);
        let limiter = match occupancy.limiter {
            Limiter::Threads => "threads",
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
            Limiter::Blocks => "blocks",
        };
        vec![
            device.name.to_owned(),
            occupancy.blocks.to_string(),
            occupancy.warps.to_string(),
            format!("{:.1}%", 100.0 * occupancy.ratio),
            if occupancy.blocks == 0 { format!("{limiter}: does not run") } else { limiter.to_owned() },
        ]
    });
    std::iter::once(head).chain(rows).collect()
}

/// How wide each column is.
fn widths<'a>(rows: impl Iterator<Item = &'a Vec<String>> + Clone) -> Vec<usize> {
    let columns = rows.clone().map(Vec::len).max().unwrap_or(0);
    (0..columns)
        .map(|i| rows.clone().filter_map(|row| row.get(i)).map(|cell| cell.width()).max().unwrap_or(0))
        .collect()
}

/// The cells of a row in columns: those that start with a digit to the right, the last as it is.
fn padded(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(i, (cell, width))| {
        let pad = width - cell.width();
        match cell.starts_with(|c: char| c.is_ascii_digit()) {
            true if i + 1 < row.len() => format!("{:pad$}{cell}", ""),
            _ => format!("{cell}{:pad$}", ""),
        }
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

fn table(out: &mut String, rows: &[Vec<String>]) {
    let widths = widths(rows.iter());
    for row in rows {
        let _ = writeln!(out, "{}", padded(row, &widths));
    }
}

/// The text, or what fits of it.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if cut.width() >= room {
            cut.pop();
            break;
        }
    }
    cut.push('…');
    cut
}

/// "96 B", "1.5 KiB".
fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut size = n as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    #[serde(flatten)]
    profile: &'a Profile,
    redundancy: f64,
    intensity: f64,
    occupancy: Vec<OnDevice>,
}

#[derive(Serialize)]
struct OnDevice {
    device: &'static str,
    #[serde(flatten)]
    occupancy: Occupancy,
}

/// The profile as one JSON object, on one line without a line break at its end: `format`, the version of the format that
/// [`json`](super::json()) has too; the fields of [`Profile`] by their names; `redundancy` and `intensity`; and `occupancy`,
/// an entry for each device of [`DEVICES`] with its name as `device` and the fields of [`Occupancy`].
pub fn profile_json(profile: &Profile) -> String {
    let document = Document {
        format: FORMAT,
        profile,
        redundancy: profile.global.redundancy(),
        intensity: profile.intensity(),
        occupancy: DEVICES
            .iter()
            .map(|device| OnDevice { device: device.name, occupancy: device.occupancy(profile.needs) })
            .collect(),
    };
    // Strings, numbers and lists: nothing that JSON has not.
    serde_json::to_string(&document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let shown = [0, 1023, 1024, 1536, 384 << 20, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "384.0 MiB", "16384.0 PiB"]);
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!([cut("abcdef", 6), cut("abcdef", 5)], ["abcdef", "abcd…"]);
    }
}
