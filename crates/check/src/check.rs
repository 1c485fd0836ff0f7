//! A checked launch, from its arguments to its report.

use std::num::NonZeroUsize;

use tilewise_interp::{Arg, BlockObserver, LaunchConfig, LaunchError, Observer, Options, Outcome, Program};

use crate::block::{BarrierBlock, LaunchState};
use crate::clocks::ClockObserver;
use crate::finding::{NotModelled, Report, Severity};
use crate::plan::Plan;

/// Rounds of loops after which a block is given up, if [`Options::max_rounds`] does not say it.
pub const DEFAULT_MAX_ROUNDS: u64 = 1 << 24;

/// Runs a kernel, watches it, and gives what it found beside the outcome of the launch.
///
/// The report is the same for every number of host threads. `options.observer` is not used.
///
/// # Errors
///
/// As [`Program::run`]: nothing has run then.
pub fn run(
    program: &Program,
    config: LaunchConfig,
    args: &[Arg<'_>],
    options: Options<'_>,
) -> Result<(Outcome, Report), LaunchError> {
    let plan = Plan::new(program, config, args);
    let max_rounds = Some(options.max_rounds.unwrap_or(DEFAULT_MAX_ROUNDS));
    let report = |findings| Report {
        kernel: plan.kernel.name.clone(),
        grid: config.grid,
        block: config.block,
        findings,
        not_modelled: not_modelled(&plan),
    };
    if plan.needs_clocks {
        let observer = ClockObserver::new(&plan);
        let watched = Options {
            threads: NonZeroUsize::new(1),
            limits: options.limits,
            output: options.output.map(|output| output as &mut (dyn FnMut(&str) + Send)),
            observer: Some(&observer),
            max_rounds,
        };
        let outcome = program.run(config, args, watched)?;
        return Ok((outcome, report(observer.into_record().into_findings(&plan))));
    }
    let state = LaunchState::new(&plan);
    let observer = BarrierObserver(&state);
    // Blocks that see what others wrote would see something else in each run, and so would the report.
    let threads = if plan.blocks_depend { NonZeroUsize::new(1) } else { options.threads };
    let watched = Options {
        threads,
        limits: options.limits,
        output: options.output.map(|output| output as &mut (dyn FnMut(&str) + Send)),
        observer: Some(&observer),
        max_rounds,
    };
    let outcome = program.run(config, args, watched)?;
    let LaunchState { barriers, collected, .. } = state;
    let collected = collected.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut record = collected.record;
    collected.global.races(&plan, &mut record);
    let mut findings = record.into_findings(&plan);
    // After a mistake, what the kernel would do without a barrier is not known.
    if findings.iter().all(|finding| finding.severity != Severity::Error) {
        findings.extend(barriers.advice(&plan));
    }
    Ok((outcome, report(findings)))
}

/// What this checker cannot look at in a kernel.
fn not_modelled(plan: &Plan<'_>) -> Vec<NotModelled> {
    let mut list = Vec::new();
    if plan.too_many_sites {
        let what = "the kernel has more than 65536 memory accesses: those after them are not told apart";
        list.push(NotModelled { what: what.to_owned(), location: None });
    }
    list
}

/// Watches a launch whose threads are ordered by barriers alone.
struct BarrierObserver<'a>(&'a LaunchState<'a>);

impl Observer for BarrierObserver<'_> {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(BarrierBlock::new(self.0))
    }
}
