//! A [`naga::Module`] from the kernel IR of tilewise, from which SPIR-V, MSL, HLSL or WGSL is written: a pure function,
//! with no device and no IO.
//!
//! [`compile`] takes a verified kernel, what is known about its launches ([`Facts`]) and what the device can do
//! ([`Capabilities`]), and gives a [`Module`]: the shader, the layout of its parameters, and a table of the
//! [`sites`](tilewise_ir::site::Site) that may report something.
//!
//! ```
//! use tilewise_ir::{Kernel, analysis::Facts};
//! use tilewise_naga::{Capabilities, compile};
//!
//! let kernel: Kernel = "
//!     kernel @double(%out: tensor<f32, 1, mut>) {
//!       %0 = thread_idx.x
//!       %1 = load %out[%0] : f32
//!       %2 = add %1, %1
//!       store %out[%0], %2
//!       return
//!     }
//! ".parse()?;
//! let mut facts = Facts::unknown(&kernel);
//! facts.block = Some([64, 1, 1]);
//! let module = compile(&kernel, &facts, &Capabilities::WEBGPU)?;
//! assert_eq!(module.shader.entry_points[0].workgroup_size, [64, 1, 1]);
//! assert!(module.sites.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What differs from other devices
//!
//! Integers, comparisons, conversions, bounds and faults are as [`op`](tilewise_ir::op) defines them. Shader languages
//! leave some things about floats to the device:
//!
//! - A driver may contract a product and a sum to one rounding, and may reorder sums: some take `(a + b) - a` for `b`.
//!   naga has no way to forbid it; for Vulkan, [`spirv::exact`] does afterwards.
//! - A division of `f32` may be off by a few units in the last place, and so may a square root where there is no `f64`
//!   ([`Capabilities::exact_sqrt`]). Subnormal numbers may count as zero, unless the device promises more
//!   ([`FloatControls`]).
//! - [`MulAdd`](tilewise_ir::Op::MulAdd) rounds once if the device has [`Capabilities::fused_mul_add`]. If not, that of
//!   `f32` is computed in `f64` where the device has it together with 64-bit integers, and still rounds once; else, and of
//!   `f64`, it is a product and a sum. Of `f16` and `bf16` it always rounds once.
//! - Exponentials, logarithms and the like are the device's own functions, unless the kernel was lowered by
//!   [`math`](tilewise_ir::pass::lower::math). That lowering computes with errors of roundings, so it needs
//!   [`spirv::exact`].
//! - Operations of warps go through shared memory and barriers, since a device's own groups of threads need not have 32 of
//!   them, nor those that follow each other. So all threads of a block have to come to them together, as to a barrier, and a
//!   kernel in which they may not is refused.
//! - Two threads that store different values to one element of 8 or 16 bits, without order, may leave a mixture of both.
//!   They never disturb a neighbouring element.
#![forbid(unsafe_code)]

pub mod capability;
mod emit;
mod error;
pub mod module;
mod order;
mod plan;
pub mod site;
pub mod spirv;
#[cfg(feature = "write")]
pub mod write;

pub use capability::{Capabilities, Feature, FloatControls, Widths};
pub use error::{Reason, Unsupported};
pub use module::{Arg, Module};

use tilewise_ir::{Kernel, analysis::Facts};

/// Translates a kernel that [`verify`](tilewise_ir::verify) accepts.
///
/// # Errors
///
/// [`Unsupported`] names what the device cannot do, and where the user's source asks for it.
pub fn compile(kernel: &Kernel, facts: &Facts, capabilities: &Capabilities) -> Result<Module, Unsupported> {
    let plan = plan::Plan::new(kernel, facts, capabilities)?;
    let module = emit::emit(plan)?;
    if cfg!(debug_assertions)
        && let Err(error) = module.validate()
    {
        panic!("the shader of kernel `{}` is wrong: {}", kernel.name, error.emit_to_string(""));
    }
    Ok(module)
}
