//! A `match` that leaves values out.

use tilewise::prelude::*;

#[device]
enum State {
    Run,
    Stop,
}

#[kernel]
fn classify(out: &mut TileTensor<i32, 1>, x: i32) {
    out[0] = match x {
        0 => 1,
        1..=9 => 2,
    };
}

#[kernel]
fn stop(out: &mut TileTensor<i32, 1>, state: State) {
    match state {
        State::Run => out[0] = 1,
    }
}

fn main() {}
