//! Accesses outside a tensor: they read zero or write nothing, and the first is reported.

use tilewise::ir::{AccessKind, FaultKind};
use tilewise::prelude::*;

use crate::harness::{each_device, fault, source_line, vector, zeros};

/// What a report says of an access: kind, tensor, dimension, index, extent.
fn access(report: &FaultReport) -> (AccessKind, &str, u8, i64, u64) {
    match &report.fault.kind {
        FaultKind::OutOfBounds { access, tensor, dim, index, extent } => {
            (*access, tensor, *dim, *index as i64, *extent)
        }
        other => panic!("another fault than expected: {other}"),
    }
}

#[kernel]
fn without_guard(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    out[gid] = a[gid] + 10;
}

#[kernel]
fn with_guard(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let gid = block_idx().x * block_dim().x + thread_idx().x;
    if gid < 11 {
        out[gid] = a[gid] + 10;
    }
}

/// OOB-1: behind the 11 elements there are more.
#[test]
fn a_missing_guard_is_not_hidden_by_padding() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([64]), |[i]| i as u32)?;
        let a = a.view::<1>(row_major([11]))?;
        let mut buffer = ctx.enqueue_create_buffer::<u32>(64)?;
        buffer.enqueue_fill(77)?;

        let out = buffer.view_mut::<1>(row_major([11]))?;
        ctx.enqueue_function(without_guard(out, a), grid_dim(1), block_dim(16))?;
        let report = fault(ctx);
        assert_eq!(access(&report), (AccessKind::Load, "a", 0, 11, 11));
        assert_eq!((report.fault.block, report.fault.thread), ([0, 0, 0], [11, 0, 0]));
        assert_eq!(source_line(&report.fault), "out[gid] = a[gid] + 10;");
        // Five reads and five writes.
        assert_eq!(report.more, 9);
        let host = buffer.to_host()?;
        assert_eq!(host[..11], (10..21).collect::<Vec<_>>());
        assert_eq!(host[11..], [77; 53]);

        let out = buffer.view_mut::<1>(row_major([11]))?;
        ctx.enqueue_function(with_guard(out, a), grid_dim(1), block_dim(16))?;
        ctx.synchronize()
    });
}

#[kernel]
fn rows_only(out: &mut TileTensor<i32, 2>, input: &TileTensor<i32, 2>) {
    let (x, y) = (thread_idx().x, thread_idx().y);
    if y < 3 {
        out[[y, x]] = input[[y, x]];
    }
}

#[kernel]
fn rows_and_columns(out: &mut TileTensor<i32, 2>, input: &TileTensor<i32, 2>) {
    let (x, y) = (thread_idx().x, thread_idx().y);
    if y < 3 && x < 5 {
        out[[y, x]] = input[[y, x]];
    }
}

/// OOB-3
#[test]
fn each_dimension_has_its_own_bound() {
    each_device(|ctx| {
        let input = ctx.tensor_from_fn(row_major([3, 5]), |[r, c]| (10 * r + c) as i32)?;
        let mut out = ctx.zeros::<i32, 2>(row_major([3, 5]))?;
        ctx.enqueue_function(rows_only(&mut out, &input), grid_dim(1), block_dim((8, 4)))?;
        let report = fault(ctx);
        assert_eq!(access(&report), (AccessKind::Load, "input", 1, 5, 5));
        assert_eq!(report.fault.thread, [5, 0, 0]);
        // Columns 5, 6 and 7 of three rows, read and written.
        assert_eq!(report.more, 17);
        assert_eq!(out.to_host()?, input.to_host()?);

        let mut out = ctx.zeros::<i32, 2>(row_major([3, 5]))?;
        ctx.enqueue_function(rows_and_columns(&mut out, &input), grid_dim(1), block_dim((8, 4)))?;
        ctx.synchronize()?;
        assert_eq!(out.to_host()?, input.to_host()?);
        Ok(())
    });
}

