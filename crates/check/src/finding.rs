//! What a checked launch has found, as plain data: nothing here depends on how it is shown.
//!
//! A [`Report`] has [`Finding`]s. All that is equal (same kind, same positions in the source, same memory) is one
//! finding with a count, and its first instance in full: that of the lowest block, then the earliest barrier interval,
//! then the lowest thread; of a race the first in which the order of the threads changes a value, if there is one. Findings are in order of their first instances, errors before warnings before advice. A
//! report is the same in every run and for every number of host threads.
//!
//! Everything serialises; a number is written with its type, its bits and its text, since JSON has no NaN.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use tilewise_ir::{Const, Format, FormatSpec, Piece, Scalar, print};

/// All that a checked launch has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks of the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// What was found, in order.
    pub findings: Vec<Finding>,
    /// What the checker could not look at. If there is anything, a report without findings does not mean that there is
    /// nothing to find.
    pub not_modelled: Vec<NotModelled>,
}

impl Report {
    /// Whether there is no error, no warning, and nothing that could not be looked at. There may be advice.
    pub fn is_clean(&self) -> bool {
        self.not_modelled.is_empty() && self.findings.iter().all(|f| f.severity == Severity::Advice)
    }

    /// The findings of a severity, in order.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }

    /// The first error.
    pub fn first_error(&self) -> Option<&Finding> {
        self.of(Severity::Error).next()
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// The kernel is wrong by the rules, and it may have done no harm in this launch: a race between equal values, index
    /// arithmetic that wrapped.
    Warning,
    /// The kernel is right and could be better.
    Advice,
}

/// A kind of mistake at certain positions, with its first instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// How often it was found; what is counted is said at each [`Kind`].
    pub count: u64,
    /// How many different elements of memory it is about; of shared and local memory those of each block count. 0 if
    /// it is about none.
    pub elements: u64,
    /// The positions in the source that it is about, in the order of [`Party::site`].
    pub sites: Vec<Site>,
    /// The element of the first instance.
    pub element: Option<Element>,
    /// The threads of the first instance; of a race the one that ran first comes first, in the order of the source.
    pub parties: Vec<Party>,
    /// The shortest order of accesses that goes wrong; empty if there is no order to show.
    pub steps: Vec<Step>,
    /// What else is to be known of it, for the advice.
    pub notes: Vec<Note>,
}

/// What else is to be known of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// The two accesses of a race are in different branches of one `if`: no barrier can be between them.
    Branches,
    /// The write of a race needs what is read there, by way of an operation of the warp: no order of the two goes wrong on a
    /// machine that keeps to that.
    Depends,
    /// There may be more than [`Finding::count`] says.
    AtLeast,
    /// The second access of a race calls the same memory by another name.
    OneMemory {
        /// The name.
        other: String,
    },
    /// The kernel has atomics on a memory, such as a flag, that may be meant to order the two accesses of a race. They are
    /// relaxed, and order nothing else.
    Relaxed {
        /// The memory.
        memory: String,
    },
    /// It has such atomics, and their scope is the block, while the race is between blocks.
    BlockScope {
        /// The memory.
        memory: String,
    },
    /// Threads wait in an operation of all threads of the block, such as `block::sum`.
    Collective,
}

