//! A kernel that returns a value.

use tilewise::prelude::*;

#[kernel]
fn sum(a: &TileTensor<f32, 1>) -> f32 {
    a[0] + a[1]
}

fn main() {}
