//! What a condition says of the values that it is computed from, where it is known to be true or false.
//!
//! A comparison bounds its operands, and a bound on a result bounds the operands of an operation that did not wrap: where
//! `i + 4 <= n`, also `i <= n - 4` if `i + 4` cannot wrap. Conjunctions are followed through `and`, `or`, `not`, `select`
//! and branches that give truth values, as short circuits are recorded.

use super::range::Range;
use super::ranges::Walk;
use super::residue::Residue;
use crate::kernel::{Inst, Value};
use crate::op::{BinaryOp, CompareOp, Op, UnaryOp};
use crate::types::Scalar;

impl<'a> Walk<'a> {
    /// From here on a condition of one lane is `truth`. Gives whether that can be.
    pub(super) fn assume(&mut self, condition: Value, truth: bool, depth: u32) -> bool {
        if !self.learn(condition, Range::exact(truth.into())) {
            return false;
        }
        let Some(inst) = self.definitions[condition.0 as usize] else { return true };
        let Some(depth) = depth.checked_sub(1) else { return true };
        let scalar = inst.args.first().map_or(Scalar::Bool, |&arg| self.ty(arg).scalar);
        match &inst.op {
            Op::Unary(UnaryOp::Not) => self.assume(inst.args[0], !truth, depth),
            // All that is joined is known if it is `true` for `and`, `false` for `or`.
            Op::Binary(op @ (BinaryOp::And | BinaryOp::Or)) => {
                let [a, b] = [inst.args[0], inst.args[1]];
                let neutral = *op == BinaryOp::And;
                if truth == neutral {
                    return self.assume(a, truth, depth) && self.assume(b, truth, depth);
                }
                let is_neutral = |walk: &Walk, side| walk.range(side).value() == Some(neutral.into());
                (!is_neutral(self, a) || self.assume(b, truth, depth))
                    && (!is_neutral(self, b) || self.assume(a, truth, depth))
            }
            Op::Compare(op) if !scalar.is_float() => {
                let op = if truth { *op } else { opposite(*op) };
                self.assume_comparison(op, inst.args[0], inst.args[1], depth)
            }
            Op::Select => self.assume_one_of(inst.args[0], [inst.args[1], inst.args[2]], truth, depth),
            Op::If => self.assume_branch(inst, condition, truth, depth),
            Op::Cast(_) if truth && !scalar.is_float() => self.differs(inst.args[0], 0),
            Op::Cast(_) if !scalar.is_float() => self.restrict(inst.args[0], Range::exact(0), depth),
            _ => true,
        }
    }

    /// A result of a branch is `truth`.
    fn assume_branch(&mut self, inst: &'a Inst, result: Value, truth: bool, depth: u32) -> bool {
        let Some(n) = inst.results.iter().position(|&r| r == result) else { return true };
        let side = |block: usize| {
            let end = inst.blocks.get(block)?.insts.last()?;
            matches!(end.op, Op::Yield).then(|| end.args.get(n).copied()).flatten()
        };
        match (side(0), side(1)) {
            (Some(a), Some(b)) => self.assume_one_of(inst.args[0], [a, b], truth, depth),
            // The other block has left.
            (Some(a), None) => self.assume(inst.args[0], true, depth) && self.assume(a, truth, depth),
            (None, Some(b)) => self.assume(inst.args[0], false, depth) && self.assume(b, truth, depth),
            (None, None) => true,
        }
    }

    /// What `condition` chooses is `truth`: if one side is not, the other one has been chosen.
    fn assume_one_of(&mut self, condition: Value, sides: [Value; 2], truth: bool, depth: u32) -> bool {
        let can_be = sides.map(|side| self.range(side).contains(truth.into()));
        match can_be {
            [true, true] => true,
            [true, false] => self.assume(condition, true, depth) && self.assume(sides[0], truth, depth),
            [false, true] => self.assume(condition, false, depth) && self.assume(sides[1], truth, depth),
            [false, false] => false,
        }
    }

    pub(super) fn assume_comparison(&mut self, op: CompareOp, a: Value, b: Value, depth: u32) -> bool {
        match op {
            CompareOp::Lt => self.assume_at_most(a, b, -1, depth),
            CompareOp::Le => self.assume_at_most(a, b, 0, depth),
            CompareOp::Gt => self.assume_at_most(b, a, -1, depth),
            CompareOp::Ge => self.assume_at_most(b, a, 0, depth),
            CompareOp::Eq => {
                let (x, y) = (self.range(a), self.range(b));
                self.differ_by_at_most(a, b, 0);
                self.differ_by_at_most(b, a, 0);
                self.restrict(a, y, depth) && self.restrict(b, x, depth)
            }
            CompareOp::Ne => {
                let (x, y) = (self.range(a).value(), self.range(b).value());
                y.is_none_or(|y| self.differs(a, y)) && x.is_none_or(|x| self.differs(b, x))
            }
        }
    }

