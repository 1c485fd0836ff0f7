//! Accesses outside a tensor.

use tilewise::prelude::*;
use tilewise::report::Kind;

use crate::harness::{assert_found, clean, parties, report, vector, zeros};

#[kernel]
fn add_ten(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, #[comptime] guard: bool) {
    let gid = thread_idx().x;
    if guard {
        if gid < 11 {
            out[gid] = a[gid] + 10;
        }
    } else {
        out[gid] = a[gid] + 10; // add
    }
}

/// OOB-1
#[test]
fn a_missing_guard() {
    let launch = |guard| {
        move |ctx: &DeviceContext| {
            let a = vector(ctx, &(0..11).collect::<Vec<u32>>())?;
            let mut out = zeros(ctx, 11)?;
            ctx.enqueue_function(add_ten(&mut out, &a, guard), grid_dim(1), block_dim(16))
        }
    };
    let found = report(launch(false));
    assert_found(&found, &[("bounds", &["add"], 5, 5), ("bounds", &["add"], 5, 5)]);
    for (finding, tensor) in found.findings.iter().zip(["a", "out"]) {
        let Kind::OutOfBounds { dim, index, extent, .. } = finding.kind else { panic!("{finding}") };
        assert_eq!((dim, index, extent), (0, 11, 11));
        assert_eq!(finding.element.as_ref().unwrap().memory, tensor);
        assert_eq!(parties(finding), [(0, 11)]);
    }
    assert_found(&report(launch(true)), &[]);
}

#[kernel]
fn copy_rows(out: &mut TileTensor<u32, 2>, a: &TileTensor<u32, 2>, columns: usize) {
    let (x, y) = (thread_idx().x, thread_idx().y);
    if y < 3 && x < columns {
        out[[y, x]] = a[[y, x]]; // copy
    }
}

/// OOB-3 and the first part of DIAG-3
#[test]
fn a_column_beyond_its_extent() {
    let launch = |columns| {
        move |ctx: &DeviceContext| {
            let a = ctx.tensor_from_fn(row_major([3, 5]), |[r, c]| (10 * r + c) as u32)?;
            let mut out = ctx.zeros(row_major([3, 5]))?;
            ctx.enqueue_function(copy_rows(&mut out, &a, columns), grid_dim(1), block_dim((8, 4)))
        }
    };
    let found = report(launch(8));
    assert_found(&found, &[("bounds", &["copy"], 9, 9), ("bounds", &["copy"], 9, 9)]);
    assert_eq!(found.kernel, "copy_rows");
    for finding in &found.findings {
        let Kind::OutOfBounds { dim, index, extent, ref extents } = finding.kind else { panic!("{finding}") };
        assert_eq!((dim, index, extent, &extents[..]), (1, 5, 5, &[3, 5][..]));
        assert_eq!(finding.element.as_ref().unwrap().index, [0, 5]);
        assert_eq!((finding.parties[0].block, finding.parties[0].thread), ([0; 3], [5, 0, 0]));
    }
    assert_found(&report(launch(5)), &[]);
}

#[kernel]
fn second_column(out: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 2>(AddressSpace::Shared, row_major([4, 2]));
    let tid = thread_idx().x;
    s[[tid, 1]] = 3; // fill
    barrier();
    out[tid] = s[[min(tid, 3), 1]];
}

/// A constant index that is always inside belongs to the element all the same; each block has elements of its own.
#[test]
fn an_index_that_is_proved_beforehand_is_told() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(second_column(&mut out), grid_dim(1), block_dim(6))
    });
    assert_found(&found, &[("bounds", &["fill"], 2, 2)]);
    let Kind::OutOfBounds { dim, ref extents, .. } = found.findings[0].kind else { panic!("{found}") };
    assert_eq!((dim, &extents[..]), (0, &[4, 2][..]));
    assert_eq!(crate::harness::element(&found.findings[0]), "s[4, 1]");
}

