//! `cargo xtask ci`: everything that CI runs; `cargo xtask <step>` runs one step of it. `passes` and `twins` are no steps of
//! CI.

mod kernels;
mod passes;
mod ptxas;
mod twins;
mod vulkan;

use std::process::{Command, ExitCode};
use std::time::Instant;

/// A step of CI: a name, what it checks, and how.
struct Step {
    name: &'static str,
    about: &'static str,
    run: Run,
}

/// How a step is run.
enum Run {
    /// Cargo with these arguments and variables.
    Cargo { args: &'static [&'static str], env: &'static [(&'static str, &'static str)] },
    /// A function, which says what went wrong.
    Function(fn() -> Result<(), String>),
}

/// What is built: all of the workspace with all features. Cargo builds a package anew for each other set of features of what it
/// stands on, so that steps are runs of this one.
const ALL: [&str; 2] = ["--workspace", "--all-features"];

/// The steps in order; the test runner is last, so that its summary closes the output.
const STEPS: [Step; 6] = [
    Step {
        name: "fmt",
        about: "rustfmt has nothing to change",
        run: Run::Cargo { args: &["fmt", "--all", "--check"], env: &[] },
    },
    Step { name: "clippy", about: "clippy has no warnings", run: Run::Function(clippy) },
    Step {
        name: "doc",
        about: "the documentation builds without warnings",
        run: Run::Cargo {
            args: &["doc", "--workspace", "--all-features", "--no-deps", "--quiet"],
            env: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    },
    Step {
        name: "vulkan",
        about: "conformance on Mesa's software adapter for Vulkan; kernels as SPIR-V, WGSL, MSL, HLSL are valid",
        run: Run::Function(vulkan::run),
    },
    Step {
        name: "ptxas",
        about: "NVIDIA's assembler takes every kernel of the conformance tests",
        run: Run::Function(ptxas::run),
    },
    Step {
        name: "test",
        about: "unit tests, conformance, puzzles, doc tests, tidy",
        run: Run::Function(tests),
    },
];

/// What CI does not run.
const OTHERS: [Step; 2] = [
    Step {
        name: "passes",
        about: "what each pass of the optimiser gains on the CPU device, in PTX and in registers",
        run: Run::Function(passes::run),
    },
    Step {
        name: "twins",
        about: "bench/peers/registers.tsv: the registers of the benchmark's peers in CUDA C++",
        run: Run::Function(twins::run),
    },
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let steps: Vec<&Step> = match &wanted[..] {
        [one] if one == "ci" => STEPS.iter().collect(),
        [one] => STEPS.iter().chain(&OTHERS).filter(|s| s.name == *one).collect(),
        _ => Vec::new(),
    };
    if steps.is_empty() {
        let print = |step: &Step| eprintln!("  {:<8} {}", step.name, step.about);
        eprintln!("usage: cargo xtask ci | <step>, where the steps of ci are:");
        STEPS.iter().for_each(print);
        eprintln!("and others:");
        OTHERS.iter().for_each(print);
        return ExitCode::from(2);
    }
    for step in steps {
        eprintln!("==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = match step.run {
            Run::Cargo { args, env } => cargo(args, env),
            Run::Function(run) => run(),
        };
        match result {
            Ok(()) => eprintln!("==> {} passed in {:.0} s", step.name, start.elapsed().as_secs_f64()),
            Err(why) => {
                eprintln!("==> {}: {why}; run it alone with `cargo xtask {}`", step.name, step.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Clippy with all features, and of the runtime, where most of them are, with none and with one.
fn clippy() -> Result<(), String> {
    let one = |feature| ["-p", "tilewise-runtime", "--features", feature];
    for set in [&ALL[..], &one(""), &one("cuda"), &one("wgpu")] {
        cargo(&[&["clippy", "--all-targets", "--quiet"], set, &["--", "-D", "warnings"]].concat(), &[])?;
    }
    Ok(())
}

/// All tests, with all features; and where features matter most: those of the puzzles as learners build them, and those of
/// the runtime for the CPU alone. Those of the PTX backend get the assembler that the step before has found.
fn tests() -> Result<(), String> {
    let ptxas = ptxas::find()?;
    let env = [("TILEWISE_PTXAS", &*ptxas.to_string_lossy())];
    for set in [&["-p", "tilewise-course"][..], &["-p", "tilewise-runtime"], &ALL] {
        cargo(&[&["test"], set].concat(), &env)?;
    }
    Ok(())
}

/// Runs cargo.
fn cargo(args: &[&str], env: &[(&str, &str)]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Mesa's drivers complain in each test about its absence.
    let runtime_dir = std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_else(|| std::env::temp_dir().into());
    run(Command::new(cargo).args(args).env("XDG_RUNTIME_DIR", runtime_dir).envs(env.iter().copied()))
}

/// Runs a command, its output shown.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name} failed ({status})")),
        Err(error) => Err(format!("{name} does not start: {error}")),
    }
}
