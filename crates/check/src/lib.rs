//! The checker: what is wrong with a kernel, found while the interpreter runs it.
//!
//! [`run`] launches a kernel and gives a [`Report`] of races, reads of memory that nobody wrote, accesses outside, barriers
//! that not all threads reach, and more. Whether two accesses are a race does not depend on the order in which the
//! interpreter happens to run them: what counts is whether anything orders them, barriers, atomics with their ordering
//! and scope, fences.
//!
//! | module | what it is for |
//! | --- | --- |
//! | `finding` | what was found, as plain data |
//! | `plan` | what is known before the launch runs: accesses, memories, what can conflict |
//! | `block`, `cells`, `barriers` | a block whose threads are ordered by barriers alone |
//! | `clocks` | a launch whose threads are ordered by atomics and fences, too |
//! | `global` | buffers: what each block did, and races between blocks |
//! | `local` | memory of a thread |
//! | `faults`, `record` | findings while they are collected |
//! | `exchange` | what a lane of a warp needs from another before it can go on |
//! | `render` | reports as text with underlined source, and as JSON |
//! | `profile` | what a profiler would count: [`watch`] gives it, with or without a report |
#![forbid(unsafe_code)]

mod barriers;
mod block;
mod cells;
mod check;
mod clocks;
mod exchange;
mod faults;
mod finding;
mod global;
mod local;
mod notes;
mod plan;
pub mod profile;
mod record;
pub mod render;
mod text;

pub use check::{DEFAULT_MAX_ROUNDS, Wanted, WatchError, Watched, run, watch};
pub use finding::{
    Action, Datum, Element, Finding, Group, Kind, Location, MemorySpace, NotModelled, Note, Number, Party,
    RacePattern, Report, Severity, Site, Step, ThreadRange,
};
