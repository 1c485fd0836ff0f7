//! Common subexpressions: an operation that has been done before, on the same operands, is not done again.
//!
//! An operation is the same if it has the same operands (in either order, where the order does not matter), and it is
//! there if it stands earlier in this block or in one around it, so that it has run whenever this one does.
//!
//! - Pure operations.
//! - Divisions: where the earlier one was a fault this one would be the same fault, which is recorded once anyway.
//! - Loads, of the same place with the same bounds; also a load of what a store without bounds has put there.
//!
//! **Which loads.** Between the two nothing may have changed the memory:
//!
//! - *Local memory* is changed by this thread's stores only; *tensors that are read only and share their storage with
//!   no other* by nobody. (A store to an array changes all of it: offsets are not compared.)
//! - *Shared memory and other tensors* can also be changed by other threads. A program without data races orders such
//!   a write and the loads by a barrier, a fence or an atomic operation, so those end what is known of all such
//!   memory. Writes to one tensor change another only if they [may be the same](Kernel::may_be_same).
//! - In a loop, all that its body changes is unknown at its start already, because of the rounds before. At the start
//!   of a `Loop` all memory that others can change is unknown, even if the body has nothing that orders: waiting for
//!   another thread with a plain load is a race, but it need not hang because of us.

use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{BinaryOp, CompareOp, Effect, Op};
use crate::pass::rewrite::Substitution;
use crate::types::Type;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let memories = kernel.params.len() + kernel.allocs.len();
    let mut eliminator = Eliminator {
        substitution: Substitution::new(kernel),
        table: Table::with_capacity(kernel.values.len()),
        memory: vec![0; memories],
        versions: 0,
        kernel,
        changed: false,
    };
    eliminator.block(&mut body);
    let changed = eliminator.changed;
    kernel.body = body;
    changed
}

struct Eliminator<'k> {
    kernel: &'k Kernel,
    substitution: Substitution,
    table: Table,
    /// By memory, parameters first: a number that changes when its contents may have.
    memory: Vec<u32>,
    /// The last number used in `memory`.
    versions: u32,
    changed: bool,
}

impl Eliminator<'_> {
    fn block(&mut self, block: &mut Block) {
        let mark = self.table.len();
        block.insts.retain_mut(|inst| self.inst(inst));
        self.table.truncate(mark);
    }

    /// Gives whether the operation stays.
    fn inst(&mut self, inst: &mut Inst) -> bool {
        self.substitution.apply(inst);
        match inst.op.effect() {
            Effect::Pure | Effect::Fault => self.look_up(inst, 0),
            Effect::Read => {
                let version = inst.op.access().map_or(0, |access| self.memory[self.index(access.mem)]);
                self.look_up(inst, version)
            }
            Effect::Structure => {
                self.structure(inst);
                true
            }
            Effect::Write | Effect::Sync => {
                self.change(inst);
                self.remember_store(inst);
                true
            }
            Effect::Output | Effect::Terminator => true,
        }
    }

    /// Replaces an operation that is there already, else remembers it.
    fn look_up(&mut self, inst: &Inst, version: u32) -> bool {
        let Some(result) = inst.result() else { return true };
        let entry = Entry::new(inst.op.clone(), inst.args.clone(), self.kernel.ty(result), version, result);
        match self.table.find(&entry) {
            Some(earlier) => {
                self.substitution.set(result, earlier);
                self.changed = true;
                false
            }
            None => {
                self.table.push(entry);
                true
            }
        }
    }

    /// After a store without bounds, a load of the same place gives its value.
    fn remember_store(&mut self, inst: &Inst) {
        if let (Op::Store(access), &[offset, value]) = (&inst.op, &inst.args[..]) {
            let version = self.memory[self.index(access.mem)];
            let op = Op::Load(access.clone());
            let args = [offset].into_iter().collect();
            self.table.push(Entry::new(op, args, self.kernel.ty(value), version, value));
        }
    }

    fn structure(&mut self, inst: &mut Inst) {
        let is_loop = inst.op != Op::If;
        if is_loop {
            inst.blocks.iter().for_each(|block| self.change_all(block));
            if let Op::Loop(_) = inst.op {
                self.change_what_others_can();
            }
        }
        let before = self.memory.clone();
        for block in &mut inst.blocks {
            self.memory.copy_from_slice(&before);
            self.block(block);
        }
        self.memory = before;
        inst.blocks.iter().for_each(|block| self.change_all(block));
    }

    /// Takes note of all changes of memory that a block can make.
    fn change_all(&mut self, block: &Block) {
        block.visit(&mut |inst| {
            if let Effect::Write | Effect::Sync = inst.op.effect() {
                self.change(inst);
            }
        });
    }

    /// Takes note that an operation changes memory.
    fn change(&mut self, inst: &Inst) {
        match (&inst.op, inst.op.access()) {
            (Op::Store(_), Some(access)) => self.change_memory(access.mem),
            (_, Some(access)) => {
                self.change_memory(access.mem);
                self.change_what_others_can();
            }
            _ => self.change_what_others_can(),
        }
    }

    fn change_memory(&mut self, mem: MemRef) {
        self.change_where(|kernel, other| kernel.may_be_same(mem, other));
    }

    /// Takes note that other threads may have written.
    fn change_what_others_can(&mut self) {
        self.change_where(|kernel, mem| !kernel.is_local_memory(mem) && !kernel.is_constant_memory(mem));
    }

    fn change_where(&mut self, changes: impl Fn(&Kernel, MemRef) -> bool) {
        self.versions += 1;
        for (mem, version) in self.kernel.memories().zip(&mut self.memory) {
            if changes(self.kernel, mem) {
                *version = self.versions;
            }
        }
    }

    fn index(&self, mem: MemRef) -> usize {
        match mem {
            MemRef::Param(param) => param.0 as usize,
            MemRef::Alloc(alloc) => self.kernel.params.len() + alloc.0 as usize,
        }
    }
}