#[kernel]
fn part(out: &mut TileTensor<usize, 1>, a: &TileTensor<usize, 1>) {
    let v = a.slice([4..9]);
    let tid = thread_idx().x;
    out[tid] = v[tid];
}

/// OOB-5
#[test]
fn a_part_has_its_own_bounds() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([20]), |[i]| i * i)?;
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(part(&mut out, &a), grid_dim(1), block_dim(6))?;
        let report = fault(ctx);
        assert_eq!(access(&report), (AccessKind::Load, "a", 0, 5, 5));
        assert_eq!((report.fault.thread, report.more), ([5, 0, 0], 0));
        assert_eq!(out.to_host()?, [16, 25, 36, 49, 64, 0]);
        Ok(())
    });
}

#[kernel]
fn histogram(hist: &mut TileTensor<u32, 1>, idx: &TileTensor<i32, 1>) {
    let j = idx[thread_idx().x] as usize;
    hist.atomic(j).fetch_add(1);
}

/// OOB-7
#[test]
fn an_index_from_data_may_be_negative() {
    each_device(|ctx| {
        let idx = vector(ctx, &[0, 3, -2, 1, 4, 3])?;
        let mut hist = zeros(ctx, 4)?;
        ctx.enqueue_function(histogram(&mut hist, &idx), grid_dim(1), block_dim(6))?;
        let report = fault(ctx);
        assert_eq!(access(&report), (AccessKind::Atomic, "hist", 0, -2, 4));
        assert_eq!((report.fault.thread, report.more), ([2, 0, 0], 1));
        assert_eq!(hist.to_host()?, [1, 1, 0, 2]);
        Ok(())
    });
}

/// Two neighbours of each column of a row: 99 is passed over, 77 ends the row.
#[kernel]
fn sums_of_rows(
    out: &mut TileTensor<i32, 1>,
    starts: &TileTensor<u32, 1>,
    columns: &TileTensor<u32, 1>,
    x: &TileTensor<i32, 1>,
) {
    let row = thread_idx().x;
    let mut sum = 0;
    for k in starts[row] as usize..starts[row + 1] as usize {
        let column = columns[k] as usize;
        if column == 99 {
            continue;
        }
        if column == 77 {
            break;
        }
        for j in 0..2 {
            sum = sum * 3 + x[column + j];
        }
    }
    out[row] = sum;
}

