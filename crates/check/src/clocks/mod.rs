//! Watching a launch whose threads are ordered by more than barriers: atomics that acquire and release, and fences.
//!
//! Whether an access happened before another is asked of the clock of the thread that does the later one. A clock grows
//!
//! - at a barrier, by all that the threads of the block know and did;
//! - when a thread acquires: an atomic read with acquire ordering, or an acquire fence after a relaxed one, of a word where
//!   a thread has released: an atomic write with release ordering, or a relaxed one after a release fence. Atomic updates
//!   by others in between do not end that, other writes do. Both scopes have to include the other thread.
//!
//! Which barriers are needed is judged on the safe side: one that comes before something is released, or after something was
//! acquired, counts as needed, and so does one between two accesses that something else may order, too.
//!
//! Blocks run on one thread of the host, in an order that is the same in each run, since what they see of each other
//! decides what they do. All share one shadow memory.

mod cell;
mod clock;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tilewise_interp::{
    AccessEvent, AtomicOutcome, BlockObserver, Chunks, Effect, GivenUp, Observer, SiteKind, ThreadFault,
    Threads, Words,
};
use tilewise_ir::{Ordering, Scope, Span};

use self::cell::{Cell, Past, Release};
use self::clock::{Clock, join};
use crate::barriers::{Barriers, Intervals};
use crate::faults;
use crate::global::bits;
use crate::local::Local;
use crate::plan::{Class, Place, Plan, PlannedSite, scope};
use crate::record::{
    Detail, Earlier, Fact, Instance, Key, RaceValues, Record, Who, is_harmless, misaligned, values_of_race,
    wrong_value,
};

/// Watches a launch.
pub(crate) struct ClockObserver<'a> {
    plan: &'a Plan<'a>,
    barriers: Barriers,
    state: Mutex<State>,
}

/// What all blocks share.
#[derive(Debug, Default)]
struct State {
    record: Record,
    /// The stamp of what happens now.
    now: u64,
    /// Words of buffers, by buffer.
    global: FxHashMap<(u32, usize), Cell>,
}

impl<'a> ClockObserver<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> ClockObserver<'a> {
        let state = Mutex::new(State { now: 1, ..State::default() });
        ClockObserver { plan, barriers: Barriers::new(plan.kernel), state }
    }

    /// What was found, and which barriers were needed.
    pub(crate) fn into_parts(self) -> (Record, Barriers) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.record, self.barriers)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for ClockObserver<'_> {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(ClockBlock {
            launch: self,
            block: 0,
            intervals: Intervals::new(&self.barriers),
            acquired: false,
            threads: Vec::new(),
            shared: FxHashMap::default(),
            local: Local::new(self.plan),
            record: Record::default(),
        })
    }
}

/// Watches one block after the other.
struct ClockBlock<'a> {
    launch: &'a ClockObserver<'a>,
    block: u64,
    intervals: Intervals<'a>,
    /// Whether a thread has acquired since the last barrier: the next one may make it known to the others.
    acquired: bool,
    threads: Vec<ThreadClocks>,
    /// Words of shared memory, by allocation.
    shared: FxHashMap<(u32, usize), Cell>,
    local: Local,
    record: Record,
}

/// What a thread knows, and what it will know or publish with a fence.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    known: Arc<Clock>,
    /// What relaxed atomic reads have seen, for an acquire fence.
    seen: Vec<Release>,
    /// What a relaxed atomic write publishes since a release fence.
    fenced: Option<Release>,
}

/// An access of a word by a thread.
struct One<'p> {
    site: &'p PlannedSite,
    class: Class,
    thread: u32,
    word: usize,
    /// What was there before.
    old: u64,
    written: Option<u64>,
}

