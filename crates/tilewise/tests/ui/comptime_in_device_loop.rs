//! A variable of the host that is assigned in a loop of the device.

use tilewise::prelude::*;

#[kernel]
fn count(out: &mut TileTensor<u32, 1>, n: usize) {
    #[comptime]
    let mut rounds = 0;
    for i in 0..n {
        rounds += 1;
        out[i] = rounds;
    }
    loop {
        rounds = 5;
        break;
    }
}

fn main() {}
