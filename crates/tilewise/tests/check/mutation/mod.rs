//! Mutants: what the checker says of right kernels with one thing changed.
//!
//! Each of [`kernels`] is right, and the checker says nothing of it. Each of its [`mutants`] has a barrier, guard, fence or
//! atomic less, a weaker ordering, or an index that is one too large. A mutant is
//!
//! - found by the *checker*, which reports an error or a warning;
//! - found by its *result*, if the checker is silent, [`oracle`] proves that all pairs of accesses that conflict are ordered,
//!   so that every order of the threads gives the same results, and these are not those of the [`reference`](mod@reference): a
//!   right program for something else, since nobody but its author knows which index was meant. A test that asserts a clean
//!   launch and compares what it computes finds it;
//! - *equal*, if the same is proved and the results are those of the reference;
//! - *missed*, if the checker is silent and the oracle has a pair that nothing orders. There must be none.
//!
//! And where the checker reports a race, the oracle has to have a pair.

mod kernels;
mod mutants;
mod oracle;
mod reference;

use std::fmt;
use std::num::NonZeroUsize;

use tilewise::ir::{Const, Kernel, Scalar, pass};
use tilewise::report::{Kind, Report, Severity};
use tilewise_interp::{Arg, Buffer, LaunchConfig, Observer, Options, Program};

use crate::harness::what;

/// A right kernel with its launch.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) kernel: Kernel,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) args: Vec<Data>,
    /// What the launch makes of the numbers in the tensors.
    pub(crate) reference: reference::Reference,
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

    /// The numbers in the tensors after a launch, by the reference.
    fn expected(&self) -> Vec<Vec<u64>> {
        let numbers = |data: &Data| match data {
            Data::Tensor(_, _, numbers) => Some(numbers.clone()),
            Data::Scalar(_) => None,
        };
        let mut tensors: Vec<_> = self.args.iter().filter_map(numbers).collect();
        (self.reference)(&mut tensors);
        tensors
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

/// How many mutants became what.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    checker: u32,
    result: u32,
    equal: u32,
    missed: u32,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        let Tally { checker, result, equal, missed } = other;
        self.checker += checker;
        self.result += result;
        self.equal += equal;
        self.missed += missed;
    }

    /// A row of the table.
    fn print(self, name: &str) {
        let Tally { checker, result, equal, missed } = self;
        let all = checker + result + equal + missed;
        println!("{name:<20} {all:>7} {checker:>7} {result:>7} {equal:>7} {missed:>7}");
    }
}

/// What became of a mutant.
enum Outcome {
    /// The checker says what is wrong; whether that is a race or a read of what nobody wrote, which the oracle has to confirm.
    Checker(&'static str, bool),
    Result,
    Equal,
    Missed,
}

impl Outcome {
    fn of(report: &Report, unordered: bool, is_right: bool) -> Outcome {
        let serious = || report.findings.iter().filter(|finding| finding.severity != Severity::Advice);
        match serious().next() {
            Some(first) => {
                let of_order = |kind: &Kind| matches!(kind, Kind::Race { .. } | Kind::UninitialisedRead);
                Outcome::Checker(what(first), serious().any(|finding| of_order(&finding.kind)))
            }
            None if unordered || !report.is_clean() => Outcome::Missed,
            None if is_right => Outcome::Equal,
            None => Outcome::Result,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Checker(what, _) => write!(f, "found by the checker: {what}"),
            Outcome::Result => f.write_str("found by its result"),
            Outcome::Equal => f.write_str("equal"),
            Outcome::Missed => f.write_str("missed"),
        }
    }
}

#[test]
fn every_mutant_is_found_or_equal() {
    let cases = kernels::all();
    assert_eq!(cases.len(), 30);
    let (mut wrong, mut tallies) = (Vec::new(), Vec::new());
    for case in &cases {
        let expected = case.expected();
        let (report, results) = case.check(&case.kernel);
        assert!(report.is_clean(), "{}: {report}", case.name);
        assert_eq!(results, expected, "{}", case.name);
        assert!(!case.is_unordered(&case.kernel), "{}", case.name);
        let mut tally = Tally::default();
        for (change, mutant) in mutants::of(&case.kernel) {
            let (report, results) = case.check(&mutant);
            let unordered = case.is_unordered(&mutant);
            let outcome = Outcome::of(&report, unordered, results == expected);
            println!("{:<20} {change:<36} {outcome}", case.name);
            match outcome {
                Outcome::Checker(_, of_order) => {
                    tally.checker += 1;
                    if of_order && !unordered {
                        wrong.push(format!("{}, {change}: a false alarm\n{report}", case.name));
                    }
                }
                Outcome::Result => tally.result += 1,
                Outcome::Equal => tally.equal += 1,
                Outcome::Missed => {
                    tally.missed += 1;
                    wrong.push(format!("{}, {change}: missed", case.name));
                }
            }
        }
        tallies.push((case.name, tally));
    }
    println!("\n{:<20} {:>7} {:>15} {:>7} {:>7}", "", "", "found by", "", "");
    println!(
        "{:<20} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "kernel", "mutants", "checker", "result", "equal", "missed"
    );
    let mut all = Tally::default();
    for (name, tally) in tallies {
        tally.print(name);
        all.add(tally);
    }
    all.print("all");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