impl ClockBlock<'_> {
    fn who(&self, thread: u32) -> Who {
        Who { block: self.block, thread, interval: self.intervals.interval() }
    }

    /// Judges and notes an access.
    fn one(&mut self, state: &mut State, one: &One<'_>) {
        let plan = self.launch.plan;
        let who = self.who(one.thread);
        let past = Past {
            block: self.block,
            thread: one.thread,
            stamp: state.now,
            interval: who.interval,
            site: one.site.canon,
            scope: scope(one.site.access.kind),
            value: one.written.unwrap_or(one.old),
        };
        let (cell, word, own) = match one.site.place {
            Place::Global { buffer, offset } => {
                let word = offset + one.word;
                (state.global.entry((buffer, word)).or_insert_with(hosted), word, false)
            }
            Place::Shared(alloc) | Place::Local(alloc) => {
                (self.shared.entry((alloc, one.word)).or_default(), one.word, true)
            }
        };
        let thread = &mut self.threads[one.thread as usize];
        let order = (who.block, who.interval);
        let reads = !matches!(one.site.access.kind, SiteKind::Store | SiteKind::AtomicStore(..));
        if !cell.written && reads {
            let key = Key::Uninitialised { site: one.site.canon };
            let instance = Instance { word: Some((word, own)), ..Instance::one(key, order) };
            self.record.add(instance, || Detail::Access { word: Some(word), who, fact: Fact::None });
        }
        let ordered = cell.ordered_by_barriers(one.class, past, self.intervals.since());
        let conflicts = cell.conflicts(one.class, past, &thread.known);
        self.intervals.judged(ordered, !conflicts.is_empty());
        for (class, earlier) in conflicts {
            let first = Earlier { class, site: earlier.site, did: Some(earlier.value), before: cell.before };
            let RaceValues { pattern, right, wrong, did } =
                values_of_race(plan, one.site.canon, first, one.old, one.written);
            let wrong = wrong_value(pattern, right, wrong, cell.again);
            let between_blocks = earlier.block != self.block;
            let key = Key::Race { first: earlier.site, second: one.site.canon, pattern, between_blocks };
            let first = Who { block: earlier.block, thread: earlier.thread, interval: earlier.interval };
            let order = order.min((first.block, first.interval));
            let harmless = is_harmless(right, wrong);
            self.record.add(
                Instance { word: Some((word, own)), harmless, equal: harmless, ..Instance::one(key, order) },
                || Detail::Race { word, first, second: who, right, wrong, did },
            );
        }
        if one.class.is_atomic() {
            let block = self.block;
            thread.synchronize(cell, one, block, &mut state.now);
            if let SiteKind::AtomicLoad(_, ordering)
            | SiteKind::AtomicStore(_, ordering)
            | SiteKind::AtomicUpdate(_, ordering) = one.site.access.kind
            {
                self.acquired |= acquires(ordering);
                if releases(ordering) {
                    self.intervals.need_last();
                }
            }
        }
        cell.note(one.class, past, &thread.known, one.old);
    }

    /// What any of these threads knows.
    fn united(&self, threads: &Threads) -> Arc<Clock> {
        let mut united = Arc::new(Clock::default());
        let mut last: Option<&Arc<Clock>> = None;
        for thread in threads.iter() {
            let known = &self.threads[thread].known;
            if !last.is_some_and(|last| Arc::ptr_eq(last, known)) {
                join(&mut united, known);
                last = Some(known);
            }
        }
        united
    }

    /// Calls `f` for each word of each thread, in order: thread, component, word.
    fn each(&self, site: &PlannedSite, event: &AccessEvent<'_>, mut f: impl FnMut(u32, usize, usize)) {
        let components = site.access.components as usize;
        match &event.words {
            Words::Same(first) => {
                for thread in event.threads.iter() {
                    (0..components).for_each(|c| f(thread as u32, c, first + c));
                }
            }
            Words::Chunks(chunks) => {
                for chunk in chunks.iter() {
                    for lane in bits(chunk.active) {
                        let (thread, first) = ((chunk.chunk * Chunks::LANES + lane) as u32, chunk.word(lane));
                        (0..components).for_each(|c| f(thread, c, first + c));
                    }
                }
            }
            Words::Each(spots) => {
                spots.iter().for_each(|spot| f(spot.thread, spot.component as usize, spot.word));
            }
        }
    }

    fn touch(&mut self, site: &PlannedSite, event: &AccessEvent<'_>) {
        let (launch, Some(memory)) = (self.launch, event.memory) else { return };
        let state = &mut *launch.lock();
        match &event.effect {
            Effect::Atomic(outcomes) => {
                for &AtomicOutcome { thread, word, before, written } in *outcomes {
                    let class = match (site.class, written) {
                        (Class::AtomicWrite, None) => Class::AtomicRead,
                        (class, _) => class,
                    };
                    self.one(state, &One { site, class, thread, word, old: before, written });
                }
            }
            Effect::Load => {
                let mut all = Vec::new();
                self.each(site, event, |thread, _, word| all.push((thread, word)));
                for (thread, word) in all {
                    let old = memory.word(word);
                    self.one(state, &One { site, class: Class::Read, thread, word, old, written: None });
                }
            }
            Effect::Store(values) => {
                let mut all = Vec::new();
                self.each(site, event, |thread, c, word| {
                    all.push((thread, word, values.get(thread as usize, c)))
                });
                let mut left: FxHashMap<usize, u64> = FxHashMap::default();
                for (thread, word, value) in all {
                    let old = left.insert(word, value).unwrap_or_else(|| memory.word(word));
                    let written = Some(value);
                    self.one(state, &One { site, class: Class::Write, thread, word, old, written });
                }
            }
        }
    }
}

/// The shadow of a word of a buffer: the host has written it.
fn hosted() -> Cell {
    let mut cell = Cell::default();
    cell.written = true;
    cell
}

