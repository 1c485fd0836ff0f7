//! A launch that is watched, from its arguments to what came of it.

use std::num::NonZeroUsize;
use std::sync::PoisonError;

use thiserror::Error;
use tilewise_interp::{
    AccessEvent, Arg, BlockObserver, GivenUp, LaunchConfig, LaunchError, Observer, Options, Outcome, Program,
    ThreadFault, Threads,
};
use tilewise_ir::{Ordering, Scope, Span};

use crate::barriers::Barriers;
use crate::block::{BarrierBlock, LaunchState};
use crate::clocks::ClockObserver;
use crate::finding::{Finding, NotModelled, Report, Severity};
use crate::plan::Plan;
use crate::profile::{Profile, Profiler, Subject};
use crate::record::Record;

/// Rounds of loops after which a block of a checked launch is given up, if [`Options::max_rounds`] does not say it.
pub const DEFAULT_MAX_ROUNDS: u64 = 1 << 24;

/// What is wanted of a launch besides its results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// What is wrong with it.
    pub report: bool,
    /// What a profiler would count, of the kernel that was prepared with this. The program is compiled from that kernel.
    pub profile: Option<&'a Subject>,
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Watched {
    /// What happened.
    pub outcome: Outcome,
    /// What is wrong with it, if that was wanted.
    pub report: Option<Report>,
    /// What was counted, if that was wanted.
    pub profile: Option<Profile>,
}

/// Why a launch was not watched. Nothing has run then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WatchError {
    /// It was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// What is to be profiled is not the kernel of the program: operations would be counted where there are none.
    #[error(
        "the program was compiled from kernel `{program}`, and what is to be profiled was prepared from {}: compile the \
         program from the kernel that `Subject::prepare` was given, as it is after that",
        if subject == program { "another kernel of that name".to_owned() } else { format!("kernel `{subject}`") }
    )]
    OtherKernel {
        /// Name of the program's kernel.
        program: String,
        /// Name of the kernel that was prepared.
        subject: String,
    },
}

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
    checked(program, &plan, args, options, None)
}

/// Runs a kernel as [`run`] does, and gives what is wanted of it: a report, a profile, both or none.
///
/// # Errors
///
/// Those of [`Program::run`], and [`WatchError::OtherKernel`] if the profile is wanted of another kernel than the
/// program's. Nothing has run then.
pub fn watch(
    program: &Program,
    config: LaunchConfig,
    args: &[Arg<'_>],
    options: Options<'_>,
    wanted: Wanted<'_>,
) -> Result<Watched, WatchError> {
    if let Some(subject) = wanted.profile.map(Subject::kernel)
        && subject != program.kernel()
    {
        let [program, subject] = [program.kernel(), subject].map(|kernel| kernel.name.clone());
        return Err(WatchError::OtherKernel { program, subject });
    }
    let plan = Plan::new(program, config, args);
    let profiler = wanted.profile.map(|subject| Profiler::new(&plan, subject));
    let (outcome, report) = match (wanted.report, &profiler) {
        (true, _) => checked(program, &plan, args, options, profiler.as_ref())
            .map(|(outcome, report)| (outcome, Some(report)))?,
        (false, profiler) => {
            let observer = profiler.as_ref().map(|profiler| profiler as &dyn Observer);
            (program.run(config, args, watched(options, observer))?, None)
        }
    };
    Ok(Watched { outcome, report, profile: profiler.map(Profiler::into_profile) })
}

/// A checked launch; a profiler is told the same.
fn checked(
    program: &Program,
    plan: &Plan<'_>,
    args: &[Arg<'_>],
    options: Options<'_>,
    profiler: Option<&Profiler<'_>>,
) -> Result<(Outcome, Report), LaunchError> {
    let config = plan.config;
    let threads = options.threads;
    let max_rounds = Some(options.max_rounds.unwrap_or(DEFAULT_MAX_ROUNDS));
    let report = |findings| Report {
        kernel: plan.kernel.name.clone(),
        grid: config.grid,
        block: config.block,
        findings,
        not_modelled: not_modelled(plan),
    };
    let run = |checker: &dyn Observer, threads: Option<NonZeroUsize>| {
        let both = profiler.map(|profiler| Both(checker, profiler));
        let observer = both.as_ref().map_or(checker, |both| both as &dyn Observer);
        program.run(config, args, Options { threads, max_rounds, ..watched(options, Some(observer)) })
    };
    if plan.needs_clocks {
        let observer = ClockObserver::new(plan);
        let outcome = run(&observer, NonZeroUsize::new(1))?;
        let (record, barriers) = observer.into_parts();
        return Ok((outcome, report(with_advice(record, &barriers, plan))));
    }
    let state = LaunchState::new(plan);
    // Blocks that see what others wrote would see something else in each run, and so would the report.
    let threads = if plan.blocks_depend { NonZeroUsize::new(1) } else { threads };
    let outcome = run(&BarrierObserver(&state), threads)?;
    let LaunchState { barriers, collected, .. } = state;
    let collected = collected.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut record = collected.record;
    collected.global.races(plan, &mut record);
    Ok((outcome, report(with_advice(record, &barriers, plan))))
}

/// The findings, and advice on barriers if there is no error: after one, what the kernel would do without a barrier is not
/// known.
fn with_advice(record: Record, barriers: &Barriers, plan: &Plan<'_>) -> Vec<Finding> {
    let mut findings = record.into_findings(plan);
    if findings.iter().all(|finding| finding.severity != Severity::Error) {
        findings.extend(barriers.advice(plan));
    }
    findings
}

/// The options with an observer, which may live shorter than they do.
fn watched<'b, 'a: 'b>(options: Options<'a>, observer: Option<&'b dyn Observer>) -> Options<'b> {
    Options {
        threads: options.threads,
        limits: options.limits,
        output: options.output.map(|output| output as &mut (dyn FnMut(&str) + Send)),
        observer,
        max_rounds: options.max_rounds,
        ended: options.ended,
    }
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

/// Two observers of one launch.
struct Both<'a>(&'a dyn Observer, &'a dyn Observer);

impl Observer for Both<'_> {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(BothOfBlock([self.0.watch(), self.1.watch()]))
    }
}

/// Two observers of a block.
struct BothOfBlock<'a>([Box<dyn BlockObserver + 'a>; 2]);

