//! Addresses: where in which memory an access is, with as much as possible in the displacement of the instruction.
//!
//! An offset is taken apart into a sum of values times constants, and a constant. Accesses that differ in the
//! constant alone share the register of the sum. In shared and local memory that is always right, because addresses
//! there are computed modulo 2^32, and so it is with terms of which all 64 bits are known. With other narrow offsets in
//! global memory it is right only where no sum wraps, which has to be known.

use std::fmt;

use smallvec::SmallVec;
use tilewise_ir::{BinaryOp, Block, MemRef, Scalar, Space, Value};

use super::code::{Class, Operand, Reg};
use super::memo::Key;
use super::{Emitter, asm};
use crate::plan::Sum;

/// An address: in a register or of a variable, and bytes to add.
#[derive(Clone, Debug)]
pub(super) struct Address {
    base: String,
    bytes: i64,
    /// The register of the whole, without the bytes to add, if there is one.
    reg: Option<Reg>,
    pub(super) space: &'static str,
}

impl Address {
    /// As many bytes further.
    pub(super) fn plus(&self, bytes: usize) -> Address {
        Address { bytes: self.bytes + bytes as i64, ..self.clone() }
    }

    /// A power of two that divides it, at least 1: of a place in a variable it is known.
    pub(super) fn known_alignment(&self) -> usize {
        match self.reg {
            Some(_) => 1,
            None => 1 << self.bytes.trailing_zeros().min(4),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            0 => write!(f, "[{}]", self.base),
            bytes => write!(f, "[{}+{bytes}]", self.base),
        }
    }
}