#[kernel]
fn own_array(out: &mut TileTensor<u32, 1>, shift: usize) {
    let own = stack_allocation::<u32, 2>(AddressSpace::Local, row_major([2, 2]));
    let tid = thread_idx().x;
    for i in 0..2 {
        own[[i + shift, 0]] = 1; // fill
        own[[i + shift, 1]] = 2;
    }
    out[tid] = own[[1, 0]];
}

/// Each thread has an array of its own, so that none of the elements is that of another thread.
#[test]
fn elements_outside_the_arrays_of_threads() {
    let launch = |shift| {
        move |ctx: &DeviceContext| {
            let mut out = zeros(ctx, 5)?;
            ctx.enqueue_function(own_array(&mut out, shift), grid_dim(2), block_dim(5))
        }
    };
    // In both rounds and blocks: five threads, two rows that are not there.
    let found = report(launch(7));
    assert_eq!((found.findings[0].count, found.findings[0].elements), (20, 20), "{found}");
    assert_eq!(crate::harness::lines(&found.findings[0]), ["fill"]);
    // Only the second round.
    let found = report(launch(1));
    assert_eq!((found.findings[0].count, found.findings[0].elements), (10, 10), "{found}");
}

#[kernel]
fn through_a_slice(out: &mut TileTensor<usize, 1>, a: &TileTensor<usize, 1>) {
    let tid = thread_idx().x;
    let v = a.slice([4..9]);
    out[tid] = v[tid]; // read
}

/// OOB-5
#[test]
fn a_view_inside_a_larger_tensor() {
    let found = report(|ctx| {
        let a = vector(ctx, &(0..20).map(|i| i * i).collect::<Vec<usize>>())?;
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(through_a_slice(&mut out, &a), grid_dim(1), block_dim(6))
    });
    assert_found(&found, &[("bounds", &["read"], 1, 1)]);
    let Kind::OutOfBounds { index, extent, .. } = found.findings[0].kind else { panic!("{found}") };
    assert_eq!((index, extent, parties(&found.findings[0])), (5, 5, vec![(0, 5)]));
}

#[kernel]
fn histogram(hist: &mut TileTensor<u32, 1>, idx: &TileTensor<i32, 1>) {
    let j = idx[thread_idx().x];
    hist.atomic(j as usize).fetch_add(1); // count
}

/// OOB-7
#[test]
fn an_index_from_data() {
    let found = report(|ctx| {
        let idx = vector(ctx, &[0, 3, -2, 1, 4, 3])?;
        let mut hist = zeros(ctx, 4)?;
        ctx.enqueue_function(histogram(&mut hist, &idx), grid_dim(1), block_dim(6))
    });
    assert_found(&found, &[("bounds", &["count"], 2, 2)]);
    let Kind::OutOfBounds { index, .. } = found.findings[0].kind else { panic!("{found}") };
    assert_eq!((index as i64, parties(&found.findings[0])), (-2, vec![(0, 2)]));
}

#[kernel]
fn bytes(out: &mut TileTensor<u8, 1>) {
    let tid = thread_idx().x;
    if tid != 5 {
        out[tid] = (0xF0 + tid) as u8;
    }
}

/// NARROW-3
#[test]
fn neighbouring_bytes_are_apart() {
    clean(|ctx| {
        let mut out = ctx.full(row_major([8]), 0x11u8)?;
        ctx.enqueue_function(bytes(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0x11, 0xF6, 0xF7]);
        Ok(())
    });
}

#[kernel]
fn from_float(out: &mut TileTensor<u32, 1>, x: f32) {
    out[x as usize] = 1; // outside
}

/// The largest index need not be one below 0.
#[test]
fn an_index_from_a_float_out_of_range() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(from_float(&mut out, 1e30), grid_dim(1), block_dim(1))
    });
    let text = found.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("If it comes from a float by `as`, the float is too large"), "{text}");
}
