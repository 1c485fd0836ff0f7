//! Streams, and events on them.

use std::ffi::c_uint;
use std::ptr;

use cudarc::driver::sys;

use super::{Bound, Context, Result, check};

impl Bound {
    /// A stream that does not wait for the default stream.
    pub(in crate::device::cuda) fn create_stream(&self) -> Result<Stream> {
        let mut raw = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        let event = self.create_event(false)?;
        // SAFETY: the pointer is valid for the call, and the context is bound.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        Ok(Stream { context: self.context, raw, event })
    }

    /// An event that nothing has recorded yet; with the time if `timed`.
    pub(in crate::device::cuda) fn create_event(&self, timed: bool) -> Result<Event> {
        let mut raw = ptr::null_mut();
        let flags = match timed {
            true => sys::CUevent_flags::CU_EVENT_DEFAULT,
            false => sys::CUevent_flags::CU_EVENT_DISABLE_TIMING,
        };
        // SAFETY: the pointer is valid for the call, and the context is bound.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&mut raw, flags as c_uint) })?;
        Ok(Event { context: self.context, raw })
    }
}

/// A queue of a GPU.
#[derive(Debug)]
pub(in crate::device::cuda) struct Stream {
    context: &'static Context,
    pub(super) raw: sys::CUstream,
    /// For those who wait for this stream.
    event: Event,
}

// SAFETY: the driver's streams may be used by any thread, also by several at once.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Waits for all that was enqueued.
    pub(in crate::device::cuda) fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Lets an event mark the point that the stream has been filled to.
    pub(in crate::device::cuda) fn record(&self, event: &Event) -> Result<()> {
        // SAFETY: both are alive and of one context.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.raw, self.raw) })
    }

    /// What is enqueued from now on starts after an event.
    pub(in crate::device::cuda) fn wait(&self, event: &Event) -> Result<()> {
        // SAFETY: both are alive and of one context.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw, event.raw, 0) })
    }

    /// What is enqueued from now on starts after all that was enqueued on `other`.
    pub(in crate::device::cuda) fn follow(&self, other: &Stream) -> Result<()> {
        other.record(&other.event)?;
        self.wait(&other.event)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody else has the stream; what was enqueued on it goes on. A failure leaves nothing to do.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

/// A point in the work of a stream.
#[derive(Debug)]
pub(in crate::device::cuda) struct Event {
    context: &'static Context,
    raw: sys::CUevent,
}

// SAFETY: the driver's events may be used by any thread, also by several at once.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Waits until it is reached; at once if nothing has recorded it.
    pub(in crate::device::cuda) fn synchronize(&self) -> Result<()> {
        // SAFETY: the event is alive.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Whether it is reached.
    pub(in crate::device::cuda) fn is_done(&self) -> Result<bool> {
        // SAFETY: the event is alive.
        match check("cuEventQuery", unsafe { sys::cuEventQuery(self.raw) }) {
            Ok(()) => Ok(true),
            Err(failure) if failure.is_not_ready() => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Milliseconds since `earlier`; both have been reached, and record the time.
    pub(in crate::device::cuda) fn milliseconds_since(&self, earlier: &Event) -> Result<f32> {
        let mut time = 0.0;
        // SAFETY: both are alive, the pointer is valid for the call.
        check("cuEventElapsedTime", unsafe { sys::cuEventElapsedTime(&mut time, earlier.raw, self.raw) })?;
        Ok(time)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody else has the event. A failure leaves nothing to do.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
