//! GPUs of any maker as devices, through wgpu: by Vulkan, Metal or Direct3D 12.
//!
//! [`adapter`] lists and chooses adapters, [`gpu`] opens one and gives its errors as values, [`stream`] has the queue and
//! the order of work, [`memory`] copies and fills, [`shader`] compiles, [`probe`] asks an adapter what its API leaves open,
//! [`executable`] launches, [`reports`] reads what kernels say.
//!
//! All that is enqueued on a device is enqueued under one lock ([`Shared::queue`]). No code of the user runs while it is
//! held.

mod adapter;
mod executable;
mod float_controls;
mod gpu;
mod memory;
mod probe;
mod reports;
mod shader;
mod stream;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tilewise_ir::pass::{self, Optimizer};
use tilewise_ir::{Kernel, Scalar};

use crate::device::wgpu::adapter::{Found, Kind};
use crate::device::wgpu::executable::WgpuExecutable;
use crate::device::wgpu::gpu::Gpu;
use crate::device::wgpu::memory::{Staging, WgpuMemory};
use crate::device::wgpu::stream::{Queue, StampParts, WgpuStream};
use crate::device::{Device, DeviceInfo, Executable, Memory, PinnedMemory, Stream};
use crate::error::Result;
use crate::fault::{FaultReport, PendingFaults};

/// An adapter that is open.
#[derive(Debug)]
pub(super) struct WgpuDevice {
    info: DeviceInfo,
    shared: Arc<Shared>,
}

/// What memory, streams and kernels of a device have of it.
pub(crate) struct Shared {
    gpu: Gpu,
    queue: Mutex<Queue>,
    staging: Mutex<Vec<Staging>>,
    stamps: Mutex<Vec<StampParts>>,
    faults: Mutex<PendingFaults>,
}

/// The adapters that can be opened: those that are GPUs, the best first, and those that compute on the CPU.
pub(super) fn available() -> (Vec<DeviceInfo>, Vec<DeviceInfo>) {
    let (software, gpus): (Vec<Found>, Vec<Found>) = adapter::all().into_iter().partition(Found::is_software);
    let infos = |found: Vec<Found>| found.iter().map(Found::device_info).collect();
    (infos(gpus), infos(software))
}

/// Opens the adapter that a name means; `name` is as it was asked for, `wanted` in small letters.
pub(super) fn open(name: &str, wanted: &str) -> Option<Result<WgpuDevice>> {
    let (kind, number) = Kind::parse(wanted)?;
    Some(adapter::find(name, kind, number).and_then(|found| WgpuDevice::new(&found)))
}

impl WgpuDevice {
    fn new(found: &Found) -> Result<WgpuDevice> {
        let gpu = Gpu::open(found)?;
        let queue = Mutex::new(Queue::new(&gpu)?);
        let (staging, stamps, faults) = Default::default();
        Ok(WgpuDevice {
            info: found.device_info(),
            shared: Arc::new(Shared { gpu, queue, staging, stamps, faults }),
        })
    }
}

impl Shared {
    /// What is enqueued; nobody else enqueues meanwhile.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle_staging(&self) -> MutexGuard<'_, Vec<Staging>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle_stamps(&self) -> MutexGuard<'_, Vec<StampParts>> {
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all that was enqueued before the call. Others may enqueue meanwhile.
    fn wait(&self) -> Result<()> {
        let submission = self.queue().submit(&self.gpu)?;
        self.gpu.wait(Some(submission))
    }
}

impl Device for WgpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self) -> Result<Arc<dyn Stream>> {
        Ok(Arc::new(WgpuStream { shared: Arc::clone(&self.shared) }))
    }

    fn allocate(&self, _: &dyn Stream, scalar: Scalar, len: usize) -> Result<Box<dyn Memory>> {
        Ok(Box::new(WgpuMemory::new(&self.shared, scalar, len)?))
    }

    fn allocate_pinned(&self, _: Scalar, _: usize) -> Result<Option<Box<dyn PinnedMemory>>> {
        Ok(None)
    }

    fn lower(&self, kernel: &mut Kernel) -> bool {
        // What it becomes relies on arithmetic that a driver leaves as it is.
        self.shared.gpu.exact && pass::lower::math::run(kernel)
    }

    fn compile(&self, kernel: Kernel, optimizer: Optimizer) -> Result<Arc<dyn Executable>> {
        Ok(Arc::new(WgpuExecutable::new(&self.shared, kernel, optimizer)))
    }

    fn synchronize(&self) -> Result<Option<FaultReport>> {
        self.shared.wait()?;
        self.shared.read_reports()?;
        self.shared.gpu.check_uncaptured()?;
        Ok(self.shared.faults.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("gpu", &self.gpu).finish_non_exhaustive()
    }
}
