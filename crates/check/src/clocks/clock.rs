//! What a thread knows to have happened: a vector clock, short where threads know the same.
//!
//! Accesses have stamps that grow with each synchronisation of the launch. A thread knows of a block everything below a
//! stamp, and of single threads of it more. Barriers make all threads of a block know the same, so clocks are shared
//! between threads until they differ.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known to have happened before.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    blocks: BTreeMap<u64, Known>,
}

/// What is known of a block.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// Everything with a stamp below this.
    all: u64,
    /// Of single threads, everything with a stamp below these.
    threads: BTreeMap<u32, u64>,
}

impl Clock {
    /// Whether an access is known.
    pub(crate) fn knows(&self, block: u64, thread: u32, stamp: u64) -> bool {
        self.blocks.get(&block).is_some_and(|known| {
            stamp < known.all || known.threads.get(&thread).is_some_and(|below| stamp < *below)
        })
    }

    /// Everything that a block did before `below` becomes known.
    pub(crate) fn learn_block(&mut self, block: u64, below: u64) {
        let known = self.blocks.entry(block).or_default();
        known.all = known.all.max(below);
        known.threads.retain(|_, stamp| *stamp > known.all);
    }

    /// Everything that a thread did before `below` becomes known.
    pub(crate) fn learn_thread(&mut self, block: u64, thread: u32, below: u64) {
        let known = self.blocks.entry(block).or_default();
        if below > known.all {
            let stamp = known.threads.entry(thread).or_default();
            *stamp = below.max(*stamp);
        }
    }

    /// What another clock knows becomes known.
    fn join(&mut self, other: &Clock) {
        for (&block, theirs) in &other.blocks {
            let known = self.blocks.entry(block).or_default();
            known.all = known.all.max(theirs.all);
            for (&thread, &below) in &theirs.threads {
                let stamp = known.threads.entry(thread).or_default();
                *stamp = below.max(*stamp);
            }
            let all = known.all;
            known.threads.retain(|_, stamp| *stamp > all);
        }
    }
}

/// [`Clock::join`] of clocks that others may share.
pub(crate) fn join(clock: &mut Arc<Clock>, other: &Arc<Clock>) {
    if Arc::ptr_eq(clock, other) || other.blocks.is_empty() {
        return;
    }
    if clock.blocks.is_empty() {
        *clock = Arc::clone(other);
    } else {
        Arc::make_mut(clock).join(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_what_was_learned() {
        let mut clock = Clock::default();
        clock.learn_block(0, 5);
        clock.learn_thread(0, 3, 9);
        clock.learn_thread(1, 2, 7);
        assert!(clock.knows(0, 1, 4) && !clock.knows(0, 1, 5));
        assert!(clock.knows(0, 3, 8) && !clock.knows(0, 3, 9));
        assert!(clock.knows(1, 2, 6) && !clock.knows(1, 0, 6) && !clock.knows(2, 0, 0));
        clock.learn_block(0, 20);
        assert_eq!(clock.blocks[&0].threads.len(), 0);
    }

    #[test]
    fn joins_know_what_either_knew() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.learn_block(0, 5);
        a.learn_thread(2, 1, 4);
        b.learn_thread(0, 7, 8);
        b.learn_block(2, 6);
        let (mut joined, b) = (Arc::new(a), Arc::new(b));
        join(&mut joined, &b);
        assert!(joined.knows(0, 7, 7) && joined.knows(0, 6, 4) && joined.knows(2, 1, 5));
        assert!(!joined.knows(0, 6, 7));
    }
}
