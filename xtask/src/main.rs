//! `cargo xtask ci`: everything that CI runs; `cargo xtask <step>` runs one step of it.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// A step of CI: a name, what it checks, and the arguments of cargo.
struct Step {
    name: &'static str,
    about: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

/// The steps in order; the test runner is last, so that its summary closes the output.
const STEPS: [Step; 4] = [
    Step {
        name: "fmt",
        about: "rustfmt has nothing to change",
        args: &["fmt", "--all", "--check"],
        env: &[],
    },
    Step {
        name: "clippy",
        about: "clippy has no warnings",
        args: &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        env: &[],
    },
    Step {
        name: "doc",
        about: "the documentation builds without warnings",
        args: &["doc", "--workspace", "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    Step {
        name: "test",
        about: "unit tests, conformance, puzzles, doc tests, tidy",
        args: &["test", "--workspace"],
        env: &[],
    },
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let steps: Vec<&Step> = match &wanted[..] {
        [one] if one == "ci" => STEPS.iter().collect(),
        [one] => STEPS.iter().filter(|s| s.name == *one).collect(),
        _ => Vec::new(),
    };
    if steps.is_empty() {
        eprintln!("usage: cargo xtask ci | <step>, where the steps of ci are:");
        for step in &STEPS {
            eprintln!("  {:<8} {}", step.name, step.about);
        }
        return ExitCode::from(2);
    }
    for step in steps {
        eprintln!("==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let status = Command::new(cargo).args(step.args).envs(step.env.iter().copied()).status();
        match status {
            Ok(status) if status.success() => {
                eprintln!("==> {} passed in {:.0} s", step.name, start.elapsed().as_secs_f64());
            }
            Ok(_) => {
                eprintln!("==> {} failed; run it alone with `cargo xtask {}`", step.name, step.name);
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("==> {}: cargo does not start: {error}", step.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
