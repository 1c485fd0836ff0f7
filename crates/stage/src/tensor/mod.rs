//! Tensors in a kernel: views of global, shared or local memory with extents and strides.
//!
//! [`view`] makes views of views (tile, slice, transpose, ...), [`access`] reads and writes elements, [`index`] is the
//! meaning of `a[i]` and `a[[i, j]]`, [`memory`] allocates, [`atomic`] is for cells that threads share.

pub mod access;
pub mod atomic;
pub mod index;
pub mod memory;
pub mod view;

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::MemRef;

use crate::element::Element;
use crate::staged::{DeviceType, Stage};
use crate::val::Val;

/// A tensor whose elements may be written: the default.
#[derive(Clone, Copy, Debug)]
pub struct Mut;

/// A tensor that may only be read: what a `&TileTensor` parameter is.
#[derive(Clone, Copy, Debug)]
pub struct Immut;

/// Whether the elements of a tensor may be written.
#[diagnostic::on_unimplemented(
    message = "this tensor is read-only",
    label = "cannot be written",
    note = "a tensor parameter that is written is declared `&mut TileTensor<..>`"
)]
pub trait Writable {}

impl Writable for Mut {}

/// A tensor of elements `T` with `RANK` dimensions: where the elements lie (memory, offset, strides) and how many there
/// are along each dimension.
///
/// It is a view: copying it copies no element, and its parts ([`tile`](TileTensor::tile),
/// [`slice`](TileTensor::slice), [`transpose`](TileTensor::transpose), ...) are views of the same elements. `M` says
/// whether they may be written: [`Mut`] or [`Immut`].
///
/// Elements are read and written by index: `a[i]` for one dimension, `a[[row, col]]` for two. Each index is checked
/// against its dimension's extent; what is outside reads zero, writes nothing and is reported by the next
/// `synchronize`.
///
/// `LayoutTensor` is another name for the same type.
pub struct TileTensor<T, const RANK: usize, M = Mut> {
    mem: MemRef,
    /// Offset of the first element in the memory; `None` is 0.
    offset: Option<Val<usize>>,
    /// Number of indices along each dimension.
    extents: [Dim; RANK],
    /// Elements from one index to the next.
    strides: [Dim; RANK],
    /// What an index of the last dimension stands for, if it is not one element.
    simd: Option<Simd>,
    /// Whether the elements lie one after the other, last dimension fastest.
    compact: bool,
    element: PhantomData<fn() -> (T, M)>,
}

/// The last dimension of a [vectorized](TileTensor::vectorize) tensor: index `i` stands for the `width` neighbouring
/// elements from `start + i * step` on, of a row of `limit` elements.
#[derive(Clone, Copy)]
struct Simd {
    width: usize,
    start: Option<Val<usize>>,
    step: usize,
    limit: Dim,
}

/// [`TileTensor`] under the name of the older tutorials.
pub type LayoutTensor<T, const RANK: usize, M = Mut> = TileTensor<T, RANK, M>;

impl<T, const RANK: usize, M> Clone for TileTensor<T, RANK, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const RANK: usize, M> Copy for TileTensor<T, RANK, M> {}

impl<T: Element, const RANK: usize, M> fmt::Debug for TileTensor<T, RANK, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TileTensor")
            .field("mem", &self.mem)
            .field("extents", &self.extents)
            .field("strides", &self.strides)
            .finish()
    }
}

impl<T, const RANK: usize, M> DeviceType for TileTensor<T, RANK, M> {
    type Staged = Self;
}

/// An extent or stride: known while the kernel is described, or a value of the kernel.
#[derive(Clone, Copy)]
pub(crate) enum Dim {
    Known(usize),
    Value(Val<usize>),
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Known(n) => write!(f, "{n}"),
            Dim::Value(v) => write!(f, "{v:?}"),
        }
    }
}

impl Dim {
    #[track_caller]
    fn value(self) -> Val<usize> {
        match self {
            Dim::Known(n) => n.stage(),
            Dim::Value(v) => v,
        }
    }

