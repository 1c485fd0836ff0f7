//! Element by element sums: one element a thread, one SIMD value a thread, and the patterns of puzzle 23.

use tilewise::prelude::*;

use crate::check;
use crate::checks::Checks;
use crate::error::Result;
use crate::kernels::add;
use crate::report::{Against, Record};
use crate::settings::Benchmark;
use crate::suites::{Case, PROVED, Session, against_unchecked};

type Vector = DeviceTensor<f32, 1>;
type Enqueue<'a> = &'a dyn Fn(&mut Vector, Checks) -> Result<()>;

pub(super) fn run(session: &mut Session) -> Result<()> {
    let n = session.settings.size();
    let peers = session.run_peers(Benchmark::Add);
    let ctx = &session.ctx;
    let [a, b] = [1, 2].map(|seed| ctx.tensor_from_fn(row_major([n]), |[i]| check::real(seed, i)));
    let (a, b): (Vector, Vector) = (a?, b?);
    let mut output = ctx.zeros::<f32, 1>(row_major([n]))?;

    let scalar = |output: &mut Vector, checks: Checks| -> Result<()> {
        let launch = checks.apply(add::scalar(output, &a, &b));
        Ok(ctx.enqueue_function(launch, grid_dim(n.div_ceil(add::THREADS)), block_dim(add::THREADS))?)
    };
    let vectors = |output: &mut Vector, checks: Checks| -> Result<()> {
        let launch = checks.apply(add::vectors(output, &a, &b));
        let blocks = (n / add::WIDTH).div_ceil(add::THREADS);
        Ok(ctx.enqueue_function(launch, grid_dim(blocks), block_dim(add::THREADS))?)
    };
    let elementwise =
        |output: &mut Vector, _: Checks| -> Result<()> { Ok(add::elementwise_pattern(ctx, output, &a, &b)?) };
    let tiled =
        |output: &mut Vector, _: Checks| -> Result<()> { Ok(add::tiled_pattern(ctx, output, &a, &b)?) };
    let manual = |output: &mut Vector, _: Checks| -> Result<()> {
        Ok(add::manual_vectorized_pattern(ctx, output, &a, &b)?)
    };
    let vectorized =
        |output: &mut Vector, _: Checks| -> Result<()> { Ok(add::vectorized_pattern(ctx, output, &a, &b)?) };

    // `elementwise` has no launch without checks.
    const BOTH: &[Checks] = &[Checks::On, Checks::Off];
    const ON: &[Checks] = &[Checks::On];
    const FLOAT4: Against = ("cuda/vectors", Some(0.98));
    let cases: [(&str, Enqueue<'_>, &[Checks], &[Against]); 6] = [
        ("scalar", &scalar, BOTH, &[("cuda/scalar", None), ("cuda/vectors", None)]),
        ("vectors", &vectors, BOTH, &[FLOAT4]),
        ("elementwise", &elementwise, ON, &[FLOAT4]),
        ("tiled", &tiled, ON, &[("cuda/tiled", None)]),
        ("manual_vectorized", &manual, ON, &[("cuda/manual_vectorized", None)]),
        ("vectorized", &vectorized, ON, &[("cuda/vectorized", None)]),
    ];
    let mut records: Vec<Record> = Vec::new();
    for (name, enqueue, variants, against) in cases {
        let benchmark = Benchmark::Add;
        let bytes = 3 * n * size_of::<f32>();
        let case = Case { benchmark, name, bytes, flops: n, against, aims_without_checks: false };
        for &checks in variants {
            // No kernel is to find the result of the one before it.
            output.enqueue_fill(f32::NAN)?;
            let run = |output: &mut Vector| enqueue(output, checks);
            let expected = |i| check::real(1, i) + check::real(2, i);
            let verify = |output: &Vector| Ok(check::all_equal(&output.to_host()?, expected));
            // What goes wrong with checks is not run without them.
            let Some(record) = session.time(&case, checks, &mut output, run, verify, &peers) else { break };
            records.push(record);
        }
    }
    against_unchecked(&mut records, PROVED);
    records.extend(peers);
    session.report.add(&format!("sum of two vectors of {n} f32"), records);
    Ok(())
}
