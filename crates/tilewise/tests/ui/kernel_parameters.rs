//! Parameters that a kernel cannot have.

use tilewise::prelude::*;

#[kernel]
fn by_reference(out: &mut TileTensor<f32, 1>, n: &usize) {
    out[0] = 1.0;
}

#[kernel]
fn by_pattern(out: &mut TileTensor<f32, 1>, (a, b): (f32, f32)) {
    out[0] = a + b;
}

#[kernel]
fn of_the_host(out: &mut TileTensor<f32, 1>, values: Vec<f32>) {
    out[0] = values[0];
}

#[kernel]
fn text(out: &mut TileTensor<f32, 1>, name: String) {
    out[0] = 1.0;
}

fn main() {}
