//! Fieldless enums with `#[device]`: in variables, arrays, structs, tensors and `match`.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};
use crate::same_as_rust::one_parameter;

#[device]
#[derive(Debug)]
enum State {
    Start,
    Run,
    Stop,
}

#[device]
#[derive(Debug)]
enum Level {
    Low = -5,
    Middle = 10,
    High = 7,
}

#[device]
fn next(state: State, x: i32) -> State {
    match state {
        State::Start => State::Run,
        State::Run if x > 3 => State::Stop,
        State::Run => State::Run,
        State::Stop => state,
    }
}

#[test]
fn a_state_machine() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let mut state = State::Start;
        let mut n = x;
        let mut rounds = 0;
        loop {
            rounds += 1;
            match state {
                State::Start => n += 10,
                State::Run => {
                    n -= 4;
                }
                State::Stop => break,
            }
            state = next(state, rounds);
            if state == State::Start || state != State::Run && n < 0 {
                n = 1000;
            }
        }
        n * 100 + rounds
    }
    fn in_rust(x: i32) -> i32 {
        // Start once, then Run until round 4 has passed, then Stop.
        let n = x + 10 - 4 * 3;
        (if n < 0 { 1000 } else { n }) * 100 + 5
    }
    one_parameter(&[0, 1, 2, 50, -50], in_rust, in_kernel);
}

#[test]
fn numbers_of_variants() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let level = if x < 0 {
            Level::Low
        } else if x < 10 {
            Level::Middle
        } else {
            Level::High
        };
        let mut seen = [Level::Low; 3];
        seen[1] = level;
        seen[2] = Level::High;
        let i = (x as usize) % 3;
        let chosen = seen[i];
        level as i32 * 100
            + match chosen {
                Level::Low | Level::High => 1,
                Level::Middle => 2,
            }
    }
    fn in_rust(x: i32) -> i32 {
        let number = if x < 0 {
            -5
        } else if x < 10 {
            10
        } else {
            7
        };
        number * 100 + if x as usize % 3 == 1 && number == 10 { 2 } else { 1 }
    }
    one_parameter(&[-2, 0, 1, 4, 10, 13], in_rust, in_kernel);
}

#[kernel]
fn states(out: &mut TileTensor<State, 1>, a: &TileTensor<State, 1>, first: State) {
    let shared = stack_allocation::<State, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    shared[tid] = a[tid];
    barrier();
    let before = if tid == 0 { first } else { shared[tid - 1] };
    out[tid] = next(before, 10);
}

#[test]
fn an_enum_is_an_element_type() {
    each_device(|ctx| {
        let a = vector(ctx, &[State::Start, State::Run, State::Stop, State::Start])?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(states(&mut out, &a, State::Run), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [State::Stop, State::Run, State::Stop, State::Stop]);
        Ok(())
    });
}
