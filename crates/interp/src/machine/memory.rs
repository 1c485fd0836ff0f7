//! Execution of memory operations: the only place where kernels touch memory.
//!
//! A load or store whose checks hold for all active threads goes chunk by chunk, and in one run where the threads of a
//! chunk touch neighbouring elements. Everything else goes thread by thread, in ascending order, with each bound
//! compared again so that the fault can be told. In both, an element outside the memory is never touched, whatever
//! the checks of the kernel say.

use tilewise_ir::{AccessKind, FaultKind, Scalar};

use super::atomic::{combine, ordering};
use super::elements::{Elements, Local};
use super::faults::{Faults, Place};
use super::threads::{Active, bits};
use crate::code::{Access, AccessOp, Address};
use crate::column::{CHUNK, Cell, Chunk, MAX_CHUNKS, Reg, Registers, Source};
use crate::observe::{AtomicOutcome, Spot};
use crate::vector::{Pattern, ROW};

/// What a memory operation works with, beside memory and registers.
pub(super) struct Context<'m> {
    pub(super) place: Place<'m>,
    /// Chunks of a column.
    pub(super) chunks: usize,
    pub(super) active: &'m Active,
    /// How the offsets lie in each chunk, if that is of use.
    pub(super) patterns: Option<&'m [Pattern; MAX_CHUNKS]>,
    pub(super) faults: &'m mut Faults,
    /// Whether it matters if memory is changed or only written.
    pub(super) watching: bool,
    /// Counts operations that changed memory that other blocks can see.
    pub(super) changes: &'m mut u64,
    /// Where to put what atomic operations have done, if somebody wants to know.
    pub(super) outcomes: Option<&'m mut Vec<AtomicOutcome>>,
}

/// An address for each thread.
#[derive(Clone, Copy)]
pub(super) struct Addresses<'r> {
    pub(super) base: Source<'r, u64>,
    pub(super) plus: u64,
}

/// One component of an access by one thread.
struct Site {
    thread: usize,
    component: usize,
    /// Number of the word in memory; `None` if the access is out of bounds.
    word: Option<usize>,
}