/// The kinds of finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// Two accesses of different threads to one element, at least one a write, not both atomic, and nothing orders
    /// them. Counts pairs of accesses; where it is not known how many there are, those of two threads
    /// are counted, and [`Note::AtLeast`] says so.
    Race {
        /// What the two accesses are.
        pattern: RacePattern,
        /// Whether the threads are of different blocks.
        between_blocks: bool,
        /// Whether both orders leave the same values, in every instance that was found. NaN tells nothing, so it never counts
        /// as the same.
        harmless: bool,
        /// What was read, or is left by two writes, in the order of the source: the value that is right.
        right: Datum,
        /// The same in the other order.
        wrong: Datum,
    },
    /// A read of shared or local memory that nobody has written. Counts reads.
    UninitialisedRead,
    /// An index that is not below the extent of its dimension. Counts accesses.
    OutOfBounds {
        /// The dimension, counted from 0.
        dim: u8,
        /// The index; a negative one has wrapped around 2^64.
        index: u64,
        /// The extent of the dimension.
        extent: u64,
        /// The extents of all dimensions, to go with [`Element::index`].
        extents: Vec<u64>,
    },
    /// An access whose bounds were not checked and that lies outside its memory. Counts accesses.
    OutsideMemory {
        /// Number of the element.
        offset: u64,
        /// How many elements there are.
        len: u64,
    },
    /// An access that claims an alignment that it has not. Counts accesses.
    Misaligned {
        /// The bytes of which the address should be a multiple.
        align: u64,
        /// The remainder.
        remainder: u64,
    },
    /// A barrier that not all threads of the block reach. Counts blocks.
    BarrierDivergence {
        /// Who waits where, in the order of the source.
        waiting: Vec<Group>,
        /// Who has ended without waiting; the site is not given.
        ended: Option<Group>,
    },
    /// An operation of a warp that not all of its lanes reach that have to be there. Counts blocks.
    WarpDivergence {
        /// Who of the warp waits where, in the order of the source.
        waiting: Vec<Group>,
        /// Who of it has ended without waiting; the site is not given.
        ended: Option<Group>,
    },
    /// A shuffle from a lane that does not exist in the warp or has returned. Counts lanes that read.
    AbsentLane {
        /// The lane.
        lane: u32,
    },
    /// Threads wait in a loop for what nobody will do, or go round one that comes back to where it was. Counts blocks.
    NoProgress {
        /// Whether something changes from round to round, and comes back to what it was.
        cycles: bool,
        /// Who spins in which loop.
        spinning: Vec<Group>,
        /// Who waits at a barrier meanwhile.
        at_barrier: Vec<Group>,
    },
    /// A loop that ran for more rounds than the limit allows. Counts blocks.
    StepLimit {
        /// The limit.
        rounds: u64,
        /// Who was in which loop.
        running: Vec<Group>,
    },
    /// An integer division or remainder by zero. Counts divisions.
    DivisionByZero,
    /// A range whose step is not positive. Counts ranges.
    RangeStep {
        /// The step.
        step: i64,
    },
    /// A difference of indices that is below zero, has wrapped around 2^64, and becomes an index by way of a division, a
    /// remainder, a minimum or the like. Counts threads. The site is the subtraction.
    IndexOverflow {
        /// What came out of it; read as a signed number, what it should be.
        index: u64,
    },
    /// A false condition of `assert!`. Counts threads.
    Assertion {
        /// The message of the first one.
        message: String,
    },
    /// A barrier that orders nothing: no two accesses that conflict need it. Counts how often a block passed it.
    RedundantBarrier,
}

/// What the two accesses of a race are, in the order of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RacePattern {
    /// The first reads, the second writes.
    ReadWrite,
    /// The first writes, the second reads.
    WriteRead,
    /// Both write.
    WriteWrite,
}

/// A position in the source, and what happens there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Site {
    /// Where it is, if that is known.
    pub location: Option<Location>,
    /// What happens there.
    pub action: Action,
}

/// What happens at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads atomically.
    AtomicRead,
    /// It writes atomically.
    AtomicWrite,
    /// It reads and writes in one atomic step.
    AtomicUpdate,
    /// It waits for the other threads of the block.
    Barrier,
    /// It repeats.
    Loop,
    /// It computes.
    Compute,
}

impl Action {
    /// Whether it is atomic.
    pub fn is_atomic(self) -> bool {
        matches!(self, Action::AtomicRead | Action::AtomicWrite | Action::AtomicUpdate)
    }
}

/// A position in a file, as the compiler names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl From<tilewise_ir::Location> for Location {
    fn from(location: tilewise_ir::Location) -> Location {
        Location { file: location.file, line: location.line, column: location.column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An element of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// The user's name of the tensor or allocation.
    pub memory: String,
    /// What kind of memory it is.
    pub space: MemorySpace,
    /// Its index, an entry for each dimension; of an allocation the number of the element.
    pub index: Vec<u64>,
}

/// The kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemorySpace {
    /// Tensors, seen by all threads.
    Global,
    /// Of a block.
    Shared,
    /// Of a thread.
    Local,
}

