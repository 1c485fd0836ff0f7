//! The step `ptxas`: every kernel that the conformance tests run is translated to PTX and assembled by NVIDIA's `ptxas`,
//! for each generation of cards; the registers and spills of each are written to `target/ptxas/registers.tsv`. The kernels
//! of the benchmark may spill nothing, and take little more registers than the same kernels in CUDA C++
//! (`bench/src/twins.rs`).
//!
//! `ptxas` comes from the Python package nvidia-cuda-nvcc, which is installed into `target/ptxas/tools` unless there is one
//! already: the variable `TILEWISE_PTXAS` or the search path may name it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, kernels, run as command};

/// The package that holds `ptxas`, pinned, so that a new one changes nothing unseen.
pub(crate) const PACKAGE: &str = "nvidia-cuda-nvcc==13.0.88";

/// Runs the step.
pub(crate) fn run() -> Result<(), String> {
    let folder = folder();
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let ptxas = find()?;
    let kernels = kernels::written()?;
    let (ptxas, table) = (ptxas.to_string_lossy(), folder.join("registers.tsv"));
    let table = table.to_string_lossy();
    cargo(
        &["run", "--quiet", "-p", "tilewise-ptx", "--example", "assemble", "--", &ptxas, kernels, &table],
        &[],
    )?;

    let code = folder.join("benchmark");
    let _ = fs::remove_dir_all(&code);
    let twins = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("bench/peers/registers.tsv");
    let (code, twins) = (code.to_string_lossy(), twins.to_string_lossy());
    let small = ["-e", "cpu", "--quick", "--repeats", "1", "--no-peers", "--dot-blocks", "8"];
    let suites = ["dot", "add", "matmul", "indirect"];
    let run = ["run", "--quiet", "-p", "tilewise-bench", "--"];
    let files = ["--ptx", &code, "--ptxas", &ptxas, "--registers", &twins];
    cargo(&[&run[..], &suites, &small, &files].concat(), &[])
}

/// Where this step has its files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target").join("ptxas")
}

/// An assembler: of the environment, or installed.
pub(crate) fn find() -> Result<PathBuf, String> {
    let tools = &folder().join("tools");
    if let Some(named) = env::var_os("TILEWISE_PTXAS") {
        return Ok(named.into());
    }
    if Command::new("ptxas").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok("ptxas".into());
    }
    if let Some(installed) = below(tools, "ptxas") {
        return Ok(installed);
    }
    eprintln!("installing {PACKAGE} into {}", tools.display());
    install(tools, &[PACKAGE]).map_err(|error| {
        format!("{error}: ptxas is needed; install Python with pip, or set TILEWISE_PTXAS to its path")
    })?;
    below(tools, "ptxas").ok_or_else(|| format!("{PACKAGE} holds no ptxas"))
}

/// Installs Python packages, without what they depend on, into a folder.
pub(crate) fn install(folder: &Path, packages: &[&str]) -> Result<(), String> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    command(
        Command::new(python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"])
            .arg(folder)
            .args(packages),
    )
}

/// The file of a name below a folder.
pub(crate) fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == name);
    files.into_iter().find(is_it).or_else(|| folders.iter().find_map(|folder| below(folder, name)))
}
