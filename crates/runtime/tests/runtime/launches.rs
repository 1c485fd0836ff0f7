//! Launches: arguments, order, output, dimensions.

use std::sync::{Arc, Mutex};
use std::thread;

use tilewise_layout::{Layout, fixed, row_major};
use tilewise_runtime::*;
use tilewise_stage::{Atomic, Num};

use crate::kernels::*;

#[test]
fn dot_product_of_the_tutorial() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.tensor_from_fn(row_major([8]), |[i]| i as f32)?;
    let b = ctx.tensor_from_fn(row_major([8]), |[i]| i as f32)?;
    let mut out = ctx.zeros::<f32, 1>(row_major([1]))?;
    ctx.enqueue_function(dot_product(&mut out, &a, &b, 8), grid_dim(1), block_dim(8))?;
    assert_eq!(out.to_host()?.to_string(), "HostBuffer([140.0])");
    Ok(())
}

#[test]
fn the_optimizer_changes_no_result() -> Result<()> {
    for optimize in [false, true] {
        let ctx = DeviceContext::new()?.with_optimizer(optimize);
        let a = ctx.tensor_from_fn(row_major([1000]), |[i]| i as f32)?;
        let mut out = ctx.zeros::<f32, 1>(row_major([1000]))?;
        ctx.enqueue_function(affine(&mut out, &a, 0.1, 3.0), grid_dim(4), block_dim(256))?;
        let expected: Vec<f32> = (0..1000).map(|i| (i as f32).mul_add(0.1, 3.0)).collect();
        assert_eq!(out.to_host()?, expected);
    }
    Ok(())
}

#[test]
fn contraction_can_be_turned_off() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let (x, factor) = (10.0, 0.1f32);
    let a = ctx.full::<f32, 1>(row_major([1]), x)?;
    let mut out = ctx.zeros::<f32, 1>(row_major([1]))?;
    ctx.enqueue_function(affine(&mut out, &a, factor, -1.0), grid_dim(1), block_dim(1))?;
    let fused = out.get([0])?;
    ctx.enqueue_function(affine(&mut out, &a, factor, -1.0).no_contraction(), grid_dim(1), block_dim(1))?;
    let separate = out.get([0])?;
    assert_eq!(fused, x.mul_add(factor, -1.0));
    assert_eq!(separate, x * factor - 1.0);
    assert_ne!(fused, separate);
    Ok(())
}

#[test]
fn every_kind_of_argument() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut buffer = ctx.enqueue_create_buffer::<i32>(4)?;
    buffer.copy_from_host(&[1, 2, 3, 4])?;
    let mut tensor = ctx.full::<i32, 1>(row_major([fixed(4)]), 10)?;
    let mut out = ctx.enqueue_create_buffer::<i32>(4)?;

    ctx.enqueue_function(add(&mut out, &buffer, &tensor), grid_dim(1), block_dim(4))?;
    assert_eq!(out.to_host()?, [11, 12, 13, 14]);

    let mut view = out.view_mut::<1>(row_major([4]))?;
    ctx.enqueue_function(add(view.reborrow(), &mut buffer, tensor.as_view()), grid_dim(1), block_dim(4))?;
    ctx.enqueue_function(add(&mut tensor, &view, view.as_view()), grid_dim(1), block_dim(4))?;
    let other = &tensor.as_view();
    ctx.enqueue_function(add(&mut view, &tensor, other), grid_dim(1), block_dim(4))?;
    assert_eq!(view.to_host()?, [44, 48, 52, 56]);
    Ok(())
}

