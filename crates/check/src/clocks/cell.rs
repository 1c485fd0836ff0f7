//! Shadow memory of a word in a kernel that orders threads by more than barriers.
//!
//! Of plain writes the last is enough: one that is not ordered after an earlier one was a race already. Of reads and of
//! atomic accesses several can be unordered, and all of them since the last write are kept, by thread. Those that a new
//! one of their kind comes after are dropped now and then, if they are of other blocks: what is ordered after the new one is
//! ordered after them, too.
//!
//! Of each thread the last access of a kind is kept, and the interval of the one before it that was of an earlier interval:
//! that one tells that a barrier is needed where the last one does not.

use std::ops::Range;
use std::sync::Arc;

use tilewise_ir::Scope;

use super::clock::Clock;
use crate::plan::Class;

/// An access that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) block: u64,
    pub(crate) thread: u32,
    pub(crate) stamp: u64,
    pub(crate) interval: u32,
    pub(crate) site: u16,
    /// Among which threads it is atomic, if it is.
    pub(crate) scope: Scope,
    /// What it left, or what it found if it wrote nothing.
    pub(crate) value: u64,
}

/// What a release has published at a word.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) scope: Scope,
    pub(crate) block: u64,
    pub(crate) clock: Arc<Clock>,
}

/// The shadow of a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    write: Option<Last>,
    /// What was there before the last plain write, and before those by the same thread since it last published anything, if
    /// anything was.
    pub(crate) before: Option<u64>,
    /// Whether there were several such writes, and so values in between.
    pub(crate) again: bool,
    /// Whether anything has written it.
    pub(crate) written: bool,
    reads: Accesses,
    atomic_reads: Accesses,
    atomic_writes: Accesses,
    pub(crate) releases: Vec<Release>,
}

/// Accesses of one kind, the last of each thread, in order of blocks and threads.
#[derive(Clone, Debug, Default)]
struct Accesses {
    list: Vec<Last>,
    /// How long the list may get before it is looked through.
    limit: usize,
}

/// The last access of a thread.
#[derive(Clone, Copy, Debug)]
struct Last {
    past: Past,
    /// The interval of the last one that was of an earlier interval.
    earlier: Option<u32>,
}

impl Last {
    fn of(past: Past) -> Last {
        Last { past, earlier: None }
    }

    /// Whether the thread had an access in one of these intervals.
    fn is_within(&self, intervals: &Range<u32>) -> bool {
        intervals.contains(&self.past.interval)
            || self.earlier.is_some_and(|interval| intervals.contains(&interval))
    }
}

impl Accesses {
    fn note(&mut self, past: Past, clock: &Clock) {
        if self.list.len() > self.limit {
            // Those of the block itself tell which of its barriers are needed.
            self.list.retain(|Last { past: old, .. }| {
                old.block == past.block || !clock.knows(old.block, old.thread, old.stamp)
            });
            self.limit = 2 * self.list.len() + 8;
        }
        let key = |past: &Past| (past.block, past.thread);
        match self.list.binary_search_by_key(&key(&past), |last| key(&last.past)) {
            Ok(at) => {
                let last = &mut self.list[at];
                if last.past.interval != past.interval {
                    last.earlier = Some(last.past.interval);
                }
                last.past = past;
            }
            Err(at) => self.list.insert(at, Last::of(past)),
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.limit = 0;
    }
}

impl Cell {
    /// The accesses that conflict with a new one and are not known to have happened before it.
    pub(crate) fn conflicts(&self, class: Class, new: Past, clock: &Clock) -> Vec<(Class, Past)> {
        let mut found = Vec::new();
        for other in Class::ALL {
            let apart = class.is_atomic() && other.is_atomic();
            if !class.is_write() && !other.is_write() {
                continue;
            }
            let unordered = self.accesses(other).iter().map(|last| last.past).filter(|old| {
                let same = (old.block, old.thread) == (new.block, new.thread);
                // Atomics are atomic only among threads that both scopes include.
                let narrow = old.scope == Scope::Block || new.scope == Scope::Block;
                let conflict = !apart || narrow && old.block != new.block;
                !same && conflict && !clock.knows(old.block, old.thread, old.stamp)
            });
            found.extend(unordered.map(|old| (other, old)));
        }
        found
    }

