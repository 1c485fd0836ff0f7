//! Memory of a GPU: allocation, copies from and to the host, fills.
//!
//! What the host does with memory is enqueued on the stream that the memory was made on; a kernel uses it on the stream of
//! its launch. [`Use`] keeps the order between the two.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tilewise_ir::Scalar;

use crate::device::cuda::Shared;
use crate::device::cuda::driver::{self, Bound, DeviceMemory};
use crate::device::cuda::pinned::CudaPinned;
use crate::device::cuda::stream::{CudaStream, StreamId, Use};
use crate::device::{Memory, PinnedMemory};
use crate::error::{Error, Result};

/// Elements that the host writes before the device copies them further, when memory is filled with a pattern of 8 bytes.
const PATTERN: usize = 4096;

/// Memory of a GPU.
pub(super) struct CudaMemory {
    shared: Arc<Shared>,
    /// The stream of what the host does.
    stream: Arc<driver::Stream>,
    id: StreamId,
    /// `None` if there are no elements.
    memory: Option<DeviceMemory>,
    pub(super) last_use: Use,
    scalar: Scalar,
    len: usize,
}

impl CudaMemory {
    /// Memory for `len` elements, all bits zero.
    pub(super) fn new(
        shared: &Arc<Shared>,
        stream: &CudaStream,
        scalar: Scalar,
        len: usize,
    ) -> Result<CudaMemory> {
        let (stream, id) = (Arc::clone(stream.driver()), stream.id());
        let memory = match len {
            0 => None,
            _ => Some(zeroed(shared, &stream, scalar, len)?),
        };
        let shared = Arc::clone(shared);
        Ok(CudaMemory { shared, stream, id, memory, last_use: Use::on(id), scalar, len })
    }

    /// Memory behind an argument of this device.
    pub(super) fn own(memory: &dyn Memory) -> &CudaMemory {
        let memory: &dyn Any = memory;
        match memory.downcast_ref() {
            Some(memory) => memory,
            None => unreachable!("memory of another context is refused before it gets to a device"),
        }
    }

    /// The address of an element.
    pub(super) fn address(&self, element: u64) -> u64 {
        let start = self.memory.as_ref().map_or(0, DeviceMemory::address);
        start.wrapping_add(element.wrapping_mul(self.scalar.size() as u64))
    }

    /// Enqueues something on the memory's stream, after all other uses of the memory.
    fn enqueue(
        &self,
        f: impl FnOnce(Bound, &DeviceMemory, &driver::Stream) -> driver::Result<()>,
    ) -> Result<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let bound = self.shared.context.bind()?;
        let queue = self.shared.queue();
        queue.order(&self.last_use, self.id)?;
        Ok(f(bound, memory, &self.stream)?)
    }

    /// First byte and number of bytes of each piece that goes through a half of a staging buffer.
    fn pieces(&self, start: usize, len: usize, piece: usize) -> impl Iterator<Item = (usize, usize)> {
        let size = self.scalar.size();
        let (start, end) = (start * size, (start + len) * size);
        (start..end).step_by(piece).map(move |at| (at, piece.min(end - at)))
    }

    fn bytes(&self, len: usize) -> usize {
        len * self.scalar.size()
    }
}

/// Memory with all bits zero. If there is none, what was freed is given back first.
fn zeroed(shared: &Shared, stream: &driver::Stream, scalar: Scalar, len: usize) -> Result<DeviceMemory> {
    let too_much = |free: Option<u64>| Error::OutOfMemory {
        what: format!("a buffer of {len} {scalar} on the GPU"),
        bytes: len as u128 * scalar.size() as u128,
        free,
    };
    let bound = shared.context.bind()?;
    let Some(bytes) = len.checked_mul(scalar.size()).filter(|&bytes| isize::try_from(bytes).is_ok()) else {
        return Err(too_much(bound.free_bytes().ok()));
    };
    let memory = match bound.allocate(bytes, stream) {
        Err(failure) if failure.is_out_of_memory() => {
            shared.wait()?;
            bound.trim()?;
            match bound.allocate(bytes, stream) {
                Err(failure) if failure.is_out_of_memory() => return Err(too_much(bound.free_bytes().ok())),
                allocated => allocated?,
            }
        }
        allocated => allocated?,
    };
    match bound.set(&memory, 0, 1, bytes, 0, stream) {
        Ok(()) => Ok(memory),
        Err(failure) => {
            let _ = bound.free(memory, stream);
            Err(failure.into())
        }
    }
}

