//! Rules for bits and truth values, comparisons, selection and casts.

use super::{Expression, Simpler, Simplifier, integer};
use crate::kernel::Value;
use crate::op::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::types::{Const, Scalar};

/// The comparison that holds when this one does not. An order of floats has none, because of NaN.
pub(super) fn inverse(compare: CompareOp, scalar: Scalar) -> Option<CompareOp> {
    match compare {
        CompareOp::Eq => Some(CompareOp::Ne),
        CompareOp::Ne => Some(CompareOp::Eq),
        _ if scalar.is_float() => None,
        CompareOp::Lt => Some(CompareOp::Ge),
        CompareOp::Le => Some(CompareOp::Gt),
        CompareOp::Gt => Some(CompareOp::Le),
        CompareOp::Ge => Some(CompareOp::Lt),
    }
}

/// The same comparison with its operands exchanged.
fn exchanged(compare: CompareOp) -> CompareOp {
    match compare {
        CompareOp::Eq => CompareOp::Eq,
        CompareOp::Ne => CompareOp::Ne,
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
    }
}

impl Simplifier<'_> {
    /// Rules for `And`, `Or` and `Xor` of integers and truth values.
    pub(super) fn binary_bitwise(&mut self, op: BinaryOp, a: Value, b: Value) -> Option<Simpler> {
        let scalar = self.kernel.ty(a).scalar;
        let (none, all) = (Const::from_bits(scalar, 0), Const::from_bits(scalar, u64::MAX));
        if a == b {
            return match op {
                BinaryOp::Xor => Simpler::constant(none),
                _ => Simpler::value(a),
            };
        }
        if self.is_not(a, b) || self.is_not(b, a) {
            return Simpler::constant(if op == BinaryOp::And { none } else { all });
        }
        if let Some(constant) = self.constants.get(b) {
            match op {
                BinaryOp::And if constant == none => return Simpler::constant(none),
                BinaryOp::And if constant == all => return Simpler::value(a),
                BinaryOp::Or if constant == none => return Simpler::value(a),
                BinaryOp::Or if constant == all => return Simpler::constant(all),
                BinaryOp::Xor if constant == none => return Simpler::value(a),
                BinaryOp::Xor if constant == all => return Simpler::expression(Op::Unary(UnaryOp::Not), [a]),
                _ => {}
            }
        }
        let (x, y) = match self.definition(a)? {
            Expression { op: Op::Binary(inner), args } if *inner == op => (args[0], args[1]),
            _ => return None,
        };
        if op != BinaryOp::Xor && (x == b || y == b) {
            return Simpler::value(a);
        }
        let (first, second) = (self.constants.get(y)?, self.constants.get(b)?);
        let both = crate::eval::binary(op, first, second)?;
        let both = self.constant(both, self.kernel.ty(a));
        Simpler::expression(Op::Binary(op), [x, both])
    }

    /// Whether `b` is `!a`.
    fn is_not(&self, a: Value, b: Value) -> bool {
        matches!(self.definition(b), Some(Expression { op: Op::Unary(UnaryOp::Not), args }) if args[0] == a)
    }

    /// Rules for [`Op::Compare`].
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Option<Simpler> {
        let scalar = self.kernel.ty(a).scalar;
        if self.constants.get(a).is_some() && self.constants.get(b).is_none() {
            return Simpler::expression(Op::Compare(exchanged(op)), [b, a]);
        }
        if a == b {
            match op {
                // Also for a NaN.
                CompareOp::Lt | CompareOp::Gt => return Simpler::constant(Const::bool(false)),
                _ if scalar.is_float() => {}
                CompareOp::Ne => return Simpler::constant(Const::bool(false)),
                CompareOp::Eq | CompareOp::Le | CompareOp::Ge => return Simpler::constant(Const::bool(true)),
            }
        }
        let constant = self.constants.get(b)?;
        if scalar == Scalar::Bool {
            return match (op, constant.is_zero()) {
                (CompareOp::Eq, false) | (CompareOp::Ne, true) => Simpler::value(a),
                (CompareOp::Eq, true) | (CompareOp::Ne, false) => {
                    Simpler::expression(Op::Unary(UnaryOp::Not), [a])
                }
                _ => None,
            };
        }
        if !scalar.is_int() {
            return None;
        }
        let (min, max) = (integer::min(scalar), integer::max(scalar));
        match op {
            CompareOp::Lt if constant == min => Simpler::constant(Const::bool(false)),
            CompareOp::Gt if constant == max => Simpler::constant(Const::bool(false)),
            CompareOp::Ge if constant == min => Simpler::constant(Const::bool(true)),
            CompareOp::Le if constant == max => Simpler::constant(Const::bool(true)),
            _ => None,
        }
    }

    /// Rules for [`Op::Select`].
    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Option<Simpler> {
        if a == b {
            return Simpler::value(a);
        }
        if let Some(constant) = self.constants.get(condition) {
            return Simpler::value(if constant.is_zero() { b } else { a });
        }
        if let Some(simpler) = self.select_of_truth_values(condition, a, b) {
            return Some(simpler);
        }
        match self.definition(a) {
            Some(Expression { op: Op::Select, args }) if args[0] == condition => {
                return Simpler::expression(Op::Select, [condition, args[1], b]);
            }
            _ => {}
        }
        match self.definition(b) {
            Some(Expression { op: Op::Select, args }) if args[0] == condition => {
                return Simpler::expression(Op::Select, [condition, a, args[2]]);
            }
            _ => {}
        }
        match self.definition(condition)? {
            Expression { op: Op::Unary(UnaryOp::Not), args } => {
                Simpler::expression(Op::Select, [args[0], b, a])
            }
            Expression { op: Op::Compare(compare), args } if self.kernel.ty(a).scalar.is_int() => {
                let smaller = match compare {
                    CompareOp::Lt | CompareOp::Le => true,
                    CompareOp::Gt | CompareOp::Ge => false,
                    CompareOp::Eq | CompareOp::Ne => return None,
                };
                let takes_smaller = match (args[0], args[1]) {
                    pair if pair == (a, b) => smaller,
                    pair if pair == (b, a) => !smaller,
                    _ => return None,
                };
                let op = if takes_smaller { BinaryOp::Min } else { BinaryOp::Max };
                Simpler::expression(Op::Binary(op), [a, b])
            }
            _ => None,
        }
    }

    /// `c ? a : false` is `c & a`, and so on.
    fn select_of_truth_values(&mut self, condition: Value, a: Value, b: Value) -> Option<Simpler> {
        let ty = self.kernel.ty(a);
        if ty.scalar != Scalar::Bool || self.kernel.ty(condition) != ty {
            return None;
        }
        let truth = |constant: Option<Const>| constant.map(|c| !c.is_zero());
        let (op, condition, other) = match (truth(self.constants.get(a)), truth(self.constants.get(b))) {
            (Some(true), Some(false)) => return Simpler::value(condition),
            (Some(false), Some(true)) => return Simpler::expression(Op::Unary(UnaryOp::Not), [condition]),
            (_, Some(false)) => (BinaryOp::And, condition, a),
            (Some(true), _) => (BinaryOp::Or, condition, b),
            (Some(false), _) => (BinaryOp::And, self.emit(Op::Unary(UnaryOp::Not), [condition], ty), b),
            (_, Some(true)) => (BinaryOp::Or, self.emit(Op::Unary(UnaryOp::Not), [condition], ty), a),
            _ if a == condition => (BinaryOp::Or, condition, b),
            _ if b == condition => (BinaryOp::And, condition, a),
            _ => return None,
        };
        Simpler::expression(Op::Binary(op), [condition, other])
    }

    /// Rules for [`Op::Cast`].
    pub(super) fn cast(&mut self, to: Scalar, a: Value) -> Option<Simpler> {
        let middle = self.kernel.ty(a).scalar;
        if middle == to {
            return Simpler::value(a);
        }
        let x = match self.definition(a)? {
            Expression { op: Op::Cast(_), args } => args[0],
            _ => return None,
        };
        let from = self.kernel.ty(x).scalar;
        is_one_cast(from, middle, to).then(|| Simpler::Expression(Expression::new(Op::Cast(to), [x])))
    }

    /// Rules for [`Op::Bitcast`].
    pub(super) fn bitcast(&mut self, to: Scalar, a: Value) -> Option<Simpler> {
        if self.kernel.ty(a).scalar == to {
            return Simpler::value(a);
        }
        match self.definition(a)? {
            Expression { op: Op::Bitcast(_), args } => {
                let args = args.clone();
                Simpler::expression(Op::Bitcast(to), args)
            }
            _ => None,
        }
    }
}

/// Whether a cast from `from` to `middle` to `to` is the same as one from `from` to `to`.
fn is_one_cast(from: Scalar, middle: Scalar, to: Scalar) -> bool {
    if from == Scalar::Bool {
        // 0 and 1 are in every type.
        return true;
    }
    if from.is_float() && middle.is_float() {
        return float_holds(middle, from);
    }
    if !from.is_int() || !middle.is_int() {
        return false;
    }
    let (first, second) = (from.bits(), middle.bits());
    // Whether the middle type has every value of the first.
    let holds = match (from.is_signed_int(), middle.is_signed_int()) {
        (true, true) | (false, false) => second >= first,
        (false, true) => second > first,
        (true, false) => false,
    };
    // Otherwise only the low bits count, and those the middle type must have kept.
    holds || (to.is_int() && second >= to.bits())
}

/// Whether the float type `wide` has every value of `narrow`.
fn float_holds(wide: Scalar, narrow: Scalar) -> bool {
    wide == narrow
        || match narrow {
            Scalar::F16 | Scalar::BF16 => matches!(wide, Scalar::F32 | Scalar::F64),
            Scalar::F32 => wide == Scalar::F64,
            _ => false,
        }
}