    /// Whether another thread of the block has done something that conflicts with a new access, in an earlier interval from
    /// `since` on.
    pub(crate) fn ordered_by_barriers(&self, class: Class, new: Past, since: u32) -> bool {
        let intervals = since..new.interval;
        !intervals.is_empty()
            && Class::ALL.into_iter().filter(|&other| class.order_matters(other)).any(|other| {
                self.accesses(other).iter().any(|last| {
                    last.past.block == new.block
                        && last.past.thread != new.thread
                        && last.is_within(&intervals)
                })
            })
    }

    /// The accesses of a class that are kept.
    fn accesses(&self, class: Class) -> &[Last] {
        match class {
            Class::Write => self.write.as_slice(),
            Class::Read => &self.reads.list,
            Class::AtomicRead => &self.atomic_reads.list,
            Class::AtomicWrite => &self.atomic_writes.list,
        }
    }

    /// Notes an access; `before` is what was there.
    pub(crate) fn note(&mut self, class: Class, past: Past, clock: &Clock, before: u64) {
        match class {
            Class::Read => self.reads.note(past, clock),
            Class::AtomicRead => self.atomic_reads.note(past, clock),
            Class::AtomicWrite => {
                self.atomic_writes.note(past, clock);
                self.written = true;
            }
            Class::Write => {
                let key = |past: &Past| (past.block, past.thread, past.stamp);
                self.again = self.write.is_some_and(|last| key(&last.past) == key(&past));
                if !self.again {
                    self.before = self.written.then_some(before);
                }
                self.write = Some(Last::of(past));
                self.reads.clear();
                self.atomic_reads.clear();
                self.atomic_writes.clear();
                self.releases.clear();
                self.written = true;
            }
        }
    }

    /// Adds what a release publishes.
    pub(crate) fn publish(&mut self, release: Release) {
        let same = |old: &&mut Release| {
            old.scope == release.scope && (release.scope != Scope::Block || old.block == release.block)
        };
        match self.releases.iter_mut().find(same) {
            Some(old) => super::clock::join(&mut old.clock, &release.clock),
            None => self.releases.push(release),
        }
    }
}

impl Release {
    /// Whether a thread of a block that acquires with a scope sees it.
    pub(crate) fn reaches(&self, block: u64, scope: Scope) -> bool {
        self.block == block || self.scope != Scope::Block && scope != Scope::Block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barriers::tests::{CHOICES, assert_as_defined, by_shadow, history, random};

    /// Where nothing orders threads but barriers, those are needed that are needed anywhere else.
    #[test]
    fn cells_find_the_barriers_that_are_needed() {
        let mut random = random();
        for round in 0..40_000 {
            let history = history(&mut random, CHOICES[round % CHOICES.len()]);
            let mut cell = Cell::default();
            let found = by_shadow(&history, |intervals, class, thread| {
                // The block knows all that its threads did before the last barrier.
                let interval = intervals.interval();
                let mut clock = Clock::default();
                clock.learn_block(0, u64::from(interval));
                let past = Past {
                    block: 0,
                    thread,
                    stamp: u64::from(interval),
                    interval,
                    site: 0,
                    scope: Scope::Device,
                    value: 0,
                };
                let ordered = cell.ordered_by_barriers(class, past, intervals.since());
                let races = !cell.conflicts(class, past, &clock).is_empty();
                intervals.judged(ordered, races);
                cell.note(class, past, &clock, 0);
            });
            assert_as_defined(&history, found);
        }
    }
}
