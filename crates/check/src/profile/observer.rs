//! Counting while a launch runs: an observer of the interpreter that fills a [`Tally`].

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tilewise_interp::{
    AccessEvent, BlockObserver, Chunks, Effect, GivenUp, Observer, ThreadFault, Threads, Words,
};
use tilewise_ir::{Ordering, Scope, Space, Span};

use super::tally::Warp;
use super::{Accesses, BlockNeeds, Line, Place, Profile, Subject, Tally, WARP};
use crate::plan::{self, Plan, action};
use crate::{Location, MemorySpace};

/// Buffers lie apart by this many bits of an address.
const BUFFER_BITS: u32 = 44;

/// Bytes to which allocations of shared memory are aligned.
const SHARED_ALIGN: u64 = 128;

/// Counts what a launch does, on all threads of the host.
pub(crate) struct Profiler<'a> {
    plan: &'a Plan<'a>,
    /// By the number of an access in the program.
    sites: Vec<SiteUse>,
    places: Vec<Place>,
    subject: &'a Subject,
    total: Mutex<Counted>,
}

/// What an access counts for.
#[derive(Clone, Copy, Debug)]
enum SiteUse {
    /// Nothing: memory of a thread, which the optimiser mostly makes registers of.
    None,
    /// Who comes to a basic block.
    Mark,
    /// Memory.
    Memory { place: usize, base: u64, word: u32, size: u32, align: u32 },
}

/// What has been counted.
struct Counted {
    tally: Tally,
    /// By basic block, how many threads came to it.
    comers: Vec<u64>,
}

impl Counted {
    fn new(places: Vec<Place>, basic_blocks: usize) -> Counted {
        Counted { tally: Tally::new(places), comers: vec![0; basic_blocks] }
    }
}

impl<'a> Profiler<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, subject: &'a Subject) -> Profiler<'a> {
        let (mut places, mut sites) = (Vec::new(), Vec::new());
        let bases = shared_bases(plan);
        for site in &plan.sites {
            let word = site.access.scalar.size() as u32;
            let (space, base) = match site.place {
                plan::Place::Global { buffer, offset } => {
                    let start = u64::from(buffer) << BUFFER_BITS;
                    (MemorySpace::Global, start + offset as u64 * u64::from(word))
                }
                plan::Place::Shared(alloc) => (MemorySpace::Shared, bases[alloc as usize]),
                plan::Place::Local(_) => {
                    sites.push(if site.mark { SiteUse::Mark } else { SiteUse::None });
                    continue;
                }
            };
            sites.push(SiteUse::Memory {
                place: places.len(),
                base,
                word,
                size: word * u32::from(site.access.components),
                align: u32::from(site.access.align).max(word),
            });
            places.push(Place {
                location: plan.location(site.access.span),
                memory: plan.kernel.mem_name(site.access.mem).to_owned(),
                space,
                action: action(site.access.kind),
            });
        }
        let total = Mutex::new(Counted::new(places.clone(), subject.basic_blocks().len()));
        Profiler { plan, sites, places, subject, total }
    }

    /// What was counted, once the launch has ended.
    pub(crate) fn into_profile(self) -> Profile {
        let Profiler { plan, subject, total, .. } = self;
        let Counted { tally, comers } = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Lines::default();
        tally.places().filter(|(_, counts)| counts.accesses > 0).for_each(|(place, counts)| {
            let line = lines.at(place.location.clone());
            let of = |place: &Place| (place.memory.clone(), place.space, place.action);
            match line.accesses.iter_mut().find(|known| of(&known.place) == of(place)) {
                Some(known) => known.counts.merge(counts),
                None => line.accesses.push(Accesses { place: place.clone(), counts: *counts }),
            }
        });
        let mut operations = 0;
        let mut by_span: FxHashMap<Span, u64> = FxHashMap::default();
        for (computed, comers) in subject.basic_blocks().iter().zip(comers) {
            for &(span, each) in computed {
                operations += each * comers;
                *by_span.entry(span).or_default() += each * comers;
            }
        }
        for (span, count) in by_span.into_iter().filter(|(_, count)| *count > 0) {
            lines.at(plan.location(span)).operations += count;
        }
        let shared = (0..plan.kernel.allocs.len()).filter(|&alloc| is_shared(plan, alloc));
        let needs = BlockNeeds {
            threads: u32::try_from(plan.threads()).unwrap_or(u32::MAX),
            registers: subject.registers(),
            shared: u32::try_from(shared.map(|alloc| bytes(plan, alloc)).sum::<u64>()).unwrap_or(u32::MAX),
        };
        Profile {
            kernel: plan.kernel.name.clone(),
            grid: plan.config.grid,
            block: plan.config.block,
            lines: lines.0.into_values().collect(),
            operations,
            global: tally.traffic(),
            needs,
        }
    }
}

/// Lines of the source in order, what has no position last.
#[derive(Default)]
struct Lines(BTreeMap<(bool, String, u32), Line>);

impl Lines {
    fn at(&mut self, location: Option<Location>) -> &mut Line {
        let key = match &location {
            Some(at) => (false, at.file.clone(), at.line),
            None => (true, String::new(), 0),
        };
        let line = self.0.entry(key).or_insert_with(|| Line {
            location: location.clone(),
            accesses: Vec::new(),
            operations: 0,
        });
        // The first column, whatever comes first.
        if location < line.location {
            line.location = location;
        }
        line
    }
}

