//! Indices of another rank than the tensor's, and of another type.

use tilewise::prelude::*;

#[kernel]
fn one_for_two(out: &mut TileTensor<f32, 2>) {
    let i = thread_idx().x;
    out[i] = 1.0;
}

#[kernel]
fn two_for_one(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    out[i] = a[[i, i]];
}

#[kernel]
fn signed(out: &mut TileTensor<f32, 1>, i: i32) {
    out[i] = 1.0;
}

#[kernel]
fn tile_size(out: &mut TileTensor<f32, 2>) {
    out.tile(4, 0).fill(0.0);
}

fn main() {}
