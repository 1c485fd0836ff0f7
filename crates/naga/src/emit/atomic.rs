//! Atomic operations and fences.
//!
//! Atomics of shader languages are relaxed. Stronger orders are made of memory barriers: one before the operation for
//! release, one after it for acquire, both for sequential consistency, which orders the operation with all accesses of the
//! thread; tensors that are written are then coherent. All scopes are that of the device: the host sees memory only after
//! a launch. For a device that wants it so, a memory barrier is an atomic operation on a cell of shared memory
//! ([`Capabilities::barriers_by_atomics`](crate::Capabilities::barriers_by_atomics)).
//!
//! Where a device lacks an operation, or compares by value and not by bits, a loop compares and exchanges bits.

use super::Emitter;
use super::access::Bounds;
use super::cast::Kind;
use super::code::Expr;
use super::place::Target;
use crate::plan::{Form, Register};
use naga::{AddressSpace, AtomicFunction, Statement, TypeInner};
use tilewise_ir::{Access, AccessKind, AtomicOp, BinaryOp, CompareOp, Inst, Op, Ordering, Scalar};

impl<'k> Emitter<'k> {
    pub(super) fn memory_barrier(&mut self) {
        if !self.plan.capabilities.barriers_by_atomics {
            let flags = naga::Barrier::STORAGE | naga::Barrier::WORK_GROUP;
            return self.code.push(Statement::MemoryBarrier(flags));
        }
        let cell = match self.ordered_cell {
            Some(cell) => cell,
            None => {
                let ty = self.code.ty(TypeInner::Atomic(naga::Scalar::U32));
                let none = naga::MemoryDecorations::empty();
                let cell = self.code.add_global("order", AddressSpace::WorkGroup, None, ty, none);
                *self.ordered_cell.insert(self.code.global(cell))
            }
        };
        let zero = self.code.u32(0);
        self.code.atomic_effect(cell, AtomicFunction::Add, zero);
    }

