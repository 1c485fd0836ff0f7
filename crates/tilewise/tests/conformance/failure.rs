//! No device, and failures inside kernels.

use tilewise::ir::FaultKind;
use tilewise::prelude::*;

use crate::harness::{each_device, fault, source_line, vector, zeros};

#[kernel]
fn add_one(x: &mut TileTensor<f32, 1>) {
    x[thread_idx().x] += 1.0;
}

/// FAIL-1: a machine without a GPU has the CPU device, and asking for another is an error with the names of those that
/// there are.
#[test]
fn there_is_always_a_device() -> tilewise::Result<()> {
    assert!(DeviceContext::devices().iter().any(|device| device.name == "cpu"));
    let error = DeviceContext::open("abacus").expect_err("no such device").to_string();
    assert!(error.contains("`abacus`") && error.contains("`cpu`"), "{error}");

    let ctx = DeviceContext::new()?;
    let mut x = vector(&ctx, &[1.0, 2.0, 3.0])?;
    ctx.enqueue_function(add_one(&mut x), grid_dim(1), block_dim(3))?;
    assert_eq!(x.to_host()?, [2.0, 3.0, 4.0]);
    Ok(())
}

#[kernel]
fn expect_in_range(out: &mut TileTensor<f32, 1>, src: &TileTensor<f32, 1>, j: usize) {
    let tid = thread_idx().x;
    if tid == 2 {
        assert!(j < src.dim(0), "j in range, not {j} of {}", src.dim(0));
    }
    out[tid] = src[j];
}

/// FAIL-3
#[test]
fn a_failed_assertion_names_its_text_and_thread() {
    each_device(|ctx| {
        let src = vector(ctx, &[10.0, 11.0, 12.0, 13.0, 14.0])?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(expect_in_range(&mut out, &src, 5), grid_dim(1), block_dim(4))?;
        let report = fault(ctx);
        let message = "j in range, not 5 of 5".to_owned();
        // The other threads' reads are faults, too; which one is the first is the device's choice.
        if report.fault.thread == [2, 0, 0] {
            assert_eq!(report.fault.kind, FaultKind::Assertion { message });
            assert!(source_line(&report.fault).starts_with("assert!("));
        }
        assert_eq!((report.kernel.as_str(), report.fault.block), ("expect_in_range", [0, 0, 0]));
        assert!(out.to_host()?.iter().all(|&x| x != 10.0 && x != 14.0));

        ctx.enqueue_function(expect_in_range(&mut out, &src, 4), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [14.0; 4]);
        Ok(())
    });
}

#[kernel]
fn assertions(x: &TileTensor<i32, 1>, #[comptime] which: u32) {
    let v = x[thread_idx().x];
    match which {
        0 => assert!(v > 0),
        1 => assert!(v > 0, "v = {v}, twice {:>5}", v * 2),
        2 => assert_eq!(v * v, 9),
        3 => assert_ne!(v, -2, "said {} times", 2),
        _ => debug_assert!(v != -2, "for debug builds"),
    }
}

#[test]
fn the_messages_of_assertions() {
    let expected = [
        "assertion failed: v > 0",
        "assertion failed: v = -2, twice    -4",
        "assertion failed: v * v == 9 (left: 4, right: 9)",
        "assertion failed: v != -2 (left: -2, right: -2): said 2 times",
        "assertion failed: for debug builds",
    ];
    each_device(|ctx| {
        let x = vector(ctx, &[3, -2, -3])?;
        for (which, text) in expected.iter().enumerate() {
            ctx.enqueue_function(assertions(&x, which as u32), grid_dim(1), block_dim(2))?;
            let report = fault(ctx);
            assert_eq!(report.fault.kind.to_string(), *text);
            assert_eq!((report.fault.thread, report.more), ([1, 0, 0], 0));
        }
        Ok(())
    });
}

/// A thread whose assertion failed ends: what it would have done does not happen.
#[kernel]
fn write_behind_assertion(out: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    assert!(tid % 2 == 0, "odd thread {tid}");
    out[tid] = 1;
}

#[test]
fn faults_are_counted_and_reported_once() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 8)?;
        for _ in 0..2 {
            ctx.enqueue_function(write_behind_assertion(&mut out), grid_dim(1), block_dim(8))?;
        }
        let report = fault(ctx);
        assert_eq!(report.more, 7);
        ctx.synchronize()?;
        assert_eq!(out.to_host()?, [1, 0, 1, 0, 1, 0, 1, 0]);

        // A read reports, too.
        ctx.enqueue_function(write_behind_assertion(&mut out), grid_dim(1), block_dim(2))?;
        assert!(matches!(out.to_host(), Err(tilewise::Error::Fault(_))));
        assert_eq!(out.to_host()?[0], 1);
        Ok(())
    });
}

#[kernel]
fn panics(out: &mut TileTensor<u32, 1>, limit: usize) {
    let tid = thread_idx().x;
    let kind = match tid % 3 {
        0 => 10,
        1 => 20,
        2 => 30,
        _ => unreachable!(),
    };
    if tid > limit {
        panic!("thread {tid} is above {limit}");
    }
    out[tid] = kind;
}

#[test]
fn a_panic_is_a_failed_assertion_of_the_threads_that_get_there() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(panics(&mut out, 5), grid_dim(1), block_dim(6))?;
        assert_eq!(out.to_host()?, [10, 20, 30, 10, 20, 30]);

        out.enqueue_fill(0)?;
        ctx.enqueue_function(panics(&mut out, 3), grid_dim(1), block_dim(6))?;
        let report = fault(ctx);
        assert_eq!(report.fault.kind.to_string(), "assertion failed: thread 4 is above 3");
        assert_eq!(report.more, 1);
        assert_eq!(out.to_host()?, [10, 20, 30, 10, 0, 0]);
        Ok(())
    });
}

#[kernel]
fn results_that_nobody_uses(a: &TileTensor<u32, 1>, zero: u32, which: u32) {
    if which == 0 {
        let _ = a[thread_idx().x + 1];
    } else {
        let _ = a[0] / zero;
    }
}

#[test]
fn faults_of_unused_results_are_reported() {
    each_device(|ctx| {
        let a = vector(ctx, &[1u32, 2, 3])?;
        ctx.enqueue_function(results_that_nobody_uses(&a, 0, 0), grid_dim(1), block_dim(3))?;
        let report = fault(ctx);
        assert!(report.fault.kind.to_string().contains("index 3 is outside"), "{report}");
        assert_eq!((report.fault.thread, report.more), ([2, 0, 0], 0));

        ctx.enqueue_function(results_that_nobody_uses(&a, 0, 1), grid_dim(1), block_dim(3))?;
        let report = fault(ctx);
        assert_eq!((report.fault.kind, report.more), (FaultKind::DivisionByZero, 2));
        Ok(())
    });
}

#[test]
fn an_assertion_on_simd_values_holds_for_every_lane() {
    each_device(|ctx| {
        let a = vector(ctx, &[1.0f32, 2.0, 3.0, 4.0, 5.0])?;
        let mut out = zeros::<f32>(ctx, 5)?;
        for (limit, fine) in [(6.0f32, true), (4.0, false)] {
            let body = tilewise::kernel!([mut out, a, limit] |[i]| {
                assert!(a[i] < limit, "above the limit");
                out[i] = a[i];
            });
            elementwise(ctx, 4, [5], body)?;
            match fine {
                true => assert_eq!(out.to_host()?, [1.0, 2.0, 3.0, 4.0, 5.0]),
                false => assert_eq!(fault(ctx).fault.kind.to_string(), "assertion failed: above the limit"),
            }
        }
        Ok(())
    });
}
