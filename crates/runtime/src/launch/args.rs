//! What can be passed for the tensor parameters of a kernel.

use tilewise_stage::tensor::{TensorParam, TensorType};
use tilewise_stage::{Element, TileTensor};

use crate::buffer::DeviceBuffer;
use crate::launch::builder::LaunchBuilder;
use crate::tensor::DeviceTensor;
use crate::tensor::view::{TensorView, TensorViewMut};

/// An argument for a parameter `&V` of a kernel: a reference to a tensor, to a buffer (rank 1), or a [`TensorView`].
#[diagnostic::on_unimplemented(
    message = "this parameter is a tensor: the kernel takes a `&{V}` here, found `{Self}`",
    label = "expected a reference to a tensor of a device, or a view",
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
///
/// A tensor that is not `&mut` is refused, and so is one that another argument borrows:
///
/// ```
/// # use tilewise_runtime::*;
/// # use tilewise_stage::TileTensor;
/// fn copy<'k>(
///     output: impl TensorArgMut<'k, TileTensor<f32, 1>>,
///     input: impl TensorArg<'k, TileTensor<f32, 1>>,
/// ) -> Launch<'k> {
///     let mut builder = LaunchBuilder::new("copy");
///     // ...
/// #   builder.tensor_mut::<TileTensor<f32, 1>, _>("output", output);
/// #   builder.tensor::<TileTensor<f32, 1>, _>("input", input);
/// #   builder.describe(|| {})
/// }
/// # fn main() -> Result<()> {
/// # let ctx = DeviceContext::new()?;
/// # let mut a = ctx.zeros::<f32, 1>(tilewise_layout::row_major([1]))?;
/// # let mut b = ctx.zeros::<f32, 1>(tilewise_layout::row_major([1]))?;
/// let launch = copy(&mut a, &b);
/// # drop(launch);
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0277
/// # use tilewise_runtime::*;
/// # use tilewise_stage::TileTensor;
/// # fn copy<'k>(
/// #     output: impl TensorArgMut<'k, TileTensor<f32, 1>>,
/// #     input: impl TensorArg<'k, TileTensor<f32, 1>>,
/// # ) -> Launch<'k> { LaunchBuilder::new("copy").describe(|| {}) }
/// # fn main() -> Result<()> {
/// # let ctx = DeviceContext::new()?;
/// # let a = ctx.zeros::<f32, 1>(tilewise_layout::row_major([1]))?;
/// # let b = ctx.zeros::<f32, 1>(tilewise_layout::row_major([1]))?;
/// let launch = copy(&a, &b); // this parameter is written
/// # drop(launch);
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0502
/// # use tilewise_runtime::*;
/// # use tilewise_stage::TileTensor;
/// # fn copy<'k>(
/// #     output: impl TensorArgMut<'k, TileTensor<f32, 1>>,
/// #     input: impl TensorArg<'k, TileTensor<f32, 1>>,
/// # ) -> Launch<'k> { LaunchBuilder::new("copy").describe(|| {}) }
/// # fn main() -> Result<()> {
/// # let ctx = DeviceContext::new()?;
/// # let mut a = ctx.zeros::<f32, 1>(tilewise_layout::row_major([1]))?;
/// let launch = copy(&mut a, &a); // cannot borrow `a` as immutable
/// # drop(launch);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "this parameter is written: the kernel takes a `&mut {V}` here, found `{Self}`",
    label = "expected a `&mut` reference to a tensor of a device, or a view for writing",
    note = "pass `&mut tensor` (a `DeviceTensor`), `&mut buffer` for rank 1, or a view for writing (`tensor.view_mut(layout)?`)",
    note = "for a tensor that is read and written by one launch pass the two parts of `tensor.in_out()`"
)]
pub trait TensorArgMut<'k, V: TensorType> {
    /// Adds the argument to a launch.
    #[doc(hidden)]
    fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> V::Param;
}

/// A tensor type of kernels with elements `T` and `RANK` dimensions: what a tensor of the device can be passed for.
#[diagnostic::on_unimplemented(
    message = "mismatched tensors: the kernel takes a `{Self}` here, found a tensor of `{T}` with rank {RANK}",
    label = "a tensor of `{T}` with rank {RANK}",
    note = "element type and rank must be those of the parameter; another shape of the same elements is a view: `tensor.view::<RANK>(layout)?`"
)]
pub trait TensorOf<T, const RANK: usize>: TensorType<Param = TensorParam<RANK>> {}

impl<T: Element, const RANK: usize, M> TensorOf<T, RANK> for TileTensor<T, RANK, M> {}

macro_rules! arguments {
    ($($trait:ident($mutable:literal) [$($rank:tt)*] $argument:ty, $dimensions:tt, |$this:ident| $region:expr;)*) => {$(
        impl<'k, T: Element, $($rank)* V: TensorOf<T, $dimensions>> $trait<'k, V> for $argument {
            fn add_to(self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> TensorParam<$dimensions> {
                let $this = self;
                builder.push_tensor::<T, $dimensions>(name, $region, $mutable)
            }
        }
    )*};
}

arguments! {
    TensorArg(false) [const RANK: usize,] &'k DeviceTensor<T, RANK>, RANK, |tensor| tensor.region();
    TensorArg(false) [const RANK: usize,] &'k mut DeviceTensor<T, RANK>, RANK, |tensor| tensor.region();
    TensorArg(false) [const RANK: usize,] TensorView<'k, T, RANK>, RANK, |view| view.region;
    TensorArg(false) [const RANK: usize,] &'k TensorView<'_, T, RANK>, RANK, |view| view.region;
    TensorArg(false) [const RANK: usize,] &'k TensorViewMut<'_, T, RANK>, RANK, |view| view.region;
    TensorArg(false) [] &'k DeviceBuffer<T>, 1, |buffer| buffer.region();
    TensorArg(false) [] &'k mut DeviceBuffer<T>, 1, |buffer| buffer.region();
    TensorArgMut(true) [const RANK: usize,] &'k mut DeviceTensor<T, RANK>, RANK, |tensor| tensor.region();
    TensorArgMut(true) [const RANK: usize,] TensorViewMut<'k, T, RANK>, RANK, |view| view.region;
    TensorArgMut(true) [const RANK: usize,] &'k mut TensorViewMut<'_, T, RANK>, RANK, |view| view.region;
    TensorArgMut(true) [] &'k mut DeviceBuffer<T>, 1, |buffer| buffer.region();
}
