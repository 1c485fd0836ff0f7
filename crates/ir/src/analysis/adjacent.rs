//! Runs of accesses of neighbouring elements that could be done at once, as one access of several lanes.
//!
//! An offset is a sum of values times factors, and a constant. Accesses of one memory whose sums differ in the constant
//! alone, by one from each to the next, are a run if the loads may all be done where the first is, and the stores where
//! the last is. So between them there is, in their block,
//!
//! - no structure, barrier, atomic operation, fence or assertion: control goes straight from the first to the last, and
//!   other threads see no difference;
//! - no access of that memory, or of one that may be the same, that touches what the moved access touches: neither the
//!   same element, nor one of which that is not known.
//!
//! Only plain accesses of one lane without bounds take part: they can be no fault.

use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{BinaryOp, Effect, Op};
use crate::types::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Bytes of the widest access of a thread.
pub const WIDEST: usize = 16;

/// How many operations deep an offset is taken apart, and into how many terms at most.
const DEPTH: usize = 8;
const TERMS: usize = 8;

/// The most accesses of a group.
const MOST: usize = 256;

/// Accesses of elements that follow each other, by offset.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whether they write.
    pub is_store: bool,
    /// Bytes of an element.
    pub size: usize,
    /// For each, in the order of offsets: its number as [`Facts::accesses`](super::Facts::accesses) counts. The numbers
    /// also tell which comes first.
    pub accesses: Vec<usize>,
}

/// The runs of a kernel, of at least two accesses each.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::adjacent};
///
/// let kernel: Kernel = "
///     kernel @k(%out: tensor<f32, 1, mut>) {
///       %0 = const f32 1.0
///       %1 = const index 1
///       %2 = thread_idx.x
///       store %out[%2], %0
///       %3 = add %2, %1
///       store %out[%3], %0
///       return
///     }
/// ".parse()?;
/// assert_eq!(adjacent::runs(&kernel)[0].accesses, [0, 1]);
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn runs(kernel: &Kernel) -> Vec<Run> {
    let mut finder =
        Finder { kernel, definitions: Vec::new(), next: 0, open: FxHashMap::default(), runs: Vec::new() };
    // Most kernels have no two accesses that could take part.
    let mut plain = 0;
    kernel.body.visit(&mut |inst| plain += usize::from(finder.is_candidate(inst)));
    if plain < 2 {
        return Vec::new();
    }
    finder.definitions = vec![None; kernel.values.len()];
    kernel.body.visit(&mut |inst| {
        if let Some(result) = inst.result() {
            finder.definitions[result.0 as usize] = Some(inst);
        }
    });
    finder.block(&kernel.body);
    finder.runs
}

/// A sum of values times factors; modulo 2^64.
type Terms = SmallVec<[(Value, u64); 3]>;

/// Accesses that could be a run, and what was done since the first of them.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Constants of the offsets, and numbers.
    accesses: Vec<(u64, usize)>,
    /// For loads: constants of the offsets, with the same terms, that were stored to since, or are stored to since after
    /// stores have moved.
    stored: Vec<u64>,
}

impl Group {
    /// Whether an access of this element cannot come to the group.
    fn refuses(&self, constant: u64) -> bool {
        self.touches(constant) || self.stored.contains(&constant) || self.accesses.len() == MOST
    }

    fn touches(&self, constant: u64) -> bool {
        self.accesses.iter().any(|&(at, _)| at == constant)
    }
}

/// The groups of a memory that may get longer.
#[derive(Clone, Debug, Default)]
struct Open {
    loads: FxHashMap<Terms, Group>,
    /// A store to another sum may be to the same element, so there is one group of them.
    stores: Option<(Terms, Group)>,
}

struct Finder<'k> {
    kernel: &'k Kernel,
    definitions: Vec<Option<&'k Inst>>,
    /// The number of the next access.
    next: usize,
    open: FxHashMap<MemRef, Open>,
    runs: Vec<Run>,
}

impl<'k> Finder<'k> {
    fn block(&mut self, block: &'k Block) {
        for inst in &block.insts {
            match inst.op.effect() {
                Effect::Pure | Effect::Fault => {}
                Effect::Read | Effect::Write => self.access(inst),
                Effect::Output if !matches!(inst.op, Op::Assert(_)) => {}
                Effect::Output | Effect::Sync | Effect::Structure | Effect::Terminator => self.close_all(),
            }
            inst.blocks.iter().for_each(|inner| self.block(inner));
        }
        self.close_all();
    }

    fn access(&mut self, inst: &'k Inst) {
        let number = self.next;
        self.next += 1;
        let Some(access) = inst.op.access() else { return };
        let is_store = match inst.op {
            Op::Load(_) => false,
            Op::Store(_) => true,
            // It orders, or is seen by others.
            _ => return self.close_all(),
        };
        for mem in self.others_that_may_be_same(access.mem) {
            self.close(mem);
        }
        if !self.is_candidate(inst) {
            if is_store || !self.kernel.is_constant_memory(access.mem) {
                self.close(access.mem);
            }
            return;
        }
        let (terms, constant) = self.sum(inst.args[0]);
        let mut open = self.open.remove(&access.mem).unwrap_or_default();
        if is_store {
            self.store(&mut open, access.mem, terms, (constant, number));
        } else {
            self.load(&mut open, access.mem, terms, (constant, number));
        }
        self.open.insert(access.mem, open);
    }

