//! [`DeviceBuffer`]: elements on a device, one after the other.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use tilewise_layout::Layout;
use tilewise_stage::Element;

use crate::context::DeviceContext;
use crate::error::{Result, TensorError};
use crate::host_buffer::HostBuffer;
use crate::pinned::{PinnedBuffer, PinnedElement};
use crate::storage::Storage;
use crate::tensor::region::Region;
use crate::tensor::view::{TensorView, TensorViewMut};

/// Elements on a device, one after the other. It can be passed to a kernel as a tensor of rank 1, seen as a tensor of
/// any layout ([`view`](DeviceBuffer::view)), or be made one
/// ([`tensor_from_buffer`](DeviceContext::tensor_from_buffer)).
///
/// ```
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let mut buffer = ctx.enqueue_create_buffer::<i32>(4)?;
/// buffer.enqueue_fill(7)?;
/// buffer.map_to_host(|host| host[2] = 1)?;
/// assert_eq!(buffer.to_host()?.to_string(), "HostBuffer([7, 7, 1, 7])");
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct DeviceBuffer<T> {
    pub(crate) storage: Arc<Storage>,
    element: PhantomData<fn() -> T>,
}

impl<T> DeviceBuffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.storage.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn region(&self) -> Region<'_, 1> {
        Region::<1>::whole(&self.storage)
    }
}

impl<T: Element> DeviceBuffer<T> {
    pub(crate) fn zeroed(ctx: &DeviceContext, len: usize) -> Result<DeviceBuffer<T>> {
        let storage = Arc::new(Storage::new::<T>(ctx, len)?);
        Ok(DeviceBuffer { storage, element: PhantomData })
    }

    /// Sets every element to `value`, after what was enqueued before.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn enqueue_fill(&mut self, value: T) -> Result<()> {
        self.region().fill(value)
    }

    /// Copies the elements of `source`, after what was enqueued before.
    ///
    /// ```
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let mut a = ctx.enqueue_create_buffer::<u8>(3)?;
    /// let mut b = ctx.enqueue_create_buffer::<u8>(3)?;
    /// a.copy_from_host(&[1, 2, 3])?;
    /// b.enqueue_copy_from(&a)?;
    /// assert_eq!(b.to_host()?, [1, 2, 3]);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError::CopyLength`] if the two have different lengths, [`Error::WrongContext`](crate::Error::WrongContext)
    /// if they belong to different contexts.
    pub fn enqueue_copy_from(&mut self, source: &DeviceBuffer<T>) -> Result<()> {
        source.storage.check_context(self.storage.context(), || "the source of a copy".to_owned())?;
        let (source_len, len) = (source.len(), self.len());
        if source_len != len {
            return Err(TensorError::CopyLength { source_len, len }.into());
        }
        if len == 0 {
            return Ok(());
        }
        self.storage.memory().copy_from(source.storage.memory(), len)
    }

    /// Copies the elements of a buffer in pinned memory of the host, after what was enqueued before. On a GPU the copy goes
    /// on while the host does something else; [`PinnedBuffer::as_mut_slice`] waits for it.
    ///
    /// # Errors
    ///
    /// As [`enqueue_copy_from`](DeviceBuffer::enqueue_copy_from).
    pub fn enqueue_copy_from_pinned(&mut self, source: &PinnedBuffer<T>) -> Result<()>
    where
        T: PinnedElement,
    {
        source.copy_to(&self.storage)
    }

    /// Sets the elements to `values`.
    ///
    /// # Errors
    ///
    /// [`TensorError::ValueCount`] if there are not as many values as elements.
    pub fn copy_from_host(&mut self, values: &[T]) -> Result<()> {
        self.region().copy_from_host(values)
    }

    /// The elements, after all that was enqueued on the context.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`](crate::Error::Fault) if a kernel of the context went wrong since it was last asked.
    pub fn to_host(&self) -> Result<HostBuffer<T>> {
        self.region().copy_to_host()
    }

    /// Lets `f` read and change the elements on the host: they are copied there, after all that was enqueued, and back
    /// when `f` returns. Gives what `f` gives.
    ///
    /// # Errors
    ///
    /// As [`to_host`](DeviceBuffer::to_host); `f` is not called then.
    pub fn map_to_host<R>(&mut self, f: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        self.region().map_to_host(f)
    }

    /// The elements from the first on as a tensor of `layout`, for reading.
    ///
    /// # Errors
    ///
    /// As [`view_at`](DeviceBuffer::view_at).
    pub fn view<const RANK: usize>(&self, layout: impl Borrow<Layout>) -> Result<TensorView<'_, T, RANK>> {
        self.view_at(0, layout)
    }

    /// The elements from number `offset` on as a tensor of `layout`, for reading. Several indices may have the same
    /// element.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let mut buffer = ctx.enqueue_create_buffer::<i32>(6)?;
    /// buffer.copy_from_host(&[0, 1, 2, 3, 4, 5])?;
    /// let windows = buffer.view_at::<2>(1, Layout::new((3, 3), (1, 1))?)?;
    /// assert_eq!(windows.to_host()?, [1, 2, 3, 2, 3, 4, 3, 4, 5]);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError`] if the layout reaches beyond the buffer, has not `RANK` modes, or a nested mode that is not one
    /// extent with one stride.
    pub fn view_at<const RANK: usize>(
        &self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorView<'_, T, RANK>> {
        self.region().view(offset, layout.borrow(), self.len()).map(TensorView::new)
    }

    /// The elements from the first on as a tensor of `layout`, for writing.
    ///
    /// # Errors
    ///
    /// As [`view_mut_at`](DeviceBuffer::view_mut_at).
    pub fn view_mut<const RANK: usize>(
        &mut self,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorViewMut<'_, T, RANK>> {
        self.view_mut_at(0, layout)
    }

    /// The elements from number `offset` on as a tensor of `layout`, for writing.
    ///
    /// # Errors
    ///
    /// As [`view_at`](DeviceBuffer::view_at), and [`TensorError::Overlap`] if several indices have the same element.
    pub fn view_mut_at<const RANK: usize>(
        &mut self,
        offset: usize,
        layout: impl Borrow<Layout>,
    ) -> Result<TensorViewMut<'_, T, RANK>> {
        self.region().view_mut(offset, layout.borrow(), self.len()).map(TensorViewMut::new)
    }
}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBuffer({} x {} on {})", self.len(), self.storage.scalar(), self.storage.context())
    }
}
