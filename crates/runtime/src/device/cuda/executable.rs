//! A kernel and the variants of it that were compiled for the numbers of its launches.
//!
//! The numbers of a launch (grid, block, extents, strides, integers, alignments) give [facts](tilewise_ir::analysis), and
//! the facts give the variant. A launch whose numbers were seen before neither analyses nor allocates.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHasher;
use smallvec::SmallVec;
use tilewise_ir::analysis::{self, Facts, LaunchNumbers};
use tilewise_ir::{Kernel, ParamId};
use tilewise_ptx::Arg;

use crate::device::cuda::Shared;
use crate::device::cuda::assembler::Variant;
use crate::device::cuda::driver::{Bound, Failure};
use crate::device::cuda::memory::CudaMemory;
use crate::device::cuda::numbers::Numbers;
use crate::device::cuda::stream::CudaStream;
use crate::device::cuda::table::Table;
use crate::device::{ArgValue, DeviceLaunch, Executable};
use crate::error::{Error, LaunchError, Result};
use crate::launch::TensorValue;

/// The most launches whose numbers are remembered.
const NUMBERS: usize = 64;

/// The most variants that are kept.
const VARIANTS: usize = 16;

/// A kernel that can be launched.
#[derive(Debug)]
pub(super) struct CudaExecutable {
    shared: Arc<Shared>,
    kernel: Kernel,
    variants: Mutex<Variants>,
}

#[derive(Debug)]
struct Variants {
    by_numbers: Table<LaunchNumbers, Arc<Variant>>,
    by_facts: Table<Facts, Arc<Variant>>,
}

impl CudaExecutable {
    pub(super) fn new(shared: &Arc<Shared>, kernel: Kernel) -> CudaExecutable {
        let variants = Variants { by_numbers: Table::new(NUMBERS), by_facts: Table::new(VARIANTS) };
        CudaExecutable { shared: Arc::clone(shared), kernel, variants: Mutex::new(variants) }
    }

    /// Calls `enqueue` with the variant for a launch. Others who launch the same kernel wait meanwhile.
    fn with_variant(
        &self,
        launch: &DeviceLaunch<'_>,
        enqueue: impl FnOnce(&Variant) -> Result<()>,
    ) -> Result<()> {
        let numbers = Numbers::new(launch, address);
        let hash = numbers.hash();
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = variants.by_numbers.get(hash, |known| numbers.are(known)) {
            return enqueue(variant);
        }
        let bound = self.shared.context.bind()?;
        let numbers = numbers.to_launch_numbers();
        let facts = analysis::analyze(&self.kernel, &numbers);
        let mut hasher = FxHasher::default();
        facts.hash(&mut hasher);
        let facts_hash = hasher.finish();
        let variant = match variants.by_facts.get(facts_hash, |known| *known == facts) {
            Some(variant) => Arc::clone(variant),
            None => {
                let compiled = self.shared.assembler.compile(bound, &self.kernel, &facts)?;
                let variant = Arc::new(compiled);
                variants.by_facts.insert(facts_hash, facts, Arc::clone(&variant));
                variant
            }
        };
        variants.by_numbers.insert(hash, numbers, Arc::clone(&variant));
        enqueue(&variant)
    }

    fn enqueue(&self, launch: &DeviceLaunch<'_>, variant: &Variant) -> Result<()> {
        let stream = CudaStream::own(launch.stream);
        let threads: u32 = launch.block.iter().product();
        if threads > variant.function.threads {
            return Err(LaunchError::Registers {
                kernel: self.kernel.name.clone(),
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
            kernel: self.kernel.name.clone(),
            grid: launch.grid.map(|n| n as usize),
            block: launch.block.map(|n| n as usize),
            error,
        }
        .into()
    }
}

impl Executable for CudaExecutable {
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()> {
        self.with_variant(launch, |variant| self.enqueue(launch, variant))
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
