//! Device functions called with arguments of other types, and tensors that may not be written.

use tilewise::prelude::*;

#[device]
fn scaled(x: f32, by: f32) -> f32 {
    x * by
}

#[device]
fn clear(out: &mut TileTensor<f32, 1>) {
    out.fill(0.0);
}

#[device]
fn bump(x: &mut i32) {
    *x += 1;
}

#[kernel]
fn wrong_number(out: &mut TileTensor<f32, 1>, n: usize) {
    out[0] = scaled(out[1], n);
}

#[kernel]
fn wrong_count(out: &mut TileTensor<f32, 1>) {
    out[0] = scaled(out[1]);
}

#[kernel]
fn read_only(a: &TileTensor<f32, 1>) {
    clear(a);
}

#[kernel]
fn wrong_element(a: &mut TileTensor<i32, 1>) {
    clear(a);
}

#[kernel]
fn not_a_variable(out: &mut TileTensor<i32, 1>) {
    bump(&mut out[0]);
}

#[kernel]
fn field_of_a_variable(out: &mut TileTensor<i32, 1>) {
    let mut pair = (out[0], out[1]);
    bump(&mut pair.0);
    out[0] = pair.0;
}

fn main() {}
