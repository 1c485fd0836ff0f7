//! What `x[i]` and `x[i] = v` mean in a kernel: elements of tensors, of arrays, of host collections.

use std::panic::Location;

use crate::element::Element;
use crate::recorder;
use crate::staged::{Stage, StageAs, StagedValue};
use crate::tensor::{Mut, TileTensor};
use crate::val::Val;
use crate::variable::{ArrayIndex, Var};

/// An index of a tensor of rank `RANK`: `i` for rank 1, `[i, j]` for rank 2, and so on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of a tensor of rank {RANK}",
    label = "wrong index for a tensor of rank {RANK}",
    note = "one index for each dimension: `a[i]` for rank 1, `a[[row, col]]` for rank 2, `a[[x, y, z]]` for rank 3",
    note = "an index is a `usize`: write `i as usize` for another integer"
)]
pub trait TensorIndex<const RANK: usize> {
    /// The index along each dimension.
    #[doc(hidden)]
    #[track_caller]
    fn coordinates(self) -> [Val<usize>; RANK];
}

impl TensorIndex<1> for Val<usize> {
    fn coordinates(self) -> [Val<usize>; 1] {
        [self]
    }
}

impl TensorIndex<1> for usize {
    #[track_caller]
    fn coordinates(self) -> [Val<usize>; 1] {
        [self.stage()]
    }
}

impl<const RANK: usize> TensorIndex<RANK> for [Val<usize>; RANK] {
    fn coordinates(self) -> [Val<usize>; RANK] {
        self
    }
}

impl<const RANK: usize> TensorIndex<RANK> for [usize; RANK] {
    #[track_caller]
    fn coordinates(self) -> [Val<usize>; RANK] {
        self.map(|i| i.stage())
    }
}

/// One index of a list `[i, j]`, whatever mixture of plain and recorded ones the list is.
#[track_caller]
pub fn coordinate(index: impl StageAs<Val<usize>>) -> Val<usize> {
    index.stage_as()
}

/// What `x[i]` reads in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be indexed by `{I}` in a kernel",
    label = "not a tensor or array",
    note = "tensors are indexed by `a[i]` or `a[[row, col]]`, arrays, slices and vectors by `a[i]`"
)]
pub trait ReadIndex<I> {
    /// What is read.
    type Output;

    /// `self[index]`
    #[track_caller]
    fn read_index(&self, index: I) -> Self::Output;
}

/// What `x[i] = v` writes in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written by index in a kernel",
    label = "cannot write here",
    note = "a tensor parameter that is written is declared `&mut TileTensor<..>`; an array that is written is declared `let mut`"
)]
pub trait WriteIndex<I> {
    /// What is written.
    type Value;

    /// `self[index] = value`
    #[track_caller]
    fn write_index(&self, index: I, value: impl StageAs<Self::Value>);
}

impl<T: Element, const RANK: usize, M, I: TensorIndex<RANK>> ReadIndex<I> for TileTensor<T, RANK, M> {
    type Output = Val<T>;

    #[track_caller]
    fn read_index(&self, index: I) -> Val<T> {
        self.load_element(index.coordinates())
    }
}

impl<T: Element, const RANK: usize, I: TensorIndex<RANK>> WriteIndex<I> for TileTensor<T, RANK, Mut> {
    type Value = Val<T>;

    #[track_caller]
    fn write_index(&self, index: I, value: impl StageAs<Val<T>>) {
        self.store_element(index.coordinates(), value.stage_as());
    }
}

impl<S: StagedValue, const N: usize, I: ArrayIndex> ReadIndex<I> for Var<[S; N]> {
    type Output = S;

    #[track_caller]
    fn read_index(&self, index: I) -> S {
        self.at(index).get()
    }
}

impl<S: StagedValue, const N: usize, I: ArrayIndex> WriteIndex<I> for Var<[S; N]> {
    type Value = S;

    #[track_caller]
    fn write_index(&self, index: I, value: impl StageAs<S>) {
        self.at(index).set(value);
    }
}

macro_rules! collections {
    ($([$($generics:tt)*] $collection:ty;)*) => {$(
        impl<E: Clone, $($generics)*> ReadIndex<usize> for $collection {
            type Output = E;

            #[track_caller]
            fn read_index(&self, index: usize) -> E {
                match self.get(index) {
                    Some(item) => item.clone(),
                    None => recorder::fail(
                        Location::caller(),
                        format!("index {index} of an array of {} elements", self.len()),
                    ),
                }
            }
        }
    )*};
}

collections! {
    [const N: usize] [E; N];
    [] [E];
    [] Vec<E>;
}

impl<E: Stage + Clone, const N: usize> ReadIndex<Val<usize>> for [E; N] {
    type Output = E::Staged;

    #[track_caller]
    fn read_index(&self, index: Val<usize>) -> E::Staged {
        let values = self.clone().map(Stage::stage);
        let array = Var::<[E::Staged; N]>::named("array");
        array.set_value(&values);
        array.at(index).get()
    }
}

/// `whole.list[index]` where it is written: an element of an array that is a part of a variable's value.
pub trait UpdateElement<I> {
    /// The array's elements.
    type Element;

    /// Lets `change` change the element.
    #[track_caller]
    fn update_element(&mut self, index: I, change: impl FnOnce(&mut Self::Element));
}

impl<S, const N: usize> UpdateElement<usize> for [S; N] {
    type Element = S;

    #[track_caller]
    fn update_element(&mut self, index: usize, change: impl FnOnce(&mut S)) {
        match self.get_mut(index) {
            Some(element) => change(element),
            None => recorder::fail(Location::caller(), format!("index {index} of an array of {N} elements")),
        }
    }
}

impl<S: StagedValue, const N: usize> UpdateElement<Val<usize>> for [S; N] {
    type Element = S;

    #[track_caller]
    fn update_element(&mut self, index: Val<usize>, change: impl FnOnce(&mut S)) {
        let array = Var::<[S; N]>::named("array");
        array.set_value(self);
        let mut element = array.at(index).get();
        change(&mut element);
        array.at(index).set_value(&element);
        *self = array.get();
    }
}

impl<I, C: ReadIndex<I> + ?Sized> ReadIndex<I> for &C {
    type Output = C::Output;

    #[track_caller]
    fn read_index(&self, index: I) -> C::Output {
        (**self).read_index(index)
    }
}

impl<I, C: ReadIndex<I> + ?Sized> ReadIndex<I> for &mut C {
    type Output = C::Output;

    #[track_caller]
    fn read_index(&self, index: I) -> C::Output {
        (**self).read_index(index)
    }
}

impl<I, C: WriteIndex<I> + ?Sized> WriteIndex<I> for &C {
    type Value = C::Value;

    #[track_caller]
    fn write_index(&self, index: I, value: impl StageAs<C::Value>) {
        (**self).write_index(index, value);
    }
}

impl<I, C: WriteIndex<I> + ?Sized> WriteIndex<I> for &mut C {
    type Value = C::Value;

    #[track_caller]
    fn write_index(&self, index: I, value: impl StageAs<C::Value>) {
        (**self).write_index(index, value);
    }
}
