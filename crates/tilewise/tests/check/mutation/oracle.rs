//! Whether all accesses of a small launch that conflict are ordered, by looking at every pair.
//!
//! All that threads do is written down, and what happens before what follows by definition: what a thread does is in its
//! order; a barrier comes after all that its block did and before all that its threads do next; what releases comes
//! before what acquires it. Everything is a node, a set of the nodes before it is kept for each, and every two accesses of
//! a word are compared. This shares nothing with the checker but what the interpreter tells both.

use std::collections::HashMap;
use std::sync::Mutex;

use tilewise::ir::{MemRef, Ordering, ParamKind, Scope, Space, Span};
use tilewise_interp::{
    AccessEvent, AccessSite, BlockObserver, Chunks, Effect, GivenUp, Observer, Program, SiteKind,
    ThreadFault, Threads, Words,
};

/// What happened, in the order in which it did.
#[derive(Default)]
pub(crate) struct Trace(Mutex<Vec<Event>>);

enum Event {
    Access { block: u64, thread: u32, word: Word, kind: SiteKind, wrote: bool },
    Barrier { block: u64, threads: Vec<u32> },
    Fence { block: u64, thread: u32, scope: Scope, ordering: Ordering },
}

/// A word: its memory, of which block if each has its own, and its number.
type Word = (MemRef, Option<u64>, usize);

/// Writes the trace.
pub(crate) struct Watcher<'a> {
    trace: &'a Trace,
    sites: Vec<AccessSite>,
    /// For each access, whether it is of shared memory; `None` if it is of local memory.
    shared: Vec<Option<bool>>,
}

impl<'a> Watcher<'a> {
    pub(crate) fn new(program: &Program, trace: &'a Trace) -> Watcher<'a> {
        let kernel = program.kernel();
        assert!(kernel.params.iter().all(|p| !matches!(p.kind, ParamKind::Tensor { aliased: true, .. })));
        let sites: Vec<_> = program.sites().collect();
        let shared = sites.iter().map(|site| match site.mem {
            MemRef::Param(_) => Some(false),
            MemRef::Alloc(alloc) => match kernel.allocs[alloc.0 as usize].space {
                Space::Shared => Some(true),
                Space::Local => None,
            },
        });
        Watcher { trace, shared: shared.collect(), sites }
    }
}

impl Observer for Watcher<'_> {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(BlockWatcher { watcher: self, block: 0 })
    }
}

struct BlockWatcher<'a> {
    watcher: &'a Watcher<'a>,
    block: u64,
}

impl BlockWatcher<'_> {
    fn push(&self, event: Event) {
        self.watcher.trace.0.lock().unwrap().push(event);
    }
}

impl BlockObserver for BlockWatcher<'_> {
    fn start(&mut self, block: u64) {
        self.block = block;
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let site = &self.watcher.sites[event.site as usize];
        let Some(shared) = self.watcher.shared[event.site as usize] else { return };
        let one = |thread: u32, word: usize, wrote: bool| {
            let word = (site.mem, shared.then_some(self.block), word);
            self.push(Event::Access { block: self.block, thread, word, kind: site.kind, wrote });
        };
        let writes = matches!(event.effect, Effect::Store(_));
        let components = site.components as usize;
        match (&event.effect, &event.words) {
            (Effect::Atomic(outcomes), _) => {
                outcomes.iter().for_each(|o| one(o.thread, o.word, o.written.is_some()));
            }
            (_, Words::Same(first)) => {
                event
                    .threads
                    .iter()
                    .for_each(|t| (0..components).for_each(|c| one(t as u32, first + c, writes)));
            }
            (_, Words::Chunks(chunks)) => {
                for chunk in chunks.iter() {
                    for lane in (0..Chunks::LANES).filter(|lane| chunk.active >> lane & 1 != 0) {
                        let thread = (chunk.chunk * Chunks::LANES + lane) as u32;
                        (0..components).for_each(|c| one(thread, chunk.word(lane) + c, writes));
                    }
                }
            }
            (_, Words::Each(spots)) => spots.iter().for_each(|spot| one(spot.thread, spot.word, writes)),
        }
    }

    fn barrier(&mut self, _: Span, threads: &Threads) {
        let threads = threads.iter().map(|thread| thread as u32).collect();
        self.push(Event::Barrier { block: self.block, threads });
    }

    fn warp_barrier(&mut self, span: Span, threads: &Threads) {
        self.barrier(span, threads);
    }

    fn fence(&mut self, scope: Scope, ordering: Ordering, threads: &Threads) {
        for thread in threads.iter() {
            self.push(Event::Fence { block: self.block, thread: thread as u32, scope, ordering });
        }
    }

    fn fault(&mut self, _: &ThreadFault) {}
    fn give_up(&mut self, _: &GivenUp) {}
    fn finish(&mut self) {}
}

/// The nodes before each node.
#[derive(Default)]
struct Before(Vec<Vec<u64>>);

