//! Ranges and patterns of `for` that have no meaning on the device.

use tilewise::prelude::*;

#[kernel]
fn endless(out: &mut TileTensor<usize, 1>) {
    for i in 0.. {
        out[i] = i;
    }
    for (a, b) in 0..4 {
        out[a] = b;
    }
}

fn main() {}
