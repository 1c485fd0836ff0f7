//! Operations of warps that the element type has not (DIAG-1), and values of wrong types.

use tilewise::prelude::*;

#[kernel]
fn and_of_floats(out: &mut TileTensor<f32, 1>) {
    out[0] = warp::and(out[1]);
}

#[kernel]
fn sum_of_bools(out: &mut TileTensor<bool, 1>) {
    out[0] = block::sum(out[1]);
}

#[kernel]
fn vote_on_numbers(out: &mut TileTensor<u32, 1>) {
    out[0] = warp::ballot(out[1]);
}

#[kernel]
fn shuffle_by_an_i32(out: &mut TileTensor<i32, 1>) {
    out[0] = warp::shuffle_down(out[1], out[2]);
}

fn main() {}
