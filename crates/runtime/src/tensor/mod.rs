//! [`DeviceTensor`]: elements on a device with a layout.
//!
//! [`view`] is for parts and other shapes of a tensor, [`create`] makes tensors. Inside, [`flat`] is the layout taken
//! apart, and [`region`] copies between a layout's elements and the host.

pub(crate) mod create;
pub(crate) mod flat;
pub(crate) mod region;
pub(crate) mod view;

use std::borrow::Borrow;
use std::fmt;

use tilewise_layout::Layout;
use tilewise_stage::Element;

use crate::buffer::DeviceBuffer;
use crate::error::{Result, TensorError};
use crate::host_buffer::HostBuffer;
use crate::tensor::flat::FlatLayout;
use crate::tensor::region::Region;
use crate::tensor::view::{TensorView, TensorViewMut};

/// Elements of type `T` on a device, arranged by a layout with `RANK` dimensions.
///
/// A reference is an argument of a launch: `&tensor` for a parameter `&TileTensor<T, RANK>`, `&mut tensor` for
/// `&mut TileTensor<T, RANK>`. So the borrow checker refuses a launch in which one argument is written and another is
/// the same tensor; [`in_out`](DeviceTensor::in_out) is the way to mean that.
///
/// The host sees the elements in logical order: by index, the last dimension fastest, whatever the layout.
///
/// ```
/// use tilewise_layout::col_major;
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let mut a = ctx.tensor_from_slice(col_major([2, 3]), &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(a.get([1, 0])?, 4);
/// a.map_to_host(|host| host[5] = 60)?;
/// assert_eq!(a.to_host()?, [1, 2, 3, 4, 5, 60]);
/// assert_eq!(a.into_buffer().to_host()?, [1, 4, 2, 5, 3, 60]);
/// # let _: tilewise_runtime::DeviceTensor<i32, 2> = ctx.zeros(col_major([2, 3]))?;
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct DeviceTensor<T, const RANK: usize> {
    buffer: DeviceBuffer<T>,
    layout: Layout,
    flat: FlatLayout<RANK>,
}

impl<T, const RANK: usize> DeviceTensor<T, RANK> {
    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Extents of the dimensions.
    pub fn shape(&self) -> [usize; RANK] {
        self.flat.shape()
    }

    /// Distance of neighbours along each dimension, in elements.
    pub fn strides(&self) -> [usize; RANK] {
        self.flat.stride()
    }

    /// Number of elements: the product of the extents.
    pub fn len(&self) -> usize {
        self.flat.size()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn region(&self) -> Region<'_, RANK> {
        Region { storage: &self.buffer.storage, offset: 0, flat: self.flat, aliased: false }
    }

    /// The memory under the tensor.
    pub fn into_buffer(self) -> DeviceBuffer<T> {
        self.buffer
    }
}

impl<T: Element, const RANK: usize> DeviceTensor<T, RANK> {
    /// A tensor in `buffer`, which `layout` fits in.
    pub(crate) fn new(buffer: DeviceBuffer<T>, layout: &Layout) -> Result<DeviceTensor<T, RANK>> {
        let region = buffer.region().view_mut::<RANK>(0, layout, buffer.len())?;
        let flat = region.flat;
        Ok(DeviceTensor { buffer, layout: layout.clone(), flat })
    }

    /// The elements in logical order, after all that was enqueued on the context.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`](crate::Error::Fault) if a kernel of the context went wrong since it was last asked.
    pub fn to_host(&self) -> Result<HostBuffer<T>> {
        self.region().copy_to_host()
    }

    /// The element at `index`, after all that was enqueued on the context.
    ///
    /// # Errors
    ///
    /// [`TensorError::IndexOutOfRange`] if there is none, else as [`to_host`](DeviceTensor::to_host).
    pub fn get(&self, index: [usize; RANK]) -> Result<T> {
        self.region().get(index)
    }

    /// Sets every element to `value`, after what was enqueued before.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn enqueue_fill(&mut self, value: T) -> Result<()> {
        self.region().fill(value)
    }

    /// Sets the elements to `values`, which are in logical order.
    ///
    /// # Errors
    ///
    /// [`TensorError::ValueCount`] if there are not as many values as elements.
    pub fn copy_from_host(&mut self, values: &[T]) -> Result<()> {
        self.region().copy_from_host(values)
    }

    /// Lets `f` read and change the elements on the host, in logical order: they are copied there, after all that was
    /// enqueued, and back when `f` returns. Gives what `f` gives.
    ///
    /// # Errors
    ///
    /// As [`to_host`](DeviceTensor::to_host); `f` is not called then.
    pub fn map_to_host<R>(&mut self, f: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        self.region().map_to_host(f)
    }

    /// The same elements, in logical order, as a tensor of `layout`. Nothing is copied.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.tensor_from_fn(row_major([3, 4]), |[i, j]| 4 * i + j)?;
    /// let a = a.reshape::<1>(row_major([12]))?;
    /// assert_eq!(a.get([7])?, 7);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError::ReshapeSize`] if the layout has another number of elements, [`TensorError::ReshapeStrided`] if the
    /// tensor or the new layout is not row-major without gaps, so that it would take a copy.
    pub fn reshape<const TO: usize>(self, layout: impl Borrow<Layout>) -> Result<DeviceTensor<T, TO>> {
        let to = layout.borrow();
        let flat = FlatLayout::<TO>::new(to)?;
        if flat.size() != self.len() {
            return Err(TensorError::ReshapeSize {
                from: Box::new(self.layout.clone()),
                elements: self.len(),
                to: Box::new(to.clone()),
                to_elements: flat.size(),
            }
            .into());
        }
        if !self.flat.is_compact() || !flat.is_compact() {
            let (from, to) = (Box::new(self.layout.clone()), Box::new(to.clone()));
            return Err(TensorError::ReshapeStrided { from, to }.into());
        }
        Ok(DeviceTensor { buffer: self.buffer, layout: to.clone(), flat })
    }

    /// The tensor as a view for reading.
    pub fn as_view(&self) -> TensorView<'_, T, RANK> {
        TensorView::new(self.region())
    }

    /// The tensor as a view for writing.
    pub fn as_view_mut(&mut self) -> TensorViewMut<'_, T, RANK> {
        TensorViewMut::new(self.region())
    }

    /// The tensor with its dimensions in reverse order, for reading. Nothing is copied.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.tensor_from_fn(row_major([3, 4]), |[i, j]| 10 * i + j)?;
    /// assert_eq!(a.transpose().shape(), [4, 3]);
    /// assert_eq!(a.transpose().get([3, 1])?, 13);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    pub fn transpose(&self) -> TensorView<'_, T, RANK> {
        TensorView::new(self.region().transposed())
    }

    /// The tensor's memory from its first element on as a tensor of `layout`, for reading.
    ///
    /// # Errors
    ///
    /// As [`view_at`](DeviceTensor::view_at).
    pub fn view<const TO: usize>(&self, layout: impl Borrow<Layout>) -> Result<TensorView<'_, T, TO>> {
        self.view_at(0, layout)
    }

    /// The tensor's memory from element `offset` on as a tensor of `layout`, for reading: a part of the tensor, every
    /// second row, a row seen as many rows. Several indices may have the same element.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.tensor_from_fn(row_major([3, 4]), |[i, j]| 10 * i + j)?;
    /// let row_1_three_times = a.view_at::<2>(4, Layout::new((3, 4), (0, 1))?)?;
    /// assert_eq!(row_1_three_times.to_host()?, [10, 11, 12, 13].repeat(3));
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError`] if the layout reaches beyond the memory, has not `TO` modes, or a nested mode that is not one
    /// extent with one stride.
    pub fn view_at<const TO: usize>(
        &self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorView<'_, T, TO>> {
        self.buffer.view_at(offset, layout)
    }

    /// The tensor's memory from its first element on as a tensor of `layout`, for writing.
    ///
    /// # Errors
    ///
    /// As [`view_mut_at`](DeviceTensor::view_mut_at).
    pub fn view_mut<const TO: usize>(
        &mut self,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorViewMut<'_, T, TO>> {
        self.view_mut_at(0, layout)
    }

    /// The tensor's memory from element `offset` on as a tensor of `layout`, for writing.
    ///
    /// # Errors
    ///
    /// As [`view_at`](DeviceTensor::view_at), and [`TensorError::Overlap`] if several indices have the same element.
    pub fn view_mut_at<const TO: usize>(
        &mut self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorViewMut<'_, T, TO>> {
        self.buffer.view_mut_at(offset, layout)
    }

    /// The tensor twice, to be written and to be read: for a kernel that takes output and input as two parameters and
    /// is meant to work in place. The kernel is told that the two share their elements.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::*;
    /// use tilewise_stage::{TileTensor, thread_idx};
    ///
    /// // What `#[kernel] fn negate(out: &mut TileTensor<f32, 1>, input: &TileTensor<f32, 1>)` makes.
    /// fn negate<'k>(
    ///     out: impl TensorArgMut<'k, TileTensor<f32, 1>>,
    ///     input: impl TensorArg<'k, TileTensor<f32, 1>>,
    /// ) -> Launch<'k> {
    ///     let mut builder = LaunchBuilder::new("negate");
    ///     let out = builder.tensor_mut::<TileTensor<f32, 1>, _>("out", out);
    ///     let input = builder.tensor::<TileTensor<f32, 1>, _>("input", input);
    ///     builder.describe(move || {
    ///         let (out, input): (TileTensor<f32, 1>, TileTensor<f32, 1>) = (out.bind(), input.bind());
    ///         let i = thread_idx().x;
    ///         out.store(i, -input.load(i, 1));
    ///     })
    /// }
    ///
    /// let ctx = DeviceContext::new()?;
    /// let mut a = ctx.tensor_from_slice(row_major([3]), &[1.0, 2.0, 3.0])?;
    /// let (out, input) = a.in_out();
    /// ctx.enqueue_function(negate(out, input), grid_dim(1), block_dim(3))?;
    /// assert_eq!(a.to_host()?, [-1.0, -2.0, -3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn in_out(&mut self) -> (TensorViewMut<'_, T, RANK>, TensorView<'_, T, RANK>) {
        let region = Region { aliased: true, ..self.region() };
        (TensorViewMut::new(region), TensorView::new(region))
    }
}

impl<T, const RANK: usize> fmt::Debug for DeviceTensor<T, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let storage = &self.buffer.storage;
        write!(f, "DeviceTensor({} of {} on {})", self.layout, storage.scalar(), storage.context())
    }
}
