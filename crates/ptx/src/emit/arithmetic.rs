//! Operations that work lane by lane: which instruction family a scalar belongs to.

use tilewise_ir::{BinaryOp, CompareOp, Inst, Scalar, UnaryOp};

use super::code::{Class, Operand};
use super::integer::integer_type;
use super::{Emitter, asm};
use crate::Unsupported;

impl Emitter<'_> {
    pub(super) fn unary(&mut self, inst: &Inst, op: UnaryOp) -> Result<(), Unsupported> {
        let scalar = self.ty(inst.args[0]).scalar;
        let narrow = inst.result().is_some_and(|result| self.is_narrow(result));
        self.each_lane(inst, |emitter, lane| {
            let a = emitter.operand(inst.args[0], lane);
            Ok(match scalar {
                Scalar::Bool => emitter.not(a).into(),
                Scalar::Index => emitter.index_unary(op, a, narrow),
                Scalar::F16 | Scalar::BF16 => return emitter.half_unary(op, scalar, a),
                Scalar::F32 | Scalar::F64 => return emitter.float_unary(op, scalar, a),
                Scalar::I8
                | Scalar::I16
                | Scalar::I32
                | Scalar::I64
                | Scalar::U8
                | Scalar::U16
                | Scalar::U32
                | Scalar::U64 => emitter.integer_unary(op, scalar, a),
            })
        })
    }

    /// Any operation of two operands but the division of integers.
    pub(super) fn binary(&mut self, inst: &Inst, op: BinaryOp) -> Result<(), Unsupported> {
        let scalar = self.ty(inst.args[0]).scalar;
        let narrow = inst.result().is_some_and(|result| self.is_narrow(result));
        self.each_lane(inst, |emitter, lane| {
            let (a, b) = (emitter.operand(inst.args[0], lane), emitter.operand(inst.args[1], lane));
            emitter.binary_lane(op, scalar, a, b, narrow)
        })
    }

    /// One lane of an operation of two operands. `narrow` is whether 32 bits of an index are enough.
    pub(super) fn binary_lane(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        a: Operand,
        b: Operand,
        narrow: bool,
    ) -> Result<Operand, Unsupported> {
        Ok(match scalar {
            Scalar::Bool => self.bool_binary(op, a, b),
            Scalar::Index => self.index_binary(op, a, b, narrow),
            Scalar::F16 | Scalar::BF16 => return self.half_binary(op, scalar, a, b),
            Scalar::F32 | Scalar::F64 => return self.float_binary(op, scalar, a, b),
            Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
            | Scalar::U64 => self.integer_binary(op, scalar, a, b),
        })
    }

    pub(super) fn compare(&mut self, inst: &Inst, op: CompareOp) {
        let scalar = self.ty(inst.args[0]).scalar;
        let Some(result) = inst.result() else { return };
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let (a, b) = (self.operand(inst.args[0], lane), self.operand(inst.args[1], lane));
                self.compare_lane(op, scalar, a, b)
            })
            .collect();
        self.define(result, lanes);
    }

    fn compare_lane(&mut self, op: CompareOp, scalar: Scalar, a: Operand, b: Operand) -> Operand {
        let word = match op {
            CompareOp::Eq => "eq",
            // With a NaN this holds, and no other does.
            CompareOp::Ne if scalar.is_float() => "neu",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        let (ty, a, b) = match scalar {
            Scalar::Bool => return self.bool_compare(op, a, b),
            Scalar::Index if a.is_narrow() && b.is_narrow() => ("u32", self.low_of(a), self.low_of(b)),
            Scalar::Index => ("u64", self.wide_of(a), self.wide_of(b)),
            Scalar::F16 => ("f16", a, b),
            Scalar::BF16 if self.target.has(90, (7, 8)) => ("bf16", a, b),
            Scalar::BF16 => ("f32", self.widened(scalar, a), self.widened(scalar, b)),
            Scalar::F32 => ("f32", a, b),
            Scalar::F64 => ("f64", a, b),
            _ => (integer_type(scalar), a, b),
        };
        let (a, result) = (self.in_register(a), self.reg(Class::Pred));
        asm!(self, "setp.{word}.{ty} {result}, {a}, {b}");
        result.into()
    }

    pub(super) fn mul_add(&mut self, inst: &Inst) {
        let scalar = self.ty(inst.args[0]).scalar;
        let Some(result) = inst.result() else { return };
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let [a, b, c] = [0, 1, 2].map(|n| self.operand(inst.args[n], lane));
                match scalar {
                    Scalar::BF16 if !self.target.has(80, (7, 0)) => self.bf16_mul_add(a, b, c),
                    _ => {
                        let result = self.reg(Class::of(scalar));
                        asm!(self, "fma.rn.{scalar} {result}, {a}, {b}, {c}");
                        result.into()
                    }
                }
            })
            .collect();
        self.define(result, lanes);
    }

    pub(super) fn select(&mut self, inst: &Inst) {
        let Some(result) = inst.result() else { return };
        let (scalar, narrow) = (self.ty(result).scalar, self.is_narrow(result));
        let conditions = self.lanes(inst.args[0]).len();
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let condition = self.operand_register(inst.args[0], lane.min(conditions.saturating_sub(1)));
                let (mut a, mut b) = (self.operand(inst.args[1], lane), self.operand(inst.args[2], lane));
                if scalar == Scalar::Bool {
                    return self.select_bool(condition.into(), a, b);
                }
                let mut class = Class::of(scalar);
                if scalar == Scalar::Index {
                    if narrow || a.is_narrow() && b.is_narrow() {
                        class = Class::B32;
                        (a, b) = (self.low_of(a), self.low_of(b));
                    } else {
                        (a, b) = (self.wide_of(a), self.wide_of(b));
                    }
                }
                // The bits of constants: of -1.0 and -0.0 ptxas 13.0 makes integers that it converts, so that zero loses its sign.
                let ty = match (class, a.constant().or(b.constant())) {
                    (Class::F32, Some(_)) => "b32",
                    (Class::F64, Some(_)) => "b64",
                    _ => class.ty(),
                };
                let result = self.reg(class);
                asm!(self, "selp.{ty} {result}, {a}, {b}, {condition}");
                result.into()
            })
            .collect();
        self.define(result, lanes);
    }

    fn select_bool(&mut self, condition: Operand, a: Operand, b: Operand) -> Operand {
        let a = self.bool_binary(BinaryOp::And, condition, a);
        let otherwise = self.not(condition).into();
        let b = self.bool_binary(BinaryOp::And, otherwise, b);
        self.bool_binary(BinaryOp::Or, a, b)
    }
}
