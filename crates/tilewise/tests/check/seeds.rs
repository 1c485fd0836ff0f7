//! The tutorials' kernels, each with one thing wrong at a time: every mistake is found, at the right lines.

use tilewise::prelude::*;
use tilewise::report::{Kind, Report, Severity};

use crate::harness::{assert_found, clean, element, lines, parties, report, vector, what, zeros};

/// What is wrong with a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    NoFirstBarrier,
    NoSecondBarrier,
    NoGuard,
    GuardOffByOne,
    NoInnerGuard,
    InnerGuardOffByOne,
    NoLastGuard,
    LastGuardOffByOne,
    /// Of the dimension that threads do not go along, in a matrix product.
    OtherGuardOffByOne,
    SharedTooSmall,
}

use Wrong::*;

const TPB: usize = 8;

/// Puzzle 12.
#[kernel]
fn dot_product(
    output: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    b: &TileTensor<f32, 1>,
    size: usize,
    #[comptime] wrong: Wrong,
) {
    let small = (wrong == SharedTooSmall) as usize;
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([TPB - small]));
    let global_i = block_dim().x * block_idx().x + thread_idx().x;
    let local_i = thread_idx().x;
    let inside = match wrong {
        NoGuard => global_i < size + 100,
        GuardOffByOne => global_i < size + 1,
        _ => global_i < size,
    };
    if inside {
        shared[local_i] = a[global_i] * b[global_i]; // multiply
    }
    if wrong != NoFirstBarrier {
        barrier();
    }
    let mut stride = TPB / 2;
    while stride > 0 {
        let adds = match wrong {
            NoInnerGuard => local_i < 100,
            InnerGuardOffByOne => local_i < stride + 1,
            _ => local_i < stride,
        };
        if adds {
            shared[local_i] += shared[local_i + stride]; // add
        }
        if wrong != NoSecondBarrier {
            barrier();
        }
        stride /= 2;
    }
    let gives = match wrong {
        NoLastGuard => local_i < 100,
        LastGuardOffByOne => local_i <= 1,
        _ => local_i == 0,
    };
    if gives {
        output[0] = shared[0]; // result
    }
}

fn dot(wrong: Wrong, size: usize, threads: usize) -> Report {
    report(|ctx| {
        let a = ctx.tensor_from_fn(row_major([size]), |[i]| i as f32 + 1.0)?;
        let b = ctx.tensor_from_fn(row_major([size]), |[i]| 2.0 + i as f32)?;
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(dot_product(&mut out, &a, &b, size, wrong), grid_dim(1), block_dim(threads))
    })
}

/// Kinds and lines of the errors and warnings.
fn mistakes(report: &Report) -> Vec<(&'static str, Vec<String>)> {
    let all = report.findings.iter().filter(|finding| finding.severity != Severity::Advice);
    all.map(|finding| (what(finding), lines(finding))).collect()
}

#[track_caller]
fn assert_has(report: &Report, kind: &str, at: &[&str]) {
    let found = mistakes(report);
    assert!(found.iter().any(|(what, lines)| *what == kind && lines == at), "{kind} at {at:?}\n{report}");
}

#[test]
fn the_dot_product() {
    assert_found(&dot(Nothing, TPB, TPB), &[]);
    let found = dot(NoFirstBarrier, TPB, TPB);
    assert_has(&found, "write-read", &["multiply", "add"]);
    assert_eq!(
        (element(&found.findings[0]), parties(&found.findings[0])),
        ("shared[4]".to_owned(), vec![(0, 4), (0, 0)])
    );
    assert_has(&dot(NoSecondBarrier, TPB, TPB), "write-read", &["add", "add"]);
    assert_has(&dot(NoGuard, TPB - 2, TPB), "bounds", &["multiply"]);
    assert_has(&dot(GuardOffByOne, TPB - 1, TPB), "bounds", &["multiply"]);
    assert_has(&dot(NoInnerGuard, TPB, TPB), "bounds", &["add"]);
    assert_has(&dot(NoInnerGuard, TPB, TPB), "read-write", &["add", "add"]);
    assert_has(&dot(InnerGuardOffByOne, TPB, TPB), "bounds", &["add"]);
    assert_has(&dot(InnerGuardOffByOne, TPB, TPB), "read-write", &["add", "add"]);
    for wrong in [NoLastGuard, LastGuardOffByOne] {
        assert_has(&dot(wrong, TPB, TPB), "harmless write-write", &["result"]);
    }
    assert_has(&dot(SharedTooSmall, TPB, TPB), "bounds", &["multiply"]);
    // A block one too large, of which each thread has something to do.
    assert_has(&dot(Nothing, TPB + 1, TPB + 1), "bounds", &["multiply"]);
}

/// The tutorial's own dot product, where the size is no multiple of the block: it adds elements of shared memory that
/// nobody has written.
#[test]
fn the_dot_product_of_another_size() {
    let found = dot(Nothing, TPB - 2, TPB);
    assert_found(&found, &[("unwritten", &["add"], 2, 2)]);
    assert_eq!(
        (element(&found.findings[0]), parties(&found.findings[0])),
        ("shared[6]".to_owned(), vec![(0, 2)])
    );
}

