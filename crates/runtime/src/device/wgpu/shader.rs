//! From a kernel and facts to a pipeline: a shader by [`tilewise_naga`], as SPIR-V that keeps the arithmetic on floats as
//! it is written where the adapter takes that, else in whatever language wgpu writes.

use std::borrow::Cow;
use std::sync::Arc;

use tilewise_ir::Kernel;
use tilewise_ir::analysis::Facts;
use tilewise_naga::module::{LAUNCH_BINDING, TENSORS_BINDING, Tensor};
use tilewise_naga::{Arg, Capabilities, Module, write};
use wgpu::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use crate::device::reports::Described;
use crate::device::wgpu::gpu::Gpu;
use crate::error::{Error, Result, by_naga};

/// A kernel compiled for some facts.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
    /// The words of a launch behind its own.
    pub(super) args: Vec<Arg>,
    /// The tensors that are bound.
    pub(super) tensors: Vec<Tensor>,
    /// Bytes of the words of a launch.
    pub(super) uniform_bytes: u32,
    /// Binding of the reports, if there is anything to report.
    pub(super) reports_binding: Option<u32>,
    /// What its reports mean.
    pub(super) described: Arc<Described>,
}

/// Compiles a kernel for facts.
pub(super) fn compile(gpu: &Gpu, kernel: &Kernel, facts: &Facts) -> Result<Variant> {
    compile_for(gpu, kernel, facts, &gpu.capabilities_for(kernel)?)
}

/// Compiles a kernel for facts, and what the adapter can do.
pub(super) fn compile_for(
    gpu: &Gpu,
    kernel: &Kernel,
    facts: &Facts,
    capabilities: &Capabilities,
) -> Result<Variant> {
    let module = tilewise_naga::compile(kernel, facts, capabilities)
        .map_err(|unsupported| by_naga(unsupported, &gpu.name))?;
    let spirv = gpu.exact.then(|| write::spirv(&module)).transpose();
    let spirv =
        spirv.map_err(|error| Error::Assemble { kernel: kernel.name.clone(), log: error.to_string() })?;
    let assembled = gpu.call("create_compute_pipeline", || {
        let shader = shader(gpu, &module, spirv);
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(&kernel.name),
            entries: &bindings(&module),
        });
        let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&kernel.name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&kernel.name),
            layout: Some(&pipeline_layout),
            module: &shader,
            entry_point: Some(&module.shader.entry_points[0].name),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Shared memory has no contents at first.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        (layout, pipeline)
    });
    let (layout, pipeline) = assembled.map_err(|error| match Error::from(error) {
        Error::Driver { error, .. } => Error::Assemble { kernel: kernel.name.clone(), log: error },
        other => other,
    })?;
    let (uniform_bytes, reports_binding) = (module.uniform_bytes(), module.reports_binding());
    let Module { args, tensors, sites, .. } = module;
    let described = Described { name: kernel.name.clone(), sites, spans: kernel.spans.clone() };
    let described = Arc::new(described);
    Ok(Variant { pipeline, layout, args, tensors, uniform_bytes, reports_binding, described })
}

/// The layout of the group of bindings.
fn bindings(module: &Module) -> Vec<BindGroupLayoutEntry> {
    let entry = |binding, ty, size| BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset: binding == LAUNCH_BINDING, min_binding_size: size },
        count: None,
    };
    let storage = |read_only| BufferBindingType::Storage { read_only };
    let words = wgpu::BufferSize::new(module.uniform_bytes().into());
    let mut entries = vec![entry(LAUNCH_BINDING, BufferBindingType::Uniform, words)];
    let tensors = (TENSORS_BINDING..).zip(&module.tensors);
    entries.extend(tensors.map(|(n, tensor)| entry(n, storage(!tensor.writable), None)));
    entries.extend(module.reports_binding().map(|n| entry(n, storage(false), None)));
    entries
}

/// The shader, without checks by wgpu: the kernel has those that it needs.
#[expect(unsafe_code, reason = "wgpu cannot know that the kernel keeps within its bindings")]
fn shader(gpu: &Gpu, module: &Module, spirv: Option<Vec<u32>>) -> wgpu::ShaderModule {
    let entry = &module.shader.entry_points[0];
    let Some(words) = spirv else {
        let source = wgpu::ShaderSource::Naga(Cow::Owned(module.shader.clone()));
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(&entry.name), source };
        // SAFETY: accesses are in bounds, or guarded by comparisons with the extents, which are inside of the bindings
        // (`Launch::unchecked` hands that over to the user); no loop relies on being bounded, and divisors are not zero.
        return unsafe {
            gpu.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        };
    };
    let [x, y, z] = entry.workgroup_size;
    let entry_point =
        wgpu::PassthroughShaderEntryPoint { name: Cow::Borrowed(&entry.name), workgroup_size: (x, y, z) };
    // SAFETY: the words are what naga has written of a module that it has validated, with decorations more that only forbid
    // simplifications, and execution modes that the device has been asked for; its bindings are those of the layout that the pipeline is made with. Accesses as above.
    unsafe {
        gpu.device.create_shader_module_passthrough(wgpu::ShaderModuleDescriptorPassthrough {
            label: Some(&entry.name),
            entry_points: Cow::Owned(vec![entry_point]),
            spirv: Some(Cow::Owned(words)),
            ..Default::default()
        })
    }
}
