//! Launches that are watched: checked, profiled, shown while they run.

use tilewise_check::profile::Profile;

use super::DeviceContext;
use crate::error::{Error, Result};
use crate::progress::{ProgressSink, Shown};
use crate::watch::{Goes, Sink, Watch};

impl DeviceContext {
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
