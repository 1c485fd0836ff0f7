//! Right kernels about which nothing must be said, and mistakes that are easily missed.

use tilewise::prelude::*;

use crate::harness::{assert_found, clean, report, vector, zeros};

#[kernel]
fn tree(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let s = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([64]));
    let tid = thread_idx().x;
    s[tid] = a[block_idx().x * 64 + tid];
    barrier();
    let mut stride = 32;
    while stride > 0 {
        if tid < stride {
            s[tid] += s[tid + stride];
        }
        barrier();
        stride /= 2;
    }
    if tid == 0 {
        out.atomic(0).fetch_add(s[0]);
    }
}

#[test]
fn a_tree_reduction() {
    clean(|ctx| {
        let a = vector(ctx, &[1.0f32; 320])?;
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(tree(&mut out, &a), grid_dim(5), block_dim(64))?;
        assert_eq!(out.to_host()?, [320.0]);
        Ok(())
    });
}

#[kernel]
fn returns_early(out: &mut TileTensor<u32, 1>, n: usize) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([70]));
    let tid = thread_idx().x;
    s[tid] = tid as u32;
    if tid >= n {
        return;
    }
    barrier();
    // What threads wrote that have returned since is there, too.
    out[tid] = s[69 - tid];
}

#[test]
fn a_barrier_after_some_threads_have_returned() {
    clean(|ctx| {
        let mut out = zeros(ctx, 70)?;
        ctx.enqueue_function(returns_early(&mut out, 35), grid_dim(1), block_dim(70))?;
        assert_eq!(out.to_host()?[0], 69);
        Ok(())
    });
}

#[kernel]
fn same_thread(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([100]));
    let tid = thread_idx().x;
    for k in 0..4u32 {
        s[tid] = k;
        out[tid] = s[tid] + out[tid];
    }
}

#[test]
fn a_thread_and_its_own_element() {
    clean(|ctx| {
        let mut out = zeros(ctx, 100)?;
        ctx.enqueue_function(same_thread(&mut out), grid_dim(1), block_dim(100))?;
        assert_eq!(out.to_host()?[99], 6);
        Ok(())
    });
}

#[kernel]
fn tiles_apart(out: &mut TileTensor<u32, 2>) {
    let tile = out.tile([4, 8], [block_idx().y, block_idx().x]);
    let (x, y) = (thread_idx().x, thread_idx().y);
    if y < tile.dim(0) && x < tile.dim(1) {
        tile[[y, x]] = tile[[y, x]] + (x + 10 * y) as u32;
    }
}

#[test]
fn blocks_with_tiles_of_their_own() {
    clean(|ctx| {
        let mut out = ctx.zeros(row_major([10, 21]))?;
        ctx.enqueue_function(tiles_apart(&mut out), grid_dim((3, 3)), block_dim((8, 4)))?;
        assert_eq!(out.to_host()?[22], 11);
        Ok(())
    });
}

#[kernel]
fn lanes_apart(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let s = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([40]));
    let tid = thread_idx().x;
    s.store(4 * tid, a.load(4 * tid, 4));
    barrier();
    let v = s.load(36 - 4 * tid, 4);
    // Two threads write the two halves of four neighbours.
    out.store(4 * tid, v);
}

#[test]
fn vectors_side_by_side() {
    clean(|ctx| {
        let a = ctx.tensor_from_fn(row_major([40]), |[i]| i as f32)?;
        let mut out = zeros(ctx, 40)?;
        ctx.enqueue_function(lanes_apart(&mut out, &a), grid_dim(1), block_dim(10))?;
        assert_eq!(out.to_host()?[..4], [36.0, 37.0, 38.0, 39.0]);
        Ok(())
    });
}

#[kernel]
fn guarded_by_or(head: &mut TileTensor<bool, 1>, a: &TileTensor<u32, 1>) {
    let i = thread_idx().x;
    head[i] = i == 0 || a[i - 1] != a[i];
}

/// EXPR-1
#[test]
fn an_index_guarded_by_or() {
    clean(|ctx| {
        let a = vector(ctx, &[4u32, 4, 7, 7, 7, 2, 2, 9])?;
        let mut head = zeros(ctx, 8)?;
        ctx.enqueue_function(guarded_by_or(&mut head, &a), grid_dim(1), block_dim(8))?;
        assert_eq!(head.to_host()?, [true, false, true, false, false, true, false, true]);
        Ok(())
    });
}

