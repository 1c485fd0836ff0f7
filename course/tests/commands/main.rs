//! Drives the real command and compares all that it prints.
//!
//! What is checked of the learner's files is how they are shipped: not solved.

mod command;
mod device;
#[cfg(feature = "inspect")]
mod emit;
mod explain;
mod fallback;
mod p12;
mod p16;
mod p23;
mod profile;
mod usage;
#[cfg(feature = "wgpu")]
mod vulkan;
