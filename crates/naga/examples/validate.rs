//! Writes kernels as SPIR-V, WGSL, MSL and HLSL, has naga validate all and `spirv-val` the SPIR-V.
//!
//! `cargo run -p tilewise-naga --features write --example validate -- SPIRV_VAL FOLDER` reads the kernels of a folder,
//! files `*.ir` as `TILEWISE_DUMP` writes them. Each is translated twice for each target, with nothing known about its
//! launches and with everything; of one function at most [`INSTANCES`] kernels are. A kernel that a target cannot run is
//! counted, with the reason; anything else that goes wrong is an error.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{Kernel, Scalar, pass};
use tilewise_naga::{Capabilities, Module, Reason, compile, write};

/// The most kernels of one function. The tests make thousands of some, for each type and operand.
const INSTANCES: usize = 16;

/// A language that is written, and what its target can do.
const LANGUAGES: [(&str, Capabilities); 4] = [
    ("SPIR-V", Capabilities::VULKAN),
    ("WGSL", Capabilities::WEBGPU),
    ("MSL", Capabilities::METAL),
    ("HLSL", Capabilities::DX12),
];

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [spirv_val, folder] = &args[..] else {
        eprintln!("usage: validate SPIRV_VAL FOLDER");
        return ExitCode::from(2);
    };
    match validate_all(spirv_val, folder) {
        Ok(summary) => {
            print!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn validate_all(spirv_val: &Path, folder: &Path) -> Result<String, Box<dyn Error>> {
    let kernels = kernels(folder)?;
    if kernels.is_empty() {
        return Err(format!("{} holds no kernels", folder.display()).into());
    }
    let mut summary = String::new();
    for (language, capabilities) in LANGUAGES {
        let (mut written, mut files) = (0, Vec::new());
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for (name, kernel) in &kernels {
            let lowered;
            let kernel = if capabilities.native_functions {
                kernel
            } else {
                lowered = lower(kernel.clone());
                &lowered
            };
            for (known, facts) in [("nothing", Facts::unknown(kernel)), ("everything", everything(kernel))] {
                let facts = Facts { block: Some([32, 1, 1]), ..facts };
                match compile(kernel, &facts, &capabilities) {
                    Ok(module) => {
                        written += 1;
                        if let Some(words) = write_as(language, &module)? {
                            let path = folder.join(format!("{name}-{known}.spv"));
                            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                            fs::write(&path, bytes)?;
                            files.push(path);
                        }
                    }
                    Err(error) => *refused.entry(class(&error.reason)).or_default() += 1,
                }
            }
        }
        accept(spirv_val, &files)?;
        let total: usize = refused.values().sum();
        writeln!(
            summary,
            "{language}: {} kernels, twice each: {written} written and valid, {total} that the target cannot run",
            kernels.len()
        )?;
        for (reason, count) in refused {
            writeln!(summary, "    {count} for {reason}")?;
        }
    }
    Ok(summary)
}

/// Writes a module; gives the words of one that `spirv-val` is to see.
fn write_as(language: &str, module: &Module) -> Result<Option<Vec<u32>>, write::WriteError> {
    match language {
        "WGSL" => write::wgsl(module).map(|_| None),
        "MSL" => write::msl(module).map(|_| None),
        "HLSL" => write::hlsl(module).map(|_| None),
        _ => write::spirv(module).map(Some),
    }
}

/// What a target lacks, without the kernel's own numbers.
fn class(reason: &Reason) -> String {
    match reason {
        Reason::Lacks { feature, .. } => format!("want of {feature}"),
        Reason::Limit { what, .. } => format!("too many {what}"),
        Reason::WideIndex => "index arithmetic of 64 bits".to_owned(),
        Reason::DivergentBarrier => "barriers that not all threads come to".to_owned(),
        Reason::DivergentWarpOperation => "operations of warps that not all threads come to".to_owned(),
        Reason::UnknownBlock => reason.to_string(),
    }
}

fn lower(mut kernel: Kernel) -> Kernel {
    if pass::lower::math::run(&mut kernel) {
        pass::optimize(&mut kernel);
    }
    kernel
}

/// The kernels of a folder with their files' names.
fn kernels(folder: &Path) -> Result<Vec<(String, Kernel)>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    paths.sort();
    let mut functions: BTreeMap<String, Vec<(String, Kernel)>> = BTreeMap::new();
    for path in paths {
        let kernel: Kernel =
            fs::read_to_string(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        functions.entry(kernel.name.clone()).or_default().push((name, kernel));
    }
    // Those of a function are in the order of their hashes, so that every n-th is a sample of them.
    let sample = |kernels: Vec<_>| {
        let step = kernels.len().div_ceil(INSTANCES);
        kernels.into_iter().step_by(step)
    };
    Ok(functions.into_values().flat_map(sample).collect())
}

/// As if each index needed 32 bits, and all were in bounds and aligned: not true, but it has to be valid.
fn everything(kernel: &Kernel) -> Facts {
    let mut facts = Facts::unknown(kernel);
    facts.narrow = kernel.values.iter().map(|ty| ty.scalar == Scalar::Index).collect();
    facts.accesses.fill(AccessFacts { in_bounds: u8::MAX, align: 16 });
    facts.divisors.fill(true);
    facts.steps.fill(true);
    facts.fits = facts.narrow.clone();
    facts
}

/// Has `spirv-val` look at files, as many at a time as there are cores.
fn accept(spirv_val: &Path, files: &[PathBuf]) -> Result<(), String> {
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let output = Command::new(spirv_val)
                .args(["--target-env", "vulkan1.1"])
                .arg(path)
                .stdin(Stdio::null())
                .output();
            let why = match output {
                Ok(output) if output.status.success() => continue,
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(error) => format!("{} does not start: {error}", spirv_val.display()),
            };
            wrong
                .lock()
                .unwrap_or_else(|error| error.into_inner())
                .push(format!("{}: {why}", path.display()));
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let wrong = wrong.into_inner().unwrap_or_else(|error| error.into_inner());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
