//! Operations of warps.
//!
//! A device's own groups of threads have a size of its own, which it may choose for each kernel, and no module can demand
//! one, nor which threads they are. So lanes show their values to each other through shared memory (see
//! [`exchange`](super::exchange)), and the order in which values are combined is that of [`tilewise_ir::op`].
//!
//! What a thread that has ended finds is not used: it takes part for the sake of the barriers.

use super::cast::Kind;
use super::code::Expr;
use super::exchange::Shown;
use super::{Emitter, Lanes};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, MathFunction, Statement};
use tilewise_ir::{BinaryOp, Inst, Kernel, Scalar, Shuffle, SiteKind, Span, Value, WARP_SIZE};

/// Where the first operation of warps stands.
pub(super) fn first_span(kernel: &Kernel) -> Span {
    let mut first = None;
    kernel.body.visit(&mut |inst| {
        if inst.op.is_warp_operation() && first.is_none() {
            first = Some(inst.span);
        }
    });
    first.unwrap_or(Span::NONE)
}

impl<'k> Emitter<'k> {
    /// The value that lanes show, in a register in which the result is exact, too.
    fn shown_value(&mut self, inst: &Inst) -> (Kind, Expr) {
        let value = inst.args[0];
        let wide = |value: &Value| self.plan.register(*value) == Register::U64;
        let mut kind = self.kind(value);
        if kind.scalar == Scalar::Index && inst.results.iter().any(wide) {
            kind.register = Register::U64;
        }
        let expr = self.lane_in(value, 0, kind.register);
        (kind, expr)
    }

    fn define_from(&mut self, inst: &Inst, kind: Kind, expr: Expr) {
        let Some(result) = inst.result() else { return };
        let expr = self.fit(expr, kind.register, self.plan.register(result));
        self.define(result, Lanes::from_slice(&[expr]));
    }

    // ---- shuffles ----

    pub(super) fn shuffle(&mut self, inst: &'k Inst, shuffle: Shuffle) {
        let (kind, own) = self.shown_value(inst);
        let number = self.lane(inst.args[1], 0);
        let shown = self.show(kind, own);
        let lane = self.lane_id();
        let [size, last] = [WARP_SIZE, WARP_SIZE - 1].map(|n| self.code.u32(n));
        let (source, inside) = match shuffle {
            Shuffle::Idx => (number, None),
            Shuffle::Xor => (self.code.binary(Operator::ExclusiveOr, lane, number), None),
            Shuffle::Up => {
                let inside = self.code.binary(Operator::LessEqual, number, lane);
                (self.code.binary(Operator::Subtract, lane, number), Some(inside))
            }
            Shuffle::Down => {
                let above = self.code.binary(Operator::Subtract, size, lane);
                let inside = self.code.binary(Operator::Less, number, above);
                (self.code.binary(Operator::Add, lane, number), Some(inside))
            }
        };
        let source = self.code.binary(Operator::And, source, last);
        let present = self.is_present(shown, source);
        let found = self.read_lane(shown, source);
        let gives = match (inside, present) {
            (Some(inside), Some(present)) => Some(self.code.and(inside, present)),
            (inside, present) => inside.or(present),
        };
        let result = gives.map_or(found, |gives| self.code.select(gives, found, own));
        self.define_from(inst, kind, result);
        if let Some(present) = present {
            let absent = self.code.not(present);
            let absent = inside.map_or(absent, |inside| self.code.and(inside, absent));
            let fails = self.if_live(absent);
            self.code.open();
            let none = self.code.u32(0);
            self.fault(inst.span, SiteKind::AbsentLane, &[(source, none)]);
            self.code.close_if(fails);
        }
    }

    // ---- votes ----

    pub(super) fn ballot(&mut self, inst: &'k Inst) {
        let Some(result) = inst.result() else { return };
        let always = self.constants[inst.args[0].0 as usize].is_some_and(|condition| !condition.is_zero());
        let votes = if always && !self.may_be_dead {
            self.first_lanes()
        } else {
            let condition = self.lane(inst.args[0], 0);
            self.votes(condition)
        };
        self.define(result, Lanes::from_slice(&[votes]));
    }

