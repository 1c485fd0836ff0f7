//! The checker on kernels with known mistakes, and on right ones: what it says, and that it says nothing else.
//!
//! [`harness`] runs a launch checked with one and with three host threads, whose reports have to be the same.

mod harness;

mod barriers;
mod bounds;
mod global_races;
mod mutation;
mod needed_barriers;
mod reports;
mod sanitizers;
mod seeds;
mod shared_races;
mod silence;
mod synchronisation;
mod unwritten;
mod variable;
mod warps;
