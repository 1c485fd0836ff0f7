//! What is refused, and what goes wrong in a kernel.

use tilewise_ir::{FaultKind, Scalar};
use tilewise_layout::row_major;
use tilewise_runtime::*;
use tilewise_stage::StageError;

use crate::kernels::*;

#[test]
fn a_fault_is_reported_once_and_the_context_lives_on() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([8]))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(20))?;
    let error = ctx.synchronize().unwrap_err();
    let Error::Fault(report) = &error else { panic!("{error}") };
    assert_eq!((report.kernel.as_str(), report.more), ("fill", 11));
    assert_eq!((report.fault.block, report.fault.thread), ([0, 0, 0], [8, 0, 0]));
    let FaultKind::OutOfBounds { tensor, index, extent, .. } = &report.fault.kind else { panic!("{error}") };
    assert_eq!((tensor.as_str(), *index, *extent), ("output", 8, 8));
    assert!(report.fault.location.as_ref().unwrap().file.ends_with("kernels.rs"));
    assert!(error.to_string().ends_with("in kernel `fill`, and 11 more"), "{error}");

    ctx.synchronize()?;
    assert_eq!(x.to_host()?, [1; 8]);
    Ok(())
}

#[test]
fn reads_report_faults_too() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([2]))?;
    let mut y = ctx.zeros::<i32, 1>(row_major([2]))?;
    let is_fault = |result: Result<()>| matches!(result, Err(Error::Fault(_)));
    let mut go_wrong = || ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(3));
    go_wrong()?;
    assert!(is_fault(y.to_host().map(drop)));
    go_wrong()?;
    assert!(is_fault(y.map_to_host(|_| ())));
    go_wrong()?;
    assert!(is_fault(y.get([0]).map(drop)));
    go_wrong()?;
    assert!(is_fault(y.as_view().to_host().map(drop)));
    assert!(!is_fault(y.to_host().map(drop)));
    Ok(())
}

#[test]
fn the_first_fault_of_several_launches_is_kept() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([2]))?;
    let mut q = ctx.full::<i32, 1>(row_major([1]), 9)?;
    ctx.enqueue_function(quotient(&mut q, 1, 0), grid_dim(1), block_dim(1))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(6))?;
    let Err(Error::Fault(report)) = ctx.synchronize() else { panic!("no fault") };
    assert_eq!((report.kernel.as_str(), report.more), ("quotient", 4));
    assert_eq!(report.fault.kind, FaultKind::DivisionByZero);
    assert_eq!(q.to_host()?, [0]);
    Ok(())
}

#[test]
fn faults_belong_to_their_context() -> Result<()> {
    let (ctx, other) = (DeviceContext::new()?, DeviceContext::new()?);
    let mut x = ctx.zeros::<i32, 1>(row_major([2]))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(3))?;
    other.synchronize()?;
    assert!(ctx.clone().synchronize().is_err());
    assert!(ctx.synchronize().is_ok());
    Ok(())
}

#[test]
fn blocks_that_are_too_large_are_refused() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.full::<i32, 1>(row_major([5]), 9)?;
    let mut refusal = |block: [usize; 3]| {
        ctx.enqueue_function(fill(&mut x, 1), grid_dim(1), block_dim(block)).unwrap_err().to_string()
    };
    assert_eq!(
        refusal([1025, 1, 1]),
        "kernel `fill`: a block of 1025 threads has 1025 along x; it must be 1 to 1024: launch more blocks of fewer \
         threads"
    );
    assert_eq!(
        refusal([33, 32, 1]),
        "kernel `fill`: a block of 33 x 32 = 1056 threads is over the limit of 1024: launch more blocks of fewer \
         threads"
    );
    assert_eq!(
        refusal([1, 1, 65]),
        "kernel `fill`: a block of 1 x 1 x 65 threads has 65 along z; it must be 1 to 64: launch more blocks of fewer \
         threads"
    );
    assert_eq!(refusal([0, 1, 1]), "kernel `fill`: a block of 0 threads has 0 along x; it must be 1 to 1024");
    assert!(refusal([usize::MAX, usize::MAX, 1]).contains("18446744073709551615 along x"));
    assert_eq!(x.to_host()?, [9; 5]);
    Ok(())
}

#[test]
fn grids_that_are_too_large_are_refused() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([1]))?;
    let mut launch = |grid: [usize; 3]| {
        ctx.enqueue_function(fill(&mut x, 1), grid_dim(grid), block_dim(1)).map_err(|e| e.to_string())
    };
    assert_eq!(
        launch([1, 70_000, 1]).unwrap_err(),
        "kernel `fill`: a grid of 1 x 70000 blocks has 70000 along y; the limit is 65535: use larger blocks or another \
         axis"
    );
    assert!(launch([1, 1, 65_536]).unwrap_err().contains("65536 along z; the limit is 65535"));
    assert!(launch([1 << 31, 1, 1]).unwrap_err().contains("2147483648 along x; the limit is 2147483647"));
    assert!(launch([1 << 31, 0, 1]).is_err(), "also where another axis is empty");
    ctx.synchronize()
}

