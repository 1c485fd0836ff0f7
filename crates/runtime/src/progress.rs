//! How far a launch is, for whoever shows it while the launch runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A launch that runs. Any thread may ask how far it is.
#[derive(Debug)]
pub struct Progress {
    kernel: String,
    blocks: u64,
    ended: AtomicU64,
}

impl Progress {
    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// How many blocks the grid has.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How many of them have ended.
    pub fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Is told of launches by the thread that launches, which has to wait for them.
///
/// See [`DeviceContext::with_progress`](crate::DeviceContext::with_progress).
pub trait ProgressSink: Send + Sync + 'static {
    /// A launch starts.
    fn start(&self, launch: &Arc<Progress>);

    /// It has ended. One that failed, or was refused before its first block, has not run all of its blocks.
    fn end(&self, launch: &Arc<Progress>);
}

/// A sink that the clones of a context share.
#[derive(Clone)]
pub(crate) struct Shown(Arc<dyn ProgressSink>);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}

impl Shown {
    pub(crate) fn new(sink: impl ProgressSink) -> Shown {
        Shown(Arc::new(sink))
    }

    /// A launch starts; it has ended when what this gives is dropped.
    pub(crate) fn start(&self, kernel: &str, grid: [u32; 3]) -> Running {
        let blocks = grid.into_iter().map(u64::from).product();
        let launch = Arc::new(Progress { kernel: kernel.to_owned(), blocks, ended: AtomicU64::new(0) });
        self.0.start(&launch);
        Running { sink: Arc::clone(&self.0), launch }
    }
}

/// A launch that a sink knows of.
pub(crate) struct Running {
    sink: Arc<dyn ProgressSink>,
    launch: Arc<Progress>,
}

impl Running {
    /// The counter of blocks that have ended.
    pub(crate) fn ended(&self) -> &AtomicU64 {
        &self.launch.ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.sink.end(&self.launch);
    }
}
