//! Single elements in memory: where they are, and how their values are read and written.

use super::Emitter;
use super::cast::Kind;
use super::code::Expr;
use crate::module::Arg;
use crate::plan::{Form, Memory, Register};
use naga::{AtomicFunction, BinaryOperator as Operator};
use tilewise_ir::{MemRef, Scalar};

/// Memory that is accessed, and the type of a lane of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) memory: Memory,
    pub(super) pointer: Expr,
    pub(super) elem: Scalar,
}

impl Emitter<'_> {
    pub(super) fn target(&self, mem: MemRef) -> Target {
        let (memory, pointer) = self.memories[&mem];
        let elem = self.plan.kernel.mem_elem(mem).map_or(Scalar::U32, |ty| ty.scalar);
        Target { memory, pointer, elem }
    }

    /// Number of the place of the first lane: `offset` has 32 bits, since whatever is inside of memory has.
    pub(super) fn first_place(&mut self, mem: MemRef, offset: Expr) -> Expr {
        match mem {
            MemRef::Param(param) => {
                let (start, _) = self.arg(Arg::Start(param));
                self.code.binary(Operator::Add, offset, start)
            }
            MemRef::Alloc(alloc) => match self.plan.kernel.allocs[alloc.0 as usize].elem.lanes {
                1 => offset,
                lanes => {
                    let number = self.code.literal_u32(offset);
                    if let Some(first) = number.and_then(|number| number.checked_mul(lanes.into())) {
                        return self.code.u32(first);
                    }
                    let lanes = self.code.u32(lanes.into());
                    self.code.binary(Operator::Multiply, offset, lanes)
                }
            },
        }
    }

    /// The place `lane` places after.
    pub(super) fn after(&mut self, first: Expr, lane: usize) -> Expr {
        if lane == 0 {
            return first;
        }
        if let Some(sum) = self.code.literal_u32(first).and_then(|first| first.checked_add(lane as u32)) {
            return self.code.u32(sum);
        }
        let lane = self.code.u32(lane as u32);
        self.code.binary(Operator::Add, first, lane)
    }

    /// Pointer to a place. A constant outside an array of the kernel is an error of shader languages, also where the bounds
    /// of an access keep it from being reached; so it is made no constant.
    pub(super) fn pointer(&mut self, target: Target, at: Expr) -> Expr {
        let at = match (self.code.literal_u32(at), target.memory.space) {
            (Some(number), Some(_)) if u64::from(number) >= target.memory.places => {
                self.code.opaque_u32(number)
            }
            _ => at,
        };
        self.code.place(target.pointer, at)
    }

    /// The bits of a place of memory whose type is not that of its values.
    pub(super) fn bits_kind(&self, target: Target) -> Kind {
        Kind { scalar: target.elem, register: self.plan.register_of(target.elem, false) }
    }

    /// Reads an element into a register.
    pub(super) fn read(&mut self, target: Target, at: Expr, register: Register) -> Expr {
        match target.memory.form {
            Form::Plain(place) => {
                let pointer = self.pointer(target, at);
                let value = self.code.load(pointer);
                match target.elem {
                    Scalar::Bool => {
                        let zero = self.code.zero(place);
                        self.code.binary(Operator::NotEqual, value, zero)
                    }
                    Scalar::Index => self.fit(value, place, register),
                    _ => value,
                }
            }
            Form::Bits(_) => {
                let pointer = self.pointer(target, at);
                let bits = self.code.load(pointer);
                self.code.value_of_bits(self.bits_kind(target), bits)
            }
            Form::Packed(width) => {
                let (pointer, shift) = self.packed_place(target, at, width);
                let word = self.code.load(pointer);
                let bits = self.code.binary(Operator::ShiftRight, word, shift);
                self.code.value_of_bits(self.bits_kind(target), bits)
            }
            // Only indices of 32 bits are there, where this form is.
            Form::Halves => {
                let low = self.half_place(target, at, 0);
                self.code.load(low)
            }
        }
    }

    /// Writes an element that is in a register.
    pub(super) fn write(&mut self, target: Target, at: Expr, value: Expr, register: Register) {
        match target.memory.form {
            Form::Plain(place) => {
                let value = match target.elem {
                    Scalar::Bool => self.code.bits(Kind { scalar: Scalar::Bool, register }, value),
                    Scalar::Index => self.fit(value, register, place),
                    _ => value,
                };
                let pointer = self.pointer(target, at);
                self.code.store(pointer, value);
            }
            Form::Bits(_) => {
                let bits = self.code.bits(self.bits_kind(target), value);
                let pointer = self.pointer(target, at);
                self.code.store(pointer, bits);
            }
            Form::Packed(width) => {
                // Other threads may write the rest of the word meanwhile.
                let bits = self.code.bits(self.bits_kind(target), value);
                let (pointer, shift) = self.packed_place(target, at, width);
                let ones = self.code.u32((1 << width) - 1);
                let own = self.code.binary(Operator::ShiftLeft, ones, shift);
                let others = self.code.unary(naga::UnaryOperator::BitwiseNot, own);
                let bits = self.code.binary(Operator::ShiftLeft, bits, shift);
                self.code.atomic_effect(pointer, AtomicFunction::And, others);
                self.code.atomic_effect(pointer, AtomicFunction::InclusiveOr, bits);
            }
            Form::Halves => {
                let zero = self.code.u32(0);
                let low = self.half_place(target, at, 0);
                let high = self.half_place(target, at, 1);
                self.code.store(low, value);
                self.code.store(high, zero);
            }
        }
    }

    /// Pointer to the word that holds an element, and the number of its lowest bit in it.
    fn packed_place(&mut self, target: Target, at: Expr, width: u32) -> (Expr, Expr) {
        let [in_word, mask, width] =
            [(32 / width).trailing_zeros(), 32 / width - 1, width].map(|number| self.code.u32(number));
        let word = self.code.binary(Operator::ShiftRight, at, in_word);
        let number = self.code.binary(Operator::And, at, mask);
        let shift = self.code.binary(Operator::Multiply, number, width);
        (self.code.place(target.pointer, word), shift)
    }

    fn half_place(&mut self, target: Target, at: Expr, half: u32) -> Expr {
        let (one, half) = (self.code.u32(1), self.code.u32(half));
        let first = self.code.binary(Operator::ShiftLeft, at, one);
        let index = self.code.binary(Operator::Add, first, half);
        self.code.place(target.pointer, index)
    }

    /// Reads elements that fill whole words, the first of which begins one.
    pub(super) fn read_words(&mut self, target: Target, first: Expr, width: u32, lanes: usize) -> Vec<Expr> {
        let in_word = 32 / width as usize;
        let shift = self.code.u32(in_word.trailing_zeros());
        let first = self.code.binary(Operator::ShiftRight, first, shift);
        let mut values = Vec::new();
        for word in 0..lanes / in_word {
            let at = self.after(first, word);
            let pointer = self.pointer(target, at);
            let word = self.code.load(pointer);
            for lane in 0..in_word as u32 {
                let shift = self.code.u32(lane * width);
                let bits = self.code.binary(Operator::ShiftRight, word, shift);
                values.push(self.code.value_of_bits(self.bits_kind(target), bits));
            }
        }
        values
    }

    /// Writes elements that fill whole words, the first of which begins one.
    pub(super) fn write_words(&mut self, target: Target, first: Expr, width: u32, values: &[Expr]) {
        let in_word = 32 / width as usize;
        let shift = self.code.u32(in_word.trailing_zeros());
        let first = self.code.binary(Operator::ShiftRight, first, shift);
        for (n, values) in values.chunks(in_word).enumerate() {
            let mut word = None;
            for (lane, &value) in values.iter().enumerate() {
                let bits = self.code.bits(self.bits_kind(target), value);
                let shift = self.code.u32(lane as u32 * width);
                let bits = self.code.binary(Operator::ShiftLeft, bits, shift);
                word = Some(word.map_or(bits, |word| self.code.binary(Operator::InclusiveOr, word, bits)));
            }
            let at = self.after(first, n);
            let pointer = self.pointer(target, at);
            if let Some(word) = word {
                self.code.store(pointer, word);
            }
        }
    }
}
