//! Streams of a device, events on them, and the order of work on the same memory.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::device::cuda::Shared;
use crate::device::cuda::driver::{self, Bound};
use crate::device::cuda::reports::Reports;
use crate::device::cuda::staging::Staging;
use crate::device::reports::Reported;
use crate::device::{Event, Stream};
use crate::error::Result;

/// Number of a stream in its device's list.
pub(super) type StreamId = usize;

/// What is enqueued on a device: all that has to happen one after the other is behind one lock.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Every stream that was made; they stay until the device is closed, so work on them can be waited for.
    streams: Vec<Arc<driver::Stream>>,
    /// Those that nobody holds.
    idle: Vec<StreamId>,
    /// What kernels report.
    pub(super) reports: Reports,
}

/// The stream on which memory was used last. Uses on other streams wait for that.
#[derive(Debug)]
pub(super) struct Use(AtomicUsize);

impl Use {
    /// Last used on this stream.
    pub(super) fn on(stream: StreamId) -> Use {
        Use(AtomicUsize::new(stream))
    }

    /// The stream.
    pub(super) fn stream(&self) -> StreamId {
        self.0.load(Ordering::Relaxed)
    }
}

impl Queue {
    /// What is enqueued on `stream` from now on starts after the last use of some memory, and is itself the last use.
    pub(super) fn order(&self, last_use: &Use, stream: StreamId) -> driver::Result<()> {
        // The lock of the queue keeps others from changing it in between.
        let before = last_use.stream();
        if before != stream {
            self.streams[stream].follow(&self.streams[before])?;
            last_use.0.store(stream, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The stream with this number.
    pub(super) fn stream(&self, id: StreamId) -> &driver::Stream {
        &self.streams[id]
    }

    /// All streams.
    pub(super) fn streams(&self) -> &[Arc<driver::Stream>] {
        &self.streams
    }

    /// Waits for all that was enqueued.
    pub(super) fn synchronize(&self) -> driver::Result<()> {
        self.streams.iter().try_for_each(|stream| stream.synchronize())
    }

    /// Takes what kernels have reported. Nothing may be running on the device.
    pub(super) fn take_reports(
        &mut self,
        bound: Bound,
        staging: &mut Staging,
    ) -> driver::Result<Option<Reported>> {
        match self.streams.first() {
            Some(stream) => self.reports.take(bound, stream, staging).map(Some),
            None => Ok(None),
        }
    }

    /// Frees what is not freed by itself.
    pub(super) fn close(&mut self, bound: Bound) {
        if let Some(stream) = self.streams.first() {
            // If waiting fails the device is lost, and nothing runs any more.
            let _ = self.synchronize();
            self.reports.close(bound, stream);
        }
    }
}

/// A stream of a context.
#[derive(Debug)]
pub(super) struct CudaStream {
    shared: Arc<Shared>,
    stream: Arc<driver::Stream>,
    id: StreamId,
}

impl CudaStream {
    /// A stream that nobody else has.
    pub(super) fn new(shared: &Arc<Shared>) -> Result<CudaStream> {
        let bound = shared.context.bind()?;
        let mut queue = shared.queue();
        let id = match queue.idle.pop() {
            Some(id) => id,
            None => {
                queue.streams.push(Arc::new(bound.create_stream()?));
                queue.streams.len() - 1
            }
        };
        let stream = Arc::clone(&queue.streams[id]);
        Ok(CudaStream { shared: Arc::clone(shared), stream, id })
    }

    /// The stream behind one of this device.
    pub(super) fn own(stream: &dyn Stream) -> &CudaStream {
        let stream: &dyn Any = stream;
        match stream.downcast_ref() {
            Some(stream) => stream,
            None => unreachable!("a stream is used with the device that made it"),
        }
    }

    /// The stream of the driver.
    pub(super) fn driver(&self) -> &Arc<driver::Stream> {
        &self.stream
    }

    /// Its number.
    pub(super) fn id(&self) -> StreamId {
        self.id
    }
}

impl Stream for CudaStream {
    fn record(&self) -> Result<Box<dyn Event>> {
        let event = self.shared.context.bind()?.create_event(true)?;
        self.stream.record(&event)?;
        Ok(Box::new(CudaEvent { shared: Arc::clone(&self.shared), event }))
    }

    fn wait(&self, event: &dyn Event) -> Result<()> {
        self.shared.context.bind()?;
        Ok(self.stream.wait(&CudaEvent::own(event).event)?)
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        self.shared.queue().idle.push(self.id);
    }
}

/// An event of a context.
#[derive(Debug)]
struct CudaEvent {
    shared: Arc<Shared>,
    event: driver::Event,
}

impl CudaEvent {
    fn own(event: &dyn Event) -> &CudaEvent {
        let event: &dyn Any = event;
        match event.downcast_ref() {
            Some(event) => event,
            None => unreachable!("an event of another context is refused before it gets to a device"),
        }
    }
}

impl Event for CudaEvent {
    fn synchronize(&self) -> Result<()> {
        self.shared.context.bind()?;
        Ok(self.event.synchronize()?)
    }

    fn is_done(&self) -> Result<bool> {
        self.shared.context.bind()?;
        Ok(self.event.is_done()?)
    }

    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Duration> {
        let earlier = CudaEvent::own(earlier);
        earlier.synchronize()?;
        self.synchronize()?;
        let milliseconds = self.event.milliseconds_since(&earlier.event)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1000.0))
    }
}
