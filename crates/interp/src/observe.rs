//! Watching a launch: what an observer is told, and when.
//!
//! An observer is told once for each instruction and group of threads that run it together, never once a thread, so a
//! launch without one pays a single test at each memory access and barrier. What it is told is a view: words are
//! numbered as in the memory, values are read from the registers only if somebody asks.
//!
//! Threads at one position advance together and the smallest position goes first, so the order of events is that of the
//! source: all threads do what stands earlier before any does what stands later, as far as barriers and waiting allow.

use tilewise_ir::{FaultKind, MemRef, Ordering, Scalar, Scope, Span};

use crate::column::{CHUNK, Source};
use crate::machine::Threads;
use crate::vector::Pattern;

/// Watches a launch, from all the threads of the host that run its blocks.
pub trait Observer: Sync {
    /// Makes what watches blocks, one after the other; each thread of the host has its own, and where blocks wait for each
    /// other each of the blocks that have started.
    fn watch(&self) -> Box<dyn BlockObserver + '_>;
}

/// Watches a block at a time.
pub trait BlockObserver: Send {
    /// Whether it wants to be told of this access, by its number in [`Program::sites`](crate::Program::sites). It is asked
    /// once, before the first block starts. Faults are told in any case.
    fn watches(&self, site: u32) -> bool {
        let _ = site;
        true
    }

    /// The block of this number (x fastest) starts.
    fn start(&mut self, block: u64);

    /// Threads touch memory. A load or store is told before it happens, an atomic operation after it.
    fn access(&mut self, event: &AccessEvent<'_>);

    /// Threads pass a barrier: all that are alive, once the last of them is there.
    fn barrier(&mut self, span: Span, threads: &Threads);

    /// Lanes of a warp pass a warp barrier, with one mask: all of it that are alive.
    fn warp_barrier(&mut self, span: Span, threads: &Threads);

    /// Threads pass a fence.
    fn fence(&mut self, scope: Scope, ordering: Ordering, threads: &Threads);

    /// One thread did something that is a fault. Comes after the event of the access that it belongs to.
    fn fault(&mut self, fault: &ThreadFault);

    /// The block is given up.
    fn give_up(&mut self, why: &GivenUp);

    /// The block has ended.
    fn finish(&mut self);
}

/// A memory access of a kernel, as compiled. [`Program::sites`](crate::Program::sites) lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// Position in the user's source.
    pub span: Span,
    /// What is touched.
    pub mem: MemRef,
    /// What is done.
    pub kind: SiteKind,
    /// Type of each word.
    pub scalar: Scalar,
    /// Words that each thread touches, one after the other.
    pub components: u8,
    /// Alignment in bytes that is claimed for the first of them; 0 if none.
    pub align: u16,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads atomically.
    AtomicLoad(Scope, Ordering),
    /// Writes atomically.
    AtomicStore(Scope, Ordering),
    /// Reads and writes in one step, or only reads, if it compares and the word is another.
    AtomicUpdate(Scope, Ordering),
}

/// Threads touch memory at one access.
pub struct AccessEvent<'e> {
    /// Number of the access in [`Program::sites`](crate::Program::sites).
    pub site: u32,
    /// Who.
    pub threads: &'e Threads,
    /// Which words.
    pub words: Words<'e>,
    /// What is done, and with which values.
    pub effect: Effect<'e>,
    /// What is in memory, but for local memory.
    pub memory: Option<&'e dyn Memory>,
}

/// Which words the threads touch. A thread's components are neighbours, in all forms but [`Words::Each`].
pub enum Words<'e> {
    /// All threads the same, from this word on.
    Same(usize),
    /// Each thread its own; all are inside the memory.
    Chunks(Chunks<'e>),
    /// A list of single words in the order of threads and components. Those outside are not in it.
    Each(&'e [Spot]),
}

/// One word that one thread touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Number of the thread.
    pub thread: u32,
    /// Which of the words that the thread touches.
    pub component: u8,
    /// Number of the word.
    pub word: usize,
}

/// First words of threads, in chunks of [`Chunks::LANES`] neighbouring threads.
#[derive(Clone, Copy)]
pub struct Chunks<'e> {
    pub(crate) offsets: Source<'e, u64>,
    pub(crate) plus: u64,
    pub(crate) patterns: Option<&'e [Pattern]>,
    pub(crate) first: usize,
    pub(crate) active: &'e [u64],
}

/// The first words of the threads of a chunk.
#[derive(Clone, Copy)]
pub struct ChunkWords<'e> {
    /// Number of the chunk: thread `LANES * chunk + lane` is in its lane `lane`.
    pub chunk: usize,
    /// Which lanes are active, a bit each.
    pub active: u64,
    /// How the words of the active lanes lie, if they are the first lanes of the chunk.
    pub pattern: Option<Pattern>,
    offsets: &'e [u64; CHUNK],
    plus: u64,
}

