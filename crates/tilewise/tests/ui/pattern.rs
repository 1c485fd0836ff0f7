//! A `match` whose patterns are of another type than its value.

use tilewise::prelude::*;

#[kernel]
fn classify(out: &mut TileTensor<i32, 1>, x: i32) {
    match x {
        true => out[1] = 1,
        _ => out[1] = 2,
    }
}

fn main() {}
