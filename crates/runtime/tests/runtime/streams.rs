//! Streams, events and pinned memory, on the best device that there is.

use std::time::Duration;

use tilewise_layout::row_major;
use tilewise_runtime::*;

use crate::kernels::*;

#[test]
fn streams_share_memory_kernels_and_faults() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let stream = ctx.create_stream()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([8]))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(8))?;
    stream.enqueue_function(fill(&mut x, 2), grid_dim(1), block_dim(4))?;
    assert_eq!(x.to_host()?, [2, 2, 2, 2, 1, 1, 1, 1]);
    assert_eq!((ctx.compilations(), stream.compilations()), (1, 1));

    stream.enqueue_function(fill(&mut x, 3), grid_dim(1), block_dim(9))?;
    assert!(matches!(ctx.synchronize(), Err(Error::Fault(_))));
    stream.synchronize()
}

#[test]
fn memory_of_one_stream_is_used_on_another() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let other = ctx.create_stream()?;
    let a = ctx.full::<f32, 1>(row_major([100]), 1.5)?;
    let b = other.full::<f32, 1>(row_major([100]), 2.0)?;
    let mut sum = ctx.zeros::<f32, 1>(row_major([100]))?;
    for _ in 0..50 {
        other.enqueue_function(add(&mut sum, &a, &b), grid_dim(4), block_dim(32))?;
        ctx.enqueue_function(affine(&mut sum, &b, 2.0, 0.0), grid_dim(4), block_dim(32))?;
    }
    assert_eq!(sum.to_host()?, [4.0; 100]);
    other.enqueue_function(add(&mut sum, &a, &b), grid_dim(4), block_dim(32))?;
    assert_eq!(sum.to_host()?, [3.5; 100]);
    Ok(())
}

#[test]
fn events_order_streams_and_measure() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let other = ctx.create_stream()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([1 << 16]))?;
    let start = ctx.record_event()?;
    ctx.enqueue_function(fill(&mut x, 7), grid_dim(256), block_dim(256))?;
    let end = ctx.record_event()?;
    other.wait_event(&end)?;
    let later = other.record_event()?;
    later.synchronize()?;
    assert!(end.is_done()? && start.is_done()?);
    assert!(end.elapsed_since(&start)? > Duration::ZERO);
    assert_eq!(start.elapsed_since(&end)?, Duration::ZERO);

    let stranger = DeviceContext::new()?;
    assert!(matches!(stranger.wait_event(&end), Err(Error::WrongEvent { .. })));
    ctx.synchronize()
}

#[test]
fn pinned_memory_goes_both_ways() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let len = 100_000;
    let mut host = ctx.enqueue_create_pinned_buffer::<i64>(len)?;
    assert!(host.as_slice()?.iter().all(|&x| x == 0));
    host.as_mut_slice()?.iter_mut().enumerate().for_each(|(i, x)| *x = i as i64 - 5);
    let mut buffer = ctx.enqueue_create_buffer::<i64>(len)?;
    buffer.enqueue_copy_from_pinned(&host)?;
    // Waits until the copy has read what is written now.
    host.as_mut_slice()?.fill(0);
    let mut back = ctx.enqueue_create_pinned_buffer::<i64>(len)?;
    back.enqueue_copy_from(&buffer)?;
    assert!(back.as_slice()?.iter().enumerate().all(|(i, &x)| x == i as i64 - 5));

    let mut truth = ctx.enqueue_create_pinned_buffer::<bool>(3)?;
    truth.as_mut_slice()?.copy_from_slice(&[true, false, true]);
    let mut on_device = ctx.enqueue_create_buffer::<bool>(3)?;
    on_device.enqueue_copy_from_pinned(&truth)?;
    assert_eq!(on_device.to_host()?, [true, false, true]);
    truth.as_mut_slice()?.fill(false);
    truth.enqueue_copy_from(&on_device)?;
    assert_eq!(truth.as_slice()?, [true, false, true]);
    assert_eq!(format!("{truth:?}").split(" for ").next(), Some("PinnedBuffer(3 x bool"));
    Ok(())
}

#[test]
fn pinned_memory_stays_in_its_context_and_fits() -> Result<()> {
    let (a, b) = (DeviceContext::new()?, DeviceContext::new()?);
    let mut host = a.enqueue_create_pinned_buffer::<f32>(3)?;
    let mut short = a.enqueue_create_buffer::<f32>(2)?;
    let mut foreign = b.enqueue_create_buffer::<f32>(3)?;
    let length = TensorError::CopyLength { source_len: 3, len: 2 };
    assert_eq!(short.enqueue_copy_from_pinned(&host), Err(Error::Tensor(length)));
    assert!(matches!(foreign.enqueue_copy_from_pinned(&host), Err(Error::WrongContext { .. })));
    assert!(matches!(host.enqueue_copy_from(&foreign), Err(Error::WrongContext { .. })));

    let mut nothing = a.enqueue_create_pinned_buffer::<f32>(0)?;
    let mut empty = a.enqueue_create_buffer::<f32>(0)?;
    empty.enqueue_copy_from_pinned(&nothing)?;
    nothing.enqueue_copy_from(&empty)?;
    assert!(nothing.as_slice()?.is_empty() && nothing.is_empty());
    assert!(matches!(a.enqueue_create_pinned_buffer::<f64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    Ok(())
}
