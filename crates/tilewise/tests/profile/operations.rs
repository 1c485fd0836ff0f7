//! How much is computed: puzzles 16 and 33, matrix products by elements and by tiles; branches and loops.

use tilewise::prelude::*;
use tilewise::report::profile::Profile;

use crate::harness::profile;

const TILE: usize = 32;

/// By tiles in shared memory; `n` is a multiple of the tile.
#[kernel]
fn tiled(c: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, b: &TileTensor<f32, 2>, n: usize) {
    let a_tile = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let b_tile = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE]));
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (row, col) = (TILE * block_idx().y + y, TILE * block_idx().x + x);
    let mut sum = 0.0;
    for tile in 0..n / TILE {
        a_tile[[y, x]] = a[[row, TILE * tile + x]];
        b_tile[[y, x]] = b[[TILE * tile + y, col]];
        barrier();
        for k in 0..TILE {
            sum += a_tile[[y, k]] * b_tile[[k, x]];
        }
        barrier();
    }
    c[[row, col]] = sum;
}

fn matmul(n: usize) -> Profile {
    profile(|ctx| {
        let a = ctx.tensor_from_fn(row_major([n, n]), |[i, k]| ((i + k) % 5) as f32)?;
        let b = ctx.tensor_from_fn(row_major([n, n]), |[k, j]| ((2 * k + j) % 7) as f32)?;
        let mut c = ctx.zeros::<f32, 2>(row_major([n, n]))?;
        let launch = tiled(&mut c, &a, &b, n);
        ctx.enqueue_function(launch, grid_dim((n / TILE, n / TILE)), block_dim((TILE, TILE)))?;
        let c = c.to_host()?;
        let expected =
            |i: usize, j: usize| (0..n).map(|k| ((i + k) % 5 * ((2 * k + j) % 7)) as f32).sum::<f32>();
        assert!([(0, 0), (3, 17), (n - 1, n - 1)].iter().all(|&(i, j)| c[n * i + j] == expected(i, j)));
        Ok(())
    })
}

/// A tensor core's operation on 16 x 8 x 8 numbers is worth 2048 of these, and the product of two matrices of 128 x 128 has
/// 2048 such operations; of 1024 x 1024 it has 1048576.
#[test]
fn a_matrix_product_has_two_operations_for_each_pair() {
    const MMA: u64 = 2 * 16 * 8 * 8;
    for n in [64, 128] {
        assert_eq!(matmul(n).operations, 2 * (n * n * n) as u64);
    }
    assert_eq!(matmul(128).operations / MMA, 2048);
    assert_eq!(2 * 1024u64.pow(3) / MMA, 1_048_576);
}

/// Each element is read by as many blocks as there are tiles along the other matrix.
#[test]
fn tiles_ask_for_an_element_once_for_each_tile() {
    let global = matmul(128).global;
    assert_eq!((global.read, global.written), (2 * 4 * 128 * 128, 4 * 128 * 128));
    assert_eq!(global.requested, 4 * global.read + global.written);
}

/// What an instruction counts, in the order of the lines.
#[kernel]
fn every_kind(x: &mut TileTensor<f32, 1>, n: &mut TileTensor<i32, 1>, limit: usize) {
    let i = thread_idx().x;
    if i < limit {
        x[i] = -x[i] * 2.0; // only some
    }
    let mut k = 0;
    while k < i {
        x[i] += 1.0; // as often as the number of the thread
        k += 1;
    }
    if i >= 30 {
        return;
    }
    n[i] = (n[i] + 1) ^ 5; // who is left
    x[i] = x[i].sqrt().min(100.0); // who is left, too
}

#[test]
fn only_threads_that_come_there_count() {
    let profile = profile(|ctx| {
        let mut x = ctx.full::<f32, 1>(row_major([32]), 4.0)?;
        let mut n = ctx.full::<i32, 1>(row_major([32]), 4)?;
        ctx.enqueue_function(every_kind(&mut x, &mut n, 5), grid_dim(3), block_dim(32))
    });
    let operations: Vec<_> = profile.lines.iter().map(|line| line.operations).collect();
    assert_eq!(operations, [3 * 5, 3 * (0..32).sum::<u64>(), 3 * 2 * 30, 3 * 2 * 30]);
    assert_eq!(profile.operations, operations.iter().sum::<u64>());
}

/// Vectors count each component, fused or not; variables and indices cost nothing.
#[kernel]
fn polynomial(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = 4 * thread_idx().x;
    let x = a.load(i, 4);
    let mut y = x * 0.5;
    y = y * x + 1.0;
    output.store(i, y * x - 2.0);
}

#[test]
fn vectors_count_each_component() {
    let profile = profile(|ctx| {
        let a = ctx.full::<f32, 1>(row_major([128]), 4.0)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([128]))?;
        ctx.enqueue_function(polynomial(&mut output, &a), grid_dim(1), block_dim(32))
    });
    assert_eq!(profile.operations, 128 * 5);
}

/// Products that are used once, by a sum that runs more often, less often, or in another line.
#[kernel]
fn apart(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, rounds: usize, limit: usize) {
    let i = thread_idx().x;
    let product = a[i] * a[i]; // once
    let mut sum = a[i];
    for _ in 0..rounds {
        sum += product; // each round
    }
    let other = a[i] * sum; // once, too
    let third = a[i] * 0.5; // once as well
    if i < limit {
        output[i] = sum - other; // some
    }
    if i % 2 == 1 {
        return;
    }
    output[i] = third + 1.0; // half
}

#[test]
fn what_is_fused_counts_where_it_stands() {
    let profile = profile(|ctx| {
        let a = ctx.full::<f32, 1>(row_major([64]), 4.0)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([64]))?;
        ctx.enqueue_function(apart(&mut output, &a, 5, 3), grid_dim(1), block_dim(64))
    });
    let operations: Vec<_> =
        profile.lines.iter().map(|line| line.operations).filter(|&count| count > 0).collect();
    assert_eq!(operations, [64, 64 * 5, 64, 64, 3, 32]);
    assert_eq!(profile.operations, operations.iter().sum::<u64>());
}
