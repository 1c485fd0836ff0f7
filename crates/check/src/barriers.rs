//! Which barriers are needed.
//!
//! A barrier orders accesses on its two sides: two of different threads to one element, at least one a write, would be a race
//! without it, or, if both are atomic, one could read something else. All barriers that are not needed can be left out at once:
//! every two such accesses of a block still have a barrier between them.
//!
//! A block finds them as it runs. Each access is compared with the latest accesses by other threads (see
//! [`cells`](crate::cells)), back to the last barrier of a position that is known to be needed. If the order of two matters, the last
//! barrier is needed. So of two in a row the second is. What is known is the block's own, so that it does not depend on the
//! order of blocks.
//!
//! A race may hide earlier accesses from those that come later, so the barriers before and after one count as needed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use tilewise_ir::{Kernel, Op, Span};

use crate::cells::Time;
use crate::finding::{Action, Finding, Kind, Severity, Site};
use crate::plan::Plan;

/// The barriers of a kernel, for all blocks.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    spans: Vec<Span>,
    numbers: FxHashMap<Span, usize>,
    needed: Vec<AtomicBool>,
    passed: Vec<AtomicU64>,
}

impl Barriers {
    pub(crate) fn new(kernel: &Kernel) -> Barriers {
        let mut barriers = Barriers::default();
        kernel.body.visit(&mut |inst| {
            if inst.op == Op::Barrier && !barriers.numbers.contains_key(&inst.span) {
                barriers.numbers.insert(inst.span, barriers.spans.len());
                barriers.spans.push(inst.span);
                barriers.needed.push(AtomicBool::new(false));
                barriers.passed.push(AtomicU64::new(0));
            }
        });
        barriers
    }

    /// Advice for those that blocks passed and that nothing needs.
    pub(crate) fn advice(&self, plan: &Plan<'_>) -> impl Iterator<Item = Finding> {
        let passed = self.passed.iter().map(|passed| passed.load(Ordering::Relaxed));
        let each = self.spans.iter().zip(&self.needed).zip(passed);
        let redundant = each.filter(|((_, needed), passed)| !needed.load(Ordering::Relaxed) && *passed > 0);
        let findings = redundant.map(|((span, _), passed)| Finding {
            kind: Kind::RedundantBarrier,
            severity: Severity::Advice,
            count: passed,
            elements: 0,
            sites: vec![Site { location: plan.location(*span), action: Action::Barrier }],
            element: None,
            parties: Vec::new(),
            steps: Vec::new(),
            notes: Vec::new(),
        });
        findings.collect::<Vec<_>>().into_iter()
    }
}

/// The intervals of the block that runs.
#[derive(Debug)]
pub(crate) struct Intervals<'a> {
    all: &'a Barriers,
    /// What this block has found to be needed.
    needed: Vec<bool>,
    passed: Vec<u64>,
    /// The barrier passed last.
    last: Option<usize>,
    /// Whether there was a race since then.
    raced: bool,
    pub(crate) time: Time,
}

