//! Profiled and checked at once, sinks, and devices that cannot.

use std::sync::{Arc, Mutex};

use tilewise::prelude::*;

#[kernel]
fn shift(x: &mut TileTensor<f32, 1>) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([64]));
    let i = thread_idx().x;
    shared[i] = x[i];
    x[i] = shared[(i + 1) % 64] + 1.0;
}

fn launch(ctx: &DeviceContext) -> tilewise::Result<Vec<f32>> {
    let mut x = ctx.tensor_from_fn(row_major([64]), |[i]| i as f32)?;
    ctx.enqueue_function(shift(&mut x), grid_dim(1), block_dim(64))?;
    x.to_host().map(|x| x.to_vec())
}

/// What is counted does not depend on whether the launch is checked, and what is found not on whether it is profiled.
#[test]
fn a_launch_is_profiled_and_checked() -> tilewise::Result<()> {
    let cpu = DeviceContext::open("cpu")?;
    let (checked, profiled) = (cpu.clone().checked(), cpu.clone().profiled());
    let both = cpu.clone().profiled().checked();
    assert!(both.is_checked() && both.is_profiled() && !checked.is_profiled() && !profiled.is_checked());
    let values = launch(&cpu)?;
    assert_eq!(launch(&profiled)?, values);
    let profile = cpu.take_profiles();
    assert_eq!(profile.len(), 1);

    let error = launch(&checked).expect_err("a race");
    let reports = cpu.take_reports();
    assert_eq!((reports.len(), cpu.take_profiles().len()), (1, 0));

    assert_eq!(launch(&both).expect_err("a race"), error);
    assert_eq!(cpu.take_reports(), reports);
    assert_eq!(cpu.take_profiles(), profile);
    Ok(())
}

#[test]
fn a_sink_gets_each_profile() -> tilewise::Result<()> {
    let names = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&names);
    let ctx =
        DeviceContext::open("cpu")?.profiled_with(move |profile| sink.lock().unwrap().push(profile.kernel));
    launch(&ctx)?;
    launch(&ctx)?;
    assert_eq!(*names.lock().unwrap(), ["shift", "shift"]);
    assert_eq!(ctx.take_profiles(), []);
    Ok(())
}
