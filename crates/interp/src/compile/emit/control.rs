//! Branches and loops: jumps to where ways join, and moves of what is handed over.

use tilewise_ir::{Block, CompareOp, Inst, Type, Value};

use super::{Emitter, LoopLabels};
use crate::code::{Instr, Loop};
use crate::column::Reg;
use crate::compile::index::{Position, yielded};
use crate::compile::uniform::{constant, is_wide};
use crate::vector::Compute;

/// A value that goes from one register to another.
#[derive(Clone, Copy)]
struct Move {
    dst: Reg,
    src: Reg,
    ty: Type,
}

impl<'k> Emitter<'_, 'k> {
    /// Registers for the results of an operation with blocks.
    fn define_needed(&mut self, values: &[Value], position: Position) {
        for &value in values {
            if self.live.is_needed(value) {
                self.define(value, position);
            }
        }
    }

    pub(super) fn select(&mut self, inst: &'k Inst, position: Position) {
        self.define_needed(&inst.results, position);
        let mut first = position + 1;
        let mut sides = Vec::new();
        for block in &inst.blocks {
            let (last, others) = block.insts.split_last().expect("a block ends with a terminator");
            for inst in others {
                self.inst(inst, first);
                first += 1;
            }
            first += 1;
            sides.push(&last.args);
        }
        let cond = self.reg(inst.args[0]);
        for (number, &result) in inst.results.iter().enumerate() {
            if self.live.is_needed(result) {
                let ty = self.ty(result);
                let op = Compute::Select(cond, true, self.reg(sides[0][number]), self.reg(sides[1][number]));
                let (dst, wide) = (self.reg(result), is_wide(ty.scalar));
                self.code.body.push(Instr::Compute { op, dst, wide, components: ty.lanes });
            }
        }
    }

    pub(super) fn branch(&mut self, inst: &'k Inst, position: Position) {
        self.define_needed(&inst.results, position);
        let needed = inst.results.iter().any(|&r| self.live.is_needed(r));
        let is_empty = |block: &Block| block.insts.len() == 1 && yielded(block).is_some() && !needed;
        let (then, otherwise) = (&inst.blocks[0], &inst.blocks[1]);
        let then_first = position + 1;
        let otherwise_first = then_first + self.count_of(then, then_first);
        let cond = self.reg(inst.args[0]);
        let end = self.label();
        self.forget_if_others_run();
        if is_empty(then) {
            self.code.body.push(Instr::Branch { cond, when: true, target: end });
            self.block(otherwise, otherwise_first);
        } else if is_empty(otherwise) {
            self.code.body.push(Instr::Branch { cond, when: false, target: end });
            self.block(then, then_first);
        } else {
            let middle = self.label();
            self.code.body.push(Instr::Branch { cond, when: false, target: middle });
            self.block(then, then_first);
            if yielded(then).is_some() {
                self.code.body.push(Instr::Jump(end));
            }
            self.bind(middle);
            self.block(otherwise, otherwise_first);
        }
        self.bind(end);
    }

    /// How many operations a block has, those inside them counted.
    fn count_of(&self, block: &Block, first: Position) -> usize {
        block.insts.iter().fold(first, |position, _| self.index.nodes[position].end + 1) - first
    }

    pub(super) fn repeat(&mut self, inst: &'k Inst, position: Position) {
        let number = self.enter(inst, position);
        let head = self.label();
        self.bind(head);
        self.block(&inst.blocks[0], position + 1);
        if !self.index.nodes[position].continues.is_empty() {
            self.next_round(position);
            self.code.body.push(Instr::Repeat { target: head, number });
        }
        let exit = self.loops[&position].exit;
        self.bind(exit);
    }

    pub(super) fn count(&mut self, inst: &'k Inst, position: Position) {
        let number = self.enter(inst, position);
        let scalar = self.ty(inst.args[0]).scalar;
        let counter = inst.blocks[0].params[0];
        let [lo, hi, step] = [0, 1, 2].map(|i| self.reg(inst.args[i]));
        let counter_reg = self.define(counter, position);
        self.copy(Move { dst: counter_reg, src: lo, ty: scalar.ty() });
        let (done, head) = (self.label(), self.label());
        if constant(self.index, inst.args[2]).and_then(|c| c.as_int()).is_none_or(|step| step <= 0) {
            self.code.body.push(Instr::CheckStep { step, scalar, target: done, span: inst.span });
        }
        let uniform = !lo.is_varying() && !hi.is_varying();
        let below =
            if uniform { self.allocator.uniform(Type::BOOL) } else { self.allocator.temporary(Type::BOOL) };
        let op = Compute::Compare(CompareOp::Lt, scalar, lo, hi);
        self.code.body.push(Instr::Compute { op, dst: below, wide: false, components: 1 });
        self.code.body.push(Instr::Branch { cond: below, when: false, target: done });
        self.allocator.release(below, Type::BOOL);
        self.bind(head);
        self.block(&inst.blocks[0], position + 1);
        if !self.index.nodes[position].continues.is_empty() {
            self.next_round(position);
            self.code.body.push(Instr::Advance {
                counter: counter_reg,
                hi,
                step,
                scalar,
                target: head,
                number,
            });
        }
        self.bind(done);
        self.moves(&inst.results, self.index.carried(position));
        let exit = self.loops[&position].exit;
        self.bind(exit);
    }

    /// Registers, labels and first carried values of a loop; gives its number.
    fn enter(&mut self, inst: &'k Inst, position: Position) -> u32 {
        self.define_needed(&inst.results, position);
        let carried = self.index.carried(position);
        self.define_needed(carried, position);
        self.moves(carried, self.index.initial(position));
        let labels = LoopLabels { next: self.label(), exit: self.label() };
        self.loops.insert(position, labels);
        self.code.loops.push(Loop { span: inst.span, waits: self.waits[position] });
        self.code.loops.len() as u32 - 1
    }

    /// The end of a round of a loop, where all who go on meet.
    fn next_round(&mut self, position: Position) {
        let next = self.loops[&position].next;
        self.bind(next);
        if self.index.moves_at_end(position) {
            let site = self.index.nodes[position].continues[0];
            self.moves(self.index.carried(position), &self.index.inst(site).args);
        }
    }

    // ---- moves ----

    /// Hands over values, all at the same time, to those that are needed.
    pub(super) fn moves(&mut self, to: &[Value], from: &[Value]) {
        let needed = to.iter().zip(from).filter(|&(&to, _)| self.live.is_needed(to));
        let mut left: Vec<Move> = needed
            .map(|(&to, &from)| Move { dst: self.reg(to), src: self.reg(from), ty: self.ty(to) })
            .filter(|m| m.dst != m.src)
            .collect();
        let mut temporaries = Vec::new();
        while !left.is_empty() {
            let reads = |m: &Move, dst: Reg, wide: bool| m.src == dst && is_wide(m.ty.scalar) == wide;
            let ready = left.iter().position(|m| {
                let wide = is_wide(m.ty.scalar);
                !left.iter().any(|other| reads(other, m.dst, wide))
            });
            let next = left.swap_remove(ready.unwrap_or(0));
            if ready.is_none() {
                // All wait for each other: what the next one overwrites is kept elsewhere.
                let kept = if next.dst.is_varying() {
                    self.allocator.temporary(next.ty)
                } else {
                    self.allocator.uniform(next.ty)
                };
                temporaries.push((kept, next.ty));
                self.copy(Move { dst: kept, src: next.dst, ty: next.ty });
                for other in &mut left {
                    if reads(other, next.dst, is_wide(next.ty.scalar)) {
                        other.src = kept;
                    }
                }
            }
            self.copy(next);
        }
        for (reg, ty) in temporaries {
            self.allocator.release(reg, ty);
        }
    }

    fn copy(&mut self, Move { dst, src, ty }: Move) {
        let (wide, components) = (is_wide(ty.scalar), ty.lanes);
        self.code.body.push(Instr::Copy { dst, src, wide, to: 0, from: 0, components, broadcast: false });
    }
}
