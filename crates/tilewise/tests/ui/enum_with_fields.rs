//! Enums that are no numbers.

use tilewise::prelude::*;

#[device]
enum Shape {
    Point,
    Circle(f32),
}

#[device]
enum Never {}

#[device]
enum Either<T> {
    Left,
    Right,
}

fn main() {}
