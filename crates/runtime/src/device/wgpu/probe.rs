//! What an API leaves to the adapter, and no query tells: found out by running a small kernel.
//!
//! Vulkan lets `fma` round twice. Of all the GPUs that have an instruction for it none does, Mesa's software adapter does,
//! and an adapter may be anything. It is asked once, when a kernel is compiled that has such an operation.

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, Op, Scalar};
use tilewise_naga::Capabilities;
use tilewise_naga::module::{LAUNCH_BINDING, TENSORS_BINDING};
use wgpu::{BindGroupEntry, BufferUsages};

use crate::device::wgpu::gpu::Gpu;
use crate::device::wgpu::shader::{self, Variant};
use crate::device::wgpu::stream::Mapping;
use crate::error::{Error, Result};

/// Products and sums that are computed.
const CASES: usize = 64;

/// Whether a kernel has an operation that is right only if the adapter's `fma` rounds once.
pub(super) fn asks_for_fused_mul_add(kernel: &Kernel) -> bool {
    let mut asks = false;
    kernel.body.visit(&mut |inst| {
        let scalar = inst.result().map(|result| kernel.ty(result).scalar);
        asks |= inst.op == Op::MulAdd && matches!(scalar, Some(Scalar::F32 | Scalar::F64));
    });
    asks
}

/// Whether the adapter's `fma` rounds once, of all types that it has.
pub(super) fn has_fused_mul_add(gpu: &Gpu) -> Result<bool> {
    let singles: Vec<[f32; 3]> = (0..CASES).map(|n| case(n).map(|x| x as f32)).collect();
    let expected = singles.iter().flat_map(|[a, b, c]| a.mul_add(*b, *c).to_le_bytes()).collect::<Vec<u8>>();
    let operands = singles.iter().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let mut fused = mul_adds(gpu, Scalar::F32, &operands)? == expected;
    let Capabilities { f64, int64, .. } = gpu.capabilities;
    if fused && f64 && int64 {
        let doubles: Vec<[f64; 3]> = (0..CASES).map(case).collect();
        let expected =
            doubles.iter().flat_map(|[a, b, c]| a.mul_add(*b, *c).to_le_bytes()).collect::<Vec<u8>>();
        let operands = doubles.iter().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        fused = mul_adds(gpu, Scalar::F64, &operands)? == expected;
    }
    Ok(fused)
}

/// Operands whose product has more digits than a float; a product that is rounded before the sum shows in all digits of
/// half of the sums, and in the last of some of the others.
fn case(n: usize) -> [f64; 3] {
    let n = n as f64;
    let a = (1.0 + (2.0 * n + 1.0) / 4099.0) as f32;
    let b = (1.0 - (3.0 * n + 1.0) / 2053.0) as f32;
    // Single digits, of which doubles have some more.
    let [a, b] = [a, b].map(|x| f64::from(x) * (1.0 + f64::EPSILON * n));
    let c = if n % 2.0 == 0.0 { -(a * b) } else { 0.3 - n / 7.0 };
    [a, b, c]
}

/// The bytes of `a * b + c` for operands that stand one after the other, as the device's `fma` computes them.
fn mul_adds(gpu: &Gpu, scalar: Scalar, operands: &[u8]) -> Result<Vec<u8>> {
    let variant = compile(gpu, scalar)?;
    let size = (operands.len() / 3) as u64;
    let (submission, read) = gpu.call("dispatch_workgroups", || {
        let buffer = |size, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let words = buffer(variant.uniform_bytes.into(), BufferUsages::UNIFORM | BufferUsages::COPY_DST);
        let input = buffer(operands.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_DST);
        let output = buffer(size, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
        let read = buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        // A grid of one block; the tensors start where their bindings do.
        let launch: Vec<u8> = [0, 0, 0, 1, 1, 1].iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        gpu.queue.write_buffer(&words, 0, &launch);
        gpu.queue.write_buffer(&input, 0, operands);
        let buffers = [(LAUNCH_BINDING, &words), (TENSORS_BINDING, &output), (TENSORS_BINDING + 1, &input)];
        let entries =
            buffers.map(|(binding, buffer)| BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &variant.layout,
            entries: &entries,
        });
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&variant.pipeline);
        pass.set_bind_group(0, &group, &[0]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&output, 0, &read, 0, size);
        (gpu.queue.submit([encoder.finish()]), read)
    })?;
    let mut bytes = Vec::new();
    let mapping = Mapping::start(gpu, &read, size as usize)?;
    mapping.finish(gpu, Some(submission), &mut |read| bytes.extend_from_slice(read))?;
    Ok(bytes)
}

/// A kernel that computes them, each thread one.
fn compile(gpu: &Gpu, scalar: Scalar) -> Result<Variant> {
    let text = format!(
        "kernel @mul_add(%out: tensor<{scalar}, 1, mut>, %in: tensor<{scalar}, 1>) {{
           %0 = thread_idx.x
           %1 = const index 3
           %2 = const index 1
           %3 = mul %0, %1
           %4 = add %3, %2
           %5 = add %4, %2
           %6 = load %in[%3] : {scalar}
           %7 = load %in[%4] : {scalar}
           %8 = load %in[%5] : {scalar}
           %9 = mul_add %6, %7, %8
           store %out[%0], %9
           return
         }}"
    );
    let kernel: Kernel = text.parse().map_err(|error: tilewise_ir::text::ParseError| Error::Assemble {
        kernel: "mul_add".to_owned(),
        log: error.to_string(),
    })?;
    let mut facts = Facts { block: Some([CASES as u32, 1, 1]), ..Facts::unknown(&kernel) };
    facts.narrow.fill(true);
    shader::compile_for(gpu, &kernel, &facts, &Capabilities { fused_mul_add: true, ..gpu.capabilities })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_twice_shows() {
        let differs = (0..CASES).filter(|&n| {
            let [a, b, c] = case(n);
            a.mul_add(b, c) != a * b + c
        });
        assert!(differs.count() > CASES / 4);
        let differs = (0..CASES).filter(|&n| {
            let [a, b, c] = case(n).map(|x| x as f32);
            a.mul_add(b, c) != a * b + c
        });
        assert!(differs.count() > CASES / 4);
    }
}
