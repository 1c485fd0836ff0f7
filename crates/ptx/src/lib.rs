//! PTX from the kernel IR of tilewise: a pure function, with no driver, no toolkit and no IO.
//!
//! [`compile`] takes a verified kernel, what is known about its launches ([`Facts`]) and a [`Target`], and gives a
//! [`Module`]: the text, the order of the parameters, the sizes of memory, and a table of the [`sites`](tilewise_ir::site::Site)
//! that may report something.
//!
//! The code computes what the operations say ([`tilewise_ir::op`]), to the last bit where they say so. What they
//! leave open is the hardware's choice here: the bits of a NaN, the sign of the smaller or larger of two zeros, and
//! the last bits of `rsqrt` of an `f32`. One thing differs: an atomic sum of `f32` in global memory takes subnormal
//! numbers as zero.
//!
//! Nothing traps. What goes wrong is reported to memory, by code at the end of the function that hardly ever runs,
//! and a kernel in which nothing can be reported has no trace of it.
#![forbid(unsafe_code)]

mod emit;
pub mod module;
mod plan;
pub mod site;
pub mod target;

pub use module::{Arg, Module};
pub use target::Target;

use tilewise_ir::{Kernel, analysis::Facts};

/// What this backend cannot translate, and where in the user's source it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {what} cannot run on {target}{}", At(location.as_ref()))]
pub struct Unsupported {
    /// Name of the kernel.
    pub kernel: String,
    /// The operation or size, in the user's words, and why.
    pub what: String,
    /// The target.
    pub target: Target,
    /// The user's position.
    pub location: Option<tilewise_ir::Location>,
}

struct At<'a>(Option<&'a tilewise_ir::Location>);

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |location| write!(f, " ({location})"))
    }
}

/// Translates a verified kernel. Of the functions that take more than arithmetic (`exp`, `sin`, `pow`, ...) there
/// must be none left.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::Facts};
/// use tilewise_ptx::{Arg, Target, compile};
///
/// let kernel: Kernel = "
///     kernel @first(%out: tensor<f32, 1, mut>, %x: f32) {
///       %0 = const index 0
///       %1 = scalar %x
///       store %out[%0], %1
///       return
///     }
/// ".parse()?;
/// let module = compile(&kernel, &Facts::unknown(&kernel), Target::new(90))?;
/// assert!(module.text.contains("st.global.f32"));
/// assert_eq!(module.args.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Unsupported`] names what the target cannot do.
pub fn compile(kernel: &Kernel, facts: &Facts, target: Target) -> Result<Module, Unsupported> {
    emit::module(kernel, facts, target)
}

/// One text of several modules for one target, for assembling them at once; and the names of their entries in it, in
/// order.
pub fn modules_text(modules: &[&Module]) -> (String, Vec<String>) {
    emit::join(modules)
}
