//! What went wrong while a kernel ran: the faults that every device reports, and how they read.
//!
//! A launch keeps its first fault and counts the rest. A device that can only keep numbers (a GPU) records which
//! operation it was and rebuilds the [`Fault`] from the kernel.

use crate::span::Location;
use std::fmt;

/// A fault: what, where in the user's source, and in which thread.
///
/// ```
/// use tilewise_ir::{AccessKind, Fault, FaultKind, Location};
///
/// let fault = Fault {
///     kind: FaultKind::OutOfBounds {
///         access: AccessKind::Load,
///         tensor: "a".to_owned(),
///         dim: 0,
///         index: 11,
///         extent: 11,
///     },
///     location: Some(Location { file: "src/k.rs".to_owned(), line: 12, column: 9 }),
///     block: [0, 0, 0],
///     thread: [11, 0, 0],
/// };
/// assert_eq!(
///     fault.to_string(),
///     "src/k.rs:12:9: load from `a`: index 11 is outside dimension 0, whose extent is 11 \
///      (block (0, 0, 0), thread (11, 0, 0))"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The user's position of the operation.
    pub location: Option<Location>,
    /// Index of the block in the grid: x, y, z.
    pub block: [u32; 3],
    /// Index of the thread in its block: x, y, z. For a fault of several threads, the first of them.
    pub thread: [u32; 3],
}

/// The kinds of fault. The operation's harmless result is in the documentation of [`Op`](crate::op::Op).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An index that is not below the extent of its dimension.
    OutOfBounds {
        /// What the access does.
        access: AccessKind,
        /// The user's name of the tensor.
        tensor: String,
        /// The dimension, counted from 0.
        dim: u8,
        /// The index; a negative one has wrapped around 2^64.
        index: u64,
        /// The extent of the dimension.
        extent: u64,
    },
    /// An access whose bounds were not checked (or proved wrongly) and that lies outside the memory it names. Only a
    /// device that can afford to look reports it.
    OutsideMemory {
        /// What the access does.
        access: AccessKind,
        /// The user's name of the tensor.
        tensor: String,
        /// Number of the element.
        offset: u64,
        /// Number of elements that there are.
        len: u64,
    },
    /// An integer division or remainder by zero.
    DivisionByZero,
    /// A condition of `assert!` that is false.
    Assertion {
        /// The formatted message.
        message: String,
    },
    /// A range whose step is not positive.
    RangeStep {
        /// The step.
        step: i128,
    },
    /// All threads of a block that have not ended wait, but not at one barrier, or others have gone past it to the end of
    /// the kernel.
    BarrierDivergence {
        /// Who waits where, in the order of the source; at least one entry.
        waiting: Vec<Waiting>,
        /// How many threads of the block have ended.
        ended: u32,
    },
    /// Lanes of a warp wait at a warp operation or a barrier of the warp, and others that have to be there wait elsewhere, or
    /// have gone past it to the end of the kernel.
    WarpDivergence {
        /// Which lanes of the warp wait where, in the order of the source; at least one entry.
        waiting: Vec<Waiting>,
        /// How many lanes of the warp have ended.
        ended: u32,
    },
    /// A shuffle from a lane that does not exist or has returned.
    AbsentLane {
        /// The lane.
        lane: u32,
    },
    /// Threads go round a loop for ever: nothing that they look at changes any more and nobody is left who could change it, or
    /// what changes comes back to what it was.
    NoProgress {
        /// Whether something changes from round to round, and comes back to what it was.
        cycles: bool,
        /// Who spins in which loop; at least one entry.
        spinning: Vec<Waiting>,
        /// Who waits at a barrier or an operation of a warp meanwhile.
        at_barrier: Vec<Waiting>,
    },
    /// Threads have gone round loops for as often as the launch allows. Only a device that is given a limit reports it.
    TooManyRounds {
        /// The limit.
        rounds: u64,
        /// Who was in which loop; at least one entry.
        running: Vec<Waiting>,
    },
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It reads or writes atomically.
    Atomic,
}

