//! Operations that work lane by lane, and those on vectors.

use super::cast::Kind;
use super::code::Expr;
use super::float::MulAdd;
use super::{Emitter, Lanes};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, MathFunction};
use tilewise_ir::analysis::facts::is_integer_division;
use tilewise_ir::{BinaryOp, Inst, Op, Scalar, SiteKind, UnaryOp};

/// Word of the launch that is zero.
pub(super) const ZERO: u32 = 7;

impl<'k> Emitter<'k> {
    pub(super) fn arithmetic(&mut self, inst: &'k Inst) {
        let Some(result) = inst.result() else { return };
        let to = self.kind(result);
        let lanes: Lanes = match inst.op {
            Op::Splat(lanes) => {
                let expr = self.lane_in(inst.args[0], 0, to.register);
                (0..lanes).map(|_| expr).collect()
            }
            Op::Pack => inst.args.iter().map(|&arg| self.lane_in(arg, 0, to.register)).collect(),
            Op::Extract(lane) => Lanes::from_slice(&[self.lane_in(inst.args[0], lane.into(), to.register)]),
            _ => (0..self.lanes(result)).map(|lane| self.lane_result(inst, to, lane)).collect(),
        };
        self.define(result, lanes);
        if is_integer_division(self.plan.kernel, inst) {
            self.check_divisor(inst);
        }
    }

    fn lane_result(&mut self, inst: &'k Inst, to: Kind, lane: usize) -> Expr {
        let args = &inst.args;
        let from = self.kind(args[0]);
        match inst.op {
            Op::Unary(op) => self.unary(op, from, to, inst, lane),
            Op::Binary(op) => self.binary(op, to, inst, lane),
            Op::Compare(op) => {
                let (a, b) = match from.scalar {
                    Scalar::Bool => (self.truth(args[0], lane), self.truth(args[1], lane)),
                    _ => {
                        let register = self.common_register(inst);
                        (self.lane_in(args[0], lane, register), self.lane_in(args[1], lane, register))
                    }
                };
                self.code.compare(op, from.scalar, a, b)
            }
            Op::MulAdd => {
                let operands = [0, 1, 2].map(|n| self.lane(args[n], lane));
                let how = self.how_to_mul_add();
                let zero = self.word(ZERO);
                self.code.mul_add(how, to.scalar, to.register, operands, zero)
            }
            Op::Select => {
                if to.register == Register::Bool {
                    let [condition, accept, reject] = [0, 1, 2].map(|n| self.truth(args[n], lane));
                    return self.code.select(condition, accept, reject);
                }
                let condition = self.lane(args[0], lane);
                let accept = self.lane_in(args[1], lane, to.register);
                let reject = self.lane_in(args[2], lane, to.register);
                self.code.select(condition, accept, reject)
            }
            Op::Cast(_) => {
                let x = self.lane(args[0], lane);
                self.code.cast(from, to, x)
            }
            Op::Bitcast(_) => {
                let x = self.lane(args[0], lane);
                self.bitcast(from, to, x)
            }
            // All others are not lane by lane.
            _ => self.lane(args[0], lane),
        }
    }

    /// A square root, or one over it.
    fn root(&mut self, op: UnaryOp, from: Kind, x: Expr) -> Expr {
        let capabilities = &self.plan.capabilities;
        let has_doubles = capabilities.f64 && capabilities.int64;
        let is_wide = from.scalar != Scalar::F64 && !capabilities.exact_sqrt && has_doubles;
        let is_exact = from.scalar == Scalar::F64 || capabilities.exact_sqrt || is_wide;
        if !is_exact {
            return self.code.float_unary(op, from.scalar, from.register, x);
        }
        let (x, register) = match is_wide {
            // Rounding a root twice is as rounding it once, since there are more than twice as many digits each time.
            true => {
                let wide = self.code.convert(x, Register::F64);
                let root = self.code.math(MathFunction::Sqrt, &[wide]);
                (self.code.convert(root, Register::F32), Register::F32)
            }
            // One over the root of a half is rounded once, at the end.
            false if op == UnaryOp::Rsqrt && from.register == Register::F16 => {
                let single = self.code.convert(x, Register::F32);
                (self.code.math(MathFunction::Sqrt, &[single]), Register::F32)
            }
            false => (self.code.math(MathFunction::Sqrt, &[x]), from.register),
        };
        // A device's own function for one over a root may be computed differently for a constant than for a register.
        let result = match op {
            UnaryOp::Rsqrt => self.code.reciprocal(register, x),
            _ => x,
        };
        let result = self.code.round(from.scalar, register, result);
        match register == from.register {
            true => result,
            false => self.code.convert(result, from.register),
        }
    }

