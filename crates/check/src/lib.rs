//! The checker: what is wrong with a kernel, found while the interpreter runs it.
//!
//! [`Report`] is what it has found, as plain data; [`render`] shows it. [`profile`] counts what a
//! profiler would.
#![forbid(unsafe_code)]

mod finding;
pub mod profile;
pub mod render;

pub use finding::{
    Action, Datum, Element, Finding, Group, Kind, Location, MemorySpace, NotModelled, Number, Party,
    RacePattern, Report, Severity, Site, Step, ThreadRange,
};
