//! What the runtime asks of a device, and which devices there are.
//!
//! A device is a file or folder here that implements these traits: [`Device`] opens memory and compiles, [`Memory`] is
//! read and written by the host, [`Executable`] is launched, [`Stream`] and [`Event`] are about order and time,
//! [`PinnedMemory`] is memory of the host that the device reads and writes by itself. All else (limits, layouts, the
//! cache, the order of arguments) is the same for every device and lives outside.
//!
//! A device may work asynchronously. It promises that what was enqueued on a stream happens in that order, that work on
//! the same memory happens in the order in which it was enqueued whatever the streams, and that memory lives until the
//! work that uses it has ended, also if its last [`Memory`] was dropped before.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod host_memory;
pub(crate) mod numbers;
#[cfg(test)]
mod random_kernels;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
mod reports;
mod table;
mod variants;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::any::Any;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Once};
use std::time::Duration;

use tilewise_ir::pass::Optimizer;
use tilewise_ir::{Const, Kernel, Scalar};

use crate::error::{Error, Result};
use crate::fault::FaultReport;
use crate::launch::TensorValue;
use crate::output::Output;
use crate::watch::Watching;

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
    /// How many multiprocessors (elsewhere: compute units) it has, of which each runs blocks of its own: for the CPU its cores. A
    /// kernel whose few blocks go through the elements a grid at a time wants some for each. Vulkan, Metal and Direct3D 12 do
    /// not tell.
    ///
    /// ```
    /// use tilewise_runtime::{DeviceContext, grid_dim};
    ///
    /// let ctx = DeviceContext::open("cpu")?;
    /// let grid = grid_dim(8 * ctx.device_info().multiprocessors.unwrap_or(64));
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    pub multiprocessors: Option<usize>,
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

    /// Whether launches can be checked and profiled.
    fn can_watch(&self) -> bool {
        false
    }

    /// A stream that nothing has been enqueued on.
    fn create_stream(&self) -> Result<Arc<dyn Stream>>;

    /// Memory for `len` elements, all bits zero. What the host does with it is enqueued on `stream`.
    fn allocate(&self, stream: &dyn Stream, scalar: Scalar, len: usize) -> Result<Box<dyn Memory>>;

    /// Memory of the host for `len` elements, at least one, all bits zero, that the device can read and write by itself; `None` if it
    /// has no use for such memory.
    fn allocate_pinned(&self, scalar: Scalar, len: usize) -> Result<Option<Box<dyn PinnedMemory>>>;

    /// Rewrites operations that the device has no instructions for; gives whether the kernel has changed.
    fn lower(&self, kernel: &mut Kernel) -> bool;

    /// Makes a kernel ready to run. It has been lowered and verified; the passes of `optimizer` have run on it, and
    /// may run again.
    fn compile(&self, kernel: Kernel, optimizer: Optimizer) -> Result<Arc<dyn Executable>>;

    /// Waits for all that was enqueued, on all streams, and gives the faults that nobody has been told of.
    fn synchronize(&self) -> Result<Option<FaultReport>>;
}

/// A queue of a device: what is enqueued on it happens in that order.
pub(crate) trait Stream: fmt::Debug + Any + Send + Sync {
    /// Marks the point that the stream has been filled to.
    fn record(&self) -> Result<Box<dyn Event>>;

    /// What is enqueued from now on starts after `event`, one of the same device.
    fn wait(&self, event: &dyn Event) -> Result<()>;
}

/// A point in what was enqueued on a stream.
pub(crate) trait Event: fmt::Debug + Any + Send + Sync {
    /// Waits until it has been reached.
    fn synchronize(&self) -> Result<()>;

    /// Whether it has been reached.
    fn is_done(&self) -> Result<bool>;

    /// The time since another event of the same device; zero if that one was later. Waits for both.
    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Duration>;
}

/// Memory of the host that a device reads and writes by itself. It is aligned to 8 bytes.
pub(crate) trait PinnedMemory: fmt::Debug + Any + Send + Sync {
    /// The bytes, after all copies that were enqueued. Those of `bool` elements are 0 or 1.
    fn bytes(&self) -> Result<&[u8]>;

    /// The bytes for writing, after all copies that were enqueued. The caller leaves 0 or 1 in those of `bool` elements.
    fn bytes_mut(&mut self) -> Result<&mut [u8]>;
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

