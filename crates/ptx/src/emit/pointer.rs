//! Addresses that go through global memory with the counter of a loop: a register that is moved on each round takes the
//! place of a multiplication in each round.
//!
//! An offset `a + b * counter` is in memory at the address `base + size * (a + b * counter)`, and from round to round that
//! grows by `size * b * step`. All of it is computed modulo 2^64, as the offsets of the IR are, from values whose 64 bits
//! are known: those in wide registers, and narrow ones that are known to be below 2^32. So the address is exact wherever
//! the offset is in bounds.

use tilewise_ir::{BinaryOp, Block, Inst, MemRef, Op, ParamId, Value};

use super::code::{Class, Operand, Reg};
use super::{Emitter, asm};

/// How many addresses a loop moves at most. Each takes two registers all the time, and a loop with more of them has more
/// to do than to compute addresses.
const MOST: usize = 2;

/// How many operations deep an offset is taken apart.
const DEPTH: usize = 8;

/// An address that a loop moves.
pub(super) struct Pointer {
    param: ParamId,
    offset: Value,
    reg: Reg,
    /// Bytes from one round to the next.
    step: Operand,
}

/// The counter of a loop, with its first value.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    pub(super) value: Value,
    pub(super) first: Operand,
    /// Whether the first value is known in all 64 bits.
    pub(super) is_exact: bool,
    pub(super) step: Operand,
}

