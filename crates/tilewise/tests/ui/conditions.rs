//! Conditions that are not `bool`.

use tilewise::prelude::*;

#[kernel]
fn float(out: &mut TileTensor<f32, 1>) {
    if out[0] {
        out[1] = 1.0;
    }
}

#[kernel]
fn integer(out: &mut TileTensor<f32, 1>, n: usize) {
    while n {
        out[1] = 1.0;
    }
}

#[kernel]
fn logic(out: &mut TileTensor<f32, 1>, n: usize) {
    if n > 1 && n {
        out[1] = 1.0;
    }
    assert!(out[0]);
}

fn main() {}
