//! Memory of an adapter: buffers, copies from and to the host, fills.
//!
//! wgpu copies whole words of 4 bytes. A buffer is a whole number of them, and what is behind the last element belongs to
//! nobody; where a copy starts or ends inside a word of other elements, the host puts the word together.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tilewise_ir::Scalar;
use wgpu::BufferUsages;

use crate::device::wgpu::Shared;
use crate::device::wgpu::stream::{Mapping, Queue};
use crate::device::{Memory, host_memory};
use crate::error::{Error, Result};

/// Bytes of a word.
const WORD: usize = 4;

/// A buffer is a multiple of this, so that an array of any element has at least one.
const UNIT: usize = 16;

/// Bytes that go between host and device at a time.
const PIECE: usize = 1 << 20;

/// How many idle staging buffers an adapter keeps.
const KEPT: usize = 2;

/// Two pieces of memory that the host can look into: it works on one while the device fills the other.
pub(super) type Staging = [wgpu::Buffer; 2];

/// Memory of an adapter.
pub(super) struct WgpuMemory {
    shared: Arc<Shared>,
    buffer: wgpu::Buffer,
    scalar: Scalar,
    len: usize,
}

impl WgpuMemory {
    /// Memory for `len` elements, all bits zero.
    pub(super) fn new(shared: &Arc<Shared>, scalar: Scalar, len: usize) -> Result<WgpuMemory> {
        let gpu = &shared.gpu;
        let bytes = len as u128 * scalar.size() as u128;
        let largest = u128::from(gpu.limits.max_buffer_size);
        let too_much = || {
            let what = match bytes > largest {
                true => format!(
                    "a buffer of {len} {scalar} on {}, where a buffer has at most {largest} bytes,",
                    gpu.name
                ),
                false => format!("a buffer of {len} {scalar} on {}", gpu.name),
            };
            Error::OutOfMemory { what, bytes, free: None }
        };
        if bytes > largest || gpu.is_software && host_memory::is_too_much(bytes) {
            return Err(too_much());
        }
        let size = (bytes as usize).max(1).next_multiple_of(UNIT) as u64;
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let create = || gpu.call("create_buffer", || gpu.device.create_buffer(&descriptor));
        let buffer = match create() {
            Err(error) if error.is_out_of_memory() => {
                // What was dropped is free when the work that uses it has ended.
                shared.wait()?;
                match create() {
                    Err(error) if error.is_out_of_memory() => return Err(too_much()),
                    created => created?,
                }
            }
            created => created?,
        };
        Ok(WgpuMemory { shared: Arc::clone(shared), buffer, scalar, len })
    }

    /// Memory behind an argument of this device.
    pub(super) fn own(memory: &dyn Memory) -> &WgpuMemory {
        let memory: &dyn Any = memory;
        match memory.downcast_ref() {
            Some(memory) => memory,
            None => unreachable!("memory of another context is refused before it gets to a device"),
        }
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Bytes of so many elements.
    pub(super) fn bytes(&self, elements: usize) -> usize {
        elements * self.scalar.size()
    }

    /// First byte and end of each piece.
    fn pieces(&self, start: usize, len: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (mut at, end) = (self.bytes(start), self.bytes(start + len));
        std::iter::from_fn(move || {
            let first = at;
            // All cuts are between words.
            at = end.min((first + 1).next_multiple_of(PIECE));
            (first < end).then_some((first, at))
        })
    }

    /// Where words end that hold what is before this byte: words behind the last element belong to nobody.
    fn whole_words(&self, end: usize) -> Option<usize> {
        match end.is_multiple_of(WORD) || end == self.bytes(self.len) {
            true => Some(end.next_multiple_of(WORD)),
            false => None,
        }
    }

    /// Writes bytes, after all that was enqueued.
    fn write_bytes(&self, queue: &mut Queue, at: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let end = at + bytes.len();
        let start = at / WORD * WORD;
        let is_whole = self.whole_words(end);
        let until = is_whole.unwrap_or(end.next_multiple_of(WORD));
        if start < at {
            let word = self.shared.download(queue, &self.buffer, start, WORD)?;
            bytes.splice(0..0, word[..at - start].iter().copied());
        }
        if until > end {
            match is_whole {
                Some(_) => bytes.resize(until - start, 0),
                None => {
                    let word = self.shared.download(queue, &self.buffer, until - WORD, WORD)?;
                    bytes.extend_from_slice(&word[WORD - (until - end)..]);
                }
            }
        }
        queue.write(&self.shared.gpu, &self.buffer, start, bytes)
    }
}

impl Memory for WgpuMemory {
    fn read(&self, start: usize, len: usize, sink: &mut dyn FnMut(&[u8])) -> Result<()> {
        let gpu = &self.shared.gpu;
        let staging = self.shared.take_staging()?;
        let mut ahead = self.pieces(start, len).enumerate().map(|(i, (first, end))| {
            let words = first / WORD * WORD..end.next_multiple_of(WORD);
            let half = &staging[i % 2];
            let mut queue = self.shared.queue();
            let size = words.len() as u64;
            queue.record(gpu, "copy_buffer_to_buffer", |encoder| {
                encoder.copy_buffer_to_buffer(&self.buffer, words.start as u64, half, 0, size);
            })?;
            let submission = queue.submit(gpu)?;
            let mapping = Mapping::start(gpu, half, words.len())?;
            Ok::<_, Error>((mapping, submission, first - words.start..end - words.start))
        });
        let mut next = ahead.next();
        while let Some(piece) = next {
            let (mapping, submission, range) = piece?;
            // The next piece is on its way while this one is looked at.
            next = ahead.next();
            mapping.finish(gpu, Some(submission), &mut |bytes| sink(&bytes[range.clone()]))?;
        }
        drop(ahead);
        self.shared.put_staging(staging);
        Ok(())
    }