impl Emitter<'_> {
    /// Sets up the addresses that a loop is to move, before its first round.
    pub(super) fn start_pointers(&mut self, block: &Block, counter: Counter) -> Vec<Pointer> {
        let mut moving = Vec::new();
        self.find_moving(block, counter, &mut moving);
        if moving.len() > MOST {
            return Vec::new();
        }
        moving
            .into_iter()
            .map(|(param, offset, size)| self.start_pointer(param, offset, size, counter))
            .collect()
    }

    /// Moves the addresses on to the next round.
    pub(super) fn advance_pointers(&mut self, pointers: &[Pointer]) {
        for Pointer { reg, step, .. } in pointers {
            asm!(self, "add.s64 {reg}, {reg}, {step}");
        }
    }

    /// The register that has the address of an offset in this round, if a loop around moves one.
    pub(super) fn pointer(&self, param: ParamId, offset: Value) -> Option<Reg> {
        let found =
            self.pointers.iter().rev().find(|pointer| pointer.param == param && pointer.offset == offset);
        found.map(|pointer| pointer.reg)
    }

    /// Finds the accesses of a round whose offset depends on the counter and on nothing else that changes. What stands in an
    /// inner loop is left to that loop.
    fn find_moving(&self, block: &Block, counter: Counter, moving: &mut Vec<(ParamId, Value, u64)>) {
        for inst in &block.insts {
            if inst.op == Op::If {
                inst.blocks.iter().for_each(|inner| self.find_moving(inner, counter, moving));
            }
            let Some(MemRef::Param(param)) = inst.op.access().map(|access| access.mem) else { continue };
            let Some(elem) = self.kernel.mem_elem(MemRef::Param(param)) else { continue };
            let offset = inst.args[0];
            let is_known = moving.iter().any(|&(other, at, _)| (other, at) == (param, offset));
            if !is_known && self.depends(offset, counter, DEPTH) == Some(true) {
                moving.push((param, offset, elem.size() as u64));
            }
        }
    }

    /// Whether a value is a sum `a + b * counter` with a `b` that is not 0; `None` if it is none, or not known in all bits.
    fn depends(&self, value: Value, counter: Counter, depth: usize) -> Option<bool> {
        if value == counter.value {
            return counter.is_exact.then_some(true);
        }
        if self.is_there(value) {
            return self.is_exact(value).then_some(false);
        }
        let (inst, depth) = (self.plan.inst(value)?, depth.checked_sub(1)?);
        let [a, b] = inst.args[..] else { return None };
        let (a, b) = (self.depends(a, counter, depth)?, self.depends(b, counter, depth)?);
        match inst.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub) => Some(a || b),
            Op::Binary(BinaryOp::Mul) if !(a && b) => Some(a || b),
            Op::Binary(BinaryOp::Shl) if self.plan.constant(inst.args[1]).is_some() => Some(a),
            _ => None,
        }
    }

    /// Whether a value was computed before the loop.
    fn is_there(&self, value: Value) -> bool {
        !self.lanes(value).is_empty()
    }

    /// Whether all 64 bits of a value are known.
    pub(super) fn is_exact(&self, value: Value) -> bool {
        let is_narrow = |operand: &Operand| matches!(operand, Operand::Reg(reg) if reg.class == Class::B32);
        !self.lanes(value).iter().any(is_narrow)
            || self.facts.fits.get(value.0 as usize).copied().unwrap_or(false)
    }

    fn start_pointer(&mut self, param: ParamId, offset: Value, size: u64, counter: Counter) -> Pointer {
        let base = self.data(param);
        let first = self.first(offset, counter);
        let bytes = self.product(first, Operand::u64(size));
        let reg = self.reg(Class::B64);
        asm!(self, "add.s64 {reg}, {base}, {bytes}");
        let slope = self.slope(offset, counter).unwrap_or(Operand::u64(0));
        let step = self.wide_of(counter.step);
        let step = self.product(slope, step);
        let step = self.product(step, Operand::u64(size));
        Pointer { param, offset, reg, step }
    }

    /// What a value is in the first round.
    fn first(&mut self, value: Value, counter: Counter) -> Operand {
        if value == counter.value {
            return self.wide_of(counter.first);
        }
        match self.plan.inst(value) {
            Some(inst) if !self.is_there(value) => {
                let (a, b) = (self.first(inst.args[0], counter), self.first(inst.args[1], counter));
                self.computed(inst, a, b)
            }
            _ => self.wide(value, 0),
        }
    }

    /// By how much a value grows with the counter; `None` if it does not.
    fn slope(&mut self, value: Value, counter: Counter) -> Option<Operand> {
        if value == counter.value {
            return Some(Operand::u64(1));
        }
        if self.is_there(value) {
            return None;
        }
        let inst = self.plan.inst(value)?;
        let (x, y) = (inst.args[0], inst.args[1]);
        let (a, b) = (self.slope(x, counter), self.slope(y, counter));
        match inst.op {
            Op::Binary(BinaryOp::Mul) => {
                let (slope, other) = if a.is_some() { (a?, y) } else { (b?, x) };
                let other = self.first(other, counter);
                Some(self.product(slope, other))
            }
            Op::Binary(BinaryOp::Shl) => {
                let factor = 1u64.wrapping_shl(self.plan.constant(y)? as u32);
                Some(self.product(a?, Operand::u64(factor)))
            }
            _ => {
                let zero = Operand::u64(0);
                Some(self.computed(inst, a.unwrap_or(zero), b.unwrap_or(zero)))
            }
        }
    }

    /// The operation of `inst`, one of those that [`depends`](Emitter::depends) takes apart, in 64 bits.
    fn computed(&mut self, inst: &Inst, a: Operand, b: Operand) -> Operand {
        match inst.op {
            Op::Binary(BinaryOp::Mul) => self.product(a, b),
            Op::Binary(BinaryOp::Shl) => {
                let factor = b.constant().map_or(1, |count| 1u64.wrapping_shl(count.bits as u32));
                self.product(a, Operand::u64(factor))
            }
            Op::Binary(BinaryOp::Sub) => self.wide_op("sub.s64", a, b, u64::wrapping_sub),
            _ => self.wide_op("add.s64", a, b, u64::wrapping_add),
        }
    }

    fn product(&mut self, a: Operand, b: Operand) -> Operand {
        match (a.constant(), b.constant()) {
            (Some(one), _) if one.bits == 1 => b,
            (_, Some(one)) if one.bits == 1 => a,
            _ => self.wide_op("mul.lo.s64", a, b, u64::wrapping_mul),
        }
    }

    fn wide_op(&mut self, op: &str, a: Operand, b: Operand, fold: fn(u64, u64) -> u64) -> Operand {
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return Operand::u64(fold(a.bits, b.bits));
        }
        let result = self.reg(Class::B64);
        asm!(self, "{op} {result}, {a}, {b}");
        result.into()
    }
}