    fn load(&mut self, open: &mut Open, mem: MemRef, terms: Terms, at: (u64, usize)) {
        // Stores of the group would go behind it.
        if let Some((_, group)) = open.stores.take_if(|(other, group)| *other != terms || group.touches(at.0))
        {
            self.finish(mem, true, group);
        }
        let group = open.loads.entry(terms).or_default();
        if group.refuses(at.0) {
            self.finish(mem, false, std::mem::take(group));
        }
        if group.accesses.is_empty() {
            // These may yet go behind this load, and before one that would come to it.
            let waiting = open.stores.iter().flat_map(|(_, stores)| &stores.accesses);
            group.stored.extend(waiting.map(|&(constant, _)| constant));
        }
        group.accesses.push(at);
    }

    fn store(&mut self, open: &mut Open, mem: MemRef, terms: Terms, at: (u64, usize)) {
        // Loads that came to other groups later would go before it.
        let mut own = open.loads.remove(&terms);
        for (_, group) in std::mem::take(&mut open.loads) {
            self.finish(mem, false, group);
        }
        if let Some(group) = own.take_if(|group| group.stored.len() == MOST) {
            self.finish(mem, false, group);
        }
        if let Some(mut group) = own {
            group.stored.push(at.0);
            open.loads.insert(terms.clone(), group);
        }
        if let Some((_, group)) = open.stores.take_if(|(other, group)| *other != terms || group.refuses(at.0))
        {
            self.finish(mem, true, group);
        }
        open.stores.get_or_insert_with(|| (terms, Group::default())).1.accesses.push(at);
    }

    fn close(&mut self, mem: MemRef) {
        if let Some(open) = self.open.remove(&mem) {
            self.finish_all(mem, open);
        }
    }

    fn close_all(&mut self) {
        for (mem, open) in std::mem::take(&mut self.open) {
            self.finish_all(mem, open);
        }
    }

    fn finish_all(&mut self, mem: MemRef, open: Open) {
        let Open { loads, stores } = open;
        loads.into_values().for_each(|group| self.finish(mem, false, group));
        if let Some((_, group)) = stores {
            self.finish(mem, true, group);
        }
    }

    /// Keeps the runs of a group.
    fn finish(&mut self, mem: MemRef, is_store: bool, mut group: Group) {
        let Some(elem) = self.kernel.mem_elem(mem).filter(|_| group.accesses.len() > 1) else { return };
        group.accesses.sort_unstable();
        for run in group.accesses.chunk_by(|a, b| a.0.wrapping_add(1) == b.0) {
            if run.len() > 1 {
                let accesses = run.iter().map(|&(_, number)| number).collect();
                self.runs.push(Run { is_store, size: elem.scalar.size(), accesses });
            }
        }
    }

    /// Whether it is a plain access of one lane that can be no fault, of elements that registers hold as they are.
    fn is_candidate(&self, inst: &Inst) -> bool {
        let (Op::Load(access) | Op::Store(access)) = &inst.op else { return false };
        let value = match inst.op {
            Op::Store(_) => inst.args.get(1).copied(),
            _ => inst.result(),
        };
        let one_lane = |elem: crate::types::Type| {
            elem.lanes == 1
                && !matches!(elem.scalar, Scalar::Bool | Scalar::Index)
                && usize::from(access.align) <= elem.scalar.size()
                && value.is_some_and(|value| self.kernel.ty(value).lanes == 1)
        };
        access.bounds.is_empty() && self.kernel.mem_elem(access.mem).is_some_and(one_lane)
    }

    /// The other memories with groups that may be the same as one.
    fn others_that_may_be_same(&self, mem: MemRef) -> SmallVec<[MemRef; 2]> {
        let others = self.open.keys().copied().filter(|&other| other != mem);
        others.filter(|&other| self.kernel.may_be_same(mem, other)).collect()
    }

    /// An offset as a sum: the terms in order, and the constant.
    fn sum(&self, offset: Value) -> (Terms, u64) {
        let (mut terms, mut constant) = (Terms::new(), 0);
        self.add(&mut terms, &mut constant, offset, 1, DEPTH);
        terms.sort_unstable();
        terms.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 = a.1.wrapping_add(b.1);
            }
            same
        });
        terms.retain(|term| term.1 != 0);
        (terms, constant)
    }

    fn add(&self, terms: &mut Terms, constant: &mut u64, value: Value, factor: u64, depth: usize) {
        let inst = self.definitions[value.0 as usize];
        if let Some(Op::Const(known)) = inst.map(|inst| &inst.op) {
            *constant = constant.wrapping_add(known.bits.wrapping_mul(factor));
            return;
        }
        let known = |value: Value| match self.definitions[value.0 as usize]?.op {
            Op::Const(constant) => Some(constant.bits),
            _ => None,
        };
        if let (Some(inst), Some(depth)) = (inst, depth.checked_sub(1))
            && terms.len() < TERMS
            && let [a, b] = inst.args[..]
        {
            match inst.op {
                Op::Binary(BinaryOp::Add) => {
                    self.add(terms, constant, a, factor, depth);
                    return self.add(terms, constant, b, factor, depth);
                }
                Op::Binary(BinaryOp::Sub) => {
                    self.add(terms, constant, a, factor, depth);
                    return self.add(terms, constant, b, factor.wrapping_neg(), depth);
                }
                Op::Binary(BinaryOp::Mul) => {
                    let scaled = known(b).map(|by| (a, by)).or(known(a).map(|by| (b, by)));
                    if let Some((value, by)) = scaled {
                        return self.add(terms, constant, value, factor.wrapping_mul(by), depth);
                    }
                }
                Op::Binary(BinaryOp::Shl) => {
                    if let Some(count) = known(b) {
                        return self.add(terms, constant, a, factor.wrapping_mul(1 << (count & 63)), depth);
                    }
                }
                _ => {}
            }
        }
        terms.push((value, factor));
    }
}
