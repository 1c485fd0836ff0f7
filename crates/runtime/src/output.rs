//! Where lines go that kernels print.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// What takes the lines that kernels print: a closure, or a string behind a lock that they are appended to.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tilewise_runtime::DeviceContext;
///
/// let text = Arc::new(Mutex::new(String::new()));
/// let ctx = DeviceContext::new()?.with_output(text.clone());
/// let ctx = ctx.with_output(|line: &str| eprintln!("kernel: {line}"));
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take the lines that kernels print",
    note = "give a closure `|line: &str| ...` that owns what it uses, or an `Arc<Mutex<String>>`"
)]
pub trait OutputSink: Send + 'static {
    /// Takes one line, which comes without a line break.
    fn line(&mut self, line: &str);
}

impl<F: FnMut(&str) + Send + 'static> OutputSink for F {
    fn line(&mut self, line: &str) {
        self(line);
    }
}

/// Each line is appended with a line break.
impl OutputSink for Arc<Mutex<String>> {
    fn line(&mut self, line: &str) {
        let mut text = self.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(line);
        text.push('\n');
    }
}

/// Where a context's kernels print: standard output, or a sink that the context's clones share.
#[derive(Clone, Default)]
pub(crate) struct Output(Option<Arc<Mutex<dyn OutputSink>>>);

impl Output {
    pub(crate) fn new(sink: impl OutputSink) -> Output {
        Output(Some(Arc::new(Mutex::new(sink))))
    }

    /// Prints a line.
    pub(crate) fn print(&self, line: &str) {
        match &self.0 {
            Some(sink) => sink.lock().unwrap_or_else(PoisonError::into_inner).line(line),
            None => println!("{line}"),
        }
    }

    /// A function that takes lines for the sink; `None` for standard output.
    pub(crate) fn lines(&self) -> Option<impl FnMut(&str) + Send> {
        let output = self.0.is_some().then(|| self.clone())?;
        Some(move |line: &str| output.print(line))
    }

    /// What tells it from other sinks that exist at the time: its address, 0 for standard output.
    fn address(&self) -> usize {
        self.0.as_ref().map_or(0, |sink| Arc::as_ptr(sink).addr())
    }
}

/// Whether it is the same sink.
impl PartialEq for Output {
    fn eq(&self, other: &Output) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Output {}

impl Hash for Output {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Output(sink)" } else { "Output(stdout)" })
    }
}
