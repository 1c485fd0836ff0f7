//! What this backend cannot translate.

use crate::capability::Feature;
use std::fmt;
use tilewise_ir::{Kernel, Location, Span};

/// A kernel that the device cannot run, why, and where in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {reason}{}", At(.location.as_ref()))]
pub struct Unsupported {
    /// Name of the kernel.
    pub kernel: String,
    /// Why.
    pub reason: Reason,
    /// The user's position.
    pub location: Option<Location>,
}

/// Why a kernel cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Something that the device lacks.
    #[error("{what} needs {feature}, which the device does not have")]
    Lacks {
        /// The operation, in the words of the IR.
        what: String,
        /// What it needs.
        feature: Feature,
    },
    /// An index of more than 32 bits on a device that has no such integers.
    #[error(
        "index arithmetic that may exceed 32 bits, and the device has no 64-bit integers; smaller extents or a \
         smaller grid make it fit"
    )]
    WideIndex,
    /// A barrier that only some threads may come to.
    #[error(
        "a barrier that not all threads of the block come to together: its condition or loop depends on the thread \
         or on memory; move the barrier out of it"
    )]
    DivergentBarrier,
    /// An operation of warps that only some threads of the block may come to.
    #[error(
        "an operation of a warp that not all threads of the block come to together: its condition or loop depends on \
         the thread or on memory, and the device has no warps of 32 threads, so that all of the block have to take \
         part; move the operation out of it"
    )]
    DivergentWarpOperation,
    /// Facts without the shape of the block.
    #[error("the number of threads of a block is part of a shader, and is not known")]
    UnknownBlock,
    /// More than the device can do.
    #[error("{amount} {what}, and the device can have {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much the kernel asks for.
        amount: u64,
        /// The most that the device can do.
        limit: u64,
    },
}

impl Unsupported {
    pub(crate) fn new(kernel: &Kernel, reason: Reason, span: Span) -> Unsupported {
        Unsupported { kernel: kernel.name.clone(), reason, location: kernel.spans.get(span) }
    }
}

struct At<'a>(Option<&'a Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |location| write!(f, " ({location})"))
    }
}