    fn write(&self, start: usize, len: usize, source: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let mut bytes = Vec::new();
        for (first, end) in self.pieces(start, len) {
            bytes.clear();
            bytes.resize(end - first, 0);
            source(&mut bytes);
            self.write_bytes(&mut self.shared.queue(), first, &mut bytes)?;
        }
        Ok(())
    }

    fn fill(&self, start: usize, len: usize, bits: u64) -> Result<()> {
        let gpu = &self.shared.gpu;
        let size = self.scalar.size();
        let element = &bits.to_le_bytes()[..size];
        let (at, end) = (self.bytes(start), self.bytes(start + len));
        let (true, Some(end)) = (at.is_multiple_of(WORD), self.whole_words(end)) else {
            return self.write(start, len, &mut |bytes| repeat(element, bytes));
        };
        if at == end {
            return Ok(());
        }
        if bits == 0 {
            return self.shared.queue().record(gpu, "clear_buffer", |encoder| {
                encoder.clear_buffer(&self.buffer, at as u64, Some((end - at) as u64));
            });
        }
        // The host writes a piece, the device copies it as often as needed.
        let piece = PIECE.min(end - at).next_multiple_of(UNIT);
        let pattern = gpu.call("create_buffer", || {
            let (size, usage) = (piece as u64, BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            gpu.device.create_buffer(&descriptor)
        })?;
        let mut bytes = vec![0; piece];
        repeat(element, &mut bytes);
        let mut queue = self.shared.queue();
        queue.write(gpu, &pattern, 0, &bytes)?;
        queue.record(gpu, "copy_buffer_to_buffer", |encoder| {
            for to in (at..end).step_by(piece) {
                let size = piece.min(end - to) as u64;
                encoder.copy_buffer_to_buffer(&pattern, 0, &self.buffer, to as u64, size);
            }
        })
    }

    fn copy_from(&self, source: &dyn Memory, len: usize) -> Result<()> {
        let gpu = &self.shared.gpu;
        let source = WgpuMemory::own(source);
        let bytes = self.bytes(len);
        let whole = self.whole_words(bytes).unwrap_or(bytes / WORD * WORD);
        let mut queue = self.shared.queue();
        if whole > 0 {
            queue.record(gpu, "copy_buffer_to_buffer", |encoder| {
                encoder.copy_buffer_to_buffer(&source.buffer, 0, &self.buffer, 0, whole as u64);
            })?;
        }
        if whole < bytes {
            let mut last = self.shared.download(&mut queue, &source.buffer, whole, WORD)?;
            last.truncate(bytes - whole);
            self.write_bytes(&mut queue, whole, &mut last)?;
        }
        Ok(())
    }
}

/// Fills bytes with the same element.
fn repeat(element: &[u8], bytes: &mut [u8]) {
    bytes.chunks_exact_mut(element.len()).for_each(|chunk| chunk.copy_from_slice(element));
}

impl Shared {
    /// Reads whole words, after all that was enqueued.
    pub(super) fn download(
        &self,
        queue: &mut Queue,
        buffer: &wgpu::Buffer,
        at: usize,
        len: usize,
    ) -> Result<Vec<u8>> {
        let gpu = &self.gpu;
        let staging = self.staging_buffer(len)?;
        queue.record(gpu, "copy_buffer_to_buffer", |encoder| {
            encoder.copy_buffer_to_buffer(buffer, at as u64, &staging, 0, len as u64);
        })?;
        let submission = queue.submit(gpu)?;
        let mut found = Vec::with_capacity(len);
        let mapping = Mapping::start(gpu, &staging, len)?;
        mapping.finish(gpu, Some(submission), &mut |bytes| found.extend_from_slice(bytes))?;
        Ok(found)
    }

    fn staging_buffer(&self, len: usize) -> Result<wgpu::Buffer> {
        let (size, usage) = (len as u64, BufferUsages::COPY_DST | BufferUsages::MAP_READ);
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        Ok(self.gpu.call("create_buffer", || self.gpu.device.create_buffer(&descriptor))?)
    }

    /// A staging buffer for the caller alone. No lock is held while it is used: the caller runs code of the user meanwhile,
    /// which may want one, too.
    fn take_staging(&self) -> Result<Staging> {
        let kept = self.idle_staging().pop();
        match kept {
            Some(staging) => Ok(staging),
            None => Ok([self.staging_buffer(PIECE)?, self.staging_buffer(PIECE)?]),
        }
    }

    /// Gives a staging buffer back.
    fn put_staging(&self, staging: Staging) {
        let mut idle = self.idle_staging();
        if idle.len() < KEPT {
            idle.push(staging);
        }
    }
}

impl fmt::Debug for WgpuMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WgpuMemory({} x {})", self.len, self.scalar)
    }
}