    /// `self * by`
    #[track_caller]
    fn times(self, by: Dim) -> Dim {
        match (self, by) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(a.wrapping_mul(b)),
            (Dim::Known(1), other) | (other, Dim::Known(1)) => other,
            (a, b) => Dim::Value(a.value() * b.value()),
        }
    }

    /// `self / by`, rounded up.
    #[track_caller]
    fn div_ceil(self, by: usize) -> Dim {
        match self {
            Dim::Known(n) => Dim::Known(n.div_ceil(by)),
            other if by == 1 => other,
            Dim::Value(v) => Dim::Value(v.div_ceil(by)),
        }
    }
}

/// `index * stride`
#[track_caller]
fn scaled(index: Val<usize>, stride: Dim) -> Option<Val<usize>> {
    match stride {
        Dim::Known(0) => None,
        Dim::Known(1) => Some(index),
        Dim::Known(n) => Some(index * n),
        Dim::Value(v) => Some(index * v),
    }
}

/// `a + b`, where `None` is 0.
#[track_caller]
fn sum(a: Option<Val<usize>>, b: Option<Val<usize>>) -> Option<Val<usize>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// An extent or stride of a tensor parameter, as the launch knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamDim {
    /// A constant of the kernel: another number makes another kernel.
    Known(usize),
    /// Read when the kernel runs: one kernel serves all numbers.
    Launch,
}

/// A tensor parameter of a launch, from which the kernel's body gets its [`TileTensor`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorParam<const RANK: usize> {
    /// Number of the parameter.
    pub id: tilewise_ir::ParamId,
    /// Extents of the dimensions.
    pub extents: [ParamDim; RANK],
    /// Strides of the dimensions; not looked at if `compact`.
    pub strides: [ParamDim; RANK],
    /// Whether the elements lie one after the other, last dimension fastest.
    pub compact: bool,
}

impl<const RANK: usize> TensorParam<RANK> {
    /// The tensor, in the kernel that is being described.
    #[track_caller]
    pub fn bind<T: Element, M>(&self) -> TileTensor<T, RANK, M> {
        use tilewise_ir::{Op, Type};
        let location = Location::caller();
        let read = |op| Dim::Value(Val::from_raw(crate::recorder::emit(location, op, [], Type::INDEX)));
        let extents = std::array::from_fn(|d| match self.extents[d] {
            ParamDim::Known(n) => Dim::Known(n),
            ParamDim::Launch => read(Op::Extent(self.id, d as u8)),
        });
        let mut strides = [Dim::Known(1); RANK];
        if self.compact {
            for d in (1..RANK).rev() {
                strides[d - 1] = strides[d].times(extents[d]);
            }
        } else {
            strides = std::array::from_fn(|d| match self.strides[d] {
                ParamDim::Known(n) => Dim::Known(n),
                ParamDim::Launch => read(Op::Stride(self.id, d as u8)),
            });
        }
        TileTensor {
            mem: MemRef::Param(self.id),
            offset: None,
            extents,
            strides,
            simd: None,
            compact: self.compact,
            element: PhantomData,
        }
    }
}

/// The tensor types of a kernel's signature.
pub trait TensorType: Sized {
    /// The parameter of a launch that gives such a tensor.
    type Param: Clone;
    /// The tensor, read-only.
    type Immut;

    /// The tensor, in the kernel that is being described.
    #[track_caller]
    fn from_param(param: &Self::Param) -> Self;
}

impl<T: Element, const RANK: usize, M> TensorType for TileTensor<T, RANK, M> {
    type Param = TensorParam<RANK>;
    type Immut = TileTensor<T, RANK, Immut>;

    #[track_caller]
    fn from_param(param: &TensorParam<RANK>) -> Self {
        param.bind()
    }
}

