//! Atomic operations on elements of tensors.

use std::panic::Location;

use smallvec::SmallVec;
use tilewise_ir::{Access, AtomicOp, Op, Ordering, Scope};

use crate::element::{Atomic, Element, Int};
use crate::recorder::{self, Raw};
use crate::staged::{Stage, StageAs};
use crate::tensor::index::TensorIndex;
use crate::tensor::{TileTensor, Writable};
use crate::val::Val;

/// An element of a tensor on which threads work atomically.
///
/// Operations are relaxed and hold among all threads of the device, unless [`ordering`](AtomicCell::ordering) and
/// [`scope`](AtomicCell::scope) say otherwise. Those that change the element give its value before.
pub struct AtomicCell<T> {
    access: Access,
    offset: Raw,
    bounds: SmallVec<[Raw; 4]>,
    scope: Scope,
    ordering: Ordering,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// The element at `index`, for atomic operations: `hist.atomic(bin).fetch_add(1)`.
    #[track_caller]
    pub fn atomic(&self, index: impl TensorIndex<RANK>) -> AtomicCell<T>
    where
        T: Atomic,
        M: Writable,
    {
        let location = Location::caller();
        let index = index.coordinates();
        if let Some(lanes) = index.iter().map(|i| i.lanes()).find(|&n| n != 1) {
            recorder::fail(
                location,
                format!("an atomic operation works on one element, not on {lanes} lanes"),
            );
        }
        let (access, offset, bounds) = self.cell(index);
        AtomicCell {
            access,
            offset,
            bounds,
            scope: Scope::Device,
            ordering: Ordering::Relaxed,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Atomic> AtomicCell<T> {
    /// Among which threads the operation is atomic and orders memory.
    pub fn scope(self, scope: Scope) -> Self {
        AtomicCell { scope, ..self }
    }

    /// How the operation orders the thread's other accesses to memory.
    pub fn ordering(self, ordering: Ordering) -> Self {
        AtomicCell { ordering, ..self }
    }

    /// Reads.
    #[track_caller]
    pub fn load(self) -> Val<T> {
        let op = Op::AtomicLoad(self.access.clone(), self.scope, self.ordering);
        self.record(op, [])
    }

    /// Writes.
    #[track_caller]
    pub fn store(self, value: impl StageAs<Val<T>>) {
        let location = Location::caller();
        let value = one_lane(value.stage_as());
        let op = Op::AtomicStore(self.access.clone(), self.scope, self.ordering);
        let args = [self.offset, value.raw].into_iter().chain(self.bounds);
        recorder::emit_void(location, op, args);
    }

    /// Writes, and gives the value before.
    #[track_caller]
    pub fn exchange(self, value: impl StageAs<Val<T>>) -> Val<T> {
        self.modify(AtomicOp::Exchange, value.stage_as())
    }

    /// Writes `desired` if the element has the bits of `expected`. Gives the value before, which equals `expected` if
    /// it was written.
    #[track_caller]
    pub fn compare_exchange(self, expected: impl StageAs<Val<T>>, desired: impl StageAs<Val<T>>) -> Val<T> {
        let (expected, desired) = (one_lane(expected.stage_as()), one_lane(desired.stage_as()));
        let op = Op::AtomicCas(self.access.clone(), self.scope, self.ordering);
        self.record(op, [expected.raw, desired.raw])
    }

    /// Adds; integers wrap.
    #[track_caller]
    pub fn fetch_add(self, value: impl StageAs<Val<T>>) -> Val<T> {
        self.modify(AtomicOp::Add, value.stage_as())
    }

    /// Subtracts; integers wrap.
    #[track_caller]
    pub fn fetch_sub(self, value: impl StageAs<Val<T>>) -> Val<T> {
        self.modify(AtomicOp::Add, T::ZERO.stage() - value.stage_as())
    }

    /// The smaller of both; of floats one that is not NaN if there is one.
    #[track_caller]
    pub fn fetch_min(self, value: impl StageAs<Val<T>>) -> Val<T> {
        self.modify(AtomicOp::Min, value.stage_as())
    }

    /// The larger of both; of floats one that is not NaN if there is one.
    #[track_caller]
    pub fn fetch_max(self, value: impl StageAs<Val<T>>) -> Val<T> {
        self.modify(AtomicOp::Max, value.stage_as())
    }

    /// Bitwise and.
    #[track_caller]
    pub fn fetch_and(self, value: impl StageAs<Val<T>>) -> Val<T>
    where
        T: Int,
    {
        self.modify(AtomicOp::And, value.stage_as())
    }

    /// Bitwise or.
    #[track_caller]
    pub fn fetch_or(self, value: impl StageAs<Val<T>>) -> Val<T>
    where
        T: Int,
    {
        self.modify(AtomicOp::Or, value.stage_as())
    }

    /// Bitwise exclusive or.
    #[track_caller]
    pub fn fetch_xor(self, value: impl StageAs<Val<T>>) -> Val<T>
    where
        T: Int,
    {
        self.modify(AtomicOp::Xor, value.stage_as())
    }

    #[track_caller]
    fn modify(self, op: AtomicOp, value: Val<T>) -> Val<T> {
        let value = one_lane(value);
        let op = Op::AtomicRmw(op, self.access.clone(), self.scope, self.ordering);
        self.record(op, [value.raw])
    }

    #[track_caller]
    fn record<const N: usize>(self, op: Op, values: [Raw; N]) -> Val<T> {
        let args = std::iter::once(self.offset).chain(values).chain(self.bounds);
        Val::from_raw(recorder::emit(Location::caller(), op, args, T::SCALAR.ty()))
    }
}

#[track_caller]
fn one_lane<T: Atomic>(value: Val<T>) -> Val<T> {
    let lanes = value.lanes();
    if lanes != 1 {
        recorder::fail(
            Location::caller(),
            format!(
                "an atomic operation takes one value, not {lanes} lanes: combine them first (`reduce_add`)"
            ),
        );
    }
    value
}