impl Memory for CudaMemory {
    fn read(&self, start: usize, len: usize, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut staging = self.shared.take_staging()?;
        let piece = staging.piece();
        let mut ahead = self.pieces(start, len, piece).enumerate();
        let enqueue_next = |staging: &mut super::staging::Staging, next: Option<(usize, (usize, usize))>| {
            next.map_or(Ok(()), |(i, (at, bytes))| {
                let half = staging.half(i);
                self.enqueue(|bound, memory, stream| bound.download(half, 0..bytes, (memory, at), stream))
            })
        };
        enqueue_next(&mut staging, ahead.next())?;
        for (i, (_, bytes)) in self.pieces(start, len, piece).enumerate() {
            // The next piece is on its way while this one is looked at.
            enqueue_next(&mut staging, ahead.next())?;
            sink(&staging.half(i).bytes()?[..bytes]);
        }
        self.shared.put_staging(staging);
        Ok(())
    }

    fn write(&self, start: usize, len: usize, source: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let mut staging = self.shared.take_staging()?;
        for (i, (at, bytes)) in self.pieces(start, len, staging.piece()).enumerate() {
            let half = staging.half(i);
            source(&mut half.bytes_mut()?[..bytes]);
            self.enqueue(|bound, memory, stream| bound.upload((memory, at), half, 0..bytes, stream))?;
        }
        self.shared.put_staging(staging);
        Ok(())
    }

    fn fill(&self, start: usize, len: usize, bits: u64) -> Result<()> {
        let (at, size) = (self.bytes(start), self.scalar.size());
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        if size < 8 {
            return self.enqueue(|bound, memory, stream| bound.set(memory, at, size, len, low, stream));
        }
        if low == high {
            return self.enqueue(|bound, memory, stream| bound.set(memory, at, 4, 2 * len, low, stream));
        }
        // The driver has no such pattern: the host writes the first elements, the device doubles them.
        let first = len.min(PATTERN);
        self.write(start, first, &mut |bytes| {
            bytes.as_chunks_mut().0.iter_mut().for_each(|chunk| *chunk = bits.to_ne_bytes());
        })?;
        self.enqueue(|bound, memory, stream| {
            let (mut done, all) = (self.bytes(first), self.bytes(len));
            while done < all {
                let more = done.min(all - done);
                bound.copy((memory, at + done), (memory, at), more, stream)?;
                done += more;
            }
            Ok(())
        })
    }

    fn copy_from(&self, source: &dyn Memory, len: usize) -> Result<()> {
        let source = CudaMemory::own(source);
        let (Some(from), Some(to)) = (&source.memory, &self.memory) else { return Ok(()) };
        let bound = self.shared.context.bind()?;
        let queue = self.shared.queue();
        queue.order(&source.last_use, self.id)?;
        queue.order(&self.last_use, self.id)?;
        Ok(bound.copy((to, 0), (from, 0), self.bytes(len), &self.stream)?)
    }

    fn write_from_pinned(&self, len: usize, source: &dyn PinnedMemory) -> Result<()> {
        let source = CudaPinned::own(source);
        let bytes = 0..self.bytes(len);
        self.enqueue(|bound, memory, stream| bound.upload((memory, 0), source, bytes, stream))
    }

    fn read_to_pinned(&self, len: usize, target: &mut dyn PinnedMemory) -> Result<()> {
        let target = CudaPinned::own_mut(target);
        let bytes = 0..self.bytes(len);
        self.enqueue(|bound, memory, stream| bound.download(target, bytes, (memory, 0), stream))
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        // A failure leaves nothing to do: the device is lost, and its memory with it.
        if let Ok(bound) = self.shared.context.bind() {
            let queue = self.shared.queue();
            let stream = queue.stream(self.last_use.stream());
            let _ = bound.free(memory, stream);
        }
    }
}

impl fmt::Debug for CudaMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaMemory({} x {} at {:#x})", self.len, self.scalar, self.address(0))
    }
}
