//! A SIMT interpreter for tilewise kernels: the CPU device.
//!
//! [`Program::compile`] flattens a kernel, [`Program::run`] launches it on [`Buffer`]s. Everything a kernel can do is
//! real here: threads of a block take different ways and meet again, barriers hold them, spin waits and locks make
//! progress, also between blocks that are not running at the same time. What goes wrong comes back as a
//! [`Fault`](tilewise_ir::Fault) in the [`Outcome`]; nothing a kernel does makes the host panic, hang for want of
//! progress, or touch memory outside the tensors.
//!
//! # What a kernel may and may not rely on
//!
//! - **Order.** Threads at the same position advance together, in ascending order where it can be seen. A kernel without
//!   races gives the same results, faults and lines for every number of cores; sums of floats by atomics from several
//!   blocks are the exception, since they depend on the order of the blocks.
//! - **Unwritten memory.** Shared and local memory starts each block as NaN (floats), bytes of `0xCD` (integers) or true
//!   (`bool`), and never with what another block left. Buffers start as zero.
//! - **Races** are wrong but harmless: each element of a buffer is an atomic, so a reader sees an old or a new value.
//! - **Barriers.** Threads that returned before it are not waited for. If all others wait, but at different barriers, or
//!   some have gone past the barrier to the end of the kernel, that is a fault, and the block is given up.
//! - **Warps.** The same holds for the lanes of a warp at one of its operations; other warps are not waited for. Warps have
//!   32 threads. Their lanes advance together only as far as all threads of a block do.
//! - **Waiting.** A block in which nothing changes any more is given up with a fault, once no other block can change
//!   what it looks at. A loop that does change something, for ever, runs for ever.
//!
//! # How it works
//!
//! | module | what it is for |
//! | --- | --- |
//! | `compile` | from the tree of operations to linear code: uniformity, lives of values, registers, jumps |
//! | `code` | the linear code |
//! | `column` | registers: a lane for each thread, or one value for all |
//! | `vector`, `lane`, `half_float` | arithmetic, as loops over lanes that become vector code |
//! | `machine` | a block that runs: groups of threads, memory, barriers, warps, faults |
//! | `schedule` | blocks on cores: which runs when, and which waits for which |
//! | `observe` | what somebody who watches a launch is told |
//!
//! Values that all threads share are computed once, not once a thread. Each operation on the others is one loop over
//! the lanes of a block. `cargo run --release -p tilewise-interp --example throughput` compares it with plain loops.
#![deny(unsafe_code)]

mod buffer;
mod code;
mod column;
mod compile;
mod half_float;
mod lane;
mod launch;
mod machine;
mod observe;
mod program;
mod schedule;
mod vector;

pub use buffer::{Buffer, CopyError, OutOfMemory, Word};
pub use launch::{Arg, LaunchConfig, LaunchError, Limits, Options, Outcome};
pub use machine::Threads;
pub use observe::{
    AccessEvent, AccessSite, AtomicOutcome, BlockObserver, ChunkWords, Chunks, Effect, GivenUp, Memory,
    NarrowValues, Observer, SiteKind, Spot, ThreadFault, Values, WideValues, Words,
};
pub use program::{CompileError, Program};
pub use vector::{Pattern, ROW};
