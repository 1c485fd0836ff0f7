//! Launches, reads and writes of the host happen in the order in which they were enqueued.

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};

#[kernel]
fn slow(out: &mut TileTensor<u32, 1>, input: &TileTensor<u32, 1>, steps: u32) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    let mut x = input[gid];
    for _ in 0..steps {
        x += 1;
    }
    out[gid] = x;
}

/// ORD-1, with fewer steps and rounds: no thread of a CPU is as fast as a GPU's
#[test]
fn an_input_may_be_dropped_after_the_launch() {
    each_device(|ctx| {
        for _ in 0..20 {
            let input = ctx.tensor_from_fn(row_major([256]), |[i]| i as u32)?;
            let mut out = zeros(ctx, 256)?;
            ctx.enqueue_function(slow(&mut out, &input, 1000), grid_dim(4), block_dim(64))?;
            drop(input);
            let new = ctx.full::<u32, 1>(row_major([256]), 9)?;
            assert_eq!(out.to_host()?, (1000..1256).collect::<Vec<_>>());
            assert_eq!(new.to_host()?, [9; 256]);
        }
        Ok(())
    });
}

#[kernel]
fn increment(x: &mut TileTensor<u32, 1>) {
    x[thread_idx().x] += 1;
}

/// ORD-3
#[test]
fn reads_writes_and_launches_take_turns() {
    each_device(|ctx| {
        let mut x = zeros(ctx, 8)?;
        for round in 1..=100 {
            ctx.enqueue_function(increment(&mut x), grid_dim(1), block_dim(8))?;
            if round % 10 == 0 {
                let first = if round <= 50 { round } else { round - 50 + 1000 };
                assert_eq!(x.get([0])?, first);
                assert_eq!(x.to_host()?[1..], [round; 7]);
            }
            if round == 50 {
                x.map_to_host(|host| host[0] = 1000)?;
            }
        }
        Ok(())
    });
}
