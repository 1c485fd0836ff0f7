//! The launch itself: an empty kernel, many times in a row.

use std::time::{Duration, Instant};

use tilewise::prelude::*;

use crate::checks::Checks;
use crate::error::Result;
use crate::kernels::empty::empty;
use crate::report::{Against, Record};
use crate::settings::Benchmark;
use crate::suites::Session;
use crate::timing::{median, sorted};

/// Batches that run before those that count.
const WARM_UP: usize = 2;

pub(super) fn run(session: &mut Session) -> Result<()> {
    let settings = &session.settings;
    let peers = session.run_peers(Benchmark::Launch);
    let (ctx, batch) = (&session.ctx, settings.batch());
    let (mut enqueue, mut whole) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + settings.repeats() {
        ctx.synchronize()?;
        let start = Instant::now();
        for _ in 0..batch {
            ctx.enqueue_function(empty(), grid_dim(1), block_dim(1))?;
        }
        let enqueued = start.elapsed();
        ctx.synchronize()?;
        if round >= WARM_UP {
            enqueue.push(enqueued);
            whole.push(start.elapsed());
        }
    }
    // At most 1.2 times as long as the driver alone.
    const ENQUEUE: &[Against] = &[("driver/enqueue", Some(1.0 / 1.2)), ("runtime/enqueue", None)];
    const WHOLE: &[Against] = &[("driver/with synchronize", None), ("runtime/with synchronize", None)];
    let mut records = vec![
        record("enqueue", session.device(), enqueue, batch, ENQUEUE, &peers),
        record("with synchronize", session.device(), whole, batch, WHOLE, &peers),
    ];
    records.extend(peers);
    session.report.add(&format!("launch of an empty kernel, {batch} in a row, time of one"), records);
    Ok(())
}

/// The times of batches as the time of one launch.
fn record(
    name: &str,
    device: Option<String>,
    times: Vec<Duration>,
    batch: usize,
    against: &[Against],
    peers: &[Record],
) -> Record {
    let times = sorted(times);
    let mut record = Record {
        benchmark: Benchmark::Launch.name().to_owned(),
        by: Checks::On.by().to_owned(),
        name: name.to_owned(),
        device,
        seconds_median: median(&times).as_secs_f64() / batch as f64,
        seconds_min: times[0].as_secs_f64() / batch as f64,
        ..Record::default()
    };
    record.compare(against, peers);
    record
}
