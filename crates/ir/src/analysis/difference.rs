//! Bounds on differences of values, for what intervals cannot hold.
//!
//! In `let end = min(start + 32, n); for i in 0..end - start { a[start + i] }` no interval of `i` and `start` alone shows
//! that `start + i < n`. Conditions and counted loops leave facts like `i - (end - start) <= -1`. A bound on a
//! difference is searched for from these and from how values are computed: through sums, differences, minima, maxima and
//! selections that do not wrap, through roundings down, and values that are computed alike count as the same. The search
//! is bounded, so it may miss what follows from many steps.

use super::range::Range;
use super::ranges::{Walk, is_computed};
use crate::kernel::{Inst, Value};
use crate::op::{BinaryOp, Op};

/// It is certain that `a - b <= most`, as numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    a: Value,
    b: Value,
    most: i128,
}

/// How many steps one search takes at most.
const STEPS: usize = 96;

/// How many of the latest differences a search looks at.
const LATEST: usize = 12;

/// How deep a search goes.
const DEPTH: u32 = 5;

impl Walk<'_> {
    pub(super) fn differ_by_at_most(&mut self, a: Value, b: Value, most: i128) {
        self.differences.push(Difference { a, b, most });
    }

    /// Whether `a - b <= most`.
    pub(super) fn bounds_difference(&mut self, a: Value, b: Value, most: i128) -> bool {
        self.most(a, b, most) <= most
    }

    /// A bound of `a - b`; the search ends when it is down to `goal`.
    fn most(&mut self, a: Value, b: Value, goal: i128) -> i128 {
        let steps = self.effort.min(STEPS);
        let mut search = Search { walk: self, steps };
        let most = search.most(a, b, goal, DEPTH);
        let used = steps - search.steps;
        self.effort -= used;
        most
    }

    /// The range of a result, given its range by the intervals of its operands: closer for a difference of values that
    /// depend on each other.
    pub(super) fn closer_difference(&mut self, inst: &Inst, range: Range) -> Range {
        if !matches!(inst.op, Op::Binary(BinaryOp::Sub)) || range.value().is_some() {
            return range;
        }
        let [a, b] = [inst.args[0], inst.args[1]];
        let (x, y) = (self.range(a), self.range(b));
        let scalar = self.ty(a).scalar;
        if scalar.is_float() || scalar.is_signed_int() || self.ty(a).lanes != 1 || x.hi() < y.lo() {
            return range;
        }
        if x.lo() < y.hi() && !self.bounds_difference(b, a, 0) {
            return range;
        }
        // Nothing wraps. What is the sum, or the least, of something and `b` is near it.
        let is_near = self.definitions[a.0 as usize]
            .is_some_and(|inst| matches!(inst.op, Op::Binary(BinaryOp::Add | BinaryOp::Min | BinaryOp::Max)));
        if !is_near && x.lo() >= y.hi() {
            return range;
        }
        let lo = (x.lo() - y.hi()).max(0);
        let hi = self.most(a, b, lo);
        Range::new(lo, hi, range.residue()).and_then(|closer| closer.meet(range)).unwrap_or(range)
    }
}

struct Search<'w, 'a> {
    walk: &'w Walk<'a>,
    steps: usize,
}

