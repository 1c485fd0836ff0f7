//! Loads and stores, and the bounds of accesses.

use super::Emitter;
use super::code::Expr;
use crate::plan::{Register, access_facts, is_proved, together};
use naga::BinaryOperator as Operator;
use tilewise_ir::{Access, AccessKind, Inst, Op, SiteKind, Value};

/// Bounds of an access that have to be checked.
pub(super) struct Bounds {
    pairs: Vec<Pair>,
    kind: AccessKind,
    /// The number of the first lane is a multiple of so many elements, a power of two.
    together: usize,
}

struct Pair {
    dim: u8,
    index: Value,
    extent: Value,
    /// Whether lanes lie along it.
    along: bool,
}

impl<'k> Emitter<'k> {
    /// What is to be checked of an access. To be called once for each, in order.
    pub(super) fn bounds(&mut self, inst: &'k Inst, access: &Access, kind: AccessKind) -> Bounds {
        let facts = access_facts(self.plan.facts, self.next_access);
        self.next_access += 1;
        let first = inst.op.access_args().unwrap_or(inst.args.len());
        let is_vector = self.plan.kernel.mem_elem(access.mem).is_some_and(|elem| elem.lanes > 1);
        let pairs = access
            .bounds
            .iter()
            .zip(inst.args[first..].chunks_exact(2))
            .enumerate()
            .filter(|(n, _)| !is_proved(facts, *n))
            .map(|(_, (&dim, pair))| Pair {
                dim,
                index: pair[0],
                extent: pair[1],
                // Elements that are vectors are never checked along the vector.
                along: dim == access.lane_dim && !is_vector,
            })
            .collect();
        let value = if matches!(inst.op, Op::Store(_)) { inst.args.get(1) } else { inst.results.first() };
        let lanes = value.map_or(1, |&value| self.lanes(value));
        let elem = self.plan.kernel.mem_elem(access.mem).map_or(1, |ty| ty.scalar.size());
        Bounds { pairs, kind, together: together(facts, elem, lanes) }
    }

    /// Whether a lane is in bounds.
    pub(super) fn in_bounds(&mut self, bounds: &Bounds, lane: usize) -> Option<Expr> {
        let mut all = None;
        for pair in &bounds.pairs {
            let holds = self.is_below(pair, lane);
            all = Some(all.map_or(holds, |all| self.code.and(all, holds)));
        }
        all
    }

    fn pair_register(&self, pair: &Pair) -> Register {
        let wide = [pair.index, pair.extent].iter().any(|&v| self.plan.register(v) == Register::U64);
        if wide { Register::U64 } else { Register::U32 }
    }

    fn is_below(&mut self, pair: &Pair, lane: usize) -> Expr {
        let register = self.pair_register(pair);
        let index = self.lane_in(pair.index, 0, register);
        let extent = self.lane_in(pair.extent, 0, register);
        let first = self.code.binary(Operator::Less, index, extent);
        if lane == 0 || !pair.along {
            return first;
        }
        let room = self.code.binary(Operator::Subtract, extent, index);
        let lane = self.code.number(register, lane as u64);
        let fits = self.code.binary(Operator::Greater, room, lane);
        self.code.and(first, fits)
    }

    /// The fault of a lane that is out of bounds: of the first dimension of which it is.
    pub(super) fn out_of_bounds(&mut self, inst: &'k Inst, bounds: &Bounds, lane: usize) {
        self.first_out_of_bounds(inst, bounds, lane, 0);
    }

    fn first_out_of_bounds(&mut self, inst: &'k Inst, bounds: &Bounds, lane: usize, from: usize) {
        let Some(pair) = bounds.pairs.get(from) else { return };
        let is_last = from + 1 == bounds.pairs.len();
        if is_last {
            return self.report_pair(inst, bounds, pair, lane);
        }
        let holds = self.is_below(pair, lane);
        let fails = self.code.not(holds);
        self.code.open();
        self.report_pair(inst, bounds, pair, lane);
        let this = self.code.close();
        self.code.open();
        self.first_out_of_bounds(inst, bounds, lane, from + 1);
        let later = self.code.close();
        self.code.push_if(fails, this, later);
    }

