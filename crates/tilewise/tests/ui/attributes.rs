//! Attributes with arguments, and on items that they are not for.

use tilewise::prelude::*;

#[kernel(fast)]
fn with_arguments(out: &mut TileTensor<f32, 1>) {
    out[0] = 1.0;
}

#[kernel]
struct NotAFunction;

#[device(inline)]
fn device_with_arguments(x: f32) -> f32 {
    x
}

#[device]
const LIMIT: usize = 4;

fn main() {}
