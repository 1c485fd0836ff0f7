//! Loads, stores, atomics and what orders them.

use super::{EXTENT, Generator, Memory, Variable};
use tilewise_ir::{
    Access, AtomicOp, BinaryOp, MemRef, Op, Ordering, Scalar, Scope, Shuffle, Type, Value, verify,
};

impl Generator {
    /// A load or store of a variable.
    pub(super) fn variable(&mut self) {
        let variables = self.variables.clone();
        let Variable { alloc, elem, len } = self.random.pick(&variables);
        let mut access = Access::unchecked(MemRef::Alloc(alloc));
        let wide = elem.lanes == 1 && len == 4 && self.random.chance(30);
        let ty = if wide { elem.with_lanes(2) } else { elem };
        let room = if wide { 3 } else { len };
        let offset = if len > 1 && self.random.chance(8) {
            let value = self.value(Type::INDEX);
            let mask = self.index(if wide { 1 } else { len - 1 });
            self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
        } else {
            let at = self.random.below(room as usize) as u64;
            self.index(at)
        };
        let mut bounds = Vec::new();
        if self.random.chance(30) {
            let fails = self.random.chance(15);
            let extent = self.index(if fails { len - 1 } else { len });
            access.bounds.push(0);
            bounds = vec![offset, extent];
        }
        if self.random.chance(55) {
            let value = self.value(ty);
            self.effect(Op::Store(access), [offset, value].into_iter().chain(bounds));
        } else {
            self.emit(Op::Load(access), [offset].into_iter().chain(bounds), ty);
        }
    }

    pub(super) fn memory(&mut self, elem: Scalar, mutable: bool) -> Option<Memory> {
        let fits: Vec<_> =
            self.memories.iter().copied().filter(|m| m.elem == elem && (m.mutable || !mutable)).collect();
        (!fits.is_empty()).then(|| self.random.pick(&fits))
    }

    /// Offset and bounds of an access that is inside the memory if its bounds hold.
    pub(super) fn place(&mut self, memory: Memory) -> (Access, Vec<Value>) {
        let mut access = Access::unchecked(memory.mem);
        if self.random.chance(40) {
            let offset = if self.random.chance(50) {
                let at = self.random.pick(&[0, 0, 0, 1, 1, 2, 5, 8]);
                self.index(at)
            } else {
                let value = self.value(Type::INDEX);
                let mask = self.index(7);
                self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
            };
            return (access, vec![offset]);
        }
        let index = if self.random.chance(40) {
            let at = self.random.pick(&[0, 0, 1, 5, 9, 11, 12, 13, 15]);
            self.index(at)
        } else {
            self.value(Type::INDEX)
        };
        let extent = match memory.mem {
            MemRef::Param(param) if self.random.chance(60) => {
                self.emit(Op::Extent(param, 0), [], Type::INDEX)
            }
            _ => self.index(EXTENT),
        };
        access.bounds.push(0);
        (access, vec![index, index, extent])
    }