impl<'e> Chunks<'e> {
    /// Lanes of a chunk.
    pub const LANES: usize = CHUNK;

    /// The chunks in which a thread is active, in order.
    pub fn iter(&self) -> impl Iterator<Item = ChunkWords<'e>> {
        let Chunks { offsets, plus, patterns, first, active } = *self;
        active.iter().enumerate().filter(|(_, active)| **active != 0).map(move |(i, &active)| {
            let (chunk, count) = (first + i, active.trailing_ones());
            let pattern = patterns.map(|patterns| patterns[chunk]).filter(|_| active.count_ones() == count);
            ChunkWords { chunk, active, pattern, offsets: &offsets.chunk(0, chunk).0, plus }
        })
    }
}

impl ChunkWords<'_> {
    /// The first word of a lane.
    #[inline(always)]
    pub fn word(&self, lane: usize) -> usize {
        self.offsets[lane].wrapping_add(self.plus) as usize
    }
}

/// What an access does.
pub enum Effect<'e> {
    /// Reads what is in memory.
    Load,
    /// Writes these values; if several threads write one word, the last of them is left.
    Store(Values<'e>),
    /// Has read and written: what came of it, in the order in which it happened. Words outside are left out.
    Atomic(&'e [AtomicOutcome]),
}

/// What an atomic operation of one thread has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicOutcome {
    /// Number of the thread.
    pub thread: u32,
    /// Number of the word.
    pub word: usize,
    /// The bits before. A write does not look at them.
    pub before: u64,
    /// The bits written, if any were.
    pub written: Option<u64>,
}

/// Values of threads.
#[derive(Clone, Copy)]
pub enum Values<'e> {
    /// Of up to 32 bits.
    Narrow(NarrowValues<'e>),
    /// Of 64 bits.
    Wide(WideValues<'e>),
}

/// Values of up to 32 bits.
#[derive(Clone, Copy)]
pub struct NarrowValues<'e>(pub(crate) Source<'e, u32>);

/// Values of 64 bits.
#[derive(Clone, Copy)]
pub struct WideValues<'e>(pub(crate) Source<'e, u64>);

impl Values<'_> {
    /// The bits of a component of a thread.
    #[inline(always)]
    pub fn get(&self, thread: usize, component: usize) -> u64 {
        match self {
            Values::Narrow(values) => values.0.lane(component, thread) as u64,
            Values::Wide(values) => values.0.lane(component, thread),
        }
    }

    /// The bits of the first component of neighbouring threads of a chunk, from a lane on.
    #[inline(always)]
    pub fn run(&self, chunk: usize, lane: usize, to: &mut [u64]) {
        match self {
            Values::Narrow(values) => {
                let from = &values.0.chunk(0, chunk).0[lane..];
                to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as u64);
            }
            Values::Wide(values) => {
                let from = &values.0.chunk(0, chunk).0[lane..];
                to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
            }
        }
    }
}

/// Words of global or shared memory.
pub trait Memory {
    /// The bits of a word; 0 if it is outside.
    fn word(&self, index: usize) -> u64;

    /// The bits of neighbouring words, all of which are inside.
    fn run(&self, start: usize, to: &mut [u64]);
}

/// A fault of one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadFault {
    /// What it is.
    pub kind: FaultKind,
    /// Position in the user's source.
    pub span: Span,
    /// Number of the thread.
    pub thread: u32,
    /// The access, if it is one.
    pub site: Option<u32>,
    /// Of an access, each dimension that has bounds: its number, the index, the extent.
    pub bounds: Vec<(u8, u64, u64)>,
}

/// Why a block is given up.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenUp {
    /// Threads wait at barriers that others do not come to.
    Divergence {
        /// Who waits at which barrier, in the order of the source.
        waiting: Vec<(Span, Threads)>,
        /// Who has ended.
        ended: Threads,
    },
    /// Lanes of a warp wait at operations of the warp, or barriers, that others of it do not come to.
    WarpDivergence {
        /// Who waits where, in the order of the source.
        waiting: Vec<(Span, Threads)>,
        /// Who of the warp has ended.
        ended: Threads,
    },
    /// Nothing changes any more, or what changes comes back to what it was.
    NoProgress {
        /// Whether something changes, and comes back.
        cycles: bool,
        /// Who is in which loop.
        spinning: Vec<(Span, Threads)>,
        /// Who waits at which barrier.
        at_barrier: Vec<(Span, Threads)>,
    },
    /// A loop has run for as many rounds as [`Options::max_rounds`](crate::Options::max_rounds) allows.
    TooManyRounds {
        /// The limit.
        rounds: u64,
        /// Who is in which loop.
        running: Vec<(Span, Threads)>,
    },
}
