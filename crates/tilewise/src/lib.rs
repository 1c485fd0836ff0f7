//! GPU kernels in stable Rust, checked and run on any machine.
