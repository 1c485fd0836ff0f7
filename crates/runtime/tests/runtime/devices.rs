//! Opening devices.

use tilewise_runtime::*;

#[test]
fn the_cpu_is_always_there() -> Result<()> {
    let ctx = DeviceContext::open(" CPU ")?;
    assert_eq!(ctx.device_name(), "cpu");
    let info = DeviceContext::devices().into_iter().find(|device| device.name == "cpu").unwrap();
    assert_eq!(&info, ctx.device_info());
    assert_eq!(info.multiprocessors, std::thread::available_parallelism().ok().map(usize::from));
    assert_eq!(info.limits.max_threads_per_block, 1024);
    assert_eq!(info.limits.max_grid_dim, [2_147_483_647, 65_535, 65_535]);
    assert_eq!(info.limits.max_block_dim, [1024, 1024, 64]);
    Ok(())
}

#[test]
fn devices_that_this_build_lacks_say_so() {
    if cfg!(not(feature = "wgpu")) {
        for name in ["amd", "apple", "vulkan", "metal", "Metal"] {
            let error = DeviceContext::open(name).unwrap_err();
            let start = format!(
                "device `{name}` is not available in this build of tilewise: turn on its feature `wgpu`; there is `"
            );
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }
    if cfg!(not(feature = "cuda")) {
        for name in ["gpu", "nvidia", "cuda", "NVIDIA:0", "cuda:1"] {
            assert_eq!(
                DeviceContext::open(name).unwrap_err().to_string(),
                format!(
                    "device `{name}` is not available in this build of tilewise: turn on its feature `cuda`; there is `cpu`"
                )
            );
        }
    }
    let error = DeviceContext::open("tpu").unwrap_err();
    assert!(matches!(error, Error::NoSuchDevice { .. }), "{error}");
}

#[test]
fn the_best_device_is_the_first() -> Result<()> {
    let devices = DeviceContext::devices();
    let cpu = devices.iter().position(|device| device.name == "cpu").expect("the CPU device is always there");
    // Only adapters that compute on the CPU come behind it.
    assert!(
        devices[cpu + 1..].iter().all(|device| device.description.contains(", a software adapter")),
        "{devices:?}"
    );
    // `TILEWISE_DEVICE` may name another one.
    if std::env::var_os("TILEWISE_DEVICE").is_none() {
        assert_eq!(DeviceContext::new()?.device_name(), devices[0].name);
    }
    Ok(())
}

#[test]
fn contexts_show_what_they_are() -> Result<()> {
    let (a, b) = (DeviceContext::new()?, DeviceContext::new()?);
    let shown = format!("{a:?}");
    assert!(shown.starts_with("DeviceContext { context: context "), "{shown}");
    assert_ne!(shown, format!("{b:?}"), "contexts are numbered");
    Ok(())
}
