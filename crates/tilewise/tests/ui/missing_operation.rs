//! Operations that the element type has not (DIAG-1).

use tilewise::prelude::*;

#[kernel]
fn atomic_on_i16(cells: &mut TileTensor<i16, 1>) {
    cells.atomic(0).fetch_add(1);
}

#[kernel]
fn and_of_floats(out: &mut TileTensor<f32, 1>) {
    out[0] = out[1] & out[2];
}

#[kernel]
fn or_of_atomic_floats(out: &mut TileTensor<f32, 1>) {
    out.atomic(0).fetch_or(1.0);
}

#[kernel]
fn sum_of_bools(out: &mut TileTensor<bool, 1>) {
    out[0] = out[1] + out[2];
}

#[kernel]
fn negated_unsigned(out: &mut TileTensor<u32, 1>) {
    out[0] = -out[1];
}

#[kernel]
fn root_of_an_integer(out: &mut TileTensor<i32, 1>) {
    out[0] = out[1].sqrt();
}

#[kernel]
fn shifted_float(out: &mut TileTensor<f32, 1>) {
    out[0] = out[1] << 2;
}

fn main() {}
