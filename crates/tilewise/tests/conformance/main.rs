//! Kernels with right answers, run on every device in every configuration.
//!
//! [`harness`] runs a test on each device; [`operands`] gives an operation its operands in all ways in which a kernel
//! can get them; [`same_as_rust`] runs one text as Rust and as a kernel and compares. The other modules are the cases,
//! one subject each.

mod harness;
mod operands;
#[macro_use]
mod same_as_rust;

mod atomics;
mod barrier_divergence;
mod barriers;
mod cache;
mod cast;
mod collectives;
mod diagnostics;
mod division;
mod expressions;
mod failure;
mod grid;
mod half_floats;
mod index;
mod language;
mod launch_limits;
mod layouts;
mod loops;
mod math;
mod matmul;
mod nan;
mod narrow;
mod order;
mod out_of_bounds;
mod returns;
mod shared_memory;
mod shift;
mod staging;
mod thread_tiles;
mod tile;
mod vectors;
mod views;
mod warp;
