//! The command, run as a learner runs it, and what it gives.

use std::process::{Command, Output};

/// What a run of the command gave.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Every puzzle with each of its variants.
pub(crate) const PROGRAMS: [&[&str]; 9] = [
    &["p12"],
    &["p16", "--naive"],
    &["p16", "--single-block"],
    &["p16", "--tiled"],
    &["p23", "--elementwise"],
    &["p23", "--tiled"],
    &["p23", "--manual-vectorized"],
    &["p23", "--vectorized"],
    &["p23", "--benchmark"],
];

/// The command, away from the environment of whoever runs the tests.
pub(crate) fn puzzle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_puzzle"));
    // Mesa's drivers complain about its absence.
    command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    // Where there is no GPU, the command says so unless the CPU is asked for.
    command.env("TILEWISE_DEVICE", "cpu").env_remove("TILEWISE_OPT").env_remove("TILEWISE_ADAPTER");
    command.env_remove("TILEWISE_CHECK").env_remove("TILEWISE_PROFILE");
    command
}

pub(crate) fn run(args: &[&str]) -> Run {
    finish(puzzle().args(args).output().unwrap())
}

pub(crate) fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
pub(crate) fn check(args: &[&str], code: i32, stdout: &str, stderr: &str) {
    let expected = Run { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
    assert_eq!(run(args), expected, "puzzle {args:?}");
}

/// The one line, and exit code 2, that a mistake in the arguments gets.
#[track_caller]
pub(crate) fn check_usage(args: &[&str], message: &str) {
    check(args, 2, "", &format!("error: {message}\n"));
}

/// `HostBuffer([...])` of numbers.
pub(crate) fn buffer(values: impl IntoIterator<Item = u32>) -> String {
    let values: Vec<_> = values.into_iter().map(|x| format!("{x}.0")).collect();
    format!("HostBuffer([{}])", values.join(", "))
}
