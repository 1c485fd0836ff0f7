//! Variables of a kernel: `let mut x`, results of `if` and `loop`, arrays.
//!
//! A variable is local memory of each thread, one allocation for each scalar leaf of its type. What is only indexed
//! by constants becomes SSA values in the pass `variables`.

use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::{Access, AllocId, BinaryOp, MemRef, Op, Scalar, Space, Type};

use crate::recorder::{self, Raw};
use crate::staged::{Leaf, Stage, StageAs, StagedValue};
use crate::val::Val;

/// The storage of a variable: an allocation for each leaf, made when it is first written.
#[derive(Debug)]
pub(crate) struct Slot {
    name: &'static str,
    leaves: Vec<Option<AllocId>>,
    lens: Vec<u64>,
}

/// A variable of the kernel, whose values are of type `S`.
///
/// `let mut x = e` in a kernel makes one; using `x` reads it, `x = e` writes it. It is a handle and is copied freely.
pub struct Var<S> {
    place: PlaceId,
    value: PhantomData<fn() -> S>,
}

impl<S> Clone for Var<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Var<S> {}

#[derive(Clone, Copy)]
struct PlaceId {
    slot: u32,
    leaf: u32,
    offset: Offset,
    /// The indices so far that are not known while the kernel is described, with the lengths of their arrays.
    bounds: [Option<(Val<usize>, u64)>; MAX_DEPTH],
}

/// How many indices of nested arrays may be values of the kernel.
const MAX_DEPTH: usize = 4;

/// Number of the element of a leaf.
#[derive(Clone, Copy)]
enum Offset {
    Constant(u64),
    Value(Val<usize>),
}

/// Where the leaves of a value lie: a leaf of a variable and the number of its element. Moves from leaf to leaf while
/// a value is read or written.
#[doc(hidden)]
#[derive(Clone)]
pub struct Place(PlaceId);

impl Place {
    pub(crate) fn at_constant(
        &self,
        index: usize,
        len: usize,
        location: &'static Location<'static>,
    ) -> Place {
        let offset = match self.0.offset {
            Offset::Constant(c) => Offset::Constant(c * len as u64 + index as u64),
            Offset::Value(v) => Offset::Value(add_at(mul_at(v, len, location), index, location)),
        };
        Place(PlaceId { offset, ..self.0 })
    }

    pub(crate) fn move_to_leaf(&mut self, other: &Place) {
        self.0.leaf = other.0.leaf;
    }

    pub(crate) fn store_leaf(&mut self, value: Raw, location: &'static Location<'static>) {
        let mut value = value;
        let ty = recorder::ty(location, value);
        let (alloc, elem) = self.leaf(ty, location);
        if elem != ty {
            if ty.lanes == 1 {
                value = recorder::emit(location, Op::Splat(elem.lanes), [value], elem);
            } else {
                recorder::fail(
                    location,
                    format!(
                        "this variable holds values of {} lanes; a value of {} lanes does not fit",
                        elem.lanes, ty.lanes
                    ),
                );
            }
        }
        let (access, bounds) = self.access(alloc, location);
        let offset = self.0.offset.raw(location);
        recorder::emit_void(location, Op::Store(access), [offset, value].into_iter().chain(bounds));
        self.0.leaf += 1;
    }

    pub(crate) fn load_leaf(&mut self, scalar: Scalar, location: &'static Location<'static>) -> Raw {
        let (alloc, elem) = self.leaf(scalar.ty(), location);
        let (access, bounds) = self.access(alloc, location);
        let offset = self.0.offset.raw(location);
        self.0.leaf += 1;
        recorder::emit(location, Op::Load(access), [offset].into_iter().chain(bounds), elem)
    }

    /// The allocation of the leaf, and the type of its elements: `ty` if this is the first who needs it.
    fn leaf(&self, ty: Type, location: &'static Location<'static>) -> (AllocId, Type) {
        let (slot, leaf) = (self.0.slot as usize, self.0.leaf as usize);
        recorder::with(location, |r| {
            let entry = &r.slots[slot];
            let alloc = match entry.leaves[leaf] {
                Some(alloc) => alloc,
                None => {
                    let (name, len) = (entry.name, entry.lens[leaf]);
                    let alloc = r.builder.alloc(name, Space::Local, ty, len);
                    r.slots[slot].leaves[leaf] = Some(alloc);
                    alloc
                }
            };
            (alloc, r.builder.kernel().allocs[alloc.0 as usize].elem)
        })
    }

    /// The access to a leaf's allocation, and its pairs of index and extent.
    fn access(&self, alloc: AllocId, location: &'static Location<'static>) -> (Access, Vec<Raw>) {
        let mut access = Access::unchecked(MemRef::Alloc(alloc));
        let mut pairs = Vec::new();
        for (dim, (index, len)) in self.0.bounds.into_iter().flatten().enumerate() {
            access.bounds.push(dim as u8);
            pairs.push(index.raw);
            pairs.push(recorder::constant(location, tilewise_ir::Const::index(len)));
        }
        // No index is that of the lanes: an element of a variable is the whole vector.
        access.lane_dim = access.bounds.len() as u8;
        (access, pairs)
    }
}

impl Offset {
    fn raw(self, location: &'static Location<'static>) -> Raw {
        match self {
            Offset::Constant(c) => recorder::constant(location, tilewise_ir::Const::index(c)),
            Offset::Value(v) => v.raw,
        }
    }
}

impl<S: StagedValue> Var<S> {
    /// A variable without a value yet and without a name: the value of an `if` or `loop`.
    #[track_caller]
    pub fn uninit() -> Var<S> {
        Var::named("")
    }

