//! A tensor in `let mut`.

use tilewise::prelude::*;

#[kernel]
fn zero(out: &mut TileTensor<f32, 2>) {
    let mut tile = out.tile([4, 4], [0, 0]);
    tile[[0, 0]] = 0.0;
    let mut shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([8]));
    shared[0] = 1.0;
}

fn main() {}
