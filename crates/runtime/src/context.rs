//! [`DeviceContext`]: a device that is open, and what is enqueued on it.

use std::env;
use std::fmt;
use std::io::stderr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;
use tilewise_check::profile::Profile;
use tilewise_check::render;
use tilewise_ir::Kernel;
use tilewise_ir::pass::Optimizer;
use tilewise_stage::recycle;

use crate::cache::{KernelCache, Passes};
use crate::device::{self, ArgValue, Device, DeviceInfo, DeviceLaunch, Stream};
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::explain::LaunchExplanation;
#[cfg(feature = "inspect")]
use crate::inspect::{Code, Inspector, Target};
use crate::launch::dims::{BlockDim, GridDim};
use crate::launch::{Launch, LaunchParam};
use crate::output::{Output, OutputSink};
use crate::progress::{ProgressSink, Shown};
use crate::watch::{Goes, Kept, Sink, Watch, Watching};

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

/// Names the device that [`DeviceContext::new`] opens.
const DEVICE: &str = "TILEWISE_DEVICE";

/// `0` turns the optimiser off, `-NAME,-NAME` passes of it.
const OPTIMIZER: &str = "TILEWISE_OPT";

/// `1` checks every launch.
const CHECK: &str = "TILEWISE_CHECK";

/// `1` profiles every launch, and prints the profiles.
const PROFILE: &str = "TILEWISE_PROFILE";

/// Names the folder that compiled kernels are written to.
const DUMP: &str = "TILEWISE_DUMP";

impl DeviceContext {
    /// Opens the device that the environment variable `TILEWISE_DEVICE` names, or the best that there is.
    ///
    /// `TILEWISE_OPT=0` turns the [optimiser](DeviceContext::with_optimizer) off, `TILEWISE_OPT=-licm,-cse` these passes of
    /// it. `TILEWISE_CHECK=1` makes all launches [checked](DeviceContext::checked) ones, and the best device the CPU.
    /// `TILEWISE_PROFILE=1` makes them [profiled](DeviceContext::profiled) ones in the same way, and prints what was
    /// counted.
    ///
    /// # Errors
    ///
    /// If there is no such device: [`Error::NoSuchDevice`] if nobody knows the name, [`Error::DeviceNotBuilt`] if this
    /// program was built without it, [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoHardware`],
    /// [`Error::NoAdapter`] or [`Error::DeviceTooOld`] by what is missing. [`Error::Passes`] or [`Error::Variable`] if one
    /// of these variables has another value.
    pub fn new() -> Result<DeviceContext> {
        let watch = watch_of_variables()?;
        // The best device that can watch launches is the CPU.
        let device = variable(DEVICE).or_else(|| watch.is_on().then(|| "cpu".to_owned()));
        let ctx = DeviceContext::from_variables(device.as_deref(), variable(OPTIMIZER).as_deref())?;
        Ok(DeviceContext { watch, ..ctx })
    }

    /// Opens a device by its name, whatever `TILEWISE_DEVICE` is. Letter case plays no part.
    ///
    /// | name | device |
    /// | --- | --- |
    /// | `cpu` | the SIMT interpreter |
    /// | `nvidia`, `cuda`, `gpu` | the first NVIDIA GPU, with the feature `cuda` |
    /// | `nvidia:1`, `cuda:1` | the NVIDIA GPU with this number, from 0 |
    /// | `vulkan`, `metal`, `dx12` | the best adapter of that API, with the feature `wgpu` |
    /// | `webgpu` | the best adapter of these APIs |
    /// | `amd`, `apple`, `intel` | the best adapter of that maker; `nvidia`, too, is one where there is no CUDA |
    /// | `vulkan:1`, `amd:1`, ... | the adapter of that kind with this number, from 0 |
    ///
    /// ```
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let error = DeviceContext::open("abacus").unwrap_err();
    /// assert!(error.to_string().starts_with("there is no device `abacus`; there is "));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](DeviceContext::new).
    pub fn open(name: &str) -> Result<DeviceContext> {
        let watch = watch_of_variables()?;
        let ctx = DeviceContext::from_variables(Some(name), variable(OPTIMIZER).as_deref())?;
        Ok(DeviceContext { watch, ..ctx })
    }