    fn report_pair(&mut self, inst: &'k Inst, bounds: &Bounds, pair: &Pair, lane: usize) {
        let tensor = inst.op.access().map_or("", |access| self.plan.kernel.mem_name(access.mem)).to_owned();
        let extent = self.value_words(self.kind(pair.extent), self.lane(pair.extent, 0));
        let values = [self.index_words(pair, lane), extent];
        let kind = SiteKind::OutOfBounds { access: bounds.kind, tensor, dim: pair.dim };
        self.fault(inst.span, kind, &values);
    }

    /// The words of an index, `lane` further along if lanes lie along its dimension.
    fn index_words(&mut self, pair: &Pair, lane: usize) -> (Expr, Expr) {
        let kind = self.kind(pair.index);
        let index = self.lane(pair.index, 0);
        if lane == 0 || !pair.along {
            return self.value_words(kind, index);
        }
        let step = self.code.number(kind.register, lane as u64);
        let sum = self.code.binary(Operator::Add, index, step);
        let (low, high) = self.value_words(kind, sum);
        if kind.register != Register::U32 {
            return (low, high);
        }
        let carries = self.code.binary(Operator::Less, sum, index);
        let one = self.code.u32(1);
        (low, self.code.select(carries, one, high))
    }

    // ---- loads and stores ----

    pub(super) fn load(&mut self, inst: &'k Inst, access: &Access) {
        let Some(result) = inst.result() else { return };
        let bounds = self.bounds(inst, access, AccessKind::Load);
        let target = self.target(access.mem);
        let register = self.plan.register(result);
        let lanes = self.lanes(result);
        let first = self.offset(inst, access);
        let Some(all) = self.in_bounds(&bounds, lanes - 1) else {
            let values = self.read_run(target, first, bounds.together, register, lanes);
            return self.define(result, values.into());
        };
        let variables = self.variables(register, lanes);
        self.code.open();
        let values = self.read_run(target, first, bounds.together, register, lanes);
        for (&variable, &value) in variables.iter().zip(&values) {
            self.code.store(variable, value);
        }
        let accept = self.code.close();
        self.code.open();
        let zero = self.code.zero(register);
        for (lane, &variable) in variables.iter().enumerate() {
            self.code.store(variable, zero);
            self.lane_or_fault(inst, &bounds, lane, lanes, |emitter| {
                let at = emitter.after(first, lane);
                let value = emitter.read(target, at, register);
                emitter.code.store(variable, value);
            });
        }
        let reject = self.code.close();
        self.code.push_if(all, accept, reject);
        let values = self.load_all(&variables);
        self.define(result, values);
    }

    pub(super) fn store(&mut self, inst: &'k Inst, access: &Access) {
        let bounds = self.bounds(inst, access, AccessKind::Store);
        let target = self.target(access.mem);
        let value = inst.args[1];
        let register = self.plan.register(value);
        let values = self.values[value.0 as usize].clone();
        let lanes = values.len();
        let first = self.offset(inst, access);
        let Some(all) = self.in_bounds(&bounds, lanes - 1) else {
            return self.write_run(target, first, bounds.together, &values, register);
        };
        self.code.open();
        self.write_run(target, first, bounds.together, &values, register);
        let accept = self.code.close();
        self.code.open();
        for (lane, &value) in values.iter().enumerate() {
            self.lane_or_fault(inst, &bounds, lane, lanes, |emitter| {
                let at = emitter.after(first, lane);
                emitter.write(target, at, value, register);
            });
        }
        let reject = self.code.close();
        self.code.push_if(all, accept, reject);
    }

    /// A lane by itself, where not all are in bounds: a single one is not, then.
    fn lane_or_fault(
        &mut self,
        inst: &'k Inst,
        bounds: &Bounds,
        lane: usize,
        lanes: usize,
        access: impl FnOnce(&mut Self),
    ) {
        if lanes == 1 {
            return self.out_of_bounds(inst, bounds, 0);
        }
        let Some(holds) = self.in_bounds(bounds, lane) else { return };
        self.code.open();
        access(self);
        let accept = self.code.close();
        self.code.open();
        self.out_of_bounds(inst, bounds, lane);
        let reject = self.code.close();
        self.code.push_if(holds, accept, reject);
    }

    /// Number of the place of the first lane.
    pub(super) fn offset(&mut self, inst: &'k Inst, access: &Access) -> Expr {
        let offset = self.lane_in(inst.args[0], 0, Register::U32);
        self.first_place(access.mem, offset)
    }
}