    /// The lanes that take part and for which a condition holds.
    fn votes(&mut self, condition: Expr) -> Expr {
        let condition = self.if_live(condition);
        let shown = self.show(Kind { scalar: Scalar::Bool, register: Register::Bool }, condition);
        let votes = self.code.variable(Register::U32);
        let none = self.code.u32(0);
        self.code.store(votes, none);
        let count = self.lane_count();
        self.each_lane(count, |emitter, lane| {
            let vote = emitter.read_lane(shown, lane);
            let (zero, one) = (emitter.code.u32(0), emitter.code.u32(1));
            let bit = emitter.code.binary(Operator::ShiftLeft, one, lane);
            let bit = emitter.code.select(vote, bit, zero);
            let before = emitter.code.load(votes);
            let both = emitter.code.binary(Operator::InclusiveOr, before, bit);
            emitter.code.store(votes, both);
        });
        self.code.load(votes)
    }

    /// Truth values combined, of all lanes or those up to this one.
    fn combine_bools(&mut self, inst: &'k Inst, op: BinaryOp, up_to_this: bool) {
        let Some(result) = inst.result() else { return };
        let condition = self.lane(inst.args[0], 0);
        // All hold where none does not.
        let asked = if op == BinaryOp::And { self.code.not(condition) } else { condition };
        let mut votes = self.votes(asked);
        let [zero, one, two] = [0, 1, 2].map(|n| self.code.u32(n));
        if up_to_this {
            let lane = self.lane_id();
            let above = self.code.binary(Operator::ShiftLeft, two, lane);
            let lanes = self.code.binary(Operator::Subtract, above, one);
            votes = self.code.binary(Operator::And, votes, lanes);
        }
        let holds = match op {
            BinaryOp::And => self.code.binary(Operator::Equal, votes, zero),
            BinaryOp::Or => self.code.binary(Operator::NotEqual, votes, zero),
            // The verifier lets only one more through.
            _ => {
                let count = self.code.math(MathFunction::CountOneBits, &[votes]);
                let odd = self.code.binary(Operator::And, count, one);
                self.code.binary(Operator::NotEqual, odd, zero)
            }
        };
        self.define(result, Lanes::from_slice(&[holds]));
    }

    // ---- reductions and scans ----

    pub(super) fn warp_reduce(&mut self, inst: &'k Inst, op: BinaryOp) {
        let (kind, own) = self.shown_value(inst);
        if kind.scalar == Scalar::Bool {
            return self.combine_bools(inst, op, false);
        }
        let threads = self.threads();
        let some = (self.may_be_dead || !threads.is_multiple_of(WARP_SIZE)).then(|| {
            let shown = self.show(kind, own);
            let count = self.lane_count();
            (shown, self.combine_some(op, shown, count))
        });
        let result = match some {
            Some((_, total)) if threads < WARP_SIZE => total,
            None => self.reduce_whole(op, kind, own),
            Some((shown, total)) => {
                let whole = self.reduce_whole(op, kind, own);
                let size = self.code.u32(WARP_SIZE);
                let is_whole = match shown.present {
                    Some(present) => {
                        let all = self.code.u32(u32::MAX);
                        self.code.binary(Operator::Equal, present, all)
                    }
                    None => {
                        let count = self.lane_count();
                        self.code.binary(Operator::Equal, count, size)
                    }
                };
                self.code.select(is_whole, whole, total)
            }
        };
        self.define_from(inst, kind, result);
    }

    pub(super) fn warp_scan(&mut self, inst: &'k Inst, op: BinaryOp) {
        let (kind, own) = self.shown_value(inst);
        if kind.scalar == Scalar::Bool {
            return self.combine_bools(inst, op, true);
        }
        let some = self.may_be_dead.then(|| {
            let shown = self.show(kind, own);
            let (lane, one) = (self.lane_id(), self.code.u32(1));
            let up_to_this = self.code.binary(Operator::Add, lane, one);
            (shown, self.combine_some(op, shown, up_to_this))
        });
        let lowest = self.scan_lowest(op, kind, own);
        let result = match some.and_then(|(shown, total)| Some((shown.present?, total))) {
            None => lowest,
            Some((present, total)) => {
                let (zero, one) = (self.code.u32(0), self.code.u32(1));
                let next = self.code.binary(Operator::Add, present, one);
                let both = self.code.binary(Operator::And, present, next);
                let are_lowest = self.code.binary(Operator::Equal, both, zero);
                self.code.select(are_lowest, lowest, total)
            }
        };
        self.define_from(inst, kind, result);
    }

