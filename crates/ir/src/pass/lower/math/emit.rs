//! The words in which the expansions are written: each appends one operation to the code that takes the place of a
//! function.

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::pass::constants::Prologue;
use crate::span::Span;
use crate::types::{Const, Scalar, Type};

/// The two formats in which functions are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `f32`: 24 digits.
    Single,
    /// `f64`: 53 digits.
    Double,
}

/// Emits operations on vectors of one format and number of lanes.
pub(super) struct Emit<'a> {
    kernel: &'a mut Kernel,
    prologue: &'a mut Prologue,
    insts: Vec<Inst>,
    span: Span,
    format: Format,
    lanes: u8,
}

impl<'a> Emit<'a> {
    /// Nothing emitted yet. Constants go into `prologue`.
    pub(super) fn new(
        kernel: &'a mut Kernel,
        prologue: &'a mut Prologue,
        span: Span,
        format: Format,
        lanes: u8,
    ) -> Emit<'a> {
        Emit { kernel, prologue, insts: Vec::new(), span, format, lanes }
    }

    /// What has been emitted.
    pub(super) fn finish(self) -> Vec<Inst> {
        self.insts
    }

    // ---- the format ----

    /// What depends on the format.
    pub(super) fn pick<T>(&self, single: T, double: T) -> T {
        match self.format {
            Format::Single => single,
            Format::Double => double,
        }
    }

    /// The type of the numbers.
    pub(super) fn float(&self) -> Type {
        self.vector(self.pick(Scalar::F32, Scalar::F64))
    }

    /// The signed integers of the same size.
    pub(super) fn int(&self) -> Type {
        self.vector(self.pick(Scalar::I32, Scalar::I64))
    }

    /// The unsigned integers of the same size.
    pub(super) fn uint(&self) -> Type {
        self.vector(self.pick(Scalar::U32, Scalar::U64))
    }

    /// Bits of a number.
    pub(super) fn width(&self) -> u32 {
        self.pick(32, 64)
    }

    /// Digits of a number after the leading one.
    pub(super) fn fraction_bits(&self) -> u32 {
        self.pick(23, 52)
    }

    /// What is added to the exponent of a number in its bits.
    pub(super) fn bias(&self) -> i64 {
        self.pick(127, 1023)
    }

    fn vector(&self, scalar: Scalar) -> Type {
        Type::vector(scalar, self.lanes)
    }

    // ---- constants ----

    /// The number nearest to `value`.
    pub(super) fn number(&mut self, value: f64) -> Value {
        let constant = match self.format {
            Format::Single => Const::f32(value as f32),
            Format::Double => Const::from_bits(Scalar::F64, value.to_bits()),
        };
        self.constant(constant)
    }

    /// A signed integer.
    pub(super) fn integer(&mut self, value: i64) -> Value {
        let scalar = self.int().scalar;
        self.constant(Const::int(scalar, value.into()))
    }

    /// An unsigned integer.
    pub(super) fn unsigned(&mut self, value: u64) -> Value {
        let scalar = self.uint().scalar;
        self.constant(Const::int(scalar, value.into()))
    }

    fn constant(&mut self, constant: Const) -> Value {
        let ty = self.vector(constant.scalar);
        self.prologue.value(self.kernel, constant, ty)
    }

    // ---- operations on numbers and integers ----

    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub(super) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Mul, a, b)
    }

    /// `a / b`, of numbers.
    pub(super) fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Div, a, b)
    }

    pub(super) fn min(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Min, a, b)
    }

    pub(super) fn max(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Max, a, b)
    }

    /// `a * b + c`, rounded once.
    pub(super) fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::MulAdd, &[a, b, c], self.float())
    }

    pub(super) fn neg(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Neg, a)
    }

    pub(super) fn abs(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Abs, a)
    }

    pub(super) fn trunc(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Trunc, a)
    }

    pub(super) fn round_even(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::RoundEven, a)
    }

    pub(super) fn leading_zeros(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::LeadingZeros, a)
    }

    /// The polynomial with these coefficients, lowest first, by Horner's rule.
    pub(super) fn polynomial(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let mut sum = None;
        for &coefficient in coefficients.iter().rev() {
            let coefficient = self.number(coefficient);
            sum = Some(match sum {
                Some(sum) => self.fma(sum, x, coefficient),
                None => coefficient,
            });
        }
        sum.unwrap_or_else(|| self.number(0.0))
    }

    // ---- bits, of integers and truth values ----

    pub(super) fn and(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::And, a, b)
    }

    pub(super) fn or(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Or, a, b)
    }

    pub(super) fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryOp::Xor, a, b)
    }

    pub(super) fn not(&mut self, a: Value) -> Value {
        self.unary(UnaryOp::Not, a)
    }

    /// `a << count`, of integers of either sign.
    pub(super) fn shl(&mut self, a: Value, count: u32) -> Value {
        let count = self.count(a, count);
        self.shl_by(a, count)
    }

    pub(super) fn shl_by(&mut self, a: Value, count: Value) -> Value {
        self.binary(BinaryOp::Shl, a, count)
    }

    /// `a >> count`; copies the sign of a signed integer.
    pub(super) fn shr(&mut self, a: Value, count: u32) -> Value {
        let count = self.count(a, count);
        self.shr_by(a, count)
    }

    pub(super) fn shr_by(&mut self, a: Value, count: Value) -> Value {
        self.binary(BinaryOp::Shr, a, count)
    }

    fn count(&mut self, shifted: Value, count: u32) -> Value {
        let scalar = self.kernel.ty(shifted).scalar;
        self.constant(Const::int(scalar, count.into()))
    }

    // ---- comparisons ----

    pub(super) fn eq(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Eq, a, b)
    }

    pub(super) fn ne(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Ne, a, b)
    }

    pub(super) fn lt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Lt, a, b)
    }

    pub(super) fn gt(&mut self, a: Value, b: Value) -> Value {
        self.compare(CompareOp::Gt, a, b)
    }

    /// `condition ? a : b`.
    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push(Op::Select, &[condition, a, b], ty)
    }

    // ---- from type to type ----

    /// Rust's `as`.
    pub(super) fn cast(&mut self, a: Value, to: Type) -> Value {
        self.push(Op::Cast(to.scalar), &[a], to)
    }

    /// The same bits as another type.
    pub(super) fn bitcast(&mut self, a: Value, to: Type) -> Value {
        self.push(Op::Bitcast(to.scalar), &[a], to)
    }

    /// The bits of a number.
    pub(super) fn bits(&mut self, a: Value) -> Value {
        self.bitcast(a, self.uint())
    }

    /// The bit that is the sign of a number, alone.
    pub(super) fn sign_bit(&mut self, a: Value) -> Value {
        let bits = self.bits(a);
        let mask = self.unsigned(1 << (self.width() - 1));
        self.and(bits, mask)
    }

    /// `a` with its sign changed if the sign bit `sign` is set; no other bit of `sign` may be.
    pub(super) fn flip_sign(&mut self, a: Value, sign: Value) -> Value {
        let bits = self.bits(a);
        let bits = self.xor(bits, sign);
        self.bitcast(bits, self.float())
    }

    /// 2 to the power `n`, a signed integer within the range of exponents of normal numbers.
    pub(super) fn power_of_two(&mut self, n: Value) -> Value {
        let bias = self.integer(self.bias());
        let exponent = self.add(n, bias);
        let bits = self.shl(exponent, self.fraction_bits());
        self.bitcast(bits, self.float())
    }

    // ---- control flow ----

    /// Where `condition` holds in some lane: what `then` gives, in all lanes where it holds; elsewhere `otherwise`.
    pub(super) fn replace_where<const N: usize>(
        &mut self,
        condition: Value,
        otherwise: [Value; N],
        then: impl FnOnce(&mut Emit<'a>) -> [Value; N],
    ) -> [Value; N] {
        let any = self.any(condition);
        let outer = std::mem::take(&mut self.insts);
        let replaced = then(self);
        let mut args = replaced;
        if self.lanes > 1 {
            for (arg, otherwise) in args.iter_mut().zip(otherwise) {
                *arg = self.select(condition, *arg, otherwise);
            }
        }
        self.insts.push(Inst::new(Op::Yield, args, [], self.span));
        let then = Block { params: Vec::new(), insts: std::mem::replace(&mut self.insts, outer) };
        let keep = Inst::new(Op::Yield, otherwise, [], self.span);
        let keep = Block { params: Vec::new(), insts: vec![keep] };
        let results = otherwise.map(|value| self.kernel.new_value(self.kernel.ty(value)));
        let mut inst = Inst::new(Op::If, [any], results, self.span);
        inst.blocks = vec![then, keep];
        self.insts.push(inst);
        results
    }

    /// Whether a truth value holds in some lane.
    fn any(&mut self, condition: Value) -> Value {
        if self.lanes == 1 {
            return condition;
        }
        let mut any = self.push(Op::Extract(0), &[condition], Type::BOOL);
        for lane in 1..self.lanes {
            let lane = self.push(Op::Extract(lane), &[condition], Type::BOOL);
            any = self.or(any, lane);
        }
        any
    }

    fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push(Op::Unary(op), &[a], ty)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.kernel.ty(a);
        self.push(Op::Binary(op), &[a, b], ty)
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.push(Op::Compare(op), &[a, b], self.vector(Scalar::Bool))
    }

    fn push(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let result = self.kernel.new_value(ty);
        self.insts.push(Inst::new(op, args.iter().copied(), [result], self.span));
        result
    }
}
