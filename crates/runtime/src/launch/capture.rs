//! What a `kernel!` takes from its surroundings: tensors, and values of the host.
//!
//! `kernel!([mut output, a, scale] |[i]| ...)` names variables whose types the macro does not know. These traits sort
//! them: a tensor becomes a tensor parameter, a number a scalar parameter, and a reference is what it refers to.

use std::marker::PhantomData;

use tilewise_stage::tensor::TensorParam;
use tilewise_stage::{Element, Immut, Mut, TileTensor};

use crate::buffer::DeviceBuffer;
use crate::launch::builder::{LaunchBuilder, ScalarParam};
use crate::tensor::DeviceTensor;
use crate::tensor::region::Region;
use crate::tensor::view::{TensorView, TensorViewMut};

/// A parameter from which the body of a kernel gets the value of a capture.
pub trait Bind {
    /// The value in the kernel: a [`Val`](tilewise_stage::Val) or a [`TileTensor`].
    type Value;

    /// The value, in the kernel that is being described.
    #[track_caller]
    fn bind(&self) -> Self::Value;
}

/// What a `kernel!` can read of its surroundings: a tensor, a view or a buffer, a number or a `bool`, or a reference to
/// one of them.
///
/// `K` tells these kinds apart ([`OnDevice`], [`ByValue`], [`ByReference`]); it is always inferred.
///
/// Called as a method, `a.capture_into(&mut builder, "a")` works alike for a tensor and for a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be captured by a kernel",
    label = "not a tensor and not a number",
    note = "a kernel captures tensors, views and buffers of a device, numbers and bools; anything else is used in the body while the kernel is described, without being named in the list"
)]
pub trait Capture<'k, K> {
    /// From which the body gets the value.
    type Param: Bind + Clone + 'k;

    /// Adds the capture to a launch.
    fn capture_into(&'k self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> Self::Param;
}

/// What a `kernel!` can write of its surroundings: a tensor, a view for writing or a buffer, or a `&mut` reference to
/// one of them.
///
/// Called as a method, `a.capture_mut_into(&mut builder, "a")` works alike for a tensor and for a `&mut` reference to one,
/// which need not be a `mut` variable.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written by a kernel",
    label = "not a writable tensor",
    note = "a kernel writes tensors, views for writing and buffers of a device; it returns a single number in a tensor of one element"
)]
pub trait CaptureMut<'k> {
    /// From which the body gets the value.
    type Param: Bind + Clone + 'k;

    /// Adds the capture to a launch.
    fn capture_mut_into(&'k mut self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> Self::Param;
}

/// [`Capture`] of memory of a device.
#[derive(Debug)]
pub enum OnDevice {}

/// [`Capture`] of a value of the host, which becomes a scalar parameter.
#[derive(Debug)]
pub enum ByValue {}

/// [`Capture`] of what a reference refers to.
#[derive(Debug)]
pub struct ByReference<K>(PhantomData<K>);

/// The parameter of a captured tensor.
#[derive(Debug)]
pub struct TensorCapture<T, const RANK: usize, M> {
    param: TensorParam<RANK>,
    tensor: PhantomData<fn() -> (T, M)>,
}

impl<T, const RANK: usize, M> Clone for TensorCapture<T, RANK, M> {
    fn clone(&self) -> Self {
        TensorCapture { param: self.param.clone(), tensor: PhantomData }
    }
}

impl<T: Element, const RANK: usize, M> TensorCapture<T, RANK, M> {
    fn new<'k>(
        builder: &mut LaunchBuilder<'k>,
        name: &'static str,
        region: Region<'k, RANK>,
        mutable: bool,
    ) -> Self {
        let param = builder.push_tensor::<T, RANK>(name, region, mutable);
        TensorCapture { param, tensor: PhantomData }
    }
}

impl<T: Element, const RANK: usize, M> Bind for TensorCapture<T, RANK, M> {
    type Value = TileTensor<T, RANK, M>;

    #[track_caller]
    fn bind(&self) -> TileTensor<T, RANK, M> {
        self.param.bind()
    }
}

impl<'k, T: Element> Capture<'k, ByValue> for T {
    type Param = ScalarParam<T>;

    fn capture_into(&'k self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> ScalarParam<T> {
        builder.scalar(name, *self)
    }
}

impl<'k, K, C: Capture<'k, K> + ?Sized> Capture<'k, ByReference<K>> for &C {
    type Param = C::Param;

    fn capture_into(&'k self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> C::Param {
        (**self).capture_into(builder, name)
    }
}

impl<'k, K, C: Capture<'k, K> + ?Sized> Capture<'k, ByReference<K>> for &mut C {
    type Param = C::Param;

    fn capture_into(&'k self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> C::Param {
        (**self).capture_into(builder, name)
    }
}

impl<'k, C: CaptureMut<'k> + ?Sized> CaptureMut<'k> for &mut C {
    type Param = C::Param;

    fn capture_mut_into(&'k mut self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> C::Param {
        (**self).capture_mut_into(builder, name)
    }
}

macro_rules! captures {
    (read $([$($generics:tt)*] $source:ty, $rank:tt, |$this:ident| $region:expr;)*) => {$(
        impl<'k, T: Element, $($generics)*> Capture<'k, OnDevice> for $source {
            type Param = TensorCapture<T, $rank, Immut>;

            fn capture_into(&'k self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> Self::Param {
                let $this = self;
                TensorCapture::new(builder, name, $region, false)
            }
        }
    )*};
    (write $([$($generics:tt)*] $source:ty, $rank:tt, |$this:ident| $region:expr;)*) => {$(
        impl<'k, T: Element, $($generics)*> CaptureMut<'k> for $source {
            type Param = TensorCapture<T, $rank, Mut>;

            fn capture_mut_into(&'k mut self, builder: &mut LaunchBuilder<'k>, name: &'static str) -> Self::Param {
                let $this = self;
                TensorCapture::new(builder, name, $region, true)
            }
        }
    )*};
}

captures! { read
    [const RANK: usize] DeviceTensor<T, RANK>, RANK, |tensor| tensor.region();
    [const RANK: usize] TensorView<'_, T, RANK>, RANK, |view| view.region;
    [const RANK: usize] TensorViewMut<'_, T, RANK>, RANK, |view| view.region;
    [] DeviceBuffer<T>, 1, |buffer| buffer.region();
}

captures! { write
    [const RANK: usize] DeviceTensor<T, RANK>, RANK, |tensor| tensor.region();
    [const RANK: usize] TensorViewMut<'_, T, RANK>, RANK, |view| view.region;
    [] DeviceBuffer<T>, 1, |buffer| buffer.region();
}
