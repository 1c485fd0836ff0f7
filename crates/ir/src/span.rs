//! Source positions: which line of the user's file an operation came from.

use std::fmt;

/// A position in the user's source, as an index into the kernel's [`SpanTable`]. `Span::NONE` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span(pub u32);

impl Span {
    /// No position: an operation that a pass made up.
    pub const NONE: Span = Span(0);
}

/// A position in full.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// File as the compiler names it (`core::panic::Location::file`).
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The positions that a kernel's operations refer to, each stored once.
#[derive(Clone, Debug, Default, Eq)]
pub struct SpanTable {
    files: Vec<String>,
    positions: Vec<(u32, u32, u32)>,
    index: rustc_hash::FxHashMap<(u32, u32, u32), u32>,
}

impl PartialEq for SpanTable {
    fn eq(&self, other: &SpanTable) -> bool {
        // The index follows from the positions.
        self.positions == other.positions && self.files == other.files
    }
}

impl SpanTable {
    /// The span of a position, new or already known.
    pub fn intern(&mut self, file: &str, line: u32, column: u32) -> Span {
        let file = match self.files.iter().rposition(|f| f == file) {
            Some(i) => i as u32,
            None => {
                self.files.push(file.to_owned());
                self.files.len() as u32 - 1
            }
        };
        let key = (file, line, column);
        if let Some(&span) = self.index.get(&key) {
            return Span(span);
        }
        self.positions.push(key);
        let span = self.positions.len() as u32;
        self.index.insert(key, span);
        Span(span)
    }

    /// The position of a span; `None` for [`Span::NONE`] or a span of another kernel.
    pub fn get(&self, span: Span) -> Option<Location> {
        let &(file, line, column) = self.positions.get((span.0 as usize).checked_sub(1)?)?;
        Some(Location { file: self.files[file as usize].clone(), line, column })
    }

    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.files.clear();
        self.positions.clear();
        self.index.clear();
    }

    /// How many positions are known; valid spans are `1..=len`.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether no position is known.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
