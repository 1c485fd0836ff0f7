//! The copy: device memory to device memory. Its bandwidth is what others are measured by.

use crate::check;
use crate::checks::Checks;
use crate::error::Result;
use crate::report::Record;
use crate::settings::Benchmark;
use crate::suites::{Case, Session};

pub(super) fn run(session: &mut Session) -> Result<()> {
    let n = session.settings.size();
    let peers = session.run_peers(Benchmark::Copy);
    let ctx = &session.ctx;
    let mut source = ctx.enqueue_create_buffer::<f32>(n)?;
    source.map_to_host(|host| host.iter_mut().enumerate().for_each(|(i, x)| *x = check::real(1, i)))?;
    let mut target = ctx.enqueue_create_buffer::<f32>(n)?;
    let case = Case {
        benchmark: Benchmark::Copy,
        name: "copy",
        bytes: 2 * n * size_of::<f32>(),
        flops: 0,
        against: &[("cuda/memcpy", None), ("cuda/vectors", None)],
        aims_without_checks: false,
    };
    let record = session.time(
        &case,
        Checks::On,
        &mut target,
        |target| Ok(target.enqueue_copy_from(&source)?),
        |target| Ok(check::all_equal(&target.to_host()?, |i| check::real(1, i))),
        &peers,
    );
    let mut records: Vec<Record> = record.into_iter().collect();
    records.extend(peers);
    session.report.add(&format!("copy of {n} f32"), records);
    Ok(())
}
