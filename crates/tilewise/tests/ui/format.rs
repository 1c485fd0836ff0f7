//! Format strings that a kernel cannot print.

use tilewise::prelude::*;

#[kernel]
fn show(a: &TileTensor<f32, 1>, width: usize) {
    println!("{:#?}", a[0]);
    println!("{:p}", a[0]);
    println!("{:width$}", a[0]);
    println!("{:.*}", 3, a[0]);
    println!("{} {}", a[0]);
    println!("{}", a[0], a[1]);
    println!("{unknown}");
    println!("{a[0]}");
    println!("{} }", a[0]);
    println!("{", a[0]);
    println!("{}", a);
}

fn main() {}
