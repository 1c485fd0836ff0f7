//! CI tasks.
fn main() {}
