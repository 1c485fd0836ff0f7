//! Accesses: whether their bounds always hold, and what divides their addresses.

use super::adjacent::WIDEST;
use super::explain::Proof;
use super::facts::{AccessFacts, ArgNumbers};
use super::ranges::Walk;
use super::residue::Residue;
use crate::kernel::{Inst, MemRef, Value};
use crate::op::Op;
use crate::types::{Scalar, Type};

/// Backends place arrays of their own at multiples of so many bytes.
const ARRAYS: u32 = 16;

/// No alignment of more bytes is told.
const MOST: usize = 256;

impl<'a> Walk<'a> {
    /// An access: whether its bounds hold here, and how it is aligned.
    pub(super) fn access(&mut self, inst: &'a Inst) {
        let number = self.next.access;
        self.next.access += 1;
        let (Some(access), Some(values)) = (inst.op.access(), inst.op.access_args()) else { return };
        let last = self.last_lane(inst);
        let (mut in_bounds, mut reasons) = (0, Vec::new());
        for (n, (&dim, pair)) in access.bounds.iter().zip(inst.args[values..].chunks_exact(2)).enumerate() {
            let last = if dim == access.lane_dim { last } else { 0 };
            let proof = if n < 8 { self.proof(pair[0], last, pair[1]) } else { None };
            if proof.is_some() {
                in_bounds |= 1 << n;
            }
            if self.explained.is_some() {
                reasons.push(self.explain_bound(dim, pair, last, proof));
            }
        }
        self.explain_bounds(number, reasons);
        let align = self.alignment(inst, number);
        self.accesses[number] = AccessFacts { in_bounds, align };
    }

    /// The number of the last lane that bounds are checked for.
    fn last_lane(&self, inst: &Inst) -> i128 {
        let is_vector = self.element(inst).lanes > 1;
        // Elements that are vectors are never checked along the vector.
        if is_vector { 0 } else { i128::from(self.accessed(inst).lanes) - 1 }
    }

    /// Type of what is read or written.
    fn accessed(&self, inst: &Inst) -> Type {
        match inst.op {
            Op::Store(_) | Op::AtomicStore(..) => self.ty(inst.args[1]),
            _ => inst.results.first().map_or(self.element(inst), |&result| self.ty(result)),
        }
    }

    fn element(&self, inst: &Inst) -> Type {
        inst.op.access().and_then(|access| self.kernel.mem_elem(access.mem)).unwrap_or(Scalar::U8.ty())
    }

    /// Why `index + last < extent`, if that is certain.
    fn proof(&mut self, index: Value, last: i128, extent: Value) -> Option<Proof> {
        let holds = |walk: &Walk| walk.range(index).hi() + last < walk.range(extent).lo();
        if !holds(self) {
            self.sharpened(index, 3);
            self.sharpened(extent, 3);
        }
        if !holds(self) {
            return self.bounds_difference(index, extent, -1 - last).then_some(Proof::Difference);
        }
        let [index, extent] =
            [index, extent].map(|value| self.defined[value.0 as usize].unwrap_or(self.range(value)));
        Some(if index.hi() + last < extent.lo() { Proof::Launch } else { Proof::Condition })
    }

    /// Alignments of more than this are of no use for an access: a power of two, at least the size of an element. An access
    /// of a run could become one of more lanes.
    fn alignment_of_interest(&self, inst: &Inst, number: usize) -> u16 {
        let in_run = self.in_run.get(number).copied().unwrap_or(false);
        let size = self.accessed(inst).size().max(1).next_power_of_two();
        size.max(if in_run { WIDEST } else { 1 }).min(MOST) as u16
    }

    /// A power of two that divides the address of the first lane.
    fn alignment(&self, inst: &Inst, number: usize) -> u16 {
        let Some(access) = inst.op.access() else { return 0 };
        let element = self.element(inst);
        let start = match access.mem {
            MemRef::Alloc(_) => ARRAYS,
            MemRef::Param(param) => match self.argument(param) {
                Some(&ArgNumbers::Tensor { align, .. }) if align > 0 => 1 << align.trailing_zeros(),
                _ => 1,
            },
        };
        let offset = self.range(inst.args[0]).residue();
        let bytes = offset * Residue::exact(element.size() as i128);
        let divides = bytes.trailing_zeros().min(start.trailing_zeros()).min(15);
        // Each element lies at a multiple of its size.
        (1 << divides).max(element.scalar.size() as u16).min(self.alignment_of_interest(inst, number))
    }

    /// What holds of an access that is never reached: all that could be of use.
    pub(super) fn never_reached(&self, inst: &Inst, number: usize) -> AccessFacts {
        let entries = inst.op.access().map_or(0, |access| access.bounds.len());
        let in_bounds = if entries >= 8 { u8::MAX } else { (1 << entries) - 1 };
        AccessFacts { in_bounds, align: self.alignment_of_interest(inst, number) }
    }
}
