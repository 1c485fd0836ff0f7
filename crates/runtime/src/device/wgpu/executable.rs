//! Launches: the variant of the kernel, what is bound to it, and the parts of its grid.

use std::sync::Arc;

use smallvec::SmallVec;
use tilewise_ir::analysis::Facts;
use tilewise_ir::pass::Optimizer;
use tilewise_ir::{Kernel, ParamId};
use tilewise_naga::Arg;
use tilewise_naga::module::{LAUNCH_BINDING, ScalarWords, TENSORS_BINDING};
use wgpu::{BindGroupEntry, BindingResource, BufferBinding, BufferSize};

use crate::device::variants::Variants;
use crate::device::wgpu::Shared;
use crate::device::wgpu::memory::WgpuMemory;
use crate::device::wgpu::shader::{self, Variant};
use crate::device::{ArgValue, DeviceLaunch, Executable};
use crate::error::{Error, Result};
use crate::launch::TensorValue;

/// The binding of memory of which nothing is used.
const LEAST: u64 = 16;

/// A kernel that can be launched.
#[derive(Debug)]
pub(super) struct WgpuExecutable {
    shared: Arc<Shared>,
    variants: Variants<Variant>,
}

/// The part of a buffer that is bound for a tensor.
struct Bound<'a> {
    param: ParamId,
    buffer: &'a wgpu::Buffer,
    offset: u64,
    size: u64,
    /// Number of the tensor's first element in it.
    start: u32,
}

impl WgpuExecutable {
    pub(super) fn new(shared: &Arc<Shared>, kernel: Kernel, optimizer: Optimizer) -> WgpuExecutable {
        WgpuExecutable {
            shared: Arc::clone(shared),
            variants: Variants::new(kernel, optimizer, |facts| facts),
        }
    }

    /// What is bound for a tensor.
    fn bound<'a>(&self, param: ParamId, tensor: &'a TensorValue) -> Result<Bound<'a>> {
        let memory = WgpuMemory::own(tensor.storage.memory());
        let limits = &self.shared.gpu.limits;
        let element = memory.bytes(1) as u64;
        let buffer = memory.buffer();
        let Some(span) = span(tensor) else {
            return Ok(Bound { param, buffer, offset: 0, size: LEAST, start: 0 });
        };
        // All are powers of two. Shaders read up to 16 bytes at once.
        let unit = u64::from(limits.min_storage_buffer_offset_alignment).max(element).max(LEAST);
        let first = tensor.offset * element;
        let offset = first / unit * unit;
        let needed = first - offset + span * element;
        // Elements are counted in 32 bits.
        let most = limits.max_storage_buffer_binding_size.min(element << 32) / LEAST * LEAST;
        if needed > most {
            let name = &self.variants.kernel().params[param.0 as usize].name;
            return Err(Error::Unsupported {
                kernel: self.variants.kernel().name.clone(),
                what: format!("tensor `{name}`, which spans {needed} bytes (the most is {most}),"),
                target: self.shared.gpu.name.clone(),
                location: None,
            });
        }
        let size = most.min(buffer.size() - offset);
        Ok(Bound { param, buffer, offset, size, start: ((first - offset) / element) as u32 })
    }

    /// The words of a launch, from its number on.
    fn words(
        &self,
        variant: &Variant,
        launch: &DeviceLaunch<'_>,
        bound: &[Bound<'_>],
        number: u32,
    ) -> Vec<u32> {
        let [x, y, z] = launch.grid;
        let mut words = vec![0, 0, 0, x, y, z, number, 0];
        let two = |words: &mut Vec<u32>, value: u64| words.extend([value as u32, (value >> 32) as u32]);
        for arg in &variant.args {
            match *arg {
                Arg::Start(param) => {
                    words
                        .push(bound.iter().find(|bound| bound.param == param).map_or(0, |bound| bound.start));
                }
                Arg::Scalar(param, size) => match (launch.args[param.0 as usize], size) {
                    (ArgValue::Scalar(value), ScalarWords::One) => words.push(value.bits as u32),
                    (ArgValue::Scalar(value), ScalarWords::Two) => two(&mut words, value.bits),
                    (ArgValue::Tensor(_), _) => unreachable!("{MISMATCH}"),
                },
                Arg::Extent(param, dim) => {
                    two(&mut words, tensor(launch, param).extents[usize::from(dim)]);
                }
                Arg::Stride(param, dim) => {
                    two(&mut words, tensor(launch, param).strides[usize::from(dim)]);
                }
            }
        }
        words.resize(variant.uniform_bytes as usize / 4, 0);
        words
    }

    fn enqueue(&self, launch: &DeviceLaunch<'_>, variant: &Variant) -> Result<()> {
        let shared = &self.shared;
        let gpu = &shared.gpu;
        let tensors =
            variant.tensors.iter().map(|bound| self.bound(bound.param, tensor(launch, bound.param)));
        let bound: SmallVec<[Bound<'_>; 8]> = tensors.collect::<Result<_>>()?;

        let mut queue = shared.queue();
        let (reports, number) = match variant.reports_binding {
            Some(binding) => {
                let (buffer, number) = queue.expect_reports(gpu, &variant.described, launch.output)?;
                (Some((binding, buffer)), number)
            }
            None => (None, 0),
        };
        let mut words = self.words(variant, launch, &bound, number);
        let group = gpu.call("create_bind_group", || {
            let words = BufferBinding {
                buffer: queue.launches(),
                offset: 0,
                size: BufferSize::new(variant.uniform_bytes.into()),
            };
            let mut entries: SmallVec<[BindGroupEntry<'_>; 10]> = SmallVec::new();
            entries
                .push(BindGroupEntry { binding: LAUNCH_BINDING, resource: BindingResource::Buffer(words) });
            for (binding, bound) in (TENSORS_BINDING..).zip(&bound) {
                let Bound { buffer, offset, size, .. } = *bound;
                let part = BufferBinding { buffer, offset, size: BufferSize::new(size) };
                entries.push(BindGroupEntry { binding, resource: BindingResource::Buffer(part) });
            }
            if let Some((binding, buffer)) = &reports {
                entries.push(BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() });
            }
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &variant.layout,
                entries: &entries,
            })
        })?;
        for (base, size) in parts(launch.grid, gpu.limits.max_compute_workgroups_per_dimension) {
            words[..3].copy_from_slice(&base);
            let place = queue.place_words(gpu, &words)?;
            queue.record(gpu, "dispatch_workgroups", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&variant.pipeline);
                pass.set_bind_group(0, &group, &[place]);
                let [x, y, z] = size;
                pass.dispatch_workgroups(x, y, z);
            })?;
        }
        queue.submit_if_due(gpu)
    }
}