impl Emitter<'_> {
    /// Computes the addresses in memory of the kernel's own that a loop uses and that are the same in every round, before
    /// the loop and its parameters. The assembler does not move them: where a block's shared memory starts is not a constant to it.
    pub(super) fn hoist_addresses(&mut self, block: &Block) {
        for inst in &block.insts {
            inst.blocks.iter().for_each(|inner| self.hoist_addresses(inner));
            let Some(access) = inst.op.access() else { continue };
            let (MemRef::Alloc(_), Some(elem)) = (access.mem, self.kernel.mem_elem(access.mem)) else {
                continue;
            };
            let is_there = |&(term, _): &(Value, u64)| !self.lanes(term).is_empty();
            if self.plan.sum(inst.args[0]).terms.iter().all(is_there) {
                self.address(access.mem, inst.args[0], elem.size());
            }
        }
    }

    /// The address of element `offset`, whose elements have `size` bytes.
    pub(super) fn address(&mut self, mem: MemRef, offset: Value, size: usize) -> Address {
        match mem {
            MemRef::Param(param) => {
                if let Some(reg) = self.pointer(param, offset) {
                    return Address { base: reg.to_string(), bytes: 0, reg: Some(reg), space: "global" };
                }
                let base = self.data(param);
                self.global_address(mem, base, offset, size as u64)
            }
            MemRef::Alloc(alloc) => {
                let space = match self.kernel.allocs[alloc.0 as usize].space {
                    Space::Shared => "shared",
                    Space::Local => "local",
                };
                let (symbol, start, bytes) = self.memory.place(alloc);
                self.own_address(mem, space, symbol, start, bytes, offset, size as u64)
            }
        }
    }

    // ---- global memory ----

    fn global_address(&mut self, mem: MemRef, base: Reg, offset: Value, size: u64) -> Address {
        let mut sum = self.plan.sum(offset);
        let narrow = self.lanes(offset).first().is_none_or(|lane| lane.is_narrow()) || self.is_narrow(offset);
        let exact = self.plan.bound(offset).is_some_and(|bound| bound <= u32::MAX.into());
        let constant = (sum.constant as i64).checked_mul(size as i64).filter(|&c| i32::try_from(c).is_ok());
        let is_split = sum.terms.len() != 1 || sum.constant != 0;
        // Modulo 2^64 a sum is right if its terms are.
        let wide = !narrow || is_split && !exact && sum.terms.iter().all(|&(term, _)| self.is_exact(term));
        if is_split && (constant.is_none() || !wide && !exact) {
            sum = Sum::of(offset);
        }
        let bytes = (sum.constant as i64).wrapping_mul(size as i64);
        let reg = if sum.terms.is_empty() {
            base
        } else {
            let key = Key::Address(mem, sum.scaled_terms(size));
            self.remembered(key, |emitter| match wide {
                true => emitter.wide_sum(base, &sum, size),
                false => emitter.narrow_sum(base, &sum, size),
            })
        };
        Address { base: reg.to_string(), bytes, reg: Some(reg), space: "global" }
    }

    /// `base` plus a sum that needs 32 bits, times `size`.
    fn narrow_sum(&mut self, base: Reg, sum: &Sum, size: u64) -> Reg {
        let (first, by) = sum.terms[0];
        let first = self.low(first, 0);
        let mut factor = size;
        let index = if sum.terms.len() == 1 && u32::try_from(by * size).is_ok() {
            factor = by * size;
            first
        } else {
            let mut total = self.times(first, by);
            for &(value, by) in &sum.terms[1..] {
                let (value, next) = (self.low(value, 0), self.reg(Class::B32));
                asm!(self, "mad.lo.u32 {next}, {value}, {}, {total}", Operand::u32(by as u32));
                total = next.into();
            }
            total
        };
        self.plus_wide(base, index, factor)
    }

    /// `base` plus 32 bits times a factor. Of these two instructions the assembler makes one; of the one that PTX has
    /// for both it makes two.
    fn plus_wide(&mut self, base: Reg, index: Operand, factor: u64) -> Reg {
        let (index, bytes, result) = (self.in_register(index), self.reg(Class::B64), self.reg(Class::B64));
        asm!(self, "mul.wide.u32 {bytes}, {index}, {factor}");
        asm!(self, "add.s64 {result}, {base}, {bytes}");
        result
    }

    fn times(&mut self, value: Operand, by: u64) -> Operand {
        if by == 1 {
            return value;
        }
        self.integer_binary(BinaryOp::Mul, Scalar::U32, value, Operand::u32(by as u32))
    }

    /// `base` plus a sum of 64 bits, times `size`.
    fn wide_sum(&mut self, base: Reg, sum: &Sum, size: u64) -> Reg {
        let mut total = base;
        for &(value, by) in &sum.terms {
            let by = by.wrapping_mul(size);
            let operand = self.operand(value, 0);
            if operand.is_narrow() && u32::try_from(by).is_ok() {
                let low = self.low_of(operand);
                total = self.plus_wide(total, low, by);
                continue;
            }
            let (wide, bytes, next) = (self.wide_of(operand), self.reg(Class::B64), self.reg(Class::B64));
            match by.is_power_of_two() {
                true => asm!(self, "shl.b64 {bytes}, {wide}, {}", by.trailing_zeros()),
                false => asm!(self, "mul.lo.s64 {bytes}, {wide}, {}", Operand::u64(by)),
            }
            asm!(self, "add.s64 {next}, {total}, {bytes}");
            total = next;
        }
        total
    }

    // ---- shared and local memory ----

    #[expect(
        clippy::too_many_arguments,
        reason = "they are what a variable is, and what is looked for in it"
    )]
    fn own_address(
        &mut self,
        mem: MemRef,
        space: &'static str,
        symbol: String,
        start: u64,
        len: u64,
        offset: Value,
        size: u64,
    ) -> Address {
        let sum = self.plan.sum(offset);
        let bytes = start.wrapping_add(sum.constant.wrapping_mul(size)) as u32 as i32;
        if sum.terms.is_empty() && (start as i64..(start + len) as i64).contains(&bytes.into()) {
            return Address { base: symbol, bytes: bytes.into(), reg: None, space };
        }
        let key = Key::Address(mem, sum.scaled_terms(size));
        let reg = self.remembered(key, |emitter| {
            let mut total = emitter.remembered(Key::Address(mem, SmallVec::new()), |emitter| {
                let reg = emitter.reg(Class::B32);
                asm!(emitter, "mov.u32 {reg}, {symbol}");
                reg
            });
            for &(value, by) in &sum.terms {
                let (value, next) = (emitter.low(value, 0), emitter.reg(Class::B32));
                let by = Operand::u32(by.wrapping_mul(size) as u32);
                asm!(emitter, "mad.lo.u32 {next}, {value}, {by}, {total}");
                total = next;
            }
            total
        });
        Address { base: reg.to_string(), bytes: bytes.into(), reg: Some(reg), space }
    }

    /// Whether an address is a multiple of `align`, a power of two.
    pub(super) fn is_aligned(&mut self, address: &Address, align: usize) -> Reg {
        let mask = align as i64 - 1;
        let reg = address.reg.unwrap_or_else(|| {
            let reg = self.reg(Class::B32);
            asm!(self, "mov.u32 {reg}, {}", address.base);
            reg
        });
        let bits = reg.class.ty();
        let (rest, aligned) = (self.reg(reg.class), self.reg(Class::Pred));
        let moved = if address.bytes & mask == 0 {
            reg
        } else {
            let moved = self.reg(reg.class);
            asm!(self, "add.s{} {moved}, {reg}, {}", bits.trim_start_matches('b'), address.bytes & mask);
            moved
        };
        asm!(self, "and.{bits} {rest}, {moved}, {mask}");
        asm!(self, "setp.eq.{bits} {aligned}, {rest}, 0");
        aligned
    }
}
