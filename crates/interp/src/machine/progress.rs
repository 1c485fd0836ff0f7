//! Whether a block gets anywhere: when it has to let other blocks run, and when nothing in it can change any more.
//!
//! The state of a block is kept at times that double, and compared at each round in between. A state that comes again
//! with no memory changed meanwhile comes for ever. Only loops that are not certain to end are looked at, and only
//! after many rounds, so a block that computes is not held up.

use super::elements::{Local, Shared};
use super::threads::{Group, Threads};
use super::{Machine, Status};
use crate::column::{Cell, Column, Registers};

/// Rounds after which a block lets others run.
const QUANTUM: u64 = 4096;

/// Rounds after which a state is first kept, in code in which loops may wait.
const SOON: u64 = 256;

/// The same in other code, in which a loop may be long but does not wait.
const LATE: u64 = 1 << 16;

/// Rounds of a block, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Rounds so far: back edges of loops that may go on for ever; where threads go ahead of each other, the times
    /// that each of them had its turn.
    rounds: u64,
    /// The round at which there is something to do.
    next: u64,
    /// The round at which others may run.
    pause: u64,
    /// The round at which a state is kept.
    keep: u64,
    kept: Option<Box<State>>,
    /// Whether anything was seen to change since then.
    changed: bool,
    /// Whether the block has been stuck. From then on it is told exactly whether it changes memory, lest blocks that
    /// only write what is there already wake each other for ever.
    was_stuck: bool,
    /// Register in which the state last differed: whether it is wide, and its number.
    differed: (bool, usize),
    /// The least number of turns that any group had.
    turn: u32,
    /// The round at which the block is given up.
    limit: u64,
}

/// All that decides what a block does next.
#[derive(Debug)]
struct State {
    pc: u32,
    threads: Threads,
    others: Vec<Group>,
    at_barrier: Vec<Group>,
    at_warp: Vec<Group>,
    registers: Registers,
    shared: Vec<Option<Shared>>,
    local: Vec<Option<Local>>,
    changes: u64,
}

impl Progress {
    pub(super) fn new(waits: bool, max_rounds: Option<u64>) -> Progress {
        let keep = if waits { SOON } else { LATE };
        let limit = max_rounds.unwrap_or(u64::MAX);
        Progress {
            next: keep.min(limit),
            limit,
            keep,
            pause: if waits { QUANTUM } else { u64::MAX },
            ..Progress::default()
        }
    }

    /// The block runs again; others may have changed what it looks at.
    pub(super) fn resume(&mut self) {
        if self.pause != u64::MAX {
            self.kept = None;
            self.keep = self.rounds + SOON;
            self.pause = self.rounds + QUANTUM;
            self.next = self.keep.min(self.limit);
        }
    }

    /// Whether a state is kept, so that it matters if memory is changed or only written.
    pub(super) fn is_watching(&self) -> bool {
        self.was_stuck || self.kept.is_some()
    }

    /// Whether something changed before the state came again.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// The least number of turns that any group had.
    pub(super) fn turn(&self) -> u32 {
        self.turn
    }

    /// Every group had this many turns.
    pub(super) fn set_turn(&mut self, turn: u32) {
        self.turn = turn;
    }
}

impl Machine<'_> {
    /// Another round has ended.
    #[inline]
    pub(super) fn round(&mut self) -> Option<Status> {
        self.progress.rounds += 1;
        if self.progress.rounds < self.progress.next { None } else { self.look() }
    }

    fn look(&mut self) -> Option<Status> {
        if self.is_as_kept() {
            if self.launch.code.waits {
                self.progress.was_stuck = true;
                return Some(Status::Stuck);
            }
            self.give_up();
            return Some(Status::Done);
        }
        let rounds = self.progress.rounds;
        if rounds >= self.progress.limit {
            self.give_up_at_limit(rounds);
            return Some(Status::Done);
        }
        if rounds >= self.progress.pause {
            return Some(Status::Paused);
        }
        if rounds >= self.progress.keep {
            self.progress.keep = rounds.saturating_mul(2);
            self.progress.kept = Some(Box::new(self.state()));
            self.progress.changed = false;
        }
        self.progress.next = rounds + 1;
        None
    }

    fn state(&self) -> State {
        State {
            pc: self.pc,
            threads: self.active.threads,
            others: sorted(&self.others),
            at_barrier: sorted(&self.at_barrier),
            at_warp: sorted(&self.at_warp),
            registers: self.registers.clone(),
            shared: self.shared.clone(),
            local: self.local.clone(),
            changes: self.changes,
        }
    }

    /// Whether the state is the kept one. Usually a loop changes the same register in each round, so the one that
    /// differed last is compared first.
    fn is_as_kept(&mut self) -> bool {
        let Some(kept) = &self.progress.kept else { return false };
        let (wide, number) = self.progress.differed;
        let differs = |wide: bool, number: usize| {
            if wide {
                differs(&self.registers.wide, &kept.registers.wide, number)
            } else {
                differs(&self.registers.narrow, &kept.registers.narrow, number)
            }
        };
        if kept.pc != self.pc || kept.threads != self.active.threads {
            return false;
        }
        if differs(wide, number) {
            self.progress.changed = true;
            return false;
        }
        if kept.changes != self.changes && self.launch.code.waits {
            return false;
        }
        let narrow = (0..self.registers.narrow.len()).map(|number| (false, number));
        let wide = (0..self.registers.wide.len()).map(|number| (true, number));
        if let Some(register) = narrow.chain(wide).find(|&(wide, number)| differs(wide, number)) {
            self.progress.differed = register;
            self.progress.changed = true;
            return false;
        }
        let same_memory = kept.shared == self.shared && kept.local == self.local;
        let same = kept.others == sorted(&self.others)
            && kept.at_barrier == sorted(&self.at_barrier)
            && kept.at_warp == sorted(&self.at_warp);
        self.progress.changed |= !same_memory;
        same && same_memory
    }
}

/// Whether a register of this number exists and differs.
fn differs<T: Cell>(now: &[Column<T>], kept: &[Column<T>], number: usize) -> bool {
    now.get(number) != kept.get(number)
}

/// Groups in the order of their positions, with what does not decide what they compute left out.
fn sorted(groups: &[Group]) -> Vec<Group> {
    let mut groups: Vec<Group> =
        groups.iter().map(|group| Group { turn: 0, number: 0, ..group.clone() }).collect();
    groups.sort_by_key(|group| group.pc);
    groups
}
