//! Places of a kernel that report something while it runs on a device that can only keep numbers: what they are, and what
//! their numbers mean.
//!
//! A backend numbers the [`Site`]s of a kernel. The code that it makes writes, for a fault or a line, the number of the
//! site and the values; the host has the table and gives the [`FaultKind`] or the text. How the numbers lie in memory
//! is for each backend to say.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::fault::{AccessKind, FaultKind};
use crate::op::{Format, Piece};
use crate::print;
use crate::span::Span;
use crate::types::{Const, Type};

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

/// What a thread has reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Number of the launch.
    pub launch: u64,
    /// Number of the site in the compiled kernel.
    pub site: u32,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// The values of the site.
    pub values: Vec<u64>,
}

/// Brings lines into an order for people: launch after launch, block after block, z first and x last; and within a
/// block in the order in which they were printed, but where threads print the same line one after the other, thread
/// after thread.
pub fn order_lines(lines: &mut [Report]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::FormatSpec;
    use crate::types::Scalar;

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
    fn lines_are_ordered_by_block_and_by_thread_within_a_run() {
        let order = [(1, 1, 0), (0, 1, 1), (0, 1, 0), (0, 2, 1), (0, 1, 1), (0, 1, 0), (0, 1, 0)];
        let line = |(block, site, thread)| Report {
            launch: 0,
            site,
            block: [block, 0, 0],
            thread: [thread, 0, 0],
            values: Vec::new(),
        };
        let mut lines = order.map(line);
        order_lines(&mut lines);
        let shown = lines.map(|line| (line.block[0], line.site, line.thread[0]));
        // The last line of thread 0 begins a new run: the thread has come round again.
        assert_eq!(shown, [(0, 1, 0), (0, 1, 1), (0, 2, 1), (0, 1, 0), (0, 1, 1), (0, 1, 0), (1, 1, 0)]);
    }
}
