//! A kernel that can be launched.

use std::sync::Arc;

use smallvec::SmallVec;
use tilewise_ir::analysis::Facts;
use tilewise_ir::pass::Optimizer;
use tilewise_ir::{Kernel, ParamId};
use tilewise_ptx::Arg;

use crate::device::cuda::Shared;
use crate::device::cuda::assembler::Variant;
use crate::device::cuda::driver::{Bound, Failure};
use crate::device::cuda::memory::CudaMemory;
use crate::device::cuda::stream::CudaStream;
use crate::device::variants::Variants;
use crate::device::{ArgValue, DeviceLaunch, Executable};
use crate::error::{Error, LaunchError, Result};
use crate::launch::TensorValue;

/// A kernel that can be launched.
#[derive(Debug)]
pub(super) struct CudaExecutable {
    shared: Arc<Shared>,
    variants: Variants<Variant>,
}

impl CudaExecutable {
    pub(super) fn new(shared: &Arc<Shared>, kernel: Kernel, optimizer: Optimizer) -> CudaExecutable {
        CudaExecutable {
            shared: Arc::clone(shared),
            variants: Variants::new(kernel, optimizer, |facts| facts),
        }
    }

    fn enqueue(&self, launch: &DeviceLaunch<'_>, variant: &Variant) -> Result<()> {
        let stream = CudaStream::own(launch.stream);
        let threads: u32 = launch.block.iter().product();
        if threads > variant.function.threads {
            return Err(LaunchError::Registers {
                kernel: self.variants.kernel().name.clone(),
                threads: threads as usize,
                registers: variant.function.registers as usize,
                limit: variant.function.threads as usize,
            }
            .into());
        }
        let mut queue = self.shared.queue();
        for arg in launch.args {
            if let ArgValue::Tensor(tensor) = arg {
                queue.order(&CudaMemory::own(tensor.storage.memory()).last_use, stream.id())?;
            }
        }
        let (reports, number) = match variant.reports() {
            true => {
                let bound = self.shared.context.bind()?;
                queue.reports.expect(bound, stream.driver(), &variant.described, launch.output)?
            }
            false => (0, 0),
        };
        let mut params: SmallVec<[u64; 12]> =
            variant.args.iter().map(|arg| parameter(*arg, launch.args, reports, number)).collect();
        let mut run = |bound: Bound| {
            bound.launch(&variant.function, launch.grid, launch.block, &mut params, stream.driver())
        };
        let context = self.shared.context;
        let outcome = match run(context.bind_for_launch()?) {
            Err(failure) if failure.is_other_context() => run(context.bind()?),
            outcome => outcome,
        };
        outcome.map_err(|failure| self.refused(launch, variant, failure))
    }

    /// What a launch that the driver has refused is told.
    fn refused(&self, launch: &DeviceLaunch<'_>, variant: &Variant, failure: Failure) -> Error {
        if failure.is_fatal() {
            return failure.into();
        }
        let mut error = failure.error();
        if failure.is_out_of_resources() {
            let (registers, threads) = (variant.function.registers, variant.function.threads);
            error.push_str(&format!(
                "; a thread takes {registers} registers, and a block of this kernel has at most {threads} threads"
            ));
        }
        LaunchError::Refused {
            kernel: self.variants.kernel().name.clone(),
            grid: launch.grid.map(|n| n as usize),
            block: launch.block.map(|n| n as usize),
            error,
        }
        .into()
    }
}

impl Executable for CudaExecutable {
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()> {
        let compile = |kernel: &Kernel, facts: &Facts| {
            let bound = self.shared.context.bind()?;
            let (kernel, facts) = self.variants.vectorized(kernel, facts);
            self.shared.assembler.compile(bound, &kernel, &facts)
        };
        self.enqueue(launch, &*self.variants.get(launch, address, compile)?)
    }
}

/// The address of a tensor's first element.
fn address(tensor: &TensorValue) -> u64 {
    CudaMemory::own(tensor.storage.memory()).address(tensor.offset)
}

/// The word that a parameter of the function is passed as.
fn parameter(arg: Arg, args: &[&ArgValue], reports: u64, launch: u64) -> u64 {
    let tensor = |param: ParamId| match args[param.0 as usize] {
        ArgValue::Tensor(tensor) => tensor,
        ArgValue::Scalar(_) => unreachable!("the arguments of a launch fit the parameters of its kernel"),
    };
    match arg {
        Arg::Data(param) => address(tensor(param)),
        Arg::Extent(param, dim) => tensor(param).extents[usize::from(dim)],
        Arg::Stride(param, dim) => tensor(param).strides[usize::from(dim)],
        Arg::Scalar(param) => match args[param.0 as usize] {
            // The driver takes the low bytes, which come first in memory.
            ArgValue::Scalar(value) => value.bits.to_le(),
            ArgValue::Tensor(_) => unreachable!("the arguments of a launch fit the parameters of its kernel"),
        },
        Arg::Reports => reports,
        Arg::Launch => launch,
    }
}
