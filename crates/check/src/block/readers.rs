//! Who has read a word in the interval that is now, where all threads of an access read the same one: of these the cells keep
//! the last two, and a write by another races with each of them.

use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::FxHashMap;
use tilewise_interp::Threads;

use crate::cells::Mark;

/// Threads of a block, 64 in each.
const CHUNKS: usize = 1024 / 64;

/// Runs that are kept before they are taken apart, by words.
const RUNS: usize = 256;

/// The most words whose readers are kept apart from runs in an interval: a loop may go through all of a tensor.
const MOST: usize = 4096;

/// Runs at the end that may go on: a round of a loop reads some arrays in turn.
const OPEN: usize = 4;

/// The readers of words.
#[derive(Default)]
pub(super) struct Readers {
    interval: u32,
    runs: Vec<Run>,
    /// What runs were taken apart into, by number of the access and of the word.
    words: FxHashMap<(u16, usize), [u64; CHUNKS]>,
    /// Whether there were too many words: of one that is not among them only the last readers are known.
    lost: bool,
}

/// The same threads have read neighbouring words at one access, one after the other.
struct Run {
    site: u16,
    words: Range<usize>,
    threads: Threads,
}

impl Readers {
    /// Notes that these threads read a word.
    pub(super) fn note(&mut self, interval: u32, site: u16, word: usize, threads: &Threads) {
        if self.interval != interval {
            self.interval = interval;
            self.clear();
        }
        let goes_on = |run: &&mut Run| {
            run.site == site && (run.words.start..=run.words.end).contains(&word) && run.threads == *threads
        };
        if let Some(run) = self.runs.iter_mut().rev().take(OPEN).find(goes_on) {
            run.words.end = run.words.end.max(word + 1);
            return;
        }
        if self.runs.len() == RUNS {
            for run in self.runs.drain(..) {
                for word in run.words {
                    let is_full = self.words.len() >= MOST;
                    let all = match self.words.entry((run.site, word)) {
                        Entry::Vacant(_) if is_full => {
                            self.lost = true;
                            continue;
                        }
                        entry => entry.or_default(),
                    };
                    all.iter_mut().zip(run.threads.chunks()).for_each(|(all, more)| *all |= more);
                }
            }
        }
        self.runs.push(Run { site, words: word..word + 1, threads: *threads });
    }

    /// How many threads have read a word at the place of an access that is one of them, but for one thread; `None` if that
    /// is not known.
    pub(super) fn others(&self, read: Mark, word: usize, but: u32) -> Option<u64> {
        if self.interval != read.stamp() {
            return None;
        }
        let kept = self.words.get(&(read.site(), word)).copied();
        let mut all = kept.or((!self.lost).then(Default::default))?;
        for run in self.runs.iter().filter(|run| run.site == read.site() && run.words.contains(&word)) {
            all.iter_mut().zip(run.threads.chunks()).for_each(|(all, more)| *all |= more);
        }
        let has = |thread: u32| all[thread as usize / 64] >> (thread % 64) & 1;
        let count: u32 = all.iter().map(|chunk| chunk.count_ones()).sum();
        (has(read.thread()) == 1).then(|| u64::from(count) - has(but))
    }

    /// Forgets everything, so that stamps can start again.
    pub(super) fn clear(&mut self) {
        self.lost = false;
        self.runs.clear();
        if !self.words.is_empty() {
            self.words.clear();
        }
    }
}
