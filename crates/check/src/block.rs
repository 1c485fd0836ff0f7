//! Watching a block whose threads are ordered by barriers alone.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tilewise_interp::{
    AccessEvent, AtomicOutcome, BlockObserver, ChunkWords, Chunks, Effect, GivenUp, Memory, ROW, ThreadFault,
    Threads, Values, Words,
};
use tilewise_ir::{Ordering, Scope, Span};

use crate::barriers::{Barriers, Intervals};
use crate::cells::{Cells, Mark, Verdict};
use crate::faults;
use crate::finding::Datum;
use crate::global::{Batch, BlockGlobal, GROUP, Group, LaunchGlobal};
use crate::local::Local;
use crate::plan::{Class, Place, Plan, PlannedSite};
use crate::record::{Detail, Fact, Instance, Key, Record, Who, misaligned, values_of_race};

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
            record: Record::default(),
        }
    }

    fn who(&self, thread: u32) -> Who {
        Who { block: self.block, thread, interval: self.intervals.interval() }
    }

    // ---- shared memory ----

    fn shared(&mut self, site: &PlannedSite, alloc: u32, event: &AccessEvent<'_>) {
        let Some(mut cells) = self.shared[alloc as usize].take() else { return };
        let Some(memory) = event.memory else { return };
        match (&event.effect, &event.words) {
            (Effect::Atomic(outcomes), _) => {
                for outcome in *outcomes {
                    self.atomic(site, &mut cells, outcome);
                }
            }
            (Effect::Load, Words::Same(first)) => {
                for word in *first..first + site.access.components as usize {
                    self.read_same(site, &mut cells, word, event.threads, memory);
                }
            }
            (Effect::Load, Words::Chunks(chunks)) => self.load_chunks(site, &mut cells, chunks, memory),
            (Effect::Load, Words::Each(spots)) => {
                for spot in *spots {
                    self.read(site, &mut cells, spot.word, spot.thread, memory);
                }
            }
            (Effect::Store(values), words) => {
                self.store(site, &mut cells, words, event.threads, values, memory)
            }
        }
        self.shared[alloc as usize] = Some(cells);
    }

    fn read(&mut self, site: &PlannedSite, cells: &mut Cells, word: usize, thread: u32, memory: &dyn Memory) {
        let mark = Mark::new(self.intervals.time.now, site.canon, thread);
        let verdict = cells.touch(word, Class::Read, mark, self.intervals.time, 0);
        if !verdict.is_fine() {
            let at = At { plan: self.launch.plan, site, class: Class::Read, thread };
            self.judge(at, &verdict, word, memory.word(word), None, Some(cells));
        }
    }

    fn read_same(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        word: usize,
        threads: &Threads,
        memory: &dyn Memory,
    ) {
        if let Some([before_last, last]) = last_two(threads) {
            let mark = |thread| Mark::new(self.intervals.time.now, site.canon, thread);
            if cells.read_by_many(word, mark(last), mark(before_last), self.intervals.time) {
                return;
            }
        }
        for thread in threads.iter() {
            self.read(site, cells, word, thread as u32, memory);
        }
    }

    fn load_chunks(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        chunks: &Chunks<'_>,
        memory: &dyn Memory,
    ) {
        if let Some((start, rows)) = same_rows(chunks) {
            let mark = |thread| Mark::new(self.intervals.time.now, site.canon, thread);
            let [before_last, last] = rows.map(mark);
            if cells.read_run_by_many(start, ROW, last, before_last, self.intervals.time) {
                return;
            }
        }
        for chunk in chunks.iter() {
            let base = (chunk.chunk * Chunks::LANES) as u32;
            match chunk.pattern {
                Some(pattern) if pattern.run => {
                    self.read_run(site, cells, &chunk, 0, chunk.active.count_ones() as usize, memory);
                }
                Some(pattern) if pattern.rows && (chunk.active.count_ones() as usize).is_multiple_of(ROW) => {
                    for row in 0..chunk.active.count_ones() as usize / ROW {
                        let lane = row * ROW;
                        if pattern.equal >> row & 1 == 0 {
                            self.read_run(site, cells, &chunk, lane, ROW, memory);
                            continue;
                        }
                        let word = chunk.word(lane);
                        let mark =
                            |lane: usize| Mark::new(self.intervals.time.now, site.canon, base + lane as u32);
                        let (last, before_last) = (mark(lane + ROW - 1), mark(lane + ROW - 2));
                        if !cells.read_by_many(word, last, before_last, self.intervals.time) {
                            for lane in lane..lane + ROW {
                                self.read(site, cells, word, base + lane as u32, memory);
                            }
                        }
                    }
                }
                _ => {
                    for lane in crate::global::bits(chunk.active) {
                        let first = chunk.word(lane);
                        for word in first..first + site.access.components as usize {
                            self.read(site, cells, word, base + lane as u32, memory);
                        }
                    }
                }
            }
        }
    }

    /// Reads of neighbouring words by neighbouring threads, from a lane of a chunk on.
    fn read_run(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        chunk: &ChunkWords<'_>,
        lane: usize,
        count: usize,
        memory: &dyn Memory,
    ) {
        let thread = (chunk.chunk * Chunks::LANES + lane) as u32;
        let mark = Mark::new(self.intervals.time.now, site.canon, thread);
        let start = chunk.word(lane);
        if !cells.read_run(start, count, mark, self.intervals.time, false) {
            for i in 0..count {
                self.read(site, cells, start + i, thread + i as u32, memory);
            }
        }
    }

    fn store(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        words: &Words<'_>,
        threads: &Threads,
        values: &Values<'_>,
        memory: &dyn Memory,
    ) {
        if let Words::Chunks(chunks) = words {
            for chunk in chunks.iter() {
                let base = chunk.chunk * Chunks::LANES;
                let count = chunk.active.count_ones() as usize;
                if let Some(pattern) = chunk.pattern
                    && pattern.run
                {
                    let mark = Mark::new(self.intervals.time.now, site.canon, base as u32);
                    let start = chunk.word(0);
                    let time = self.intervals.time;
                    if cells.write_run(start, count, mark, time, |before| memory.run(start, before)) {
                        continue;
                    }
                }
                let mut written = Written::default();
                for lane in crate::global::bits(chunk.active) {
                    for component in 0..site.access.components as usize {
                        let (thread, word) = (base + lane, chunk.word(lane) + component);
                        let value = values.get(thread, component);
                        self.write(site, cells, word, thread as u32, value, written.old(word, memory));
                        written.set(word, value);
                    }
                }
            }
            return;
        }
        let mut written = Written::default();
        let mut write = |word: usize, thread: usize, component: usize| {
            let value = values.get(thread, component);
            self.write(site, cells, word, thread as u32, value, written.old(word, memory));
            written.set(word, value);
        };
        match words {
            Words::Same(first) => {
                for thread in threads.iter() {
                    for component in 0..site.access.components as usize {
                        write(first + component, thread, component);
                    }
                }
            }
            Words::Each(spots) => {
                for spot in *spots {
                    write(spot.word, spot.thread as usize, spot.component as usize);
                }
            }
            Words::Chunks(_) => {}
        }
    }

    fn write(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        word: usize,
        thread: u32,
        value: u64,
        old: u64,
    ) {
        let mark = Mark::new(self.intervals.time.now, site.canon, thread);
        let verdict = cells.touch(word, Class::Write, mark, self.intervals.time, old);
        if !verdict.is_fine() {
            let at = At { plan: self.launch.plan, site, class: Class::Write, thread };
            self.judge(at, &verdict, word, old, Some(value), None);
        }
    }

    fn atomic(&mut self, site: &PlannedSite, cells: &mut Cells, outcome: &AtomicOutcome) {
        let class = class_of(site, outcome);
        let mark = Mark::new(self.intervals.time.now, site.canon, outcome.thread);
        let mut verdict = cells.touch(outcome.word, class, mark, self.intervals.time, outcome.before);
        verdict.unwritten &= needs_before(site);
        if !verdict.is_fine() {
            let at = At { plan: self.launch.plan, site, class, thread: outcome.thread };
            self.judge(at, &verdict, outcome.word, outcome.before, outcome.written, None);
        }
    }

    // ---- global memory ----

    fn global(&mut self, site: &PlannedSite, buffer: u32, offset: usize, event: &AccessEvent<'_>) {
        let Some(memory) = event.memory else { return };
        match (&event.effect, &event.words) {
            (Effect::Atomic(outcomes), _) => {
                for outcome in *outcomes {
                    let class = class_of(site, outcome);
                    let at = At { plan: self.launch.plan, site, class, thread: outcome.thread };
                    let value = outcome.written.unwrap_or(outcome.before);
                    self.touch_global(at, buffer, offset + outcome.word, value, outcome.before);
                }
            }
            (effect, Words::Chunks(chunks)) => {
                let mut written = Written::default();
                for chunk in chunks.iter() {
                    let run = chunk.pattern.is_some_and(|pattern| pattern.run);
                    if run {
                        self.global_run(site, buffer, offset, &chunk, effect, memory);
                        continue;
                    }
                    for lane in crate::global::bits(chunk.active) {
                        let thread = chunk.chunk * Chunks::LANES + lane;
                        for component in 0..site.access.components as usize {
                            let word = chunk.word(lane) + component;
                            self.global_one(
                                site,
                                buffer,
                                offset,
                                thread,
                                component,
                                word,
                                effect,
                                memory,
                                &mut written,
                            );
                        }
                    }
                }
            }
            (effect, Words::Same(first)) => {
                let mut written = Written::default();
                for thread in event.threads.iter() {
                    for component in 0..site.access.components as usize {
                        let word = first + component;
                        self.global_one(
                            site,
                            buffer,
                            offset,
                            thread,
                            component,
                            word,
                            effect,
                            memory,
                            &mut written,
                        );
                    }
                }
            }
            (effect, Words::Each(spots)) => {
                let mut written = Written::default();
                for spot in *spots {
                    let (thread, component) = (spot.thread as usize, spot.component as usize);
                    self.global_one(
                        site,
                        buffer,
                        offset,
                        thread,
                        component,
                        spot.word,
                        effect,
                        memory,
                        &mut written,
                    );
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one word of an access, and where it is")]
    fn global_one(
        &mut self,
        site: &PlannedSite,
        buffer: u32,
        offset: usize,
        thread: usize,
        component: usize,
        word: usize,
        effect: &Effect<'_>,
        memory: &dyn Memory,
        written: &mut Written,
    ) {
        let old = written.old(word, memory);
        let value = match effect {
            Effect::Store(values) => {
                let value = values.get(thread, component);
                written.set(word, value);
                value
            }
            Effect::Load | Effect::Atomic(_) => old,
        };
        let at = At { plan: self.launch.plan, site, class: site.class, thread: thread as u32 };
        self.touch_global(at, buffer, offset + word, value, old);
    }

    /// Accesses of neighbouring words by neighbouring threads, the first of a chunk.
    fn global_run(
        &mut self,
        site: &PlannedSite,
        buffer: u32,
        offset: usize,
        chunk: &ChunkWords<'_>,
        effect: &Effect<'_>,
        memory: &dyn Memory,
    ) {
        let plan = self.launch.plan;
        let count = chunk.active.count_ones() as usize;
        let keep_before = site.class.is_write() && plan.buffers[buffer as usize].read;
        let start = chunk.word(0);
        let mut lane = 0;
        while lane < count {
            let word = offset + start + lane;
            let in_group = word % GROUP;
            let length = (count - lane).min(GROUP - in_group);
            let thread = chunk.chunk * Chunks::LANES + lane;
            let batch = Batch {
                class: site.class,
                site: site.canon,
                stamp: self.intervals.time.now,
                mask: (u64::MAX >> (GROUP - length)) << in_group,
                shift: in_group as i64 - thread as i64,
            };
            let values = |to: &mut [u64]| match effect {
                Effect::Store(values) => values.run(chunk.chunk, lane, to),
                Effect::Load | Effect::Atomic(_) => memory.run(start + lane, to),
            };
            let before = keep_before.then_some(|to: &mut [u64]| memory.run(start + lane, to));
            if !Group::take(self.global.group(buffer, word), batch, values, before) {
                for i in 0..length {
                    let at = At { plan, site, class: site.class, thread: (thread + i) as u32 };
                    let old = memory.word(start + lane + i);
                    let value = match effect {
                        Effect::Store(values) => values.get(thread + i, 0),
                        Effect::Load | Effect::Atomic(_) => old,
                    };
                    self.touch_global(at, buffer, word + i, value, old);
                }
            }
            lane += length;
        }
    }

    fn touch_global(&mut self, at: At<'_>, buffer: u32, word: usize, value: u64, old: u64) {
        let in_group = word % GROUP;
        let time = self.intervals.time;
        let batch = Batch {
            class: at.class,
            site: at.site.canon,
            stamp: time.now,
            mask: 1 << in_group,
            shift: in_group as i64 - at.thread as i64,
        };
        let keep_before = at.class.is_write() && at.plan.buffers[buffer as usize].read;
        let before = keep_before.then_some(|to: &mut [u64]| to.fill(old));
        let slot = self.global.group(buffer, word);
        if Group::take(slot, batch, |to| to.fill(value), before) {
            return;
        }
        let group = Group::cells(slot);
        let mark = Mark::new(time.now, at.site.canon, at.thread);
        group.count(in_group, at.class, mark, value);
        let before_write = group.cells.before(in_group);
        let mut verdict = group.cells.touch(in_group, at.class, mark, time, old);
        verdict.unwritten = false;
        if !verdict.is_fine() {
            let written = at.class.is_write().then_some(value);
            self.judge_with(at, &verdict, word, old, written, |_| Some(before_write));
        }
    }

    // ---- verdicts ----

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
        if verdict.ordered {
            self.intervals.need_last();
        }
        let who = self.who(at.thread);
        let own = !matches!(at.site.place, Place::Global { .. });
        let order = (block, who.interval);
        if verdict.unwritten {
            let key = Key::Uninitialised { site };
            let instance = Instance { key, count: 1, word: Some((word, own)), harmless: true, order };
            self.record.add(instance, || Detail::Access { word: Some(word), who, fact: Fact::None });
        }
        for &(class, earlier) in &verdict.races {
            let (pattern, right, wrong) = values_of_race(plan, site, class, old, written, before(earlier));
            let key = Key::Race { first: earlier.site(), second: site, pattern, between_blocks: false };
            let harmless = right == wrong && matches!(right, Datum::Value(_));
            let first = Who { thread: earlier.thread(), ..who };
            let instance = Instance { key, count: 1, word: Some((word, own)), harmless, order };
            self.record.add(instance, || Detail::Race { word, first, second: who, right, wrong });
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

/// Whether an atomic operation looks at what was there.
fn needs_before(site: &PlannedSite) -> bool {
    !matches!(site.access.kind, tilewise_interp::SiteKind::AtomicStore(..))
}

/// If all rows of threads read the same neighbouring words, as those of a tile do: the first of the words, and the first
/// threads of the last row but one and of the last.
fn same_rows(chunks: &Chunks<'_>) -> Option<(usize, [u32; 2])> {
    let mut found: Option<(usize, [u32; 2])> = None;
    let mut rows = 0;
    for chunk in chunks.iter() {
        let count = chunk.active.count_ones() as usize;
        let pattern =
            chunk.pattern.filter(|pattern| pattern.rows && !pattern.run && count.is_multiple_of(ROW))?;
        for row in 0..count / ROW {
            let (start, thread) = (chunk.word(row * ROW), (chunk.chunk * Chunks::LANES + row * ROW) as u32);
            let (first, [_, last]) = *found.get_or_insert((start, [thread; 2]));
            if first != start || pattern.equal >> row & 1 != 0 {
                return None;
            }
            found = Some((start, [last, thread]));
            rows += 1;
        }
    }
    found.filter(|_| rows > 1)
}

/// The last thread but one, and the last; `None` if there are not two.
fn last_two(threads: &Threads) -> Option<[u32; 2]> {
    let mut last = threads.iter_back();
    let (last, before) = (last.next()?, last.next()?);
    Some([before as u32, last as u32])
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
