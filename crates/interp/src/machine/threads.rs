//! Threads of a block: sets of them, and groups of those that are at the same position.

use crate::column::{CHUNK, MAX_CHUNKS};

/// A set of threads of a block, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    pub(crate) words: [u64; MAX_CHUNKS],
}

impl Threads {
    /// The first `count` threads.
    pub(crate) fn first(count: usize) -> Threads {
        let mut threads = Threads::default();
        for (chunk, word) in threads.words.iter_mut().enumerate() {
            *word = match count.saturating_sub(chunk * CHUNK) {
                0 => 0,
                rest if rest >= CHUNK => u64::MAX,
                rest => (1 << rest) - 1,
            };
        }
        threads
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether a thread, given by its number, is one of them.
    pub fn contains(&self, thread: usize) -> bool {
        self.words.get(thread / CHUNK).is_some_and(|word| word >> (thread % CHUNK) & 1 != 0)
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Adds the threads of another set.
    pub(crate) fn insert(&mut self, other: &Threads) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Adds one thread.
    pub(crate) fn insert_one(&mut self, thread: usize) {
        self.words[thread / CHUNK] |= 1 << (thread % CHUNK);
    }

    /// Takes the threads of another set out.
    pub(crate) fn remove(&mut self, other: &Threads) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// The threads in descending order.
    pub fn iter_back(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().rev().flat_map(|(chunk, &word)| {
            std::iter::successors(Some(word), |&rest| {
                Some(rest & !(1 << (63 - rest.leading_zeros().min(63))))
            })
            .take_while(|&rest| rest != 0)
            .map(move |rest| chunk * CHUNK + 63 - rest.leading_zeros() as usize)
        })
    }

    /// The threads of each chunk of [`Chunks::LANES`](crate::Chunks::LANES), a bit each.
    pub fn chunks(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().copied()
    }

    /// The threads in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(chunk, &word)| bits(word).map(move |lane| chunk * CHUNK + lane))
    }
}

/// The numbers of the bits that are set, ascending.
pub(crate) fn bits(word: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)))
        .take_while(|&rest| rest != 0)
        .map(|rest| rest.trailing_zeros() as usize)
}

/// The threads that run, and what is derived from the set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Active {
    pub(crate) threads: Threads,
    /// The first chunk with an active thread.
    pub(crate) first: usize,
    /// One past the last chunk with an active thread.
    pub(crate) last: usize,
    /// Whether all lanes of these chunks may be written: the others of them are of no thread, or of one that has ended.
    pub(crate) whole: bool,
}

impl Active {
    /// `idle` has the lanes that are of no thread, or of one that has ended; a column has `chunks` chunks.
    pub(crate) fn new(threads: Threads, idle: &Threads, chunks: usize) -> Active {
        let used = |word: &u64| *word != 0;
        let words = &threads.words[..chunks];
        let first = words.iter().position(used).unwrap_or(0);
        let last = words.iter().rposition(used).map_or(0, |chunk| chunk + 1);
        let mut words = threads.words[first..last].iter().zip(&idle.words[first..last]);
        Active { threads, first, last, whole: words.all(|(word, idle)| word | idle == u64::MAX) }
    }

    /// Whether no thread is active.
    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.last
    }
}

/// Threads that are at the same position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Their next instruction.
    pub(crate) pc: u32,
    /// How often they stood back for others; those that did so least go first.
    pub(crate) turn: u32,
    /// Number of the loop whose back edge they took last.
    pub(crate) number: u32,
    pub(crate) threads: Threads,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_threads() {
        let mut threads = Threads::first(130);
        assert_eq!((threads.count(), threads.words[1], threads.words[2]), (130, u64::MAX, 3));
        threads.remove(&Threads::first(128));
        assert_eq!(threads.iter().collect::<Vec<_>>(), [128, 129]);
        threads.insert_one(5);
        assert_eq!(threads.iter().collect::<Vec<_>>(), [5, 128, 129]);
        assert_eq!(Threads::first(1024).count(), 1024);
        assert!(Threads::first(0).is_empty());
    }

    #[test]
    fn lanes_of_ended_threads_may_be_written() {
        let mut idle = Threads::first(1024);
        idle.remove(&Threads::first(100));
        let active = Active::new(Threads::first(100), &idle, 2);
        assert!(active.whole && active.first == 0 && active.last == 2);
        let some = Active::new(Threads::first(70), &idle, 2);
        assert!(!some.whole && some.last == 2);
        let mut ended = Threads::first(100);
        ended.remove(&Threads::first(70));
        idle.insert(&ended);
        assert!(Active::new(Threads::first(70), &idle, 2).whole);
    }
}
