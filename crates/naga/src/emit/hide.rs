//! What the compilers of some devices are known to get wrong, kept from them.
//!
//! A word of the launch that is always zero is what none of them can know: [`unknown`](Emitter::unknown) is a number that they
//! cannot compute with before the launch.

use super::Emitter;
use super::arithmetic::ZERO;
use super::code::Expr;
use crate::plan::Register;
use naga::BinaryOperator as Operator;
use tilewise_ir::{BinaryOp, Const, Inst, Op, Value};

impl Emitter<'_> {
    /// A word that is the same, but not known to be.
    pub(super) fn unknown(&mut self, word: Expr) -> Expr {
        let zero = self.word(ZERO);
        self.code.binary(Operator::ExclusiveOr, word, zero)
    }

    /// Whether a constant is kept from the compiler.
    pub(super) fn hides(&self, constant: Const) -> bool {
        let capabilities = &self.plan.capabilities;
        let is_negative_zero = constant.bits == 1 << (constant.scalar.bits() - 1);
        let hides = capabilities.hides_constants || capabilities.hides_patterns && is_negative_zero;
        constant.scalar.is_float() && hides
    }

    /// The float with these bits, which no compiler of shaders can know.
    pub(super) fn hidden(&mut self, register: Register, bits: u64) -> Expr {
        if register == Register::F64 {
            let zero = self.word(ZERO);
            let (zero, bits) =
                (self.code.convert(zero, Register::U64), self.code.number(Register::U64, bits));
            let bits = self.code.binary(Operator::ExclusiveOr, bits, zero);
            return self.code.bitcast(bits, Register::F64);
        }
        let bits = match register {
            Register::F16 => half::f16::from_bits(bits as u16).to_f32().to_bits(),
            _ => bits as u32,
        };
        let bits = self.code.u32(bits);
        let bits = self.unknown(bits);
        let value = self.code.bitcast(bits, Register::F32);
        if register == Register::F16 { self.code.convert(value, register) } else { value }
    }

    /// The result of an operation, which is unknown if it says no more than the last bit of an operand.
    pub(super) fn last_bit(&mut self, op: BinaryOp, inst: &Inst, register: Register, result: Expr) -> Expr {
        let is = |n: usize, number| {
            self.constants[inst.args[n].0 as usize].and_then(Const::as_int).is_some_and(|it| it == number)
        };
        let is_last_bit = match op {
            BinaryOp::Rem => is(1, 2),
            BinaryOp::And => is(0, 1) || is(1, 1),
            _ => false,
        };
        if !self.plan.capabilities.hides_patterns || !is_last_bit {
            return result;
        }
        let zero = self.word(ZERO);
        let zero = self.code.small(zero, register);
        self.code.binary(Operator::ExclusiveOr, result, zero)
    }

    /// A truth value, for what combines it with others.
    ///
    /// Where all threads have the same one, each use has one of its own: a compiler that gets two combinations of the same two
    /// wrong does not find them.
    pub(super) fn truth(&mut self, value: Value, lane: usize) -> Expr {
        let truth = self.lane(value, lane);
        let is_constant = self.constants[value.0 as usize].is_some();
        if !self.plan.capabilities.hides_patterns || is_constant || self.plan.uniform.varies(value) {
            return truth;
        }
        self.truths += 1;
        let (no, yes) = (self.code.u32(self.truths), self.code.u32(self.truths + 1));
        let number = self.code.select(truth, yes, no);
        let number = self.unknown(number);
        self.code.binary(Operator::NotEqual, number, no)
    }

    /// Whether jumps out of a loop go by the end of its round, where the threads are together again. Threads may wait for
    /// each other in the loop: then nothing that comes before the jump may be put behind the loop.
    pub(super) fn leaves_at_the_end(&self, inst: &Inst) -> bool {
        self.plan.capabilities.breaks_at_the_end
            && inst.contains(|op| matches!(op, Op::AtomicLoad(..) | Op::AtomicRmw(..) | Op::AtomicCas(..)))
    }
}
