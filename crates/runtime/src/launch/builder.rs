//! [`LaunchBuilder`]: the arguments of a launch, in the order of the kernel's parameters.

use std::borrow::Cow;
use std::marker::PhantomData;

use tilewise_ir::{ParamId, ParamKind};
use tilewise_stage::tensor::{TensorParam, TensorType, bind_scalar};
use tilewise_stage::{Element, Val};

use crate::device::ArgValue;
use crate::launch::args::{TensorArg, TensorArgMut};
use crate::launch::capture::{Bind, Capture, CaptureMut};
use crate::launch::{IndexBody, Launch, LaunchParam, TensorValue};
use crate::tensor::region::Region;

/// Takes the arguments of one launch, gives for each the parameter from which the kernel's body gets its value, and
/// makes the [`Launch`]. The code that `#[kernel]` generates is calls of this.
///
/// ```
/// use tilewise_layout::row_major;
/// use tilewise_runtime::{DeviceContext, DeviceTensor, Launch, LaunchBuilder, block_dim, grid_dim};
/// use tilewise_stage::tensor::TensorType;
/// use tilewise_stage::tensor::index::{ReadIndex, WriteIndex};
/// use tilewise_stage::{TileTensor, thread_idx};
///
/// /// `x[i] *= factor`
/// fn scale<'k>(x: &'k mut DeviceTensor<f32, 1>, factor: f32) -> Launch<'k> {
///     let mut builder = LaunchBuilder::new("scale");
///     let x = builder.tensor_mut::<TileTensor<f32, 1>, _>("x", x);
///     let factor = builder.scalar("factor", factor);
///     builder.describe(move || {
///         let x: TileTensor<f32, 1> = TensorType::from_param(&x);
///         let i = thread_idx().x;
///         x.write_index(i, x.read_index(i) * factor.bind());
///     })
/// }
///
/// let ctx = DeviceContext::new()?;
/// let mut x = ctx.tensor_from_slice(row_major([3]), &[1.0, 2.0, 3.0])?;
/// ctx.enqueue_function(scale(&mut x, 10.0), grid_dim(1), block_dim(3))?;
/// assert_eq!(x.to_host()?, [10.0, 20.0, 30.0]);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct LaunchBuilder<'k> {
    name: &'static str,
    params: Vec<LaunchParam>,
    borrows: PhantomData<&'k ()>,
}

impl<'k> LaunchBuilder<'k> {
    /// A launch of the kernel `name`, without arguments yet.
    pub fn new(name: &'static str) -> LaunchBuilder<'k> {
        LaunchBuilder { name, params: Vec::new(), borrows: PhantomData }
    }

    /// Adds a tensor that the kernel reads: the argument of a parameter `name: &V`.
    pub fn tensor<V: TensorType, A: TensorArg<'k, V>>(&mut self, name: &'static str, arg: A) -> V::Param {
        arg.add_to(self, name)
    }

    /// Adds a tensor that the kernel may write: the argument of a parameter `name: &mut V`.
    pub fn tensor_mut<V: TensorType, A: TensorArgMut<'k, V>>(
        &mut self,
        name: &'static str,
        arg: A,
    ) -> V::Param {
        arg.add_to(self, name)
    }

    /// Adds a value: the argument of a parameter `name: T`. It is no part of the compiled kernel.
    pub fn scalar<T: Element>(&mut self, name: &'static str, value: T) -> ScalarParam<T> {
        self.push_scalar(Cow::Borrowed(name), value)
    }

    /// Adds what a `kernel!` takes from its surroundings to read it: a tensor or a value.
    pub fn capture<K, C: Capture<'k, K> + ?Sized>(&mut self, name: &'static str, value: &'k C) -> C::Param {
        value.capture_into(self, name)
    }

    /// Adds a tensor that a `kernel!` takes from its surroundings to write it.
    pub fn capture_mut<C: CaptureMut<'k> + ?Sized>(
        &mut self,
        name: &'static str,
        value: &'k mut C,
    ) -> C::Param {
        value.capture_mut_into(self, name)
    }

    /// The launch. `body` is run once, when the launch is enqueued, to describe the kernel.
    pub fn describe(self, body: impl FnOnce() + 'k) -> Launch<'k> {
        Launch::new(self.name, self.params, Box::new(body))
    }

    /// The body of an elementwise kernel. It is run while the kernel is described, with the number of neighbouring
    /// elements that it is to work on at once, and the index of the first.
    pub fn describe_index<const RANK: usize>(
        self,
        body: impl Fn(usize, [Val<usize>; RANK]) + 'k,
    ) -> IndexBody<'k, RANK> {
        IndexBody { builder: self, body: Box::new(body) }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn push_scalar<T: Element>(&mut self, name: Cow<'static, str>, value: T) -> ScalarParam<T> {
        let id = self.push(name, ParamKind::Scalar(T::SCALAR), ArgValue::Scalar(value.to_const()));
        ScalarParam { id, element: PhantomData }
    }

    pub(crate) fn push_tensor<T: Element, const RANK: usize>(
        &mut self,
        name: &'static str,
        region: Region<'k, RANK>,
        mutable: bool,
    ) -> TensorParam<RANK> {
        let Region { storage, offset, flat, aliased } = region;
        let kind = ParamKind::Tensor { elem: T::SCALAR, rank: RANK as u8, mutable, aliased };
        let value = TensorValue {
            storage: storage.clone(),
            offset: offset as u64,
            extents: flat.shape().iter().map(|&n| n as u64).collect(),
            strides: flat.stride().iter().map(|&n| n as u64).collect(),
        };
        let id = self.push(Cow::Borrowed(name), kind, ArgValue::Tensor(value));
        TensorParam {
            id,
            extents: flat.param_extents(),
            strides: flat.param_strides(),
            compact: flat.is_compact(),
        }
    }

    fn push(&mut self, name: Cow<'static, str>, kind: ParamKind, value: ArgValue) -> ParamId {
        self.params.push(LaunchParam { name, kind, value });
        ParamId(self.params.len() as u32 - 1)
    }
}

/// A scalar parameter of a launch, from which the kernel's body gets its [`Val`].
#[derive(Debug)]
pub struct ScalarParam<T> {
    id: ParamId,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for ScalarParam<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ScalarParam<T> {}

impl<T: Element> ScalarParam<T> {
    /// The value, in the kernel that is being described.
    #[track_caller]
    pub fn bind(&self) -> Val<T> {
        bind_scalar(self.id)
    }
}

impl<T: Element> Bind for ScalarParam<T> {
    type Value = Val<T>;

    #[track_caller]
    fn bind(&self) -> Val<T> {
        bind_scalar(self.id)
    }
}
