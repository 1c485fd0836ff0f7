//! The kernel IR of tilewise: operations, text, verifier, passes.
//!
//! A [`Kernel`] is a tree of blocks of operations on SSA values. Staging makes it through a [`Builder`], passes
//! rewrite it, backends and the interpreter read it. It prints as text and the text parses back.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod build;
pub mod eval;
pub mod fault;
pub mod kernel;
pub mod op;
pub mod pass;
pub mod print;
pub mod site;
pub mod span;
pub mod text;
pub mod types;
pub mod verify;

pub use build::Builder;
pub use fault::{AccessKind, Fault, FaultKind, Waiting};
pub use kernel::{Alloc, AllocId, Block, Inst, Kernel, MemRef, Param, ParamId, ParamKind, Space, Value};
pub use op::{
    Access, Align, AtomicOp, Axis, BinaryOp, Builtin, CompareOp, Effect, Format, FormatSpec, Label, Op,
    Ordering, Piece, Scope, Shuffle, Style, UnaryOp, WARP_SIZE,
};
pub use site::{Report, Site, SiteKind};
pub use span::{Location, Span, SpanTable};
pub use text::ParseError;
pub use types::{Const, Scalar, Type};
pub use verify::VerifyError;
