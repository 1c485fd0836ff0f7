//! Matrix products in `f32`: as one writes it first, the tutorial's tiles in shared memory, and tiles in registers.

use tilewise::prelude::*;

use crate::check;
use crate::checks::Checks;
use crate::error::Result;
use crate::kernels::matmul;
use crate::report::{Against, Record};
use crate::settings::Benchmark;
use crate::suites::{Case, PROVED, Session, against_unchecked};

type Matrix = DeviceTensor<f32, 2>;
type Enqueue<'a> = &'a dyn Fn(&mut Matrix, Checks) -> Result<()>;

pub(super) fn run(session: &mut Session) -> Result<()> {
    let n = session.settings.matrix();
    let peers = session.run_peers(Benchmark::Matmul);
    let ctx = &session.ctx;
    let seeds = [1, 2];
    let [a, b] =
        seeds.map(|seed| ctx.tensor_from_fn(row_major([n, n]), |[i, j]| check::real(seed, i * n + j)));
    let (a, b): (Matrix, Matrix) = (a?, b?);
    let mut c = ctx.zeros::<f32, 2>(row_major([n, n]))?;

    let naive = |c: &mut Matrix, checks: Checks| -> Result<()> {
        const TILE: usize = matmul::TILE;
        let launch = checks.apply(matmul::naive(c, &a, &b));
        let blocks = n.div_ceil(TILE);
        Ok(ctx.enqueue_function(launch, grid_dim((blocks, blocks)), block_dim((TILE, TILE)))?)
    };
    let tiled = |c: &mut Matrix, checks: Checks| -> Result<()> {
        const TILE: usize = matmul::TILE;
        let launch = checks.apply(matmul::tiled::<TILE>(c, &a, &b));
        let blocks = n.div_ceil(TILE);
        Ok(ctx.enqueue_function(launch, grid_dim((blocks, blocks)), block_dim((TILE, TILE)))?)
    };
    let registers = |c: &mut Matrix, checks: Checks| -> Result<()> {
        let launch = checks.apply(matmul::registers(c, &a, &b));
        let blocks = n / matmul::BLOCK_TILE;
        Ok(ctx.enqueue_function(launch, grid_dim((blocks, blocks)), block_dim(matmul::THREADS))?)
    };
    const NAIVE: &[Against] = &[("cuda/naive", Some(1.0))];
    const TILED: &[Against] = &[("cuda/tiled", Some(1.0)), ("cublas/sgemm", None)];
    const REGISTERS: &[Against] = &[("cublas/sgemm", Some(0.8)), ("cuda/registers", None)];

    let cases: [(&str, Enqueue<'_>, &[Against]); 3] =
        [("naive", &naive, NAIVE), ("tiled", &tiled, TILED), ("registers", &registers, REGISTERS)];
    let mut records: Vec<Record> = Vec::new();
    for (name, enqueue, against) in cases {
        // Bytes say nothing here: they are read far more often than once.
        let (bytes, flops, aims_without_checks) = (0, 2 * n * n * n, name != "registers");
        let case = Case { benchmark: Benchmark::Matmul, name, bytes, flops, against, aims_without_checks };
        for checks in [Checks::On, Checks::Off] {
            // No kernel is to find the result of the one before it.
            c.enqueue_fill(f32::NAN)?;
            let run = |c: &mut Matrix| enqueue(c, checks);
            let verify = |c: &Matrix| Ok(check::product(&c.to_host()?, seeds, n));
            // What goes wrong with checks is not run without them.
            let Some(record) = session.time(&case, checks, &mut c, run, verify, &peers) else { break };
            records.push(record);
        }
    }
    against_unchecked(&mut records, PROVED);
    records.extend(peers);
    session.report.add(&format!("product of two matrices of {n} by {n} f32"), records);
    Ok(())
}