/// A thread that takes part in a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Party {
    /// Index of its block: x, y, z.
    pub block: [u32; 3],
    /// Index of the thread in its block: x, y, z.
    pub thread: [u32; 3],
    /// Number of its position in [`Finding::sites`].
    pub site: usize,
    /// How many barriers its block had passed.
    pub interval: u32,
}

/// One access in the shortest order that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Number of who does it in [`Finding::parties`].
    pub party: usize,
    /// What it does.
    pub action: Action,
    /// What it reads or writes.
    pub value: Datum,
}

/// What is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Datum {
    /// A value.
    Value(Number),
    /// Nobody has written it.
    Unwritten,
    /// It cannot be told.
    Unknown,
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Value(number) => number.fmt(f),
            Datum::Unwritten => f.write_str("a value that nobody wrote"),
            Datum::Unknown => f.write_str("an unknown value"),
        }
    }
}

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub Const);

impl Number {
    /// The number of a type with these bits.
    pub fn new(scalar: Scalar, bits: u64) -> Number {
        Number(Const::from_bits(scalar, bits))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces =
            vec![Piece::Arg(FormatSpec { style: tilewise_ir::Style::Debug, ..FormatSpec::default() })];
        f.write_str(&print::format(&Format { pieces }, &[vec![self.0]]))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut number = serializer.serialize_struct("Number", 3)?;
        number.serialize_field("type", self.0.scalar.name())?;
        number.serialize_field("bits", &self.0.bits)?;
        number.serialize_field("text", &self.to_string())?;
        number.end()
    }
}

/// Threads of a block that are at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Where they are, if that is known.
    pub location: Option<Location>,
    /// How many.
    pub count: u32,
    /// Which, as ranges of threads that follow each other (x fastest).
    pub threads: Vec<ThreadRange>,
}

/// Threads of a block that follow each other, x fastest: both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadRange {
    /// Index of the first: x, y, z.
    pub first: [u32; 3],
    /// Index of the last: x, y, z.
    pub last: [u32; 3],
}

/// Something that the checker could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotModelled {
    /// What it is, and what it means for the report.
    pub what: String,
    /// Where it is, if it has a place.
    pub location: Option<Location>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_json() {
        let number = |value: f32| Datum::Value(Number(Const::f32(value)));
        let location = Some(Location { file: "k.rs".to_owned(), line: 3, column: 5 });
        let finding = Finding {
            kind: Kind::Race {
                pattern: RacePattern::WriteRead,
                between_blocks: false,
                harmless: false,
                right: number(f32::NAN),
                wrong: Datum::Unwritten,
            },
            severity: Severity::Error,
            count: 2,
            elements: 1,
            sites: vec![Site { location, action: Action::AtomicUpdate }],
            element: Some(Element { memory: "s".to_owned(), space: MemorySpace::Shared, index: vec![4] }),
            parties: vec![Party { block: [0; 3], thread: [1, 0, 0], site: 0, interval: 7 }],
            steps: vec![Step { party: 0, action: Action::Read, value: Datum::Unknown }],
            notes: vec![Note::OneMemory { other: "t".to_owned() }],
        };
        let json = serde_json::to_value(&finding).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "kind": {
                    "kind": "race",
                    "pattern": "write-read",
                    "between_blocks": false,
                    "harmless": false,
                    "right": { "value": { "type": "f32", "bits": 0x7fc0_0000, "text": "NaN" } },
                    "wrong": "unwritten",
                },
                "severity": "error",
                "count": 2,
                "elements": 1,
                "sites": [{ "location": { "file": "k.rs", "line": 3, "column": 5 }, "action": "atomic-update" }],
                "element": { "memory": "s", "space": "shared", "index": [4] },
                "parties": [{ "block": [0, 0, 0], "thread": [1, 0, 0], "site": 0, "interval": 7 }],
                "steps": [{ "party": 0, "action": "read", "value": "unknown" }],
                "notes": [{ "note": "one-memory", "other": "t" }],
            })
        );
    }
}
