//! What a report is beside its findings: errors of the next read, thousands of instances as one, JSON, faults of other
//! kinds, and what cannot be checked.

use tilewise::prelude::*;
use tilewise::report::Kind;

use crate::harness::{assert_found, report, vector, zeros};

#[kernel]
fn everybody(out: &mut TileTensor<usize, 1>) {
    out[0] = thread_idx().x; // write
}

#[test]
fn an_error_is_told_once_and_the_context_lives_on() {
    let run = || -> tilewise::Result<()> {
        let ctx = DeviceContext::open("cpu")?.checked();
        let mut out = zeros::<usize>(&ctx, 1)?;
        ctx.enqueue_function(everybody(&mut out), grid_dim(1), block_dim(4))?;
        let Err(tilewise::Error::Check(report)) = out.to_host().map(drop) else { panic!("no error") };
        assert_eq!(report.kernel, "everybody");
        assert!(out.to_host().is_ok() && ctx.synchronize().is_ok());
        assert_eq!(ctx.take_reports(), [*report]);
        assert_eq!(ctx.take_reports(), []);
        Ok(())
    };
    run().unwrap();
}

#[test]
fn a_test_asserts_that_a_kernel_is_clean() {
    let launch = |threads: usize| {
        tilewise::check(|ctx| {
            let mut out = zeros::<usize>(ctx, 1)?;
            ctx.enqueue_function(everybody(&mut out), grid_dim(1), block_dim(threads))
        })
    };
    assert!(launch(1).is_ok());
    assert!(matches!(launch(2), Err(tilewise::Error::Check(_))));
}

#[kernel]
fn shift(out: &mut TileTensor<u32, 1>) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    out[i] = out[i + 1]; // shift
}

#[test]
fn thousands_are_one() {
    let found = report(|ctx| {
        let mut out = zeros(ctx, 4096 + 1)?;
        ctx.enqueue_function(shift(&mut out), grid_dim(16), block_dim(256))
    });
    // 255 pairs in each of 16 blocks, and 15 edges between them; all values are equal.
    assert_found(
        &found,
        &[
            ("harmless read-write", &["shift", "shift"], 16 * 255, 16 * 255),
            ("harmless between blocks", &["shift", "shift"], 15, 15),
        ],
    );
}

#[kernel]
fn divide(out: &mut TileTensor<i32, 1>, x: &TileTensor<i32, 1>) {
    let i = thread_idx().x;
    out[i] = 100 / x[i]; // divide
    assert!(out[i] < 60, "{} is too large", out[i]); // assert
}

#[test]
fn faults_of_single_threads() {
    let found = report(|ctx| {
        let x = vector(ctx, &[1, 0, 2, 0, 1])?;
        let mut out = zeros(ctx, 5)?;
        ctx.enqueue_function(divide(&mut out, &x), grid_dim(1), block_dim(5))
    });
    assert_found(&found, &[("division", &["divide"], 2, 0), ("assertion", &["assert"], 2, 0)]);
    let Kind::Assertion { ref message } = found.findings[1].kind else { panic!("{found}") };
    assert!(message.contains("100 is too large"), "{message}");
    assert_eq!(found.findings[1].parties[0].thread, [0, 0, 0]);
}

#[kernel]
fn for_ever(out: &mut TileTensor<u32, 1>) {
    let mut i = 1u32;
    while i != 0 {
        i += 2; // step
    }
    out[0] = i;
}

#[test]
fn a_loop_that_changes_its_state_for_ever() {
    // It never gets to 0.
    let found = report(|ctx| {
        let ctx = ctx.clone().with_max_rounds(100_000);
        let mut out = zeros(&ctx, 1)?;
        ctx.enqueue_function(for_ever(&mut out), grid_dim(1), block_dim(1))
    });
    assert_eq!(found.findings.len(), 1, "{found}");
    assert!(matches!(found.findings[0].kind, Kind::StepLimit { rounds: 100_000, .. }), "{found}");
}

#[kernel]
fn round_and_round(out: &mut TileTensor<u32, 1>) {
    let mut i = 1u32;
    while i != 0 {
        i = 5 * i % 8; // step
    }
    out[0] = i;
}

#[test]
fn a_loop_that_comes_back_to_its_state() {
    // 1, 5, 1, 5, ...
    let found = report(|ctx| {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(round_and_round(&mut out), grid_dim(1), block_dim(1))
    });
    assert_eq!(found.findings.len(), 1, "{found}");
    assert!(matches!(found.findings[0].kind, Kind::NoProgress { cycles: true, .. }), "{found}");
    let text = found.to_string();
    assert!(text.contains("a loop never ends: what it changes comes back to what it was"), "{text}");
    assert!(!text.contains("flag"), "{text}");
}

#[kernel]
fn matrix_race(out: &mut TileTensor<u32, 2>) {
    let (x, y) = (thread_idx().x, thread_idx().y);
    out[[y, x / 2]] = x as u32; // race
}

#[test]
fn indices_and_threads_have_all_their_dimensions() {
    let found = report(|ctx| {
        let mut out = ctx.zeros(Layout::new((3, 4), (1, 3))?)?;
        ctx.enqueue_function(matrix_race(&mut out), grid_dim(1), block_dim((4, 3)))
    });
    assert_found(&found, &[("write-write", &["race"], 6, 6)]);
    let race = &found.findings[0];
    assert_eq!(race.element.as_ref().unwrap().index, [0, 0]);
    assert_eq!((race.parties[0].thread, race.parties[1].thread), ([0, 0, 0], [1, 0, 0]));
}
