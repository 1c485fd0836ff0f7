//! [`PinnedBuffer`]: elements in memory of the host that a device reads and writes by itself.

use std::fmt;
use std::slice;
use std::sync::Arc;

use tilewise_ir::Scalar;
use tilewise_stage::Element;

use crate::buffer::DeviceBuffer;
use crate::context::{DeviceContext, Shared};
use crate::device::PinnedMemory;
use crate::error::{Result, TensorError};
use crate::storage::{Storage, host_vec};

/// Elements in memory of the host that does not move (pinned memory). A GPU copies from and to it by itself: such a copy
/// is faster than one of other memory, and the host goes on meanwhile. On the CPU device it is plain memory.
///
/// ```
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let mut host = ctx.enqueue_create_pinned_buffer::<f32>(4)?;
/// host.as_mut_slice()?.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
/// let mut buffer = ctx.enqueue_create_buffer::<f32>(4)?;
/// buffer.enqueue_copy_from_pinned(&host)?;
///
/// let mut back = ctx.enqueue_create_pinned_buffer::<f32>(4)?;
/// back.enqueue_copy_from(&buffer)?;
/// assert_eq!(back.as_slice()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct PinnedBuffer<T> {
    context: Arc<Shared>,
    elements: Elements<T>,
}

/// Where the elements are.
enum Elements<T> {
    /// There are none, or the device has no use for memory of its own kind.
    Plain(Vec<T>),
    /// Memory of the device's driver with room for `len` elements, at least one.
    Pinned { memory: Box<dyn PinnedMemory>, len: usize },
}

/// An element type whose values lie in memory of the host as they do on a device: `bool`, integers and floats.
pub trait PinnedElement: Element + sealed::Sealed {}

mod sealed {
    /// # What an implementation promises
    ///
    /// The type has the size of its `SCALAR`, an alignment of at most 8, and every pattern of bits is a value of it; for
    /// `bool` the bytes 0 and 1.
    pub trait Sealed {}
}

macro_rules! pinned_elements {
    ($($element:ty),*) => { $(
        impl sealed::Sealed for $element {}
        impl PinnedElement for $element {}
    )* };
}

pinned_elements!(bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64);
#[cfg(target_pointer_width = "64")]
pinned_elements!(isize, usize);

impl DeviceContext {
    /// A buffer of `len` elements in pinned memory of the host, all bits zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is not enough memory.
    pub fn enqueue_create_pinned_buffer<T: PinnedElement>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let pinned = match len {
            0 => None,
            _ => self.shared().device.allocate_pinned(T::SCALAR, len)?,
        };
        let elements = match pinned {
            Some(memory) => Elements::Pinned { memory, len },
            None => {
                let mut values = host_vec(len)?;
                values.resize(len, T::from_bits(0));
                Elements::Plain(values)
            }
        };
        Ok(PinnedBuffer { context: Arc::clone(self.shared()), elements })
    }
}

impl<T> PinnedBuffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.elements {
            Elements::Plain(values) => values.len(),
            Elements::Pinned { len, .. } => *len,
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: PinnedElement> PinnedBuffer<T> {
    /// The elements, after all copies from and to this buffer that were enqueued.
    ///
    /// It waits for those copies, and so for what the device did before them, but asks for no faults: those are told by the
    /// next [`synchronize`](DeviceContext::synchronize).
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn as_slice(&self) -> Result<&[T]> {
        match &self.elements {
            Elements::Plain(values) => Ok(values),
            Elements::Pinned { memory, len } => Ok(elements(memory.bytes()?, *len)),
        }
    }

    /// The elements for writing, after all copies from and to this buffer that were enqueued.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        match &mut self.elements {
            Elements::Plain(values) => Ok(values),
            Elements::Pinned { memory, len } => Ok(elements_mut(memory.bytes_mut()?, *len)),
        }
    }

    /// Copies the elements of a buffer of the device, after what was enqueued before. On a GPU the copy goes on while the
    /// host does something else; [`as_slice`](PinnedBuffer::as_slice) waits for it.
    ///
    /// # Errors
    ///
    /// [`TensorError::CopyLength`] if the two have different lengths, [`Error::WrongContext`](crate::Error::WrongContext) if they belong to different
    /// contexts.
    pub fn enqueue_copy_from(&mut self, source: &DeviceBuffer<T>) -> Result<()> {
        self.check(&source.storage, source.len(), self.len())?;
        match &mut self.elements {
            Elements::Plain(values) => *values = source.storage.read(0, values.len())?,
            Elements::Pinned { memory, len } => {
                source.storage.memory().read_to_pinned(*len, &mut **memory)?;
            }
        }
        Ok(())
    }

    /// Copies the elements to memory of a device.
    pub(crate) fn copy_to(&self, target: &Storage) -> Result<()> {
        self.check(target, self.len(), target.len())?;
        match &self.elements {
            Elements::Plain(values) => target.write(0, values),
            Elements::Pinned { memory, len } => target.memory().write_from_pinned(*len, &**memory),
        }
    }

    fn check(&self, storage: &Storage, source_len: usize, len: usize) -> Result<()> {
        storage.check_context(&self.context, || "the device's part of a copy".to_owned())?;
        if source_len == len { Ok(()) } else { Err(TensorError::CopyLength { source_len, len }.into()) }
    }
}

