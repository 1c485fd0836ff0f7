//! A SIMT interpreter for tilewise kernels: the CPU device.
//!
//! [`Program::compile`] flattens a kernel, [`Program::run`] launches it on [`Buffer`]s.
#![deny(unsafe_code)]

mod buffer;
mod code;
mod column;
mod compile;
mod half_float;
mod lane;
mod launch;
mod machine;
mod print;
mod program;
mod schedule;
mod vector;

pub use buffer::{Buffer, CopyError, OutOfMemory, Word};
pub use launch::{Arg, LaunchConfig, LaunchError, Limits, Options, Outcome};
pub use program::{CompileError, Program};
