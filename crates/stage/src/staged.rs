//! From the types that a user writes to what they are while a kernel is described.
//!
//! | written | while described |
//! | --- | --- |
//! | `f32` (any [`Element`]) | [`Val<f32>`](Val) |
//! | `(A, B)`, `[A; N]` | tuple, array of what `A` and `B` are |
//! | a struct with `#[device]` | the struct itself, its fields replaced likewise |
//! | `TileTensor<T, R>` | itself |

use std::panic::Location;

use crate::element::Element;
use crate::recorder::{self, Raw};
use crate::val::Val;
use crate::variable::Place;

/// A type that may stand in the signature of a `#[device]` function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no form in a kernel",
    label = "not a type of kernels",
    note = "a parameter or result of a #[device] function is a number, a bool, a tuple or array of them, a #[device] struct or enum, or a tensor; put #[comptime] before a parameter that is only used while the kernel is described"
)]
pub trait DeviceType {
    /// What the type is while a kernel is described.
    type Staged;
}

/// A value of the kernel that is being described: a [`Val`], or a tuple, array or `#[device]` struct of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a variable of a kernel",
    label = "cannot be assigned in a kernel",
    note = "variables hold numbers, bools, tuples and arrays of them and #[device] structs; a tensor needs no `mut`, its elements are written through a plain `let`; write `#[comptime] let mut` for a variable that only lives while the kernel is described"
)]
pub trait StagedValue: Clone {
    /// Appends the number of elements of each leaf, times `outer`.
    #[doc(hidden)]
    fn leaf_lens(outer: u64, lens: &mut Vec<u64>);

    /// Appends the leaves' handles.
    #[doc(hidden)]
    fn leaves(&self, out: &mut Vec<Leaf>);

    /// Writes the value to a place in local memory and moves `place` behind its leaves.
    #[doc(hidden)]
    fn store(&self, place: &mut Place, location: &'static Location<'static>);

    /// Reads the value from a place in local memory and moves `place` behind its leaves.
    #[doc(hidden)]
    fn load(place: &mut Place, location: &'static Location<'static>) -> Self;

    /// A value of which nothing is known, for code that cannot be reached.
    #[doc(hidden)]
    fn undefined(location: &'static Location<'static>) -> Self;
}

/// A leaf of a [`StagedValue`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf(pub(crate) Raw);

/// What has a form as a value of a kernel: `2.0` is a `Val<f32>` or `Val<f64>`, a `Val<f32>` is itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a value of a kernel",
    label = "not a value of a kernel",
    note = "values are numbers, bools, tuples and arrays of them and #[device] structs; a tensor needs no `mut`, its elements are written through a plain `let`; write `#[comptime] let mut` for a variable that only lives while the kernel is described"
)]
pub trait Stage {
    /// The value's type.
    type Staged: StagedValue;

    /// The value.
    #[track_caller]
    fn stage(self) -> Self::Staged;
}

/// What can be used where a kernel value of type `S` is expected: the value itself, or a plain value of the host,
/// which becomes a constant of the kernel.
#[diagnostic::on_unimplemented(
    message = "mismatched types: expected `{S}`, found `{Self}`",
    label = "expected `{S}`, found `{Self}`",
    note = "`Val<T>` is a value of type `T` in a kernel; numbers are not converted by themselves: write `x as f32`, `i as usize`"
)]
pub trait StageAs<S> {
    /// The value.
    #[track_caller]
    fn stage_as(self) -> S;
}

impl<T: Element> StagedValue for Val<T> {
    fn leaf_lens(outer: u64, lens: &mut Vec<u64>) {
        lens.push(outer);
    }

    fn leaves(&self, out: &mut Vec<Leaf>) {
        out.push(Leaf(self.raw));
    }

    fn store(&self, place: &mut Place, location: &'static Location<'static>) {
        place.store_leaf(self.raw, location);
    }

    fn load(place: &mut Place, location: &'static Location<'static>) -> Self {
        Val::from_raw(place.load_leaf(T::SCALAR, location))
    }

    fn undefined(location: &'static Location<'static>) -> Self {
        Val::from_raw(recorder::constant(location, tilewise_ir::Const::from_bits(T::SCALAR, 0)))
    }
}

impl<T: Element> Stage for T {
    type Staged = Val<T>;

    #[track_caller]
    fn stage(self) -> Val<T> {
        Val::from_raw(recorder::constant(Location::caller(), self.to_const()))
    }
}

impl<T: Element> Stage for Val<T> {
    type Staged = Val<T>;

    fn stage(self) -> Val<T> {
        self
    }
}

impl<T: Element> StageAs<Val<T>> for T {
    #[track_caller]
    fn stage_as(self) -> Val<T> {
        self.stage()
    }
}

impl<T: Element> StageAs<Val<T>> for Val<T> {
    fn stage_as(self) -> Val<T> {
        self
    }
}

impl<T: Element> StageAs<Val<T>> for &Val<T> {
    fn stage_as(self) -> Val<T> {
        *self
    }
}