/// Bytes as elements.
#[expect(unsafe_code, reason = "memory of the driver has no type")]
fn elements<T: PinnedElement>(bytes: &[u8], len: usize) -> &[T] {
    assert_fits::<T>(bytes, len);
    // SAFETY: size and alignment are asserted. By the promise of `Sealed` any bits are values of `T`; for `bool` the memory
    // holds nothing but 0 and 1, which `PinnedMemory::bytes` promises.
    unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), len) }
}

/// Bytes as elements, for writing.
#[expect(unsafe_code, reason = "memory of the driver has no type")]
fn elements_mut<T: PinnedElement>(bytes: &mut [u8], len: usize) -> &mut [T] {
    assert_fits::<T>(bytes, len);
    // SAFETY: as `elements`, and the bytes are borrowed mutably for as long.
    unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) }
}

fn assert_fits<T: PinnedElement>(bytes: &[u8], len: usize) {
    assert_eq!(size_of::<T>(), T::SCALAR.size());
    assert_eq!(Some(bytes.len()), len.checked_mul(size_of::<T>()));
    assert!(bytes.as_ptr().addr().is_multiple_of(align_of::<T>()));
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar: Scalar = T::SCALAR;
        write!(f, "PinnedBuffer({} x {scalar} for {})", self.len(), self.context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn bytes_are_elements() {
        fn check<T: PinnedElement + fmt::Debug>(values: [T; 2]) {
            let mut words = [0u64; 2];
            let mut bytes: Vec<u8> = Vec::new();
            for value in values {
                let all = value.to_const().bits.to_le_bytes();
                bytes.extend(&all[..T::SCALAR.size()]);
            }
            for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
                let mut all = [0; 8];
                all[..chunk.len()].copy_from_slice(chunk);
                *word = u64::from_le_bytes(all);
            }
            let memory: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            // A vector of bytes need not be aligned; one that is not says nothing about the conversion.
            if cfg!(target_endian = "little") && memory.as_ptr().addr().is_multiple_of(8) {
                assert_eq!(elements::<T>(&memory[..bytes.len()], 2), values);
            }
        }
        check([true, false]);
        check([-1i8, 7]);
        check([i16::MIN, 7]);
        check([1.5f32, -0.0]);
        check([half::f16::from_f32(0.5), half::f16::ZERO]);
        check([f64::MAX, 0.1]);
    }

    #[test]
    fn on_the_cpu_it_is_plain_memory() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let mut host = ctx.enqueue_create_pinned_buffer::<bool>(3)?;
        host.as_mut_slice()?[1] = true;
        let mut buffer = ctx.enqueue_create_buffer::<bool>(3)?;
        buffer.enqueue_copy_from_pinned(&host)?;
        let mut back = ctx.enqueue_create_pinned_buffer::<bool>(3)?;
        back.enqueue_copy_from(&buffer)?;
        assert_eq!(back.as_slice()?, [false, true, false]);

        let mut long = ctx.enqueue_create_buffer::<bool>(4)?;
        assert!(matches!(
            long.enqueue_copy_from_pinned(&host),
            Err(Error::Tensor(TensorError::CopyLength { source_len: 3, len: 4 }))
        ));
        let other = DeviceContext::open("cpu")?.enqueue_create_buffer::<bool>(3)?;
        assert!(matches!(back.enqueue_copy_from(&other), Err(Error::WrongContext { .. })));
        assert!(ctx.enqueue_create_pinned_buffer::<u64>(0)?.is_empty());
        Ok(())
    }
}
