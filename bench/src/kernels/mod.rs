//! The kernels that are measured, in the language of tilewise, one file a subject.

pub(crate) mod add;
pub(crate) mod dot;
pub(crate) mod empty;
pub(crate) mod indirect;
pub(crate) mod matmul;
