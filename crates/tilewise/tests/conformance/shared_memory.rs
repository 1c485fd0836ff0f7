//! Shared memory.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[kernel]
fn two_arrays(out: &mut TileTensor<i32, 1>) {
    let p = stack_allocation::<i32, 1>(AddressSpace::Shared, row_major([4]));
    let q = stack_allocation::<i32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    p[tid] = tid as i32 + 1;
    q[tid] = 10 * tid as i32;
    barrier();
    out[tid] = p[tid] - q[(tid + 1) % 4];
}

/// SMEM-1
#[test]
fn two_arrays_of_one_type_lie_apart() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(two_arrays(&mut out), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [-9, -18, -27, 4]);
        Ok(())
    });
}

#[kernel]
fn one_for_each_block(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([3]));
    let (tid, bid) = (thread_idx().x, block_idx().x);
    s[tid] = 7 * bid;
    barrier();
    out[bid * 3 + tid] = s[(tid + 1) % 3] + tid;
}

/// SMEM-3
#[test]
fn shared_memory_belongs_to_one_block() {
    let expected: Vec<usize> = (0..50).flat_map(|b| (0..3).map(move |t| 7 * b + t)).collect();
    each_device(|ctx| {
        for _ in 0..100 {
            let mut out = zeros(ctx, 150)?;
            ctx.enqueue_function(one_for_each_block(&mut out), grid_dim(50), block_dim(3))?;
            assert_eq!(out.to_host()?, expected);
        }
        Ok(())
    });
}

#[kernel]
fn one_after_the_other(out: &mut TileTensor<usize, 1>) {
    let p = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    p[tid] = tid;
    barrier();
    let x = p[7 - tid];
    let q = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([8]));
    q[tid] = 2 * x;
    barrier();
    out[tid] = q[(tid + 1) % 8];
}

/// SMEM-5
#[test]
fn an_array_may_follow_another() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(one_after_the_other(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [12, 10, 8, 6, 4, 2, 0, 14]);
        Ok(())
    });
}

#[kernel]
fn stored_and_read_back(out: &mut TileTensor<f32, 1>, input: &TileTensor<f32, 1>, k: usize) {
    let s = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([2]));
    for r in 0..3 {
        s[0] = input[r];
        s[1] = -input[r];
        out[2 * r] = s[k];
        out[2 * r + 1] = s[1 - k];
    }
}

/// SMEM-8, with a size that is known while the kernel is described
#[test]
fn stores_are_not_dropped() {
    each_device(|ctx| {
        let input = vector(ctx, &[1.5, 2.5, 3.5])?;
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(stored_and_read_back(&mut out, &input, 0), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [1.5, -1.5, 2.5, -2.5, 3.5, -3.5]);
        Ok(())
    });
}
