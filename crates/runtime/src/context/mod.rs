//! [`DeviceContext`]: a device that is open, and what is enqueued on it.

mod open;
mod settings;
mod watched;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use smallvec::SmallVec;
use tilewise_ir::Kernel;
use tilewise_ir::pass::Optimizer;
use tilewise_stage::recycle;

use crate::cache::{KernelCache, Passes};
use crate::device::{ArgValue, Device, DeviceInfo, DeviceLaunch, Stream};
use crate::error::{Error, Result};
use crate::explain::LaunchExplanation;
#[cfg(feature = "inspect")]
use crate::inspect::Inspector;
use crate::launch::dims::{BlockDim, GridDim};
use crate::launch::{Launch, LaunchParam};
use crate::output::Output;
use crate::watch::{Kept, Watch, Watching};

pub use watched::check;

/// A device that is open: it makes buffers and tensors, and launches kernels.
///
/// A clone is the same context. Several contexts can be open at a time, also of one device; each has its own memory,
/// its own kernels and its own faults.
///
/// ```
/// use tilewise_layout::row_major;
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::open("cpu")?;
/// assert_eq!(ctx.device_name(), "cpu");
/// let x = ctx.full::<f32, 1>(row_major([4]), 0.5)?;
/// ctx.synchronize()?;
/// assert_eq!(x.to_host()?, [0.5; 4]);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceContext {
    shared: Arc<Shared>,
    stream: Arc<dyn Stream>,
    optimizer: Optimizer,
    watch: Watch,
    max_rounds: Option<u64>,
    threads: Option<NonZeroUsize>,
    output: Output,
    explain: Option<Output>,
    #[cfg(feature = "inspect")]
    inspector: Option<Inspector>,
}

/// What the clones of a context share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The contexts of a program are numbered, so that messages can tell them apart.
    number: u64,
    pub(crate) device: Box<dyn Device>,
    kernels: KernelCache,
    kept: Kept,
}

impl Shared {
    /// Waits for all that was enqueued; an error if a kernel went wrong since somebody last asked.
    pub(crate) fn synchronize(&self) -> Result<()> {
        match self.device.synchronize()? {
            None => self.kept.untold().map_or(Ok(()), |report| Err(Error::Check(Box::new(report)))),
            Some(report) => Err(Error::Fault(Box::new(report))),
        }
    }
}

/// `context 1 (cpu)`.
impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "context {} ({})", self.number, self.device.info().name)
    }
}

impl DeviceContext {
    /// The same context (device, memory, kernels, faults) with a new stream: what is enqueued on the one may overlap with
    /// what is enqueued on the other.
    ///
    /// The order is kept where it matters: work on the same memory happens in the order in which it was enqueued, whatever
    /// the streams. Streams overlap only where they use different memory. A buffer or tensor is filled and copied on the
    /// stream of the context that created it. Where an order is wanted that no memory gives,
    /// [`wait_event`](DeviceContext::wait_event) makes it.
    ///
    /// On the CPU device all runs at once, so streams make no difference.
    ///
    /// ```
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let copies = ctx.create_stream()?;
    /// let a = ctx.enqueue_create_buffer::<f32>(4)?;
    /// let mut b = copies.enqueue_create_buffer::<f32>(4)?;
    /// b.enqueue_copy_from(&a)?; // after `a` was made
    /// ctx.synchronize()?; // waits for both streams
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the device cannot make one more.
    pub fn create_stream(&self) -> Result<DeviceContext> {
        let stream = self.shared.device.create_stream()?;
        Ok(DeviceContext { stream, ..self.clone() })
    }

    /// Name of the device.
    pub fn device_name(&self) -> &str {
        &self.device_info().name
    }

    /// What is known of the device.
    pub fn device_info(&self) -> &DeviceInfo {
        self.shared.device.info()
    }

