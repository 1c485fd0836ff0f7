//! Branches, loops and jumps.

use super::{Generator, Memory, Target};
use tilewise_ir::{
    Access, BinaryOp, Block, CompareOp, Const, Label, MemRef, Op, Scalar, Space, Type, UnaryOp, Value,
};

impl Generator {
    pub(super) fn types(&mut self) -> Vec<Type> {
        (0..self.random.pick(&[0, 0, 0, 1, 2])).map(|_| self.ty()).collect()
    }

    pub(super) fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    /// A nested block: `content`, then an end by `end`, unless it has left already.
    pub(super) fn block(
        &mut self,
        params: &[Type],
        content: impl FnOnce(&mut Generator, &[Value]),
        end: impl FnOnce(&mut Generator) -> (Op, Vec<Value>),
    ) -> Block {
        let mark = self.visible.len();
        let params = self.builder.open_block(params);
        self.visible.extend(&params);
        content(self, &params);
        if !self.builder.is_terminated() {
            if self.random.chance(12) {
                self.jump();
            }
            if !self.builder.is_terminated() {
                let (op, args) = end(self);
                self.effect(op, args);
            }
        }
        let block = self.builder.close_block(Op::Return);
        self.visible.truncate(mark);
        block
    }

    /// Leaves the block, if there is somewhere to go to.
    pub(super) fn jump(&mut self) {
        if self.targets.is_empty() || self.random.chance(10) {
            if self.random.chance(30) {
                self.effect(Op::Return, []);
            }
            return;
        }
        let near = self.targets.len() - 1 - self.random.below(self.targets.len().min(3));
        let target = self.targets[near].clone();
        if target.repeats && self.random.chance(40) {
            let args = self.values(&target.carried);
            self.effect(Op::Continue(target.label), args);
        } else {
            let args = self.values(&target.results);
            self.effect(Op::Break(target.label), args);
        }
    }

    pub(super) fn structure(&mut self, op: Op, args: Vec<Value>, blocks: Vec<Block>, results: &[Type]) {
        self.locate();
        let results = self.builder.emit_structure(op, args, blocks, results);
        self.visible.extend(results);
    }

    pub(super) fn branch(&mut self, depth: usize) {
        let mut condition = self.value(Type::BOOL);
        if self.random.chance(30) {
            let other = self.value(Type::BOOL);
            let op = self.random.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
            condition = self.emit(Op::Binary(op), [condition, other], Type::BOOL);
        }
        let results = self.types();
        let mut blocks = Vec::new();
        for arm in 0..2 {
            let empty = arm == 1 && self.random.chance(50);
            let types = results.clone();
            blocks.push(self.block(
                &[],
                |g, _| {
                    if !empty {
                        g.block_content(depth + 1);
                    }
                },
                |g| (Op::Yield, g.values(&types)),
            ));
        }
        self.structure(Op::If, vec![condition], blocks, &results);
    }

    /// One round less; leaves the loop if there are none.
    pub(super) fn burn(&mut self, label: Label, results: &[Type]) {
        let access = Access::unchecked(MemRef::Alloc(self.fuel));
        let zero = self.index(0);
        let left = self.emit(Op::Load(access.clone()), [zero], Type::INDEX);
        let one = self.index(1);
        let less = self.emit(Op::Binary(BinaryOp::Sub), [left, one], Type::INDEX);
        self.visible.pop();
        let empty = self.emit(Op::Compare(CompareOp::Eq), [left, zero], Type::BOOL);
        let types = results.to_vec();
        let leave = self.block(&[], |_, _| {}, |g| (Op::Break(label), g.values(&types)));
        let stay = self.block(&[], |_, _| {}, |_| (Op::Yield, vec![]));
        self.structure(Op::If, vec![empty], vec![leave, stay], &[]);
        self.effect(Op::Store(access), [zero, less]);
    }

