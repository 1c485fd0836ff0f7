//! Buffers, and copies between host and device.

use half::{bf16, f16};
use tilewise_runtime::*;
use tilewise_stage::Element;

#[test]
fn buffers_start_with_zeros() -> Result<()> {
    let ctx = DeviceContext::new()?;
    assert_eq!(ctx.enqueue_create_buffer::<f32>(3)?.to_host()?, [0.0; 3]);
    assert_eq!(ctx.enqueue_create_buffer::<bool>(2)?.to_host()?, [false; 2]);
    assert_eq!(ctx.enqueue_create_host_buffer::<usize>(2)?, [0; 2]);
    Ok(())
}

#[test]
fn empty_buffers_work_everywhere() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.enqueue_create_buffer::<f32>(0)?;
    let b = ctx.enqueue_create_buffer::<f32>(0)?;
    assert!(a.is_empty());
    a.enqueue_fill(1.0)?;
    a.enqueue_copy_from(&b)?;
    a.copy_from_host(&[])?;
    assert_eq!(a.map_to_host(|host| host.len())?, 0);
    assert_eq!(a.to_host()?.to_string(), "HostBuffer([])");
    assert_eq!(ctx.enqueue_create_host_buffer::<f32>(0)?.len(), 0);
    Ok(())
}

#[test]
fn every_element_type_comes_back() -> Result<()> {
    fn check<T: Element + std::fmt::Debug>(ctx: &DeviceContext, values: [T; 3]) -> Result<()> {
        let mut buffer = ctx.enqueue_create_buffer::<T>(3)?;
        buffer.copy_from_host(&values)?;
        assert_eq!(buffer.to_host()?, values);
        buffer.enqueue_fill(values[1])?;
        assert_eq!(buffer.to_host()?, [values[1]; 3]);
        Ok(())
    }
    let ctx = DeviceContext::new()?;
    check(&ctx, [true, false, true])?;
    check(&ctx, [i8::MIN, -1, i8::MAX])?;
    check(&ctx, [i64::MIN, -1, i64::MAX])?;
    check(&ctx, [usize::MAX, 1, 0])?;
    check(&ctx, [f16::MIN, f16::from_f32(0.1), f16::INFINITY])?;
    check(&ctx, [bf16::MIN, bf16::from_f32(0.1), bf16::INFINITY])?;
    check(&ctx, [f64::MIN, -0.1, f64::INFINITY])
}

#[test]
fn large_copies_are_whole() -> Result<()> {
    // More than one piece, and no whole number of them.
    let ctx = DeviceContext::new()?;
    let values: Vec<u16> = (0..100_003u32).map(|i| (i * 7 % 65_521) as u16).collect();
    let mut a = ctx.enqueue_create_buffer::<u16>(values.len())?;
    a.copy_from_host(&values)?;
    let mut b = ctx.enqueue_create_buffer::<u16>(values.len())?;
    b.enqueue_copy_from(&a)?;
    assert_eq!(b.to_host()?, values);
    let part = b.view_at::<1>(50_001, tilewise_layout::row_major([30_000]))?;
    assert_eq!(part.to_host()?, values[50_001..80_001]);
    Ok(())
}

#[test]
fn wrong_lengths_name_both() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.enqueue_create_buffer::<i32>(3)?;
    let b = ctx.enqueue_create_buffer::<i32>(4)?;
    assert_eq!(
        a.enqueue_copy_from(&b).unwrap_err().to_string(),
        "a copy of 4 elements to a buffer of 3; both must have the same length"
    );
    assert_eq!(
        a.copy_from_host(&[1, 2]).unwrap_err().to_string(),
        "2 values for the 3 elements of layout (3):(1); give one value for each element, last dimension fastest"
    );
    Ok(())
}

#[test]
fn the_host_changes_a_copy_and_gives_a_result() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.enqueue_create_buffer::<i32>(4)?;
    let sum: i32 = a.map_to_host(|host| {
        for (i, x) in host.iter_mut().enumerate() {
            *x = i as i32;
        }
        host.iter().sum()
    })?;
    assert_eq!((sum, a.to_host()?.into_vec()), (6, vec![0, 1, 2, 3]));
    Ok(())
}
