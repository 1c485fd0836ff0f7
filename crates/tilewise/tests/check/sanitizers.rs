//! Puzzle 10: a missing guard whose result is right all the same, and four threads that add to one cell.

use tilewise::prelude::*;
use tilewise::report::{Kind, Report};

use crate::harness::{assert_found, clean, report, what};

const SIZE: usize = 2;

#[kernel]
fn add_ten_2d(output: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>, #[comptime] guard: bool) {
    let (row, col) = (thread_idx().y, thread_idx().x);
    if guard {
        if row < SIZE && col < SIZE {
            output[[row, col]] = a[[row, col]] + 10.0;
        }
    } else {
        output[[row, col]] = a[[row, col]] + 10.0; // add
    }
}

/// The same on memory without rows and columns.
#[kernel]
fn add_ten_flat(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = SIZE * thread_idx().y + thread_idx().x;
    output[i] = a[i] + 10.0; // flat
}

/// How many threads read outside.
fn threads_outside(report: &Report) -> u64 {
    let reads = report.findings.iter().filter(|finding| {
        matches!(finding.kind, Kind::OutOfBounds { .. })
            && finding.element.as_ref().is_some_and(|element| element.memory == "a")
    });
    reads.map(|finding| finding.count).sum()
}

/// Five of nine threads are outside a row or column. Four of them leave the memory; thread (2, 0) gets at the third element.
#[test]
fn five_threads_are_outside_of_which_four_leave_the_memory() {
    let in_two = |guard| {
        move |ctx: &DeviceContext| {
            let a = ctx.tensor_from_fn(row_major([SIZE, SIZE]), |[row, col]| (SIZE * row + col) as f32)?;
            let mut output = ctx.zeros::<f32, 2>(row_major([SIZE, SIZE]))?;
            ctx.enqueue_function(add_ten_2d(&mut output, &a, guard), grid_dim(1), block_dim((3, 3)))
        }
    };
    let found = report(in_two(false));
    assert_eq!(threads_outside(&found), 5, "{found}");
    clean(in_two(true));

    let found = report(|ctx| {
        let a = ctx.tensor_from_fn(row_major([SIZE * SIZE]), |[i]| i as f32)?;
        let mut output = ctx.zeros::<f32, 1>(row_major([SIZE * SIZE]))?;
        ctx.enqueue_function(add_ten_flat(&mut output, &a), grid_dim(1), block_dim((3, 3)))
    });
    assert_eq!(threads_outside(&found), 4, "{found}");
    // Thread (2, 0) reads and writes the element of thread (0, 1).
    assert!(found.findings.iter().any(|finding| what(finding).ends_with("write-write")), "{found}");
}

#[kernel]
fn sum_in_one_cell(output: &mut TileTensor<f32, 2>, a: &TileTensor<f32, 2>) {
    let sum = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([1]));
    let (row, col) = (thread_idx().y, thread_idx().x);
    if row < SIZE && col < SIZE {
        sum[0] += a[[row, col]]; // sum
    }
    barrier();
    if row < SIZE && col < SIZE {
        output[[row, col]] = sum[0];
    }
}

/// One cell, four threads: each write with the reads of the three others, and what each adds to was written by nobody.
#[test]
fn four_threads_add_to_one_cell() {
    let found = report(|ctx| {
        let a = ctx.tensor_from_fn(row_major([SIZE, SIZE]), |[row, col]| (SIZE * row + col) as f32)?;
        let mut output = ctx.zeros::<f32, 2>(row_major([SIZE, SIZE]))?;
        ctx.enqueue_function(sum_in_one_cell(&mut output, &a), grid_dim(1), block_dim((3, 3)))
    });
    assert_found(
        &found,
        &[
            ("unwritten", &["sum"], 4, 1),
            ("read-write", &["sum", "sum"], 12, 1),
            // Each with the write before it.
            ("write-write", &["sum"], 3, 1),
        ],
    );
}