    /// Opens the device `name`, or the best; `optimizer` is the value of [`OPTIMIZER`].
    fn from_variables(name: Option<&str>, optimizer: Option<&str>) -> Result<DeviceContext> {
        static CONTEXTS: AtomicU64 = AtomicU64::new(1);
        let optimizer = parse_optimizer(optimizer)?;
        let device = match name {
            Some(name) => device::open(name)?,
            None => device::open_best()?,
        };
        let number = CONTEXTS.fetch_add(1, Ordering::Relaxed);
        let stream = device.create_stream()?;
        let kernels = KernelCache::new(variable(DUMP).map(Dump::new));
        let shared = Arc::new(Shared { number, device, kernels, kept: Kept::default() });
        Ok(DeviceContext {
            shared,
            stream,
            optimizer,
            watch: Watch::default(),
            max_rounds: None,
            threads: None,
            output: Output::default(),
            explain: None,
            #[cfg(feature = "inspect")]
            inspector: None,
        })
    }

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

    /// The devices that can be opened, the best first.
    pub fn devices() -> Vec<DeviceInfo> {
        device::available()
    }

    /// The same context with the optimiser on or off. It changes how fast a kernel runs and how long it takes to
    /// compile, never what it computes. It is on unless `TILEWISE_OPT=0` is set.
    #[must_use]
    pub fn with_optimizer(self, on: bool) -> DeviceContext {
        DeviceContext { optimizer: if on { Optimizer::ON } else { Optimizer::OFF }, ..self }
    }

