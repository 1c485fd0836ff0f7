//! Which elements of local memory each thread has written.

use tilewise_interp::{AccessEvent, Chunks, Effect, Words};
use tilewise_ir::Space;

use crate::global::bits;
use crate::plan::{Plan, PlannedSite};
use crate::record::{Detail, Fact, Instance, Key, Record, Who};

/// Local memory of the threads of a block.
#[derive(Debug)]
pub(crate) struct Local {
    /// Chunks of threads.
    chunks: usize,
    /// By allocation: a bit for each word and thread, words outermost.
    written: Vec<Option<Vec<u64>>>,
}

impl Local {
    pub(crate) fn new(plan: &Plan<'_>) -> Local {
        let chunks = plan.threads().div_ceil(Chunks::LANES);
        let allocs = plan.kernel.allocs.iter().enumerate();
        let written = allocs.map(|(number, alloc)| {
            (alloc.space == Space::Local).then(|| vec![0; plan.alloc_words(number as u32) * chunks])
        });
        Local { chunks, written: written.collect() }
    }

    /// A block starts: nothing is written.
    pub(crate) fn start(&mut self) {
        self.written.iter_mut().flatten().for_each(|written| written.fill(0));
    }

    pub(crate) fn access(
        &mut self,
        site: &PlannedSite,
        alloc: u32,
        event: &AccessEvent<'_>,
        who: Who,
        record: &mut Record,
    ) {
        let Some(written) = &mut self.written[alloc as usize] else { return };
        let (chunks, load) = (self.chunks, matches!(event.effect, Effect::Load));
        let mut touch = |word: usize, chunk: usize, lanes: u64| {
            let Some(written) = written.get_mut(word * chunks + chunk) else { return };
            if !load {
                *written |= lanes;
                return;
            }
            for lane in bits(lanes & !*written) {
                let thread = (chunk * Chunks::LANES + lane) as u32;
                let who = Who { thread, ..who };
                let key = Key::Uninitialised { site: site.canon };
                let (order, own) =
                    ((who.block, who.interval), word * chunks * Chunks::LANES + thread as usize);
                record.add(Instance { word: Some((own, true)), ..Instance::one(key, order) }, || {
                    Detail::Access { word: Some(word), who, fact: Fact::None }
                });
            }
        };
        let components = site.access.components as usize;
        match &event.words {
            Words::Same(first) => {
                for (chunk, lanes) in event.threads.chunks().enumerate().filter(|(_, lanes)| *lanes != 0) {
                    (*first..first + components).for_each(|word| touch(word, chunk, lanes));
                }
            }
            Words::Chunks(words) => {
                for chunk in words.iter() {
                    for lane in bits(chunk.active) {
                        let first = chunk.word(lane);
                        (first..first + components).for_each(|word| touch(word, chunk.chunk, 1 << lane));
                    }
                }
            }
            Words::Each(spots) => {
                for spot in *spots {
                    let thread = spot.thread as usize;
                    touch(spot.word, thread / Chunks::LANES, 1 << (thread % Chunks::LANES));
                }
            }
        }
    }
}
