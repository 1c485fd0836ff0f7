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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A sink that keeps what it is told, with how far the launch was then.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<String>>>);

    impl Told {
        fn add(&self, what: &str, launch: &Progress) {
            let text = format!("{what} {} {} of {}", launch.kernel(), launch.ended(), launch.blocks());
            self.0.lock().unwrap().push(text);
        }

        fn take(&self) -> Vec<String> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    impl ProgressSink for Told {
        fn start(&self, launch: &Arc<Progress>) {
            self.add("start", launch);
        }

        fn end(&self, launch: &Arc<Progress>) {
            self.add("end", launch);
        }
    }

    #[test]
    fn a_launch_starts_counts_and_ends() {
        let told = Told::default();
        let running = Shown::new(told.clone()).start("add", [3, 2, 1]);
        assert_eq!(told.take(), ["start add 0 of 6"]);
        running.ended().fetch_add(4, Ordering::Relaxed);
        assert!(told.take().is_empty(), "the sink asks for itself");
        drop(running);
        assert_eq!(told.take(), ["end add 4 of 6"]);
    }

    #[test]
    fn launches_are_told_apart() {
        let told = Told::default();
        let shown = Shown::new(told.clone());
        let first = shown.start("first", [1, 1, 1]);
        let second = shown.clone().start("second", [2, 1, 1]);
        second.ended().fetch_add(1, Ordering::Relaxed);
        drop((first, second));
        assert_eq!(told.take()[2..], ["end first 0 of 1", "end second 1 of 2"]);
    }

    #[test]
    fn the_largest_grid_is_counted() {
        let told = Told::default();
        Shown::new(told.clone()).start("k", [i32::MAX as u32, 65_535, 65_535]);
        assert_eq!(told.take()[0], format!("start k 0 of {}", 2_147_483_647u64 * 65_535 * 65_535));
    }

    #[test]
    fn a_launch_that_unwinds_has_ended() {
        let told = Told::default();
        let shown = Shown::new(told.clone());
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _running = shown.start("k", [1, 1, 1]);
            std::panic::resume_unwind(Box::new("a sink of lines panics"));
        }));
        assert!(unwound.is_err());
        assert_eq!(told.take(), ["start k 0 of 1", "end k 0 of 1"]);
    }
}