impl<'r> Addresses<'r> {
    pub(super) fn new(registers: &'r Registers, address: Address, chunks: usize) -> Addresses<'r> {
        let plus = address.plus.map_or(0, |reg| registers.first::<u64>(reg));
        Addresses {
            base: Source::new(registers, address.base, chunks),
            plus: plus.wrapping_add(address.constant),
        }
    }

    #[inline(always)]
    pub(super) fn of(&self, thread: usize) -> u64 {
        self.base.lane(0, thread).wrapping_add(self.plus)
    }
}

/// Performs an access of global or shared memory. `in_bounds` is whether all checks hold for all active threads.
pub(super) fn access<E: Elements>(
    context: &mut Context<'_>,
    registers: &mut Registers,
    access: &Access,
    memory: E,
    in_bounds: bool,
) {
    // The register of the result is no operand, so it can be away while the operands are read.
    let dst = access.kind.dst();
    let mut to =
        dst.map(|reg| std::mem::take(&mut E::Cell::file_mut(registers)[reg.index()])).unwrap_or_default();
    perform(context, registers, access, memory, in_bounds, &mut to);
    if let Some(reg) = dst {
        E::Cell::file_mut(registers)[reg.index()] = to;
    }
}

fn perform<E: Elements>(
    context: &mut Context<'_>,
    registers: &Registers,
    access: &Access,
    mut memory: E,
    in_bounds: bool,
    to: &mut [Chunk<E::Cell>],
) {
    let simple = in_bounds && access.per_element == 1;
    let source = |reg| Source::<E::Cell>::new(registers, reg, context.chunks);
    let mut changes = 0;
    match access.kind {
        AccessOp::Load { dst } => {
            if !simple || !load_chunks(context, registers, access, &memory, dst, to) {
                let put = Put::new(dst, context.chunks);
                each(context, registers, access, memory.len(), |site| {
                    put.put(to, &site, site.word.and_then(|word| memory.get(word)));
                });
            }
            if access.scalar == Scalar::Bool {
                for value in to.iter_mut().flat_map(|chunk| &mut chunk.0) {
                    *value = E::Cell::from_bits((value.bits() != 0) as u64);
                }
            }
        }
        AccessOp::Store { value } => {
            if simple && !context.watching && store_chunks(context, registers, access, &mut memory, value) {
                changes = 1;
            } else {
                let value = source(value);
                each(context, registers, access, memory.len(), |site| {
                    let Some(word) = site.word else { return };
                    let value = value.lane(site.component, site.thread);
                    changes += (memory.get(word) != Some(value)) as u64;
                    memory.set(word, value);
                });
            }
        }
        AccessOp::AtomicLoad { dst, ordering: order } => {
            let put = Put::new(dst, context.chunks);
            let mut outcomes = context.outcomes.take();
            each(context, registers, access, memory.len(), |site| {
                let value = site.word.and_then(|word| memory.get_ordered(word, ordering(order)));
                note(&mut outcomes, &site, value, None);
                put.put(to, &site, value);
            });
        }
        AccessOp::AtomicStore { value, ordering: order } => {
            let value = source(value);
            let mut outcomes = context.outcomes.take();
            each(context, registers, access, memory.len(), |site| {
                let Some(word) = site.word else { return };
                let value = value.lane(site.component, site.thread);
                let before = memory.get(word);
                changes += (before != Some(value)) as u64;
                note(&mut outcomes, &site, before, Some(value));
                memory.set_ordered(word, value, ordering(order));
            });
        }
        AccessOp::Rmw { op, dst, value, ordering: order } => {
            let (value, put) = (source(value), Put::new(dst, context.chunks));
            let mut outcomes = context.outcomes.take();
            each(context, registers, access, memory.len(), |site| {
                let value = value.lane(site.component, site.thread).bits();
                let new = |old: E::Cell| E::Cell::from_bits(combine(op, access.scalar, old.bits(), value));
                let old = site.word.and_then(|word| memory.update(word, ordering(order), new));
                changes += old.is_some_and(|old| new(old) != old) as u64;
                note(&mut outcomes, &site, old, old.map(new));
                put.put(to, &site, old);
            });
        }
        AccessOp::Cas { dst, expected, desired, ordering: order } => {
            let (expected, desired, put) = (source(expected), source(desired), Put::new(dst, context.chunks));
            let mut outcomes = context.outcomes.take();
            each(context, registers, access, memory.len(), |site| {
                let expected = expected.lane(site.component, site.thread);
                let desired = desired.lane(site.component, site.thread);
                let new = |old| if old == expected { desired } else { old };
                let old = site.word.and_then(|word| memory.update(word, ordering(order), new));
                changes += old.is_some_and(|old| new(old) != old) as u64;
                note(&mut outcomes, &site, old, (old == Some(expected)).then_some(desired));
                put.put(to, &site, old);
            });
        }
    }
    *context.changes += changes;
}

/// Notes what an atomic operation on a word has done.
fn note<T: Cell>(
    outcomes: &mut Option<&mut Vec<AtomicOutcome>>,
    site: &Site,
    before: Option<T>,
    written: Option<T>,
) {
    if let (Some(outcomes), Some(word)) = (outcomes, site.word) {
        outcomes.push(AtomicOutcome {
            thread: site.thread as u32,
            word,
            before: before.unwrap_or_default().bits(),
            written: written.map(Cell::bits),
        });
    }
}

/// The words that active threads touch and that exist, one by one.
pub(super) fn spots(
    context: &mut Context<'_>,
    registers: &Registers,
    access: &Access,
    words: usize,
    to: &mut Vec<Spot>,
) {
    to.clear();
    each(context, registers, access, words, |site| {
        to.extend(site.word.map(|word| Spot {
            thread: site.thread as u32,
            component: site.component as u8,
            word,
        }));
    });
}

/// Where results of single threads go.
struct Put {
    varying: bool,
    chunks: usize,
}

impl Put {
    fn new(dst: Reg, chunks: usize) -> Put {
        Put { varying: dst.is_varying(), chunks }
    }