/// Threads of one block that wait at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The user's position of the barrier or loop.
    pub location: Option<Location>,
    /// How many threads.
    pub count: u32,
    /// The first few of them, by index in the block: x, y, z.
    pub threads: Vec<[u32; 3]>,
}

impl Waiting {
    /// How many threads are worth naming in [`Waiting::threads`].
    pub const NAMED: usize = 4;
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "{} (block {}, ", self.kind, Triple(self.block))?;
        match self.kind {
            FaultKind::BarrierDivergence { .. }
            | FaultKind::WarpDivergence { .. }
            | FaultKind::NoProgress { .. }
            | FaultKind::TooManyRounds { .. } => write!(f, "first ")?,
            FaultKind::OutOfBounds { .. }
            | FaultKind::OutsideMemory { .. }
            | FaultKind::DivisionByZero
            | FaultKind::Assertion { .. }
            | FaultKind::RangeStep { .. }
            | FaultKind::AbsentLane { .. } => {}
        }
        write!(f, "thread {})", Triple(self.thread))
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { access, tensor, dim, index, extent } => write!(
                f,
                "{access} `{tensor}`: index {} is outside dimension {dim}, whose extent is {extent}",
                Index(*index)
            ),
            FaultKind::OutsideMemory { access, tensor, offset, len } => write!(
                f,
                "{access} `{tensor}`: element {} is outside its memory of {len} element{}, and no bounds were \
                 checked",
                Index(*offset),
                if *len == 1 { "" } else { "s" }
            ),
            FaultKind::DivisionByZero => f.write_str("division by zero"),
            FaultKind::Assertion { message } if message.is_empty() => f.write_str("assertion failed"),
            FaultKind::Assertion { message } => write!(f, "assertion failed: {message}"),
            FaultKind::RangeStep { step } => {
                write!(f, "a range with step {step}: the step has to be positive, so no round is run")
            }
            FaultKind::BarrierDivergence { waiting, ended } => {
                f.write_str(match waiting.len() {
                    1 => "a barrier is not reached by all threads of the block: ",
                    _ => "threads of one block wait at different barriers and none can go on: ",
                })?;
                list(f, waiting, "waits", "wait")?;
                if *ended > 0 {
                    write!(f, "; {ended} ended before")?;
                }
                Ok(())
            }
            FaultKind::WarpDivergence { waiting, ended } => {
                f.write_str(
                    "an operation of a warp is not reached by all of its lanes that have to be there: ",
                )?;
                list(f, waiting, "waits", "wait")?;
                if *ended > 0 {
                    write!(f, "; {ended} ended before")?;
                }
                Ok(())
            }
            FaultKind::AbsentLane { lane } => write!(
                f,
                "a shuffle from lane {lane}, which does not exist in this warp or has returned; the lane's own value is \
                 used"
            ),
            FaultKind::TooManyRounds { rounds, running } => {
                write!(f, "a loop has not ended after {rounds} rounds, which is the limit: ")?;
                list(f, running, "is", "are")
            }
            FaultKind::NoProgress { cycles, spinning, at_barrier } => {
                f.write_str(match cycles {
                    true => "a loop never ends: what it changes comes back to what it was: ",
                    false => "a loop makes no progress: nothing that it looks at changes any more: ",
                })?;
                list(f, spinning, "spins", "spin")?;
                if !at_barrier.is_empty() {
                    f.write_str("; at a barrier: ")?;
                    list(f, at_barrier, "waits", "wait")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for AccessKind {
    /// The words before the name of the tensor: `load from`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Load => "load from",
            AccessKind::Store => "store to",
            AccessKind::Atomic => "atomic on",
        })
    }
}

