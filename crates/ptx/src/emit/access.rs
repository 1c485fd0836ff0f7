//! Accesses of memory, and their checks.
//!
//! An access that needs checks has two forms. The fast one is for all lanes in bounds and, if they are accessed at
//! once, aligned. The other goes lane by lane, reports each that is out of bounds, and stands at the end of the
//! function.
//!
//! An access of one lane needs no branch: it is performed under a predicate, and what is out of bounds is reported later, by
//! [`Emitter::report_postponed`], at the latest where the block of operations ends or something else may be reported. So
//! loads whose indices come from memory are under way together, as they are without checks. In loops that only read, not even
//! that much is done: see [`note`](super::note).

use tilewise_ir::analysis::AccessFacts;
use tilewise_ir::{
    Access, AccessKind, AtomicOp, Inst, MemRef, Op, Ordering, Scalar, Scope, SiteKind, Type, Value,
};

use super::address::Address;
use super::atomic::is_native;
use super::code::{Class, Operand, Reg};
use super::integer::zero_of;
use super::note::Reports;
use super::vector::MAX_BYTES;
use super::{Emitter, asm};
use crate::plan::is_proven;

/// What an access does, with its operands in registers.
pub(super) enum Action {
    Load {
        to: Vec<Reg>,
    },
    Store {
        from: Vec<Reg>,
    },
    AtomicLoad {
        to: Reg,
        scope: Scope,
        ordering: Ordering,
    },
    AtomicStore {
        from: Reg,
        scope: Scope,
        ordering: Ordering,
    },
    /// The result is left out if nobody needs it.
    Rmw {
        op: AtomicOp,
        to: Option<Reg>,
        value: Reg,
        scope: Scope,
        ordering: Ordering,
    },
    Cas {
        to: Reg,
        expected: Reg,
        desired: Reg,
        scope: Scope,
        ordering: Ordering,
    },
}

/// The most accesses that wait for their report: until then their indices are in registers.
const POSTPONED: usize = 16;

/// Accesses that may have been out of bounds, in order.
#[derive(Default)]
pub(super) struct Postponed {
    accesses: Vec<Vec<Bound>>,
    /// Whether all were in bounds.
    fine: Option<Reg>,
}

/// An entry of the bounds that is not known to hold.
struct Bound {
    index: Value,
    extent: Value,
    site: u32,
    /// Whether the index grows with the lane.
    moves: bool,
}

