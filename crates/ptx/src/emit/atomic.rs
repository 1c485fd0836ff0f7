//! Atomics and fences.
//!
//! A sequentially consistent operation is a fence and the operation with the strongest other ordering. What has no
//! instruction, the smaller and larger of floats, is a loop of compare-and-exchange. In global memory the hardware
//! adds
//! `f32` with subnormal numbers taken as zero.

use tilewise_ir::{AtomicOp, BinaryOp, Ordering, Scalar, Scope};

use super::access::Action;
use super::address::Address;
use super::code::{Class, Operand, Reg};
use super::integer::integer_type;
use super::{Emitter, asm, guarded};

impl Emitter<'_> {
    pub(super) fn fence(&mut self, scope: Scope, ordering: Ordering) {
        let word = match ordering {
            Ordering::SeqCst => "sc",
            Ordering::Relaxed => return,
            Ordering::Acquire | Ordering::Release | Ordering::AcqRel => "acq_rel",
        };
        asm!(self, "fence.{word}.{}", scope_name(scope));
    }

    /// What stands before an operation of this ordering.
    fn fence_before(&mut self, scope: Scope, ordering: Ordering) {
        if ordering == Ordering::SeqCst {
            self.fence(scope, ordering);
        }
    }

    /// Performs an atomic on one element. A load or store that is none is not meant for this.
    pub(super) fn atomic(&mut self, action: &Action, at: &Address, scalar: Scalar) {
        let (space, bits) = (at.space, 8 * scalar.size());
        match *action {
            Action::Load { .. } | Action::Store { .. } => {}
            Action::AtomicLoad { to, scope, ordering } => {
                self.fence_before(scope, ordering);
                let word = match ordering {
                    Ordering::Relaxed => "relaxed",
                    _ => "acquire",
                };
                asm!(self, "ld.{word}.{}.{space}.b{bits} {to}, {at}", scope_name(scope));
            }
            Action::AtomicStore { from, scope, ordering } => {
                self.fence_before(scope, ordering);
                let word = match ordering {
                    Ordering::Relaxed => "relaxed",
                    _ => "release",
                };
                asm!(self, "st.{word}.{}.{space}.b{bits} {at}, {from}", scope_name(scope));
            }
            Action::Cas { to, expected, desired, scope, ordering } => {
                self.fence_before(scope, ordering);
                let how = how(scope, ordering);
                asm!(self, "atom.{how}.{space}.cas.b{bits} {to}, {at}, {expected}, {desired}");
            }
            Action::Rmw { op, to, value, scope, ordering } => {
                self.fence_before(scope, ordering);
                match instruction(op, scalar) {
                    Some(instruction) => self.native(&instruction, to, value, at, scope, ordering),
                    None => self.exchange_loop(op, scalar, to, value, at, scope, ordering),
                }
            }
        }
    }

    fn native(
        &mut self,
        instruction: &str,
        to: Option<Reg>,
        value: Reg,
        at: &Address,
        scope: Scope,
        ordering: Ordering,
    ) {
        let (space, how) = (at.space, how(scope, ordering));
        let reducible = matches!(ordering, Ordering::Relaxed | Ordering::Release);
        match to {
            None if reducible && !instruction.starts_with("exch") => {
                guarded!(self, "red.{how}.{space}.{instruction} {at}, {value}");
            }
            _ => {
                let to = to.unwrap_or_else(|| self.reg(value.class));
                guarded!(self, "atom.{how}.{space}.{instruction} {to}, {at}, {value}");
            }
        }
    }

    /// Computes the new value and exchanges it, until nobody has come between.
    #[expect(clippy::too_many_arguments, reason = "they are what the operation is")]
    fn exchange_loop(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        to: Option<Reg>,
        value: Reg,
        at: &Address,
        scope: Scope,
        ordering: Ordering,
    ) {
        let (space, bits) = (at.space, 8 * scalar.size());
        let bits_class = if bits == 64 { Class::B64 } else { Class::B32 };
        let [seen, seen_bits, new_bits, found] = [(); 4].map(|()| self.reg(bits_class));
        let old = to.unwrap_or_else(|| self.reg(value.class));
        let again = self.target();
        asm!(self, "ld.relaxed.{}.{space}.b{bits} {seen}, {at}", scope_name(scope));
        self.label(again);
        asm!(self, "mov.b{bits} {seen_bits}, {seen}");
        asm!(self, "mov.b{bits} {old}, {seen_bits}");
        let new = self.combined(op, scalar, old, value);
        asm!(self, "mov.b{bits} {new_bits}, {new}");
        let how = how(scope, ordering);
        asm!(self, "atom.{how}.{space}.cas.b{bits} {found}, {at}, {seen_bits}, {new_bits}");
        asm!(self, "mov.b{bits} {seen}, {found}");
        let other = self.reg(Class::Pred);
        asm!(self, "setp.ne.b{bits} {other}, {found}, {seen_bits}");
        self.jump_if(other, true, again);
    }

    /// What is written. Operations on types that have an instruction do not come here.
    fn combined(&mut self, op: AtomicOp, scalar: Scalar, old: Reg, value: Reg) -> Operand {
        let op = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exchange => return value.into(),
        };
        self.float_binary(op, scalar, old.into(), value.into()).unwrap_or(value.into())
    }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => "cta",
        Scope::Device => "gpu",
        Scope::System => "sys",
    }
}

/// Ordering and scope of a read-modify-write operation.
fn how(scope: Scope, ordering: Ordering) -> String {
    let ordering = match ordering {
        Ordering::Relaxed => "relaxed",
        Ordering::Acquire => "acquire",
        Ordering::Release => "release",
        Ordering::AcqRel | Ordering::SeqCst => "acq_rel",
    };
    format!("{ordering}.{}", scope_name(scope))
}

/// Whether there is an instruction for an operation.
pub(super) fn is_native(op: AtomicOp, scalar: Scalar) -> bool {
    instruction(op, scalar).is_some()
}

/// The operation and type of the instruction, if there is one.
fn instruction(op: AtomicOp, scalar: Scalar) -> Option<String> {
    let bits = 8 * scalar.size();
    Some(match op {
        AtomicOp::Add if scalar.is_float() => format!("add.{scalar}"),
        AtomicOp::Add => format!("add.u{bits}"),
        AtomicOp::Min | AtomicOp::Max if scalar.is_float() => return None,
        AtomicOp::Min => format!("min.{}", integer_type(scalar)),
        AtomicOp::Max => format!("max.{}", integer_type(scalar)),
        AtomicOp::And => format!("and.b{bits}"),
        AtomicOp::Or => format!("or.b{bits}"),
        AtomicOp::Xor => format!("xor.b{bits}"),
        AtomicOp::Exchange => format!("exch.b{bits}"),
    })
}
