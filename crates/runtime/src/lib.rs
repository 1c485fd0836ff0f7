//! Devices, buffers and launches of tilewise.
//!
//! A [`DeviceContext`] opens a device. Memory on it is a [`DeviceBuffer`], or a [`DeviceTensor`]: a buffer with a
//! layout. A [`Launch`] is a kernel with its arguments; [`DeviceContext::enqueue_function`] describes it, compiles what
//! was described (or finds it in the context's cache) and runs it.
//!
//! ```
//! use tilewise_layout::row_major;
//! use tilewise_runtime::DeviceContext;
//!
//! let ctx = DeviceContext::new()?;
//! let a = ctx.tensor_from_fn(row_major([2, 3]), |[i, j]| (10 * i + j) as f32)?;
//! assert_eq!(a.to_host()?, [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
//! assert_eq!(a.transpose().to_host()?.to_string(), "HostBuffer([0.0, 10.0, 1.0, 11.0, 2.0, 12.0])");
//! # Ok::<(), tilewise_runtime::Error>(())
//! ```
//!
//! # Order and errors
//!
//! What is enqueued on a context happens in the order in which it was enqueued, also where the device works on while
//! the host does. A tensor may be dropped right after a launch that uses it: its memory lives until the launch has
//! ended.
//!
//! A fault in a kernel (an index outside its tensor, a failed `assert!`, ...) does not stop the program and does not
//! touch other memory. It is kept, and the next [`synchronize`](DeviceContext::synchronize) or the next read of any
//! tensor of the context returns it, once, as [`Error::Fault`].
//!
//! # NVIDIA GPUs
//!
//! With the feature `cuda` NVIDIA GPUs are devices, and the best device is the first of them. Nothing but the driver has
//! to be installed (CUDA 12.0 or newer), and only where the program runs; where there is none, the CPU is the best device.
//!
//! # Other GPUs
//!
//! With the feature `wgpu` the GPUs that have a driver for Vulkan, Metal or Direct3D 12 are devices, too: `vulkan`, `amd`,
//! `apple`, `intel` and so on ([`DeviceContext::open`]). An adapter that computes on the CPU (Mesa's llvmpipe) can be asked
//! for, but is never the best device. What a kernel may do depends on the adapter: where it lacks something,
//! [`Error::Unsupported`] names it, with the adapter and the line. The streams of a context are one queue there.
//!
//! Where no GPU can be used (there is none, there is no driver or loader, the driver is broken, there is only a software
//! adapter), [`DeviceContext::new`] opens the CPU, and a line on standard error says why, once in a program. Asking for a
//! device that is not there is an error that names those that are. A line about `XDG_RUNTIME_DIR` is of Mesa's drivers, which
//! look for a display; it does no harm.
//!
//! # Environment variables
//!
//! | variable | meaning |
//! | --- | --- |
//! | `TILEWISE_DEVICE` | the device that [`DeviceContext::new`] opens: `cpu`, `nvidia`, `nvidia:1`, `vulkan`, ... |
//! | `TILEWISE_ADAPTER` | part of a name: only adapters of Vulkan, Metal and Direct3D 12 that have it in theirs are listed and opened |
//! | `TILEWISE_OPT` | `0` turns the optimiser off, `-licm,-cse` leaves out these passes |
//! | `TILEWISE_CHECK` | `1` checks every launch (see [`DeviceContext::checked`]) and prints warnings; the device is then the CPU |
//! | `TILEWISE_PROFILE` | `1` profiles every launch and prints what was counted on standard error (see [`DeviceContext::profiled`]); the device is then the CPU |
//! | `TILEWISE_DUMP` | a folder: each kernel that is compiled is written there as `<kernel>-<hash>.ir`, as the device gets it |
//! | `TILEWISE_CACHE` | the folder in which code for GPUs is kept from one run of the program to the next; `0` or `off` for none. It is `tilewise` in the user's folder for caches if the variable is not set |
//!
//! # For `#[kernel]`
//!
//! [`LaunchBuilder`] is what the macros' code calls: it takes the arguments of one launch, gives the parameters from
//! which the kernel's body gets its values, and makes the [`Launch`].
// Not `forbid`: `Launch::unchecked` is an `unsafe fn`, memory of a driver has no type, and the driver is called in C.
#![deny(unsafe_code)]

mod buffer;
mod cache;
mod context;
mod device;
mod dump;
mod elementwise;
mod error;
mod event;
mod explain;
mod fault;
mod host_buffer;
#[cfg(feature = "inspect")]
pub mod inspect;
mod launch;
mod output;
mod pinned;
mod progress;
mod storage;
mod tensor;
mod watch;

pub use buffer::DeviceBuffer;
pub use context::{DeviceContext, check};
pub use device::{DeviceInfo, DeviceLimits};
pub use elementwise::{elementwise, simd_width_of};
pub use error::{Error, LaunchError, Result, TensorError};
pub use event::DeviceEvent;
pub use explain::{LaunchExplanation, explain};
pub use fault::FaultReport;
pub use host_buffer::HostBuffer;
pub use launch::args::{TensorArg, TensorArgMut, TensorOf};
pub use launch::builder::{LaunchBuilder, ScalarParam};
pub use launch::capture::{Bind, ByReference, ByValue, Capture, CaptureMut, OnDevice, TensorCapture};
pub use launch::dims::{BlockDim, GridDim, block_dim, grid_dim};
pub use launch::{IndexBody, Launch};
pub use output::OutputSink;
pub use pinned::{PinnedBuffer, PinnedElement};
pub use progress::{Progress, ProgressSink};
pub use tensor::DeviceTensor;
pub use tensor::view::{TensorView, TensorViewMut};
pub use tilewise_check as report;
