//! What is enqueued on an adapter, and events.
//!
//! An adapter has one queue, so all streams of a context are that queue, and the order in which commands are enqueued is
//! the order in which they happen. Commands are recorded and handed over several at a time: at once if the adapter has
//! nothing to do, else when there are [`BATCH`] of them or when the host waits for something.

use std::any::Any;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wgpu::{BufferUsages, CommandEncoder, QueryType, SubmissionIndex};

use crate::device::wgpu::Shared;
use crate::device::wgpu::gpu::Gpu;
use crate::device::wgpu::reports::Reports;
use crate::device::{Event, Stream};
use crate::error::{Error, Result};

/// Bytes for the words of launches that are handed over together.
pub(super) const LAUNCHES: usize = 64 << 10;

/// The most commands that wait to be handed over while the adapter works.
const BATCH: usize = 16;

/// Bytes that the host writes before they are handed over, since wgpu keeps a copy of them until then.
const WRITTEN: usize = 32 << 20;

/// The commands of an adapter: all that has to happen one after the other is behind one lock.
#[derive(Debug)]
pub(super) struct Queue {
    /// Commands that were not handed over yet.
    encoder: Option<CommandEncoder>,
    /// How many.
    commands: usize,
    /// The words of launches among them.
    words: Vec<u8>,
    /// Where a launch finds its words. The host writes them before the commands that read them, and after those that were
    /// handed over earlier.
    launches: wgpu::Buffer,
    /// Bytes that the host has written since something was last handed over.
    written: usize,
    /// What kernels report.
    pub(super) reports: Reports,
}

impl Queue {
    pub(super) fn new(gpu: &Gpu) -> Result<Queue> {
        let descriptor = wgpu::BufferDescriptor {
            label: Some("launches"),
            size: LAUNCHES as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        let launches = gpu.call("create_buffer", || gpu.device.create_buffer(&descriptor))?;
        let (encoder, commands, words, written) = Default::default();
        Ok(Queue { encoder, commands, words, launches, written, reports: Reports::default() })
    }

    /// The buffer with the words of launches.
    pub(super) fn launches(&self) -> &wgpu::Buffer {
        &self.launches
    }

    /// Places the words of a launch, and gives where they are in the buffer.
    pub(super) fn place_words(&mut self, gpu: &Gpu, words: &[u32]) -> Result<u32> {
        let align = gpu.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
        if self.words.len().next_multiple_of(align) + size_of_val(words) > LAUNCHES {
            self.submit(gpu)?;
        }
        let start = self.words.len().next_multiple_of(align);
        self.words.resize(start, 0);
        self.words.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        Ok(start as u32)
    }

    /// Records a command.
    pub(super) fn record<T>(
        &mut self,
        gpu: &Gpu,
        call: &'static str,
        f: impl FnOnce(&mut CommandEncoder) -> T,
    ) -> Result<T> {
        let encoder = &mut self.encoder;
        let value = gpu.call(call, || {
            let new = || gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            f(encoder.get_or_insert_with(new))
        })?;
        self.commands += 1;
        Ok(value)
    }

    /// Hands commands over if it is time.
    pub(super) fn submit_if_due(&mut self, gpu: &Gpu) -> Result<()> {
        if self.commands >= BATCH || self.commands > 0 && gpu.is_idle()? {
            self.submit(gpu)?;
        }
        Ok(())
    }

    /// Hands all commands over, and gives a point that is reached when they and all before them have ended.
    pub(super) fn submit(&mut self, gpu: &Gpu) -> Result<SubmissionIndex> {
        let words = std::mem::take(&mut self.words);
        let encoder = self.encoder.take();
        (self.commands, self.written) = (0, 0);
        let submission = gpu.call("submit", || {
            if !words.is_empty() {
                gpu.queue.write_buffer(&self.launches, 0, &words);
            }
            gpu.queue.submit(encoder.map(CommandEncoder::finish))
        })?;
        Ok(submission)
    }

    /// Has the host write whole words, after all that was enqueued.
    pub(super) fn write(&mut self, gpu: &Gpu, buffer: &wgpu::Buffer, at: usize, bytes: &[u8]) -> Result<()> {
        if self.commands > 0 || self.written > WRITTEN {
            self.submit(gpu)?;
        }
        gpu.call("write_buffer", || gpu.queue.write_buffer(buffer, at as u64, bytes))?;
        self.written += bytes.len();
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The words would be missing to the commands; nobody can see what these would do.
        self.encoder = None;
    }
}

/// A stream of a context.
#[derive(Debug)]
pub(super) struct WgpuStream {
    pub(super) shared: Arc<Shared>,
}

impl Stream for WgpuStream {
    fn record(&self) -> Result<Box<dyn Event>> {
        let gpu = &self.shared.gpu;
        let mut queue = self.shared.queue();
        let stamp = match gpu.has_clock {
            true => Some(Stamp::record(&self.shared, &mut queue)?),
            false => None,
        };
        let submission = queue.submit(gpu)?;
        let seen = Arc::new(OnceLock::new());
        gpu.queue.on_submitted_work_done({
            let seen = Arc::clone(&seen);
            move || {
                seen.get_or_init(Instant::now);
            }
        });
        Ok(Box::new(WgpuEvent { shared: Arc::clone(&self.shared), submission, seen, stamp }))
    }

