//! How a context runs its kernels, and where their lines, explanations and code go.

use std::num::NonZeroUsize;

use tilewise_ir::pass::Optimizer;

use super::DeviceContext;
#[cfg(feature = "inspect")]
use crate::inspect::{Code, Inspector, Target};
use crate::output::{Output, OutputSink};

impl DeviceContext {
    /// The same context with the optimiser on or off. It changes how fast a kernel runs and how long it takes to
    /// compile, never what it computes. It is on unless `TILEWISE_OPT=0` is set.
    #[must_use]
    pub fn with_optimizer(self, on: bool) -> DeviceContext {
        DeviceContext { optimizer: if on { Optimizer::ON } else { Optimizer::OFF }, ..self }
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
}
