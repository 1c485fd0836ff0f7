//! Device memory of the CPU: elements that any thread may read and write at any time.
//!
//! Every element is an atomic, so a kernel that races is wrong but never undefined behaviour. Relaxed loads and
//! stores of atomics are plain moves on every processor, so this costs nothing but vectorised copies.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use thiserror::Error;
use tilewise_ir::Scalar;

/// Memory for elements of one scalar type.
///
/// All methods take `&self`: a buffer is shared with kernels that run. Elements are read and written one by one; a
/// reader beside a writer sees each element old or new.
///
/// ```
/// use tilewise_interp::Buffer;
/// use tilewise_ir::Scalar;
///
/// let buffer = Buffer::new(Scalar::F32, 4)?;
/// let words: Vec<u32> = [1.0f32, 2.0, 3.0].iter().map(|x| x.to_bits()).collect();
/// buffer.write(1, &words)?;
/// assert_eq!(buffer.get(2), Some(2.0f32.to_bits() as u64));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Buffer {
    scalar: Scalar,
    storage: Storage,
}

/// The elements, by their size.
enum Storage {
    /// One byte each.
    W8(Box<[AtomicU8]>),
    /// Two bytes each.
    W16(Box<[AtomicU16]>),
    /// Four bytes each.
    W32(Box<[AtomicU32]>),
    /// Eight bytes each.
    W64(Box<[AtomicU64]>),
}

/// The unsigned integers that hold the bits of an element: `u8`, `u16`, `u32` and `u64`.
pub trait Word: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The atomic of this size.
    type Atomic: Send + Sync;

    /// Reads the atomic, relaxed.
    fn load(cell: &Self::Atomic) -> Self;

    /// Writes the atomic, relaxed.
    fn store(cell: &Self::Atomic, value: Self);
}

mod sealed {
    use super::Buffer;

    pub trait Sealed: Sized {
        /// The atomics of a buffer of this size of element.
        fn cells(buffer: &Buffer) -> Option<&[<Self as super::Word>::Atomic]>
        where
            Self: super::Word;
    }
}

macro_rules! word {
    ($word:ty, $atomic:ty, $variant:ident) => {
        impl sealed::Sealed for $word {
            fn cells(buffer: &Buffer) -> Option<&[$atomic]> {
                match &buffer.storage {
                    Storage::$variant(cells) => Some(cells),
                    _ => None,
                }
            }
        }

        impl Word for $word {
            type Atomic = $atomic;

            #[inline(always)]
            fn load(cell: &$atomic) -> $word {
                cell.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn store(cell: &$atomic, value: $word) {
                cell.store(value, Ordering::Relaxed);
            }
        }
    };
}

word!(u8, AtomicU8, W8);
word!(u16, AtomicU16, W16);
word!(u32, AtomicU32, W32);
word!(u64, AtomicU64, W64);

/// There is not enough memory for a buffer or for the threads of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {what} takes {bytes} bytes")]
pub struct OutOfMemory {
    /// What the memory was for.
    pub what: String,
    /// How much was asked for; saturates.
    pub bytes: u64,
}

/// A copy between host and buffer that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CopyError {
    /// The elements have another size than the host's.
    #[error("elements of the buffer take {element} bytes ({scalar}), those of the host {host}")]
    ElementSize {
        /// Type of an element of the buffer.
        scalar: Scalar,
        /// Its size in bytes.
        element: usize,
        /// Size of an element on the host.
        host: usize,
    },
    /// The copy goes past the end of the buffer.
    #[error("elements {start} to {end} are outside the buffer of {len} elements")]
    Range {
        /// First element.
        start: usize,
        /// One past the last element; saturates.
        end: usize,
        /// Length of the buffer.
        len: usize,
    },
    /// The host's bytes are no whole number of elements.
    #[error("{bytes} bytes are no whole number of elements of {element} bytes")]
    PartialElement {
        /// Number of bytes.
        bytes: usize,
        /// Size of an element.
        element: usize,
    },
}

