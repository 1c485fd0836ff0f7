//! Transcendental functions that have been lowered to arithmetic: how far the results are from the exact ones, and the
//! special cases.
//!
//! `cargo test --release -p tilewise-interp --test math -- --nocapture` shows the largest errors. With the environment
//! variable `TILEWISE_MATH_STRIDE=1`, functions of one `f32` are tried on all of them.

mod double;
mod function;
mod single;
mod special;
