//! What a running kernel reports: faults, and lines that it prints; and how the host reads it.
//!
//! # The reports in memory
//!
//! A buffer of 4-byte words, all zero at first except where the host sets a capacity:
//!
//! | word | content |
//! | --- | --- |
//! | 0 | number of faults |
//! | 1 | words of fault entries that were asked for; may exceed the capacity |
//! | 2 | capacity of the fault entries in words; set by the host |
//! | 3 | number of lines that had no room |
//! | 4 | words of lines that were asked for; may exceed the capacity |
//! | 5 | capacity of the lines in words; set by the host |
//! | 6, 7 | not used |
//! | 8 and on | fault entries; behind their capacity, lines |
//!
//! A fault entry or a line is, in words ([`ENTRY_WORDS`] and the values):
//!
//! | word | content |
//! | --- | --- |
//! | 0 | its length in words |
//! | 1 | its site |
//! | 2 | number of the launch |
//! | 3 to 5 | x, y, z of the block |
//! | 6 to 8 | x, y, z of the thread |
//! | 9 and on | its values, two words each, the lower half first |
//!
//! Entries follow each other; words behind the last that had room are zero. The first fault of a launch is the entry of
//! the lowest block, then site, then thread. A shader has no lock that is sure to be given back, so faults are not
//! compared on the device: if there are more than fit, those that came first are kept.

use std::sync::Arc;

use tilewise_ir::{AccessKind, Format, Span, Type};

/// Words of the reports before the entries.
pub const HEADER_WORDS: u32 = 8;

/// Words of an entry before its values.
pub const ENTRY_WORDS: u32 = 9;

/// Most values of a failed assertion. Lines have all of theirs.
pub const MAX_FAULT_VALUES: usize = 20;

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
    /// A failed assertion: the lanes of its arguments, as far as there is room.
    Assertion(Arc<Format>, Vec<Type>),
    /// A line: the lanes of its arguments.
    Line(Arc<Format>, Vec<Type>),
}
