//! A line on the terminal that shows how far a long launch is.
//!
//! It is drawn over and over in one place by a thread of its own, once a launch takes longer than [`DELAY`], and gone when the
//! launch has ended. The launch itself counts its blocks and draws nothing.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tilewise::{Progress, ProgressSink};

/// How long a launch runs before it is shown.
const DELAY: Duration = Duration::from_secs(1);

/// How long a line stays as it is.
const STEP: Duration = Duration::from_millis(100);

/// To the start of the line, and what was there goes.
const CLEAR: &str = "\r\x1b[K";

/// The characters of a line at most.
const WIDTH: usize = 59;

/// The line.
#[derive(Clone)]
pub(crate) struct Bar(Arc<Mutex<State>>);

struct State {
    /// Where it is drawn.
    terminal: Box<dyn Write + Send>,
    /// The launch that runs, and since when.
    launch: Option<(Arc<Progress>, Instant)>,
    is_drawn: bool,
}

impl Bar {
    /// A line on what is a terminal; none on a file or a pipe, which would keep all that is drawn.
    pub(crate) fn on(terminal: impl IsTerminal + Write + Send + 'static) -> Option<Bar> {
        terminal.is_terminal().then(|| Bar::new(terminal, DELAY))
    }

    /// A line on a terminal, for launches that take longer than `delay`.
    fn new(terminal: impl Write + Send + 'static, delay: Duration) -> Bar {
        let state = State { terminal: Box::new(terminal), launch: None, is_drawn: false };
        let bar = Bar(Arc::new(Mutex::new(state)));
        let shared = Arc::downgrade(&bar.0);
        thread::spawn(move || draw(&shared, delay));
        bar
    }

    /// Calls `print` while the line is not there.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        let mut state = self.lock();
        state.clear();
        print();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl ProgressSink for Bar {
    fn start(&self, launch: &Arc<Progress>) {
        self.lock().launch = Some((Arc::clone(launch), Instant::now()));
    }

    fn end(&self, launch: &Arc<Progress>) {
        let mut state = self.lock();
        // Another launch may have started since.
        if state.launch.as_ref().is_some_and(|(shown, _)| Arc::ptr_eq(shown, launch)) {
            state.launch = None;
            state.clear();
        }
    }
}

impl State {
    /// Draws the line if a launch has run for longer than `delay`.
    fn draw(&mut self, delay: Duration) {
        let Some((launch, since)) = &self.launch else { return };
        if since.elapsed() < delay {
            return;
        }
        let text = line(launch.kernel(), launch.ended(), launch.blocks());
        self.is_drawn = true;
        self.write(&format!("{CLEAR}{text}"));
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            self.write(CLEAR);
        }
    }

    /// A terminal that cannot be written to shows nothing.
    fn write(&mut self, text: &str) {
        let _ = self.terminal.write_all(text.as_bytes()).and_then(|()| self.terminal.flush());
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws as long as the bar is there.
fn draw(shared: &Weak<Mutex<State>>, delay: Duration) {
    while let Some(state) = shared.upgrade() {
        lock(&state).draw(delay);
        drop(state);
        thread::sleep(STEP);
    }
}

/// `matmul_tiled [######              ] 120 of 400 blocks`
fn line(kernel: &str, ended: u64, blocks: u64) -> String {
    const CELLS: u64 = 20;
    let full = (u128::from(ended) * u128::from(CELLS) / u128::from(blocks.max(1))) as usize;
    let count = format!(" [{:20}] {ended} of {blocks} blocks", "#".repeat(full));
    let room = WIDTH.saturating_sub(count.chars().count());
    let name: String = kernel.chars().take(room).collect();
    (name + &count).chars().take(WIDTH).collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use tilewise::prelude::*;

    use super::*;

    #[test]
    fn lines_fit() {
        assert_eq!(line("matmul", 120, 400), "matmul [######              ] 120 of 400 blocks");
        assert_eq!(line("matmul", 0, 0), "matmul [                    ] 0 of 0 blocks");
        assert_eq!(line("matmul", 7, 7), "matmul [####################] 7 of 7 blocks");
        for blocks in [10, u64::from(u32::MAX), u64::MAX] {
            let text = line(&"kernel".repeat(20), blocks / 2, blocks);
            assert!(text.chars().count() <= WIDTH && text.contains("[#########"), "{text}");
        }
    }

    #[test]
    fn a_file_has_no_line() {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(Bar::on(file).is_none());
    }

    /// A terminal that keeps what is written.
    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl Paper {
        fn text(&self) -> String {
            self.0.lock().unwrap().clone()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[kernel]
    fn speak() {
        println!("block {}", block_idx().x);
    }

    /// Launches two blocks, each of which prints a line; between them `wait` is called.
    fn launch(paper: &Paper, delay: Duration, mut wait: impl FnMut() + Send + 'static) -> Result<()> {
        let bar = Bar::new(paper.clone(), delay);
        let print = {
            let (paper, bar) = (paper.clone(), bar.clone());
            move |line: &str| {
                wait();
                bar.aside(|| paper.0.lock().unwrap().push_str(&format!("{line}\n")));
            }
        };
        let ctx = DeviceContext::open("cpu")?.checked().with_threads(1);
        let ctx = ctx.with_output(print).with_progress(bar);
        ctx.enqueue_function(speak(), grid_dim(2), block_dim(1))?;
        ctx.synchronize()
    }

    /// It is gone where lines are printed, there again after them, and gone at the end.
    #[test]
    fn a_long_launch_is_shown() -> Result<()> {
        let paper = Paper::default();
        let shown = paper.clone();
        let drawn =
            |ended: usize| format!("{CLEAR}speak [{:20}] {ended} of 2 blocks", "#".repeat(10 * ended));
        let mut ended = 0;
        launch(&paper, Duration::ZERO, move || {
            let start = Instant::now();
            ended += 1;
            while !shown.text().contains(&drawn(ended)) && start.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(5));
            }
        })?;
        let text = paper.text();
        let clear = CLEAR;
        let (first, rest) = text.split_once(&format!("{clear}block 0\n")).expect("the first line");
        let (second, rest) = rest.split_once(&format!("{clear}block 1\n")).expect("the second line");
        assert!(first.contains(&drawn(1)) && second.contains(&drawn(2)), "{text:?}");
        assert!(rest.is_empty() || rest.ends_with(clear), "{text:?}");
        Ok(())
    }

    #[test]
    fn a_short_launch_is_not() -> Result<()> {
        let paper = Paper::default();
        launch(&paper, Duration::from_secs(3600), || thread::sleep(2 * STEP))?;
        assert_eq!(paper.text(), "block 0\nblock 1\n");
        Ok(())
    }
}
