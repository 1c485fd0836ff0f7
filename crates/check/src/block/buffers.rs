//! Accesses of buffers by the threads of a block.

use tilewise_interp::{AccessEvent, ChunkWords, Chunks, Effect, Memory, Words};

use super::{At, BarrierBlock, Written, class_of};
use crate::cells::Mark;
use crate::global::{Batch, GROUP, Group, bits};
use crate::plan::PlannedSite;

impl BarrierBlock<'_> {
    pub(super) fn global(&mut self, site: &PlannedSite, buffer: u32, offset: usize, event: &AccessEvent<'_>) {
        let Some(memory) = event.memory else { return };
        let effect = &event.effect;
        if let Effect::Atomic(outcomes) = effect {
            for outcome in *outcomes {
                let class = class_of(site, outcome);
                let at = At { plan: self.launch.plan, site, class, thread: outcome.thread };
                let value = outcome.written.unwrap_or(outcome.before);
                self.touch_global(at, buffer, offset + outcome.word, value, outcome.before);
            }
            return;
        }
        let components = site.access.components as usize;
        let mut written = Written::default();
        let mut one = |block: &mut Self, thread, component, word| {
            block.global_one(site, buffer, offset, thread, component, word, effect, memory, &mut written);
        };
        match &event.words {
            Words::Chunks(chunks) => {
                for chunk in chunks.iter() {
                    let run = chunk.pattern.is_some_and(|pattern| pattern.run);
                    if run {
                        self.global_run(site, buffer, offset, &chunk, effect, memory);
                        continue;
                    }
                    for lane in bits(chunk.active) {
                        let thread = chunk.chunk * Chunks::LANES + lane;
                        (0..components).for_each(|c| one(self, thread, c, chunk.word(lane) + c));
                    }
                }
            }
            Words::Same(first) => {
                if matches!(effect, Effect::Load) {
                    for word in offset + first..offset + first + components {
                        self.readers.note(self.intervals.time.now, site.canon, word, event.threads);
                    }
                }
                for thread in event.threads.iter() {
                    (0..components).for_each(|c| one(self, thread, c, first + c));
                }
            }
            Words::Each(spots) => {
                for spot in *spots {
                    one(self, spot.thread as usize, spot.component as usize, spot.word);
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
        let group = Group::cells(slot, at.plan.buffers[buffer as usize].atomic);
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
}
