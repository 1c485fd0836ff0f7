//! What profiled launches count: the figures of the course's puzzles, by kernels that are written as there.
//!
//! [`harness`] runs a launch profiled with one and with three host threads, which have to count the same.

mod harness;

mod access_width;
mod bank_conflicts;
mod coalescing;
mod occupancy;
mod operations;
mod redundancy;
mod together;
