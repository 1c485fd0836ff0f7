//! A tensor that is written but declared as one that is read.

use tilewise::prelude::*;

#[kernel]
fn assign(out: &TileTensor<f32, 1>) {
    out[thread_idx().x] = 1.0;
}

#[kernel]
fn compound(out: &TileTensor<f32, 2>) {
    out[[0, 1]] += 1.0;
}

#[kernel]
fn method(out: &TileTensor<f32, 1>) {
    out.store(0, 1.0);
}

#[kernel]
fn atomic(out: &TileTensor<u32, 1>) {
    out.atomic(0).fetch_add(1);
}

fn main() {}
