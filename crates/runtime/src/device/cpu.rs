//! The CPU as a device: kernels run in the SIMT interpreter, before the launch returns.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use smallvec::SmallVec;
use tilewise_check::{Wanted, WatchError, Watched};
use tilewise_interp::{Arg, Buffer, LaunchConfig, Limits, Options, Outcome, Program};
use tilewise_ir::analysis::Facts;
use tilewise_ir::pass::Optimizer;
use tilewise_ir::{Kernel, Scalar};

use crate::device::variants::Variants;
use crate::device::{
    ArgValue, Device, DeviceInfo, DeviceLaunch, DeviceLimits, Event, Executable, Memory, PinnedMemory,
    Stream, host_memory,
};
use crate::error::{Error, LaunchError, Result};
use crate::fault::{FaultReport, PendingFaults};
use crate::launch::TensorValue;
use crate::progress::Running;
use crate::watch::Watching;

/// Bytes that go between host and device memory at a time: they stay in the first-level cache.
const PIECE: usize = 16 * 1024;

/// The CPU device.
#[derive(Debug)]
pub(crate) struct Cpu {
    info: DeviceInfo,
    /// How many threads of the host work on a launch that does not say it. Asking takes longer than a small launch.
    cores: NonZeroUsize,
    faults: Arc<Mutex<PendingFaults>>,
}

/// What the CPU device is.
pub(crate) fn info() -> DeviceInfo {
    let limits = Limits::default();
    let cores = cores();
    DeviceInfo {
        name: "cpu".to_owned(),
        description: format!("SIMT interpreter on {cores} core{}", if cores.get() == 1 { "" } else { "s" }),
        multiprocessors: Some(cores.get()),
        limits: DeviceLimits {
            max_grid_dim: limits.grid.map(|n| n as usize),
            max_block_dim: limits.block.map(|n| n as usize),
            max_threads_per_block: limits.threads as usize,
            max_shared_memory_per_block: limits.shared_bytes,
        },
    }
}

impl Cpu {
    pub(crate) fn new() -> Cpu {
        Cpu { info: info(), cores: cores(), faults: Arc::default() }
    }
}