#[test]
fn a_wide_grid_runs_all_its_blocks() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<i32, 1>(row_major([70_000]))?;
    ctx.enqueue_function(fill(&mut x, 1), grid_dim(70_000), block_dim(1))?;
    assert_eq!(x.to_host()?.iter().sum::<i32>(), 70_000);
    Ok(())
}

#[test]
fn shared_memory_is_limited() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let limit = ctx.device_info().limits.max_shared_memory_per_block as usize;
    assert!(limit >= 48 * 1024);
    ctx.enqueue_function(shared_memory(limit), grid_dim(1), block_dim(1))?;
    let error = ctx.enqueue_function(shared_memory(limit + 1), grid_dim(1), block_dim(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "kernel `shared_memory` uses {} bytes of shared memory, the limit is {limit}: allocate smaller tiles",
            limit + 1
        )
    );
    Ok(())
}

#[test]
fn a_tensor_of_another_context_is_refused() -> Result<()> {
    let (ctx, other) = (DeviceContext::new()?, DeviceContext::new()?);
    let a = other.zeros::<f32, 1>(row_major([4]))?;
    let mut out = ctx.zeros::<f32, 1>(row_major([4]))?;
    let error = ctx.enqueue_function(affine(&mut out, &a, 1.0, 0.0), grid_dim(1), block_dim(4)).unwrap_err();
    let Error::WrongContext { what, owner, user } = &error else { panic!("{error}") };
    assert_eq!(what, "argument `x` of kernel `affine`");
    assert_ne!(owner, user);
    assert!(owner.ends_with("(cpu)") && user.ends_with("(cpu)"), "{error}");
    // A context with other options is the same context.
    let same = ctx.clone().with_optimizer(false).with_threads(1);
    let b = same.zeros::<f32, 1>(row_major([4]))?;
    ctx.enqueue_function(affine(&mut out, &b, 1.0, 0.0), grid_dim(1), block_dim(4))?;

    let mut to = ctx.enqueue_create_buffer::<u8>(1)?;
    let from = other.enqueue_create_buffer::<u8>(1)?;
    assert!(matches!(to.enqueue_copy_from(&from), Err(Error::WrongContext { .. })));
    assert!(matches!(ctx.tensor_from_buffer::<u8, 1>(from, row_major([1])), Err(Error::WrongContext { .. })));
    Ok(())
}

#[test]
fn a_kernel_that_panics_is_an_error() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let launch =
        LaunchBuilder::new("broken").describe(|| std::panic::resume_unwind(Box::new("no such tile")));
    let error = ctx.enqueue_function(launch, grid_dim(1), block_dim(1)).unwrap_err();
    assert_eq!(error.to_string(), "kernel `broken` panicked while it was described: no such tile");
    ctx.synchronize()
}

#[test]
fn a_launch_inside_a_kernel_is_an_error() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let inner = ctx.clone();
    let mut result = Ok(());
    let launch = LaunchBuilder::new("outer").describe(|| {
        let launch = LaunchBuilder::new("inner").describe(|| {});
        result = inner.enqueue_function(launch, grid_dim(1), block_dim(1));
    });
    ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
    assert!(matches!(result, Err(Error::Stage(StageError::Nested { .. }))), "{result:?}");
    Ok(())
}

#[test]
fn memory_that_nobody_has_is_an_error() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let buffer = ctx.enqueue_create_buffer::<f64>(usize::MAX).unwrap_err().to_string();
    assert!(buffer.starts_with("out of memory: a buffer of 18446744073709551615 f64"), "{buffer}");
    assert!(buffer.contains(" takes 147573952589676412920 bytes"), "{buffer}");
    assert!(buffer.ends_with("; use smaller extents, or drop what is no longer needed"), "{buffer}");
    // More than any machine has, but not more than can be addressed.
    if cfg!(target_os = "linux") {
        let buffer = ctx.enqueue_create_buffer::<u8>(1 << 46).unwrap_err();
        assert!(matches!(buffer, Error::OutOfMemory { bytes: 0x4000_0000_0000, .. }), "{buffer}");
    }
    let tensor = ctx.zeros::<f32, 3>(row_major([1 << 40, 1 << 40, 1 << 40])).unwrap_err();
    assert!(matches!(tensor, Error::OutOfMemory { .. }), "{tensor}");
    assert!(matches!(ctx.enqueue_create_host_buffer::<u64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    Ok(())
}

#[test]
fn scalars_keep_their_types() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut x = ctx.zeros::<f64, 1>(row_major([1]))?;
    let kernel = quotient(&mut x, 1.0, 3.0).into_kernel()?;
    assert_eq!(kernel.params[1].kind, tilewise_ir::ParamKind::Scalar(Scalar::F64));
    ctx.enqueue_function(quotient(&mut x, 1.0, 3.0), grid_dim(1), block_dim(1))?;
    assert_eq!(x.to_host()?, [1.0 / 3.0]);
    Ok(())
}