#[kernel]
fn round_robin(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, n: usize) {
    let i = thread_idx().x;
    out[i] = a[(i + n - 1) % n] + a[(i + 1) % n];
}

#[test]
fn an_index_that_goes_round() {
    clean(|ctx| {
        let a = vector(ctx, &[1u32, 2, 3, 4])?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(round_robin(&mut out, &a, 4), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [6, 4, 6, 4]);
        Ok(())
    });
}

#[kernel]
fn neighbour(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, n: usize, #[comptime] way: u32) {
    let i = thread_idx().x;
    let j = match way {
        0 => (i - 1) % n, // left
        1 => (i - 1 + n) % n,
        2 => (i - 2).min(n - 1), // clamp
        3 => (i + n - 1) % n,
        _ => (n - 1 - i) / 2 + (n - i) % 2,
    };
    out[i] = a[j];
}

#[test]
fn index_arithmetic_that_wraps_and_comes_out_inside() {
    let launch = |way| {
        move |ctx: &DeviceContext| {
            let a = vector(ctx, &[1u32, 2, 3, 4, 5, 6, 7, 8])?;
            let mut out = zeros(ctx, 8)?;
            ctx.enqueue_function(neighbour(&mut out, &a, 8, way), grid_dim(1), block_dim(8))
        }
    };
    let wrapped = report(launch(0));
    assert_found(&wrapped, &[("overflow", &["left"], 1, 0)]);
    assert_eq!(crate::harness::parties(&wrapped.findings[0]), [(0, 0)]);
    assert_found(&report(launch(1)), &[]);
    assert_found(&report(launch(2)), &[("overflow", &["clamp"], 2, 0)]);
    assert_found(&report(launch(3)), &[]);
    assert_found(&report(launch(4)), &[]);
}

#[kernel]
fn many_readers(out: &mut TileTensor<usize, 1>, writer: usize, #[comptime] wait: bool) {
    let s = stack_allocation::<usize, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    if tid == 0 {
        s[0] = 1;
    }
    barrier();
    let mut sum = 0;
    // Threads 0 to 5 read in this order, each twice.
    for round in 0..12usize {
        if round % 6 == tid {
            sum += s[0]; // read
        }
    }
    if wait {
        barrier();
    }
    if tid == writer {
        s[0] = 2; // write
    }
    out[tid] = sum;
}

#[test]
fn several_readers_and_a_writer() {
    for writer in [0usize, 3, 5] {
        let launch = |wait| {
            move |ctx: &DeviceContext| {
                let mut out = zeros(ctx, 6)?;
                ctx.enqueue_function(many_readers(&mut out, writer, wait), grid_dim(1), block_dim(6))
            }
        };
        assert_found(&report(launch(true)), &[]);
        let found = report(launch(false));
        assert_eq!(found.findings.len(), 1, "{found}");
        assert_eq!(crate::harness::lines(&found.findings[0]), ["read", "write"]);
    }
}

#[kernel]
fn matmul(c: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, b: &TileTensor<f32, 2>, n: usize) {
    let a_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([4, 4]));
    let b_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([4, 4]));
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (row, col) = (block_idx().y * 4 + y, block_idx().x * 4 + x);
    let mut acc = 0.0;
    for tile in 0..n.div_ceil(4) {
        a_shared[[y, x]] = 0.0;
        b_shared[[y, x]] = 0.0;
        if row < n && tile * 4 + x < n {
            a_shared[[y, x]] = a[[row, tile * 4 + x]];
        }
        if tile * 4 + y < n && col < n {
            b_shared[[y, x]] = b[[tile * 4 + y, col]];
        }
        barrier();
        for k in comptime(0..4usize) {
            acc += a_shared[[y, k]] * b_shared[[k, x]];
        }
        barrier();
    }
    if row < n && col < n {
        c[[row, col]] = acc;
    }
}

#[test]
fn a_tiled_matrix_product_of_a_ragged_size() {
    clean(|ctx| {
        let n = 10;
        let a = ctx.tensor_from_fn(row_major([n, n]), |[i, j]| (i + j) as f32)?;
        let b = ctx.tensor_from_fn(row_major([n, n]), |[i, j]| (i * j) as f32)?;
        let mut c = ctx.zeros(row_major([n, n]))?;
        ctx.enqueue_function(matmul(&mut c, &a, &b, n), grid_dim((3, 3)), block_dim((4, 4)))?;
        assert_eq!(c.to_host()?[n + 1], (0..10).map(|k| (1 + k) as f32 * k as f32).sum::<f32>());
        Ok(())
    });
}
