//! A profile as tables: what each line asked of memory, what the launch moved, and how full GPUs get.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::source::Sources;
use super::{Style, words};
use crate::profile::{BlockNeeds, DEVICES, Limiter, Line, Profile};
use crate::{Action, MemorySpace};

/// The counts of a launch: a table of the lines with memory accesses, the launch's totals, and, if it is known what a block
/// needs, the occupancy of GPUs. Ends with a line break.
///
/// ```
/// use tilewise_check::profile::{Access, Place, Profile};
/// use tilewise_check::render::{Style, counts};
/// use tilewise_check::{Action, MemorySpace};
///
/// let place = Place { location: None, space: MemorySpace::Shared, action: Action::Read };
/// let mut profile = Profile::new(vec![place]);
/// let lanes: Vec<_> = (0..32).map(|lane| Some(8 * lane)).collect();
/// profile.access(0, Access { lanes: &lanes, size: 4, align: 4 });
/// let text = counts("k", [1, 1, 1], [32, 1, 1], &profile, None, &Style::plain());
/// assert!(text.starts_with("profile of `k`: 1 block x 32 threads\n"));
/// ```
pub fn counts(
    kernel: &str,
    grid: [u32; 3],
    block: [u32; 3],
    profile: &Profile,
    needs: Option<BlockNeeds>,
    style: &Style,
) -> String {
    let mut out = format!("profile of `{kernel}`: {}\n", words::launch(grid, block));
    let mut sources = Sources::new(style.folder.as_deref());
    let lines = profile.lines();
    for space in [MemorySpace::Global, MemorySpace::Shared] {
        let lines: Vec<_> =
            lines.iter().filter(|line| line.place.space == space && line.counts.accesses > 0).collect();
        if !lines.is_empty() {
            out.push('\n');
            table(&mut out, &rows(space, &lines, &mut sources), style.width);
        }
    }

    out.push('\n');
    if profile.unique() > 0 {
        let (requested, unique) = (bytes(profile.requested()), bytes(profile.unique()));
        let times = profile.redundancy();
        let _ = writeln!(
            out,
            "global memory: {requested} requested, {unique} of them different: each was asked for {times:.2} times"
        );
    }
    let _ = writeln!(
        out,
        "operations: {}, {:.3} for each different byte",
        profile.operation_count(),
        profile.intensity()
    );
    if let Some(needs) = needs {
        let _ = writeln!(
            out,
            "\noccupancy with {}, {} for each, and {} of shared memory in a block",
            words::counted(needs.threads.into(), "thread", "threads"),
            words::counted(needs.registers.into(), "register", "registers"),
            bytes(needs.shared.into())
        );
        table(&mut out, &occupancy(needs), style.width);
    }
    out
}

/// The head of a table and its lines. The last column is text, the others are numbers.
fn rows(space: MemorySpace, lines: &[&Line], sources: &mut Sources) -> Vec<Vec<String>> {
    let mut head = vec!["line", "access", "requests", "lanes", "bytes"];
    head.extend(match space {
        MemorySpace::Shared => ["passes each", "extra passes"],
        MemorySpace::Global | MemorySpace::Local => ["sectors each", "used"],
    });
    let name = match space {
        MemorySpace::Shared => "shared memory",
        MemorySpace::Global | MemorySpace::Local => "global memory",
    };
    head.push(name);
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let mut files = lines.iter().filter_map(|line| line.place.location.as_ref()).map(|l| &l.file);
    let first = files.next();
    let one_file = files.all(|file| Some(file) == first);
    for line in lines {
        let counts = &line.counts;
        let location = line.place.location.as_ref();
        let number = match location {
            Some(location) if one_file => location.line.to_string(),
            Some(location) => format!("{}:{}", location.file, location.line),
            None => "?".to_owned(),
        };
        let source = location
            .and_then(|l| {
                let text = sources.text(&l.file)?;
                text.lines().nth(l.line.checked_sub(1)? as usize).map(|line| line.trim().to_owned())
            })
            .or_else(|| location.map(ToString::to_string))
            .unwrap_or_default();
        let mut row = vec![
            number,
            access(line.place.action).to_owned(),
            counts.requests.to_string(),
            format!("{:.1}", counts.lanes_per_request()),
            bytes(counts.bytes),
        ];
        row.extend(match space {
            MemorySpace::Shared => {
                [format!("{:.2}", counts.passes_per_request()), counts.extra_passes.to_string()]
            }
            MemorySpace::Global | MemorySpace::Local => [
                format!("{:.2}", counts.sectors_per_request()),
                format!("{:.0}%", 100.0 * counts.efficiency()),
            ],
        });
        row.push(source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect());
        rows.push(row);
    }
    rows
}

fn occupancy(needs: BlockNeeds) -> Vec<Vec<String>> {
    let head = ["GPU", "blocks", "warps", "full", "limited by"].map(str::to_owned).to_vec();
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

/// Columns as wide as what is in them: numbers to the right, the last to the left and cut at the width.
fn table(out: &mut String, rows: &[Vec<String>], width: usize) {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<_> =
        (0..columns).map(|i| rows.iter().map(|row| row[i].width()).max().unwrap_or(0)).collect();
    for row in rows {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            if i + 1 < columns {
                let _ = write!(line, "{:pad$}{cell}  ", "", pad = widths[i] - cell.width());
                continue;
            }
            let room = width.saturating_sub(line.width()).max(20);
            if cell.width() <= room {
                line.push_str(cell);
            } else {
                line.extend(cell.chars().take(room - 1));
                line.push('…');
            }
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn access(action: Action) -> &'static str {
    match action {
        Action::Read => "read",
        Action::Write => "write",
        Action::AtomicRead | Action::AtomicWrite | Action::AtomicUpdate => "atomic",
        Action::Barrier | Action::Loop | Action::Compute => "other",
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let shown = [0, 1023, 1024, 1536, 384 << 20, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "384.0 MiB", "16384.0 PiB"]);
    }
}