macro_rules! tuples {
    ($(($($name:ident $from:ident $n:tt),*);)*) => {$(
        impl<$($name: DeviceType),*> DeviceType for ($($name,)*) {
            type Staged = ($($name::Staged,)*);
        }

        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: StagedValue),*> StagedValue for ($($name,)*) {
            fn leaf_lens(outer: u64, lens: &mut Vec<u64>) {
                $($name::leaf_lens(outer, lens);)*
            }

            fn leaves(&self, out: &mut Vec<Leaf>) {
                $(self.$n.leaves(out);)*
            }

            fn store(&self, place: &mut Place, location: &'static Location<'static>) {
                $(self.$n.store(place, location);)*
            }

            fn load(place: &mut Place, location: &'static Location<'static>) -> Self {
                ($($name::load(place, location),)*)
            }

            fn undefined(location: &'static Location<'static>) -> Self {
                ($($name::undefined(location),)*)
            }
        }

        #[allow(clippy::unused_unit)]
        impl<$($name: Stage),*> Stage for ($($name,)*) {
            type Staged = ($($name::Staged,)*);

            #[track_caller]
            fn stage(self) -> Self::Staged {
                ($(self.$n.stage(),)*)
            }
        }

        #[allow(clippy::unused_unit)]
        impl<$($name, $from: StageAs<$name>),*> StageAs<($($name,)*)> for ($($from,)*) {
            #[track_caller]
            fn stage_as(self) -> ($($name,)*) {
                ($(self.$n.stage_as(),)*)
            }
        }
    )*};
}

tuples! {
    ();
    (A FA 0);
    (A FA 0, B FB 1);
    (A FA 0, B FB 1, C FC 2);
    (A FA 0, B FB 1, C FC 2, D FD 3);
    (A FA 0, B FB 1, C FC 2, D FD 3, E FE 4);
    (A FA 0, B FB 1, C FC 2, D FD 3, E FE 4, F FF 5);
    (A FA 0, B FB 1, C FC 2, D FD 3, E FE 4, F FF 5, G FG 6);
    (A FA 0, B FB 1, C FC 2, D FD 3, E FE 4, F FF 5, G FG 6, H FH 7);
}

impl<A: DeviceType, const N: usize> DeviceType for [A; N] {
    type Staged = [A::Staged; N];
}

impl<A: StagedValue, const N: usize> StagedValue for [A; N] {
    fn leaf_lens(outer: u64, lens: &mut Vec<u64>) {
        A::leaf_lens(outer * N as u64, lens);
    }

    fn leaves(&self, out: &mut Vec<Leaf>) {
        for item in self {
            item.leaves(out);
        }
    }

    fn store(&self, place: &mut Place, location: &'static Location<'static>) {
        let mut end = place.clone();
        for (i, item) in self.iter().enumerate() {
            end = place.at_constant(i, N, location);
            item.store(&mut end, location);
        }
        place.move_to_leaf(&end);
    }

    fn load(place: &mut Place, location: &'static Location<'static>) -> Self {
        let mut end = place.clone();
        let items = std::array::from_fn(|i| {
            end = place.at_constant(i, N, location);
            A::load(&mut end, location)
        });
        place.move_to_leaf(&end);
        items
    }

    fn undefined(location: &'static Location<'static>) -> Self {
        std::array::from_fn(|_| A::undefined(location))
    }
}

impl<A: Stage, const N: usize> Stage for [A; N] {
    type Staged = [A::Staged; N];

    #[track_caller]
    fn stage(self) -> Self::Staged {
        self.map(Stage::stage)
    }
}

impl<A, F: StageAs<A>, const N: usize> StageAs<[A; N]> for [F; N] {
    #[track_caller]
    fn stage_as(self) -> [A; N] {
        self.map(StageAs::stage_as)
    }
}

/// What can be put into a field or a list of type `F`: a value of that type, or a plain one where a value of the kernel
/// is expected.
#[diagnostic::on_unimplemented(
    message = "mismatched types: expected `{F}`, found `{Self}`",
    label = "expected `{F}`, found `{Self}`",
    note = "numbers are not converted by themselves: write `x as f32`, `i as usize`"
)]
pub trait Field<F> {
    /// The value.
    #[track_caller]
    fn field(self) -> F;
}

impl<F> Field<F> for F {
    fn field(self) -> F {
        self
    }
}

impl<T: Element> Field<Val<T>> for T {
    #[track_caller]
    fn field(self) -> Val<T> {
        self.stage()
    }
}

impl<T: Element, const N: usize> Field<[Val<T>; N]> for [T; N] {
    #[track_caller]
    fn field(self) -> [Val<T>; N] {
        self.stage()
    }
}

impl<T: Element, const N: usize, const M: usize> Field<[[Val<T>; N]; M]> for [[T; N]; M] {
    #[track_caller]
    fn field(self) -> [[Val<T>; N]; M] {
        self.stage()
    }
}

/// `let x: T = value`: the value as it is, plain or recorded, checked to be a `T`.
pub fn annotated<T: DeviceType, S: StageAs<T::Staged>>(value: S) -> S {
    value
}
