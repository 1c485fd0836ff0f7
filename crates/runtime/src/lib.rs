//! Devices, buffers and launches of tilewise.
