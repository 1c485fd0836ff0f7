//! What compiling gives, and how a launch binds its arguments.
//!
//! All bindings are in group 0:
//!
//! | binding | content |
//! | --- | --- |
//! | 0 | the words of the launch: a uniform buffer of `16 * ceil(words / 4)` bytes ([`Module::uniform_bytes`]) |
//! | 1 and on | the storage of the tensors that are accessed ([`Module::tensors`]), read only or written |
//! | the next | the reports ([`site`](crate::site)), a storage buffer that is written; only if there are sites |
//!
//! The words of the launch are 4 bytes each, little-endian:
//!
//! | word | content |
//! | --- | --- |
//! | 0 to 2 | x, y, z of the block at which this part of the grid starts: a grid may be dispatched in parts |
//! | 3 to 5 | blocks of the whole grid along x, y, z |
//! | 6 | number of the launch: it stands in what the launch reports |
//! | 7 | 0: what a compiler of shaders cannot know, and so not simplify by |
//! | 8 and on | [`Module::args`] in order, each [`Arg::words`] long |
//!
//! A scalar of fewer than 4 bytes is zero-extended to a word, a `bool` is 0 or 1. Numbers of 8 bytes are two words, the
//! lower half first.
//!
//! # Memory of tensors
//!
//! Elements lie as on the host. A tensor's buffer has to be a multiple of 16 bytes long, and its binding has to start at a
//! multiple of 16 bytes, since several elements may be read at once; the tensor starts at element [`Arg::Start`] of the
//! binding. The number
//! of an element, counted from the start of the binding, has to be below 2^32.
//!
//! Tensors that may share their storage ([`ParamKind::Tensor::aliased`](tilewise_ir::ParamKind)) are all bound as written,
//! since an API lets a buffer be bound twice to one dispatch only if all uses are the same.

use crate::capability::Capabilities;
use tilewise_ir::{ParamId, Site};

/// Words of the launch before the arguments.
pub const LAUNCH_WORDS: u32 = 8;

/// Binding of the words of the launch.
pub const LAUNCH_BINDING: u32 = 0;

/// Binding of the first tensor.
pub const TENSORS_BINDING: u32 = 1;

/// A kernel as a shader, and what a launch has to know.
#[derive(Clone, Debug)]
pub struct Module {
    /// The shader, with one entry point.
    pub shader: naga::Module,
    /// What the words of the launch are, behind the first [`LAUNCH_WORDS`].
    pub args: Vec<Arg>,
    /// The tensors that are bound, in order of their bindings.
    pub tensors: Vec<Tensor>,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// What may be reported, by number.
    pub sites: Vec<Site>,
    pub(crate) capabilities: Capabilities,
}

/// What naga's validator finds.
pub type Invalid = naga::WithSpan<naga::valid::ValidationError>;

/// A tensor that is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// The parameter.
    pub param: ParamId,
    /// Whether the binding is one that is written.
    pub writable: bool,
}

/// A number among the words of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// Number of the tensor's first element, counted from the start of its binding: one word.
    Start(ParamId),
    /// The value of a scalar parameter: two words for types of 8 bytes, else one.
    Scalar(ParamId, ScalarWords),
    /// Extent of a dimension: two words.
    Extent(ParamId, u8),
    /// Stride of a dimension in elements: two words.
    Stride(ParamId, u8),
}

/// How many words a scalar takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarWords {
    /// Up to 4 bytes.
    One,
    /// 8 bytes.
    Two,
}

impl Arg {
    /// Words that it takes.
    pub fn words(self) -> u32 {
        match self {
            Arg::Start(_) | Arg::Scalar(_, ScalarWords::One) => 1,
            Arg::Scalar(_, ScalarWords::Two) | Arg::Extent(..) | Arg::Stride(..) => 2,
        }
    }
}

impl Module {
    /// Words of the launch.
    pub fn launch_words(&self) -> u32 {
        LAUNCH_WORDS + self.args.iter().map(|arg| arg.words()).sum::<u32>()
    }

    /// Size of the uniform buffer that holds them.
    pub fn uniform_bytes(&self) -> u32 {
        16 * self.launch_words().div_ceil(4)
    }

    /// Binding of the reports, if there is anything to report.
    pub fn reports_binding(&self) -> Option<u32> {
        (!self.sites.is_empty()).then_some(TENSORS_BINDING + self.tensors.len() as u32)
    }

    /// Has naga's validator look at the shader, as a writer of SPIR-V, MSL, HLSL or WGSL wants it.
    ///
    /// # Errors
    ///
    /// What the validator finds. A module that [`compile`](crate::compile) gives has nothing to be found.
    pub fn validate(&self) -> Result<naga::valid::ModuleInfo, Box<Invalid>> {
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), self.capabilities.to_naga())
            .validate(&self.shader)
            .map_err(Box::new)
    }
}