impl Emitter<'_> {
    pub(super) fn access(&mut self, inst: &Inst, access: &Access, known: AccessFacts) {
        let (Some(first), Some(elem)) = (inst.op.access_args(), self.kernel.mem_elem(access.mem)) else {
            return;
        };
        let bounds = self.open_bounds(inst, access, first, known);
        let needed = inst.result().is_none_or(|result| self.plan.is_needed(result));
        if matches!(inst.op, Op::Load(_)) && bounds.is_empty() && !needed {
            return;
        }
        let ty = match inst.op {
            Op::Load(_) => inst.result().map_or(elem, |result| self.ty(result)),
            Op::Store(_) => self.ty(inst.args[1]),
            _ => elem,
        };
        let action = self.action(inst, ty, needed);
        let at = self.address(access.mem, inst.args[0], elem.size());
        let (align, test) = alignment(&at, access, known, ty);
        // Lanes of a vector that is one element are in bounds together.
        let elements = if elem.lanes > 1 { 1 } else { u64::from(ty.lanes) };
        if bounds.is_empty() && !test {
            return self.perform(&action, access.mem, &at, ty, align);
        }

        if !test && ty.lanes == 1 && is_one_instruction(&action, ty.scalar) {
            return self.perform_if_in_bounds(&action, access.mem, &at, ty, bounds);
        }
        self.report_postponed();
        let mut ok = test.then(|| self.is_aligned(&at, align));
        for bound in &bounds {
            ok = Some(self.in_bounds(bound, elements, ok));
        }
        let (cold, done) = (self.target(), self.target());
        if let Some(ok) = ok {
            self.jump_if(ok, false, cold);
        }
        self.perform(&action, access.mem, &at, ty, align);
        self.label(done);
        let single = !test && ty.lanes == 1;
        self.cold(|emitter| {
            emitter.label(cold);
            emitter.lane_by_lane(&action, access.mem, &at, ty, &bounds, elements, single);
            emitter.jump(done);
        });
    }

    /// Performs an access of one lane if it is in bounds, and leaves the report for later.
    fn perform_if_in_bounds(
        &mut self,
        action: &Action,
        mem: MemRef,
        at: &Address,
        ty: Type,
        bounds: Vec<Bound>,
    ) {
        let ok = bounds.iter().fold(None, |ok, bound| Some(self.in_bounds(bound, 1, ok)));
        self.zero(action, 0);
        self.guard = ok;
        self.perform(action, mem, at, ty, ty.scalar.size());
        self.guard = None;
        let Some(ok) = ok else { return };
        if let Reports::Noted(fine) = self.reports {
            asm!(self, "and.pred {fine}, {fine}, {ok}");
            return;
        }
        self.postponed.fine = Some(match self.postponed.fine {
            None => ok,
            Some(others) => {
                let all = self.reg(Class::Pred);
                asm!(self, "and.pred {all}, {others}, {ok}");
                all
            }
        });
        self.postponed.accesses.push(bounds);
        if self.postponed.accesses.len() == POSTPONED {
            self.report_postponed();
        }
    }

    /// Reports the accesses that were out of bounds since the last time.
    pub(super) fn report_postponed(&mut self) {
        let Postponed { accesses, fine: Some(fine) } = std::mem::take(&mut self.postponed) else { return };
        let (cold, done) = (self.target(), self.target());
        self.jump_if(fine, false, cold);
        self.label(done);
        let is_single = accesses.len() == 1;
        self.cold(|emitter| {
            emitter.label(cold);
            // Before the first branch, so that all of them can use what is computed.
            let limits = |emitter: &mut Self, bound: &Bound| {
                (emitter.wide(bound.index, 0), emitter.wide(bound.extent, 0))
            };
            let limits: Vec<Vec<_>> = accesses
                .iter()
                .map(|bounds| bounds.iter().map(|bound| limits(emitter, bound)).collect())
                .collect();
            for (bounds, limits) in accesses.iter().zip(&limits) {
                let next = emitter.target();
                for (n, (bound, &(index, extent))) in bounds.iter().zip(limits).enumerate() {
                    // Who is out of bounds, but not by the bounds before, is so by the last.
                    if is_single && n + 1 == bounds.len() {
                        emitter.fault(bound.site, &[index, extent]);
                        break;
                    }
                    let (index, inside) = emitter.lane_in_bounds(index, extent, 0);
                    let within = emitter.target();
                    emitter.jump_if(inside, true, within);
                    emitter.fault(bound.site, &[index, extent]);
                    emitter.jump(next);
                    emitter.label(within);
                }
                emitter.label(next);
            }
            emitter.jump(done);
        });
    }

    /// The entries of the bounds that have to be checked.
    fn open_bounds(&mut self, inst: &Inst, access: &Access, first: usize, known: AccessFacts) -> Vec<Bound> {
        let kind = match inst.op {
            Op::Load(_) => AccessKind::Load,
            Op::Store(_) => AccessKind::Store,
            _ => AccessKind::Atomic,
        };
        let open = (0..access.bounds.len()).filter(|&n| !is_proven(known, n));
        open.map(|n| {
            let dim = access.bounds[n];
            let tensor = self.kernel.mem_name(access.mem).to_owned();
            Bound {
                index: inst.args[first + 2 * n],
                extent: inst.args[first + 2 * n + 1],
                site: self.site(SiteKind::OutOfBounds { access: kind, tensor, dim }),
                moves: dim == access.lane_dim,
            }
        })
        .collect()
    }

    /// Puts operands into registers, and makes those of the result.
    fn action(&mut self, inst: &Inst, ty: Type, needed: bool) -> Action {
        let class = Class::of(ty.scalar);
        let result = |emitter: &mut Self| {
            let to: Vec<_> = (0..ty.lanes).map(|_| emitter.reg(class)).collect();
            if let Some(result) = inst.result() {
                emitter.define(result, to.iter().map(|&reg| reg.into()).collect());
            }
            to
        };
        let stored = |emitter: &mut Self, n: usize, lane: usize| {
            let value = emitter.operand(inst.args[n], lane);
            emitter.stored(ty.scalar, value)
        };
        match inst.op {
            Op::AtomicLoad(_, scope, ordering) => Action::AtomicLoad { to: result(self)[0], scope, ordering },
            Op::AtomicStore(_, scope, ordering) => {
                Action::AtomicStore { from: stored(self, 1, 0), scope, ordering }
            }
            Op::AtomicRmw(op, _, scope, ordering) => {
                let to = needed.then(|| result(self)[0]);
                Action::Rmw { op, to, value: stored(self, 1, 0), scope, ordering }
            }
            Op::AtomicCas(_, scope, ordering) => {
                let (expected, desired) = (stored(self, 1, 0), stored(self, 2, 0));
                Action::Cas { to: result(self)[0], expected, desired, scope, ordering }
            }
            Op::Store(_) => {
                Action::Store { from: (0..ty.lanes.into()).map(|lane| stored(self, 1, lane)).collect() }
            }
            _ => Action::Load { to: result(self) },
        }
    }

    /// Performs an access whose lanes are all in bounds, and the first of which is aligned to `align` bytes.
    fn perform(&mut self, action: &Action, mem: MemRef, at: &Address, ty: Type, align: usize) {
        match action {
            Action::Load { to } => self.load(self.load_space(mem, at), at, ty.scalar, to, align),
            Action::Store { from } => self.store(at, ty.scalar, from, align),
            atomic => self.atomic(atomic, at, ty.scalar),
        }
    }

    /// What nobody writes while the kernel runs may be cached without care.
    fn load_space(&self, mem: MemRef, at: &Address) -> &'static str {
        if self.kernel.is_constant_memory(mem) { "global.nc" } else { at.space }
    }

    // ---- checks ----

    /// Whether all elements are within a bound, and `and`.
    fn in_bounds(&mut self, bound: &Bound, elements: u64, and: Option<Reg>) -> Reg {
        let (mut index, mut extent) = (self.operand(bound.index, 0), self.operand(bound.extent, 0));
        let more = if bound.moves { elements - 1 } else { 0 };
        let ty = if index.is_narrow() && extent.is_narrow() {
            (index, extent) = (self.low_of(index), self.low_of(extent));
            "u32"
        } else {
            (index, extent) = (self.wide_of(index), self.wide_of(extent));
            "u64"
        };
        if more > 0 {
            // The extent of first elements: one that nothing is in becomes zero.
            let class = if ty == "u32" { Class::B32 } else { Class::B64 };
            let (least, reduced) = (self.reg(class), self.reg(class));
            asm!(self, "max.{ty} {least}, {extent}, {more}");
            asm!(self, "sub.{ty} {reduced}, {least}, {more}");
            extent = reduced.into();
        }
        let (index, result) = (self.in_register(index), self.reg(Class::Pred));
        match and {
            Some(and) => asm!(self, "setp.lt.and.{ty} {result}, {index}, {extent}, {and}"),
            None => asm!(self, "setp.lt.{ty} {result}, {index}, {extent}"),
        }
        result
    }

    /// Each lane by itself: accessed if it is in bounds, else reported. `single` is whether there is one lane, which
    /// is out of bounds.
    #[expect(clippy::too_many_arguments, reason = "they are what the access is")]
    fn lane_by_lane(
        &mut self,
        action: &Action,
        mem: MemRef,
        at: &Address,
        ty: Type,
        bounds: &[Bound],
        elements: u64,
        single: bool,
    ) {
        // Before the first branch, so that all lanes can use them.
        let limits: Vec<_> =
            bounds.iter().map(|bound| (self.wide(bound.index, 0), self.wide(bound.extent, 0))).collect();
        for lane in 0..usize::from(ty.lanes) {
            let (next, out) = (self.target(), self.target());
            let element = if elements == 1 { 0 } else { lane as u64 };
            for (n, (bound, &(index, extent))) in bounds.iter().zip(&limits).enumerate() {
                // Who is out of bounds, but not by the bounds before, is so by the last.
                if single && n + 1 == bounds.len() {
                    self.fault(bound.site, &[index, extent]);
                    break;
                }
                let (index, inside) =
                    self.lane_in_bounds(index, extent, if bound.moves { element } else { 0 });
                let within = self.target();
                self.jump_if(inside, true, within);
                self.fault(bound.site, &[index, extent]);
                self.jump(out);
                self.label(within);
            }
            if !single {
                self.perform_lane(action, mem, at, ty.scalar, lane);
                self.jump(next);
            }
            if !bounds.is_empty() {
                self.label(out);
                self.zero(action, lane);
            }
            self.label(next);
        }
    }

    /// The index of a lane and whether it is in bounds. An index that would wrap is the one of the first lane.
    fn lane_in_bounds(&mut self, index: Operand, extent: Operand, element: u64) -> (Operand, Reg) {
        let inside = self.reg(Class::Pred);
        let first = self.in_register(index);
        if element == 0 {
            asm!(self, "setp.lt.u64 {inside}, {first}, {extent}");
            return (first.into(), inside);
        }
        let (sum, shown, fits) = (self.reg(Class::B64), self.reg(Class::B64), self.reg(Class::Pred));
        asm!(self, "add.u64 {sum}, {first}, {element}");
        asm!(self, "setp.ge.u64 {fits}, {sum}, {first}");
        asm!(self, "selp.b64 {shown}, {sum}, {first}, {fits}");
        asm!(self, "setp.lt.and.u64 {inside}, {sum}, {extent}, {fits}");
        (shown.into(), inside)
    }

    fn perform_lane(&mut self, action: &Action, mem: MemRef, at: &Address, scalar: Scalar, lane: usize) {
        let here = at.plus(lane * scalar.size());
        match action {
            Action::Load { to } => {
                self.load(self.load_space(mem, at), &here, scalar, &to[lane..=lane], scalar.size())
            }
            Action::Store { from } => self.store(&here, scalar, &from[lane..=lane], scalar.size()),
            atomic => self.atomic(atomic, &here, scalar),
        }
    }

    /// The result of a lane that is out of bounds.
    fn zero(&mut self, action: &Action, lane: usize) {
        let to = match action {
            Action::Load { to } => Some(to[lane]),
            Action::AtomicLoad { to, .. } | Action::Cas { to, .. } => Some(*to),
            Action::Rmw { to, .. } => *to,
            Action::Store { .. } | Action::AtomicStore { .. } => None,
        };
        if let Some(to) = to {
            self.set(to, zero_of(to.class));
        }
    }
}

/// Whether an access of one lane is one instruction, and orders nothing.
fn is_one_instruction(action: &Action, scalar: Scalar) -> bool {
    match action {
        Action::Load { .. } | Action::Store { .. } => true,
        Action::Rmw { op, ordering: Ordering::Relaxed, .. } => is_native(*op, scalar),
        Action::Rmw { .. } | Action::Cas { .. } | Action::AtomicLoad { .. } | Action::AtomicStore { .. } => {
            false
        }
    }
}

/// To how many bytes the first lane is aligned if the fast form runs, and whether that has to be tested. What the
/// user claims is tested, and if there is neither a proof nor a claim, so is what would be best.
fn alignment(at: &Address, access: &Access, known: AccessFacts, ty: Type) -> (usize, bool) {
    let size = ty.scalar.size();
    let proven = usize::from(known.align).max(at.known_alignment()).max(size);
    let best = (1 << ty.size().min(MAX_BYTES).ilog2()).max(size);
    let claimed = usize::from(access.align).min(best);
    if proven >= best || ty.lanes == 1 {
        return (proven.min(best), false);
    }
    match proven > size && claimed <= proven {
        true => (proven, false),
        false if claimed > proven => (claimed, true),
        false => (best, true),
    }
}