    fn wait(&self, _: &dyn Event) -> Result<()> {
        // There is one queue, and it keeps the order.
        Ok(())
    }
}

/// An event of a context.
#[derive(Debug)]
struct WgpuEvent {
    shared: Arc<Shared>,
    submission: SubmissionIndex,
    /// When the host has seen that it was reached.
    seen: Arc<OnceLock<Instant>>,
    /// When it was reached, by the device's clock, if that can be asked.
    stamp: Option<Stamp>,
}

/// A time of the device's clock. What it takes is made once and used again by later events: a driver may take a
/// millisecond to give memory.
#[derive(Debug)]
struct Stamp {
    shared: Arc<Shared>,
    /// Behind a lock that is held while the host reads the time: it can look into a buffer once at a time.
    time: Mutex<StampTime>,
}

#[derive(Debug)]
enum StampTime {
    /// The device writes it here.
    Written(StampParts),
    /// The host has read it.
    Read(u64),
    /// The host could not read it. The parts are gone with it, since nobody knows what state they are in.
    Lost,
}

/// What the device writes the time to, and how it gets to the host.
#[derive(Debug)]
pub(super) struct StampParts {
    query: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

/// The most that are kept for later events.
const STAMPS: usize = 256;

impl StampParts {
    fn new(gpu: &Gpu) -> Result<StampParts> {
        let buffer = |usage| {
            let size = size_of::<u64>() as u64;
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            gpu.device.create_buffer(&descriptor)
        };
        let parts = gpu.call("create_query_set", || {
            let query = wgpu::QuerySetDescriptor { label: None, ty: QueryType::Timestamp, count: 1 };
            StampParts {
                query: gpu.device.create_query_set(&query),
                resolved: buffer(BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC),
                read: buffer(BufferUsages::COPY_DST | BufferUsages::MAP_READ),
            }
        })?;
        Ok(parts)
    }

    /// The time that the device has written.
    fn read(&self, gpu: &Gpu) -> Result<u64> {
        let mut ticks = 0;
        let mapping = Mapping::start(gpu, &self.read, size_of::<u64>())?;
        mapping.finish(gpu, None, &mut |bytes| {
            if let Some(bytes) = bytes.first_chunk() {
                ticks = u64::from_le_bytes(*bytes);
            }
        })?;
        Ok(ticks)
    }
}

impl Stamp {
    fn record(shared: &Arc<Shared>, queue: &mut Queue) -> Result<Stamp> {
        let gpu = &shared.gpu;
        let kept = shared.idle_stamps().pop();
        let parts = match kept {
            Some(parts) => parts,
            None => StampParts::new(gpu)?,
        };
        queue.record(gpu, "write_timestamp", |encoder| {
            let StampParts { query, resolved, read } = &parts;
            encoder.write_timestamp(query, 0);
            encoder.resolve_query_set(query, 0..1, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, read, 0, size_of::<u64>() as u64);
        })?;
        Ok(Stamp { shared: Arc::clone(shared), time: Mutex::new(StampTime::Written(parts)) })
    }

    /// The time, in ticks of the clock. It was reached.
    fn ticks(&self) -> Result<u64> {
        let mut time = self.time.lock().unwrap_or_else(PoisonError::into_inner);
        let ticks = match std::mem::replace(&mut *time, StampTime::Lost) {
            StampTime::Written(parts) => {
                let ticks = parts.read(&self.shared.gpu)?;
                self.shared.put_stamp(parts);
                ticks
            }
            StampTime::Read(ticks) => ticks,
            StampTime::Lost => {
                let error = "the time of this event could not be read before".to_owned();
                return Err(Error::Driver { call: "map_async", error });
            }
        };
        *time = StampTime::Read(ticks);
        Ok(ticks)
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        let time = self.time.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let StampTime::Written(parts) = std::mem::replace(time, StampTime::Lost) {
            self.shared.put_stamp(parts);
        }
    }
}

impl Shared {
    /// Keeps what a stamp no longer needs for later ones.
    fn put_stamp(&self, parts: StampParts) {
        let mut idle = self.idle_stamps();
        if idle.len() < STAMPS {
            idle.push(parts);
        }
    }
}

impl WgpuEvent {
    fn own(event: &dyn Event) -> &WgpuEvent {
        let event: &dyn Any = event;
        match event.downcast_ref() {
            Some(event) => event,
            None => unreachable!("an event of another context is refused before it gets to a device"),
        }
    }
}

impl Event for WgpuEvent {
    fn synchronize(&self) -> Result<()> {
        self.shared.gpu.wait(Some(self.submission.clone()))
    }