impl ThreadClocks {
    /// What an atomic access at a word makes known to the thread, and what it publishes there.
    fn synchronize(&mut self, cell: &mut Cell, one: &One<'_>, block: u64, now: &mut u64) {
        let (SiteKind::AtomicLoad(scope, ordering)
        | SiteKind::AtomicStore(scope, ordering)
        | SiteKind::AtomicUpdate(scope, ordering)) = one.site.access.kind
        else {
            return;
        };
        let reads = !matches!(one.site.access.kind, SiteKind::AtomicStore(..));
        if reads {
            for release in cell.releases.iter().filter(|release| release.reaches(block, scope)) {
                if acquires(ordering) { join(&mut self.known, &release.clock) } else { self.see(release) }
            }
        }
        if one.class != Class::AtomicWrite {
            return;
        }
        if !reads {
            cell.releases.clear();
        }
        if releases(ordering) {
            let clock = self.published(block, one.thread, now);
            cell.publish(Release { scope, block, clock });
        } else if let Some(fenced) = &self.fenced {
            // The narrower of both scopes counts.
            let scope = if scope == Scope::Block { scope } else { fenced.scope };
            cell.publish(Release { scope, ..fenced.clone() });
        }
    }

    /// Keeps what a relaxed read has seen.
    fn see(&mut self, release: &Release) {
        let same = |old: &&mut Release| old.scope == release.scope && old.block == release.block;
        match self.seen.iter_mut().find(same) {
            Some(old) => join(&mut old.clock, &release.clock),
            None => self.seen.push(release.clone()),
        }
    }

    /// What the thread knows and did; what it does from now on is not part of it.
    fn published(&self, block: u64, thread: u32, now: &mut u64) -> Arc<Clock> {
        *now += 1;
        let mut clock = Arc::clone(&self.known);
        Arc::make_mut(&mut clock).learn_thread(block, thread, *now);
        clock
    }
}

impl BlockObserver for ClockBlock<'_> {
    fn watches(&self, site: u32) -> bool {
        self.launch.plan.sites[site as usize].is_watched()
    }

    fn start(&mut self, block: u64) {
        (self.block, self.acquired) = (block, false);
        self.intervals.start();
        self.threads.clear();
        self.threads.resize(self.launch.plan.threads(), ThreadClocks::default());
        self.shared.clear();
        self.local.start();
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let site = &self.launch.plan.sites[event.site as usize];
        let who = self.who(0);
        misaligned(site, event, who, &mut self.record);
        match site.place {
            Place::Local(alloc) => self.local.access(site, alloc, event, who, &mut self.record),
            Place::Global { .. } | Place::Shared(_) => {
                if site.tracked {
                    self.touch(site, event);
                }
            }
        }
    }

    /// All live threads of the block meet. What others of the block did that have ended counts as done before, too: a block
    /// learns all of itself. (Where only some threads meet, each would learn of those alone.)
    fn barrier(&mut self, span: Span, threads: &Threads) {
        self.intervals.pass(span);
        if std::mem::take(&mut self.acquired) {
            self.intervals.need_last();
        }
        let mut united = self.united(threads);
        let mut state = self.launch.lock();
        state.now += 1;
        Arc::make_mut(&mut united).learn_block(self.block, state.now);
        for thread in threads.iter() {
            self.threads[thread].known = Arc::clone(&united);
        }
    }

    fn warp_barrier(&mut self, _: Span, threads: &Threads) {
        let mut state = self.launch.lock();
        state.now += 1;
        let mut united = Arc::new(Clock::default());
        for thread in threads.iter() {
            join(&mut united, &self.threads[thread].known);
        }
        let clock = Arc::make_mut(&mut united);
        threads.iter().for_each(|thread| clock.learn_thread(self.block, thread as u32, state.now));
        for thread in threads.iter() {
            self.threads[thread].known = Arc::clone(&united);
        }
    }

    fn fence(&mut self, scope: Scope, ordering: Ordering, threads: &Threads) {
        let (launch, block) = (self.launch, self.block);
        self.acquired |= acquires(ordering);
        if releases(ordering) {
            self.intervals.need_last();
        }
        let mut state = launch.lock();
        for number in threads.iter() {
            let thread = &mut self.threads[number];
            if acquires(ordering) {
                let seen = std::mem::take(&mut thread.seen);
                for release in seen {
                    if release.reaches(block, scope) {
                        join(&mut thread.known, &release.clock);
                    } else {
                        thread.seen.push(release);
                    }
                }
            }
            if releases(ordering) {
                let clock = thread.published(block, number as u32, &mut state.now);
                thread.fenced = Some(Release { scope, block, clock });
            }
        }
    }

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
        self.launch.lock().record.merge(&mut self.record);
    }
}

/// Whether an ordering makes known what was released.
pub(crate) fn acquires(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an ordering publishes what was done before.
pub(crate) fn releases(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}