fn list(f: &mut fmt::Formatter<'_>, groups: &[Waiting], singular: &str, plural: &str) -> fmt::Result {
    for (i, group) in groups.iter().enumerate() {
        if i > 0 {
            f.write_str("; ")?;
        }
        f.write_str(if group.count == 1 { "thread " } else { "threads " })?;
        for (i, &thread) in group.threads.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", Triple(thread))?;
        }
        let unnamed = (group.count as usize).saturating_sub(group.threads.len());
        if unnamed > 0 {
            write!(f, " and {unnamed} more")?;
        }
        write!(f, " {}", if group.count == 1 { singular } else { plural })?;
        match &group.location {
            Some(location) => write!(f, " at {location}")?,
            None => f.write_str(" at an unknown position")?,
        }
    }
    Ok(())
}

/// `(1, 2, 3)`.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

/// An index or offset: one that must have come from a negative number is shown as that number, too.
struct Index(u64);

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = self.0 as i64;
        if signed < 0 { write!(f, "{signed} (as unsigned {})", self.0) } else { write!(f, "{}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind) -> String {
        Fault { kind, location: None, block: [0, 1, 0], thread: [2, 0, 0] }.to_string()
    }

    fn location(line: u32) -> Option<Location> {
        Some(Location { file: "k.rs".to_owned(), line, column: 5 })
    }

    #[test]
    fn a_negative_index_reads_as_such() {
        let kind = FaultKind::OutOfBounds {
            access: AccessKind::Atomic,
            tensor: "hist".to_owned(),
            dim: 1,
            index: -2i64 as u64,
            extent: 4,
        };
        assert_eq!(
            fault(kind),
            "atomic on `hist`: index -2 (as unsigned 18446744073709551614) is outside dimension 1, whose extent is \
             4 (block (0, 1, 0), thread (2, 0, 0))"
        );
    }

    #[test]
    fn a_divergent_barrier_names_both_sides() {
        let waiting = vec![
            Waiting { location: location(3), count: 6, threads: (0..4).map(|x| [x, 0, 0]).collect() },
            Waiting { location: location(5), count: 1, threads: vec![[6, 0, 0]] },
        ];
        assert_eq!(
            fault(FaultKind::BarrierDivergence { waiting, ended: 1 }),
            "threads of one block wait at different barriers and none can go on: threads (0, 0, 0), (1, 0, 0), \
             (2, 0, 0), (3, 0, 0) and 2 more wait at k.rs:3:5; thread (6, 0, 0) waits at k.rs:5:5; 1 ended before \
             (block (0, 1, 0), first thread (2, 0, 0))"
        );
    }

    #[test]
    fn operations_of_a_warp() {
        let waiting = vec![Waiting { location: location(3), count: 1, threads: vec![[2, 0, 0]] }];
        assert_eq!(
            fault(FaultKind::WarpDivergence { waiting, ended: 31 }),
            "an operation of a warp is not reached by all of its lanes that have to be there: thread (2, 0, 0) waits at \
             k.rs:3:5; 31 ended before (block (0, 1, 0), first thread (2, 0, 0))"
        );
        assert_eq!(
            fault(FaultKind::AbsentLane { lane: 16 }),
            "a shuffle from lane 16, which does not exist in this warp or has returned; the lane's own value is used \
             (block (0, 1, 0), thread (2, 0, 0))"
        );
    }

    #[test]
    fn messages() {
        assert_eq!(
            fault(FaultKind::Assertion { message: "n > 0, n = 0".to_owned() }),
            "assertion failed: n > 0, n = 0 (block (0, 1, 0), thread (2, 0, 0))"
        );
        assert_eq!(
            fault(FaultKind::RangeStep { step: -1 }),
            "a range with step -1: the step has to be positive, so no round is run (block (0, 1, 0), thread (2, 0, 0))"
        );
        assert_eq!(
            fault(FaultKind::OutsideMemory {
                access: AccessKind::Store,
                tensor: "out".to_owned(),
                offset: 9,
                len: 1
            }),
            "store to `out`: element 9 is outside its memory of 1 element, and no bounds were checked (block (0, 1, \
             0), thread (2, 0, 0))"
        );
    }
}
