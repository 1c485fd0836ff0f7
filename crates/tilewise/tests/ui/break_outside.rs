//! `break` and `continue` outside a loop, and with a label that nothing has.

use tilewise::prelude::*;

#[kernel]
fn leave(out: &mut TileTensor<u32, 1>, n: usize) {
    if n > 3 {
        break;
    }
    if n > 2 {
        continue;
    }
    for i in 0..n {
        let f = |x: u32| {
            break;
        };
        out[i] = 1;
        break 'outer;
    }
}

fn main() {}
