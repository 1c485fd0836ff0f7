//! The words of a tilewise kernel: running them on the host records the kernel's IR.
//!
//! A function with `#[kernel]` is rewritten so that its parameters and variables are [`Val`]s: handles to values of
//! the kernel. The function then runs on the host, inside [`record`], and each word that it uses (an operator, `a[i]`,
//! [`barrier`], ...) appends operations to the kernel that is being described. Everything that is not a word of the
//! kernel language is plain Rust that runs while describing: generics, closures, iterators, helper functions.
//!
//! ```
//! use tilewise_stage::{Val, record, thread_idx};
//!
//! let kernel = record("example", &[], || {
//!     let i = thread_idx().x;
//!     // A plain loop: described three times.
//!     let mut sum = i;
//!     for k in 1..4 {
//!         sum = sum + k;
//!     }
//! })?;
//! assert!(kernel.op_count() > 3);
//! # Ok::<(), tilewise_stage::StageError>(())
//! ```
#![forbid(unsafe_code)]

pub mod block;
pub mod builtin;
pub mod cast;
pub mod compare;
pub mod control;
pub mod element;
pub mod math;
pub mod ops;
pub mod pattern;
pub mod print;
mod recorder;
pub mod staged;
pub mod tensor;
pub mod val;
pub mod variable;
pub mod warp;

pub use builtin::{Dim3, Ordering, Scope, barrier, block_dim, block_idx, fence, grid_dim, thread_idx};
pub use control::comptime;
pub use element::{Atomic, Bits, Element, Float, Int, Num, Signed};
pub use math::{max, min, select};
pub use pattern::vectorize;
pub use recorder::{StageError, let_name, record, recycle};
pub use staged::{DeviceType, Stage, StageAs, StagedValue};
pub use tensor::atomic::AtomicCell;
pub use tensor::memory::{AddressSpace, stack_allocation};
pub use tensor::{Immut, LayoutTensor, Mut, TileTensor};
pub use val::Val;
pub use variable::Var;
pub use warp::{WARP_SIZE, lane_id, syncwarp};
