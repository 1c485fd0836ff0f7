//! The runtime by its public API, with kernels written by hand as the macros write them.

mod cache;
mod devices;
mod dump;
mod elementwise;
mod errors;
mod host;
mod kernels;
mod launches;
mod streams;
mod tensors;
mod views;