impl Buffer {
    /// Memory for `len` elements, all bits zero.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn new(scalar: Scalar, len: usize) -> Result<Buffer, OutOfMemory> {
        fn zeroed<A: Default>(len: usize) -> Option<Box<[A]>> {
            let mut cells = Vec::new();
            cells.try_reserve_exact(len).ok()?;
            cells.resize_with(len, A::default);
            Some(cells.into_boxed_slice())
        }
        let storage = match scalar.size() {
            1 => zeroed(len).map(Storage::W8),
            2 => zeroed(len).map(Storage::W16),
            4 => zeroed(len).map(Storage::W32),
            _ => zeroed(len).map(Storage::W64),
        };
        match storage {
            Some(storage) => Ok(Buffer { scalar, storage }),
            None => Err(OutOfMemory {
                what: format!("a buffer of {len} {scalar}"),
                bytes: (len as u64).saturating_mul(scalar.size() as u64),
            }),
        }
    }

    /// Type of an element.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.storage {
            Storage::W8(cells) => cells.len(),
            Storage::W16(cells) => cells.len(),
            Storage::W32(cells) => cells.len(),
            Storage::W64(cells) => cells.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of one element, zero-extended; `None` past the end.
    pub fn get(&self, index: usize) -> Option<u64> {
        fn bits<W: Word + Into<u64>>(cells: &[W::Atomic], index: usize) -> Option<u64> {
            cells.get(index).map(|cell| W::load(cell).into())
        }
        match &self.storage {
            Storage::W8(cells) => bits::<u8>(cells, index),
            Storage::W16(cells) => bits::<u16>(cells, index),
            Storage::W32(cells) => bits::<u32>(cells, index),
            Storage::W64(cells) => bits::<u64>(cells, index),
        }
    }

    /// Sets the bits of one element, and gives whether it exists. Bits above the element's size are dropped.
    pub fn set(&self, index: usize, bits: u64) -> bool {
        fn put<W: Word>(cells: &[W::Atomic], index: usize, value: W) -> bool {
            cells.get(index).map(|cell| W::store(cell, value)).is_some()
        }
        match &self.storage {
            Storage::W8(cells) => put(cells, index, bits as u8),
            Storage::W16(cells) => put(cells, index, bits as u16),
            Storage::W32(cells) => put(cells, index, bits as u32),
            Storage::W64(cells) => put(cells, index, bits),
        }
    }

    /// The elements as atomics of type `W`, for reading and writing in place; `None` if `W` has not their size.
    pub fn cells<W: Word>(&self) -> Option<&[W::Atomic]> {
        W::cells(self)
    }

    /// Copies the bits of the elements from `start` on to `host`.
    ///
    /// # Errors
    ///
    /// If `W` has not the size of an element, or the copy goes past the end; nothing is copied then.
    pub fn read<W: Word>(&self, start: usize, host: &mut [W]) -> Result<(), CopyError> {
        let cells = self.range::<W>(start, host.len())?;
        for (value, cell) in host.iter_mut().zip(cells) {
            *value = W::load(cell);
        }
        Ok(())
    }

    /// Copies bits from `host` to the elements from `start` on.
    ///
    /// # Errors
    ///
    /// As [`read`](Buffer::read).
    pub fn write<W: Word>(&self, start: usize, host: &[W]) -> Result<(), CopyError> {
        let cells = self.range::<W>(start, host.len())?;
        for (&value, cell) in host.iter().zip(cells) {
            W::store(cell, value);
        }
        Ok(())
    }

    /// Copies the bytes of the elements from `start` on to `host`, each element in the byte order of the machine.
    ///
    /// # Errors
    ///
    /// If `host` is no whole number of elements, or the copy goes past the end; nothing is copied then.
    pub fn read_bytes(&self, start: usize, host: &mut [u8]) -> Result<(), CopyError> {
        let count = self.whole_elements(host.len())?;
        match &self.storage {
            Storage::W8(_) => self.read(start, host)?,
            Storage::W16(_) => {
                for (to, cell) in host.as_chunks_mut().0.iter_mut().zip(self.range::<u16>(start, count)?) {
                    *to = <u16 as Word>::load(cell).to_ne_bytes();
                }
            }
            Storage::W32(_) => {
                for (to, cell) in host.as_chunks_mut().0.iter_mut().zip(self.range::<u32>(start, count)?) {
                    *to = <u32 as Word>::load(cell).to_ne_bytes();
                }
            }
            Storage::W64(_) => {
                for (to, cell) in host.as_chunks_mut().0.iter_mut().zip(self.range::<u64>(start, count)?) {
                    *to = <u64 as Word>::load(cell).to_ne_bytes();
                }
            }
        }
        Ok(())
    }

    /// Copies bytes to the elements from `start` on, each element in the byte order of the machine.
    ///
    /// # Errors
    ///
    /// As [`read_bytes`](Buffer::read_bytes).
    pub fn write_bytes(&self, start: usize, host: &[u8]) -> Result<(), CopyError> {
        let count = self.whole_elements(host.len())?;
        match &self.storage {
            Storage::W8(_) => self.write(start, host)?,
            Storage::W16(_) => {
                for (from, cell) in host.as_chunks().0.iter().zip(self.range::<u16>(start, count)?) {
                    <u16 as Word>::store(cell, u16::from_ne_bytes(*from));
                }
            }
            Storage::W32(_) => {
                for (from, cell) in host.as_chunks().0.iter().zip(self.range::<u32>(start, count)?) {
                    <u32 as Word>::store(cell, u32::from_ne_bytes(*from));
                }
            }
            Storage::W64(_) => {
                for (from, cell) in host.as_chunks().0.iter().zip(self.range::<u64>(start, count)?) {
                    <u64 as Word>::store(cell, u64::from_ne_bytes(*from));
                }
            }
        }
        Ok(())
    }

    /// Sets the `count` elements from `start` on to the same bits. Bits above the element's size are dropped.
    ///
    /// # Errors
    ///
    /// If the elements go past the end; none is set then.
    pub fn fill(&self, start: usize, count: usize, bits: u64) -> Result<(), CopyError> {
        fn each<W: Word>(cells: &[W::Atomic], value: W) {
            cells.iter().for_each(|cell| W::store(cell, value));
        }
        match &self.storage {
            Storage::W8(_) => each(self.range::<u8>(start, count)?, bits as u8),
            Storage::W16(_) => each(self.range::<u16>(start, count)?, bits as u16),
            Storage::W32(_) => each(self.range::<u32>(start, count)?, bits as u32),
            Storage::W64(_) => each(self.range::<u64>(start, count)?, bits),
        }
        Ok(())
    }

    fn whole_elements(&self, bytes: usize) -> Result<usize, CopyError> {
        let element = self.scalar.size();
        if bytes.is_multiple_of(element) {
            Ok(bytes / element)
        } else {
            Err(CopyError::PartialElement { bytes, element })
        }
    }

    fn range<W: Word>(&self, start: usize, count: usize) -> Result<&[W::Atomic], CopyError> {
        let cells = self.cells::<W>().ok_or(CopyError::ElementSize {
            scalar: self.scalar,
            element: self.scalar.size(),
            host: size_of::<W>(),
        })?;
        let end = start.saturating_add(count);
        cells.get(start..end).ok_or(CopyError::Range { start, end, len: cells.len() })
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} x {})", self.len(), self.scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_round_trips() {
        for scalar in Scalar::ALL {
            let buffer = Buffer::new(scalar, 5).unwrap();
            assert_eq!(buffer.get(4), Some(0));
            assert!(buffer.set(3, 0x0102_0304_0506_0708));
            let mask = u64::MAX >> (64 - 8 * scalar.size());
            assert_eq!(buffer.get(3), Some(0x0102_0304_0506_0708 & mask), "{scalar}");
            assert!(!buffer.set(5, 1));
            assert_eq!(buffer.get(5), None);

            let mut bytes = vec![0; 5 * scalar.size()];
            buffer.read_bytes(0, &mut bytes).unwrap();
            let copy = Buffer::new(scalar, 6).unwrap();
            copy.write_bytes(1, &bytes).unwrap();
            assert_eq!(copy.get(4), buffer.get(3));
        }
    }

    #[test]
    fn copies_are_checked() {
        let buffer = Buffer::new(Scalar::F32, 4).unwrap();
        assert_eq!(
            buffer.write(0, &[0u64]).unwrap_err().to_string(),
            "elements of the buffer take 4 bytes (f32), those of the host 8"
        );
        assert_eq!(
            buffer.write(3, &[1u32, 2]).unwrap_err().to_string(),
            "elements 3 to 5 are outside the buffer of 4 elements"
        );
        assert_eq!(buffer.get(3), Some(0));
        assert!(matches!(buffer.read_bytes(0, &mut [0; 5]), Err(CopyError::PartialElement { .. })));
        assert!(buffer.read::<u32>(usize::MAX, &mut [0]).is_err());
        buffer.fill(1, 2, 7).unwrap();
        let mut host = [9u32; 4];
        buffer.read(0, &mut host).unwrap();
        assert_eq!(host, [0, 7, 7, 0]);
    }

    #[test]
    fn too_much_memory_is_an_error() {
        let error = Buffer::new(Scalar::F64, usize::MAX / 4).unwrap_err();
        assert!(error.to_string().starts_with("out of memory: a buffer of"), "{error}");
    }
}