    /// The same context, each launch of which is checked: for races, reads of memory that nobody wrote, accesses outside a
    /// tensor, barriers that not all threads reach, and more. An error is returned by the next
    /// [`synchronize`](DeviceContext::synchronize) or read, and all that was found is given by
    /// [`take_reports`](DeviceContext::take_reports).
    ///
    /// A checked launch takes several times as long. It runs the kernel as it was described, before the optimiser, which
    /// may hide mistakes. `TILEWISE_CHECK=1` checks every launch of a program on the CPU.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::{DeviceContext, Error, LaunchBuilder, block_dim, grid_dim};
    /// use tilewise_stage::tensor::TensorType;
    /// use tilewise_stage::tensor::index::WriteIndex;
    /// use tilewise_stage::{TileTensor, thread_idx};
    ///
    /// let ctx = DeviceContext::open("cpu")?.checked();
    /// let mut x = ctx.zeros::<usize, 1>(row_major([4]))?;
    /// let mut builder = LaunchBuilder::new("count");
    /// let param = builder.tensor_mut::<TileTensor<usize, 1>, _>("x", &mut x);
    /// let launch = builder.describe(move || {
    ///     let x: TileTensor<usize, 1> = TensorType::from_param(&param);
    ///     x.write_index(0usize, thread_idx().x); // all threads write the same element
    /// });
    /// ctx.enqueue_function(launch, grid_dim(1), block_dim(2))?;
    /// assert!(matches!(ctx.synchronize(), Err(Error::Check(_))));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn checked(self) -> DeviceContext {
        DeviceContext { watch: Watch { report: Some(Goes::Kept), ..self.watch }, ..self }
    }

    /// The same context, each launch of which is [checked](DeviceContext::checked), and its report given to a sink in place
    /// of an error: the program goes on with what the kernel computed. The sink gets every report, also one in which there
    /// is nothing.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    ///
    /// let reports = Arc::new(Mutex::new(Vec::new()));
    /// let sink = Arc::clone(&reports);
    /// let ctx = DeviceContext::open("cpu")?.checked_with(move |report| sink.lock().unwrap().push(report));
    /// let wait = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// ctx.enqueue_function(wait, grid_dim(1), block_dim(2))?;
    /// assert!(reports.lock().unwrap()[0].is_clean());
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn checked_with(self, sink: impl FnMut(tilewise_check::Report) + Send + 'static) -> DeviceContext {
        let report = Some(Goes::To(Sink::new(sink)));
        DeviceContext { watch: Watch { report, ..self.watch }, ..self }
    }

    /// The same context, its checked launches giving a block up once it has gone round loops that may go on for ever this
    /// many times, threads that go round together counted once. 0 for the default, 2^24.
    #[must_use]
    pub fn with_max_rounds(self, rounds: u64) -> DeviceContext {
        DeviceContext { max_rounds: (rounds > 0).then_some(rounds), ..self }
    }

    /// Whether launches are checked.
    pub fn is_checked(&self) -> bool {
        self.watch.report.is_some()
    }

    /// What checked launches have found since this was last called, errors, warnings and advice: a report for each launch
    /// that has any, the oldest first. The last 256 are kept.
    pub fn take_reports(&self) -> Vec<tilewise_check::Report> {
        self.shared.kept.take_reports()
    }

    /// The same context, each launch of which is profiled: what its accesses ask of memory is counted for each line of the
    /// source (sectors of global memory, conflicts of banks of shared memory, active lanes, bytes), and for the launch how
    /// often the same bytes are asked for, how much is computed, and how full a GPU gets.
    /// [`take_profiles`](DeviceContext::take_profiles) gives it.
    ///
    /// What is counted is the kernel as it was described, before the optimiser. A launch can be profiled and
    /// [checked](DeviceContext::checked) at the same time. `TILEWISE_PROFILE=1` profiles every launch of a program on the
    /// CPU.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::report::Action;
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    /// use tilewise_stage::tensor::TensorType;
    /// use tilewise_stage::tensor::index::WriteIndex;
    /// use tilewise_stage::{TileTensor, thread_idx};
    ///
    /// let ctx = DeviceContext::open("cpu")?.profiled();
    /// let mut x = ctx.zeros::<f32, 1>(row_major([64]))?;
    /// let mut builder = LaunchBuilder::new("every_second");
    /// let param = builder.tensor_mut::<TileTensor<f32, 1>, _>("x", &mut x);
    /// let launch = builder.describe(move || {
    ///     let x: TileTensor<f32, 1> = TensorType::from_param(&param);
    ///     x.write_index(thread_idx().x * 2, 1f32);
    /// });
    /// ctx.enqueue_function(launch, grid_dim(1), block_dim(32))?;
    /// let profile = &ctx.take_profiles()[0];
    /// // 32 elements, 8 bytes apart, lie in 8 sectors of 32 bytes; 4 would be enough.
    /// assert_eq!(profile.counts("x", Action::Write).sectors_per_request(), 8.0);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn profiled(self) -> DeviceContext {
        DeviceContext { watch: Watch { profile: Some(Goes::Kept), ..self.watch }, ..self }
    }

    /// The same context, each launch of which is [profiled](DeviceContext::profiled), and its profile given to a sink in
    /// place of being kept.
    ///
    /// ```
    /// use tilewise_runtime::report::render::{Style, profile};
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    ///
    /// let ctx = DeviceContext::open("cpu")?
    ///     .profiled_with(|counted| print!("{}", profile(&counted, &Style::plain())));
    /// let wait = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// ctx.enqueue_function(wait, grid_dim(1), block_dim(2))?;
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn profiled_with(self, sink: impl FnMut(Profile) + Send + 'static) -> DeviceContext {
        let profile = Some(Goes::To(Sink::new(sink)));
        DeviceContext { watch: Watch { profile, ..self.watch }, ..self }
    }

    /// Whether launches are profiled.
    pub fn is_profiled(&self) -> bool {
        self.watch.profile.is_some()
    }

    /// What was counted in profiled launches since this was last called, the oldest first. The last 256 are kept.
    pub fn take_profiles(&self) -> Vec<Profile> {
        self.shared.kept.take_profiles()
    }

    /// The same context, with a sink that is told how far its checked and profiled launches are, which take long: it may show
    /// that while they run.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, Progress, ProgressSink, block_dim, grid_dim};
    ///
    /// struct Lines;
    ///
    /// impl ProgressSink for Lines {
    ///     fn start(&self, launch: &Arc<Progress>) {
    ///         // Another thread may keep it, and ask for `ended` now and then.
    ///         assert_eq!((launch.kernel(), launch.ended(), launch.blocks()), ("wait", 0, 6));
    ///     }
    ///
    ///     fn end(&self, launch: &Arc<Progress>) {
    ///         assert_eq!(launch.ended(), launch.blocks());
    ///     }
    /// }
    ///
    /// let ctx = DeviceContext::open("cpu")?.checked().with_progress(Lines);
    /// let wait = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// ctx.enqueue_function(wait, grid_dim((3, 2)), block_dim(2))?;
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn with_progress(self, sink: impl ProgressSink) -> DeviceContext {
        DeviceContext { watch: Watch { progress: Some(Shown::new(sink)), ..self.watch }, ..self }
    }

    /// The same context, its kernels run by at most `threads` threads of the host; 0 for as many as there are cores. Of
    /// no effect for a GPU.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> DeviceContext {
        DeviceContext { threads: NonZeroUsize::new(threads), ..self }
    }

    /// The same context, with a sink for the lines that its kernels print; without one they go to standard output.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    /// use tilewise_stage::print::Line;
    ///
    /// let text = Arc::new(Mutex::new(String::new()));
    /// let ctx = DeviceContext::new()?.with_output(text.clone());
    /// let hello = LaunchBuilder::new("hello").describe(|| {
    ///     let mut line = Line::new();
    ///     line.text("hello");
    ///     line.print();
    /// });
    /// ctx.enqueue_function(hello, grid_dim(1), block_dim(2))?;
    /// ctx.synchronize()?;
    /// assert_eq!(*text.lock().unwrap(), "hello\nhello\n");
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn with_output(self, sink: impl OutputSink) -> DeviceContext {
        DeviceContext { output: Output::new(sink), ..self }
    }

    /// The same context, whose launches are explained to a sink, line by line, before they run: which bounds checks are
    /// proved, by what, and which stay. It is the text of [`explain`](crate::explain()).
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    ///
    /// let text = Arc::new(Mutex::new(String::new()));
    /// let ctx = DeviceContext::open("cpu")?.with_explain(text.clone());
    /// let wait = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// ctx.enqueue_function(wait, grid_dim(1), block_dim(8))?;
    /// assert!(text.lock().unwrap().starts_with("wait: 1 x 1 x 1 blocks of 8 x 1 x 1 threads"));
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn with_explain(self, sink: impl OutputSink) -> DeviceContext {
        DeviceContext { explain: Some(Output::new(sink)), ..self }
    }

    /// The same context, with a sink for the code that each launch becomes for `target`, whatever the device is that it
    /// then runs on. A launch that the target cannot do is refused.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tilewise_runtime::inspect::Target;
    /// use tilewise_runtime::{DeviceContext, LaunchBuilder, block_dim, grid_dim};
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let ctx = DeviceContext::open("cpu")?.with_inspector(Target::Ptx, {
    ///     let seen = Arc::clone(&seen);
    ///     move |code| seen.lock().unwrap().push(code)
    /// });
    /// let launch = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// ctx.enqueue_function(launch, grid_dim(1), block_dim(64))?;
    /// assert!(seen.lock().unwrap()[0].text().unwrap().contains(".entry wait"));
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    #[cfg(feature = "inspect")]
    #[must_use]
    pub fn with_inspector(
        self,
        target: Target,
        sink: impl Fn(Code) + Send + Sync + 'static,
    ) -> DeviceContext {
        DeviceContext { inspector: Some(Inspector::new(target, sink)), ..self }
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

/// Runs `test` with a context whose launches are checked, and gives an error if any of them found a mistake: an error, a
/// warning, or something that cannot be checked. Advice is none.
///
/// # Errors
///
/// Those of `test`; else [`Error::Check`] with the first report that is not clean.
pub fn check(test: impl FnOnce(&DeviceContext) -> Result<()>) -> Result<()> {
    let ctx = DeviceContext::open("cpu")?.checked();
    test(&ctx)?;
    ctx.synchronize()?;
    match ctx.take_reports().into_iter().find(|report| !report.is_clean()) {
        Some(report) => Err(Error::Check(Box::new(report))),
        None => Ok(()),
    }
}

/// What environment variables want of launches.
fn watch_of_variables() -> Result<Watch> {
    let is_on = |name| switch(name, variable(name).as_deref(), false);
    let print = |profile: Profile| eprint!("{}", render::profile(&profile, &render::Style::of(&stderr())));
    Ok(Watch {
        report: is_on(CHECK)?.then_some(Goes::Kept),
        profile: is_on(PROFILE)?.then(|| Goes::To(Sink::new(print))),
        progress: None,
    })
}

/// An environment variable, if it is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The passes that run, by the value of [`OPTIMIZER`].
fn parse_optimizer(value: Option<&str>) -> Result<Optimizer> {
    let Some(value) = value else { return Ok(Optimizer::ON) };
    value.parse().map_err(|wrong| Error::Passes { variable: OPTIMIZER, value: value.to_owned(), wrong })
}

/// Whether what a variable turns on or off is on; `default` if it is not set.
fn switch(variable: &'static str, value: Option<&str>, default: bool) -> Result<bool> {
    match value.map(str::trim) {
        None => Ok(default),
        Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(value) => {
            let value = value.to_owned();
            Err(Error::Variable { variable, value, expected: "0 or 1" })
        }
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

    #[test]
    fn the_environment_chooses_the_device() {
        let name = |name| DeviceContext::from_variables(name, None).map(|ctx| ctx.device_name().to_owned());
        assert_eq!(name(None).ok(), DeviceContext::devices().first().map(|best| best.name.clone()));
        assert_eq!(name(Some("cpu")), Ok("cpu".to_owned()));
        assert_eq!(
            matches!(name(Some("vulkan")), Err(Error::DeviceNotBuilt { .. })),
            cfg!(not(feature = "wgpu"))
        );
        assert!(matches!(name(Some("abacus")), Err(Error::NoSuchDevice { .. })));
    }

    #[test]
    fn switches() {
        assert_eq!(switch(CHECK, None, false), Ok(false));
        assert_eq!(switch(CHECK, Some("1"), false), Ok(true));
        assert!(switch(CHECK, Some("yes"), false).is_err());
    }

    #[test]
    fn the_optimizer_is_on_unless_turned_off() {
        let on = |value| DeviceContext::from_variables(Some("cpu"), value).map(|ctx| ctx.optimizer);
        assert_eq!(on(None), Ok(Optimizer::ON));
        assert_eq!(on(Some("1")), Ok(Optimizer::ON));
        assert_eq!(on(Some(" 0")), Ok(Optimizer::OFF));
        assert_eq!(on(Some("-cse")), Ok(Optimizer::ON.without("cse").unwrap()));
        let error = on(Some("-unknown")).unwrap_err().to_string();
        let passes = Optimizer::names().collect::<Vec<_>>().join(", ");
        assert!(
            error.starts_with(
                "the environment variable TILEWISE_OPT is `-unknown`: there is no pass `unknown`; "
            ) && error.ends_with(&format!(" without these passes of {passes}")),
            "{error}"
        );
    }
}