    /// How many kernels this context and its clones have compiled.
    ///
    /// A kernel is compiled when it is first launched, and again where it is described differently: for another element
    /// type, other `#[comptime]` arguments, another static extent. Run-time scalars, dynamic extents and addresses are
    /// no part of it. A device may make several variants of a kernel, for numbers of a launch that allow better code (all
    /// indices in bounds, aligned vectors, ...); they are not counted.
    pub fn compilations(&self) -> u64 {
        self.shared.kernels.compilations()
    }

    /// Runs a kernel on `grid` blocks of `block` threads, after what was enqueued before.
    ///
    /// If an axis of the grid is 0, nothing runs. A fault in the kernel is reported by the next
    /// [`synchronize`](DeviceContext::synchronize) or read.
    ///
    /// # Errors
    ///
    /// Nothing has run then. [`Error::Launch`] names the limit of the device that the launch is over,
    /// [`Error::WrongContext`] an argument of another context, [`Error::Stage`] what is wrong in the kernel.
    pub fn enqueue_function(&self, launch: Launch<'_>, grid: GridDim, block: BlockDim) -> Result<()> {
        let limits = &self.device_info().limits;
        let block = block.checked(launch.name(), limits)?;
        let grid = grid.checked(launch.name(), limits)?;
        for param in launch.params() {
            if let ArgValue::Tensor(tensor) = &param.value {
                let what = || format!("argument `{}` of kernel `{}`", param.name, launch.name());
                tensor.storage.check_context(&self.shared, what)?;
            }
        }
        if grid.contains(&0) {
            return Ok(());
        }
        let (kernel, params) = launch.into_parts()?;
        let enqueued = self.enqueue_kernel(&kernel, &params, grid, block);
        recycle(kernel);
        enqueued
    }

    /// Runs a kernel that has been described. Its parameters fit these, and grid and block the limits.
    pub(crate) fn enqueue_kernel(
        &self,
        kernel: &Kernel,
        params: &[LaunchParam],
        grid: [u32; 3],
        block: [u32; 3],
    ) -> Result<()> {
        crate::launch::dims::check_shared_memory(kernel, &self.device_info().limits)?;
        if let Some(sink) = &self.explain {
            let explanation =
                LaunchExplanation::new(kernel, params, grid.map(|n| n as usize), block.map(|n| n as usize));
            explanation.to_string().lines().for_each(|line| sink.print(line));
        }
        let args: SmallVec<[&ArgValue; 8]> = params.iter().map(|param| &param.value).collect();
        #[cfg(feature = "inspect")]
        if let Some(inspector) = &self.inspector {
            inspector.look(kernel, self.optimizer, grid, block, &args)?;
        }
        let watch = &self.watch;
        if watch.is_on() && !self.shared.device.can_watch() {
            return Err(Error::CannotWatch { device: self.device_name().to_owned() });
        }
        let passes = match watch {
            Watch { profile: Some(_), .. } => Passes::Profiled,
            Watch { report: Some(_), .. } => Passes::Checked,
            Watch { profile: None, report: None, .. } => Passes::Optimized(self.optimizer),
        };
        let compiled = self.shared.kernels.get(kernel, passes, &*self.shared.device)?;
        let watching = Watching { watch, kept: &self.shared.kept, subject: compiled.subject() };
        compiled.executable()?.launch(&DeviceLaunch {
            stream: &*self.stream,
            grid,
            block,
            args: &args,
            output: &self.output,
            threads: self.threads,
            max_rounds: self.max_rounds,
            watching: watch.is_on().then_some(watching),
        })
    }

    /// Waits for all that was enqueued, on this context, its clones and all of its streams.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`] if a kernel of this context went wrong since this was last reported, here or by a read. It is
    /// reported once, and the context can be used further.
    pub fn synchronize(&self) -> Result<()> {
        self.shared.synchronize()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn stream(&self) -> &Arc<dyn Stream> {
        &self.stream
    }
}

impl fmt::Debug for DeviceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceContext")
            .field("context", &format_args!("{}", self.shared))
            .field("optimizer", &self.optimizer)
            .field("watch", &self.watch)
            .field("threads", &self.threads)
            .field("output", &self.output)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_go_between_threads() {
        fn check<T: Send + Sync + Clone>() {}
        check::<DeviceContext>();
    }
}
