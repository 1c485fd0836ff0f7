//! Shadow memory for blocks whose threads are ordered by barriers alone: who touched each word last.
//!
//! **Time.** A block counts its barriers: `now` is the number of the interval between two of them, and an access has the
//! number of its interval as its stamp. Two accesses of one block are ordered if they are of one thread, or of different
//! intervals. So an access conflicts with an earlier one of another thread if that has the stamp `now`.
//!
//! **What is kept.** For each word the last plain write, and the last reads by two different threads: the latest of all,
//! and the latest by any other thread than that one. That is enough to judge a write by thread `t` against every reader:
//! let `r` be the latest read by a thread other than `t`. If the latest read of all is not by `t`, it is `r`; otherwise
//! `r` is the latest by a thread other than that of the latest read, which is the second one kept. Some read by another
//! thread is unordered with the write exactly if the latest such read, `r`, is, since stamps only grow. For the last write
//! one is enough: if `t` itself wrote last, every earlier write by another thread was judged against that write of `t`, at
//! a stamp not above that of the access now. Atomic accesses do not conflict among themselves, so of them, as of reads,
//! several can be unordered; they are kept in the same way, by two.
//!
//! **Which barriers are needed.** A barrier is needed if it orders an access with one of an earlier interval, back to
//! [`Time::since`]. An access of the interval now may hide that one, if the kept ones are all of now. If it conflicts with
//! what is judged, there is a race, and [`barriers`](crate::barriers) counts the barriers around it as needed. Two atomic
//! accesses are no race, so of these the last ones of earlier intervals are kept as well.
//!
//! Stamps go on counting from block to block, so that what an earlier block left behind is old, and nothing has to be
//! cleared.

mod mark;

use smallvec::SmallVec;

pub(crate) use mark::Mark;
use mark::{Latest, LatestAndEarlier};

use crate::plan::Class;

/// What time it is in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    /// The interval.
    pub(crate) now: u32,
    /// The first interval of the block.
    pub(crate) base: u32,
    /// Accesses from this interval on are of interest: `now` if only races are, or an earlier one if it is not yet known
    /// whether the barriers since then are needed.
    pub(crate) since: u32,
}

/// The shadow of some words.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    writes: Vec<Mark>,
    /// What was there before the writes of the last interval in which somebody wrote.
    before: Vec<u64>,
    reads: Latest,
    atomics: Option<Box<Atomics>>,
}

#[derive(Clone, Debug)]
struct Atomics {
    writes: LatestAndEarlier,
    reads: LatestAndEarlier,
    /// What the last plain write had left where an atomic operation has changed it since.
    left: Vec<u64>,
}

/// What an access of this interval has left in a word, or what it found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// What is in the word now.
    Current,
    /// This.
    Value(u64),
    /// This or what is in the word now.
    Either(u64),
    /// It is not known.
    Unknown,
}

impl Left {
    /// The value, if it is known; `old` is what is in the word now.
    pub(crate) fn value(self, old: u64) -> Option<u64> {
        match self {
            Left::Current => Some(old),
            Left::Value(value) => Some(value),
            Left::Either(value) => Some(value).filter(|&value| value == old),
            Left::Unknown => None,
        }
    }
}

/// What is wrong with an access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The accesses that it conflicts with, what they are, and the values that they left or found.
    pub(crate) races: SmallVec<[(Class, Mark, Left); 4]>,
    /// Whether of a class with which it conflicts those of two threads are kept: there may have been more.
    pub(crate) more: bool,
    /// Whether it reads what nobody has written.
    pub(crate) unwritten: bool,
    /// Whether a barrier since [`Time::since`] orders it with an earlier access.
    pub(crate) ordered: bool,
}

impl Verdict {
    pub(crate) fn is_fine(&self) -> bool {
        self.races.is_empty() && !self.unwritten && !self.ordered
    }
}

