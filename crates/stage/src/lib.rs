//! The words of a tilewise kernel: running them on the host records the kernel's IR.
