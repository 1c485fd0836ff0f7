//! Single elements in memory: where they are, and how their values are read and written.

use super::Emitter;
use super::cast::Kind;
use super::code::Expr;
use crate::module::Arg;
use crate::plan::{Form, Memory, Register};
use naga::{AtomicFunction, BinaryOperator as Operator, VectorSize};
use tilewise_ir::{MemRef, Scalar};

/// Memory that is accessed, and the type of a lane of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) memory: Memory,
    pub(super) pointer: Expr,
    pub(super) elem: Scalar,
}

/// The vector that so many places are, if there is more than one.
pub(super) fn vector_size(places: u8) -> Option<VectorSize> {
    match places {
        2 => Some(VectorSize::Bi),
        4 => Some(VectorSize::Quad),
        _ => None,
    }
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
        let Some(size) = vector_size(target.memory.group) else { return self.code.place(target.pointer, at) };
        let vector = self.vector_of(at, size);
        let component = match self.code.literal_u32(at) {
            Some(number) => self.code.u32(number % size as u32),
            None => {
                let mask = self.code.u32(size as u32 - 1);
                self.code.binary(Operator::And, at, mask)
            }
        };
        let vector = self.code.place(target.pointer, vector);
        self.code.place(vector, component)
    }

    /// Number of the vector in which a place is.
    fn vector_of(&mut self, at: Expr, size: VectorSize) -> Expr {
        if let Some(number) = self.code.literal_u32(at) {
            return self.code.u32(number / size as u32);
        }
        let shift = self.code.u32((size as u32).trailing_zeros());
        self.code.binary(Operator::ShiftRight, at, shift)
    }

    /// Whether places from one whose number is a multiple of `together` on are whole vectors.
    fn whole_vectors(target: Target, together: usize, places: usize) -> Option<VectorSize> {
        let size = vector_size(target.memory.group)?;
        (together >= size as usize && places.is_multiple_of(size as usize)).then_some(size)
    }

    /// Reads places, the number of the first of which is a multiple of `together`, as they are in memory.
    fn read_places(&mut self, target: Target, first: Expr, together: usize, places: usize) -> Vec<Expr> {
        let Some(size) = Self::whole_vectors(target, together, places) else {
            let read = |n| {
                let at = self.after(first, n);
                let pointer = self.pointer(target, at);
                self.code.load(pointer)
            };
            return (0..places).map(read).collect();
        };
        let first = self.vector_of(first, size);
        let mut read = Vec::with_capacity(places);
        for n in 0..places / size as usize {
            let at = self.after(first, n);
            let pointer = self.code.place(target.pointer, at);
            let vector = self.code.load(pointer);
            read.extend((0..size as u32).map(|component| self.code.part(vector, component)));
        }
        read
    }

    /// Writes places, likewise.
    fn write_places(&mut self, target: Target, first: Expr, together: usize, values: &[Expr]) {
        let Some(size) = Self::whole_vectors(target, together, values.len()) else {
            for (n, &value) in values.iter().enumerate() {
                let at = self.after(first, n);
                let pointer = self.pointer(target, at);
                self.code.store(pointer, value);
            }
            return;
        };
        let first = self.vector_of(first, size);
        for (n, values) in values.chunks(size as usize).enumerate() {
            let vector = self.code.vector(target.memory.form.place(), size, values.to_vec());
            let at = self.after(first, n);
            let pointer = self.code.place(target.pointer, at);
            self.code.store(pointer, vector);
        }
    }

    /// Reads elements, the number of the first of which is a multiple of `together`.
    pub(super) fn read_run(
        &mut self,
        target: Target,
        first: Expr,
        together: usize,
        register: Register,
        lanes: usize,
    ) -> Vec<Expr> {
        match target.memory.form {
            Form::Plain(place) if !target.memory.atomic => self
                .read_places(target, first, together, lanes)
                .into_iter()
                .map(|value| self.value_of_place(target, value, place, register))
                .collect(),
            Form::Packed(width) if Self::whole_words(width, together, lanes) => {
                self.read_words(target, first, width, together, lanes)
            }
            Form::Packed(_) | Form::Plain(_) | Form::Bits(_) | Form::Halves => {
                let read = |lane| {
                    let at = self.after(first, lane);
                    self.read(target, at, register)
                };
                (0..lanes).map(read).collect()
            }
        }
    }

    /// Writes elements, likewise.
    pub(super) fn write_run(
        &mut self,
        target: Target,
        first: Expr,
        together: usize,
        values: &[Expr],
        register: Register,
    ) {
        match target.memory.form {
            Form::Plain(place) if !target.memory.atomic => {
                let bits = |&value| self.place_of_value(target, value, register, place);
                let values: Vec<_> = values.iter().map(bits).collect();
                self.write_places(target, first, together, &values);
            }
            Form::Packed(width) if Self::whole_words(width, together, values.len()) => {
                self.write_words(target, first, width, values);
            }
            Form::Packed(_) | Form::Plain(_) | Form::Bits(_) | Form::Halves => {
                for (lane, &value) in values.iter().enumerate() {
                    let at = self.after(first, lane);
                    self.write(target, at, value, register);
                }
            }
        }
    }

    /// Whether packed elements fill whole words.
    fn whole_words(width: u32, together: usize, lanes: usize) -> bool {
        let in_word = (32 / width) as usize;
        together >= in_word && lanes.is_multiple_of(in_word)
    }

    /// The value that is in a place.
    fn value_of_place(&mut self, target: Target, value: Expr, place: Register, register: Register) -> Expr {
        match target.elem {
            Scalar::Bool => {
                let zero = self.code.zero(place);
                self.code.binary(Operator::NotEqual, value, zero)
            }
            Scalar::Index => self.fit(value, place, register),
            _ => value,
        }
    }

    /// What a place holds for a value.
    fn place_of_value(&mut self, target: Target, value: Expr, register: Register, place: Register) -> Expr {
        match target.elem {
            Scalar::Bool => self.code.bits(Kind { scalar: Scalar::Bool, register }, value),
            Scalar::Index => self.fit(value, register, place),
            _ => value,
        }
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
                self.value_of_place(target, value, place, register)
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
                let value = self.place_of_value(target, value, register, place);
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
        (self.pointer(target, word), shift)
    }

    fn half_place(&mut self, target: Target, at: Expr, half: u32) -> Expr {
        let (one, half) = (self.code.u32(1), self.code.u32(half));
        let first = self.code.binary(Operator::ShiftLeft, at, one);
        let index = self.code.binary(Operator::Add, first, half);
        self.code.place(target.pointer, index)
    }

    /// Reads elements that fill whole words, the first of which begins one.
    fn read_words(
        &mut self,
        target: Target,
        first: Expr,
        width: u32,
        together: usize,
        lanes: usize,
    ) -> Vec<Expr> {
        let in_word = 32 / width as usize;
        let shift = self.code.u32(in_word.trailing_zeros());
        let first = self.code.binary(Operator::ShiftRight, first, shift);
        let mut values = Vec::new();
        for word in self.read_places(target, first, together / in_word, lanes / in_word) {
            for lane in 0..in_word as u32 {
                let shift = self.code.u32(lane * width);
                let bits = self.code.binary(Operator::ShiftRight, word, shift);
                values.push(self.code.value_of_bits(self.bits_kind(target), bits));
            }
        }
        values
    }

    /// Writes elements that fill whole words, the first of which begins one.
    fn write_words(&mut self, target: Target, first: Expr, width: u32, values: &[Expr]) {
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
