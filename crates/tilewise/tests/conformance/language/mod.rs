//! The language of kernels, construct by construct: what a kernel means is what Rust means by the same text.

mod arrays;
mod branches;
mod closures_over_tensors;
mod compile_time;
mod enums;
mod functions;
mod loops;
mod printing;
mod short_circuit;
mod structs;
mod tensors;
mod variables;
