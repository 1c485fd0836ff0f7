//! Indices: the type with 64 bits of which 32 are often enough.
//!
//! A narrow register holds the lower half of an index, and its upper half is zero or looked at by nobody. So an
//! operation whose lower half depends on lower halves alone (`+`, `-`, `*`, shifts to the left, bitwise ones) is
//! computed in 32 bits if its result is narrow, whatever the operands; others if all operands are narrow.

use tilewise_ir::{BinaryOp, Const, Scalar, UnaryOp, Value};

use super::code::{Class, Operand, Reg};
use super::memo::Key;
use super::{Emitter, asm};

impl Emitter<'_> {
    /// The lower half of a lane of an index.
    pub(super) fn low(&mut self, value: Value, lane: usize) -> Operand {
        let operand = self.operand(value, lane);
        self.low_of(operand)
    }

    /// All 64 bits of a lane of an index.
    pub(super) fn wide(&mut self, value: Value, lane: usize) -> Operand {
        let operand = self.operand(value, lane);
        self.wide_of(operand)
    }

    pub(super) fn low_of(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Imm(Const { bits, .. }) => Operand::u32(bits as u32),
            Operand::Reg(reg) if reg.class == Class::B32 => operand,
            Operand::Reg(reg) => self
                .remembered(Key::Low(reg), |emitter| {
                    let low = emitter.reg(Class::B32);
                    asm!(emitter, "cvt.u32.u64 {low}, {reg}");
                    low
                })
                .into(),
        }
    }

    pub(super) fn wide_of(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Imm(Const { bits, .. }) => Operand::u64(bits),
            Operand::Reg(reg) if reg.class == Class::B64 => operand,
            Operand::Reg(reg) => self
                .remembered(Key::Wide(reg), |emitter| {
                    let wide = emitter.reg(Class::B64);
                    asm!(emitter, "cvt.u64.u32 {wide}, {reg}");
                    wide
                })
                .into(),
        }
    }

    /// What `compute` gives, now or before.
    pub(super) fn remembered(&mut self, key: Key, compute: impl FnOnce(&mut Self) -> Reg) -> Reg {
        if let Some(reg) = self.memo.get(&key) {
            return reg;
        }
        let reg = compute(self);
        self.memo.insert(key, reg);
        reg
    }

    /// An operation on two lanes of indices. `narrow` is whether the result may be.
    pub(super) fn index_binary(&mut self, op: BinaryOp, a: Operand, b: Operand, narrow: bool) -> Operand {
        let small = a.is_narrow() && b.is_narrow();
        match op {
            BinaryOp::Shl => return self.index_shl(a, b, narrow),
            BinaryOp::Shr => return self.index_shr(a, b),
            BinaryOp::Mul if small && !narrow => {
                let (a, b) = (self.low_of(a), self.low_of(b));
                let result = self.reg(Class::B64);
                asm!(self, "mul.wide.u32 {result}, {a}, {b}");
                return result.into();
            }
            _ => {}
        }
        let half = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                narrow
            }
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2 => small,
        };
        if half {
            let (a, b) = (self.low_of(a), self.low_of(b));
            self.integer_binary(op, Scalar::U32, a, b)
        } else {
            let (a, b) = (self.wide_of(a), self.wide_of(b));
            self.integer_binary(op, Scalar::U64, a, b)
        }
    }

    /// The count of a shift, modulo 64.
    fn index_count(&mut self, count: Operand) -> Operand {
        match self.low_of(count) {
            Operand::Imm(Const { bits, .. }) => Operand::u32(bits as u32 & 63),
            count => {
                let masked = self.reg(Class::B32);
                asm!(self, "and.b32 {masked}, {count}, 63");
                masked.into()
            }
        }
    }

    fn index_shl(&mut self, a: Operand, count: Operand, narrow: bool) -> Operand {
        let count = self.index_count(count);
        if narrow {
            // A count of 32 or more gives zero, as it should.
            let (a, result) = (self.low_of(a), self.reg(Class::B32));
            asm!(self, "shl.b32 {result}, {a}, {count}");
            return result.into();
        }
        let result = self.reg(Class::B64);
        match count.constant() {
            Some(Const { bits, .. }) if a.is_narrow() && bits < 32 => {
                let (a, factor) = (self.low_of(a), Operand::u32(1 << bits));
                asm!(self, "mul.wide.u32 {result}, {a}, {factor}");
            }
            _ => {
                let a = self.wide_of(a);
                asm!(self, "shl.b64 {result}, {a}, {count}");
            }
        }
        result.into()
    }

    fn index_shr(&mut self, a: Operand, count: Operand) -> Operand {
        let count = self.index_count(count);
        if a.is_narrow() {
            let (a, result) = (self.low_of(a), self.reg(Class::B32));
            asm!(self, "shr.u32 {result}, {a}, {count}");
            return result.into();
        }
        let (a, result) = (self.wide_of(a), self.reg(Class::B64));
        asm!(self, "shr.u64 {result}, {a}, {count}");
        result.into()
    }

    /// An operation on a lane of an index. `narrow` is whether the result may be.
    pub(super) fn index_unary(&mut self, op: UnaryOp, a: Operand, narrow: bool) -> Operand {
        let half = match op {
            UnaryOp::Abs => return a,
            UnaryOp::Neg | UnaryOp::Not => narrow,
            UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => false,
            UnaryOp::Signum
            | UnaryOp::CountOnes
            | UnaryOp::Sqrt
            | UnaryOp::Rsqrt
            | UnaryOp::Recip
            | UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::RoundEven
            | UnaryOp::Trunc
            | UnaryOp::IsNan
            | UnaryOp::IsInf => a.is_narrow(),
        };
        if half {
            let a = self.low_of(a);
            self.integer_unary(op, Scalar::U32, a)
        } else {
            let a = self.wide_of(a);
            self.integer_unary(op, Scalar::U64, a)
        }
    }
}
