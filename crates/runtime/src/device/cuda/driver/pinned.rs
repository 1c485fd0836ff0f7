//! Memory of the host that the device copies from and to by itself.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys;

use super::{Bound, Context, DeviceMemory, Event, Failure, Result, Stream, check};

/// Memory of the host that the device copies from and to by itself.
#[derive(Debug)]
pub(in crate::device::cuda) struct Pinned {
    context: &'static Context,
    start: NonNull<u8>,
    len: usize,
    /// Whether the bytes are to be 0 or 1 when the host sees them.
    truth_values: bool,
    /// Reached when the last copy has ended, and with it those before.
    done: Event,
    flight: Mutex<Flight>,
}

impl Bound {
    /// Pinned memory of `len` bytes, at least one, all zero. `truth_values` says that its bytes are to be 0 or 1.
    pub(in crate::device::cuda) fn allocate_pinned(&self, len: usize, truth_values: bool) -> Result<Pinned> {
        let done = self.create_event(false)?;
        let mut raw: *mut c_void = ptr::null_mut();
        // SAFETY: the pointer is valid for the call, and the context is bound.
        check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut raw, len, 0) })?;
        let start = NonNull::new(raw.cast::<u8>()).ok_or(Failure::invalid("cuMemHostAlloc"))?;
        // SAFETY: the memory has `len` bytes, and nobody else knows it.
        unsafe { start.write_bytes(0, len) };
        Ok(Pinned { context: self.context, start, len, truth_values, done, flight: Mutex::default() })
    }

    /// Copies bytes of pinned memory to the device, from byte `at` on.
    pub(in crate::device::cuda) fn upload(
        &self,
        (target, at): (&DeviceMemory, usize),
        source: &Pinned,
        bytes: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        let call = "cuMemcpyHtoDAsync";
        let address = target.range(call, at, bytes.len())?;
        let host = source.range(call, &bytes)?;
        let flight = source.begin(stream)?;
        // SAFETY: both ranges are inside their memory. The bytes of the host are not written before the copy has ended,
        // for `Pinned` waits for `flight` before it gives them.
        let code = unsafe { sys::cuMemcpyHtoDAsync_v2(address, host.cast_const(), bytes.len(), stream.raw) };
        source.end(flight, stream, check(call, code), false)
    }

    /// Copies bytes of the device, from byte `at` on, to pinned memory.
    pub(in crate::device::cuda) fn download(
        &self,
        target: &mut Pinned,
        bytes: Range<usize>,
        (source, at): (&DeviceMemory, usize),
        stream: &Stream,
    ) -> Result<()> {
        let call = "cuMemcpyDtoHAsync";
        let address = source.range(call, at, bytes.len())?;
        let host = target.range(call, &bytes)?;
        let flight = target.begin(stream)?;
        // SAFETY: both ranges are inside their memory. The bytes of the host are borrowed mutably now, so nobody sees them,
        // and later `Pinned` waits for `flight` before it gives them.
        let code = unsafe { sys::cuMemcpyDtoHAsync_v2(host, address, bytes.len(), stream.raw) };
        target.end(flight, stream, check(call, code), true)
    }
}

/// The copies that may still be going on.
#[derive(Debug, Default)]
struct Flight {
    /// The stream of the last copy, by its handle, until somebody has waited.
    stream: Option<usize>,
    /// Whether the device has written since somebody waited.
    written: bool,
}

// SAFETY: the memory belongs to the value alone, and what the device does with it is waited for before anyone sees it.
unsafe impl Send for Pinned {}
// SAFETY: as above; `flight` is behind a lock.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Number of bytes.
    pub(in crate::device::cuda) fn len(&self) -> usize {
        self.len
    }

    /// The bytes, after all copies.
    pub(in crate::device::cuda) fn bytes(&self) -> Result<&[u8]> {
        self.settle()?;
        // SAFETY: the memory has `len` bytes, all set. The device writes to it only after `download`, which needs a mutable
        // borrow, and that was waited for.
        Ok(unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) })
    }

    /// The bytes for writing, after all copies.
    pub(in crate::device::cuda) fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        self.settle()?;
        // SAFETY: as `bytes`; the value is borrowed mutably, and no copy from it is going on.
        Ok(unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }

    /// Waits for all copies.
    fn settle(&self) -> Result<()> {
        let mut flight = self.lock();
        if flight.stream.is_some() {
            self.done.synchronize()?;
            flight.stream = None;
        }
        if flight.written && self.truth_values {
            // SAFETY: no copy is going on. The host sees nothing of the memory yet: the device's last write was enqueued
            // with the value borrowed mutably, and since then everyone comes by here, one after the other.
            let bytes = unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) };
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        flight.written = false;
        Ok(())
    }

    fn range(&self, call: &'static str, bytes: &Range<usize>) -> Result<*mut c_void> {
        if bytes.start > bytes.end || bytes.end > self.len {
            return Err(Failure::invalid(call));
        }
        // SAFETY: the offset is inside the memory.
        Ok(unsafe { self.start.as_ptr().add(bytes.start) }.cast())
    }

    /// Before a copy on `stream`: it starts after those on other streams.
    fn begin(&self, stream: &Stream) -> Result<MutexGuard<'_, Flight>> {
        let flight = self.lock();
        if flight.stream.is_some_and(|other| other != stream.raw.addr()) {
            stream.wait(&self.done)?;
        }
        Ok(flight)
    }

    /// After a copy was enqueued on `stream`, or not.
    fn end(
        &self,
        mut flight: MutexGuard<'_, Flight>,
        stream: &Stream,
        copied: Result<()>,
        written: bool,
    ) -> Result<()> {
        copied?;
        flight.written |= written;
        let recorded = stream.record(&self.done);
        match recorded {
            Ok(()) => flight.stream = Some(stream.raw.addr()),
            // It cannot be waited for later, so it is now.
            Err(_) => stream.synchronize()?,
        }
        recorded
    }

    fn lock(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // If waiting fails the device is lost, and nothing copies any more.
            let _ = self.settle();
            // SAFETY: nobody else has the memory, and no copy is going on. A failure leaves nothing to do.
            let _ = unsafe { sys::cuMemFreeHost(self.start.as_ptr().cast()) };
        }
    }
}