/// The worked example of the documentation: the values in a report on the dot product without its barrier.
#[test]
fn what_a_thread_reads_too_early() {
    let found = dot(NoSecondBarrier, TPB, TPB);
    let race = found.first_error().expect("a race");
    let Kind::Race { right, wrong, .. } = race.kind else { panic!("{found}") };
    // shared[2] is 3 * 4, and 12 + 7 * 8 once thread 2 has added.
    assert_eq!(
        (element(race), right.to_string(), wrong.to_string()),
        ("shared[2]".to_owned(), "68.0".to_owned(), "12.0".to_owned())
    );
    assert_eq!(parties(race), [(0, 2), (0, 0)]);
}

const TILE: usize = 3;

/// Puzzle 16 by tiles: for any size.
#[kernel]
fn matmul(
    output: &mut TileTensor<f32, 2>,
    a: &TileTensor<f32, 2>,
    b: &TileTensor<f32, 2>,
    size: usize,
    #[comptime] wrong: Wrong,
) {
    let small = (wrong == SharedTooSmall) as usize;
    let a_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE - small, TILE]));
    let b_shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([TILE, TILE - small]));
    let (local_row, local_col) = (thread_idx().y, thread_idx().x);
    let row = block_dim().y * block_idx().y + local_row;
    let col = block_dim().x * block_idx().x + local_col;
    let mut acc = 0.0;
    for tile in 0..size.div_ceil(TILE) {
        let (a_col, b_row) = (tile * TILE + local_col, tile * TILE + local_row);
        let (in_a, in_b) = match wrong {
            NoGuard => (row < size + 100, col < size + 100),
            GuardOffByOne => (row < size && a_col <= size, b_row <= size && col < size),
            OtherGuardOffByOne => (row <= size && a_col < size, b_row < size && col <= size),
            _ => (row < size && a_col < size, b_row < size && col < size),
        };
        if in_a {
            a_shared[[local_row, local_col]] = a[[row, a_col]]; // load a
        } else if wrong != NoInnerGuard {
            a_shared[[local_row, local_col]] = 0.0;
        }
        if in_b {
            b_shared[[local_row, local_col]] = b[[b_row, col]]; // load b
        } else {
            b_shared[[local_row, local_col]] = 0.0;
        }
        if wrong != NoFirstBarrier {
            barrier();
        }
        for k in comptime(0..TILE) {
            acc += a_shared[[local_row, k]] * b_shared[[k, local_col]]; // product
        }
        if wrong != NoSecondBarrier {
            barrier();
        }
    }
    let gives = match wrong {
        NoLastGuard => row < size + 100,
        LastGuardOffByOne => row <= size && col <= size,
        _ => row < size && col < size,
    };
    if gives {
        output[[row, col]] = acc; // result
    }
}

fn product(wrong: Wrong, size: usize, threads: usize) -> Report {
    report(|ctx| {
        let a = ctx.tensor_from_fn(row_major([size, size]), |[i, j]| (10 * i + j) as f32)?;
        let b = ctx.tensor_from_fn(row_major([size, size]), |[i, j]| (i + 7 * j) as f32)?;
        let mut out = ctx.zeros(row_major([size, size]))?;
        let blocks = size.div_ceil(TILE);
        ctx.enqueue_function(
            matmul(&mut out, &a, &b, size, wrong),
            grid_dim((blocks, blocks)),
            block_dim((threads, threads)),
        )
    })
}

#[test]
fn the_matrix_product() {
    assert_found(&product(Nothing, 6, TILE), &[]);
    assert_found(&product(Nothing, 5, TILE), &[]);
    for (wrong, first, second) in
        [(NoFirstBarrier, "write-read", false), (NoSecondBarrier, "read-write", true)]
    {
        let found = product(wrong, 6, TILE);
        for load in ["load a", "load b"] {
            let at = if second { ["product", load] } else { [load, "product"] };
            assert_has(&found, first, &at);
        }
    }
    for at in ["load a", "load b"] {
        assert_has(&product(NoGuard, 5, TILE), "bounds", &[at]);
        assert_has(&product(GuardOffByOne, 5, TILE), "bounds", &[at]);
        assert_has(&product(OtherGuardOffByOne, 5, TILE), "bounds", &[at]);
        assert_has(&product(SharedTooSmall, 6, TILE), "bounds", &[at]);
        assert_has(&product(Nothing, 6, TILE + 1), "bounds", &[at]);
    }
    assert_has(&product(NoInnerGuard, 4, TILE), "unwritten", &["product"]);
    for wrong in [NoLastGuard, LastGuardOffByOne] {
        assert_has(&product(wrong, 5, TILE), "bounds", &["result"]);
    }
}

const WIDTH: usize = 4;
const CHUNK: usize = 8;

