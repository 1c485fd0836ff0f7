//! Accesses of shared memory by the threads of a block.

use tilewise_interp::{
    AccessEvent, AtomicOutcome, ChunkWords, Chunks, Effect, Memory, ROW, SiteKind, Threads, Values, Words,
};

use super::{At, BarrierBlock, Written, class_of};
use crate::cells::{Cells, Mark};
use crate::global::bits;
use crate::plan::{Class, PlannedSite};

impl BarrierBlock<'_> {
    pub(super) fn shared(&mut self, site: &PlannedSite, alloc: u32, event: &AccessEvent<'_>) {
        let Some(memory) = event.memory else { return };
        let Some(mut cells) = self.shared[alloc as usize].take() else { return };
        match (&event.effect, &event.words) {
            (Effect::Atomic(outcomes), _) => {
                for outcome in *outcomes {
                    self.atomic(site, &mut cells, outcome);
                }
            }
            (Effect::Load, Words::Same(first)) => {
                for word in *first..first + site.access.components as usize {
                    self.readers.note(self.intervals.time.now, site.canon, word, event.threads);
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
                    for lane in bits(chunk.active) {
                        let first = chunk.word(lane);
                        for word in first..first + site.access.components as usize {
                            self.read(site, cells, word, base + lane as u32, memory);
                        }
                    }
                }
            }
        }
    }

    /// Reads of neighbouring words by neighbouring threads, from a lane of a chunk on. The first that is not fine by itself may
    /// show that the last barrier is needed: then the others are fine together.
    fn read_run(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        chunk: &ChunkWords<'_>,
        lane: usize,
        count: usize,
        memory: &dyn Memory,
    ) {
        let (thread, start) = ((chunk.chunk * Chunks::LANES + lane) as u32, chunk.word(lane));
        let mut done = 0;
        while done < count {
            let time = self.intervals.time;
            let mark = Mark::new(time.now, site.canon, thread + done as u32);
            if cells.read_run(start + done, count - done, mark, time, false) {
                return;
            }
            while done < count && self.intervals.time.since == time.since {
                self.read(site, cells, start + done, thread + done as u32, memory);
                done += 1;
            }
        }
    }

    /// Writes to neighbouring words by neighbouring threads, the first of a chunk; as [`read_run`](Self::read_run).
    fn write_run(
        &mut self,
        site: &PlannedSite,
        cells: &mut Cells,
        chunk: &ChunkWords<'_>,
        values: &Values<'_>,
        memory: &dyn Memory,
    ) {
        let (base, start) = (chunk.chunk * Chunks::LANES, chunk.word(0));
        let count = chunk.active.count_ones() as usize;
        let mut done = 0;
        while done < count {
            let time = self.intervals.time;
            let (thread, word) = (base + done, start + done);
            let mark = Mark::new(time.now, site.canon, thread as u32);
            if cells.write_run(word, count - done, mark, time, |before| memory.run(word, before)) {
                return;
            }
            while done < count && self.intervals.time.since == time.since {
                let (thread, word) = (base + done, start + done);
                self.write(site, cells, word, thread as u32, values.get(thread, 0), memory.word(word));
                done += 1;
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
                if chunk.pattern.is_some_and(|pattern| pattern.run) {
                    self.write_run(site, cells, &chunk, values, memory);
                    continue;
                }
                let mut written = Written::default();
                for lane in bits(chunk.active) {
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
}

/// Whether an atomic operation looks at what was there.
fn needs_before(site: &PlannedSite) -> bool {
    !matches!(site.access.kind, SiteKind::AtomicStore(..))
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
