//! How long something takes on the device, and on the host that enqueues it.

use std::time::{Duration, Instant};

use tilewise::DeviceContext;

use crate::error::Result;

/// Times of repeated runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Median of the times on the device.
    pub(crate) median: Duration,
    /// The shortest of them.
    pub(crate) min: Duration,
    /// Median of the times that the host took to enqueue.
    pub(crate) host: Duration,
}

/// Runs before the first that counts: the first compiles, the others warm up.
const WARM_UP: usize = 3;

/// Runs that are enqueued just before those that count, so that the device has work while the host enqueues these.
const LEAD: usize = 2;

/// Times `repeats` runs, one after the other without a pause: from the end of one run to the end of the next, as the
/// device's clock tells. If the host takes longer to enqueue a run than the device to do it, it is the host's time.
///
/// Events of adapters of Vulkan and the like are time stamps between the commands of the queue, where the adapter has
/// them; else an event is the moment at which the host sees that the work before it has ended.
pub(crate) fn measure(
    ctx: &DeviceContext,
    repeats: usize,
    mut run: impl FnMut() -> Result<()>,
) -> Result<Timing> {
    for _ in 0..WARM_UP {
        run()?;
    }
    ctx.synchronize()?;
    for _ in 0..LEAD {
        run()?;
    }
    let mut host = Vec::with_capacity(repeats);
    let mut events = Vec::with_capacity(repeats + 1);
    events.push(ctx.record_event()?);
    for _ in 0..repeats {
        let start = Instant::now();
        run()?;
        host.push(start.elapsed());
        events.push(ctx.record_event()?);
    }
    ctx.synchronize()?;
    let device: tilewise::Result<Vec<Duration>> =
        events.windows(2).map(|pair| pair[1].elapsed_since(&pair[0])).collect();
    let device = sorted(device?);
    Ok(Timing { median: median(&device), min: device[0], host: median(&sorted(host)) })
}

/// The times in order, the shortest first.
pub(crate) fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort_unstable();
    times
}

/// The middle of times that are in order, of which there is at least one.
pub(crate) fn median(sorted: &[Duration]) -> Duration {
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    (below + above) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_there() {
        let times = |millis: &[u64]| sorted(millis.iter().map(|&n| Duration::from_millis(n)).collect());
        assert_eq!(median(&times(&[9])), Duration::from_millis(9));
        assert_eq!(median(&times(&[9, 1, 2])), Duration::from_millis(2));
        assert_eq!(median(&times(&[9, 1, 2, 4])), Duration::from_millis(3));
    }

    #[test]
    fn every_run_is_timed() -> Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let mut runs = 0;
        let timing = measure(&ctx, 4, || {
            runs += 1;
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        })?;
        assert_eq!(runs, WARM_UP + LEAD + 4);
        assert!(timing.min >= Duration::from_millis(2) && timing.median >= timing.min);
        assert!(timing.host >= Duration::from_millis(2));
        Ok(())
    }
}