impl Cells {
    /// The shadow of `len` words; atomic accesses take more room.
    pub(crate) fn new(len: usize, atomic: bool) -> Cells {
        let atomics = || {
            let (writes, reads) = (LatestAndEarlier::new(len), LatestAndEarlier::new(len));
            Box::new(Atomics { writes, reads, left: vec![0; len] })
        };
        Cells {
            writes: vec![Mark::default(); len],
            before: vec![0; len],
            reads: Latest::new(len),
            atomics: atomic.then(atomics),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }

    /// Forgets everything, so that stamps can start again.
    pub(crate) fn clear(&mut self) {
        *self = Cells::new(self.len(), self.atomics.is_some());
    }

    /// What was in a word before the writes of the interval of its last one, if somebody has written it then.
    pub(crate) fn before(&self, word: usize) -> u64 {
        self.before[word]
    }

    /// The last accesses of a class to a word, those of two threads; unset ones have a stamp below any time.
    pub(crate) fn latest(&self, word: usize, class: Class) -> [Mark; 2] {
        match (class, &self.atomics) {
            (Class::Write, _) => [self.writes[word], Mark::default()],
            (Class::Read, _) => self.reads.both(word),
            (Class::AtomicWrite, Some(atomics)) => atomics.writes.latest.both(word),
            (Class::AtomicRead, Some(atomics)) => atomics.reads.latest.both(word),
            (_, None) => [Mark::default(); 2],
        }
    }

    /// Whether some thread of the block has written a word.
    pub(crate) fn is_written(&self, word: usize, base: u32) -> bool {
        let atomic = |atomics: &Atomics| atomics.writes.latest.first[word].stamp() >= base;
        self.writes[word].stamp() >= base || self.atomics.as_deref().is_some_and(atomic)
    }

    /// What an access of the interval that is now has left or found.
    fn left(&self, word: usize, class: Class, mark: Mark) -> Left {
        let plain = self.writes[word];
        let atomic = self.atomics.as_deref().map_or(Mark::default(), |a| a.writes.latest.first[word]);
        let now = mark.stamp();
        match class {
            Class::Write if plain.is_changed() => {
                self.atomics.as_deref().map_or(Left::Unknown, |atomics| Left::Value(atomics.left[word]))
            }
            Class::Write => Left::Current,
            Class::AtomicWrite if mark == atomic && (plain.stamp() != now || plain.is_changed()) => {
                Left::Current
            }
            Class::AtomicWrite => Left::Unknown,
            Class::Read | Class::AtomicRead if atomic.stamp() == now => Left::Unknown,
            Class::Read | Class::AtomicRead if plain.stamp() != now => Left::Current,
            // It was before the write or after it.
            Class::Read | Class::AtomicRead if plain.is_alone() => Left::Either(self.before[word]),
            Class::Read | Class::AtomicRead => Left::Unknown,
        }
    }

    /// Judges an access by one thread, and notes it. `before` is what is in the word; it matters for one that writes.
    pub(crate) fn touch(
        &mut self,
        word: usize,
        class: Class,
        mark: Mark,
        time: Time,
        before: u64,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        let thread = mark.thread();
        let mut judge = |other: Class, marks: [Mark; 2]| {
            verdict.more |= class.conflicts(other) && marks.iter().all(|mark| mark.stamp() == time.now);
            for earlier in marks {
                if earlier.thread() == thread || earlier.stamp() < time.since.max(time.base) {
                    continue;
                }
                if earlier.stamp() == time.now {
                    if class.conflicts(other) {
                        verdict.races.push((other, earlier, self.left(word, other, earlier)));
                    }
                } else {
                    verdict.ordered = true;
                }
            }
        };
        for other in Class::ALL {
            if class.order_matters(other) {
                judge(other, self.latest(word, other));
                match (other, &self.atomics) {
                    (Class::AtomicWrite, Some(atomics)) => judge(other, atomics.writes.earlier.both(word)),
                    (Class::AtomicRead, Some(atomics)) => judge(other, atomics.reads.earlier.both(word)),
                    (Class::Read | Class::Write, _) | (_, None) => {}
                }
            }
        }
        let written = self.is_written(word, time.base);
        verdict.unwritten = !written && class != Class::Write;
        match (class, &mut self.atomics) {
            (Class::Read, _) => self.reads.note(word, mark),
            (Class::Write, _) => {
                let last = self.writes[word];
                if last.thread() == thread && last.stamp() == time.now {
                    self.writes[word] = last.once_more(mark.0);
                } else {
                    self.before[word] = before;
                    let mark = Mark(mark.0 | if written { 0 } else { Mark::FIRST });
                    self.writes[word] = if last.stamp() == time.now { mark.after_others() } else { mark };
                }
            }
            (Class::AtomicRead, Some(atomics)) => atomics.reads.note(word, mark),
            (Class::AtomicWrite, Some(atomics)) => {
                let plain = &mut self.writes[word];
                if !plain.is_changed() {
                    *plain = plain.changed();
                    atomics.left[word] = before;
                }
                atomics.writes.note(word, mark);
            }
            (_, None) => {}
        }
        verdict
    }

    /// Reads of neighbouring words by neighbouring threads, all of which are fine; notes them. Gives whether they are;
    /// if not, nothing is noted. Not for words that are touched atomically. `hosted` words have contents before the block
    /// starts.
    pub(crate) fn read_run(
        &mut self,
        start: usize,
        count: usize,
        first: Mark,
        time: Time,
        hosted: bool,
    ) -> bool {
        if self.atomics.is_some() {
            return false;
        }
        let writes = &self.writes[start..start + count];
        let thread = first.thread() as u64;
        let since = time.since.max(time.base) as u64;
        let base = if hosted { 0 } else { time.base as u64 };
        let mut bad = false;
        for (write, thread) in writes.iter().zip(thread..) {
            let stamp = write.0 >> 32;
            bad |= (stamp >= since) & ((write.0 & Mark::THREAD) != thread) | (stamp < base);
        }
        if bad {
            return false;
        }
        let latest = self.reads.first[start..start + count].iter_mut();
        let reads = latest.zip(&mut self.reads.second[start..start + count]);
        for ((latest, second), mark) in reads.zip(first.0..) {
            let other = (latest.0 ^ mark) & Mark::THREAD != 0;
            second.0 = if other { latest.0 } else { second.0 };
            latest.0 = mark;
        }
        true
    }

    /// Reads of one word by several threads, the last and the last but one of which are given, if they are fine; notes
    /// them. Gives whether they are; if not, nothing is noted.
    pub(crate) fn read_by_many(&mut self, word: usize, last: Mark, before_last: Mark, time: Time) -> bool {
        let write = self.writes[word];
        if self.atomics.is_some() || write.stamp() < time.base || write.stamp() >= time.since.max(time.base) {
            return false;
        }
        self.reads.second[word] = before_last;
        self.reads.first[word] = last;
        true
    }

    /// Reads of the same neighbouring words by several rows of neighbouring threads, the first threads of the last row and
    /// of the one before it being given, if they are fine whoever wrote; notes them. Gives whether they are; if not,
    /// nothing is noted.
    pub(crate) fn read_run_by_many(
        &mut self,
        start: usize,
        count: usize,
        last: Mark,
        before_last: Mark,
        time: Time,
    ) -> bool {
        let (since, base) = (time.since.max(time.base), time.base);
        let settled = |write: &Mark| (write.stamp() >= base) & (write.stamp() < since);
        let words = start..start + count;
        if self.atomics.is_some()
            || !self.writes[words.clone()].iter().fold(true, |all, write| all & settled(write))
        {
            return false;
        }
        self.reads.first[words.clone()].iter_mut().zip(last.0..).for_each(|(to, mark)| to.0 = mark);
        self.reads.second[words].iter_mut().zip(before_last.0..).for_each(|(to, mark)| to.0 = mark);
        true
    }

    /// Writes to neighbouring words by neighbouring threads, if they are fine; notes them. `before` gets the values that
    /// are there. Gives whether they are fine; if not, nothing is noted. Not for words that are touched atomically.
    pub(crate) fn write_run(
        &mut self,
        start: usize,
        count: usize,
        first: Mark,
        time: Time,
        before: impl FnOnce(&mut [u64]),
    ) -> bool {
        if self.atomics.is_some() {
            return false;
        }
        let since = time.since.max(time.base) as u64;
        let writes = &mut self.writes[start..start + count];
        let (latest, second) =
            (&self.reads.first[start..start + count], &self.reads.second[start..start + count]);
        let mut bad = false;
        for (((write, latest), second), thread) in
            writes.iter().zip(latest).zip(second).zip(first.thread() as u64..)
        {
            for earlier in [write, latest, second] {
                bad |= (earlier.0 >> 32 >= since) & ((earlier.0 & Mark::THREAD) != thread);
            }
        }
        if bad {
            return false;
        }
        let kept = &mut self.before[start..start + count];
        if writes.iter().any(|write| write.stamp() == time.now) {
            let mut fresh: SmallVec<[u64; 32]> = SmallVec::from_elem(0, count);
            before(&mut fresh);
            for (((write, kept), fresh), mark) in writes.iter_mut().zip(kept).zip(fresh).zip(first.0..) {
                if write.stamp() == time.now {
                    *write = write.once_more(mark);
                } else {
                    *kept = fresh;
                    write.0 = mark | if write.stamp() < time.base { Mark::FIRST } else { 0 };
                }
            }
            return true;
        }
        before(kept);
        let base = time.base as u64;
        for (write, mark) in writes.iter_mut().zip(first.0..) {
            write.0 = mark | if write.0 >> 32 < base { Mark::FIRST } else { 0 };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(now: u32) -> Time {
        Time { now, base: 1, since: now }
    }

    fn touch(cells: &mut Cells, class: Class, thread: u32, now: u32) -> Verdict {
        cells.touch(0, class, Mark::new(now, 7, thread), time(now), 0)
    }

    #[test]
    fn a_write_is_judged_against_every_reader() {
        // For each order of up to five reads by three threads in two intervals, and a write by one of them.
        for code in 0..6usize.pow(5) {
            let mut cells = Cells::new(1, false);
            let reads: Vec<(u32, u32)> = (0..5)
                .map(|i| code / 6usize.pow(i) % 6)
                .map(|read| (read as u32 % 3, read as u32 / 3))
                .collect();
            if !reads.is_sorted_by_key(|read| read.1) {
                continue;
            }
            for &(thread, interval) in &reads {
                touch(&mut cells, Class::Read, thread, 1 + interval);
            }
            for writer in 0..3 {
                for interval in reads.last().map_or(0, |read| read.1)..2 {
                    let verdict = touch(&mut cells.clone(), Class::Write, writer, 1 + interval);
                    let expected = reads.iter().any(|&(t, i)| t != writer && i == interval);
                    assert_eq!(
                        !verdict.races.is_empty(),
                        expected,
                        "{reads:?}, {writer} writes in {interval}"
                    );
                }
            }
        }
    }

    #[test]
    fn runs_say_the_same_as_single_accesses() {
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut runs, mut single) = (Cells::new(16, false), Cells::new(16, false));
        let (mut now, mut fast) = (1, 0);
        for _ in 0..20_000 {
            if next(3) == 0 {
                now += 1;
            }
            let since = (now - next(2) as u32).max(1);
            let time = Time { now, base: now.saturating_sub(6).max(1), since };
            let (start, count, thread) = (next(8) as usize, 1 + next(8) as usize, next(6) as u32);
            let write = next(2) == 0;
            let class = if write { Class::Write } else { Class::Read };
            let first = Mark::new(now, 3, thread);
            let mut all_fine = true;
            for i in 0..count {
                let mark = Mark::new(now, 3, thread + i as u32);
                all_fine &= single.touch(start + i, class, mark, time, i as u64).is_fine();
            }
            let fine = if write {
                runs.write_run(start, count, first, time, |before| {
                    before.iter_mut().zip(0..).for_each(|(before, i)| *before = i);
                })
            } else {
                runs.read_run(start, count, first, time, false)
            };
            assert_eq!(fine, all_fine);
            if fine {
                fast += 1;
                assert_eq!(format!("{runs:?}"), format!("{single:?}"));
            }
            runs = single.clone();
        }
        assert!(fast > 1000);
    }

    #[test]
    fn rows_that_read_the_same_words() {
        let mut cells = Cells::new(4, false);
        for word in 0..4 {
            cells.touch(word, Class::Write, Mark::new(1, 0, word as u32), time(1), 0);
        }
        let mut single = cells.clone();
        let mark = |row: u32| Mark::new(2, 3, 4 * row);
        assert!(!cells.read_run_by_many(0, 4, mark(2), mark(1), time(1)), "written in the same interval");
        assert!(cells.read_run_by_many(0, 4, mark(2), mark(1), time(2)));
        for row in 0..3 {
            assert!(single.read_run(0, 4, mark(row), time(2), false));
        }
        assert_eq!(format!("{cells:?}"), format!("{single:?}"));
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let mut cells = Cells::new(1, true);
        assert!(touch(&mut cells, Class::Write, 0, 1).is_fine());
        assert!(touch(&mut cells, Class::AtomicWrite, 1, 2).is_fine());
        assert!(touch(&mut cells, Class::AtomicWrite, 2, 2).is_fine());
        let verdict = touch(&mut cells, Class::Read, 2, 2);
        assert_eq!(verdict.races[..], [(Class::AtomicWrite, Mark::new(2, 7, 1), Left::Unknown)]);
        assert_eq!(touch(&mut cells, Class::AtomicRead, 5, 2).races.len(), 0);
        assert_eq!(
            touch(&mut cells, Class::Write, 2, 2).races.len(),
            2,
            "an atomic read and an atomic write"
        );
    }

    #[test]
    fn what_an_earlier_block_wrote_is_not_written() {
        let mut cells = Cells::new(2, false);
        assert!(touch(&mut cells, Class::Write, 0, 1).is_fine());
        let later = Time { now: 5, base: 5, since: 5 };
        let verdict = cells.touch(0, Class::Read, Mark::new(5, 0, 0), later, 0);
        assert!(verdict.unwritten && verdict.races.is_empty());
        assert!(!cells.read_run(0, 1, Mark::new(5, 0, 0), later, false));
    }
}