impl Before {
    /// A new node after these.
    fn node(&mut self, after: impl IntoIterator<Item = usize>) -> usize {
        let number = self.0.len();
        let mut set = vec![0; number / 64 + 1];
        for node in after {
            set.iter_mut().zip(&self.0[node]).for_each(|(to, from)| *to |= from);
            set[node / 64] |= 1 << (node % 64);
        }
        self.0.push(set);
        number
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        self.0[b].get(a / 64).is_some_and(|word| word >> (a % 64) & 1 != 0)
    }
}

/// A node that publishes: how far, and of which block.
#[derive(Clone, Copy)]
struct Source {
    node: usize,
    scope: Scope,
    block: u64,
}

impl Source {
    fn reaches(&self, scope: Scope, block: u64) -> bool {
        self.block == block || (self.scope != Scope::Block && scope != Scope::Block)
    }
}

/// An access: its node, its block and thread, what it is, whether it wrote.
type Access = (usize, (u64, u32), SiteKind, bool);

/// A thread on the way.
#[derive(Clone, Default)]
struct OnTheWay {
    last: Option<usize>,
    /// What its last release fence publishes.
    fenced: Option<Source>,
    /// What relaxed reads have seen since.
    seen: Vec<Source>,
}

impl Trace {
    /// Whether two accesses conflict and nothing orders them, or one reads shared memory that nobody has written.
    pub(crate) fn is_unordered(&self) -> bool {
        let events = self.0.lock().unwrap();
        let mut before = Before::default();
        let mut threads: HashMap<(u64, u32), OnTheWay> = HashMap::new();
        let mut sources: HashMap<Word, Vec<Source>> = HashMap::new();
        let mut accesses: HashMap<Word, Vec<Access>> = HashMap::new();
        let acquires = |o: Ordering| matches!(o, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst);
        let releases = |o: Ordering| matches!(o, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst);
        for event in events.iter() {
            match event {
                Event::Barrier { block, threads: meeting } => {
                    let all = threads.iter().filter(|((b, _), _)| b == block).filter_map(|(_, t)| t.last);
                    let node = before.node(all.collect::<Vec<_>>());
                    for &thread in meeting {
                        threads.entry((*block, thread)).or_default().last = Some(node);
                    }
                }
                Event::Fence { block, thread, scope, ordering } => {
                    let way = threads.entry((*block, *thread)).or_default();
                    let mut after: Vec<usize> = way.last.into_iter().collect();
                    if acquires(*ordering) {
                        after.extend(way.seen.iter().filter(|s| s.reaches(*scope, *block)).map(|s| s.node));
                    }
                    let node = before.node(after);
                    way.last = Some(node);
                    if releases(*ordering) {
                        way.fenced = Some(Source { node, scope: *scope, block: *block });
                    }
                }
                Event::Access { block, thread, word, kind, wrote } => {
                    let way = threads.entry((*block, *thread)).or_default();
                    let mut after: Vec<usize> = way.last.into_iter().collect();
                    let at = sources.entry(*word).or_default();
                    let reads = !matches!(kind, SiteKind::Store | SiteKind::AtomicStore(..));
                    let list = accesses.entry(*word).or_default();
                    if word.1.is_some() && reads && !list.iter().any(|(.., wrote)| *wrote) {
                        return true;
                    }
                    if let SiteKind::AtomicLoad(scope, ordering) | SiteKind::AtomicUpdate(scope, ordering) =
                        kind
                    {
                        let seen = at.iter().filter(|source| source.reaches(*scope, *block));
                        if acquires(*ordering) {
                            after.extend(seen.map(|source| source.node));
                        } else {
                            way.seen.extend(seen);
                        }
                    }
                    let node = before.node(after);
                    way.last = Some(node);
                    match kind {
                        SiteKind::Store => at.clear(),
                        SiteKind::AtomicStore(scope, ordering) | SiteKind::AtomicUpdate(scope, ordering)
                            if *wrote =>
                        {
                            if matches!(kind, SiteKind::AtomicStore(..)) {
                                at.clear();
                            }
                            if releases(*ordering) {
                                at.push(Source { node, scope: *scope, block: *block });
                            } else if let Some(fenced) = way.fenced {
                                let scope = if *scope == Scope::Block { *scope } else { fenced.scope };
                                at.push(Source { scope, ..fenced });
                            }
                        }
                        _ => {}
                    }
                    list.push((node, (*block, *thread), *kind, *wrote));
                }
            }
        }
        accesses.values().any(|list| {
            list.iter().enumerate().any(|(i, a)| {
                list[..i].iter().any(|b| {
                    let both_atomic = is_atomic(a.2) && is_atomic(b.2);
                    let narrow = a.1.0 != b.1.0 && (is_narrow(a.2) || is_narrow(b.2));
                    a.1 != b.1 && (a.3 || b.3) && (!both_atomic || narrow) && !before.is_before(b.0, a.0)
                })
            })
        })
    }
}

fn is_atomic(kind: SiteKind) -> bool {
    !matches!(kind, SiteKind::Load | SiteKind::Store)
}

fn is_narrow(kind: SiteKind) -> bool {
    matches!(
        kind,
        SiteKind::AtomicLoad(Scope::Block, _)
            | SiteKind::AtomicStore(Scope::Block, _)
            | SiteKind::AtomicUpdate(Scope::Block, _)
    )
}
