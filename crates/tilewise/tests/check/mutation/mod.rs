//! Mutants: what the checker says of right kernels with one thing changed.
//!
//! Each of [`kernels`] is right, and the checker says nothing of it. Each of its [`mutants`] has a barrier, guard, fence or
//! atomic less, a weaker ordering, or an index that is one too large. A mutant is
//!
//! - *found*, if the checker reports an error or a warning;
//! - *equal*, if the checker is silent, [`oracle`] proves that all pairs of accesses that conflict are ordered, so that every
//!   order of the threads gives the same results, and these are those of the kernel;
//! - *other*, if that is proved and the results are others: a mistake in every order, which a test of the results finds,
//!   since nobody but its author knows which index was meant;
//! - *missed*, if the checker is silent and the oracle has a pair that nothing orders. There must be none.
//!
//! And where the checker reports a race, the oracle has to have a pair.

mod kernels;
mod mutants;
mod oracle;

use std::num::NonZeroUsize;

use tilewise::ir::{Const, Kernel, Scalar, pass};
use tilewise::report::{Kind, Report, Severity};
use tilewise_interp::{Arg, Buffer, LaunchConfig, Observer, Options, Program};

/// A right kernel with its launch.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) kernel: Kernel,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) args: Vec<Data>,
}

/// An argument.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// A tensor whose elements lie one after the other, and the numbers in it.
    Tensor(Scalar, Vec<u64>, Vec<u64>),
    Scalar(Const),
}

impl Case {
    /// Calls `f` with a program and arguments of its own, and gives what it gives and the numbers in the tensors then.
    fn with<R>(
        &self,
        kernel: &Kernel,
        f: impl FnOnce(&Program, LaunchConfig, &[Arg<'_>]) -> R,
    ) -> (R, Vec<Vec<u64>>) {
        let mut kernel = kernel.clone();
        pass::prepare_checked(&mut kernel);
        let program = Program::compile(&kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        let buffers: Vec<_> = self.args.iter().map(Data::buffer).collect();
        let strides: Vec<_> = self.args.iter().map(Data::strides).collect();
        let args: Vec<Arg<'_>> = self
            .args
            .iter()
            .zip(&buffers)
            .zip(&strides)
            .map(|((data, buffer), strides)| match (data, buffer) {
                (Data::Tensor(_, extents, _), Some(buffer)) => {
                    Arg::Tensor { buffer, offset: 0, extents, strides }
                }
                (Data::Scalar(value), _) => Arg::Scalar(*value),
                (Data::Tensor(..), None) => unreachable!("a tensor has a buffer"),
            })
            .collect();
        let config = LaunchConfig { grid: self.grid, block: self.block };
        let result = f(&program, config, &args);
        let numbers = |buffer: &Buffer| (0..buffer.len()).filter_map(|i| buffer.get(i)).collect();
        (result, buffers.iter().flatten().map(numbers).collect())
    }

    /// A checked launch.
    fn check(&self, kernel: &Kernel) -> (Report, Vec<Vec<u64>>) {
        self.with(kernel, |program, config, args| {
            let options =
                Options { max_rounds: Some(2_000), threads: NonZeroUsize::new(1), ..Options::default() };
            let (_, report) = tilewise_check::run(program, config, args, options).expect("a launch");
            report
        })
    }

    /// Whether some pair of accesses is unordered, or something is read that nobody wrote.
    fn is_unordered(&self, kernel: &Kernel) -> bool {
        let trace = oracle::Trace::default();
        self.with(kernel, |program, config, args| {
            let observer = oracle::Watcher::new(program, &trace);
            let observer: &dyn Observer = &observer;
            let options = Options {
                threads: NonZeroUsize::new(1),
                max_rounds: Some(2_000),
                observer: Some(observer),
                ..Options::default()
            };
            program.run(config, args, options).expect("a launch");
        });
        trace.is_unordered()
    }
}

impl Data {
    fn buffer(&self) -> Option<Buffer> {
        let Data::Tensor(scalar, _, numbers) = self else { return None };
        let buffer = Buffer::new(*scalar, numbers.len()).expect("memory");
        numbers.iter().enumerate().for_each(|(i, &bits)| assert!(buffer.set(i, bits)));
        Some(buffer)
    }

    fn strides(&self) -> Vec<u64> {
        let Data::Tensor(_, extents, _) = self else { return Vec::new() };
        (0..extents.len()).map(|dim| extents[dim + 1..].iter().product()).collect()
    }
}

/// What became of mutants.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    found: u32,
    equal: u32,
    other: u32,
    missed: u32,
}

#[test]
fn every_mutant_is_found_or_equal() {
    let cases = kernels::all();
    assert_eq!(cases.len(), 30);
    let mut wrong = Vec::new();
    let mut all = Tally::default();
    println!(
        "{:<24} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "kernel", "mutants", "found", "equal", "other", "missed"
    );
    for case in &cases {
        let (report, right) = case.check(&case.kernel);
        assert!(report.is_clean(), "{}: {report}", case.name);
        assert!(!case.is_unordered(&case.kernel), "{}", case.name);
        let mut tally = Tally::default();
        let mutants = mutants::of(&case.kernel);
        let count = mutants.len();
        for (what, mutant) in mutants {
            let (report, results) = case.check(&mutant);
            let unordered = case.is_unordered(&mutant);
            if !report.is_clean() {
                tally.found += 1;
                let race = report.findings.iter().any(|finding| {
                    finding.severity != Severity::Advice
                        && matches!(finding.kind, Kind::Race { .. } | Kind::UninitialisedRead)
                });
                if race && !unordered {
                    wrong.push(format!("{}, {what}: a false alarm\n{report}", case.name));
                }
            } else if unordered {
                tally.missed += 1;
                wrong.push(format!("{}, {what}: missed", case.name));
            } else if results == right {
                tally.equal += 1;
            } else {
                tally.other += 1;
            }
        }
        let Tally { found, equal, other, missed } = tally;
        println!("{:<24} {count:>7} {found:>7} {equal:>7} {other:>7} {missed:>7}", case.name);
        all.found += found;
        all.equal += equal;
        all.other += other;
        all.missed += missed;
    }
    let Tally { found, equal, other, missed } = all;
    let count = found + equal + other + missed;
    println!("{:<24} {count:>7} {found:>7} {equal:>7} {other:>7} {missed:>7}", "all");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
