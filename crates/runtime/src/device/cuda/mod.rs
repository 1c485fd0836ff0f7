//! NVIDIA GPUs as devices, through the CUDA driver, which is loaded when a GPU is asked for.
//!
//! [`driver`] is the driver made safe; nothing else calls it. [`stream`] has the queues and the order of work on the same
//! memory, [`memory`] copies and fills, [`executable`] launches, [`assembler`] compiles with the help of the
//! [`disk_cache`], [`reports`] reads what kernels say.
//!
//! All that is enqueued on a device is enqueued under one lock ([`Shared::queue`]), so that the order of work on the same
//! memory is one that everybody sees alike. No code of the user runs while it is held.

mod assembler;
mod disk_cache;
mod driver;
mod executable;
mod memory;
mod pinned;
mod reports;
mod staging;
mod stream;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::CUdevice_attribute;
use smallvec::SmallVec;
use tilewise_ir::pass::{self, Optimizer};
use tilewise_ir::{Kernel, Scalar};

use crate::device::cuda::assembler::Assembler;
use crate::device::cuda::disk_cache::DiskCache;
use crate::device::cuda::driver::{Context, Failure, Gpu};
use crate::device::cuda::executable::CudaExecutable;
use crate::device::cuda::memory::CudaMemory;
use crate::device::cuda::pinned::CudaPinned;
use crate::device::cuda::staging::Staging;
use crate::device::cuda::stream::{CudaStream, Queue};
use crate::device::{Device, DeviceInfo, DeviceLimits, Executable, Memory, PinnedMemory, Stream};
use crate::error::{Error, Result};
use crate::fault::{FaultReport, PendingFaults};

/// The oldest version of CUDA that the driver has to support.
const OLDEST_DRIVER: u32 = 12_000;

/// The lowest compute capability.
const OLDEST_CAPABILITY: u32 = 75;

/// The library that has the driver.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// A GPU that is open.
#[derive(Debug)]
pub(super) struct CudaDevice {
    info: DeviceInfo,
    shared: Arc<Shared>,
}

/// What memory, streams and kernels of a device have of it.
pub(crate) struct Shared {
    context: &'static Context,
    assembler: Assembler,
    queue: Mutex<Queue>,
    staging: Mutex<Vec<Staging>>,
    faults: Mutex<PendingFaults>,
}

/// The GPUs that can be opened, in the driver's order, which has the fastest first.
pub(super) fn available() -> Vec<DeviceInfo> {
    let Ok(version) = start("nvidia") else { return Vec::new() };
    let count = Gpu::count().unwrap_or(0);
    let infos = (0..count).filter_map(|number| {
        let gpu = Gpu::get(number).ok()?;
        let is_new_enough = capability(gpu).is_ok_and(|capability| capability >= OLDEST_CAPABILITY);
        is_new_enough.then(|| info(gpu, number, version).ok()).flatten()
    });
    infos.collect()
}

/// Opens the GPU with a number, which was asked for as `name`; `None` if there are not as many.
pub(super) fn open(name: &str, number: usize) -> Result<Option<CudaDevice>> {
    let version = start(name)?;
    match Gpu::count()? {
        0 => return Err(no_hardware(name)),
        count if number >= count => return Ok(None),
        _ => {}
    }
    let gpu = Gpu::get(number)?;
    let info = info(gpu, number, version)?;
    let capability = capability(gpu)?;
    if capability < OLDEST_CAPABILITY {
        let (name, description) = (name.to_owned(), info.description);
        let needed = format!("compute capability {} or higher", decimal(OLDEST_CAPABILITY, 10));
        return Err(Error::DeviceTooOld { name, description, needed });
    }
    let context = Context::of(gpu)?;
    let registers =
        gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?;
    let assembler = Assembler::new(capability, version, registers, DiskCache::from_environment());
    let (queue, staging, faults) = Default::default();
    let shared = Arc::new(Shared { context, assembler, queue, staging, faults });
    Ok(Some(CudaDevice { info, shared }))
}

/// Starts the driver for the device `name` and gives its version.
fn start(name: &str) -> Result<u32> {
    if !driver::is_installed() {
        let (name, available) = (name.to_owned(), Vec::new());
        return Err(Error::NoDriver { name, vendor: "NVIDIA", library: LIBRARY, available });
    }
    match driver::initialize() {
        Ok(()) => {}
        Err(failure) if failure.is_no_device() => return Err(no_hardware(name)),
        Err(failure) => return Err(failure.into()),
    }
    let version = driver::version()?;
    if version < OLDEST_DRIVER {
        return Err(Error::DriverTooOld {
            name: name.to_owned(),
            found: format!("CUDA {}", decimal(version / 10, 100)),
            needed: format!("CUDA {}", decimal(OLDEST_DRIVER / 10, 100)),
        });
    }
    Ok(version)
}

