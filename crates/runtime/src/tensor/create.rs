//! How buffers and tensors are made: by a [`DeviceContext`].

use std::borrow::Borrow;

use tilewise_layout::Layout;
use tilewise_stage::Element;

use crate::buffer::DeviceBuffer;
use crate::context::DeviceContext;
use crate::error::{Result, TensorError};
use crate::host_buffer::HostBuffer;
use crate::tensor::DeviceTensor;
use crate::tensor::flat::FlatLayout;

impl DeviceContext {
    /// Memory on the device for `len` elements, all bits zero: 0, `false`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is not enough memory.
    pub fn enqueue_create_buffer<T: Element>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        DeviceBuffer::zeroed(self, len)
    }

    /// Memory on the host for `len` elements, all bits zero: 0, `false`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is not enough memory.
    pub fn enqueue_create_host_buffer<T: Element>(&self, len: usize) -> Result<HostBuffer<T>> {
        HostBuffer::zeroed(len)
    }

    /// A tensor of `layout`, all bits zero: 0, `false`.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.zeros::<f32, 2>(row_major([2, 2]))?;
    /// assert_eq!(a.to_host()?.to_string(), "HostBuffer([0.0, 0.0, 0.0, 0.0])");
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError`] if the layout has not `RANK` modes, a nested mode that is not one extent with one stride, or
    /// several indices with the same element. [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is not enough
    /// memory.
    pub fn zeros<T: Element, const RANK: usize>(
        &self,
        layout: impl Borrow<Layout>,
    ) -> Result<DeviceTensor<T, RANK>> {
        let layout = layout.borrow();
        let flat = FlatLayout::<RANK>::new(layout)?;
        DeviceTensor::new(self.enqueue_create_buffer(flat.cosize())?, layout)
    }

    /// A tensor of `layout` with every element `value`.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.full::<i8, 1>(row_major([3]), -1)?;
    /// assert_eq!(a.to_host()?, [-1, -1, -1]);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`zeros`](DeviceContext::zeros).
    pub fn full<T: Element, const RANK: usize>(
        &self,
        layout: impl Borrow<Layout>,
        value: T,
    ) -> Result<DeviceTensor<T, RANK>> {
        let mut tensor = self.zeros(layout)?;
        tensor.enqueue_fill(value)?;
        Ok(tensor)
    }

    /// A tensor of `layout` whose element at an index is `f` of the index. `f` is called once for each, the last
    /// dimension fastest.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let a = ctx.tensor_from_fn(row_major([2, 3]), |[i, j]| (3 * i + j) as f32)?;
    /// assert_eq!(a.to_host()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`zeros`](DeviceContext::zeros).
    pub fn tensor_from_fn<T: Element, const RANK: usize>(
        &self,
        layout: impl Borrow<Layout>,
        f: impl FnMut([usize; RANK]) -> T,
    ) -> Result<DeviceTensor<T, RANK>> {
        let tensor = self.zeros(layout)?;
        tensor.region().write(f)?;
        Ok(tensor)
    }

    /// A tensor of `layout` with these elements, which are in logical order: by index, the last dimension fastest,
    /// whatever the layout.
    ///
    /// # Errors
    ///
    /// [`TensorError::ValueCount`] if there are not as many values as elements, else as
    /// [`zeros`](DeviceContext::zeros).
    pub fn tensor_from_slice<T: Element, const RANK: usize>(
        &self,
        layout: impl Borrow<Layout>,
        values: &[T],
    ) -> Result<DeviceTensor<T, RANK>> {
        let layout = layout.borrow();
        let elements = FlatLayout::<RANK>::new(layout)?.size();
        if values.len() != elements {
            let layout = Box::new(layout.clone());
            return Err(TensorError::ValueCount { values: values.len(), elements, layout }.into());
        }
        let mut tensor = self.zeros(layout)?;
        tensor.copy_from_host(values)?;
        Ok(tensor)
    }

    /// The elements of `buffer` as a tensor of `layout`. Nothing is copied.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let ctx = DeviceContext::new()?;
    /// let mut buffer = ctx.enqueue_create_buffer::<i32>(12)?;
    /// buffer.map_to_host(|host| (0..12).for_each(|k| host[k] = k as i32))?;
    /// // Rows of 4 elements, 6 apart.
    /// let pitched = ctx.tensor_from_buffer::<i32, 2>(buffer, Layout::new((2, 4), (6, 1))?)?;
    /// assert_eq!(pitched.to_host()?, [0, 1, 2, 3, 6, 7, 8, 9]);
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TensorError`] if the layout reaches beyond the buffer, has not `RANK` modes, a nested mode that is not one
    /// extent with one stride, or several indices with the same element.
    /// [`Error::WrongContext`](crate::Error::WrongContext) if the buffer belongs to another context.
    pub fn tensor_from_buffer<T: Element, const RANK: usize>(
        &self,
        buffer: DeviceBuffer<T>,
        layout: impl Borrow<Layout>,
    ) -> Result<DeviceTensor<T, RANK>> {
        buffer.storage.check_context(self.shared(), || "the buffer of a tensor".to_owned())?;
        DeviceTensor::new(buffer, layout.borrow())
    }
}
