//! What is kept of accesses: a mark for each, and of a kind of access the last marks of each word.

/// An access: its stamp, the number of its position, its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark(pub(super) u64);

impl Mark {
    /// Set in the mark of a write to a word that had not been written before its interval.
    pub(super) const FIRST: u64 = 1 << 15;
    /// Set in the mark of a write to a word that its thread had written in the same interval before.
    const AGAIN: u64 = 1 << 14;
    /// Set in the mark of a plain write to a word that an atomic operation has changed since.
    const CHANGED: u64 = 1 << 13;
    /// Set in the mark of a plain write to a word that somebody else had written in the same interval before.
    const OTHERS: u64 = 1 << 12;
    pub(super) const THREAD: u64 = (1 << 10) - 1;

    #[inline(always)]
    pub(crate) fn new(stamp: u32, site: u16, thread: u32) -> Mark {
        Mark((stamp as u64) << 32 | (site as u64) << 16 | thread as u64)
    }

    #[inline(always)]
    pub(crate) fn stamp(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn site(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline(always)]
    pub(crate) fn thread(self) -> u32 {
        (self.0 & Mark::THREAD) as u32
    }

    /// Whether the word had not been written before the interval of this write.
    pub(crate) fn is_first(self) -> bool {
        self.0 & Mark::FIRST != 0
    }

    /// Whether the thread had written the word in the same interval before: then there were values in between.
    pub(crate) fn is_again(self) -> bool {
        self.0 & Mark::AGAIN != 0
    }

    /// Whether an atomic operation has changed the word since this plain write.
    pub(super) fn is_changed(self) -> bool {
        self.0 & Mark::CHANGED != 0
    }

    /// Whether this plain write is the only one of its interval.
    pub(super) fn is_alone(self) -> bool {
        self.0 & (Mark::AGAIN | Mark::OTHERS) == 0
    }

    /// The mark of another write by the same thread in the same interval.
    #[inline(always)]
    pub(super) fn once_more(self, mark: u64) -> Mark {
        Mark(mark | Mark::AGAIN | self.0 & (Mark::FIRST | Mark::OTHERS))
    }

    /// The mark of a plain write to a word that an atomic operation changes.
    pub(super) fn changed(self) -> Mark {
        Mark(self.0 | Mark::CHANGED)
    }

    /// The mark of a plain write to a word that somebody else has written in the same interval.
    pub(super) fn after_others(self) -> Mark {
        Mark(self.0 | Mark::OTHERS)
    }
}

/// The last two of a kind of access by different threads, for each word.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    pub(super) first: Vec<Mark>,
    pub(super) second: Vec<Mark>,
}

impl Latest {
    pub(super) fn new(len: usize) -> Latest {
        Latest { first: vec![Mark::default(); len], second: vec![Mark::default(); len] }
    }

    #[inline(always)]
    pub(super) fn note(&mut self, word: usize, mark: Mark) {
        let first = self.first[word];
        if first.thread() != mark.thread() {
            self.second[word] = first;
        }
        self.first[word] = mark;
    }

    pub(super) fn both(&self, word: usize) -> [Mark; 2] {
        [self.first[word], self.second[word]]
    }
}

/// The last two of a kind of access by different threads, for each word, and the last two of those in intervals before the
/// last one.
#[derive(Clone, Debug)]
pub(super) struct LatestAndEarlier {
    pub(super) latest: Latest,
    pub(super) earlier: Latest,
}

impl LatestAndEarlier {
    pub(super) fn new(len: usize) -> LatestAndEarlier {
        LatestAndEarlier { latest: Latest::new(len), earlier: Latest::new(len) }
    }

    pub(super) fn note(&mut self, word: usize, mark: Mark) {
        let [first, second] = self.latest.both(word);
        if first.stamp() != mark.stamp() {
            (self.earlier.first[word], self.earlier.second[word]) = (first, second);
        }
        self.latest.note(word, mark);
    }
}