fn cores() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl Device for Cpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn can_watch(&self) -> bool {
        true
    }

    fn create_stream(&self) -> Result<Arc<dyn Stream>> {
        Ok(Arc::new(CpuStream))
    }

    fn allocate(&self, _: &dyn Stream, scalar: Scalar, len: usize) -> Result<Box<dyn Memory>> {
        let bytes = len as u128 * scalar.size() as u128;
        if host_memory::is_too_much(bytes) {
            return Err(Error::OutOfMemory {
                what: format!("a buffer of {len} {scalar}"),
                bytes,
                free: None,
            });
        }
        Ok(Box::new(CpuMemory(Buffer::new(scalar, len)?)))
    }

    fn allocate_pinned(&self, _: Scalar, _: usize) -> Result<Option<Box<dyn PinnedMemory>>> {
        Ok(None)
    }

    fn lower(&self, _: &mut Kernel) -> bool {
        false
    }

    fn compile(&self, kernel: Kernel, optimizer: Optimizer) -> Result<Arc<dyn Executable>> {
        Ok(Arc::new(CpuExecutable {
            variants: Variants::new(kernel, optimizer, nothing),
            cores: self.cores,
            faults: Arc::clone(&self.faults),
        }))
    }

    fn synchronize(&self) -> Result<Option<FaultReport>> {
        Ok(self.faults.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

/// A stream of the CPU device: what is enqueued has ended when the call returns.
#[derive(Debug)]
struct CpuStream;

impl Stream for CpuStream {
    fn record(&self) -> Result<Box<dyn Event>> {
        Ok(Box::new(CpuEvent(Instant::now())))
    }

    fn wait(&self, _: &dyn Event) -> Result<()> {
        Ok(())
    }
}

/// When a stream of the CPU device was asked.
#[derive(Debug)]
struct CpuEvent(Instant);

impl Event for CpuEvent {
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool> {
        Ok(true)
    }

    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Duration> {
        let earlier: &dyn Any = earlier;
        match earlier.downcast_ref::<CpuEvent>() {
            Some(CpuEvent(earlier)) => Ok(self.0.saturating_duration_since(*earlier)),
            None => unreachable!("an event of another context is refused before it gets to a device"),
        }
    }
}

/// Memory of the CPU device.
#[derive(Debug)]
struct CpuMemory(Buffer);

impl CpuMemory {
    /// Calls `f` with the start and the number of elements of each piece.
    fn pieces(&self, start: usize, len: usize, mut f: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        let step = PIECE / self.0.scalar().size();
        (start..start + len).step_by(step).try_for_each(|at| f(at, step.min(start + len - at)))
    }
}

impl Memory for CpuMemory {
    fn read(&self, start: usize, len: usize, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut piece = [0; PIECE];
        self.pieces(start, len, |at, count| {
            let bytes = &mut piece[..count * self.0.scalar().size()];
            self.0.read_bytes(at, bytes)?;
            sink(bytes);
            Ok(())
        })
    }

    fn write(&self, start: usize, len: usize, source: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let mut piece = [0; PIECE];
        self.pieces(start, len, |at, count| {
            let bytes = &mut piece[..count * self.0.scalar().size()];
            source(bytes);
            Ok(self.0.write_bytes(at, bytes)?)
        })
    }

    fn fill(&self, start: usize, len: usize, bits: u64) -> Result<()> {
        Ok(self.0.fill(start, len, bits)?)
    }

    fn copy_from(&self, source: &dyn Memory, len: usize) -> Result<()> {
        let source = own(source);
        let mut piece = [0; PIECE];
        self.pieces(0, len, |at, count| {
            let bytes = &mut piece[..count * self.0.scalar().size()];
            source.read_bytes(at, bytes)?;
            Ok(self.0.write_bytes(at, bytes)?)
        })
    }
}

/// The buffer behind memory of this device.
fn own(memory: &dyn Memory) -> &Buffer {
    let memory: &dyn Any = memory;
    match memory.downcast_ref::<CpuMemory>() {
        Some(CpuMemory(buffer)) => buffer,
        None => unreachable!("memory of another context is refused before it gets to a device"),
    }
}

/// A kernel for the interpreter.
#[derive(Debug)]
struct CpuExecutable {
    variants: Variants<Program>,
    cores: NonZeroUsize,
    faults: Arc<Mutex<PendingFaults>>,
}

/// A program of the interpreter depends on no more than the kernel.
fn nothing(_: Facts) -> Facts {
    Facts::default()
}

/// Memory of the host is aligned to its elements.
fn address(tensor: &TensorValue) -> u64 {
    tensor.offset * tensor.storage.scalar().size() as u64
}

impl Executable for CpuExecutable {
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()> {
        let program = self.variants.get(launch, address, |kernel, _| Ok(Program::compile(kernel)?))?;
        let args: SmallVec<[Arg<'_>; 8]> = launch
            .args
            .iter()
            .map(|arg| match arg {
                ArgValue::Scalar(value) => Arg::Scalar(*value),
                ArgValue::Tensor(tensor) => Arg::Tensor {
                    buffer: own(tensor.storage.memory()),
                    offset: tensor.offset,
                    extents: &tensor.extents,
                    strides: &tensor.strides,
                },
            })
            .collect();
        let wanted = launch.watching.as_ref().map_or(Wanted::default(), Watching::wanted);
        let running = launch
            .watching
            .as_ref()
            .and_then(|watching| watching.start(&self.variants.kernel().name, launch.grid));
        let mut lines = launch.output.lines();
        let options = Options {
            threads: Some(launch.threads.unwrap_or(self.cores)),
            max_rounds: launch.max_rounds.filter(|_| wanted.report),
            output: lines.as_mut().map(|lines| lines as &mut (dyn FnMut(&str) + Send)),
            ended: running.as_ref().map(Running::ended),
            ..Options::default()
        };
        let config = LaunchConfig { grid: launch.grid, block: launch.block };
        let run = match launch.watching {
            None => program.run(config, &args, options),
            Some(watching) => match tilewise_check::watch(&program, config, &args, options, wanted) {
                Ok(Watched { outcome, report, profile }) => {
                    // Whoever gets the report may print it.
                    drop(running);
                    watching.add(report, profile);
                    // What went wrong is in the report.
                    Ok(if wanted.report { Outcome::default() } else { outcome })
                }
                Err(WatchError::Launch(error)) => Err(error),
                Err(WatchError::OtherKernel { .. }) => {
                    unreachable!("the cache keeps a kernel and what is known of it for profiles together")
                }
            },
        };
        let outcome = match run {
            Ok(outcome) => outcome,
            Err(tilewise_interp::LaunchError::OutOfMemory(error)) => return Err(error.into()),
            Err(error) => return Err(LaunchError::Cpu(error).into()),
        };
        if let Some(fault) = outcome.first_fault {
            let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            faults.add(&self.variants.kernel().name, fault, outcome.fault_count);
        }
        Ok(())
    }
}