    /// The values of all 32 lanes. What comes out of a warp that has fewer is not to be used.
    fn reduce_whole(&mut self, op: BinaryOp, kind: Kind, own: Expr) -> Expr {
        let total = self.code.variable(kind.register);
        self.code.store(total, own);
        let [first, last, one] = [WARP_SIZE / 2, 0, 1].map(|n| self.code.u32(n));
        self.rounds(first, last, |emitter, distance| {
            let before = emitter.code.load(total);
            let shown = emitter.show_value(kind, before);
            let lane = emitter.lane_id();
            let other = emitter.code.binary(Operator::ExclusiveOr, lane, distance);
            let other = emitter.read_lane(shown, other);
            let both = emitter.combined(op, kind, before, other);
            emitter.code.store(total, both);
            emitter.code.binary(Operator::ShiftRight, distance, one)
        });
        self.code.load(total)
    }

    /// The values up to each lane, where those that take part are the lowest of the warp; else it is not to be used.
    fn scan_lowest(&mut self, op: BinaryOp, kind: Kind, own: Expr) -> Expr {
        let total = self.code.variable(kind.register);
        self.code.store(total, own);
        let most = self.threads().min(WARP_SIZE).next_power_of_two();
        let [first, last] = [1, most].map(|n| self.code.u32(n));
        self.rounds(first, last, |emitter, distance| {
            let before = emitter.code.load(total);
            let shown = emitter.show_value(kind, before);
            let lane = emitter.lane_id();
            let exists = emitter.code.binary(Operator::LessEqual, distance, lane);
            let below = emitter.code.binary(Operator::Subtract, lane, distance);
            let below = emitter.code.select(exists, below, lane);
            let below = emitter.read_lane(shown, below);
            let both = emitter.combined(op, kind, below, before);
            let after = emitter.code.select(exists, both, before);
            emitter.code.store(total, after);
            let one = emitter.code.u32(1);
            emitter.code.binary(Operator::ShiftLeft, distance, one)
        });
        self.code.load(total)
    }

    /// The values of lanes that take part, of those below a number that the warp has, from the lowest to the highest.
    fn combine_some(&mut self, op: BinaryOp, shown: Shown, below: Expr) -> Expr {
        let kind = shown.kind;
        let (total, any) = (self.code.variable(kind.register), self.code.variable(Register::Bool));
        let (zero, no) = (self.code.zero(kind.register), self.code.bool(false));
        self.code.store(total, zero);
        self.code.store(any, no);
        self.each_lane(below, |emitter, lane| {
            let present = shown.present.and_then(|_| emitter.is_present(shown, lane));
            emitter.code.open();
            let next = emitter.read_lane(shown, lane);
            let before = emitter.code.load(total);
            let both = emitter.combined(op, kind, before, next);
            let follows = emitter.code.load(any);
            let after = emitter.code.select(follows, both, next);
            emitter.code.store(total, after);
            let yes = emitter.code.bool(true);
            emitter.code.store(any, yes);
            let always = emitter.code.bool(true);
            emitter.code.close_if(present.unwrap_or(always));
        });
        self.code.load(total)
    }

    fn combined(&mut self, op: BinaryOp, kind: Kind, a: Expr, b: Expr) -> Expr {
        if kind.scalar.is_float() {
            self.code.float_binary(op, kind.scalar, kind.register, a, b)
        } else {
            self.code.integer_binary(op, kind.scalar, kind.register, a, b)
        }
    }

    // ---- loops ----

    /// Runs `body` for each lane below a number.
    fn each_lane(&mut self, below: Expr, body: impl FnOnce(&mut Self, Expr)) {
        let (zero, one) = (self.code.u32(0), self.code.u32(1));
        self.rounds(zero, below, |emitter, lane| {
            body(emitter, lane);
            emitter.code.binary(Operator::Add, lane, one)
        });
    }

    /// Runs `body`, which gives the next number, for a number until it is `last`.
    fn rounds(&mut self, first: Expr, last: Expr, body: impl FnOnce(&mut Self, Expr) -> Expr) {
        let number = self.code.variable(Register::U32);
        self.code.store(number, first);
        self.code.open();
        let now = self.code.load(number);
        let ends = self.code.binary(Operator::Equal, now, last);
        self.code.open();
        self.code.push(Statement::Break);
        self.code.close_if(ends);
        let next = body(self, now);
        self.code.store(number, next);
        self.code.close_loop();
    }
}
