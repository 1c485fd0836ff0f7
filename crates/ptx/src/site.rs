//! What a running kernel reports: faults, and lines that it prints; and how the host reads it.
//!
//! # The reports in memory
//!
//! A context has a piece of device memory, in words of 8 bytes unless said otherwise, all zero at first:
//!
//! | word | content |
//! | --- | --- |
//! | 0 | lower 4 bytes: lock of the fault record, odd while somebody writes; upper 4: 1 if there is a record |
//! | 1 | number of faults |
//! | 2 | launch of the first fault |
//! | 3 | its block, as one number, x fastest |
//! | 4 | lower 4 bytes: its site; upper 4: its thread, as one number, x fastest |
//! | 5 to 7 | x, y, z: lower 4 bytes of the block, upper 4 of the thread |
//! | 8 to 27 | its values, one a word ([`MAX_VALUES`]) |
//! | 28 | capacity of the lines in words; set by the host |
//! | 29 | words of lines that were asked for; more than the capacity if some had no room |
//! | 30 | number of lines that had no room |
//! | 31 | not used |
//! | 32 and on | lines |
//!
//! The first fault of a launch is the one of the lowest block, then of the lowest site, then of the lowest thread. A
//! fault of one launch never replaces one of another.
//!
//! A line is a number of words: 0 holds its length in words (lower 4 bytes) and its site (upper 4), 1 the launch, 2
//! to 4 x, y, z of block (lower) and thread (upper), and from 5 on its values, one a word. Words that follow the last
//! line that had room are zero.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tilewise_ir::{AccessKind, Const, FaultKind, Format, Piece, Span, Type, print};

/// Words of the reports before the lines.
pub const HEADER_WORDS: usize = 32;

/// Most values of a fault.
pub const MAX_VALUES: usize = 20;

/// Words of a line before its values.
const LINE_HEADER_WORDS: usize = 5;

/// A place in a kernel that may report something.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The user's position.
    pub span: Span,
    /// What is reported.
    pub kind: SiteKind,
}

/// What a site reports, and what its values are. Each is zero-extended from the bits of its type.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteKind {
    /// An index outside its dimension: the index, the extent.
    OutOfBounds {
        /// What the access does.
        access: AccessKind,
        /// The user's name of the tensor.
        tensor: String,
        /// The dimension.
        dim: u8,
    },
    /// A division by zero: no values.
    DivisionByZero,
    /// A range whose step is not positive: the step, of this type.
    RangeStep(Type),
    /// A shuffle from a lane that is not there: the lane.
    AbsentLane,
    /// A failed assertion: the lanes of its arguments, as far as there is room.
    Assertion(Arc<Format>, Vec<Type>),
    /// A line: the lanes of its arguments.
    Line(Arc<Format>, Vec<Type>),
}

impl Site {
    /// What a fault of this site is, from the values of its record. Those that are missing count as zero.
    pub fn fault_kind(&self, values: &[u64]) -> FaultKind {
        let value = |n: usize| values.get(n).copied().unwrap_or(0);
        match &self.kind {
            SiteKind::OutOfBounds { access, tensor, dim } => FaultKind::OutOfBounds {
                access: *access,
                tensor: tensor.clone(),
                dim: *dim,
                index: value(0),
                extent: value(1),
            },
            SiteKind::DivisionByZero => FaultKind::DivisionByZero,
            SiteKind::RangeStep(ty) => FaultKind::RangeStep {
                step: Const::from_bits(ty.scalar, value(0)).as_int().unwrap_or_default(),
            },
            SiteKind::AbsentLane => FaultKind::AbsentLane { lane: value(0) as u32 },
            SiteKind::Assertion(..) | SiteKind::Line(..) => {
                FaultKind::Assertion { message: self.line(values) }
            }
        }
    }

