//! `--emit`: the code that the kernels of a program become.
//!
//! The program runs on the CPU with an inspector in its context, so whatever it launches is seen. It prints things of its
//! own, which are not to stand among the code: so it runs in a process of its own, which writes the code into a folder
//! (`--out`), and what it prints is dropped.

use std::env;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use tilewise::DeviceContext;
use tilewise::inspect::{Code, Target};

use crate::cli::{Emit, Start};

/// Why there is no code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked for there is not.
    Usage(String),
    /// A kernel cannot become this, or files cannot be written.
    Failed(String),
}

/// Shows the code of all that a program launches, the same code once.
pub(crate) fn emit(start: &Start, asked: &Emit) -> Result<(), Failure> {
    let target = asked.target.parse::<Target>().map_err(|names| {
        Failure::Usage(format!("there is no language `{}` to emit; there is {names}", asked.target))
    })?;
    match &asked.folder {
        Some(folder) => write(start, target, folder),
        None => print(start, target),
    }
}

/// Writes the code into a folder: `dot_product.wgsl`, and `dot_product-2.wgsl` if the kernel becomes something else at
/// another launch.
fn write(start: &Start, target: Target, folder: &Path) -> Result<(), Failure> {
    let seen: Arc<Mutex<Vec<Code>>> = Arc::default();
    let sink = {
        let seen = Arc::clone(&seen);
        move |code: Code| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !seen.contains(&code) {
                seen.push(code);
            }
        }
    };
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
    let ctx = DeviceContext::open("cpu").map_err(|error| failed(&error))?.with_inspector(target, sink);
    // Whether the result is right plays no part; a kernel that goes wrong has been seen before.
    let outcome = (start.program)(&ctx);
    let codes = seen.lock().unwrap_or_else(PoisonError::into_inner);
    match outcome {
        Err(error) if !matches!(error, tilewise::Error::Fault(_)) => return Err(failed(&error)),
        _ if codes.is_empty() => return Err(Failure::Failed(format!("{} launches no kernel", start.name))),
        _ => {}
    }
    fs::create_dir_all(folder).map_err(|error| failed(&format_args!("{}: {error}", folder.display())))?;
    for (n, code) in codes.iter().enumerate() {
        let path = folder.join(file_name(&codes[..n], code));
        fs::write(&path, code.bytes())
            .map_err(|error| failed(&format_args!("{}: {error}", path.display())))?;
    }
    Ok(())
}

/// The name of a file, which tells the code of a kernel from what stands `before`.
fn file_name(before: &[Code], code: &Code) -> String {
    let extension = code.target().extension();
    match before.iter().filter(|other| other.kernel() == code.kernel()).count() {
        0 => format!("{}.{extension}", code.kernel()),
        n => format!("{}-{}.{extension}", code.kernel(), n + 1),
    }
}

/// Prints the code.
fn print(start: &Start, target: Target) -> Result<(), Failure> {
    let is_binary = target == Target::Spirv;
    if is_binary && io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "SPIR-V is binary: send it to a file with `> kernel.spv`, or use `--out FOLDER`; `spirv-dis` shows it"
                .to_owned(),
        ));
    }
    let folder = Folder::new().map_err(|error| Failure::Failed(format!("a temporary folder: {error}")))?;
    let files = run_apart(&folder.0)?;
    if is_binary && files.len() > 1 {
        return Err(Failure::Usage(format!(
            "{} launches {} kernels, and modules of SPIR-V cannot stand in one file: use `--out FOLDER`",
            start.name,
            files.len()
        )));
    }
    let mut out = io::stdout().lock();
    let result = files.iter().try_for_each(|path| out.write_all(&fs::read(path)?)).and_then(|()| out.flush());
    match result {
        // Whoever reads has seen enough: `| head`.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Failed(error.to_string())),
        _ => Ok(()),
    }
}

/// Runs this command once more, with `--out`; gives the files that it has written, by name.
fn run_apart(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("the command cannot run itself: {error}"));
    let command = env::current_exe().map_err(failed)?;
    let output = Command::new(command)
        .args(env::args_os().skip(1))
        .arg("--out")
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim_end();
        return Err(Failure::Failed(said.strip_prefix("error: ").unwrap_or(said).to_owned()));
    }
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>().map_err(failed)?;
    files.sort();
    Ok(files)
}

/// A folder that is there as long as the value is.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Folder> {
        let path = env::temp_dir().join(format!("tilewise-emit-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left there, the system clears away.
        let _ = fs::remove_dir_all(&self.0);
    }
}
