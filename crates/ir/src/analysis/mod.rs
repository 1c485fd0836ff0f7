//! Analyses: what is known of a kernel without running it. They read the kernel and change nothing.
//!
//! [`facts`] is what backends for GPUs ask: with the numbers of a launch, which bounds always hold, which accesses are
//! aligned, which indices fit 32 bits. It rests on [`ranges`], a walk over the kernel with a [`Range`] for each integer
//! value: [`transfer`] is what operations do to ranges. [`explain`](mod@explain) tells people what facts tell backends.
//! [`uniform`] is what all threads of a block have in common. [`adjacent`] finds accesses that could be one.

mod accesses;
pub mod adjacent;
mod condition;
mod demand;
mod difference;
pub mod explain;
pub mod facts;
mod knowledge;
pub mod range;
pub mod ranges;
pub mod residue;
mod rounds;
pub mod transfer;
pub mod uniform;

pub use explain::{AccessExplanation, BoundExplanation, DecidedBranch, Doubt, Explanation, Proof, explain};
pub use facts::{AccessFacts, ArgNumbers, Decided, Facts, LaunchNumbers, analyze};
pub use range::Range;
pub use ranges::Ranges;
pub use residue::Residue;
pub use uniform::Uniform;
