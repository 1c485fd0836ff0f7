//! A kernel that is `const`.

use tilewise::prelude::*;

#[kernel]
const fn constant(out: &mut TileTensor<f32, 1>) {
    out[0] = 1.0;
}

fn main() {}
