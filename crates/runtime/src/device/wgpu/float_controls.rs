//! What a driver of Vulkan can be told to leave of floats as it is, which wgpu does not say.

use tilewise_naga::FloatControls;

/// What an adapter keeps if a shader asks for it. Only SPIR-V can ask, so adapters of other APIs keep nothing.
#[cfg(not(target_vendor = "apple"))]
#[expect(unsafe_code, reason = "wgpu hands its handles out as unsafe, and so are calls of Vulkan")]
pub(super) fn of(adapter: &wgpu::Adapter) -> FloatControls {
    use ash::vk;
    use tilewise_naga::Widths;

    // SAFETY: nothing is destroyed by what is done with the handles.
    let Some(adapter) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else {
        return FloatControls::NONE;
    };
    let (instance, device) = (adapter.shared_instance().raw_instance(), adapter.raw_physical_device());
    // SAFETY: the device is one of the instance, and both live as long as the adapter.
    let version = unsafe { instance.get_physical_device_properties(device) }.api_version;
    // The question is part of the language from here on, and so is the answer.
    if version < vk::API_VERSION_1_2 {
        return FloatControls::NONE;
    }
    let mut found = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
    // SAFETY: the device has the version that has the call, and the chain ends with a structure that version knows.
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
    FloatControls {
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
    }
}

#[cfg(target_vendor = "apple")]
pub(super) fn of(_: &wgpu::Adapter) -> FloatControls {
    FloatControls::NONE
}