#[test]
fn every_element_type() -> Result<()> {
    fn check<T: Num + std::fmt::Debug>(ctx: &DeviceContext) -> Result<()> {
        let value = |i: usize| T::from_f64(i as f64);
        let a = ctx.tensor_from_fn(row_major([5]), |[i]| value(i))?;
        let mut out = ctx.full::<T, 1>(row_major([5]), T::ONE)?;
        ctx.enqueue_function(add(&mut out, &a, &a), grid_dim(1), block_dim(5))?;
        assert_eq!(out.to_host()?, (0..5).map(|i| value(2 * i)).collect::<Vec<_>>());
        ctx.enqueue_function(fill(&mut out, value(7)), grid_dim(1), block_dim(5))?;
        assert_eq!(out.to_host()?, [value(7); 5]);
        Ok(())
    }
    fn atomic<T: Atomic + std::fmt::Debug>(ctx: &DeviceContext) -> Result<()> {
        check::<T>(ctx)
    }
    let ctx = DeviceContext::new()?;
    check::<i8>(&ctx)?;
    check::<i16>(&ctx)?;
    check::<u8>(&ctx)?;
    check::<u16>(&ctx)?;
    check::<half::f16>(&ctx)?;
    check::<half::bf16>(&ctx)?;
    atomic::<i32>(&ctx)?;
    atomic::<i64>(&ctx)?;
    atomic::<isize>(&ctx)?;
    atomic::<u32>(&ctx)?;
    atomic::<u64>(&ctx)?;
    atomic::<usize>(&ctx)?;
    atomic::<f32>(&ctx)?;
    atomic::<f64>(&ctx)?;
    let mut flags = ctx.zeros::<bool, 1>(row_major([3]))?;
    ctx.enqueue_function(fill(&mut flags, true), grid_dim(1), block_dim(2))?;
    assert_eq!(flags.to_host()?, [true, true, false]);
    Ok(())
}

#[test]
fn in_place_through_both_parameters() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.tensor_from_fn(row_major([6]), |[i]| i as i32)?;
    let b = ctx.full::<i32, 1>(row_major([6]), 100)?;
    let (out, input) = x.in_out();
    let launch = add(out, input, &b);
    let kernel = launch.into_kernel()?;
    let aliased: Vec<bool> = kernel
        .params
        .iter()
        .map(|p| matches!(p.kind, tilewise_ir::ParamKind::Tensor { aliased: true, .. }))
        .collect();
    assert_eq!(aliased, [true, true, false]);
    let (out, input) = x.in_out();
    ctx.enqueue_function(add(out, input, &b), grid_dim(1), block_dim(6))?;
    assert_eq!(x.to_host()?, [100, 101, 102, 103, 104, 105]);
    Ok(())
}

#[test]
fn nothing_runs_on_an_empty_grid() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.full::<i32, 1>(row_major([4]), 9)?;
    let mut empty = ctx.zeros::<i32, 1>(row_major([0]))?;
    for grid in [[0, 1, 1], [5, 0, 1], [1, 1, 0]] {
        ctx.enqueue_function(fill(&mut x, 1), grid_dim(grid), block_dim(4))?;
        ctx.enqueue_function(fill(&mut empty, 1), grid_dim(grid), block_dim(4))?;
    }
    assert_eq!(x.to_host()?, [9; 4]);
    assert_eq!(empty.to_host()?, []);
    assert_eq!(ctx.compilations(), 0);
    Ok(())
}

#[test]
fn arguments_are_dropped_right_after_the_launch() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut out = ctx.zeros::<i32, 1>(row_major([256]))?;
    for round in 0..50 {
        let input = ctx.full::<i32, 1>(row_major([256]), round)?;
        let step = ctx.full::<i32, 1>(row_major([256]), 1000)?;
        ctx.enqueue_function(add(&mut out, &input, &step), grid_dim(4), block_dim(64))?;
        drop(input);
        let new = ctx.full::<i32, 1>(row_major([256]), 9)?;
        assert_eq!(out.to_host()?, [round + 1000; 256]);
        assert_eq!(new.to_host()?, [9; 256]);
    }
    Ok(())
}

#[test]
fn reads_writes_and_launches_keep_their_order() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([8]))?;
    let one = ctx.full::<i32, 1>(row_major([8]), 1)?;
    let mut reads = Vec::new();
    for step in 1..=100 {
        let (out, input) = x.in_out();
        ctx.enqueue_function(add(out, input, &one), grid_dim(1), block_dim(8))?;
        if step % 10 == 0 {
            let host = x.to_host()?;
            reads.push((host[0], host[7]));
        }
        if step == 50 {
            x.map_to_host(|host| host[0] = 1000)?;
        }
    }
    let expected = [10, 20, 30, 40, 50].map(|n| (n, n)).into_iter();
    let expected = expected.chain((1..=5).map(|n| (1000 + 10 * n, 50 + 10 * n)));
    assert_eq!(reads, expected.collect::<Vec<_>>());
    Ok(())
}