fn is_shared(plan: &Plan<'_>, alloc: usize) -> bool {
    plan.kernel.allocs[alloc].space == Space::Shared
}

fn bytes(plan: &Plan<'_>, alloc: usize) -> u64 {
    let alloc = &plan.kernel.allocs[alloc];
    alloc.len.saturating_mul(alloc.elem.size() as u64)
}

/// Where each allocation of shared memory starts.
fn shared_bases(plan: &Plan<'_>) -> Vec<u64> {
    let mut next = 0;
    let bases = (0..plan.kernel.allocs.len()).map(|alloc| {
        let base = next;
        if is_shared(plan, alloc) {
            next = (base + bytes(plan, alloc)).next_multiple_of(SHARED_ALIGN);
        }
        base
    });
    bases.collect()
}

impl Observer for Profiler<'_> {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(Worker {
            profiler: self,
            counted: Counted::new(self.places.clone(), self.subject.basic_blocks().len()),
            warps: Warps::default(),
        })
    }
}

/// Counts what blocks do, one after the other; adds it to the total when it is dropped.
struct Worker<'a> {
    profiler: &'a Profiler<'a>,
    counted: Counted,
    warps: Warps,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut total = self.profiler.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.tally.merge(&self.counted.tally);
        total.comers.iter_mut().zip(&self.counted.comers).for_each(|(sum, count)| *sum += count);
    }
}

impl BlockObserver for Worker<'_> {
    fn watches(&self, site: u32) -> bool {
        !matches!(self.profiler.sites[site as usize], SiteUse::None)
    }

    fn start(&mut self, _block: u64) {}

    fn access(&mut self, event: &AccessEvent<'_>) {
        let Worker { profiler, counted: Counted { tally, comers }, warps } = self;
        match profiler.sites[event.site as usize] {
            SiteUse::None => {}
            SiteUse::Mark => {
                if let Words::Same(number) = event.words
                    && let Some(comers) = comers.get_mut(number)
                {
                    *comers += u64::from(event.threads.count());
                }
            }
            SiteUse::Memory { place, base, word, size, align } => {
                let address = |index: usize| base.wrapping_add((index as u64).wrapping_mul(u64::from(word)));
                warps.each(event, [word, size], address, |warp| tally.count(place, warp, size, align));
            }
        }
    }

    fn barrier(&mut self, _span: Span, _threads: &Threads) {}

    fn warp_barrier(&mut self, _span: Span, _threads: &Threads) {}

    fn fence(&mut self, _scope: Scope, _ordering: Ordering, _threads: &Threads) {}

    fn fault(&mut self, _fault: &ThreadFault) {}

    fn give_up(&mut self, _why: &GivenUp) {}

    fn finish(&mut self) {}
}

/// The warps of a block, while the addresses of their lanes are collected.
#[derive(Default)]
struct Warps(Vec<Warp>);

impl Warps {
    /// Calls `f` with each warp that takes part, one after the other. Words are of `word` bytes, and a thread accesses `size`
    /// bytes.
    fn each(
        &mut self,
        event: &AccessEvent<'_>,
        [word, size]: [u32; 2],
        address: impl Fn(usize) -> u64,
        mut f: impl FnMut(&Warp),
    ) {
        match (&event.effect, &event.words) {
            (Effect::Atomic(outcomes), _) => {
                let lanes = outcomes.iter().map(|outcome| (outcome.thread, address(outcome.word), size));
                self.collected(lanes, size, f);
            }
            (_, Words::Each(spots)) => {
                // What is inside of a thread's words are the first ones.
                let threads = spots.chunk_by(|a, b| a.thread == b.thread);
                let lanes = threads.map(|words| {
                    let inside = words.len() as u32 * word;
                    (words[0].thread, address(words[0].word), inside)
                });
                self.collected(lanes, size, f);
            }
            (_, Words::Same(first)) => {
                let mut warp = Warp { active: 0, addresses: [address(*first); WARP], inside: None };
                for (active, _) in event.threads.chunks().flat_map(warps_of) {
                    warp.active = active;
                    f(&warp);
                }
            }
            (_, Words::Chunks(chunks)) => {
                for chunk in chunks.iter() {
                    for (active, first) in warps_of(chunk.active) {
                        let addresses = std::array::from_fn(|lane| address(chunk.word(first + lane)));
                        f(&Warp { active, addresses, inside: None });
                    }
                }
            }
        }
    }

    /// Calls `f` with the warps of these threads: number, address, how many of `size` bytes are inside.
    fn collected(&mut self, lanes: impl Iterator<Item = (u32, u64, u32)>, size: u32, f: impl FnMut(&Warp)) {
        self.0.clear();
        for (thread, address, inside) in lanes {
            let (number, lane) = (thread as usize / WARP, thread as usize % WARP);
            if self.0.len() <= number {
                self.0.resize(number + 1, Warp::default());
            }
            let warp = &mut self.0[number];
            warp.active |= 1 << lane;
            warp.addresses[lane] = address;
            if inside < size {
                warp.inside.get_or_insert([size; WARP])[lane] = inside;
            }
        }
        self.0.iter().filter(|warp| warp.active != 0).for_each(f);
    }
}

/// The warps of a chunk of threads in which one is active: which lanes are, and the number of the first in the chunk.
fn warps_of(active: u64) -> impl Iterator<Item = (u32, usize)> {
    let warps = (0..Chunks::LANES).step_by(WARP).map(move |first| ((active >> first) as u32, first));
    warps.filter(|(active, _)| *active != 0)
}