fn no_hardware(name: &str) -> Error {
    let hint =
        "see whether `nvidia-smi` lists a GPU, and whether CUDA_VISIBLE_DEVICES or a container hides it";
    Error::NoHardware { name: name.to_owned(), hint, available: Vec::new() }
}

/// `9.0` for 90 in tenths; `12.4` for 1204 in hundredths.
fn decimal(number: u32, unit: u32) -> String {
    format!("{}.{}", number / unit, number % unit)
}

/// The compute capability: 90 for 9.0.
fn capability(gpu: Gpu) -> Result<u32> {
    let major = gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(10 * major + minor)
}

fn info(gpu: Gpu, number: usize, version: u32) -> Result<DeviceInfo> {
    use CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    };
    let attribute = |attribute| gpu.attribute(attribute).map(|value| value as usize);
    Ok(DeviceInfo {
        name: if number == 0 { "nvidia".to_owned() } else { format!("nvidia:{number}") },
        description: format!(
            "{}, compute capability {}, {:.1} GiB of memory, driver for CUDA {}",
            gpu.name()?,
            decimal(capability(gpu)?, 10),
            gpu.memory()? as f64 / (1u64 << 30) as f64,
            decimal(version / 10, 100),
        ),
        multiprocessors: Some(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?),
        limits: DeviceLimits {
            max_grid_dim: [
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            max_block_dim: [
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_threads_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_shared_memory_per_block: attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                as u64,
        },
    })
}

impl Shared {
    /// What is enqueued; nobody else enqueues meanwhile.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle_staging(&self) -> MutexGuard<'_, Vec<Staging>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending_faults(&self) -> MutexGuard<'_, PendingFaults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all that was enqueued before the call. Others may enqueue meanwhile.
    fn wait(&self) -> Result<()> {
        self.context.bind()?;
        let streams: SmallVec<[Arc<driver::Stream>; 4]> = self.queue().streams().iter().cloned().collect();
        streams.iter().try_for_each(|stream| Ok(stream.synchronize()?))
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_stream(&self) -> Result<Arc<dyn Stream>> {
        Ok(Arc::new(CudaStream::new(&self.shared)?))
    }

    fn allocate(&self, stream: &dyn Stream, scalar: Scalar, len: usize) -> Result<Box<dyn Memory>> {
        Ok(Box::new(CudaMemory::new(&self.shared, CudaStream::own(stream), scalar, len)?))
    }

    fn allocate_pinned(&self, scalar: Scalar, len: usize) -> Result<Option<Box<dyn PinnedMemory>>> {
        Ok(Some(Box::new(CudaPinned::new(&self.shared, scalar, len)?)))
    }

    fn lower(&self, kernel: &mut Kernel) -> bool {
        pass::lower::math::run(kernel)
    }

    fn compile(&self, kernel: Kernel, optimizer: Optimizer) -> Result<Arc<dyn Executable>> {
        Ok(Arc::new(CudaExecutable::new(&self.shared, kernel, optimizer)))
    }

    fn synchronize(&self) -> Result<Option<FaultReport>> {
        self.shared.wait()?;
        self.shared.read_reports()?;
        Ok(self.shared.pending_faults().take())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Ok(bound) = self.context.bind() {
            queue.close(bound);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("context", &self.context).finish_non_exhaustive()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let error = failure.error();
        if failure.is_fatal() {
            Error::DeviceLost { error }
        } else {
            Error::Driver { call: failure.call, error }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(decimal(90, 10), "9.0");
        assert_eq!(decimal(12040 / 10, 100), "12.4");
        assert_eq!(decimal(12_080 / 10, 100), "12.8");
    }

    #[test]
    fn without_a_driver_it_is_an_error_that_says_so() {
        if driver::is_installed() {
            println!("skipped: there is a driver");
            return;
        }
        assert_eq!(available(), []);
        let error = open("cuda:3", 3).unwrap_err();
        assert!(matches!(error, Error::NoDriver { .. }), "{error}");
        assert!(error.to_string().contains("device `cuda:3` needs the NVIDIA driver"), "{error}");
    }
}
