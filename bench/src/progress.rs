//! How far a long run is, and how long the rest will take: a line on standard error, which a terminal shows in one place.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// To the start of the line, and what was there goes.
const CLEAR: &str = "\r\x1b[K";

/// A run of steps that take about as long as each other.
#[derive(Debug)]
pub(crate) struct Progress {
    steps: usize,
    done: usize,
    start: Instant,
    is_terminal: bool,
}

impl Progress {
    /// A run of so many steps that starts now.
    pub(crate) fn start(steps: usize) -> Progress {
        Progress { steps, done: 0, start: Instant::now(), is_terminal: stderr().is_terminal() }
    }

    /// Tells which step is next, and what is left with it. The one before it is done.
    pub(crate) fn next(&mut self, what: &str) {
        let line = line(what, self.done, self.steps, self.start.elapsed());
        self.done += 1;
        show(&drawn(&line, self.is_terminal));
    }
}

fn show(text: &str) {
    let mut stderr = stderr().lock();
    // Nobody is there to be told of a closed standard error.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// What shows a line: on a terminal in the place of the one before, elsewhere below it.
fn drawn(line: &str, is_terminal: bool) -> String {
    if is_terminal { format!("{CLEAR}{line}") } else { format!("{line}\n") }
}

impl Drop for Progress {
    /// Takes the line away from a terminal.
    fn drop(&mut self) {
        if self.is_terminal {
            show(CLEAR);
        }
    }
}

fn line(what: &str, done: usize, steps: usize, elapsed: Duration) -> String {
    let left = match done {
        0 => String::new(),
        _ => format!(
            ", about {} left",
            rounded(elapsed.mul_f64((steps - done.min(steps)) as f64 / done as f64))
        ),
    };
    format!("{} of {steps}: {what}{left}", done + 1)
}

/// `40 s`, `12 min`, `3.5 h`.
fn rounded(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_the_place_of_the_one_before_only_on_a_terminal() {
        assert_eq!(drawn("1 of 2: -cse", true), "\r\x1b[K1 of 2: -cse");
        assert_eq!(drawn("1 of 2: -cse", false), "1 of 2: -cse\n");
    }

    #[test]
    fn what_is_left_follows_from_what_was_done() {
        assert_eq!(line("-cse", 0, 60, Duration::ZERO), "1 of 60: -cse");
        assert_eq!(line("-cse", 1, 60, Duration::from_secs(2)), "2 of 60: -cse, about 118 s left");
        assert_eq!(line("-cse", 30, 60, Duration::from_secs(600)), "31 of 60: -cse, about 10 min left");
        assert_eq!(line("0", 12, 60, Duration::from_secs(3600)), "13 of 60: 0, about 4.0 h left");
    }
}