    /// A `Loop` with carried values and results, that repeats or not.
    pub(super) fn block_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let (results, carried) = (self.types(), self.types());
        let repeats = self.random.chance(40);
        let initial = self.values(&carried);
        let outer = self.targets.clone();
        self.targets.push(Target { label, results: results.clone(), carried: carried.clone(), repeats });
        let body = self.block(
            &carried.clone(),
            |g, _| {
                if repeats {
                    g.burn(label, &results);
                }
                g.block_content(depth + 1);
            },
            |g| {
                if repeats {
                    (Op::Continue(label), g.values(&carried))
                } else {
                    (Op::Break(label), g.values(&results))
                }
            },
        );
        self.targets = outer;
        self.structure(Op::Loop(label), initial, vec![body], &results);
    }

    /// `while i < n { ...; i += 1 }` as staged.
    pub(super) fn while_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let scalar = self.random.pick(&[Scalar::Index, Scalar::I32, Scalar::U8]);
        let counter = self.builder.alloc("i", Space::Local, scalar.ty(), 1);
        let access = Access::unchecked(MemRef::Alloc(counter));
        let zero = self.index(0);
        let start = self.builder.constant(Const::int(scalar, 0));
        self.effect(Op::Store(access.clone()), [zero, start]);
        let rounds = self.random.below(5) as i128;
        let outer = self.targets.clone();
        self.targets.push(Target { label, results: vec![], carried: vec![], repeats: false });
        let body = self.block(
            &[],
            |g, _| {
                let zero = g.index(0);
                let i = g.emit(Op::Load(access.clone()), [zero], scalar.ty());
                let limit = g.builder.constant(Const::int(scalar, rounds));
                let holds = g.emit(Op::Compare(CompareOp::Lt), [i, limit], Type::BOOL);
                let done = g.emit(Op::Unary(UnaryOp::Not), [holds], Type::BOOL);
                let leave = g.block(&[], |_, _| {}, |_| (Op::Break(label), vec![]));
                let stay = g.block(&[], |_, _| {}, |_| (Op::Yield, vec![]));
                g.structure(Op::If, vec![done], vec![leave, stay], &[]);
                g.block_content(depth + 1);
                if !g.builder.is_terminated() {
                    let i = g.emit(Op::Load(access.clone()), [zero], scalar.ty());
                    let one = g.builder.constant(Const::int(scalar, 1));
                    let next = g.emit(Op::Binary(BinaryOp::Add), [i, one], scalar.ty());
                    g.effect(Op::Store(access), [zero, next]);
                    g.effect(Op::Continue(label), []);
                }
            },
            |_| (Op::Continue(label), vec![]),
        );
        self.targets = outer;
        self.structure(Op::Loop(label), vec![], vec![body], &[]);
    }

    /// Memory and the offset of an element of it.
    fn element_to_update(&mut self) -> Option<(Memory, Value)> {
        let scalar = self.scalar();
        let memory = self.memory(scalar, true)?;
        let value = self.value(Type::INDEX);
        let mask = self.index(7);
        Some((memory, self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)))
    }

    /// Operations among which an element of memory is read, written or both, more than once perhaps.
    fn updates(&mut self, memory: Memory, offset: Value, depth: usize) {
        let access = Access::unchecked(memory.mem);
        let ty = memory.elem.ty();
        for _ in 0..1 + self.random.below(2) {
            if self.random.chance(75) {
                let element = self.emit(Op::Load(access.clone()), [offset], ty);
                if self.random.chance(60) {
                    self.keep(element);
                }
            }
            for _ in 0..self.random.below(4) {
                self.arithmetic();
            }
            if self.random.chance(15) {
                self.block_content(depth + 1);
            }
            if self.builder.is_terminated() {
                return;
            }
            if self.random.chance(85) {
                let value = self.value(ty);
                self.effect(Op::Store(access.clone()), [offset, value]);
            }
        }
    }

    pub(super) fn for_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let scalar = self.random.pick(&[Scalar::Index, Scalar::Index, Scalar::I32, Scalar::I8, Scalar::U16]);
        let lo = self.random.below(4) as i128;
        let span = self.random.below(7) as i128;
        let step = self.random.pick(&[1, 1, 1, 1, 2, 3, 0]);
        let [lo, hi, step] = [lo, lo + span - 1, step].map(|v| {
            let v = if v < 0 && !scalar.is_signed_int() { 0 } else { v };
            self.builder.constant(Const::int(scalar, v))
        });
        let hi = if scalar == Scalar::Index && self.random.chance(40) {
            let value = self.value(Type::INDEX);
            let mask = self.index(3);
            self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
        } else {
            hi
        };
        let updated = if self.random.chance(40) { self.element_to_update() } else { None };
        let carried = self.types();
        let mut args = vec![lo, hi, step];
        args.extend(self.values(&carried));
        let params: Vec<_> = std::iter::once(scalar.ty()).chain(carried.iter().copied()).collect();
        let outer = self.targets.clone();
        let target = Target { label, results: carried.clone(), carried: carried.clone(), repeats: true };
        self.targets.push(target);
        let body = self.block(
            &params,
            |g, _| match updated {
                Some((memory, offset)) => g.updates(memory, offset, depth),
                None => g.block_content(depth + 1),
            },
            |g| (Op::Continue(label), g.values(&carried)),
        );
        self.targets = outer;
        self.structure(Op::For(label), args, vec![body], &carried);
    }
}