const MISMATCH: &str = "the arguments of a launch fit the parameters of its kernel";

fn tensor<'a>(launch: &DeviceLaunch<'a>, param: ParamId) -> &'a TensorValue {
    match launch.args[param.0 as usize] {
        ArgValue::Tensor(tensor) => tensor,
        ArgValue::Scalar(_) => unreachable!("{MISMATCH}"),
    }
}

impl Executable for WgpuExecutable {
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()> {
        // Lines go to code of the user, so no lock is held.
        self.shared.read_reports_if_many()?;
        let compile = |kernel: &Kernel, facts: &Facts| {
            let (kernel, facts) = self.variants.vectorized(kernel, facts);
            shader::compile(&self.shared.gpu, &kernel, &facts)
        };
        self.enqueue(launch, &*self.variants.get(launch, address, compile)?)
    }
}

/// The address of a tensor's first element, as far as alignment goes: a binding starts at a multiple of what an access
/// reads at once.
fn address(tensor: &TensorValue) -> u64 {
    tensor.offset * WgpuMemory::own(tensor.storage.memory()).bytes(1) as u64
}

/// Elements from the first to the last of a tensor; `None` if it has none.
fn span(tensor: &TensorValue) -> Option<u64> {
    if tensor.extents.contains(&0) {
        return None;
    }
    let last =
        tensor.extents.iter().zip(&tensor.strides).map(|(extent, stride)| (extent - 1) * stride).sum::<u64>();
    Some(last + 1)
}

/// A grid in parts that have at most `most` blocks along each axis: the first block and the size of each.
fn parts(grid: [u32; 3], most: u32) -> impl Iterator<Item = ([u32; 3], [u32; 3])> {
    let most = most.max(1);
    let axis = move |n: u32| (0..n).step_by(most as usize).map(move |at| (at, most.min(n - at)));
    let [x, y, z] = grid;
    axis(z).flat_map(move |z| {
        axis(y).flat_map(move |y| axis(x).map(move |x| ([x.0, y.0, z.0], [x.1, y.1, z.1])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_that_fits_is_one_part() {
        assert_eq!(parts([7, 5, 3], 7).collect::<Vec<_>>(), [([0, 0, 0], [7, 5, 3])]);
    }

    #[test]
    fn parts_make_up_the_grid() {
        let found: Vec<_> = parts([10, 5, 1], 4).collect();
        assert_eq!(found.len(), 3 * 2);
        assert_eq!(found[0], ([0, 0, 0], [4, 4, 1]));
        assert_eq!(found[5], ([8, 4, 0], [2, 1, 1]));
        let blocks: u32 = found.iter().map(|(_, size)| size.iter().product::<u32>()).sum();
        assert_eq!(blocks, 50);
    }
}
