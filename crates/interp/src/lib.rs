//! A SIMT interpreter for tilewise kernels: the CPU device.