impl BlockObserver for BothOfBlock<'_> {
    fn watches(&self, site: u32) -> bool {
        self.0.iter().any(|each| each.watches(site))
    }

    fn start(&mut self, block: u64) {
        self.0.iter_mut().for_each(|each| each.start(block));
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        // One may be told of what only the other wants to know.
        self.0.iter_mut().filter(|each| each.watches(event.site)).for_each(|each| each.access(event));
    }

    fn barrier(&mut self, span: Span, threads: &Threads) {
        self.0.iter_mut().for_each(|each| each.barrier(span, threads));
    }

    fn warp_barrier(&mut self, span: Span, threads: &Threads) {
        self.0.iter_mut().for_each(|each| each.warp_barrier(span, threads));
    }

    fn fence(&mut self, scope: Scope, ordering: Ordering, threads: &Threads) {
        self.0.iter_mut().for_each(|each| each.fence(scope, ordering, threads));
    }

    fn fault(&mut self, fault: &ThreadFault) {
        self.0.iter_mut().for_each(|each| each.fault(fault));
    }

    fn give_up(&mut self, why: &GivenUp) {
        self.0.iter_mut().for_each(|each| each.give_up(why));
    }

    fn finish(&mut self) {
        self.0.iter_mut().for_each(|each| each.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewise_ir::Kernel;

    fn kernel(name: &str, op: &str) -> Kernel {
        let text = format!(
            "kernel @{name}(%x: f32) {{
               %a = scalar %x
               %b = {op} %a, %a
               return
             }}"
        );
        text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn profile(program: &Kernel, subject: &Subject) -> Result<Option<Profile>, WatchError> {
        let program = Program::compile(program).expect("valid");
        let config = LaunchConfig { grid: [2, 1, 1], block: [4, 1, 1] };
        let wanted = Wanted { report: false, profile: Some(subject) };
        let args = [Arg::Scalar(tilewise_ir::Const::f32(1.5))];
        watch(&program, config, &args, Options::default(), wanted).map(|watched| watched.profile)
    }

    #[test]
    fn only_the_prepared_kernel_is_profiled() {
        let mut double = kernel("double", "add");
        let as_staged = double.clone();
        let subject = Subject::prepare(&mut double);
        assert_eq!(profile(&double, &subject).map(|profile| profile.map(|p| p.operations)), Ok(Some(8)));

        let mut square = kernel("square", "mul");
        let other = Subject::prepare(&mut square);
        assert_eq!(
            profile(&double, &other).unwrap_err().to_string(),
            "the program was compiled from kernel `double`, and what is to be profiled was prepared from kernel `square`: \
             compile the program from the kernel that `Subject::prepare` was given, as it is after that"
        );
        // It lacks what the preparation puts in.
        let error = profile(&as_staged, &subject).unwrap_err();
        assert!(
            error.to_string().contains("was prepared from another kernel of that name: compile"),
            "{error}"
        );
    }

    #[test]
    fn a_refused_launch_is_an_error_of_the_launch() {
        let mut double = kernel("double", "add");
        let subject = Subject::prepare(&mut double);
        let program = Program::compile(&double).expect("valid");
        let config = LaunchConfig { grid: [1, 1, 1], block: [0, 1, 1] };
        let wanted = Wanted { report: true, profile: Some(&subject) };
        let refused = watch(&program, config, &[], Options::default(), wanted);
        assert!(matches!(refused, Err(WatchError::Launch(LaunchError::BlockAxis { axis: 'x', .. }))));
    }
}
