//! A variable that is assigned but not `mut`.

use tilewise::prelude::*;

#[kernel]
fn sum(out: &mut TileTensor<f32, 1>, n: f32) {
    let total = out[0];
    total += 1.0;
    let (a, b) = (out[1], out[2]);
    a = b;
    n *= 2.0;
    out[0] = total + a + n;
}

fn main() {}