/// Whether the first two operands of an operation with this type of result can be exchanged.
fn commutes(op: &Op, ty: Type) -> bool {
    match op {
        Op::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
        | Op::Compare(CompareOp::Eq | CompareOp::Ne)
        | Op::MulAdd => true,
        // Of two float zeros of unlike sign, a device may give the first.
        Op::Binary(BinaryOp::Min | BinaryOp::Max) => !ty.scalar.is_float(),
        _ => false,
    }
}

/// An operation that has been done, and the value that it gave.
#[derive(Debug)]
struct Entry {
    op: Op,
    args: SmallVec<[Value; 4]>,
    ty: Type,
    /// Of the memory that is read.
    version: u32,
    value: Value,
    hash: u64,
    /// The next older entry in the same bucket.
    next: u32,
}

impl Entry {
    fn new(op: Op, mut args: SmallVec<[Value; 4]>, ty: Type, version: u32, value: Value) -> Entry {
        if commutes(&op, ty) && args[0] > args[1] {
            args.swap(0, 1);
        }
        let mut hasher = FxHasher::default();
        (&op, &args, ty, version).hash(&mut hasher);
        Entry { op, args, ty, version, value, hash: hasher.finish(), next: Table::NONE }
    }

    fn is_same(&self, other: &Entry) -> bool {
        self.hash == other.hash
            && self.version == other.version
            && self.ty == other.ty
            && self.args == other.args
            && self.op == other.op
    }
}

/// A hash table of entries that are removed in the opposite order of their coming.
#[derive(Debug)]
struct Table {
    entries: Vec<Entry>,
    /// By hash: the youngest entry.
    buckets: Vec<u32>,
}

impl Table {
    const NONE: u32 = u32::MAX;

    fn with_capacity(entries: usize) -> Table {
        let buckets = entries.next_power_of_two().max(16);
        Table { entries: Vec::new(), buckets: vec![Table::NONE; buckets] }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn bucket(&self, hash: u64) -> usize {
        // The high bits of this hash are the good ones.
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }

    fn find(&self, wanted: &Entry) -> Option<Value> {
        let mut index = self.buckets[self.bucket(wanted.hash)];
        while let Some(entry) = self.entries.get(index as usize) {
            if entry.is_same(wanted) {
                return Some(entry.value);
            }
            index = entry.next;
        }
        None
    }

    fn push(&mut self, mut entry: Entry) {
        let bucket = self.bucket(entry.hash);
        entry.next = std::mem::replace(&mut self.buckets[bucket], self.entries.len() as u32);
        self.entries.push(entry);
    }

    fn truncate(&mut self, len: usize) {
        while self.entries.len() > len
            && let Some(entry) = self.entries.pop()
        {
            let bucket = self.bucket(entry.hash);
            self.buckets[bucket] = entry.next;
        }
    }
}
