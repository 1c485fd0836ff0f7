//! What a driver of Vulkan can be told to leave of floats as it is, which wgpu does not say.

use std::fmt;

use tilewise_naga::FloatControls;

/// Why nobody can ask what an adapter keeps of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Only SPIR-V can ask a device to keep something, and this is no adapter of Vulkan.
    Api,
    /// The loader of Vulkan has this version; the call comes with 1.1.
    Loader(Version),
    /// The driver has this version of Vulkan; the answer comes with 1.2.
    Driver(Version),
}

/// A version of Vulkan: major and minor number.
pub(super) type Version = (u32, u32);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Api => f.write_str("only Vulkan has them"),
            Missing::Loader((major, minor)) => {
                write!(f, "the loader has Vulkan {major}.{minor}, and they need 1.1")
            }
            Missing::Driver((major, minor)) => {
                write!(f, "the driver has Vulkan {major}.{minor}, and they need 1.2")
            }
        }
    }
}

/// Whether a loader and a driver of these versions can be asked.
#[cfg_attr(target_vendor = "apple", allow(dead_code, reason = "there is no Vulkan"))]
fn check(loader: Version, driver: Version) -> Result<(), Missing> {
    if loader < (1, 1) {
        Err(Missing::Loader(loader))
    } else if driver < (1, 2) {
        Err(Missing::Driver(driver))
    } else {
        Ok(())
    }
}

/// What an adapter keeps if a shader asks for it.
#[cfg(not(target_vendor = "apple"))]
#[expect(unsafe_code, reason = "wgpu hands its handles out as unsafe, and so are calls of Vulkan")]
pub(super) fn of(adapter: &wgpu::Adapter) -> Result<FloatControls, Missing> {
    use ash::vk;
    use tilewise_naga::Widths;

    // SAFETY: nothing is destroyed by what is done with the handles.
    let adapter = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }.ok_or(Missing::Api)?;
    let (shared, device) = (adapter.shared_instance(), adapter.raw_physical_device());
    let instance = shared.raw_instance();
    // SAFETY: the device is one of the instance, and both live as long as the adapter.
    let driver = unsafe { instance.get_physical_device_properties(device) }.api_version;
    let version = |version| (vk::api_version_major(version), vk::api_version_minor(version));
    check(version(shared.instance_api_version()), version(driver))?;
    let mut found = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
    // SAFETY: the loader and the device have the version that has the call, and the chain ends with a structure that version knows.
    unsafe { instance.get_physical_device_properties2(device, &mut properties) };

    let widths = |f16: vk::Bool32, f32: vk::Bool32, f64: vk::Bool32, independence| {
        let [f16, f32, f64] = [f16, f32, f64].map(|keeps| keeps == vk::TRUE);
        match independence {
            vk::ShaderFloatControlsIndependence::ALL => Widths { f16, f32, f64 },
            vk::ShaderFloatControlsIndependence::TYPE_32_ONLY => {
                Widths { f16: f16 && f64, f32, f64: f16 && f64 }
            }
            // One width cannot be asked for without the others.
            _ => Widths::all(f16 && f32 && f64),
        }
    };
    Ok(FloatControls {
        signed_zero_inf_nan_preserve: widths(
            found.shader_signed_zero_inf_nan_preserve_float16,
            found.shader_signed_zero_inf_nan_preserve_float32,
            found.shader_signed_zero_inf_nan_preserve_float64,
            vk::ShaderFloatControlsIndependence::ALL,
        ),
        denorm_preserve: widths(
            found.shader_denorm_preserve_float16,
            found.shader_denorm_preserve_float32,
            found.shader_denorm_preserve_float64,
            found.denorm_behavior_independence,
        ),
        rounding_mode_rte: widths(
            found.shader_rounding_mode_rte_float16,
            found.shader_rounding_mode_rte_float32,
            found.shader_rounding_mode_rte_float64,
            found.rounding_mode_independence,
        ),
    })
}

#[cfg(target_vendor = "apple")]
pub(super) fn of(_: &wgpu::Adapter) -> Result<FloatControls, Missing> {
    Err(Missing::Api)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_loader_is_not_asked_whatever_the_driver_is() {
        assert_eq!(check((1, 0), (1, 3)), Err(Missing::Loader((1, 0))));
        assert_eq!(check((1, 1), (1, 1)), Err(Missing::Driver((1, 1))));
        assert_eq!(check((1, 1), (1, 2)), Ok(()));
        assert_eq!(check((1, 3), (2, 0)), Ok(()));
        let text = Missing::Loader((1, 0)).to_string();
        assert_eq!(text, "the loader has Vulkan 1.0, and they need 1.1");
    }
}
