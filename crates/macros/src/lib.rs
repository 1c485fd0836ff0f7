//! The attribute and function macros of tilewise kernels.