    /// `a - b <= most`.
    fn assume_at_most(&mut self, a: Value, b: Value, most: i128, depth: u32) -> bool {
        let (x, y) = (self.range(a), self.range(b));
        self.differ_by_at_most(a, b, most);
        self.restrict_to(a, x.lo(), y.hi() + most, depth) && self.restrict_to(b, x.lo() - most, y.hi(), depth)
    }

    /// A value is not this number.
    fn differs(&mut self, value: Value, number: i128) -> bool {
        let range = self.range(value);
        let lo = range.lo() + i128::from(range.lo() == number);
        let hi = range.hi() - i128::from(range.hi() == number);
        Range::interval(lo, hi).is_some_and(|range| self.learn(value, range))
    }

    fn restrict_to(&mut self, value: Value, lo: i128, hi: i128, depth: u32) -> bool {
        Range::interval(lo, hi).is_some_and(|range| self.restrict(value, range, depth))
    }

    /// From here on a value of one lane is in `range`, and what it is computed from accordingly. Gives whether that can be.
    fn restrict(&mut self, value: Value, range: Range, depth: u32) -> bool {
        let before = self.range(value);
        if !self.learn(value, range) {
            return false;
        }
        if before == self.range(value) {
            return true;
        }
        let Some(inst) = self.definitions[value.0 as usize] else { return true };
        let Some(depth) = depth.checked_sub(1) else { return true };
        let range = self.range(value);
        match inst.op {
            Op::Binary(op) => self.restrict_operands(op, inst, range, depth),
            Op::Cast(to) => {
                let from = self.range(inst.args[0]);
                let is_same_number =
                    self.is_integer(inst.args[0]) && to != Scalar::Bool && from.is_within(Range::all(to));
                !is_same_number || self.restrict(inst.args[0], range, depth)
            }
            _ => true,
        }
    }

    /// The result of an operation is in `range`.
    fn restrict_operands(&mut self, op: BinaryOp, inst: &Inst, range: Range, depth: u32) -> bool {
        let [a, b] = [inst.args[0], inst.args[1]];
        let (x, y) = (self.range(a), self.range(b));
        let all = Range::all(self.ty(a).scalar);
        let (lo, hi) = (range.lo(), range.hi());
        match op {
            BinaryOp::Add if all.lo() <= x.lo() + y.lo() && x.hi() + y.hi() <= all.hi() => {
                self.restrict_to(a, lo - y.hi(), hi - y.lo(), depth)
                    && self.restrict_to(b, lo - x.hi(), hi - x.lo(), depth)
            }
            BinaryOp::Sub if all.lo() <= x.lo() - y.hi() && x.hi() - y.lo() <= all.hi() => {
                self.restrict_to(a, lo + y.lo(), hi + y.hi(), depth)
                    && self.restrict_to(b, x.lo() - hi, x.hi() - lo, depth)
            }
            BinaryOp::Mul | BinaryOp::Shl => match factor(op, self.ty(a).scalar, y) {
                Some(factor) if all.lo() <= x.lo() * factor && x.hi() * factor <= all.hi() => {
                    let up = lo.div_euclid(factor) + i128::from(lo.rem_euclid(factor) != 0);
                    self.restrict_to(a, up, hi.div_euclid(factor), depth)
                }
                _ => true,
            },
            BinaryOp::Div | BinaryOp::Shr if x.lo() >= 0 && lo >= 0 => {
                match factor(op, self.ty(a).scalar, y) {
                    Some(factor) => self.restrict_to(a, lo * factor, hi * factor + (factor - 1), depth),
                    None => true,
                }
            }
            BinaryOp::Min => self.restrict_to(a, lo, x.hi(), depth) && self.restrict_to(b, lo, y.hi(), depth),
            BinaryOp::Max => self.restrict_to(a, x.lo(), hi, depth) && self.restrict_to(b, y.lo(), hi, depth),
            // Low bits that are looked at alone.
            BinaryOp::Rem | BinaryOp::And => {
                let Some(divisor) = y.value() else { return true };
                let divisor = if op == BinaryOp::And { divisor + 1 } else { divisor };
                let Some(bits) = exponent(divisor) else { return true };
                let low = range.residue().truncated(bits);
                let like = Range::new(x.lo(), x.hi(), Residue::new(low.bits(), low.low()));
                like.is_some_and(|like| self.restrict(a, like, depth))
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Div
            | BinaryOp::Shr
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Pow
            | BinaryOp::Atan2 => true,
        }
    }
}

/// The positive number that an operation multiplies or divides by, if products with it can be counted.
fn factor(op: BinaryOp, scalar: Scalar, by: Range) -> Option<i128> {
    let by = by.value()?;
    let factor = match op {
        BinaryOp::Shl | BinaryOp::Shr => 1 << (by as u32 & (scalar.bits() - 1)),
        _ => by,
    };
    (0 < factor && factor < 1 << 62).then_some(factor)
}

/// The `n` of which a number is the power of two.
fn exponent(number: i128) -> Option<u32> {
    (number > 0 && number.count_ones() == 1).then(|| number.trailing_zeros())
}

/// What holds where a comparison of integers does not.
fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
