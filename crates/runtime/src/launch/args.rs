//! What can be passed for the tensor parameters of a kernel.

use tilewise_stage::tensor::{TensorParam, TensorType};
use tilewise_stage::{Element, TileTensor};

use crate::buffer::DeviceBuffer;
use crate::launch::builder::LaunchBuilder;
use crate::tensor::DeviceTensor;
use crate::tensor::view::{TensorView, TensorViewMut};

/// An argument for a parameter `&V` of a kernel: a reference to a tensor, to a buffer (rank 1), or a [`TensorView`].
#[diagnostic::on_unimplemented(
    message = "mismatched tensors: the kernel reads a `{V}` here, found `{Self}`",
    label = "expected a tensor of the element type and rank of `{V}`",
    note = "pass `&tensor` (a `DeviceTensor`), `&buffer` for rank 1, or a view (`tensor.view(layout)?`, `tensor.transpose()`)",
    note = "values of the host are copied to the device first: `ctx.tensor_from_slice(row_major([n]), &values)?`"
)]
pub trait TensorArg<'k, V: TensorType> {
    /// Adds the argument to a launch.
    #[doc(hidden)]
    fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> V::Param;
}

/// An argument for a parameter `&mut V` of a kernel: a `&mut` reference to a tensor, to a buffer (rank 1), or a
/// [`TensorViewMut`].
#[diagnostic::on_unimplemented(
    message = "this parameter is written: the kernel takes a `&mut {V}` here, found `{Self}`",
    label = "expected a writable tensor of the element type and rank of `{V}`",
    note = "pass `&mut tensor` (a `DeviceTensor`), `&mut buffer` for rank 1, or a view for writing (`tensor.view_mut(layout)?`)",
    note = "for a tensor that is read and written by one launch pass the two parts of `tensor.in_out()`"
)]
pub trait TensorArgMut<'k, V: TensorType> {
    /// Adds the argument to a launch.
    #[doc(hidden)]
    fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> V::Param;
}

macro_rules! arguments {
    ($($trait:ident($mutable:literal) $rank:tt: $argument:ty, |$this:ident| $region:expr;)*) => {
        $(arguments!(@ $trait, $mutable, $rank, $argument, $this, $region);)*
    };
    (@ $trait:ident, $mutable:literal, 1, $argument:ty, $this:ident, $region:expr) => {
        impl<'k, T: Element, M> $trait<'k, TileTensor<T, 1, M>> for $argument {
            fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> TensorParam<1> {
                let $this = self;
                builder.push_tensor::<T, 1>(name, $region, $mutable)
            }
        }
    };
    (@ $trait:ident, $mutable:literal, RANK, $argument:ty, $this:ident, $region:expr) => {
        impl<'k, T: Element, const RANK: usize, M> $trait<'k, TileTensor<T, RANK, M>> for $argument {
            fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> TensorParam<RANK> {
                let $this = self;
                builder.push_tensor::<T, RANK>(name, $region, $mutable)
            }
        }
    };
}

arguments! {
    TensorArg(false) RANK: &'k DeviceTensor<T, RANK>, |tensor| tensor.region();
    TensorArg(false) RANK: &'k mut DeviceTensor<T, RANK>, |tensor| tensor.region();
    TensorArg(false) RANK: TensorView<'k, T, RANK>, |view| view.region;
    TensorArg(false) RANK: &'k TensorView<'k, T, RANK>, |view| view.region;
    TensorArg(false) RANK: &'k TensorViewMut<'_, T, RANK>, |view| view.region;
    TensorArg(false) 1: &'k DeviceBuffer<T>, |buffer| buffer.region();
    TensorArg(false) 1: &'k mut DeviceBuffer<T>, |buffer| buffer.region();
    TensorArgMut(true) RANK: &'k mut DeviceTensor<T, RANK>, |tensor| tensor.region();
    TensorArgMut(true) RANK: TensorViewMut<'k, T, RANK>, |view| view.region;
    TensorArgMut(true) RANK: &'k mut TensorViewMut<'_, T, RANK>, |view| view.region;
    TensorArgMut(true) 1: &'k mut DeviceBuffer<T>, |buffer| buffer.region();
}
