//! What compiling gives.

use tilewise_ir::{ParamId, Site};


/// A kernel as PTX, and what a launch has to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The text, to be assembled by the driver or by `ptxas`.
    pub text: String,
    /// Name of the entry in it.
    pub entry: String,
    /// What the entry's parameters are, in order. Each takes 8 bytes, but a scalar of fewer takes its own size.
    pub args: Vec<Arg>,
    /// Bytes of shared memory that the text declares.
    pub static_shared_bytes: u64,
    /// Bytes of shared memory that the launch has to ask for; above 48 KB the function's limit has to be raised
    /// first.
    pub dynamic_shared_bytes: u64,
    /// What may be reported, by number.
    pub sites: Vec<Site>,
}

/// A parameter of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// Address of the tensor's first element.
    Data(ParamId),
    /// The value of a scalar parameter, in the size of its type; a `bool` takes one byte.
    Scalar(ParamId),
    /// Extent of a dimension, 8 bytes.
    Extent(ParamId, u8),
    /// Stride of a dimension in elements, 8 bytes.
    Stride(ParamId, u8),
    /// Address of the reports of the context (see [`site`](crate::site)), 8 bytes.
    Reports,
    /// Number of the launch, 8 bytes: it stands in what the launch reports.
    Launch,
}
