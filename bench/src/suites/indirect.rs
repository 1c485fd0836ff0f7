//! Kernels whose checks stay: what they cost beside the same launch without checks, and beside CUDA C++, which has none.

use tilewise::prelude::*;

use crate::check;
use crate::error::Result;
use crate::kernels::indirect::{self, BINS, COUNTED, THREADS};
use crate::report::{Against, Record};
use crate::settings::Benchmark;
use crate::suites::{Case, Session, against_unchecked};

/// A check may cost a tenth.
const AIM: f64 = 1.0 / 1.1;

pub(super) fn run(session: &mut Session) -> Result<()> {
    let n = session.settings.size();
    let peers = session.run_peers(Benchmark::Indirect);
    let mut records = Vec::new();
    records.extend(gather(session, n, &peers)?);
    records.extend(histogram(session, n, &peers)?);
    records.extend(sparse_rows(session, n, &peers)?);
    against_unchecked(&mut records, AIM);
    records.extend(peers);
    session.report.add(&format!("indices from memory, {n} of them"), records);
    Ok(())
}

/// Elements of a table that is small enough for the second-level cache, where a check costs most.
fn table_len(n: usize) -> usize {
    n.min(1 << 20)
}

fn case(name: &'static str, against: &'static [Against], bytes: usize, flops: usize) -> Case<'static> {
    let benchmark = Benchmark::Indirect;
    Case { benchmark, name, bytes, flops, against, aims_without_checks: false }
}

fn gather(session: &Session, n: usize, peers: &[Record]) -> Result<Vec<Record>> {
    let (ctx, len) = (&session.ctx, table_len(n));
    let table = ctx.tensor_from_fn(row_major([len]), |[i]| check::real(1, i))?;
    let index = ctx.tensor_from_fn(row_major([n]), |[i]| check::below(len, 2, i) as u32)?;
    let mut output = ctx.zeros::<f32, 1>(row_major([n]))?;
    let case = case("gather", &[("cuda/gather", None)], (8 * n) + (4 * len), 0);
    Ok(session.time_both(
        &case,
        &mut output,
        |output, checks| {
            let launch = checks.apply(indirect::gather(output, &table, &index));
            Ok(ctx.enqueue_function(launch, grid_dim(n.div_ceil(THREADS)), block_dim(THREADS))?)
        },
        |output| {
            let expected = |i| check::real(1, check::below(len, 2, i));
            Ok(check::all_equal(&output.to_host()?, expected))
        },
        peers,
    ))
}

fn histogram(session: &Session, n: usize, peers: &[Record]) -> Result<Vec<Record>> {
    let ctx = &session.ctx;
    let data = ctx.tensor_from_fn(row_major([n]), |[i]| check::below(BINS, 3, i) as u32)?;
    let mut counts = ctx.zeros::<u32, 1>(row_major([BINS]))?;
    let mut expected = vec![0u32; BINS];
    (0..n).for_each(|i| expected[check::below(BINS, 3, i)] += 1);
    let case = case("histogram", &[("cuda/histogram", None)], 4 * n, 0);
    Ok(session.time_both(
        &case,
        &mut counts,
        |counts, checks| {
            counts.enqueue_fill(0)?;
            let launch = checks.apply(indirect::histogram(counts, &data));
            Ok(ctx.enqueue_function(launch, grid_dim(n.div_ceil(THREADS * COUNTED)), block_dim(THREADS))?)
        },
        |counts| Ok(check::all_equal(&counts.to_host()?, |i| expected[i])),
        peers,
    ))
}

fn sparse_rows(session: &Session, n: usize, peers: &[Record]) -> Result<Vec<Record>> {
    /// Entries of a row: 0 to this, half of it on average.
    const MOST: usize = 32;
    let (ctx, len) = (&session.ctx, table_len(n));
    let rows = (n / (MOST / 2)).max(1);
    let mut starts = vec![0u32; rows + 1];
    for row in 0..rows {
        starts[row + 1] = starts[row] + check::below(MOST + 1, 4, row) as u32;
    }
    let entries = starts[rows] as usize;
    let device_starts = ctx.tensor_from_fn(row_major([rows + 1]), |[i]| starts[i])?;
    let columns = ctx.tensor_from_fn(row_major([entries]), |[i]| check::below(len, 5, i) as u32)?;
    // Whole numbers, so that the sums are exact in whatever order.
    let values = ctx.tensor_from_fn(row_major([entries]), |[i]| check::whole(6, i))?;
    let x = ctx.tensor_from_fn(row_major([len]), |[i]| check::whole(7, i))?;
    let mut output = ctx.zeros::<f32, 1>(row_major([rows]))?;
    let case = case(
        "sparse rows",
        &[("cuda/sparse rows", None)],
        (8 * entries) + (8 * rows) + (4 * len),
        2 * entries,
    );
    Ok(session.time_both(
        &case,
        &mut output,
        |output, checks| {
            let launch = checks.apply(indirect::sparse_rows(output, &device_starts, &columns, &values, &x));
            Ok(ctx.enqueue_function(launch, grid_dim(rows.div_ceil(THREADS)), block_dim(THREADS))?)
        },
        |output| {
            let expected = |row: usize| {
                let entries = starts[row] as usize..starts[row + 1] as usize;
                entries.map(|k| check::whole(6, k) * check::whole(7, check::below(len, 5, k))).sum()
            };
            Ok(check::all_equal(&output.to_host()?, expected))
        },
        peers,
    ))
}
