//! Macros that print something else than whole lines, `dbg!` among them, are refused: this program must not compile.

use tilewise::prelude::*;

#[kernel]
fn show(a: &TileTensor<f32, 1>) {
    print!("{}", a[0]);
    eprintln!("{}", a[0]);
    let x = dbg!(a[0]);
    println!("{x}");
}

fn main() {}