impl<'a> Search<'_, 'a> {
    /// A bound of `a - b`, at most `goal` if one is found that is.
    fn most(&mut self, a: Value, b: Value, goal: i128, depth: u32) -> i128 {
        let (x, y) = (self.walk.range(a), self.walk.range(b));
        let mut best = x.hi() - y.lo();
        if best > 0 && self.is_same(a, b, 4) {
            best = 0;
        }
        if best <= goal || depth == 0 || self.steps == 0 {
            return best;
        }
        self.steps -= 1;
        self.by_known(a, b, goal, depth - 1, &mut best);
        if best > goal {
            self.by_first(a, b, goal, depth - 1, &mut best);
        }
        if best > goal {
            self.by_second(a, b, goal, depth - 1, &mut best);
        }
        best
    }

    /// By differences that are known: `a - b = (a - q) + (q - b)`.
    fn by_known(&mut self, a: Value, b: Value, goal: i128, depth: u32, best: &mut i128) {
        let known = self.walk.differences.len();
        for n in (known.saturating_sub(LATEST)..known).rev() {
            let Difference { a: p, b: q, most } = self.walk.differences[n];
            if self.is_same(p, a, 2) {
                *best = (*best).min(most + self.most(q, b, goal - most, depth));
            } else if self.is_same(q, b, 2) {
                *best = (*best).min(most + self.most(a, p, goal - most, depth));
            }
            if *best <= goal {
                return;
            }
        }
    }

    /// By how `a` is computed.
    fn by_first(&mut self, a: Value, b: Value, goal: i128, depth: u32, best: &mut i128) {
        let Some(inst) = self.definition(a) else { return };
        let mut found = |bound: i128| {
            *best = (*best).min(bound);
            *best <= goal
        };
        let (args, walk) = (&inst.args, self.walk);
        let range = |n: usize| walk.range(args[n]);
        match inst.op {
            Op::Binary(BinaryOp::Add) if self.is_exact(inst, depth) => {
                for (x, y) in [(args[0], args[1]), (args[1], args[0])] {
                    let more = walk.range(y).hi();
                    if found(more + self.most(x, b, goal - more, depth))
                        || self
                            .end_of(x, y)
                            .is_some_and(|(end, more)| found(more + self.most(end, b, goal - more, depth)))
                    {
                        return;
                    }
                }
            }
            Op::Binary(BinaryOp::Sub) if self.is_exact(inst, depth) => {
                let less = range(1).lo();
                found(self.most(args[0], b, goal + less, depth) - less);
            }
            Op::Binary(BinaryOp::Min) => {
                let _ =
                    found(self.most(args[0], b, goal, depth)) || found(self.most(args[1], b, goal, depth));
            }
            Op::Binary(BinaryOp::Max) => {
                found(self.most(args[0], b, goal, depth).max(self.most(args[1], b, goal, depth)));
            }
            Op::Select => {
                found(self.most(args[1], b, goal, depth).max(self.most(args[2], b, goal, depth)));
            }
            // Not above the first operand.
            Op::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr | BinaryOp::And)
                if range(0).lo() >= 0 && range(1).lo() >= 0 =>
            {
                found(self.most(args[0], b, goal, depth));
            }
            Op::Binary(BinaryOp::Mul | BinaryOp::Shl) => {
                if let Some(whole) = self.rounded_down(inst) {
                    found(self.most(whole, b, goal, depth));
                }
            }
            _ => {}
        }
    }

    /// By how `b` is computed.
    fn by_second(&mut self, a: Value, b: Value, goal: i128, depth: u32, best: &mut i128) {
        let Some(inst) = self.definition(b) else { return };
        let mut found = |bound: i128| {
            *best = (*best).min(bound);
            *best <= goal
        };
        let (args, walk) = (&inst.args, self.walk);
        let range = |n: usize| walk.range(args[n]);
        match inst.op {
            Op::Binary(BinaryOp::Add) if self.is_exact(inst, depth) => {
                for (x, y) in [(args[0], args[1]), (args[1], args[0])] {
                    let less = walk.range(y).lo();
                    if found(self.most(a, x, goal + less, depth) - less) {
                        return;
                    }
                }
            }
            Op::Binary(BinaryOp::Sub) if self.is_exact(inst, depth) => {
                let more = range(1).hi();
                found(more + self.most(a, args[0], goal - more, depth));
            }
            Op::Binary(BinaryOp::Max) => {
                let _ =
                    found(self.most(a, args[0], goal, depth)) || found(self.most(a, args[1], goal, depth));
            }
            Op::Binary(BinaryOp::Min) => {
                found(self.most(a, args[0], goal, depth).max(self.most(a, args[1], goal, depth)));
            }
            Op::Select => {
                found(self.most(a, args[1], goal, depth).max(self.most(a, args[2], goal, depth)));
            }
            _ => {}
        }
    }

    /// Where `y` is known to be near `end - x`: that end, and by how much `x + y` is above it at most.
    fn end_of(&mut self, x: Value, y: Value) -> Option<(Value, i128)> {
        let known = self.walk.differences.len();
        for n in (known.saturating_sub(LATEST)..known).rev() {
            let Difference { a: p, b: q, most } = self.walk.differences[n];
            if let Some((end, start)) = self.is_same(p, y, 2).then(|| self.length(q)).flatten()
                && self.is_same(start, x, 3)
            {
                return Some((end, most));
            }
        }
        None
    }

    /// `(end, start)` of a value that is at most `end - start`.
    fn length(&mut self, value: Value) -> Option<(Value, Value)> {
        let mut inst = self.definition(value)?;
        if let Some(whole) = self.rounded_down(inst) {
            inst = self.definition(whole)?;
        }
        let is_exact = matches!(inst.op, Op::Binary(BinaryOp::Sub)) && self.is_exact(inst, 3);
        is_exact.then(|| (inst.args[0], inst.args[1]))
    }

    /// The `x` of an operation that computes `x / n * n` of a value that is not negative.
    fn rounded_down(&self, inst: &Inst) -> Option<Value> {
        let [a, b] = inst.args[..] else { return None };
        let whole = |quotient: Value, by: Value, op: BinaryOp| {
            let inner = self.definition(quotient)?;
            let divides = inner.op == Op::Binary(op)
                && self.walk.range(inner.args[0]).lo() >= 0
                && self.walk.range(inner.args[1]).lo() >= 0
                && (inner.args[1] == by
                    || self
                        .walk
                        .range(by)
                        .value()
                        .is_some_and(|n| self.walk.range(inner.args[1]).value() == Some(n)));
            divides.then(|| inner.args[0])
        };
        match inst.op {
            Op::Binary(BinaryOp::Shl) => whole(a, b, BinaryOp::Shr),
            Op::Binary(BinaryOp::Mul) => whole(a, b, BinaryOp::Div).or_else(|| whole(b, a, BinaryOp::Div)),
            _ => None,
        }
    }

    /// The operation that computes a value of one lane.
    fn definition(&self, value: Value) -> Option<&'a Inst> {
        let inst = self.walk.definitions[value.0 as usize]?;
        let is_one = self.walk.ty(value).lanes == 1 && self.walk.is_integer(value);
        (is_one && is_computed(&inst.op)).then_some(inst)
    }

    /// Whether a sum or difference does not wrap.
    fn is_exact(&mut self, inst: &Inst, depth: u32) -> bool {
        let [a, b] = [inst.args[0], inst.args[1]];
        let (x, y) = (self.walk.range(a), self.walk.range(b));
        let all = Range::all(self.walk.ty(a).scalar);
        match inst.op {
            Op::Binary(BinaryOp::Add) => all.lo() <= x.lo() + y.lo() && x.hi() + y.hi() <= all.hi(),
            Op::Binary(BinaryOp::Sub) => {
                x.hi() - y.lo() <= all.hi()
                    && (all.lo() <= x.lo() - y.hi()
                        || all.lo() == 0 && depth > 0 && self.most(b, a, 0, depth - 1) <= 0)
            }
            _ => false,
        }
    }

    /// Whether two values are certainly equal: the same, the same number, or computed alike.
    fn is_same(&self, a: Value, b: Value, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let (x, y) = (self.walk.range(a), self.walk.range(b));
        if x.value().is_some() || y.value().is_some() {
            return x == y && self.walk.is_integer(a) && self.walk.is_integer(b);
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let definitions = (self.walk.definitions[a.0 as usize], self.walk.definitions[b.0 as usize]);
        let (Some(first), Some(second)) = definitions else { return false };
        is_computed(&first.op)
            && first.op == second.op
            && first.args.len() == second.args.len()
            && first.args.iter().zip(&second.args).all(|(&a, &b)| {
                // Of equal floats that are NaN the bits may differ.
                (a == b || self.walk.is_integer(a)) && self.is_same(a, b, depth)
            })
    }
}