    /// What there is not is zero.
    fn put<T: Cell>(&self, to: &mut [Chunk<T>], site: &Site, value: Option<T>) {
        let value = value.unwrap_or_default();
        if self.varying {
            to[site.component * self.chunks + site.thread / CHUNK].0[site.thread % CHUNK] = value;
        } else {
            to[site.component] = Chunk([value; CHUNK]);
        }
    }
}

/// Calls `f` for each component of each active thread, in ascending order. Those that are out of bounds are faults and
/// have no word. `words` is how many words the memory has.
fn each(
    context: &mut Context<'_>,
    registers: &Registers,
    access: &Access,
    words: usize,
    mut f: impl FnMut(Site),
) {
    let per_element = access.per_element as u64;
    let offsets = Addresses::new(registers, access.offset, context.chunks);
    let bounds: Vec<_> = access
        .bounds
        .iter()
        .map(|bound| {
            let index = Addresses::new(registers, bound.index, context.chunks);
            (bound, index, Source::<u64>::new(registers, bound.extent, context.chunks))
        })
        .collect();
    for thread in context.active.threads.iter() {
        for component in 0..access.components as usize {
            let element = component as u64 / per_element;
            let outside = bounds.iter().find_map(|&(bound, index, extent)| {
                let (index, extent) = (index.of(thread), extent.lane(0, thread));
                let moved = index.checked_add(if bound.along { element } else { 0 });
                (moved.is_none_or(|index| index >= extent))
                    .then(|| (bound.dim, moved.unwrap_or(index), extent))
            });
            let offset = offsets.of(thread);
            let word = match outside {
                Some(_) => None,
                None => offset
                    .checked_add(element)
                    .and_then(|n| n.checked_mul(per_element))
                    .map(|n| n + component as u64 % per_element)
                    .filter(|&n| n < words as u64)
                    .map(|n| n as usize),
            };
            if word.is_none() {
                let place = context.place;
                let all = || {
                    let at = |index: u64, along: bool| index.wrapping_add(if along { element } else { 0 });
                    let checked = bounds.iter().map(|&(bound, index, extent)| {
                        (bound.dim, at(index.of(thread), bound.along), extent.lane(0, thread))
                    });
                    let held =
                        access.held.iter().map(|held| (held.dim, at(held.index, held.along), held.extent));
                    let mut all: Vec<_> = checked.chain(held).collect();
                    all.sort_unstable_by_key(|&(dim, ..)| dim);
                    all
                };
                context.faults.add_at(place, access.span, Some(access.number), thread, all, || {
                    let (access, tensor) = (access.kind.kind(), place.kernel.mem_name(access.mem).to_owned());
                    match outside {
                        Some((dim, index, extent)) => {
                            FaultKind::OutOfBounds { access, tensor, dim, index, extent }
                        }
                        None => FaultKind::OutsideMemory {
                            access,
                            tensor,
                            offset: offset.wrapping_add(element),
                            len: words as u64 / per_element,
                        },
                    }
                });
            }
            f(Site { thread, component, word });
        }
    }
}

/// How many of the lowest lanes are active, if no other is.
fn prefix(active: u64) -> Option<usize> {
    let count = active.trailing_ones();
    (active.count_ones() == count).then_some(count as usize)
}

/// Loads without checks; gives whether all elements exist.
fn load_chunks<E: Elements>(
    context: &Context<'_>,
    registers: &Registers,
    access: &Access,
    memory: &E,
    dst: Reg,
    to: &mut [Chunk<E::Cell>],
) -> bool {
    let offsets = Addresses::new(registers, access.offset, context.chunks);
    let (components, active) = (access.components as usize, context.active);
    if !offsets.base.is_varying() {
        // One element for all threads.
        let mut exist = true;
        for component in 0..components {
            let value = offsets.of(0).checked_add(component as u64).and_then(|offset| get(memory, offset));
            exist &= value.is_some();
            let value = Chunk([value.unwrap_or_default(); CHUNK]);
            if !dst.is_varying() {
                to[component] = value;
                continue;
            }
            for chunk in active.first..active.last {
                let to = &mut to[component * context.chunks + chunk];
                if active.whole {
                    *to = value
                } else {
                    E::Cell::blend(to, &value, active.threads.words[chunk])
                }
            }
        }
        return exist;
    }
    let mut exist = true;
    for chunk in active.first..active.last {
        let lanes = active.threads.words[chunk];
        let base = offsets.base.chunk(0, chunk);
        match (prefix(lanes), context.patterns) {
            (Some(0), _) => {}
            (Some(count), Some(patterns)) => {
                exist &= load_lanes(memory, patterns[chunk], base, offsets.plus, &mut to[chunk].0[..count]);
            }
            _ => {
                for lane in bits(lanes) {
                    let first = base.0[lane].wrapping_add(offsets.plus);
                    for component in 0..components {
                        let value =
                            first.checked_add(component as u64).and_then(|offset| get(memory, offset));
                        exist &= value.is_some();
                        to[component * context.chunks + chunk].0[lane] = value.unwrap_or_default();
                    }
                }
            }
        }
    }
    exist
}

/// Stores without checks; gives whether all elements exist.
fn store_chunks<E: Elements>(
    context: &Context<'_>,
    registers: &Registers,
    access: &Access,
    memory: &mut E,
    value: Reg,
) -> bool {
    let offsets = Addresses::new(registers, access.offset, context.chunks);
    let values = Source::<E::Cell>::new(registers, value, context.chunks);
    let components = access.components as usize;
    let (mut exist, active) = (true, context.active);
    for chunk in active.first..active.last {
        let lanes = active.threads.words[chunk];
        let base = offsets.base.chunk(0, chunk);
        match (prefix(lanes), context.patterns) {
            (Some(0), _) => {}
            (Some(count), Some(patterns)) => {
                let from = &values.chunk(0, chunk).0[..count];
                exist &= store_lanes(memory, patterns[chunk], base, offsets.plus, from);
            }
            _ => {
                for lane in bits(lanes) {
                    let first = base.0[lane].wrapping_add(offsets.plus);
                    for component in 0..components {
                        let offset = first.checked_add(component as u64);
                        let value = values.chunk(component, chunk).0[lane];
                        exist &= offset.is_some_and(|offset| set(memory, offset, value));
                    }
                }
            }
        }
    }
    exist
}

#[inline(always)]
fn get<E: Elements>(memory: &E, offset: u64) -> Option<E::Cell> {
    usize::try_from(offset).ok().and_then(|index| memory.get(index))
}

#[inline(always)]
fn set<E: Elements>(memory: &mut E, offset: u64, value: E::Cell) -> bool {
    usize::try_from(offset).is_ok_and(|index| memory.set(index, value))
}

/// Loads the first lanes of a chunk; gives whether all elements exist.
#[inline(never)]
fn load_lanes<E: Elements>(
    memory: &E,
    pattern: Pattern,
    base: &Chunk<u64>,
    plus: u64,
    to: &mut [E::Cell],
) -> bool {
    let start = |lane: usize| usize::try_from(base.0[lane].wrapping_add(plus)).ok();
    if pattern.run && start(0).is_some_and(|start| memory.get_run(start, to)) {
        return true;
    }
    let rows = to.len() / ROW;
    if pattern.rows && to.len().is_multiple_of(ROW) {
        let done = (0..rows).all(|row| {
            let to = &mut to[row * ROW..][..ROW];
            if pattern.equal >> row & 1 == 0 {
                return start(row * ROW).is_some_and(|start| memory.get_run(start, to));
            }
            let value = start(row * ROW).and_then(|start| memory.get(start));
            to.fill(value.unwrap_or_default());
            value.is_some()
        });
        if done {
            return true;
        }
    }
    let mut exist = true;
    for (to, &offset) in to.iter_mut().zip(&base.0) {
        let value = get(memory, offset.wrapping_add(plus));
        exist &= value.is_some();
        *to = value.unwrap_or_default();
    }
    exist
}

/// Stores the first lanes of a chunk; gives whether all elements exist.
#[inline(never)]
fn store_lanes<E: Elements>(
    memory: &mut E,
    pattern: Pattern,
    base: &Chunk<u64>,
    plus: u64,
    from: &[E::Cell],
) -> bool {
    let start = |lane: usize| usize::try_from(base.0[lane].wrapping_add(plus)).ok();
    if pattern.run && start(0).is_some_and(|start| memory.set_run(start, from)) {
        return true;
    }
    let rows = from.as_chunks::<ROW>().0;
    if pattern.rows && from.len().is_multiple_of(ROW) {
        // Of threads that store to one element the last comes last.
        let done = rows.iter().enumerate().all(|(row, from)| {
            let start = start(row * ROW);
            if pattern.equal >> row & 1 == 0 {
                start.is_some_and(|start| memory.set_run(start, from))
            } else {
                start.is_some_and(|start| memory.set(start, from[ROW - 1]))
            }
        });
        if done {
            return true;
        }
    }
    let mut exist = true;
    for (&value, &offset) in from.iter().zip(&base.0) {
        exist &= set(memory, offset.wrapping_add(plus), value);
    }
    exist
}

/// Performs an access of local memory, which has a lane for each thread like a register.
pub(super) fn local_access(
    context: &mut Context<'_>,
    registers: &mut Registers,
    access: &Access,
    memory: &mut Local,
    in_bounds: bool,
) {
    match memory {
        Local::Narrow(column) => local(context, registers, access, column, in_bounds),
        Local::Wide(column) => local(context, registers, access, column, in_bounds),
    }
}

fn local<T: Cell>(
    context: &mut Context<'_>,
    registers: &mut Registers,
    access: &Access,
    memory: &mut [Chunk<T>],
    in_bounds: bool,
) {
    let chunks = context.chunks;
    let words = memory.len() / chunks;
    let first = (in_bounds && !access.offset.base.is_varying())
        .then(|| Addresses::new(registers, access.offset, chunks).of(0))
        .and_then(|offset| offset.checked_mul(access.per_element as u64))
        .and_then(|word| usize::try_from(word).ok())
        .filter(|&word| word.checked_add(access.components as usize).is_some_and(|end| end <= words));
    let lanes = |word: usize, thread: usize| (word * chunks + thread / CHUNK, thread % CHUNK);
    match (access.kind, first) {
        (AccessOp::Load { dst }, first) => {
            let mut to = std::mem::take(&mut T::file_mut(registers)[dst.index()]);
            match first {
                Some(word) => {
                    let from = &memory[word * chunks..];
                    copy(context.active, chunks, access.components as usize, &mut to, from);
                }
                None => {
                    let put = Put::new(dst, chunks);
                    each(context, registers, access, words, |site| {
                        let value = site.word.map(|word| {
                            let (chunk, lane) = lanes(word, site.thread);
                            memory[chunk].0[lane]
                        });
                        put.put(&mut to, &site, value);
                    });
                }
            }
            T::file_mut(registers)[dst.index()] = to;
        }
        (AccessOp::Store { value }, Some(word)) if value.is_varying() => {
            let from = &T::file(registers)[value.index()];
            copy(context.active, chunks, access.components as usize, &mut memory[word * chunks..], from);
        }
        (AccessOp::Store { value }, _) => {
            let value = Source::<T>::new(registers, value, chunks);
            each(context, registers, access, words, |site| {
                if let Some(word) = site.word {
                    let (chunk, lane) = lanes(word, site.thread);
                    memory[chunk].0[lane] = value.lane(site.component, site.thread);
                }
            });
        }
        // The verifier lets no atomic on local memory through.
        _ => {}
    }
}

/// Copies the active lanes of components of columns.
fn copy<T: Cell>(active: &Active, chunks: usize, components: usize, to: &mut [Chunk<T>], from: &[Chunk<T>]) {
    for component in 0..components {
        for chunk in active.first..active.last {
            let (to, from) = (&mut to[component * chunks + chunk], &from[component * chunks + chunk]);
            if active.whole { *to = *from } else { T::blend(to, from, active.threads.words[chunk]) }
        }
    }
}

impl AccessOp {
    /// The register of the result.
    fn dst(&self) -> Option<Reg> {
        match *self {
            AccessOp::Load { dst }
            | AccessOp::AtomicLoad { dst, .. }
            | AccessOp::Rmw { dst, .. }
            | AccessOp::Cas { dst, .. } => Some(dst),
            AccessOp::Store { .. } | AccessOp::AtomicStore { .. } => None,
        }
    }

    /// Whether it is atomic.
    pub(super) fn is_atomic(&self) -> bool {
        self.kind() == AccessKind::Atomic
    }

    /// What it is called in a fault.
    fn kind(&self) -> AccessKind {
        match self {
            AccessOp::Load { .. } => AccessKind::Load,
            AccessOp::Store { .. } => AccessKind::Store,
            AccessOp::AtomicLoad { .. }
            | AccessOp::AtomicStore { .. }
            | AccessOp::Rmw { .. }
            | AccessOp::Cas { .. } => AccessKind::Atomic,
        }
    }
}
