//! Watching a block whose threads are ordered by barriers alone.

mod buffers;
mod readers;
mod shared;

use std::sync::{Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use tilewise_interp::{AccessEvent, AtomicOutcome, BlockObserver, GivenUp, Memory, ThreadFault, Threads};
use tilewise_ir::{Ordering, Scope, Span};

use self::readers::Readers;
use crate::barriers::{Barriers, Intervals};
use crate::cells::{Cells, Mark, Verdict};
use crate::faults;
use crate::global::{BlockGlobal, LaunchGlobal};
use crate::local::Local;
use crate::plan::{Class, Place, Plan, PlannedSite};
use crate::record::{
    Detail, Earlier, Fact, Instance, Key, RaceValues, Record, Who, is_harmless, misaligned, values_of_race,
    wrong_value,
};

/// What the blocks of a launch share.
#[derive(Debug)]
pub(crate) struct LaunchState<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) barriers: Barriers,
    pub(crate) collected: Mutex<Collected>,
}

/// What blocks have left behind.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) record: Record,
    pub(crate) global: LaunchGlobal,
}

impl<'a> LaunchState<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> LaunchState<'a> {
        let collected = Collected { record: Record::default(), global: LaunchGlobal::new(plan) };
        LaunchState { plan, barriers: Barriers::new(plan.kernel), collected: Mutex::new(collected) }
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches one block after the other.
pub(crate) struct BarrierBlock<'a> {
    launch: &'a LaunchState<'a>,
    block: u64,
    intervals: Intervals<'a>,
    /// Shadow of shared memory, by allocation.
    shared: Vec<Option<Cells>>,
    local: Local,
    global: BlockGlobal,
    readers: Readers,
    record: Record,
}

/// A thread at an access.
#[derive(Clone, Copy)]
struct At<'p> {
    plan: &'p Plan<'p>,
    site: &'p PlannedSite,
    class: Class,
    thread: u32,
}

impl<'a> BarrierBlock<'a> {
    pub(crate) fn new(launch: &'a LaunchState<'a>) -> BarrierBlock<'a> {
        let plan = launch.plan;
        let allocs = plan.kernel.allocs.iter().enumerate().map(|(number, alloc)| {
            (alloc.space == tilewise_ir::Space::Shared)
                .then(|| Cells::new(plan.alloc_words(number as u32), plan.atomic_allocs[number]))
        });
        BarrierBlock {
            launch,
            block: 0,
            intervals: Intervals::new(&launch.barriers),
            shared: allocs.collect(),
            local: Local::new(plan),
            global: BlockGlobal::default(),
            readers: Readers::default(),
            record: Record::default(),
        }
    }

    fn who(&self, thread: u32) -> Who {
        Who { block: self.block, thread, interval: self.intervals.interval() }
    }

    fn judge(
        &mut self,
        at: At<'_>,
        verdict: &Verdict,
        word: usize,
        old: u64,
        written: Option<u64>,
        cells: Option<&Cells>,
    ) {
        self.judge_with(at, verdict, word, old, written, |mark| {
            cells.filter(|_| !mark.is_first()).map(|cells| cells.before(word))
        });
    }

    /// Records what is wrong with an access of a word that holds `old`. `before` is what was there before an earlier write.
    fn judge_with(
        &mut self,
        at: At<'_>,
        verdict: &Verdict,
        word: usize,
        old: u64,
        written: Option<u64>,
        before: impl Fn(Mark) -> Option<u64>,
    ) {
        let (plan, site, block) = (at.plan, at.site.canon, self.block);
        self.intervals.judged(verdict.ordered, !verdict.races.is_empty());
        let who = self.who(at.thread);
        let own = !matches!(at.site.place, Place::Global { .. });
        let order = (block, who.interval);
        if verdict.unwritten {
            let key = Key::Uninitialised { site };
            let instance = Instance { word: Some((word, own)), ..Instance::one(key, order) };
            self.record.add(instance, || Detail::Access { word: Some(word), who, fact: Fact::None });
        }
        let mut counted: SmallVec<[u16; 2]> = SmallVec::new();
        for &(class, earlier, left) in &verdict.races {
            let readers = match class {
                Class::Read => self.readers.others(earlier, word, at.thread),
                _ => None,
            };
            if readers.is_some() {
                if counted.contains(&earlier.site()) {
                    continue;
                }
                counted.push(earlier.site());
            }
            let at_least = readers.is_none() && verdict.more && class != Class::Write;
            let first =
                Earlier { class, site: earlier.site(), did: left.value(old), before: before(earlier) };
            let RaceValues { pattern, right, wrong, did } = values_of_race(plan, site, first, old, written);
            let key = Key::Race { first: earlier.site(), second: site, pattern, between_blocks: false };
            let wrong = wrong_value(pattern, right, wrong, earlier.is_again());
            let harmless = is_harmless(right, wrong);
            let first = Who { thread: earlier.thread(), ..who };
            let count = readers.unwrap_or(1);
            let word_of = Some((word, own));
            let instance = Instance { key, count, at_least, word: word_of, harmless, equal: harmless, order };
            self.record.add(instance, || Detail::Race { word, first, second: who, right, wrong, did });
        }
    }
}

