//! Loads and stores of consecutive elements, in pieces as large as the alignment allows.

use tilewise_ir::Scalar;

use super::address::Address;
use super::code::{Class, Operand, Reg};
use super::input::memory_type;
use super::{Emitter, asm, guarded};

/// Most bytes of one instruction.
pub(super) const MAX_BYTES: usize = 16;

/// How many of `left` elements of `size` bytes, at `position`, are accessed at once if the first of all is aligned to
/// `align` bytes.
fn piece(position: usize, left: usize, size: usize, align: usize) -> usize {
    let fits = |lanes: usize| {
        let bytes = lanes * size;
        lanes <= left && bytes <= align.min(MAX_BYTES) && (position * size).is_multiple_of(bytes)
    };
    [16, 8, 4, 2].into_iter().find(|&lanes| fits(lanes)).unwrap_or(1)
}

impl Emitter<'_> {
    /// Loads into registers. `space` may have qualifiers.
    pub(super) fn load(&mut self, space: &str, at: &Address, scalar: Scalar, to: &[Reg], align: usize) {
        let size = scalar.size();
        let mut position = 0;
        while position < to.len() {
            let lanes = piece(position, to.len() - position, size, align);
            let (at, to) = (at.plus(position * size), &to[position..][..lanes]);
            match (lanes, size) {
                (1, _) => self.load_one(space, &at, scalar, to[0]),
                (_, 4..) => {
                    let ty = memory_type(scalar);
                    asm!(self, "ld.{space}.v{lanes}.{ty} {{{}}}, {at}", list(to));
                }
                _ => self.load_packed(space, &at, scalar, to),
            }
            position += lanes;
        }
    }

    fn load_one(&mut self, space: &str, at: &Address, scalar: Scalar, to: Reg) {
        let ty = memory_type(scalar);
        if scalar == Scalar::Bool {
            let byte = self.reg(Class::B32);
            // Nothing is loaded where a predicate says so.
            if self.guard.is_some() {
                self.set(byte, Operand::u32(0));
            }
            guarded!(self, "ld.{space}.u8 {byte}, {at}");
            asm!(self, "setp.ne.u32 {to}, {byte}, 0");
        } else {
            guarded!(self, "ld.{space}.{ty} {to}, {at}");
        }
    }

    /// Loads elements of less than 4 bytes as words.
    fn load_packed(&mut self, space: &str, at: &Address, scalar: Scalar, to: &[Reg]) {
        let bytes = to.len() * scalar.size();
        let words: Vec<_> = (0..bytes.div_ceil(4)).map(|_| self.reg(Class::B32)).collect();
        match words.len() {
            1 => asm!(self, "ld.{space}.b{} {}, {at}", 8 * bytes, words[0]),
            n => asm!(self, "ld.{space}.v{n}.b32 {{{}}}, {at}", list(&words)),
        }
        for (word, to) in words.into_iter().zip(to.chunks(4 / scalar.size())) {
            self.unpack(word, scalar, to);
        }
    }

    fn unpack(&mut self, word: Reg, scalar: Scalar, to: &[Reg]) {
        if let (Scalar::F16 | Scalar::BF16, [low, high]) = (scalar, to) {
            asm!(self, "mov.b32 {{{low}, {high}}}, {word}");
            return;
        }
        let (bits, sign) = (8 * scalar.size(), if scalar.is_signed_int() { "s" } else { "u" });
        for (n, &to) in to.iter().enumerate() {
            let field = if scalar == Scalar::Bool { self.reg(Class::B32) } else { to };
            asm!(self, "bfe.{sign}32 {field}, {word}, {}, {bits}", n * bits);
            if scalar == Scalar::Bool {
                asm!(self, "setp.ne.u32 {to}, {field}, 0");
            }
        }
    }

    /// Stores what [`Emitter::stored`] has made of values.
    pub(super) fn store(&mut self, at: &Address, scalar: Scalar, from: &[Reg], align: usize) {
        let (size, space) = (scalar.size(), at.space);
        let mut position = 0;
        while position < from.len() {
            let lanes = piece(position, from.len() - position, size, align);
            let (at, from) = (at.plus(position * size), &from[position..][..lanes]);
            let ty = memory_type(scalar);
            match (lanes, size) {
                (1, _) => guarded!(self, "st.{space}.{ty} {at}, {}", from[0]),
                (_, 4..) => asm!(self, "st.{space}.v{lanes}.{ty} {at}, {{{}}}", list(from)),
                _ => {
                    let words: Vec<_> = from.chunks(4 / size).map(|from| self.pack(scalar, from)).collect();
                    match words.len() {
                        1 => asm!(self, "st.{space}.b{} {at}, {}", 8 * lanes * size, words[0]),
                        n => asm!(self, "st.{space}.v{n}.b32 {at}, {{{}}}", list(&words)),
                    }
                }
            }
            position += lanes;
        }
    }

    /// Elements of less than 4 bytes as one word, which they fill at least by half.
    fn pack(&mut self, scalar: Scalar, from: &[Reg]) -> Reg {
        if let (Scalar::F16 | Scalar::BF16, [low, high]) = (scalar, from) {
            let word = self.reg(Class::B32);
            asm!(self, "mov.b32 {word}, {{{low}, {high}}}");
            return word;
        }
        match (scalar.size(), from) {
            (2, &[a, b]) => self.permuted(a, b, 0x5410),
            (_, &[a, b, c, d]) => {
                let (low, high) = (self.permuted(a, b, 0x0040), self.permuted(c, d, 0x0040));
                self.permuted(low, high, 0x5410)
            }
            (_, &[a, b]) => self.permuted(a, b, 0x0040),
            (_, from) => from[0],
        }
    }

    /// The bytes of two words that `selection` names, one digit a byte.
    fn permuted(&mut self, a: Reg, b: Reg, selection: u32) -> Reg {
        let word = self.reg(Class::B32);
        asm!(self, "prmt.b32 {word}, {a}, {b}, {selection:#06x}");
        word
    }

    /// A lane of a value as it is in memory, in a register.
    pub(super) fn stored(&mut self, scalar: Scalar, value: Operand) -> Reg {
        let value = match scalar {
            Scalar::Bool => self.bool_as(Scalar::U8, value),
            Scalar::Index => self.wide_of(value),
            _ => value,
        };
        self.in_register(value)
    }
}

fn list(registers: &[Reg]) -> String {
    registers.iter().map(Reg::to_string).collect::<Vec<_>>().join(", ")
}
