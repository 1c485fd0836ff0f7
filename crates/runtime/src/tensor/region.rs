//! The elements of a tensor or view in their storage, read and written by the host in logical order.

use std::sync::Arc;

use tilewise_layout::Layout;
use tilewise_stage::Element;

use crate::error::{Result, TensorError};
use crate::host_buffer::HostBuffer;
use crate::storage::{Storage, host_vec};
use crate::tensor::flat::FlatLayout;

/// Where the elements of a tensor or view are. Logical order is by index, the last dimension fastest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<'a, const RANK: usize> {
    pub(crate) storage: &'a Arc<Storage>,
    /// Number of the storage's element that is the first.
    pub(crate) offset: usize,
    pub(crate) flat: FlatLayout<RANK>,
    /// Whether another argument of a launch may share the elements: an in-out pair.
    pub(crate) aliased: bool,
}

impl<'a, const RANK: usize> Region<'a, RANK> {
    /// All elements of a storage.
    pub(crate) fn whole(storage: &'a Arc<Storage>) -> Region<'a, 1> {
        Region { storage, offset: 0, flat: FlatLayout::<1>::dense(storage.len()), aliased: false }
    }

    /// A view by `layout`, whose first element is element `offset` of the `len` elements from this region's first on.
    pub(crate) fn view<const TO: usize>(
        &self,
        offset: usize,
        layout: &Layout,
        len: usize,
    ) -> Result<Region<'a, TO>> {
        let flat = FlatLayout::<TO>::new(layout)?;
        let needed = offset.saturating_add(flat.cosize());
        if needed > len {
            let layout = Box::new(layout.clone());
            return Err(TensorError::OutsideStorage { layout, offset, needed, available: len }.into());
        }
        Ok(Region { storage: self.storage, offset: self.offset + offset, flat, aliased: self.aliased })
    }

    /// As [`view`](Region::view), for writing: no two indices may have the same element.
    pub(crate) fn view_mut<const TO: usize>(
        &self,
        offset: usize,
        layout: &Layout,
        len: usize,
    ) -> Result<Region<'a, TO>> {
        let region = self.view::<TO>(offset, layout, len)?;
        if !region.flat.is_injective() {
            return Err(TensorError::Overlap { layout: Box::new(layout.clone()) }.into());
        }
        Ok(region)
    }

    /// The dimensions in reverse order.
    pub(crate) fn transposed(self) -> Region<'a, RANK> {
        Region { flat: self.flat.transposed(), ..self }
    }

    /// The elements in logical order, after all that was enqueued.
    pub(crate) fn copy_to_host<T: Element>(&self) -> Result<HostBuffer<T>> {
        self.storage.context().synchronize()?;
        self.read().map(HostBuffer::from)
    }

    /// One element, after all that was enqueued.
    pub(crate) fn get<T: Element>(&self, index: [usize; RANK]) -> Result<T> {
        let at = self.offset + self.flat.offset(index)?;
        self.storage.context().synchronize()?;
        Ok(self.storage.read(at, 1)?[0])
    }

    /// Sets the elements to `values`, which are in logical order.
    pub(crate) fn copy_from_host<T: Element>(&self, values: &[T]) -> Result<()> {
        let elements = self.flat.size();
        if values.len() != elements {
            let layout = Box::new(self.flat.to_layout());
            return Err(TensorError::ValueCount { values: values.len(), elements, layout }.into());
        }
        if self.flat.is_compact() {
            return self.storage.write(self.offset, values);
        }
        let mut values = values.iter();
        self.write(|_| values.next().copied().unwrap_or(T::from_bits(0)))
    }

    /// Lets `f` change a copy of the elements, and writes it back.
    pub(crate) fn map_to_host<T: Element, R>(&self, f: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let mut values = self.copy_to_host::<T>()?;
        let result = f(&mut values);
        self.copy_from_host(&values)?;
        Ok(result)
    }

    /// Sets each element to what `f` gives for its index, in logical order. What lies between the elements stays.
    pub(crate) fn write<T: Element>(&self, mut f: impl FnMut([usize; RANK]) -> T) -> Result<()> {
        if self.flat.is_compact() {
            let shape = self.flat.shape();
            let mut index = [0; RANK];
            return self.storage.write_each(self.offset, self.flat.size(), || {
                let value = f(index);
                advance(&mut index, &shape);
                value
            });
        }
        let mut values = self.storage.read::<T>(self.offset, self.flat.cosize())?;
        for (index, offset) in self.flat.elements() {
            values[offset] = f(index);
        }
        self.storage.write(self.offset, &values)
    }

    /// Sets each element to `value`.
    pub(crate) fn fill<T: Element>(&self, value: T) -> Result<()> {
        if self.flat.is_compact() {
            return self.storage.fill(self.offset, self.flat.size(), value);
        }
        self.flat
            .runs()
            .into_iter()
            .try_for_each(|(start, len)| self.storage.fill(self.offset + start, len, value))
    }

    fn read<T: Element>(&self) -> Result<Vec<T>> {
        if self.flat.is_compact() {
            return self.storage.read(self.offset, self.flat.size());
        }
        let span = self.storage.read::<T>(self.offset, self.flat.cosize())?;
        let mut values = host_vec(self.flat.size())?;
        values.extend(self.flat.elements().map(|(_, offset)| span[offset]));
        Ok(values)
    }
}

/// Goes to the next index of a shape, the last dimension fastest; from the last one to the first.
fn advance<const RANK: usize>(index: &mut [usize; RANK], shape: &[usize; RANK]) {
    for d in (0..RANK).rev() {
        index[d] += 1;
        if index[d] < shape[d] {
            return;
        }
        index[d] = 0;
    }
}
