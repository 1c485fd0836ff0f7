//! A field of a `#[device]` struct that a kernel has no values of.

use tilewise::prelude::*;

#[device]
struct Named {
    name: String,
}

fn main() {}
