//! Passes: random kernels before and after each pass, cases with their expected text, constant evaluation against
//! the reference, and time.

#[path = "../support/mod.rs"]
mod support;

mod cases;
mod coalesce;
mod equivalence;
mod evaluation;
mod partial_unroll;
mod speed;
mod vectorize;
