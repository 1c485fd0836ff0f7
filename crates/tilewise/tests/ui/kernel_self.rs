//! A kernel as a method.

use tilewise::prelude::*;

struct Scale(f32);

impl Scale {
    #[kernel]
    fn run(&self, out: &mut TileTensor<f32, 1>) {
        out[0] = self.0;
    }
}

fn main() {}
