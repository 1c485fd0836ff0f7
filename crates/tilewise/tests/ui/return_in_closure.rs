//! `return` in a closure.

use tilewise::prelude::*;

#[kernel]
fn clamp(out: &mut TileTensor<f32, 1>) {
    let positive = |x: f32| {
        if x < 0.0 {
            return 0.0;
        }
        x
    };
    out[0] = positive(out[0]);
}

fn main() {}