/// A scalar parameter of a launch, from which the kernel's body gets its [`Val`].
#[track_caller]
pub fn bind_scalar<T: Element>(id: tilewise_ir::ParamId) -> Val<T> {
    let location = Location::caller();
    Val::from_raw(crate::recorder::emit(location, tilewise_ir::Op::Scalar(id), [], T::SCALAR.ty()))
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// Extent of dimension `dim`: how many indices it has. At a ragged edge a [`tile`](Self::tile) has fewer than were
    /// asked for.
    ///
    /// # Errors
    ///
    /// Refused if there is no such dimension.
    #[track_caller]
    pub fn dim(&self, dim: usize) -> Val<usize> {
        self.index_extent(dim).value()
    }

    /// Number of elements that have an index: the product of the extents.
    #[track_caller]
    pub fn size(&self) -> Val<usize> {
        (0..RANK).fold(Dim::Known(1), |n, d| n.times(self.index_extent(d))).value()
    }

    /// Stride of dimension `dim`, in elements.
    ///
    /// # Errors
    ///
    /// Refused if there is no such dimension.
    #[track_caller]
    pub fn stride(&self, dim: usize) -> Val<usize> {
        if dim >= RANK {
            no_dimension::<RANK>(dim);
        }
        self.strides[dim].value()
    }

    /// Number of elements that one index reads: 1 unless [`vectorize`](Self::vectorize)d.
    pub fn element_size(&self) -> usize {
        self.simd.map_or(1, |s| s.width)
    }

    /// The tensor, read-only.
    pub fn as_immut(&self) -> TileTensor<T, RANK, Immut> {
        self.with_access()
    }

    fn with_access<N>(&self) -> TileTensor<T, RANK, N> {
        TileTensor {
            mem: self.mem,
            offset: self.offset,
            extents: self.extents,
            strides: self.strides,
            simd: self.simd,
            compact: self.compact,
            element: PhantomData,
        }
    }

    #[track_caller]
    fn index_extent(&self, dim: usize) -> Dim {
        if dim >= RANK {
            no_dimension::<RANK>(dim);
        }
        self.extents[dim]
    }
}

#[track_caller]
fn no_dimension<const RANK: usize>(dim: usize) -> ! {
    crate::recorder::fail(
        Location::caller(),
        format!("dimension {dim} of a tensor of rank {RANK}: dimensions are numbered from 0"),
    )
}

/// A tensor given for a `&TileTensor` parameter of a `#[device]` function.
#[diagnostic::on_unimplemented(
    message = "expected a tensor `&{V}`, found `{Self}`",
    label = "expected `&{V}`",
    note = "element type and rank of the tensor must be those of the parameter"
)]
pub trait TensorRef<V> {
    /// The tensor, read-only.
    type Immut;

    /// The tensor.
    #[doc(hidden)]
    fn tensor_ref(self) -> Self::Immut;
}

/// A tensor given for a `&mut TileTensor` parameter of a `#[device]` function.
#[diagnostic::on_unimplemented(
    message = "expected a tensor `&mut {V}`, found `{Self}`",
    label = "expected `&mut {V}`",
    note = "the tensor must be writable (a `&mut TileTensor` parameter or an allocation), its element type and rank those of the parameter"
)]
pub trait TensorMut<V> {
    /// The tensor.
    #[doc(hidden)]
    fn tensor_mut(self) -> V;
}

macro_rules! tensor_arguments {
    ($($form:ty)*) => {$(
        impl<T: Element, const RANK: usize, M, N> TensorRef<TileTensor<T, RANK, N>> for $form {
            type Immut = TileTensor<T, RANK, Immut>;

            fn tensor_ref(self) -> TileTensor<T, RANK, Immut> {
                self.as_immut()
            }
        }
    )*};
}

tensor_arguments!(TileTensor<T, RANK, M> &TileTensor<T, RANK, M> &mut TileTensor<T, RANK, M>);

impl<T: Element, const RANK: usize> TensorMut<TileTensor<T, RANK, Mut>> for TileTensor<T, RANK, Mut> {
    fn tensor_mut(self) -> TileTensor<T, RANK, Mut> {
        self
    }
}

impl<T: Element, const RANK: usize> TensorMut<TileTensor<T, RANK, Mut>> for &TileTensor<T, RANK, Mut> {
    fn tensor_mut(self) -> TileTensor<T, RANK, Mut> {
        *self
    }
}

impl<T: Element, const RANK: usize> TensorMut<TileTensor<T, RANK, Mut>> for &mut TileTensor<T, RANK, Mut> {
    fn tensor_mut(self) -> TileTensor<T, RANK, Mut> {
        *self
    }
}
