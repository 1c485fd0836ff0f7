//! Types of which a kernel has no values.

use tilewise::prelude::*;

#[kernel]
fn wide(out: &mut TileTensor<u128, 1>) {
    out[0] = 1;
}

#[kernel]
fn character(out: &mut TileTensor<u32, 1>, c: char) {
    out[0] = 1;
}

#[device]
fn text(name: &str, value: String) -> f32 {
    1.0
}

enum Plain {
    A,
    B,
}

#[kernel]
fn plain_enum(out: &mut TileTensor<u32, 1>, p: Plain) {
    out[0] = 1;
}

fn main() {}