    /// Loads and stores of elements that follow each other, in order or not, and what may come between.
    pub(super) fn neighbours(&mut self) {
        let memories = self.memories.clone();
        let memory = self.random.pick(&memories);
        let other = self.random.pick(&memories);
        let value = self.value(Type::INDEX);
        let mask = self.random.pick(&[0, 4, 5, 7]);
        let mask = self.index(mask);
        let base = self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX);
        let access = Access::unchecked(memory.mem);
        let ty = memory.elem.ty();
        let mut next = 0;
        for _ in 0..self.random.pick(&[2, 4, 5, 8]) {
            let at = if self.random.chance(85) { next } else { self.random.below(8) as u64 };
            next = (at + 1) % 8;
            let constant = self.index(at);
            let offset = self.emit(Op::Binary(BinaryOp::Add), [base, constant], Type::INDEX);
            self.visible.pop();
            if self.random.chance(60) || !memory.mutable {
                self.emit(Op::Load(access.clone()), [offset], ty);
            }
            if memory.mutable && self.random.chance(60) {
                let value = self.value(ty);
                self.effect(Op::Store(access.clone()), [offset, value]);
            }
            if self.random.chance(4) {
                let (access, args) = self.place(other);
                self.emit(Op::Load(access), args, other.elem.ty());
            }
            if self.random.chance(4) {
                self.store_to_memory();
            }
            if self.random.chance(2) && self.mix.weights[4] > 0 {
                self.synchronize();
            }
        }
    }

    pub(super) fn load_from_memory(&mut self) {
        if self.random.chance(12) {
            return self.neighbours();
        }
        let memories = self.memories.clone();
        let memory = self.random.pick(&memories);
        let (access, args) = self.place(memory);
        let lanes = self.random.pick(&[1, 1, 1, 2, 4]);
        let value = self.emit(Op::Load(access), args, memory.elem.ty().with_lanes(lanes));
        if !self.mix.print && self.random.chance(30) {
            self.keep(value);
        }
    }

    pub(super) fn store_to_memory(&mut self) {
        let scalar = self.scalar();
        let Some(memory) = self.memory(scalar, true) else { return };
        let (access, mut args) = self.place(memory);
        let lanes = self.random.pick(&[1, 1, 1, 2, 4]);
        let value = self.value(memory.elem.ty().with_lanes(lanes));
        args.insert(1, value);
        self.effect(Op::Store(access), args);
    }

    /// Stores a value where it is seen, if there is a place for it.
    pub(super) fn keep(&mut self, value: Value) {
        let Some(memory) = self.memory(self.builder.ty(value).scalar, true) else { return };
        let at = self.random.below(8) as u64;
        let offset = self.index(at);
        self.effect(Op::Store(Access::unchecked(memory.mem)), [offset, value]);
    }

    /// An operation among the lanes of a warp.
    fn of_a_warp(&mut self) {
        let ty = self.scalar().ty();
        let reductions: Vec<_> =
            BinaryOp::ALL.iter().copied().filter(|&op| verify::reduction_exists(op, ty.scalar)).collect();
        let value = match self.random.below(6) {
            0 => self.emit(Op::LaneId, [], Scalar::U32.ty()),
            5 => {
                let mask = self.value(Scalar::U32.ty());
                return self.effect(Op::WarpBarrier, [mask]);
            }
            1 => {
                let condition = self.value(Type::BOOL);
                self.emit(Op::Ballot, [condition], Scalar::U32.ty())
            }
            2 => {
                let shuffle = self.random.pick(Shuffle::ALL);
                let args = [self.value(ty), self.value(Scalar::U32.ty())];
                self.emit(Op::Shuffle(shuffle), args, ty)
            }
            3 => {
                let (op, value) = (self.random.pick(&reductions), self.value(ty));
                self.emit(Op::WarpReduce(op), [value], ty)
            }
            _ => {
                let (op, value) = (self.random.pick(&reductions), self.value(ty));
                self.emit(Op::WarpScan(op), [value], ty)
            }
        };
        if self.random.chance(50) {
            self.keep(value);
        }
    }

    pub(super) fn synchronize(&mut self) {
        let scope = self.random.pick(&[Scope::Block, Scope::Device]);
        let atomic: Vec<_> =
            self.memories.iter().copied().filter(|m| m.mutable && verify::atomic_exists(m.elem)).collect();
        if atomic.is_empty() || self.random.chance(40) {
            return match self.random.below(4) {
                0 => self.of_a_warp(),
                1 => self.effect(Op::Barrier, []),
                _ => self.effect(Op::Fence(scope, Ordering::AcqRel), []),
            };
        }
        let memory = self.random.pick(&atomic);
        let (access, mut args) = self.place(memory);
        let ty = memory.elem.ty();
        let order = Ordering::Relaxed;
        match self.random.below(4) {
            0 => {
                self.emit(Op::AtomicLoad(access, scope, order), args, ty);
            }
            1 => {
                args.insert(1, self.value(ty));
                self.effect(Op::AtomicStore(access, scope, order), args);
            }
            2 => {
                let ops: Vec<_> =
                    AtomicOp::ALL.iter().copied().filter(|&op| verify::rmw_exists(op, memory.elem)).collect();
                let op = self.random.pick(&ops);
                args.insert(1, self.value(ty));
                self.emit(Op::AtomicRmw(op, access, scope, order), args, ty);
            }
            _ if memory.elem.is_float() => {}
            _ => {
                args.insert(1, self.value(ty));
                args.insert(2, self.value(ty));
                self.emit(Op::AtomicCas(access, scope, order), args, ty);
            }
        }
    }
}
