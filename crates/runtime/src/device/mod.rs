//! What the runtime asks of a device, and which devices there are.
//!
//! A device is a file here that implements three traits: [`Device`] opens memory and compiles, [`Memory`] is read and
//! written by the host, [`Executable`] is launched. All else (limits, layouts, the cache, the order of arguments) is
//! the same for every device and lives outside.
//!
//! A device may work asynchronously. It promises that what was enqueued happens in that order, and that memory lives
//! until the work that uses it has ended, also if its last [`Memory`] was dropped before.

mod cpu;
mod host_memory;

use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tilewise_ir::{Const, Kernel, Scalar};

use crate::error::{Error, Result};
use crate::fault::FaultReport;
use crate::launch::TensorValue;
use crate::output::Output;

/// What is known of a device before it is used.
///
/// ```
/// use tilewise_runtime::DeviceContext;
///
/// let devices = DeviceContext::devices();
/// assert!(devices.iter().any(|device| device.name == "cpu"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The name by which [`DeviceContext::open`](crate::DeviceContext::open) and `TILEWISE_DEVICE` know it.
    pub name: String,
    /// What it is, for people.
    pub description: String,
    /// The largest launches.
    pub limits: DeviceLimits,
}

/// The largest launches of a device. One that is larger is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Blocks along each axis of the grid: x, y, z.
    pub max_grid_dim: [usize; 3],
    /// Threads along each axis of a block: x, y, z.
    pub max_block_dim: [usize; 3],
    /// Threads of a block.
    pub max_threads_per_block: usize,
    /// Bytes of shared memory of a block.
    pub max_shared_memory_per_block: u64,
}

/// A device that is open.
pub(crate) trait Device: fmt::Debug + Send + Sync {
    /// What it is.
    fn info(&self) -> &DeviceInfo;

    /// Memory for `len` elements, all bits zero.
    fn allocate(&self, scalar: Scalar, len: usize) -> Result<Box<dyn Memory>>;

    /// Makes a kernel ready to run. It has been verified.
    fn compile(&self, kernel: &Kernel) -> Result<Arc<dyn Executable>>;

    /// Waits for all that was enqueued, and gives the faults that nobody has been told of.
    fn synchronize(&self) -> Result<Option<FaultReport>>;
}

/// Memory of a device. Its elements are numbered from 0, and the caller keeps within them.
pub(crate) trait Memory: fmt::Debug + Any + Send + Sync {
    /// Gives the bytes of `len` elements from `start` on to `sink`, in pieces of whole elements, after all that was
    /// enqueued before.
    fn read(&self, start: usize, len: usize, sink: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Sets `len` elements from `start` on to the bytes that `source` fills in, piece by piece.
    fn write(&self, start: usize, len: usize, source: &mut dyn FnMut(&mut [u8])) -> Result<()>;

    /// Sets `len` elements from `start` on to the same bits.
    fn fill(&self, start: usize, len: usize, bits: u64) -> Result<()>;

    /// Copies `len` elements from the start of `source`, memory of the same device, to the start of this.
    fn copy_from(&self, source: &dyn Memory, len: usize) -> Result<()>;
}

/// A compiled kernel.
pub(crate) trait Executable: fmt::Debug + Send + Sync {
    /// Runs the kernel, or enqueues it. The launch keeps the limits, and its arguments fit the kernel's parameters.
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()>;
}

/// One run of an [`Executable`].
#[derive(Debug)]
pub(crate) struct DeviceLaunch<'a> {
    /// Blocks along each axis, none of them 0.
    pub(crate) grid: [u32; 3],
    /// Threads of a block along each axis, none of them 0.
    pub(crate) block: [u32; 3],
    /// One argument for each parameter.
    pub(crate) args: &'a [&'a ArgValue],
    /// Where printed lines go.
    pub(crate) output: &'a Output,
    /// How many threads of the host may work, for a device that runs on the host.
    pub(crate) threads: Option<NonZeroUsize>,
}

/// An argument as a device gets it.
#[derive(Clone, Debug)]
pub(crate) enum ArgValue {
    /// For a scalar parameter.
    Scalar(Const),
    /// For a tensor parameter.
    Tensor(TensorValue),
}

/// Device names that a user may well try, and that this build has no device for.
const NOT_BUILT: [&str; 9] = ["gpu", "nvidia", "cuda", "amd", "intel", "apple", "vulkan", "metal", "webgpu"];

/// The devices that can be opened, the best first.
pub(crate) fn available() -> Vec<DeviceInfo> {
    vec![cpu::info()]
}

/// Opens a device by its name; letter case plays no part.
pub(crate) fn open(name: &str) -> Result<Box<dyn Device>> {
    let wanted = name.trim().to_ascii_lowercase();
    if wanted == "cpu" {
        return Ok(Box::new(cpu::Cpu::new()));
    }
    let available = available().into_iter().map(|device| device.name).collect();
    let name = name.to_owned();
    if NOT_BUILT.contains(&wanted.as_str()) {
        Err(Error::DeviceNotBuilt { name, available })
    } else {
        Err(Error::NoSuchDevice { name, available })
    }
}

/// Opens the best device that there is.
pub(crate) fn open_best() -> Result<Box<dyn Device>> {
    Ok(Box::new(cpu::Cpu::new()))
}
