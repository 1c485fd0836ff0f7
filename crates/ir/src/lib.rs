//! The kernel IR of tilewise: operations, text, verifier, passes.