    /// A variable with its first value: `let mut x = value`. The name is for listings of the IR.
    #[track_caller]
    pub fn new(name: &'static str, value: impl Stage<Staged = S>) -> Var<S> {
        let value = value.stage();
        let var: Var<S> = Var::named(name);
        var.set_value(&value);
        var
    }

    /// A variable of a given type with its first value: `let mut x: T = value`.
    #[track_caller]
    pub fn with_value(name: &'static str, value: impl StageAs<S>) -> Var<S> {
        let value = value.stage_as();
        let var: Var<S> = Var::named(name);
        var.set_value(&value);
        var
    }

    pub(crate) fn slot(self) -> u32 {
        self.place.slot
    }

    pub(crate) fn from_slot(slot: u32) -> Var<S> {
        let place = PlaceId { slot, leaf: 0, offset: Offset::Constant(0), bounds: [None; MAX_DEPTH] };
        Var { place, value: PhantomData }
    }

    #[track_caller]
    pub(crate) fn set_value(self, value: &S) {
        value.store(&mut Place(self.place), Location::caller());
    }

    /// A variable without a value yet: `let x;`.
    #[track_caller]
    pub fn named(name: &'static str) -> Var<S> {
        let mut lens = Vec::new();
        S::leaf_lens(1, &mut lens);
        let slot = recorder::with(Location::caller(), |r| {
            r.slots.push(Slot { name, leaves: vec![None; lens.len()], lens });
            r.slots.len() as u32 - 1
        });
        Var::from_slot(slot)
    }

    /// The value now.
    #[track_caller]
    pub fn get(self) -> S {
        S::load(&mut Place(self.place), Location::caller())
    }

    /// Assigns.
    #[track_caller]
    pub fn set(self, value: impl StageAs<S>) {
        let location = Location::caller();
        value.stage_as().store(&mut Place(self.place), location);
    }

    /// Assigns `after` unless it is what `before` was: a method with `&mut self` ran on a copy.
    #[doc(hidden)]
    #[track_caller]
    pub fn write_back(self, before: &S, after: &S) {
        let (mut old, mut new): (Vec<Leaf>, Vec<Leaf>) = (Vec::new(), Vec::new());
        before.leaves(&mut old);
        after.leaves(&mut new);
        if old != new {
            after.store(&mut Place(self.place), Location::caller());
        }
    }
}

impl<S: StagedValue, const N: usize> Var<[S; N]> {
    /// The element `index` of an array variable, as a variable itself.
    ///
    /// An index outside the array reads zero or writes nothing and is a fault, as for tensors; a constant one is an
    /// error while the kernel is described.
    #[track_caller]
    pub fn at<I: ArrayIndex>(self, index: I) -> Var<S> {
        let location = Location::caller();
        let mut bounds = self.place.bounds;
        let offset = match (index.constant(), self.place.offset) {
            (Some(i), _) if i >= N => {
                recorder::fail(location, format!("index {i} of an array of {N} elements"))
            }
            (Some(i), Offset::Constant(c)) => Offset::Constant(c * N as u64 + i as u64),
            (Some(i), Offset::Value(v)) => Offset::Value(add_at(mul_at(v, N, location), i, location)),
            (None, base) => {
                let index = index.value();
                match bounds.iter_mut().find(|b| b.is_none()) {
                    Some(free) => *free = Some((index, N as u64)),
                    None => recorder::fail(
                        location,
                        format!("more than {MAX_DEPTH} indices of nested arrays are values of the kernel"),
                    ),
                }
                match base {
                    Offset::Constant(0) => Offset::Value(index),
                    Offset::Constant(c) => Offset::Value(add_at(index, (c as usize) * N, location)),
                    Offset::Value(v) => {
                        Offset::Value(crate::val::binary(BinaryOp::Add, mul_at(v, N, location), index))
                    }
                }
            }
        };
        Var { place: PlaceId { offset, bounds, ..self.place }, value: PhantomData }
    }
}

/// The index of an array: a plain `usize` picks a register, a value of the kernel picks a cell of local memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index an array",
    label = "expected `usize`",
    note = "an index is a `usize`: write `i as usize`"
)]
pub trait ArrayIndex: Copy {
    /// The index, if it is known while the kernel is described.
    #[doc(hidden)]
    fn constant(self) -> Option<usize>;
    /// The index as a value.
    #[doc(hidden)]
    #[track_caller]
    fn value(self) -> Val<usize>;
}

impl ArrayIndex for usize {
    fn constant(self) -> Option<usize> {
        Some(self)
    }

    #[track_caller]
    fn value(self) -> Val<usize> {
        self.stage()
    }
}

impl ArrayIndex for Val<usize> {
    fn constant(self) -> Option<usize> {
        None
    }

    fn value(self) -> Val<usize> {
        self
    }
}

fn mul_at(v: Val<usize>, by: usize, location: &'static Location<'static>) -> Val<usize> {
    let by = recorder::constant(location, tilewise_ir::Const::index(by as u64));
    Val::from_raw(recorder::emit(location, Op::Binary(BinaryOp::Mul), [v.raw, by], Type::INDEX))
}

fn add_at(v: Val<usize>, to: usize, location: &'static Location<'static>) -> Val<usize> {
    if to == 0 {
        return v;
    }
    let to = recorder::constant(location, tilewise_ir::Const::index(to as u64));
    Val::from_raw(recorder::emit(location, Op::Binary(BinaryOp::Add), [v.raw, to], Type::INDEX))
}
