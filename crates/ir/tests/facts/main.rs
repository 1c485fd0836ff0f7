//! Facts about kernels at launch: operations on ranges one by one, the course's kernels, and that whatever is claimed of
//! random kernels holds when they run.

#[path = "../support/mod.rs"]
mod support;

mod claims;
mod halves;
mod kernels;
mod operations;
mod proofs;
mod random;
mod speed;