/// Puzzle 23: each thread adds a tile of its own with vectors.
#[kernel]
fn vectorised_add(
    output: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    b: &TileTensor<f32, 1>,
    size: usize,
    #[comptime] wrong: Wrong,
) {
    let start = (block_dim().x * block_idx().x + thread_idx().x) * CHUNK;
    let end = match wrong {
        NoGuard => start + CHUNK,
        GuardOffByOne => (start + CHUNK).min(size + 1),
        _ => (start + CHUNK).min(size),
    };
    let count = select(start < end, end - start, 0);
    let overlap = (wrong == NoInnerGuard) as usize;
    vectorize(WIDTH, count + overlap, |width, i| {
        let sum = a.load(start + i, width) + b.load(start + i, width); // sum
        output.store(start + i, sum); // store
    });
}

fn vectors(wrong: Wrong, size: usize, threads: usize) -> Report {
    report(|ctx| {
        let a = ctx.tensor_from_fn(row_major([size]), |[i]| i as f32)?;
        let mut out = zeros(ctx, size)?;
        ctx.enqueue_function(vectorised_add(&mut out, &a, &a, size, wrong), grid_dim(1), block_dim(threads))
    })
}

#[test]
fn the_vectorised_addition() {
    for size in [32, 30, 31, 25] {
        assert_found(&vectors(Nothing, size, 4), &[]);
    }
    // A thread too many has nothing to do.
    assert_found(&vectors(Nothing, 32, 5), &[]);
    for wrong in [NoGuard, GuardOffByOne] {
        assert_has(&vectors(wrong, 30, 4), "bounds", &["sum"]);
        assert_has(&vectors(wrong, 30, 4), "bounds", &["store"]);
    }
    assert_has(&vectors(NoGuard, 32, 5), "bounds", &["sum"]);
    // One element more than its own: the next thread's.
    assert_has(&vectors(NoInnerGuard, 32, 4), "harmless write-write", &["store"]);
}

#[kernel]
fn double_by_fours(
    out: &mut TileTensor<f32, 1>,
    a: &TileTensor<f32, 1>,
    start: usize,
    #[comptime] aligned: bool,
) {
    let v = a.slice([start..start + 8]);
    let at = 4 * thread_idx().x;
    let x = if aligned { v.aligned_load(at, 4) } else { v.load(at, 4) }; // load
    out.store(at, x * 2.0);
}

/// VEC-1
#[test]
fn a_claim_of_alignment_that_does_not_hold() {
    let launch = |start, aligned| {
        move |ctx: &DeviceContext| {
            let a = ctx.tensor_from_fn(row_major([12]), |[i]| i as f32)?;
            let mut out = zeros(ctx, 8)?;
            ctx.enqueue_function(double_by_fours(&mut out, &a, start, aligned), grid_dim(1), block_dim(2))
        }
    };
    assert_found(&report(launch(1, false)), &[]);
    assert_found(&report(launch(0, true)), &[]);
    assert_found(&report(launch(4, true)), &[]);
    let found = report(launch(1, true));
    assert_found(&found, &[("misaligned", &["load"], 2, 0)]);
    let Kind::Misaligned { align, remainder } = found.findings[0].kind else { panic!("{found}") };
    assert_eq!((align, remainder, parties(&found.findings[0])), (16, 4, vec![(0, 0)]));
}

#[kernel]
fn row_sums(sum: &mut TileTensor<f32, 1>, m: &TileTensor<f32, 2>, #[comptime] aligned: bool) {
    let r = thread_idx().x;
    let first = if aligned { m.aligned_load([r, 0], 4) } else { m.load([r, 0], 4) }; // row
    sum[r] = first.reduce_add() + m[[r, 4]];
}

/// VEC-3
#[test]
fn rows_of_five_are_not_aligned() {
    let launch = |pitch: usize, aligned| {
        move |ctx: &DeviceContext| {
            let m = ctx.tensor_from_fn(Layout::new((3, 5), (pitch, 1))?, |[r, c]| (10 * r + c) as f32)?;
            let mut sum = zeros(ctx, 3)?;
            ctx.enqueue_function(row_sums(&mut sum, &m, aligned), grid_dim(1), block_dim(3))
        }
    };
    assert_found(&report(launch(5, false)), &[]);
    assert_found(&report(launch(8, true)), &[]);
    let found = report(launch(5, true));
    assert_found(&found, &[("misaligned", &["row"], 2, 0)]);
    assert_eq!(parties(&found.findings[0]), [(0, 1)]);
}

#[kernel]
fn add_rows(b: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    for i in 0..2 {
        vectorize(8, 8, |width, j| {
            b[i] += a.load(8 * i + j, width).reduce_add();
        });
    }
}

/// VEC-5
#[test]
fn lanes_that_are_added_into_one_element() {
    clean(|ctx| {
        let a = ctx.tensor_from_fn(row_major([16]), |[k]| k as u32 + 1)?;
        let mut b = vector(ctx, &[100, 200])?;
        ctx.enqueue_function(add_rows(&mut b, &a), grid_dim(1), block_dim(1))?;
        assert_eq!(b.to_host()?, [136, 300]);
        Ok(())
    });
}