    fn how_to_mul_add(&self) -> MulAdd {
        let capabilities = &self.plan.capabilities;
        if capabilities.fused_mul_add {
            MulAdd::Fused
        } else if capabilities.f64 && capabilities.int64 {
            MulAdd::Wide
        } else {
            MulAdd::Separate
        }
    }

    /// The register in which all operands are exact.
    fn common_register(&self, inst: &Inst) -> Register {
        let wide = inst.args.iter().any(|&arg| self.plan.register(arg) == Register::U64);
        if wide { Register::U64 } else { self.plan.register(inst.args[0]) }
    }

    fn unary(&mut self, op: UnaryOp, from: Kind, to: Kind, inst: &'k Inst, lane: usize) -> Expr {
        if from.scalar == Scalar::Bool {
            let x = self.lane(inst.args[0], lane);
            return self.code.not(x);
        }
        if from.scalar.is_float() {
            let x = self.lane(inst.args[0], lane);
            if matches!(op, UnaryOp::Sqrt | UnaryOp::Rsqrt) {
                return self.root(op, from, x);
            }
            return self.code.float_unary(op, from.scalar, from.register, x);
        }
        // The lower half of these follows from the lower half of the operand.
        let by_halves = matches!(op, UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs);
        let register = if by_halves { to.register } else { from.register };
        let x = self.lane_in(inst.args[0], lane, register);
        let result = self.code.integer_unary(op, from.scalar, register, x);
        self.fit(result, register, to.register)
    }

    fn binary(&mut self, op: BinaryOp, to: Kind, inst: &'k Inst, lane: usize) -> Expr {
        let [a, b] = [inst.args[0], inst.args[1]];
        if to.scalar == Scalar::Bool {
            let (a, b) = (self.truth(a, lane), self.truth(b, lane));
            return self.code.logic(op, a, b);
        }
        if to.scalar.is_float() {
            let (a, b) = (self.lane(a, lane), self.lane(b, lane));
            if op == BinaryOp::Rem {
                return self.remainder(to, a, b);
            }
            return self.code.float_binary(op, to.scalar, to.register, a, b);
        }
        let by_halves = match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl => true,
            BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2 => false,
        };
        let common = self.common_register(inst);
        let register = match by_halves || common == Register::U32 {
            true => to.register,
            false => common,
        };
        let (a, b) = (self.lane_in(a, lane, register), self.lane_in(b, lane, register));
        let result = self.code.integer_binary(op, to.scalar, register, a, b);
        let result = self.last_bit(op, inst, register, result);
        self.fit(result, register, to.register)
    }

    fn bitcast(&mut self, from: Kind, to: Kind, x: Expr) -> Expr {
        if from.scalar == to.scalar {
            return self.fit(x, from.register, to.register);
        }
        let bits = self.code.bits(from, x);
        // An index may have 32 bits on either side.
        let bits = match (from.scalar, to.scalar) {
            (Scalar::Index, _) => self.fit(bits, from.register, Register::U64),
            (_, Scalar::Index) => self.fit(bits, Register::U64, to.register),
            _ => bits,
        };
        self.code.value_of_bits(to, bits)
    }

    /// The fault of a division by zero.
    fn check_divisor(&mut self, inst: &'k Inst) {
        let number = self.next_division;
        self.next_division += 1;
        if self.plan.facts.divisors.get(number).copied().unwrap_or(false) {
            return;
        }
        let divisor = inst.args[1];
        let register = self.plan.register(divisor);
        if self.constants[divisor.0 as usize].is_some_and(|constant| !constant.is_zero()) {
            return;
        }
        let zero = self.code.zero(register);
        // Each lane is a fault of its own.
        for lane in 0..self.lanes(divisor) {
            let divisor = self.lane(divisor, lane);
            let is_zero = self.code.binary(Operator::Equal, divisor, zero);
            let is_zero = self.if_live(is_zero);
            self.code.open();
            self.fault(inst.span, SiteKind::DivisionByZero, &[]);
            self.code.close_if(is_zero);
        }
    }
}