    /// The text of a line or of the message of an assertion, from its values. Arguments of which a lane is missing
    /// show as `...`; other sites have no text.
    pub fn line(&self, values: &[u64]) -> String {
        let (SiteKind::Assertion(format, types) | SiteKind::Line(format, types)) = &self.kind else {
            return String::new();
        };
        let mut rest = values;
        let mut args = Vec::new();
        for ty in types {
            let Some((lanes, after)) = rest.split_at_checked(ty.lanes.into()) else { break };
            rest = after;
            args.push(lanes.iter().map(|&bits| Const::from_bits(ty.scalar, bits)).collect::<Vec<_>>());
        }
        if args.len() == types.len() {
            return print::format(format, &args);
        }
        let mut places = 0;
        let shown = format.pieces.iter().map(|piece| match piece {
            Piece::Arg(_) => {
                places += 1;
                if places > args.len() { Piece::Text("...".to_owned()) } else { piece.clone() }
            }
            Piece::Text(_) => piece.clone(),
        });
        print::format(&Format { pieces: shown.collect() }, &args)
    }
}

/// The record of the first fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFault {
    /// Number of the launch.
    pub launch: u64,
    /// Number of the site in the kernel's module.
    pub site: u32,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// How many faults there were, of all launches.
    pub count: u64,
    /// Values of the fault, and zeros.
    pub values: Vec<u64>,
}

/// A line that was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLine {
    /// Number of the launch.
    pub launch: u64,
    /// Number of the site in the kernel's module.
    pub site: u32,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// The lanes of the arguments.
    pub values: Vec<u64>,
}

/// The first fault in reports, of which at least the header is given.
///
/// ```
/// use tilewise_ptx::site::{HEADER_WORDS, read_fault};
///
/// let mut words = vec![0; HEADER_WORDS];
/// assert_eq!(read_fault(&words), None);
/// words[0] = 1 << 32; // there is a record,
/// words[1] = 5; // and four more faults
/// words[4] = 3 << 32 | 2; // site 2, thread 3
/// words[5] = 3 << 32;
/// let fault = read_fault(&words).unwrap();
/// assert_eq!((fault.count, fault.site, fault.thread), (5, 2, [3, 0, 0]));
/// ```
pub fn read_fault(words: &[u64]) -> Option<RawFault> {
    let header = words.get(..HEADER_WORDS)?;
    if header[0] >> 32 == 0 {
        return None;
    }
    let (block, thread) = position(&header[5..8]);
    Some(RawFault {
        launch: header[2],
        site: header[4] as u32,
        block,
        thread,
        count: header[1],
        values: header[8..][..MAX_VALUES].to_vec(),
    })
}

/// The lines in reports, in the order in which they got their room. What is not a whole line ends them.
pub fn read_lines(words: &[u64]) -> impl Iterator<Item = RawLine> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = *rest.first()? as u32 as usize;
        if length < LINE_HEADER_WORDS {
            return None;
        }
        let (line, after) = rest.split_at_checked(length)?;
        rest = after;
        let (block, thread) = position(&line[2..5]);
        let values = line[LINE_HEADER_WORDS..].to_vec();
        Some(RawLine { launch: line[1], site: (line[0] >> 32) as u32, block, thread, values })
    })
}

/// Brings lines into an order for people: launch after launch, block after block, z first and x last; and within a
/// block in the order in which they were printed, but where threads print the same line one after the other, thread
/// after thread.
pub fn order_lines(lines: &mut [RawLine]) {
    let reversed = |[x, y, z]: [u32; 3]| [z, y, x];
    lines.sort_by_key(|line| (line.launch, reversed(line.block)));
    let mut start = 0;
    let mut seen = FxHashSet::default();
    for n in 0..=lines.len() {
        let ends = match (lines.get(n), lines.get(start)) {
            (Some(line), Some(first)) => {
                (line.launch, line.block, line.site) != (first.launch, first.block, first.site)
                    || seen.contains(&line.thread)
            }
            (None, _) | (_, None) => true,
        };
        if ends {
            lines[start..n].sort_by_key(|line| reversed(line.thread));
            start = n;
            seen.clear();
        }
        if let Some(line) = lines.get(n) {
            seen.insert(line.thread);
        }
    }
}