#[test]
fn printed_lines_go_to_the_sink() -> Result<()> {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = DeviceContext::new()?.with_output(text.clone());
    ctx.enqueue_function(say("three"), grid_dim(1), block_dim(3))?;
    ctx.synchronize()?;
    assert_eq!(*text.lock().unwrap(), "thread 0 of three\nthread 1 of three\nthread 2 of three\n");

    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let other = ctx.clone().with_output(move |line: &str| sink.lock().unwrap().push(line.to_owned()));
    other.enqueue_function(say("two"), grid_dim(2), block_dim(1))?;
    other.synchronize()?;
    assert_eq!(*lines.lock().unwrap(), ["thread 0 of two", "thread 1 of two"]);
    assert_eq!(text.lock().unwrap().lines().count(), 3);
    Ok(())
}

#[test]
fn the_number_of_host_threads_changes_no_result() -> Result<()> {
    for threads in [0, 1, 2, 5] {
        let ctx = DeviceContext::new()?.with_threads(threads);
        let a = ctx.tensor_from_fn(row_major([1000]), |[i]| i as i64)?;
        let mut out = ctx.zeros::<i64, 1>(row_major([1000]))?;
        ctx.enqueue_function(add(&mut out, &a, &a), grid_dim(63), block_dim(16))?;
        assert_eq!(out.to_host()?, (0..1000).map(|i| 2 * i).collect::<Vec<i64>>());
    }
    Ok(())
}

#[test]
fn a_context_is_used_from_several_threads() -> Result<()> {
    let ctx = DeviceContext::new()?;
    thread::scope(|scope| {
        for k in 0..4 {
            let ctx = ctx.clone();
            scope.spawn(move || {
                let a = ctx.full::<i32, 1>(row_major([100]), k).unwrap();
                let mut out = ctx.zeros::<i32, 1>(row_major([100])).unwrap();
                for _ in 0..20 {
                    ctx.enqueue_function(add(&mut out, &a, &a), grid_dim(1), block_dim(100)).unwrap();
                    assert_eq!(out.to_host().unwrap(), [2 * k; 100]);
                }
            });
        }
    });
    assert_eq!(ctx.compilations(), 1);
    Ok(())
}

#[test]
fn unchecked_launches_have_no_bounds() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([4]))?;
    // SAFETY: four threads, four elements.
    #[allow(unsafe_code)]
    let launch = unsafe { fill(&mut x, 5).unchecked() };
    let mut accesses = 0;
    launch.into_kernel()?.body.visit(&mut |inst| {
        if let Some(access) = inst.op.access() {
            assert!(access.bounds.is_empty());
            assert_eq!(Some(inst.args.len()), inst.op.access_args());
            accesses += 1;
        }
    });
    assert_eq!(accesses, 1);
    #[allow(unsafe_code)]
    // SAFETY: as above.
    let launch = unsafe { fill(&mut x, 5).unchecked() };
    ctx.enqueue_function(launch, grid_dim(1), block_dim(4))?;
    assert_eq!(x.to_host()?, [5; 4]);
    Ok(())
}

#[test]
fn static_and_dynamic_integers_of_a_layout() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let texts: Vec<String> = [
        row_major((2, 3)),
        row_major((fixed(2), fixed(3))),
        Layout::new((2, 3), (1, 2)).unwrap(),
        Layout::new((2, 3), (fixed(8), 1)).unwrap(),
    ]
    .into_iter()
    .map(|layout| {
        let input = ctx.zeros::<i32, 2>(layout)?;
        let mut out = ctx.zeros::<i32, 2>(row_major((fixed(2), fixed(3))))?;
        Ok(copy2(&mut out, &input).into_kernel()?.to_string())
    })
    .collect::<Result<_>>()?;
    let reads = |text: &str| (text.matches("= extent").count(), text.matches("= stride").count());
    assert_eq!(reads(&texts[0]), (2, 0));
    assert_eq!(reads(&texts[1]), (0, 0));
    assert_eq!(reads(&texts[2]), (2, 1));
    assert_eq!(reads(&texts[3]), (2, 0));
    Ok(())
}