impl<'a> Intervals<'a> {
    pub(crate) fn new(all: &'a Barriers) -> Intervals<'a> {
        let count = all.spans.len();
        Intervals {
            all,
            needed: vec![false; count],
            passed: vec![0; count],
            last: None,
            raced: false,
            time: Time { now: 0, base: 0, since: 0 },
        }
    }

    /// A block starts. Gives whether stamps start again, so that old ones have to be forgotten.
    pub(crate) fn start(&mut self) -> bool {
        let again = self.time.now > u32::MAX / 2;
        let now = if again { 1 } else { self.time.now + 1 };
        self.time = Time { now, base: now, since: now };
        (self.last, self.raced) = (None, false);
        self.needed.fill(false);
        again
    }

    /// The number of the interval in the block.
    pub(crate) fn interval(&self) -> u32 {
        self.time.now - self.time.base
    }

    /// The earliest interval, counted in the block, since the last barrier that is known to be needed.
    pub(crate) fn since(&self) -> u32 {
        self.time.since.saturating_sub(self.time.base)
    }

    /// The block passes a barrier.
    pub(crate) fn pass(&mut self, span: Span) {
        self.time.now += 1;
        self.last = self.all.numbers.get(&span).copied();
        let raced = std::mem::take(&mut self.raced);
        match self.last {
            Some(number) => {
                self.passed[number] += 1;
                self.needed[number] |= raced;
                if self.needed[number] {
                    self.time.since = self.time.now;
                }
            }
            // No advice is given on it.
            None => self.time.since = self.time.now,
        }
    }

    /// Takes what was found out about an access: whether barriers order it with an earlier one, and whether it is a race.
    pub(crate) fn judged(&mut self, ordered: bool, races: bool) {
        self.raced |= races;
        if ordered || races {
            self.need_last();
        }
    }

    /// The last barrier orders two accesses that conflict.
    pub(crate) fn need_last(&mut self) {
        if let Some(number) = self.last {
            self.needed[number] = true;
            self.time.since = self.time.now;
        }
    }

    /// The block has ended.
    pub(crate) fn finish(&mut self) {
        for (number, passed) in self.passed.iter_mut().enumerate() {
            if self.needed[number] {
                self.all.needed[number].store(true, Ordering::Relaxed);
            }
            self.all.passed[number].fetch_add(std::mem::take(passed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cells::{Cells, Mark};
    use crate::global::{Batch, Group};
    use crate::plan::Class;

    /// What a block does to one word, in order.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) enum Event {
        Access(Class, u32),
        Barrier(usize),
    }

    const THREADS: u32 = 5;
    pub(crate) const BARRIERS: usize = 3;

    /// A history of up to 13 events, with only these classes of accesses.
    pub(crate) fn history(random: &mut impl FnMut(u64) -> u64, classes: &[Class]) -> Vec<Event> {
        let mut pick = |below: usize| random(below as u64) as usize;
        (0..2 + pick(12))
            .map(|_| match pick(3) {
                0 => Event::Barrier(pick(BARRIERS)),
                _ => Event::Access(classes[pick(classes.len())], pick(THREADS as usize) as u32),
            })
            .collect()
    }

    pub(crate) fn random() -> impl FnMut(u64) -> u64 {
        let mut state = 1u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        }
    }

    /// The pairs of accesses of which the order matters, in the order of the second: the barriers between them, and whether
    /// they are a race if there are none.
    fn pairs(history: &[Event]) -> Vec<(Vec<usize>, bool)> {
        let mut pairs = Vec::new();
        for (second, event) in history.iter().enumerate() {
            let &Event::Access(class, thread) = event else { continue };
            let mut between: Vec<usize> = Vec::new();
            for earlier in history[..second].iter().rev() {
                match *earlier {
                    Event::Barrier(barrier) => between.insert(0, barrier),
                    Event::Access(other, by) => {
                        if by != thread && class.order_matters(other) {
                            pairs.push((between.clone(), class.conflicts(other)));
                        }
                    }
                }
            }
        }
        pairs
    }

    /// Which barriers are needed, word for word as the head of this file says it.
    fn by_definition(pairs: &[(Vec<usize>, bool)]) -> [bool; BARRIERS] {
        let mut needed = [false; BARRIERS];
        for (between, _) in pairs {
            if let Some(&last) = between.last()
                && !between.iter().any(|&barrier| needed[barrier])
            {
                needed[last] = true;
            }
        }
        needed
    }

    /// Which barriers a shadow finds to be needed.
    pub(crate) fn by_shadow(
        history: &[Event],
        mut touch: impl FnMut(&mut Intervals<'_>, Class, u32),
    ) -> [bool; BARRIERS] {
        let spans: Vec<Span> = (1..=BARRIERS as u32).map(Span).collect();
        let all = Barriers {
            numbers: spans.iter().copied().zip(0..).collect(),
            needed: spans.iter().map(|_| AtomicBool::default()).collect(),
            passed: spans.iter().map(|_| AtomicU64::default()).collect(),
            spans,
        };
        let mut intervals = Intervals::new(&all);
        intervals.start();
        for event in history {
            match *event {
                Event::Access(class, thread) => touch(&mut intervals, class, thread),
                Event::Barrier(barrier) => intervals.pass(all.spans[barrier]),
            }
        }
        intervals.finish();
        std::array::from_fn(|barrier| all.needed[barrier].load(Ordering::Relaxed))
    }

    /// Holds a shadow against the definition. After a race, which is reported, a barrier too many may count as needed; without
    /// all the others accesses are ordered as before in any case.
    #[track_caller]
    pub(crate) fn assert_as_defined(history: &[Event], found: [bool; BARRIERS]) {
        let pairs = pairs(history);
        for (between, _) in pairs.iter().filter(|(between, _)| !between.is_empty()) {
            let is_ordered = between.iter().any(|&barrier| found[barrier]);
            assert!(is_ordered, "found {found:?}, one of {between:?} is needed: {history:?}");
        }
        let races = pairs.iter().any(|(between, conflict)| between.is_empty() && *conflict);
        let needed = by_definition(&pairs);
        assert!(races || needed == found, "found {found:?}, needed {needed:?}: {history:?}");
    }

    pub(crate) const PLAIN: &[Class] = &[Class::Read, Class::Write];
    pub(crate) const CHOICES: [&[Class]; 4] =
        [PLAIN, &Class::ALL, &[Class::AtomicRead, Class::AtomicWrite], &[Class::Read, Class::AtomicWrite]];

    #[test]
    fn cells_find_the_barriers_that_are_needed() {
        let mut random = random();
        for round in 0..40_000 {
            let classes = CHOICES[round % CHOICES.len()];
            let history = history(&mut random, classes);
            let mut cells = Cells::new(1, classes != PLAIN);
            let found = by_shadow(&history, |intervals, class, thread| {
                let time = intervals.time;
                let verdict = cells.touch(0, class, Mark::new(time.now, 0, thread), time, 0);
                intervals.judged(verdict.ordered, !verdict.races.is_empty());
            });
            assert_as_defined(&history, found);
        }
    }

    #[test]
    fn groups_find_the_barriers_that_are_needed() {
        let mut random = random();
        for round in 0..40_000 {
            let history = history(&mut random, CHOICES[round % CHOICES.len()]);
            let mut slot = None;
            let found = by_shadow(&history, |intervals, class, thread| {
                let time = intervals.time;
                let batch = Batch { class, site: 0, stamp: time.now, mask: 1, shift: -i64::from(thread) };
                if !Group::take(&mut slot, batch, |values| values.fill(0), None::<fn(&mut [u64])>) {
                    let cells = &mut Group::cells(&mut slot, true).cells;
                    let verdict = cells.touch(0, class, Mark::new(time.now, 0, thread), time, 0);
                    intervals.judged(verdict.ordered, !verdict.races.is_empty());
                }
            });
            assert_as_defined(&history, found);
        }
    }
}
