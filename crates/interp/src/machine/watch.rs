//! Telling an observer what the threads of a block do.
//!
//! Only reached if there is an observer: see [`observe`](crate::observe) for what it is told.

use tilewise_ir::Span;

use super::Machine;
use super::elements::{Atomics, Elements, Global, Local, Plain, Shared};
use super::faults::Faults;
use super::memory::{self, Addresses, Context};
use super::threads::{Threads, bits};
use crate::code::{Access, AccessOp, Memory as Where};
use crate::column::{CHUNK, Cell, Registers, Source};
use crate::observe::{
    AccessEvent, AtomicOutcome, BlockObserver, Chunks, Effect, GivenUp, Memory, NarrowValues, Spot, Values,
    WideValues, Words,
};

/// The observer of a block, and room for what it is told.
pub(super) struct Watch<'a> {
    observer: Box<dyn BlockObserver + 'a>,
    /// Which accesses it wants to be told of, by number.
    watched: Vec<bool>,
    spots: Vec<Spot>,
    pub(super) outcomes: Vec<AtomicOutcome>,
}

impl<'a> Watch<'a> {
    /// An observer of a kernel with so many accesses.
    pub(super) fn new(observer: Box<dyn BlockObserver + 'a>, sites: usize) -> Watch<'a> {
        let watched = (0..sites as u32).map(|site| observer.watches(site)).collect();
        Watch { observer, watched, spots: Vec::new(), outcomes: Vec::new() }
    }
}

/// Elements as an observer sees them.
struct View<'m, E>(&'m E);

impl<E: Elements> Memory for View<'_, E> {
    fn word(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, Cell::bits)
    }

    fn run(&self, start: usize, to: &mut [u64]) {
        to.iter_mut().zip(start..).for_each(|(to, index)| *to = self.word(index));
    }
}