    /// Copies `len` elements from the start of `source`, memory of the same device, to the start of this.
    fn write_from_pinned(&self, len: usize, source: &dyn PinnedMemory) -> Result<()> {
        let mut rest = source.bytes()?;
        self.write(0, len, &mut |piece| {
            let (bytes, behind) = rest.split_at(piece.len());
            piece.copy_from_slice(bytes);
            rest = behind;
        })
    }

    /// Copies the first `len` elements to the start of `target`, memory of the same device.
    fn read_to_pinned(&self, len: usize, target: &mut dyn PinnedMemory) -> Result<()> {
        let mut rest = target.bytes_mut()?;
        self.read(0, len, &mut |piece| {
            let (bytes, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
            bytes.copy_from_slice(piece);
            rest = behind;
        })
    }
}

/// A compiled kernel.
pub(crate) trait Executable: fmt::Debug + Send + Sync {
    /// Runs the kernel, or enqueues it. The launch keeps the limits, and its arguments fit the kernel's parameters.
    fn launch(&self, launch: &DeviceLaunch<'_>) -> Result<()>;
}

/// One run of an [`Executable`].
#[derive(Debug)]
pub(crate) struct DeviceLaunch<'a> {
    /// Where it is enqueued.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "the CPU device has run it when the call returns")
    )]
    pub(crate) stream: &'a dyn Stream,
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
    /// Rounds of loops after which a checked launch gives a block up.
    pub(crate) max_rounds: Option<u64>,
    /// What is wanted of the launch, if anything is.
    pub(crate) watching: Option<Watching<'a>>,
}

/// An argument as a device gets it.
#[derive(Clone, Debug)]
pub(crate) enum ArgValue {
    /// For a scalar parameter.
    Scalar(Const),
    /// For a tensor parameter.
    Tensor(TensorValue),
}

/// The devices that can be opened, the best first.
pub(crate) fn available() -> Vec<DeviceInfo> {
    let (adapters, software) = adapters();
    let mut devices = nvidia_gpus();
    devices.extend(adapters);
    devices.push(cpu::info());
    // They compute on the CPU, without what the interpreter finds out.
    devices.extend(software);
    devices
}

/// Opens a device by its name; letter case plays no part.
pub(crate) fn open(name: &str) -> Result<Box<dyn Device>> {
    let wanted = name.trim().to_ascii_lowercase();
    if wanted == "cpu" {
        return Ok(Box::new(cpu::Cpu::new()));
    }
    if let Some(number) = nvidia_number(&wanted) {
        let opened = open_nvidia(name, number);
        // Its driver may be one for Vulkan alone.
        return match opened {
            Err(error) if is_absent(&error) => open_adapter(name, &wanted).and_then(Result::ok).ok_or(error),
            opened => opened,
        };
    }
    open_adapter(name, &wanted)
        .unwrap_or_else(|| Err(Error::NoSuchDevice { name: name.to_owned(), available: names() }))
}

