//! [`DeviceEvent`]: a point in the work of a stream, to wait for and to measure times between.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::context::{DeviceContext, Shared};
use crate::device::Event;
use crate::error::{Error, Result};

/// A point in what was enqueued on a context: it is reached when all that was enqueued there before has ended.
/// [`DeviceContext::record_event`] makes it.
///
/// ```
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let start = ctx.record_event()?;
/// let mut buffer = ctx.enqueue_create_buffer::<f32>(1 << 16)?;
/// buffer.enqueue_fill(1.0)?;
/// let end = ctx.record_event()?;
/// let time = end.elapsed_since(&start)?;
/// assert!(end.is_done()?, "elapsed_since has waited for it");
/// println!("filled in {time:?}");
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub struct DeviceEvent {
    context: Arc<Shared>,
    event: Box<dyn Event>,
}

impl DeviceContext {
    /// Marks the point that the context's stream has been filled to.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn record_event(&self) -> Result<DeviceEvent> {
        Ok(DeviceEvent { context: Arc::clone(self.shared()), event: self.stream().record()? })
    }

    /// What is enqueued on this context's stream from now on starts when `event` has been reached. The host does not wait.
    ///
    /// It is needed only where an order is wanted that memory does not give: work on the same memory is in order anyway.
    ///
    /// # Errors
    ///
    /// [`Error::WrongEvent`] if the event is one of another device context.
    pub fn wait_event(&self, event: &DeviceEvent) -> Result<()> {
        event.check_context(self.shared())?;
        self.stream().wait(&*event.event)
    }
}

impl DeviceEvent {
    /// Waits until the event has been reached.
    ///
    /// # Errors
    ///
    /// If the device is lost. Faults of kernels are told by [`DeviceContext::synchronize`].
    pub fn synchronize(&self) -> Result<()> {
        self.event.synchronize()
    }

    /// Whether the event has been reached.
    ///
    /// # Errors
    ///
    /// If the device is lost.
    pub fn is_done(&self) -> Result<bool> {
        self.event.is_done()
    }

    /// The time between two events, by the clock of the device; zero if `earlier` was reached later. Waits for both.
    ///
    /// # Errors
    ///
    /// [`Error::WrongEvent`] if the events are of different device contexts.
    pub fn elapsed_since(&self, earlier: &DeviceEvent) -> Result<Duration> {
        earlier.check_context(&self.context)?;
        self.event.elapsed_since(&*earlier.event)
    }

    fn check_context(&self, user: &Arc<Shared>) -> Result<()> {
        if Arc::ptr_eq(&self.context, user) {
            return Ok(());
        }
        Err(Error::WrongEvent { owner: self.context.to_string(), user: user.to_string() })
    }
}

impl fmt::Debug for DeviceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceEvent(on {})", self.context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_the_cpu_an_event_is_reached_at_once() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let stream = ctx.create_stream()?;
        let start = ctx.record_event()?;
        stream.wait_event(&start)?;
        let end = stream.record_event()?;
        assert!(start.is_done()? && end.is_done()?);
        end.synchronize()?;
        let time = end.elapsed_since(&start)?;
        assert_eq!(start.elapsed_since(&end)?, Duration::ZERO);
        assert!(time < Duration::from_secs(60));
        Ok(())
    }

    #[test]
    fn events_stay_in_their_context() -> Result<()> {
        let (a, b) = (DeviceContext::open("cpu")?, DeviceContext::open("cpu")?);
        let event = a.record_event()?;
        let error = b.wait_event(&event).unwrap_err();
        assert!(error.to_string().contains("event of context"), "{error}");
        assert!(matches!(b.record_event()?.elapsed_since(&event), Err(Error::WrongEvent { .. })));
        Ok(())
    }
}
