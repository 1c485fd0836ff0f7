//! Views: parts and other shapes of a tensor or buffer, as arguments of a launch. A view copies nothing.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use tilewise_layout::Layout;
use tilewise_stage::Element;

use crate::error::Result;
use crate::host_buffer::HostBuffer;
use crate::tensor::region::Region;

/// Elements of a tensor or buffer that are only read, arranged by a layout with `RANK` dimensions.
///
/// It is passed to a kernel by value, for a parameter `&TileTensor<T, RANK>`.
///
/// ```
/// use tilewise_layout::{Layout, row_major};
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let a = ctx.tensor_from_fn(row_major([4, 4]), |[i, j]| 10 * i + j)?;
/// let diagonal = a.view::<1>(Layout::new(4, 5)?)?;
/// assert_eq!(diagonal.to_host()?, [0, 11, 22, 33]);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct TensorView<'a, T, const RANK: usize> {
    pub(crate) region: Region<'a, RANK>,
    element: PhantomData<&'a T>,
}

/// Elements of a tensor or buffer that may be written, arranged by a layout with `RANK` dimensions.
///
/// It is passed to a kernel by value, for a parameter `&mut TileTensor<T, RANK>`; [`reborrow`](TensorViewMut::reborrow)
/// it to use it again. No two of its indices have the same element.
///
/// ```
/// use tilewise_layout::{Layout, row_major};
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let mut a = ctx.zeros::<f32, 2>(row_major([3, 4]))?;
/// let mut column = a.view_mut_at::<1>(2, Layout::new(3, 4)?)?;
/// column.enqueue_fill(1.0)?;
/// assert_eq!(a.to_host()?, [0.0, 0.0, 1.0, 0.0].repeat(3));
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct TensorViewMut<'a, T, const RANK: usize> {
    pub(crate) region: Region<'a, RANK>,
    element: PhantomData<&'a mut T>,
}

impl<T, const RANK: usize> Clone for TensorView<'_, T, RANK> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const RANK: usize> Copy for TensorView<'_, T, RANK> {}

macro_rules! both {
    ($view:ident) => {
        impl<'a, T, const RANK: usize> $view<'a, T, RANK> {
            pub(crate) fn new(region: Region<'a, RANK>) -> Self {
                $view { region, element: PhantomData }
            }

            /// The layout.
            pub fn layout(&self) -> Layout {
                self.region.flat.to_layout()
            }

            /// Extents of the dimensions.
            pub fn shape(&self) -> [usize; RANK] {
                self.region.flat.shape()
            }

            /// Distance of neighbours along each dimension, in elements.
            pub fn strides(&self) -> [usize; RANK] {
                self.region.flat.stride()
            }

            /// Number of elements: the product of the extents.
            pub fn len(&self) -> usize {
                self.region.flat.size()
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<'a, T: Element, const RANK: usize> $view<'a, T, RANK> {
            /// The elements by index, the last dimension fastest, after all that was enqueued on the context.
            ///
            /// # Errors
            ///
            /// [`Error::Fault`](crate::Error::Fault) if a kernel of the context went wrong since it was last asked.
            pub fn to_host(&self) -> Result<HostBuffer<T>> {
                self.region.copy_to_host()
            }

            /// The element at `index`, after all that was enqueued on the context.
            ///
            /// # Errors
            ///
            /// [`TensorError::IndexOutOfRange`](crate::TensorError::IndexOutOfRange) if there is none, else as
            #[doc = concat!("[`to_host`](", stringify!($view), "::to_host).")]
            pub fn get(&self, index: [usize; RANK]) -> Result<T> {
                self.region.get(index)
            }
        }

        impl<T, const RANK: usize> fmt::Debug for $view<'_, T, RANK> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Region { storage, offset, .. } = &self.region;
                write!(
                    f,
                    "{}({} of {} at {offset} on {})",
                    stringify!($view),
                    self.layout(),
                    storage.scalar(),
                    storage.context()
                )
            }
        }
    };
}

both!(TensorView);
both!(TensorViewMut);

impl<'a, T: Element, const RANK: usize> TensorView<'a, T, RANK> {
    /// The view with its dimensions in reverse order.
    pub fn transpose(&self) -> TensorView<'a, T, RANK> {
        TensorView::new(self.region.transposed())
    }

    /// The memory that the view spans, from its element `offset` on, as a tensor of `layout`.
    ///
    /// # Errors
    ///
    /// [`TensorError`](crate::TensorError) if the layout reaches beyond what the view spans, has not `TO` modes, or a
    /// nested mode that is not one extent with one stride.
    pub fn view_at<const TO: usize>(
        &self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorView<'a, T, TO>> {
        self.region.view(offset, layout.borrow(), self.region.flat.cosize()).map(TensorView::new)
    }
}

impl<T: Element, const RANK: usize> TensorViewMut<'_, T, RANK> {
    /// The same view for a shorter time: for an argument of a launch, when the view is needed again.
    pub fn reborrow(&mut self) -> TensorViewMut<'_, T, RANK> {
        TensorViewMut::new(self.region)
    }

    /// The view for reading.
    pub fn as_view(&self) -> TensorView<'_, T, RANK> {
        TensorView::new(self.region)
    }

    /// The view with its dimensions in reverse order.
    pub fn transpose_mut(&mut self) -> TensorViewMut<'_, T, RANK> {
        TensorViewMut::new(self.region.transposed())
    }

    /// The memory that the view spans, from its element `offset` on, as a tensor of `layout`.
    ///
    /// # Errors
    ///
    /// As [`TensorView::view_at`], and [`TensorError::Overlap`](crate::TensorError::Overlap) if several indices have the
    /// same element.
    pub fn view_mut_at<const TO: usize>(
        &mut self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorViewMut<'_, T, TO>> {
        self.region.view_mut(offset, layout.borrow(), self.region.flat.cosize()).map(TensorViewMut::new)
    }

    /// Sets every element to `value`, after what was enqueued before. What lies between the elements stays.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn enqueue_fill(&mut self, value: T) -> Result<()> {
        self.region.fill(value)
    }

    /// Sets the elements to `values`, by index, the last dimension fastest. What lies between the elements stays.
    ///
    /// # Errors
    ///
    /// [`TensorError::ValueCount`](crate::TensorError::ValueCount) if there are not as many values as elements.
    pub fn copy_from_host(&mut self, values: &[T]) -> Result<()> {
        self.region.copy_from_host(values)
    }

    /// Lets `f` read and change the elements on the host: they are copied there, after all that was enqueued, and back
    /// when `f` returns. Gives what `f` gives.
    ///
    /// # Errors
    ///
    /// As [`to_host`](TensorViewMut::to_host); `f` is not called then.
    pub fn map_to_host<R>(&mut self, f: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        self.region.map_to_host(f)
    }
}
