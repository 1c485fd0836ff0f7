//! What is compiled anew, and what is not.

use std::sync::Arc;
use std::thread;

use tilewise_layout::{Layout, col_major, fixed, row_major};
use tilewise_runtime::*;

use crate::kernels::*;

#[test]
fn comptime_values_and_types_make_kernels() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut out = ctx.zeros::<i32, 1>(row_major([1]))?;
    let mut results = Vec::new();
    for k in [3, 5, 3] {
        ctx.enqueue_function(times_constant(&mut out, 7, k), grid_dim(1), block_dim(1))?;
        results.push(out.get([0])?);
    }
    assert_eq!((results, ctx.compilations()), (vec![21, 35, 21], 2));

    let ctx = DeviceContext::new()?;
    let mut float = ctx.zeros::<f32, 1>(row_major([1]))?;
    let mut int = ctx.zeros::<i32, 1>(row_major([1]))?;
    for _ in 0..2 {
        ctx.enqueue_function(quotient(&mut float, 5.0, 2.0), grid_dim(1), block_dim(1))?;
        ctx.enqueue_function(quotient(&mut int, 5, 2), grid_dim(1), block_dim(1))?;
    }
    assert_eq!((float.get([0])?, int.get([0])?, ctx.compilations()), (2.5, 2, 2));
    Ok(())
}

#[test]
fn strides_are_not_taken_from_the_first_launch() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut elements = ctx.enqueue_create_buffer::<i32>(16)?;
    elements.map_to_host(|host| (0..16).for_each(|k| host[k] = k as i32))?;
    let mut out = ctx.zeros::<i32, 1>(row_major([1]))?;
    let mut results = Vec::new();
    for layout in [row_major([3, 4]), col_major([3, 4]), Layout::new((3, 4), (6, 1))?] {
        // Of the whole memory, so that the pitched one fits.
        let mut large = ctx.enqueue_create_buffer::<i32>(18)?;
        large.map_to_host(|host| (0..18).for_each(|k| host[k] = k as i32))?;
        let v = large.view::<2>(layout)?;
        ctx.enqueue_function(pick(&mut out, v), grid_dim(1), block_dim(1))?;
        results.push(out.get([0])?);
    }
    assert_eq!(results, [6, 7, 8]);
    Ok(())
}

#[test]
fn run_time_values_are_not_in_the_key() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut out = ctx.zeros::<i32, 1>(row_major([1]))?;
    for round in 0..1000 {
        if round == 500 {
            for k in 0..20 {
                ctx.enqueue_function(times_constant(&mut out, 7, k), grid_dim(1), block_dim(1))?;
            }
        }
        let len = 1 + round % 37;
        let x = ctx.full::<f32, 1>(row_major([len]), 2.0)?;
        let mut y = ctx.zeros::<f32, 1>(row_major([len]))?;
        let (factor, n) = (round as f32, (round % 7) as f32);
        ctx.enqueue_function(affine(&mut y, &x, factor, n), grid_dim(1), block_dim(37))?;
        assert_eq!(y.to_host()?, vec![2.0 * factor + n; len]);
    }
    assert_eq!(ctx.compilations(), 21);
    Ok(())
}

#[test]
fn static_extents_are_in_the_key() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for (len, compilations) in [(4, 1), (5, 2), (4, 2)] {
        let x = ctx.full::<f32, 1>(row_major([fixed(len)]), 2.0)?;
        let mut y = ctx.zeros::<f32, 1>(row_major([len]))?;
        ctx.enqueue_function(affine(&mut y, &x, 1.0, 0.0), grid_dim(1), block_dim(8))?;
        assert_eq!(y.to_host()?, vec![2.0; len]);
        assert_eq!(ctx.compilations(), compilations);
    }
    Ok(())
}

#[test]
fn options_of_a_launch_are_in_the_key() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let plain = ctx.clone().with_optimizer(false);
    let x = ctx.full::<f32, 1>(row_major([4]), 2.0)?;
    let mut y = ctx.zeros::<f32, 1>(row_major([4]))?;
    for _ in 0..2 {
        ctx.enqueue_function(affine(&mut y, &x, 3.0, 1.0), grid_dim(1), block_dim(4))?;
        plain.enqueue_function(affine(&mut y, &x, 3.0, 1.0), grid_dim(1), block_dim(4))?;
        ctx.enqueue_function(affine(&mut y, &x, 3.0, 1.0).no_contraction(), grid_dim(1), block_dim(4))?;
    }
    assert_eq!(ctx.compilations(), 3);
    Ok(())
}

#[test]
fn source_positions_are_in_the_key() -> Result<()> {
    let ctx = DeviceContext::new()?;
    // Two kernels that differ only in where they are written: faults must name the right one.
    let first = || LaunchBuilder::new("wait").describe(|| tilewise_stage::barrier());
    let second = || LaunchBuilder::new("wait").describe(|| tilewise_stage::barrier());
    for launch in [first(), second(), first(), second()] {
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
    }
    assert_eq!(ctx.compilations(), 2);
    Ok(())
}

#[test]
fn the_cache_is_bounded() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut out = ctx.zeros::<i32, 1>(row_major([1]))?;
    let mut launch = |k| -> Result<u64> {
        ctx.enqueue_function(times_constant(&mut out, 1, k), grid_dim(1), block_dim(1))?;
        Ok(ctx.compilations())
    };
    for k in 0..512 {
        assert_eq!(launch(k)?, k as u64 + 1);
    }
    assert_eq!(launch(0)?, 512, "still there, and now the youngest");
    assert_eq!(launch(512)?, 513);
    assert_eq!(launch(0)?, 513);
    assert_eq!(launch(1)?, 514, "the oldest went");
    Ok(())
}

#[test]
fn threads_wait_for_one_compilation() -> Result<()> {
    let ctx = Arc::new(DeviceContext::new()?);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut out = ctx.zeros::<i32, 1>(row_major([1])).unwrap();
                ctx.enqueue_function(times_constant(&mut out, 7, 3), grid_dim(1), block_dim(1)).unwrap();
                assert_eq!(out.get([0]).unwrap(), 21);
            });
        }
    });
    assert_eq!(ctx.compilations(), 1);
    Ok(())
}
