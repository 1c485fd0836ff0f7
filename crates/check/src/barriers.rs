//! Which barriers are needed.
//!
//! A barrier orders accesses on its two sides. It is needed if there are two accesses of different threads that conflict,
//! in intervals between which there are only barriers of its one position in the source: without it, they would be a race.
//! While a block runs, it is enough to know the earliest interval back to which all barriers are of the same position as
//! the last one; each access is compared with the latest accesses by other threads (see [`cells`](crate::cells)).

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
        });
        findings.collect::<Vec<_>>().into_iter()
    }
}

/// The intervals of the block that runs.
#[derive(Debug)]
pub(crate) struct Intervals<'a> {
    all: &'a Barriers,
    /// What is known to be needed.
    needed: Vec<bool>,
    passed: Vec<u64>,
    /// The barrier passed last.
    last: Option<usize>,
    /// The earliest interval back to which all barriers are that one.
    back: u32,
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
            back: 0,
            time: Time { now: 0, base: 0, since: 0 },
        }
    }

    /// A block starts. Gives whether stamps start again, so that old ones have to be forgotten.
    pub(crate) fn start(&mut self) -> bool {
        let again = self.time.now > u32::MAX / 2;
        let now = if again { 1 } else { self.time.now + 1 };
        self.time = Time { now, base: now, since: now };
        (self.last, self.back) = (None, now);
        again
    }

    /// The number of the interval in the block.
    pub(crate) fn interval(&self) -> u32 {
        self.time.now - self.time.base
    }

    /// The earliest interval, counted in the block, back to which all barriers are the last one; this one if the last one is
    /// known to be needed.
    pub(crate) fn since(&self) -> u32 {
        self.time.since.saturating_sub(self.time.base)
    }

    /// The block passes a barrier.
    pub(crate) fn pass(&mut self, span: Span) {
        let before = self.time.now;
        self.time.now += 1;
        self.time.since = self.time.now;
        let Some(&number) = self.all.numbers.get(&span) else {
            self.last = None;
            self.back = self.time.now;
            return;
        };
        self.passed[number] += 1;
        if self.last != Some(number) {
            (self.last, self.back) = (Some(number), before);
        }
        if !self.needed[number] {
            self.needed[number] = self.all.needed[number].load(Ordering::Relaxed);
        }
        if !self.needed[number] {
            self.time.since = self.back;
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
