//! A function of the host called with a value of the kernel.

use tilewise::prelude::*;

fn twice(x: f32) -> f32 {
    x + x
}

#[kernel]
fn call(out: &mut TileTensor<f32, 1>) {
    out[0] = twice(out[1]);
}

#[kernel]
fn associated(out: &mut TileTensor<f32, 1>) {
    out[0] = f32::max(out[1], 0.0);
}

#[kernel]
fn method(out: &mut TileTensor<f32, 1>, n: usize) {
    out[0] = out[1].hypot(2.0);
    out[1] = n.to_string().len() as f32;
}

fn main() {}