/// Block and thread from three words.
fn position(words: &[u64]) -> ([u32; 3], [u32; 3]) {
    let axis = |n: usize| words.get(n).copied().unwrap_or(0);
    ([0, 1, 2].map(|n| axis(n) as u32), [0, 1, 2].map(|n| (axis(n) >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewise_ir::{FormatSpec, Scalar};

    fn site(kind: SiteKind) -> Site {
        Site { span: Span::NONE, kind }
    }

    fn format(pieces: &[&str]) -> Arc<Format> {
        let piece = |piece: &&str| match *piece {
            "{}" => Piece::Arg(FormatSpec::default()),
            text => Piece::Text(text.to_owned()),
        };
        Arc::new(Format { pieces: pieces.iter().map(piece).collect() })
    }

    fn line(launch: u64, site: u32, block: [u32; 3], thread: [u32; 3]) -> Vec<u64> {
        let mut words = vec![u64::from(site) << 32 | 6, launch];
        words.extend((0..3).map(|n| u64::from(thread[n]) << 32 | u64::from(block[n])));
        words.push(7);
        words
    }

    #[test]
    fn faults_are_rebuilt_from_their_values() {
        let step = site(SiteKind::RangeStep(Scalar::I32.ty()));
        assert_eq!(step.fault_kind(&[0xffff_fffe]), FaultKind::RangeStep { step: -2 });
        let access = AccessKind::Store;
        let bounds = site(SiteKind::OutOfBounds { access, tensor: "a".to_owned(), dim: 1 });
        assert_eq!(
            bounds.fault_kind(&[9, 8, 0]),
            FaultKind::OutOfBounds { access, tensor: "a".to_owned(), dim: 1, index: 9, extent: 8 }
        );
        assert_eq!(site(SiteKind::DivisionByZero).fault_kind(&[]), FaultKind::DivisionByZero);
    }

    #[test]
    fn messages_show_what_there_was_room_for() {
        let types = vec![Scalar::I8.ty(), Type::vector(Scalar::F32, 2)];
        let site = site(SiteKind::Assertion(format(&["i = ", "{}", ", v = ", "{}"]), types));
        let one = u64::from(1f32.to_bits());
        assert_eq!(site.line(&[0xff, one, 0, 0]), "i = -1, v = [1, 0]");
        assert_eq!(site.line(&[0xff, one]), "i = -1, v = ...");
        let message = "i = ..., v = ...".to_owned();
        assert_eq!(site.fault_kind(&[]), FaultKind::Assertion { message });
    }

    #[test]
    fn lines_end_where_there_is_no_whole_one() {
        let mut words = vec![0; HEADER_WORDS];
        words.extend(line(1, 2, [3, 4, 5], [6, 7, 8]));
        words.extend([9, 0, 0]);
        let lines: Vec<_> = read_lines(&words).collect();
        let expected = RawLine { launch: 1, site: 2, block: [3, 4, 5], thread: [6, 7, 8], values: vec![7] };
        assert_eq!(lines, [expected]);
        assert_eq!(read_lines(&[]).count(), 0);
    }

    #[test]
    fn lines_are_ordered_by_block_and_by_thread_within_a_run() {
        let mut words = vec![0; HEADER_WORDS];
        let order = [(1, 1, 0), (0, 1, 1), (0, 1, 0), (0, 2, 1), (0, 1, 1), (0, 1, 0), (0, 1, 0)];
        for (block, site, thread) in order {
            words.extend(line(0, site, [block, 0, 0], [thread, 0, 0]));
        }
        let mut lines: Vec<_> = read_lines(&words).collect();
        order_lines(&mut lines);
        let shown: Vec<_> = lines.iter().map(|line| (line.block[0], line.site, line.thread[0])).collect();
        // The last line of thread 0 begins a new run: the thread has come round again.
        assert_eq!(shown, [(0, 1, 0), (0, 1, 1), (0, 2, 1), (0, 1, 0), (0, 1, 1), (0, 1, 0), (1, 1, 0)]);
    }
}
