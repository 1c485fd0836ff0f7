//! An array whose elements are assigned but that is not `mut`.

use tilewise::prelude::*;

#[kernel]
fn reverse(out: &mut TileTensor<f32, 1>) {
    let list = [out[3], out[4]];
    list[0] = 1.0;
    out[0] = list[0];
}

fn main() {}