/// A loop that only reads may be run without reports first.
#[test]
fn each_access_of_a_loop_that_only_reads_is_counted_once() {
    let starts = [0, 2, 2, 5, 9, 12, 14, 18, 16];
    let columns = [1, 6, 99, 3, 5, 7, 99, 20, 2, 4, 77, 50, 0, 7, 99, 5];
    let x = [5, -2, 7, 1, 3, 8, -4, 6];
    let mut faults = 0;
    let expected: Vec<i32> = (0..8)
        .map(|row| {
            let mut sum: i32 = 0;
            for k in starts[row]..starts[row + 1] {
                faults += u64::from(k >= columns.len());
                let column = columns.get(k).copied().unwrap_or(0);
                match column {
                    99 => continue,
                    77 => break,
                    _ => {}
                }
                for j in 0..2 {
                    faults += u64::from(column + j >= x.len());
                    sum = sum * 3 + x.get(column + j).copied().unwrap_or(0);
                }
            }
            sum
        })
        .collect();
    assert_eq!(faults, 6);
    each_device(|ctx| {
        let words = |values: &[usize]| vector(ctx, &values.iter().map(|&n| n as u32).collect::<Vec<_>>());
        let (starts, columns, x) = (words(&starts)?, words(&columns)?, vector(ctx, &x)?);
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(sums_of_rows(&mut out, &starts, &columns, &x), grid_dim(1), block_dim(8))?;
        let report = fault(ctx);
        assert_eq!(report.more, faults - 1);
        let lines = ["let column = columns[k] as usize;", "sum = sum * 3 + x[column + j];"];
        assert!(lines.contains(&source_line(&report.fault).as_str()), "{report:?}");
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

/// The indices go through shared memory and through an array of the thread.
#[kernel]
fn sums_by_copied_indices(
    out: &mut TileTensor<i32, 1>,
    at: &TileTensor<u32, 1>,
    x: &TileTensor<i32, 1>,
    count: usize,
) {
    let shared = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let mut own = [0u32; 8];
    let tid = thread_idx().x;
    shared[tid] = at[tid];
    barrier();
    for i in 0..8 {
        own[i] = shared[(i + tid) % 8];
    }
    let mut sum = 0;
    for i in 0..count {
        sum = sum * 3 + x[shared[i] as usize];
        for j in i..count {
            sum += x[own[j] as usize];
        }
    }
    out[tid] = sum;
}

#[test]
fn indices_of_a_loop_that_only_reads_may_lie_in_any_memory() {
    let at = [1, 0, 9, 3, 2, 1, 11, 0];
    let x = [5, -2, 7, 1];
    let count = 6;
    let mut faults = 0;
    let expected: Vec<i32> = (0..8)
        .map(|tid| {
            let own: Vec<usize> = (0..8).map(|i| at[(i + tid) % 8]).collect();
            let mut at_or_zero = |index: usize| {
                faults += u64::from(index >= x.len());
                x.get(index).copied().unwrap_or(0)
            };
            let mut sum = 0;
            for (i, &index) in at[..count].iter().enumerate() {
                sum = sum * 3 + at_or_zero(index);
                sum += own[i..count].iter().map(|&index| at_or_zero(index)).sum::<i32>();
            }
            sum
        })
        .collect();
    each_device(|ctx| {
        let (at, x) = (vector(ctx, &at.map(|n| n as u32))?, vector(ctx, &x)?);
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(sums_by_copied_indices(&mut out, &at, &x, count), grid_dim(1), block_dim(8))?;
        assert_eq!(fault(ctx).more, faults - 1);
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}

#[kernel]
fn shared_and_lanes(out: &mut TileTensor<f32, 1>, #[comptime] which: u32, i: usize) {
    let cells = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([2, 4]));
    cells.fill(1.0);
    match which {
        0 => out[0] = cells[[i, 0]],
        1 => cells[[0, i + 2]] = 5.0,
        2 => out.store(i, cells.load([0, i], 4)),
        _ => out[0] = cells.tile([2, 2], [0, i])[[0, 0]],
    }
}

/// The bounds of allocations, of lanes and of tiles.
#[test]
fn every_kind_of_access_is_checked() {
    let expected = [
        (AccessKind::Load, "cells", 0, 2, 2),
        (AccessKind::Store, "cells", 1, 4, 4),
        (AccessKind::Load, "cells", 1, 4, 4),
        (AccessKind::Load, "cells", 1, 0, 0),
    ];
    each_device(|ctx| {
        for (which, expected) in expected.iter().enumerate() {
            let mut out = ctx.full::<f32, 1>(row_major([6]), 3.0)?;
            ctx.enqueue_function(shared_and_lanes(&mut out, which as u32, 2), grid_dim(1), block_dim(1))?;
            assert_eq!(access(&fault(ctx)), *expected, "access {which}");
            let host = out.to_host()?;
            match which {
                1 => assert_eq!(host, [3.0; 6]),
                2 => assert_eq!(host, [3.0, 3.0, 1.0, 1.0, 0.0, 0.0]),
                _ => assert_eq!(host, [0.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
            }
        }
        Ok(())
    });
}

#[test]
#[expect(unsafe_code, reason = "what is tested is the unsafe way to launch")]
fn unchecked_launches_compute_the_same() {
    each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([16]), |[i]| i as u32)?;
        let mut out = zeros(ctx, 16)?;
        // SAFETY: 16 threads on 16 elements.
        let launch = unsafe { without_guard(&mut out, &a).unchecked() };
        ctx.enqueue_function(launch, grid_dim(1), block_dim(16))?;
        assert_eq!(out.to_host()?, (10..26).collect::<Vec<_>>());
        Ok(())
    });
}
