//! Who has read a word in the interval that is now, where all threads of an access read the same one: of these the cells keep
//! the last two, and a write by another races with each of them.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use tilewise_interp::Threads;

use crate::cells::Mark;

/// Threads of a block, 64 in each.
const CHUNKS: usize = 1024 / 64;

/// The most words whose readers are kept in an interval: a loop may go through all of a tensor.
const MOST: usize = 4096;

/// The readers of words, by number of the access and of the word.
#[derive(Default)]
pub(super) struct Readers {
    interval: u32,
    of: FxHashMap<(u16, usize), [u64; CHUNKS]>,
}

impl Readers {
    /// Notes that these threads read a word.
    pub(super) fn note(&mut self, interval: u32, site: u16, word: usize, threads: &Threads) {
        if self.interval != interval {
            self.interval = interval;
            self.of.clear();
        }
        let is_full = self.of.len() >= MOST;
        let all = match self.of.entry((site, word)) {
            Entry::Vacant(_) if is_full => return,
            entry => entry.or_default(),
        };
        all.iter_mut().zip(threads.chunks()).for_each(|(all, more)| *all |= more);
    }

    /// How many threads have read a word at the place of an access that is one of them, but for one thread; `None` if that
    /// is not known.
    pub(super) fn others(&self, read: Mark, word: usize, but: u32) -> Option<u64> {
        let all = self.of.get(&(read.site(), word)).filter(|_| self.interval == read.stamp())?;
        let has = |thread: u32| all[thread as usize / 64] >> (thread % 64) & 1;
        let count: u32 = all.iter().map(|chunk| chunk.count_ones()).sum();
        (has(read.thread()) == 1).then(|| u64::from(count) - has(but))
    }

    /// Stamps start again.
    pub(super) fn clear(&mut self) {
        self.of.clear();
    }
}