impl<'a> Machine<'a> {
    /// Whether somebody wants to be told of an access.
    #[inline]
    pub(super) fn is_watched(&self, number: u32) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.watched[number as usize])
    }

    /// Tells that the block of this number starts.
    pub(super) fn announce_start(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        self.faults.log = Some(Vec::new());
        watch.observer.start(self.block);
    }

    /// Tells that the block has ended, if there is somebody to tell.
    pub(crate) fn announce_end(&mut self) {
        self.announce_faults();
        if let Some(watch) = &mut self.watch {
            watch.observer.finish();
        }
    }

    /// Tells of a load or store before it happens, or of an atomic operation, whose outcomes are there, after it.
    pub(super) fn announce_access(&mut self, number: u32) {
        let launch = self.launch;
        let access = &launch.code.accesses[number as usize];
        let Some(mut watch) = self.watch.take() else { return };
        macro_rules! announce {
            ($elements:expr) => {
                self.announce_elements(&mut watch, access, &$elements)
            };
        }
        match access.memory {
            Where::Global(param) => match launch.global(param) {
                Some(Global::W8(cells)) => announce!(Atomics::<u8>(cells)),
                Some(Global::W16(cells)) => announce!(Atomics::<u16>(cells)),
                Some(Global::W32(cells)) => announce!(Atomics::<u32>(cells)),
                Some(Global::W64(cells)) => announce!(Atomics::<u64>(cells)),
                None => {}
            },
            Where::Shared(alloc) => {
                // Away while it is looked at: an observer is shown it beside the registers.
                let mut shared = self.shared[alloc as usize].take();
                match &mut shared {
                    Some(Shared::W8(words)) => announce!(Plain::<u8>(words)),
                    Some(Shared::W16(words)) => announce!(Plain::<u16>(words)),
                    Some(Shared::W32(words)) => announce!(Plain::<u32>(words)),
                    Some(Shared::W64(words)) => announce!(Plain::<u64>(words)),
                    None => {}
                }
                self.shared[alloc as usize] = shared;
            }
            Where::Local(alloc) => {
                let words = match &self.local[alloc as usize] {
                    Some(Local::Narrow(column)) => column.len() / launch.chunks,
                    Some(Local::Wide(column)) => column.len() / launch.chunks,
                    None => 0,
                };
                self.announce_words(&mut watch, access, words, None);
            }
        }
        watch.outcomes.clear();
        self.watch = Some(watch);
    }

    fn announce_elements<E: Elements>(&self, watch: &mut Watch<'a>, access: &Access, elements: &E) {
        self.announce_words(watch, access, elements.len(), Some(&View(elements)));
    }

    fn announce_words(
        &self,
        watch: &mut Watch<'a>,
        access: &Access,
        words: usize,
        memory: Option<&dyn Memory>,
    ) {
        let registers = &self.registers;
        let effect = match access.kind {
            AccessOp::Load { .. } => Effect::Load,
            AccessOp::Store { value } if access.scalar.size() == 8 => {
                Effect::Store(Values::Wide(WideValues(Source::new(registers, value, self.launch.chunks))))
            }
            AccessOp::Store { value } => {
                Effect::Store(Values::Narrow(NarrowValues(Source::new(registers, value, self.launch.chunks))))
            }
            _ => Effect::Atomic(&watch.outcomes),
        };
        let words = match effect {
            Effect::Atomic(_) => Words::Each(&[]),
            Effect::Load | Effect::Store(_) => self.words(access, registers, words, &mut watch.spots),
        };
        let (site, threads) = (access.number, &self.active.threads);
        watch.observer.access(&AccessEvent { site, threads, words, effect, memory });
    }

    /// Which words the active threads touch.
    fn words<'e>(
        &'e self,
        access: &'e Access,
        registers: &'e Registers,
        words: usize,
        spots: &'e mut Vec<Spot>,
    ) -> Words<'e> {
        let (launch, active) = (self.launch, &self.active);
        let in_bounds = access.bounds.iter().all(|bound| self.flags[bound.flag as usize]);
        let offsets = Addresses::new(registers, access.offset, launch.chunks);
        if in_bounds && !offsets.base.is_varying() {
            let first = offsets.of(0).checked_mul(access.per_element as u64);
            let first = first.and_then(|first| usize::try_from(first).ok());
            if let Some(first) = first
                && first.checked_add(access.components as usize).is_some_and(|end| end <= words)
            {
                return Words::Same(first);
            }
        } else if in_bounds && access.per_element == 1 {
            let chunks = Chunks {
                offsets: offsets.base,
                plus: offsets.plus,
                patterns: access.pattern.map(|slot| &self.patterns[slot as usize][..]),
                first: active.first,
                active: &active.threads.words[active.first..active.last],
            };
            if exist(&chunks, words as u64, access.components as u64) {
                return Words::Chunks(chunks);
            }
        }
        let mut context = Context {
            place: self.place(),
            chunks: launch.chunks,
            active,
            patterns: None,
            // They are told when the access is performed.
            faults: &mut Faults::default(),
            watching: false,
            changes: &mut 0,
            outcomes: None,
        };
        memory::spots(&mut context, registers, access, words, spots);
        Words::Each(spots)
    }

    /// Tells of the faults since it was last called.
    pub(super) fn announce_faults(&mut self) {
        if let Some(watch) = &mut self.watch
            && let Some(log) = &mut self.faults.log
        {
            log.drain(..).for_each(|fault| watch.observer.fault(&fault));
        }
    }

    /// Tells that threads pass a barrier.
    pub(super) fn announce_barrier(&mut self, span: Span, threads: &Threads) {
        self.announce_faults();
        if let Some(watch) = &mut self.watch {
            watch.observer.barrier(span, threads);
        }
    }

    /// Tells that lanes of a warp pass a warp barrier.
    pub(super) fn announce_warp_barrier(&mut self, span: Span, threads: &Threads) {
        if let Some(watch) = &mut self.watch {
            watch.observer.warp_barrier(span, threads);
        }
    }

    /// Tells that the active threads pass a fence.
    pub(super) fn announce_fence(&mut self, scope: tilewise_ir::Scope, ordering: tilewise_ir::Ordering) {
        if let Some(watch) = &mut self.watch {
            watch.observer.fence(scope, ordering, &self.active.threads);
        }
    }

    /// Tells why the block is given up.
    pub(super) fn announce_give_up(&mut self, why: impl FnOnce(&Self) -> GivenUp) {
        if self.watch.is_some() {
            self.announce_faults();
            let why = why(self);
            if let Some(watch) = &mut self.watch {
                watch.observer.give_up(&why);
            }
        }
    }

    /// The positions of the barriers and operations of warps at which groups wait, with the groups.
    pub(super) fn groups_at_barriers(&self) -> Vec<(Span, Threads)> {
        let at_barrier = self.at_barrier.iter().map(|group| (self.barrier_span(group), group.threads));
        let at_warp = self.at_warp.iter().map(|group| (self.warp_span(group), group.threads));
        at_barrier.chain(at_warp).collect()
    }
}

/// Whether all words of active lanes are inside a memory of `words` words.
fn exist(chunks: &Chunks<'_>, words: u64, components: u64) -> bool {
    let Some(last) = words.checked_sub(components) else { return false };
    let active = chunks.active.iter().enumerate().filter(|(_, active)| **active != 0);
    active.into_iter().all(|(i, &active)| {
        let chunk = chunks.first + i;
        let offsets = &chunks.offsets.chunk(0, chunk).0;
        let inside = |lane: usize| offsets[lane].wrapping_add(chunks.plus) <= last;
        if active == u64::MAX {
            return (0..CHUNK).fold(true, |all, lane| all & inside(lane));
        }
        bits(active).all(inside)
    })
}
