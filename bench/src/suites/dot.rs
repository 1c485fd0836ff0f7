//! Dot products: the tutorial's tree, and the fastest that the language can say.

use tilewise::prelude::*;

use crate::check;
use crate::checks::Checks;
use crate::error::Result;
use crate::kernels::dot;
use crate::report::{Against, Record};
use crate::settings::Benchmark;
use crate::suites::{Case, PROVED, Session, against_unchecked};

type Vector = DeviceTensor<f32, 1>;
type Enqueue<'a> = &'a dyn Fn(&mut Vector, Checks) -> Result<()>;

pub(super) fn run(session: &mut Session) -> Result<()> {
    let n = session.settings.size();
    let peers = session.run_peers(Benchmark::Dot);
    let ctx = &session.ctx;
    let seeds = [1, 2];
    let [a, b] = seeds.map(|seed| ctx.tensor_from_fn(row_major([n]), |[i]| check::whole(seed, i)));
    let (a, b): (Vector, Vector) = (a?, b?);
    let mut output = ctx.zeros::<f32, 1>(row_major([1]))?;
    let expected = check::whole_dot(seeds, n);

    // Setting the sum to zero is part of the work.
    let tree = |output: &mut Vector, checks: Checks| -> Result<()> {
        output.enqueue_fill(0.0)?;
        let launch = checks.apply(dot::tree(output, &a, &b));
        Ok(ctx.enqueue_function(launch, grid_dim(n.div_ceil(dot::THREADS)), block_dim(dot::THREADS))?)
    };
    let blocks = session.settings.dot_blocks;
    let vectors = |output: &mut Vector, checks: Checks| -> Result<()> {
        output.enqueue_fill(0.0)?;
        let launch = checks.apply(dot::vectors(output, &a, &b));
        Ok(ctx.enqueue_function(launch, grid_dim(blocks), block_dim(dot::THREADS))?)
    };
    const TREE: &[Against] = &[("cuda/tree", Some(1.0)), ("cub/sum", None)];
    const VECTORS: &[Against] = &[
        ("cub/sum", Some(0.98)),
        ("cub/sum of vectors", None),
        ("cuda/vectors", None),
        ("cublas/sdot", None),
    ];

    let cases: [(&str, Enqueue<'_>, &[Against]); 2] = [("tree", &tree, TREE), ("vectors", &vectors, VECTORS)];
    let mut records: Vec<Record> = Vec::new();
    for (name, enqueue, against) in cases {
        let benchmark = Benchmark::Dot;
        let (bytes, flops, aims_without_checks) = (2 * n * size_of::<f32>(), 2 * n, name == "tree");
        let case = Case { benchmark, name, bytes, flops, against, aims_without_checks };
        for checks in [Checks::On, Checks::Off] {
            let run = |output: &mut Vector| enqueue(output, checks);
            let verify = |output: &Vector| Ok(check::equal(output.get([0])?, expected));
            // What goes wrong with checks is not run without them.
            let Some(record) = session.time(&case, checks, &mut output, run, verify, &peers) else { break };
            records.push(record);
        }
    }
    against_unchecked(&mut records, PROVED);
    records.extend(peers);
    session.report.add(&format!("dot product of {n} f32"), records);
    Ok(())
}