    fn is_done(&self) -> Result<bool> {
        Ok(self.seen.get().is_some() || self.shared.gpu.is_idle()? || self.seen.get().is_some())
    }

    /// By the device's clock. Where it cannot be asked, by when the host has seen that the events were reached: right only
    /// if it waited for the earlier one before the later was.
    fn elapsed_since(&self, earlier: &dyn Event) -> Result<Duration> {
        let earlier = WgpuEvent::own(earlier);
        let gpu = &self.shared.gpu;
        earlier.synchronize()?;
        self.synchronize()?;
        if let (Some(from), Some(to)) = (&earlier.stamp, &self.stamp) {
            let ticks = to.ticks()?.saturating_sub(from.ticks()?);
            let nanoseconds = ticks as f64 * f64::from(gpu.queue.get_timestamp_period());
            return Ok(Duration::from_secs_f64(nanoseconds / 1e9));
        }
        let seen = |event: &WgpuEvent| event.seen.get().copied().unwrap_or_else(Instant::now);
        let from = seen(earlier);
        Ok(seen(self).saturating_duration_since(from))
    }
}

/// The start of a buffer on its way to the host.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    buffer: &'a wgpu::Buffer,
    len: usize,
    outcome: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl<'a> Mapping<'a> {
    /// Asks for the first `len` bytes, after all that was handed over.
    pub(super) fn start(gpu: &Gpu, buffer: &'a wgpu::Buffer, len: usize) -> Result<Mapping<'a>> {
        let (sender, outcome) = mpsc::channel();
        gpu.call("map_async", || {
            buffer.slice(..len as u64).map_async(wgpu::MapMode::Read, move |result| {
                // Nobody listens if the caller has met another error.
                let _ = sender.send(result);
            });
        })?;
        Ok(Mapping { buffer, len, outcome })
    }

    /// Waits for the bytes, which are there when `submission` has ended, and shows them.
    pub(super) fn finish(
        self,
        gpu: &Gpu,
        submission: Option<SubmissionIndex>,
        show: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        gpu.wait(submission)?;
        let failed = |error: String| Error::Driver { call: "map_async", error };
        match self.outcome.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
        let view = self.buffer.slice(..self.len as u64).get_mapped_range();
        show(&view.map_err(|error| failed(error.to_string()))?);
        self.buffer.unmap();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::device::wgpu::{self, WgpuDevice};

    /// An adapter whose clock can be asked, if there is one.
    fn device_with_clock() -> Option<WgpuDevice> {
        let device = wgpu::open("webgpu", "webgpu").and_then(Result::ok);
        let device = device.filter(|device| device.shared.gpu.has_clock);
        if device.is_none() {
            println!("skipped: no adapter has a clock");
        }
        device
    }

    fn stamp(shared: &Arc<Shared>) -> Stamp {
        let stamp = Stamp::record(shared, &mut shared.queue()).expect("a stamp");
        shared.wait().expect("the device works");
        stamp
    }

    #[test]
    fn threads_may_ask_one_event_at_once() {
        let Some(device) = device_with_clock() else { return };
        for _ in 0..20 {
            let stamp = stamp(&device.shared);
            let ticks: Vec<u64> = thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| stamp.ticks())).collect();
                let ticks = threads.into_iter().map(|thread| thread.join().expect("no panic"));
                ticks.collect::<Result<_>>().expect("each is told the time")
            });
            assert!(ticks.iter().all(|&other| other == ticks[0]), "{ticks:?}");
        }
    }

    #[test]
    fn parts_are_kept_once_their_time_is_read_or_no_longer_wanted() {
        let Some(device) = device_with_clock() else { return };
        let kept = || device.shared.idle_stamps().len();
        let first = stamp(&device.shared);
        assert_eq!(kept(), 0);
        let ticks = first.ticks().expect("the time");
        assert_eq!(kept(), 1);
        drop(stamp(&device.shared));
        assert_eq!(kept(), 1);
        assert!(stamp(&device.shared).ticks().expect("the time") >= ticks);
        assert_eq!(first.ticks().expect("it is known"), ticks);
        drop(first);
        assert_eq!(kept(), 1);
    }

    #[test]
    fn parts_whose_time_could_not_be_read_are_not_used_again() {
        let Some(device) = device_with_clock() else { return };
        let stamp = stamp(&device.shared);
        let read = match &*stamp.time.lock().expect("no panic") {
            StampTime::Written(parts) => parts.read.clone(),
            other => panic!("nobody has read it: {other:?}"),
        };
        // The host looks into it already.
        read.slice(..).map_async(::wgpu::MapMode::Read, |_| ());
        device.shared.wait().expect("the device works");
        for _ in 0..2 {
            assert!(matches!(stamp.ticks(), Err(Error::Driver { call: "map_async", .. })));
        }
        drop(stamp);
        assert_eq!(device.shared.idle_stamps().len(), 0);
        device.shared.gpu.check_uncaptured().expect("it was told to who asked");
    }
}