/// Opens the best device that there is: a GPU if there is one that works, else the CPU, and says so once.
pub(crate) fn open_best() -> Result<Box<dyn Device>> {
    let mut reasons = Vec::new();
    for gpu in nvidia_gpus() {
        match open(&gpu.name) {
            Ok(device) => return Ok(device),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    let (gpus, software) = adapters();
    for gpu in &gpus {
        match open(&gpu.name) {
            Ok(device) => return Ok(device),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        // Why nothing was listed, if nothing was.
        if reasons.is_empty() {
            reasons
                .extend(cfg!(feature = "cuda").then(|| no_gpu("NVIDIA", open_nvidia("nvidia", 0))).flatten());
            if let Some(adapter) = software.first() {
                reasons.push(format!("`{}` is {}", adapter.name, adapter.description));
            } else if let Some(opened) =
                cfg!(feature = "wgpu").then(|| open_adapter("webgpu", "webgpu")).flatten()
            {
                reasons.extend(no_gpu("Vulkan, Metal or Direct3D 12", opened));
            }
        }
        // A program that was built for the CPU alone runs where it is meant to.
        if !reasons.is_empty() {
            eprintln!(
                "tilewise: no GPU, so kernels run on the CPU: {} (TILEWISE_DEVICE=cpu leaves this line out)",
                reasons.join("; ")
            );
        }
    });
    open("cpu")
}

/// Why there is no GPU of a kind, in a few words.
fn no_gpu(kind: &str, opened: Result<Box<dyn Device>>) -> Option<String> {
    Some(match opened.err()? {
        Error::NoDriver { vendor, library, .. } => format!("no {vendor} driver ({library})"),
        Error::NoHardware { .. } => format!("the driver for {kind} lists no device"),
        other => other.to_string(),
    })
}

/// The names of the devices that can be opened.
fn names() -> Vec<String> {
    available().into_iter().map(|device| device.name).collect()
}

/// An error of a device that is not there, with the names of those that are.
#[cfg(any(feature = "cuda", feature = "wgpu"))]
fn naming_others(mut error: Error) -> Error {
    if let Error::NoDriver { available, .. } | Error::NoHardware { available, .. } = &mut error {
        *available = names();
    }
    error
}

/// The number of the GPU that a name means, if it is a name of an NVIDIA GPU.
fn nvidia_number(name: &str) -> Option<usize> {
    match name.split_once(':') {
        None => ["nvidia", "cuda", "gpu"].contains(&name).then_some(0),
        Some(("nvidia" | "cuda", number)) => number.trim().parse().ok(),
        Some(_) => None,
    }
}

/// Whether an error says that there is no such device, not that it does not work.
fn is_absent(error: &Error) -> bool {
    matches!(error, Error::NoDriver { .. } | Error::NoHardware { .. } | Error::DeviceNotBuilt { .. })
}

#[cfg(feature = "cuda")]
fn nvidia_gpus() -> Vec<DeviceInfo> {
    cuda::available()
}

#[cfg(not(feature = "cuda"))]
fn nvidia_gpus() -> Vec<DeviceInfo> {
    Vec::new()
}

#[cfg(feature = "cuda")]
fn open_nvidia(name: &str, number: usize) -> Result<Box<dyn Device>> {
    match cuda::open(name, number).map_err(naming_others)? {
        Some(device) => Ok(Box::new(device)),
        None => Err(Error::NoSuchDevice { name: name.to_owned(), available: names() }),
    }
}

#[cfg(not(feature = "cuda"))]
fn open_nvidia(name: &str, _number: usize) -> Result<Box<dyn Device>> {
    Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: Some("cuda"), available: names() })
}

/// The adapters of other APIs: GPUs, and those that compute on the CPU.
#[cfg(feature = "wgpu")]
fn adapters() -> (Vec<DeviceInfo>, Vec<DeviceInfo>) {
    wgpu::available()
}

#[cfg(not(feature = "wgpu"))]
fn adapters() -> (Vec<DeviceInfo>, Vec<DeviceInfo>) {
    (Vec::new(), Vec::new())
}

/// Opens an adapter, if `wanted` is the name of one.
#[cfg(feature = "wgpu")]
fn open_adapter(name: &str, wanted: &str) -> Option<Result<Box<dyn Device>>> {
    let opened = wgpu::open(name, wanted)?.map_err(naming_others);
    Some(opened.map(|device| Box::new(device) as Box<dyn Device>))
}

#[cfg(not(feature = "wgpu"))]
fn open_adapter(name: &str, wanted: &str) -> Option<Result<Box<dyn Device>>> {
    let word = wanted.split(':').next().unwrap_or_default().trim();
    let is_adapter = ["amd", "apple", "dx12", "intel", "metal", "vulkan", "webgpu"].contains(&word);
    let name = name.to_owned();
    is_adapter.then(|| Err(Error::DeviceNotBuilt { name, feature: Some("wgpu"), available: names() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nvidia_gpus() {
        assert_eq!(nvidia_number("nvidia"), Some(0));
        assert_eq!(nvidia_number("cuda"), Some(0));
        assert_eq!(nvidia_number("cuda:0"), Some(0));
        assert_eq!(nvidia_number("nvidia:12"), Some(12));
        assert_eq!(nvidia_number("nvidia:"), None);
        assert_eq!(nvidia_number("nvidia:-1"), None);
        assert_eq!(nvidia_number("amd:1"), None);
        assert_eq!(nvidia_number("cpu"), None);
    }
}
