//! GPU kernels in stable Rust, checked and run on any machine.
//!
//! ```
//! use tilewise::prelude::*;
//!
//! #[kernel]
//! fn add(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, b: &TileTensor<f32, 1>) {
//!     let i = block_dim().x * block_idx().x + thread_idx().x;
//!     if i < output.dim(0) {
//!         output[i] = a[i] + b[i];
//!     }
//! }
//!
//! fn main() -> tilewise::Result<()> {
//!     let ctx = DeviceContext::new()?;
//!     let a = ctx.tensor_from_fn(row_major([1000]), |[i]| i as f32)?;
//!     let b = ctx.tensor_from_fn(row_major([1000]), |[i]| 2.0 * i as f32)?;
//!     let mut output = ctx.zeros::<f32, 1>(row_major([1000]))?;
//!     ctx.enqueue_function(add(&mut output, &a, &b), grid_dim(4), block_dim(256))?;
//!     assert_eq!(output.to_host()?[999], 2997.0);
//!     Ok(())
//! }
//! ```
#![forbid(unsafe_code)]

// The macros name this crate by its path.
extern crate self as tilewise;

pub mod checking;
pub mod kernel;

pub use tilewise_ir as ir;
pub use tilewise_layout as layout;
pub use tilewise_macros::{device, kernel_closure as kernel};
pub use tilewise_runtime::*;

/// What a file with kernels needs: `use tilewise::prelude::*;`.
pub mod prelude {
    pub use half::{bf16, f16};
    pub use tilewise_layout::{Layout, col_major, fixed, row_major};
    pub use tilewise_macros::{device, kernel};
    pub use tilewise_runtime::*;
    pub use tilewise_stage::{
        AddressSpace, Atomic, AtomicCell, Bits, Element, Float, Immut, Int, LayoutTensor, Mut, Num, Ordering,
        Scope, Signed, TileTensor, Val, WARP_SIZE, barrier, block, block_idx, comptime, fence, lane_id, max,
        min, select, stack_allocation, syncwarp, thread_idx, vectorize, warp,
    };
}

/// What the macros expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use tilewise_ir::{Align, Const, FormatSpec, Scalar, Style};
    pub use tilewise_macros::kernel_closure;
    pub use tilewise_runtime::{Bind, Capture, CaptureMut, LaunchBuilder};
    pub use tilewise_stage::builtin::{block_dim, grid_dim};
    pub use tilewise_stage::cast::Cast;
    pub use tilewise_stage::compare::{
        CompareHost, CompareLeft, CompareRight, Scrutinee, ScrutineeHost, ScrutineeStaged, Sides, sometimes,
    };
    pub use tilewise_stage::control::{Call, For, If, Loop, condition, exit_thread, range, range_inclusive};
    pub use tilewise_stage::pattern::lanes_from;
    pub use tilewise_stage::print::{Line, ShowConstant, ShowHost, ShowStaged, Shown};
    pub use tilewise_stage::staged::{DeviceType, Field, Leaf, Stage, StageAs, StagedValue, annotated};
    pub use tilewise_stage::tensor::index::{ReadIndex, UpdateElement, WriteIndex, coordinate};
    pub use tilewise_stage::tensor::{TensorMut, TensorRef, TensorType};
    pub use tilewise_stage::variable::{Place, Var};
    pub use tilewise_stage::{Element, Val, let_name};
}
