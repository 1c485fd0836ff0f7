//! [`Val`]: a value of the kernel that is being described.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::{Const, Op, Scalar, Type};

use crate::element::Element;
use crate::recorder::{self, Raw};
use crate::staged::StageAs;

/// A value of type `T` in the kernel that is being described.
///
/// In a function with `#[kernel]` or `#[device]` a parameter `x: f32` is a `Val<f32>`, and so is all that is computed
/// from it. A `Val` is a handle: it is copied freely, and its number is only known on the device.
///
/// A `Val` may have several lanes (SIMD): `a.load(i, 4)` is a `Val<f32>` of four. Operations work lane by lane; a
/// value of one lane goes with any other and is used in each lane, other mixtures are errors.
pub struct Val<T> {
    pub(crate) raw: Raw,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Val<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Val<T> {}

impl<T: Element> fmt::Debug for Val<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Val<{}>(%{})", T::SCALAR, self.raw.value.0)
    }
}

impl<T: Element> Val<T> {
    pub(crate) fn from_raw(raw: Raw) -> Self {
        Val { raw, element: PhantomData }
    }

    /// Number of lanes, 1 for a plain value. Known while the kernel is described.
    #[track_caller]
    pub fn lanes(self) -> usize {
        recorder::ty(Location::caller(), self.raw).lanes as usize
    }

    /// The value in each of `lanes` lanes.
    ///
    /// # Errors
    ///
    /// Refused if the value already has several lanes, or `lanes` is 0 or above [`Type::MAX_LANES`].
    #[track_caller]
    pub fn splat(self, lanes: usize) -> Self {
        let location = Location::caller();
        if self.lanes() == lanes {
            return self;
        }
        let count = checked_lanes(lanes, location);
        if self.lanes() != 1 {
            recorder::fail(
                location,
                format!(
                    "splat of a value of {} lanes to {lanes}: only one lane can be repeated",
                    self.lanes()
                ),
            );
        }
        Val::from_raw(recorder::emit(location, Op::Splat(count), [self.raw], Type::vector(T::SCALAR, count)))
    }

    /// Lane number `lane`, from 0.
    #[track_caller]
    pub fn lane(self, lane: usize) -> Self {
        let location = Location::caller();
        let lanes = self.lanes();
        if lane >= lanes {
            recorder::fail(location, format!("lane {lane} of a value of {lanes} lanes"));
        }
        if lanes == 1 {
            return self;
        }
        Val::from_raw(recorder::emit(location, Op::Extract(lane as u8), [self.raw], T::SCALAR.ty()))
    }

    /// A SIMD value from its lanes.
    ///
    /// # Errors
    ///
    /// Refused if there are none or too many, or one of them has several lanes itself.
    #[track_caller]
    pub fn from_lanes(lanes: &[Val<T>]) -> Self {
        let location = Location::caller();
        let count = checked_lanes(lanes.len(), location);
        if let Some(wide) = lanes.iter().map(|l| l.lanes()).find(|&n| n != 1) {
            recorder::fail(location, format!("a lane of a SIMD value has {wide} lanes itself"));
        }
        if let [one] = lanes {
            return *one;
        }
        let args = lanes.iter().map(|l| l.raw);
        Val::from_raw(recorder::emit(location, Op::Pack, args, Type::vector(T::SCALAR, count)))
    }

    /// Both values with the same number of lanes.
    #[track_caller]
    pub(crate) fn broadcast<U: Element>(self, other: Val<U>) -> (Self, Val<U>) {
        let location = Location::caller();
        match (self.lanes(), other.lanes()) {
            (a, b) if a == b => (self, other),
            (1, b) => (self.splat(b), other),
            (a, 1) => (self, other.splat(a)),
            (a, b) => recorder::fail(
                location,
                format!(
                    "the operands have {a} and {b} lanes; only equal numbers, or one lane with any, go together"
                ),
            ),
        }
    }

    /// The constant that this value is, if it is one by its own operation.
    pub(crate) fn known(self, location: &'static Location<'static>) -> Option<Const> {
        recorder::known(location, self.raw)
    }
}

/// `lanes` as the IR has it.
#[track_caller]
pub(crate) fn checked_lanes(lanes: usize, location: &'static Location<'static>) -> u8 {
    if lanes == 0 || lanes > Type::MAX_LANES as usize {
        recorder::fail(location, format!("a SIMD value has 1 to {} lanes, not {lanes}", Type::MAX_LANES));
    }
    lanes as u8
}

/// A unary operation whose result has the scalar `out`.
#[track_caller]
pub(crate) fn unary<T: Element, U: Element>(op: tilewise_ir::UnaryOp, a: Val<T>) -> Val<U> {
    let location = Location::caller();
    let ty = recorder::ty(location, a.raw).with_scalar(U::SCALAR);
    Val::from_raw(recorder::emit(location, Op::Unary(op), [a.raw], ty))
}

/// A binary operation, lanes broadcast.
#[track_caller]
pub(crate) fn binary<T: Element>(op: tilewise_ir::BinaryOp, a: Val<T>, b: impl StageAs<Val<T>>) -> Val<T> {
    let location = Location::caller();
    let (a, b) = a.broadcast(b.stage_as());
    let ty = recorder::ty(location, a.raw);
    Val::from_raw(recorder::emit(location, Op::Binary(op), [a.raw, b.raw], ty))
}

/// A comparison, lanes broadcast.
#[track_caller]
pub(crate) fn compare<T: Element>(op: tilewise_ir::CompareOp, a: Val<T>, b: Val<T>) -> Val<bool> {
    let location = Location::caller();
    let (a, b) = a.broadcast(b);
    let ty = recorder::ty(location, a.raw).with_scalar(Scalar::Bool);
    Val::from_raw(recorder::emit(location, Op::Compare(op), [a.raw, b.raw], ty))
}
