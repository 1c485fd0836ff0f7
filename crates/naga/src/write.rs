//! The shader as code: SPIR-V, WGSL, MSL or HLSL, as naga's writers write it.
//!
//! Bindings keep their numbers: those of [`module`](crate::module) are descriptors of set 0 in SPIR-V, bindings of group 0
//! in WGSL, buffer slots in MSL (the slot behind them holds the sizes of the buffers, which naga's code takes), registers
//! of space 0 in HLSL. No code is added that checks indices, bounds loops, or clears shared memory: the kernel has the
//! checks that it needs.

use crate::module::{LAUNCH_BINDING, Module, TENSORS_BINDING};
use naga::ResourceBinding;
use naga::back::{hlsl, msl, spv, wgsl};
use naga::valid::ModuleInfo;

/// The version of SPIR-V that is written: that of Vulkan 1.1.
pub const SPIRV_VERSION: (u8, u8) = (1, 3);

/// The version of the Metal Shading Language that is written.
pub const MSL_VERSION: (u8, u8) = (3, 1);

/// The shader model of the HLSL that is written.
pub const HLSL_MODEL: &str = "6.6";

/// Code that could not be written. A module that [`compile`](crate::compile) gives for the capabilities of the language's
/// target does not come to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` cannot be written as {language}: {reason}")]
pub struct WriteError {
    /// Name of the kernel.
    pub kernel: String,
    /// What was to be written.
    pub language: &'static str,
    /// What naga says.
    pub reason: String,
}

/// The words of a SPIR-V module, whose arithmetic on floats a driver leaves as it is ([`exact`](crate::spirv::exact)).
///
/// # Errors
///
/// What naga's validator or writer refuses.
pub fn spirv(module: &Module) -> Result<Vec<u32>, WriteError> {
    let write = Write { module, language: "SPIR-V" };
    let info = write.validated()?;
    let place = |binding| spv::BindingInfo { descriptor_set: 0, binding, binding_array_size: None };
    let options = spv::Options {
        lang_version: SPIRV_VERSION,
        flags: spv::WriterFlags::empty(),
        binding_map: module.bindings().map(|(at, _)| (at, place(at.binding))).collect(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module.shader, &info, &options, None).map_err(|error| write.failed(error))?;
    Ok(crate::spirv::exact(&words, &module.capabilities.float_controls))
}

/// The shader in the WebGPU Shading Language.
///
/// # Errors
///
/// What naga's validator or writer refuses.
pub fn wgsl(module: &Module) -> Result<String, WriteError> {
    let write = Write { module, language: "WGSL" };
    let info = write.validated()?;
    wgsl::write_string(&module.shader, &info, wgsl::WriterFlags::empty()).map_err(|error| write.failed(error))
}

/// The shader in the Metal Shading Language.
///
/// # Errors
///
/// What naga's validator or writer refuses.
pub fn msl(module: &Module) -> Result<String, WriteError> {
    let write = Write { module, language: "MSL" };
    let info = write.validated()?;
    let mut resources = msl::EntryPointResources::default();
    for (at, mutable) in module.bindings() {
        // Metal has fewer slots than a byte can tell; a slot too many is left out, and naga names what is missing.
        let buffer = u8::try_from(at.binding).ok();
        resources.resources.insert(at, msl::BindTarget { buffer, mutable, ..msl::BindTarget::default() });
    }
    resources.sizes_buffer = u8::try_from(resources.resources.len()).ok();
    let entries = module.shader.entry_points.iter();
    let options = msl::Options {
        lang_version: MSL_VERSION,
        per_entry_point_map: entries.map(|entry| (entry.name.clone(), resources.clone())).collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        ..msl::Options::default()
    };
    let written = msl::write_string(&module.shader, &info, &options, &msl::PipelineOptions::default());
    let (code, info) = written.map_err(|error| write.failed(error))?;
    for entry in info.entry_point_names {
        entry.map_err(|error| write.failed(error))?;
    }
    Ok(code)
}

/// The shader in the High-Level Shader Language of Direct3D 12.
///
/// # Errors
///
/// What naga's validator or writer refuses.
pub fn hlsl(module: &Module) -> Result<String, WriteError> {
    let write = Write { module, language: "HLSL" };
    let info = write.validated()?;
    let target = |register| hlsl::BindTarget { space: 0, register, ..hlsl::BindTarget::default() };
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_6,
        binding_map: module.bindings().map(|(at, _)| (at, target(at.binding))).collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..hlsl::Options::default()
    };
    let mut code = String::new();
    let written = hlsl::Writer::new(&mut code, &options, &hlsl::PipelineOptions { entry_point: None }).write(
        &module.shader,
        &info,
        None,
    );
    let reflection = written.map_err(|error| write.failed(error))?;
    for entry in reflection.entry_point_names {
        entry.map_err(|error| write.failed(error))?;
    }
    Ok(code)
}

struct Write<'a> {
    module: &'a Module,
    language: &'static str,
}

impl Write<'_> {
    fn validated(&self) -> Result<ModuleInfo, WriteError> {
        self.module.validate().map_err(|error| self.failed(error.emit_to_string("")))
    }

    fn failed(&self, reason: impl ToString) -> WriteError {
        let kernel = self.module.shader.entry_points.first().map(|entry| entry.name.clone());
        let (kernel, reason) = (kernel.unwrap_or_default(), reason.to_string());
        WriteError { kernel, language: self.language, reason }
    }
}

impl Module {
    /// The bindings, and whether each is written.
    fn bindings(&self) -> impl Iterator<Item = (ResourceBinding, bool)> {
        let at = |binding| ResourceBinding { group: 0, binding };
        let tensors = (TENSORS_BINDING..).zip(&self.tensors);
        std::iter::once((at(LAUNCH_BINDING), false))
            .chain(tensors.map(move |(n, tensor)| (at(n), tensor.writable)))
            .chain(self.reports_binding().map(|n| (at(n), true)))
    }
}