    pub(super) fn atomic(&mut self, inst: &'k Inst) {
        let (access, order) = match &inst.op {
            Op::AtomicLoad(access, _, order)
            | Op::AtomicStore(access, _, order)
            | Op::AtomicRmw(_, access, _, order)
            | Op::AtomicCas(access, _, order) => (access, *order),
            // All others are not atomic.
            _ => return,
        };
        if matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
            self.memory_barrier();
        }
        let bounds = self.bounds(inst, access, AccessKind::Atomic);
        self.atomic_in_bounds(inst, access, &bounds);
        if matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
            self.memory_barrier();
        }
    }

    fn atomic_in_bounds(&mut self, inst: &'k Inst, access: &Access, bounds: &Bounds) {
        let at = self.offset(inst, access);
        let target = self.target(access.mem);
        let Some(holds) = self.in_bounds(bounds, 0) else {
            let before = self.atomic_at(inst, target, at);
            if let (Some(before), Some(result)) = (before, inst.result()) {
                self.define(result, std::iter::once(before).collect());
            }
            return;
        };
        let variables = inst.result().map(|result| self.variables(self.plan.register(result), 1));
        self.code.open();
        let before = self.atomic_at(inst, target, at);
        if let (Some(before), Some(variables)) = (before, &variables) {
            self.code.store(variables[0], before);
        }
        let accept = self.code.close();
        self.code.open();
        if let (Some(result), Some(variables)) = (inst.result(), &variables) {
            let zero = self.code.zero(self.plan.register(result));
            self.code.store(variables[0], zero);
        }
        self.out_of_bounds(inst, bounds, 0);
        let reject = self.code.close();
        self.code.push_if(holds, accept, reject);
        if let (Some(result), Some(variables)) = (inst.result(), &variables) {
            let values = self.load_all(variables);
            self.define(result, values);
        }
    }

    /// The operation itself; gives its result, in its register.
    fn atomic_at(&mut self, inst: &'k Inst, target: Target, at: Expr) -> Option<Expr> {
        let place = target.memory.form.place();
        match inst.op {
            Op::AtomicLoad(..) => {
                let register = inst.result().map(|result| self.plan.register(result))?;
                Some(self.read(target, at, register))
            }
            Op::AtomicStore(..) => {
                let value = inst.args[1];
                let expr = self.lane(value, 0);
                self.write(target, at, expr, self.plan.register(value));
                None
            }
            Op::AtomicRmw(op, ..) => {
                let pointer = self.pointer(target, at);
                let value = self.lane_in(inst.args[1], 0, self.natural(target));
                let before = match native(op, target.memory.form, target.elem) {
                    Some(function) => {
                        let value = self.place_bits(target, value);
                        self.code.atomic(pointer, function, value, place)
                    }
                    None => self.modify(op, target, pointer, value),
                };
                Some(self.result_of_place(inst, target, before))
            }
            Op::AtomicCas(..) => {
                let pointer = self.pointer(target, at);
                let [expected, desired] = [1, 2].map(|n| {
                    let value = self.lane_in(inst.args[n], 0, self.natural(target));
                    self.place_bits(target, value)
                });
                let before = self.compare_exchange(pointer, expected, desired, place);
                Some(self.result_of_place(inst, target, before))
            }
            _ => None,
        }
    }

    /// The register of an element's value; of an index, that of the memory.
    fn natural(&self, target: Target) -> Register {
        match target.elem {
            Scalar::Index => target.memory.form.place(),
            elem => self.plan.register_of(elem, false),
        }
    }

    fn place_bits(&mut self, target: Target, value: Expr) -> Expr {
        match target.memory.form {
            Form::Bits(_) => self.code.bits(self.bits_kind(target), value),
            Form::Plain(_) | Form::Packed(_) | Form::Halves => value,
        }
    }

    fn result_of_place(&mut self, inst: &Inst, target: Target, value: Expr) -> Expr {
        let value = match target.memory.form {
            Form::Bits(_) => self.code.value_of_bits(self.bits_kind(target), value),
            Form::Plain(_) | Form::Packed(_) | Form::Halves => value,
        };
        match (target.elem, inst.result()) {
            (Scalar::Index, Some(result)) => {
                self.fit(value, target.memory.form.place(), self.plan.register(result))
            }
            _ => value,
        }
    }

    /// Exchanges if the place holds what is expected; gives what it held.
    fn compare_exchange(&mut self, pointer: Expr, expected: Expr, desired: Expr, place: Register) -> Expr {
        let held = self.code.variable(place);
        self.code.open();
        let (before, exchanged) = self.code.exchange(pointer, expected, desired, place);
        self.code.store(held, before);
        // It may fail for no reason.
        let differs = self.code.compare(CompareOp::Ne, Scalar::U32, before, expected);
        let done = self.code.or(exchanged, differs);
        self.code.open();
        self.code.push(Statement::Break);
        self.code.close_if(done);
        self.code.close_loop();
        self.code.load(held)
    }

    /// An operation that the device lacks; gives what the place held.
    fn modify(&mut self, op: AtomicOp, target: Target, pointer: Expr, value: Expr) -> Expr {
        let place = target.memory.form.place();
        let kind = self.bits_kind(target);
        let held = self.code.variable(place);
        let first = self.code.load(pointer);
        self.code.store(held, first);
        self.code.open();
        let expected = self.code.load(held);
        let before = self.code.value_of_bits(kind, expected);
        let after = self.modified(op, kind, before, value);
        let after = self.code.bits(kind, after);
        let (before, exchanged) = self.code.exchange(pointer, expected, after, place);
        self.code.store(held, before);
        self.code.open();
        self.code.push(Statement::Break);
        self.code.close_if(exchanged);
        self.code.close_loop();
        self.code.load(held)
    }

    fn modified(&mut self, op: AtomicOp, kind: Kind, before: Expr, value: Expr) -> Expr {
        let op = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Exchange => return value,
        };
        if kind.scalar.is_float() {
            self.code.float_binary(op, kind.scalar, kind.register, before, value)
        } else {
            self.code.integer_binary(op, kind.scalar, kind.register, before, value)
        }
    }
}

/// The function of the device that does an operation on elements in this form.
fn native(op: AtomicOp, form: Form, elem: Scalar) -> Option<AtomicFunction> {
    let exchange = AtomicFunction::Exchange { compare: None };
    match (form, op) {
        (_, AtomicOp::Exchange) => Some(exchange),
        (Form::Bits(_), _) => None,
        (_, AtomicOp::Add) => Some(AtomicFunction::Add),
        _ if elem.is_float() => None,
        (_, AtomicOp::Min) => Some(AtomicFunction::Min),
        (_, AtomicOp::Max) => Some(AtomicFunction::Max),
        (_, AtomicOp::And) => Some(AtomicFunction::And),
        (_, AtomicOp::Or) => Some(AtomicFunction::InclusiveOr),
        (_, AtomicOp::Xor) => Some(AtomicFunction::ExclusiveOr),
    }
}
