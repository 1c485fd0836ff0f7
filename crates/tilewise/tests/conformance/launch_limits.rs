//! Launches over a limit of the device, and arguments of another context: refused before anything runs.

use tilewise::LaunchError;
use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn write_ones(out: &mut TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    out[gid] = 1;
}

/// LIM-1
#[test]
fn a_block_has_1_to_1024_threads() {
    each_device(|ctx| {
        let mut out = vector(ctx, &[9; 5])?;
        let limits = &ctx.device_info().limits;
        let [_, _, z] = limits.max_block_dim;
        assert_eq!(limits.max_threads_per_block, 1024);
        let cases: [(_, &[&str]); 5] = [
            ((1025, 1, 1), &["1025", "1024"]),
            ((33, 32, 1), &["33 x 32 = 1056", "1024"]),
            ((1, 1, z + 1), &[&format!("{} along z", z + 1), &z.to_string()]),
            ((0, 1, 1), &["0 along x", "1 to"]),
            ((4, 0, 1), &["0 along y", "1 to"]),
        ];
        for (block, parts) in cases {
            let refused = ctx.enqueue_function(write_ones(&mut out), grid_dim(1), block_dim(block));
            let message = refused.expect_err("over the limit").to_string();
            assert!(message.contains("write_ones"), "{message}");
            for part in parts {
                assert!(message.contains(part), "{block:?}: {message}");
            }
        }
        assert_eq!(out.to_host()?, [9; 5]);
        Ok(())
    });
}

#[test]
fn the_largest_block_runs() {
    each_device(|ctx| {
        for block in [(1024, 1, 1), (32, 32, 1), (4, 4, 64)] {
            let mut out = zeros(ctx, block.0)?;
            ctx.enqueue_function(write_ones(&mut out), grid_dim(1), block_dim(block))?;
            assert_eq!(out.to_host()?, vec![1; block.0]);
        }
        Ok(())
    });
}

#[kernel]
fn much_shared_memory(out: &mut TileTensor<f32, 1>, #[comptime] len: usize) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([len]));
    shared[thread_idx().x] = 1.0;
    out[0] = shared[thread_idx().x];
}

#[test]
fn shared_memory_is_limited() {
    each_device(|ctx| {
        let limit = ctx.device_info().limits.max_shared_memory_per_block;
        let mut out = zeros(ctx, 1)?;
        let fits = limit as usize / 4;
        ctx.enqueue_function(much_shared_memory(&mut out, fits), grid_dim(1), block_dim(1))?;
        let refused = ctx.enqueue_function(much_shared_memory(&mut out, fits + 1), grid_dim(1), block_dim(1));
        let Err(tilewise::Error::Launch(LaunchError::SharedMemory { kernel, bytes, limit: named })) = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!((kernel.as_str(), bytes, named), ("much_shared_memory", limit + 4, limit));
        Ok(())
    });
}

#[test]
fn a_tensor_of_another_context_is_refused() {
    each_device(|ctx| {
        let other = DeviceContext::open(ctx.device_name())?;
        let mut out = zeros(&other, 4)?;
        let refused = ctx.enqueue_function(write_ones(&mut out), grid_dim(1), block_dim(4));
        let message = refused.expect_err("another context").to_string();
        assert!(message.contains("argument `out` of kernel `write_ones`"), "{message}");
        // Contexts side by side each have their own memory and faults.
        other.enqueue_function(write_ones(&mut out), grid_dim(1), block_dim(5))?;
        ctx.synchronize()?;
        assert!(matches!(other.synchronize(), Err(tilewise::Error::Fault(_))));
        assert_eq!(out.to_host()?, [1; 4]);
        Ok(())
    });
}