impl BlockObserver for BarrierBlock<'_> {
    fn watches(&self, site: u32) -> bool {
        self.launch.plan.sites[site as usize].is_watched()
    }

    fn start(&mut self, block: u64) {
        self.block = block;
        if self.intervals.start() {
            self.shared.iter_mut().flatten().for_each(Cells::clear);
            self.readers.clear();
        }
        self.local.start();
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let plan = self.launch.plan;
        let site = &plan.sites[event.site as usize];
        misaligned(site, event, self.who(0), &mut self.record);
        match site.place {
            Place::Global { buffer, offset } if site.tracked => self.global(site, buffer, offset, event),
            Place::Global { .. } => {}
            Place::Shared(alloc) => self.shared(site, alloc, event),
            Place::Local(alloc) => {
                let who = self.who(0);
                self.local.access(site, alloc, event, who, &mut self.record);
            }
        }
    }

    fn barrier(&mut self, span: Span, _: &Threads) {
        self.intervals.pass(span);
    }

    fn warp_barrier(&mut self, _: Span, _: &Threads) {}

    fn fence(&mut self, _: Scope, _: Ordering, _: &Threads) {}

    fn fault(&mut self, fault: &ThreadFault) {
        let who = self.who(fault.thread);
        faults::thread(self.launch.plan, fault, who, &mut self.record);
    }

    fn give_up(&mut self, why: &GivenUp) {
        let who = self.who(0);
        faults::block(self.launch.plan, why, who, &mut self.record);
    }

    fn finish(&mut self) {
        self.intervals.finish();
        if self.record.is_empty() && self.global.is_empty() {
            return;
        }
        let collected = &mut *self.launch.lock();
        collected.record.merge(&mut self.record);
        collected.global.add(self.launch.plan, self.block, self.intervals.time.base, &mut self.global);
    }
}

/// What an atomic operation did: an exchange that was not made only reads.
fn class_of(site: &PlannedSite, outcome: &AtomicOutcome) -> Class {
    match (site.class, outcome.written) {
        (Class::AtomicWrite, None) => Class::AtomicRead,
        (class, _) => class,
    }
}

/// What the threads of one store have written so far: several may write the same word, each sees what the one before
/// has left.
#[derive(Default)]
struct Written {
    last: Option<(usize, u64)>,
    all: rustc_hash::FxHashMap<usize, u64>,
}

impl Written {
    fn old(&self, word: usize, memory: &dyn Memory) -> u64 {
        match self.last {
            Some((last, value)) if last == word => value,
            _ => self.all.get(&word).copied().unwrap_or_else(|| memory.word(word)),
        }
    }

    fn set(&mut self, word: usize, value: u64) {
        if let Some((last, value)) = self.last.replace((word, value))
            && last != word
        {
            self.all.insert(last, value);
        }
    }
}
