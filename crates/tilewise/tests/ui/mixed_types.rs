//! Numbers of different types in one expression.

use tilewise::prelude::*;

#[kernel]
fn multiply(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, n: usize) {
    let i = thread_idx().x;
    out[i] = a[i] * n;
}

#[kernel]
fn compare(out: &mut TileTensor<f32, 1>, n: i32) {
    let i = thread_idx().x;
    if i < n {
        out[i] = 1.0;
    }
}

#[kernel]
fn assign(out: &mut TileTensor<f32, 1>, n: i32) {
    out[0] = n;
}

#[kernel]
fn assign_a_literal(out: &mut TileTensor<f32, 1>) {
    out[0] = 1;
}

#[kernel]
fn compare_with_a_literal(out: &mut TileTensor<f32, 1>, n: usize) {
    if n < 1.5 {
        out[0] = 1.0;
    }
}

#[kernel]
fn add_to_a_variable(out: &mut TileTensor<f32, 1>, n: usize) {
    let mut sum = 0.0;
    sum += out[0];
    sum += n;
    out[0] = sum;
}

#[kernel]
fn branches(out: &mut TileTensor<f32, 1>, n: usize) {
    let x = if n > 3 { out[0] } else { n };
    out[0] = x;
}

fn main() {}
