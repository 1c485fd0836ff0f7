//! The code that the benchmarks' kernels become: PTX, counted, and what NVIDIA's assembler says about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use tilewise::DeviceContext;
use tilewise::inspect::{Code, Target};

use crate::checks::Checks;
use crate::error::{Error, Result};

/// The folder in a [`CodeFolder`] with the code of launches without checks.
pub(crate) const UNCHECKED: &str = "unchecked";

/// Writes the PTX of each kernel to a folder, as `BENCHMARK-NAME.ptx`; that of the launch without checks to the folder
/// [`UNCHECKED`] in it, if it is another.
#[derive(Debug)]
pub(crate) struct CodeFolder {
    folder: PathBuf,
    /// What was launched since somebody last asked.
    launched: Arc<Mutex<Vec<Code>>>,
}

impl CodeFolder {
    /// The context whose launches are translated, too, and what writes their code to `folder`.
    pub(crate) fn new(folder: PathBuf, ctx: DeviceContext) -> Result<(CodeFolder, DeviceContext)> {
        fs::create_dir_all(&folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
        let launched: Arc<Mutex<Vec<Code>>> = Arc::default();
        let sink = Arc::clone(&launched);
        let ctx = ctx.with_inspector(Target::Ptx, move |code| {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(code);
        });
        Ok((CodeFolder { folder, launched }, ctx))
    }

    /// Writes the code of the first launch since this was last called; of a launch without checks after the one with
    /// them.
    pub(crate) fn write(&self, benchmark: &str, name: &str, checks: Checks) -> Result<()> {
        let launched = std::mem::take(&mut *self.launched.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(text) = launched.first().and_then(Code::text) else { return Ok(()) };
        let file = format!("{benchmark}-{name}.ptx");
        let checked = self.folder.join(&file);
        let path = match checks {
            Checks::On => checked,
            Checks::Off if fs::read_to_string(&checked).is_ok_and(|checked| checked == text) => return Ok(()),
            Checks::Off => {
                let folder = self.folder.join(UNCHECKED);
                fs::create_dir_all(&folder)
                    .map_err(|source| Error::Write { path: folder.clone(), source })?;
                folder.join(&file)
            }
        };
        fs::write(&path, text).map_err(|source| Error::Write { path, source })
    }
}

/// What a kernel of a [`CodeFolder`] takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// `BENCHMARK-NAME`.
    pub(crate) name: String,
    /// Instructions of its PTX.
    pub(crate) instructions: u32,
    /// Registers of a thread; 0 if no assembler was asked.
    pub(crate) registers: u32,
    /// Bytes that a thread spills.
    pub(crate) spilled: u32,
}

/// What the kernels of a folder take, by name; registers and spills for a compute capability, if there is an assembler.
pub(crate) fn usages(folder: &Path, ptxas: Option<&Path>, capability: u32) -> Result<Vec<Usage>> {
    let unreadable = |source| Error::Read { path: folder.to_owned(), source };
    let mut usages = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let mut usage = match ptxas {
            Some(ptxas) => assembled(ptxas, &path, capability)?,
            None => Usage::default(),
        };
        usage.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        usage.instructions = instructions(&text);
        usages.push(usage);
    }
    usages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(usages)
}

/// Instructions in the text of a module: what ends with a semicolon, but for directives.
fn instructions(text: &str) -> u32 {
    let is_instruction = |line: &&str| {
        let line = line.trim();
        line.ends_with(';') && !line.starts_with('.')
    };
    text.lines().filter(is_instruction).count() as u32
}

/// What `ptxas -v` says about a file with one kernel.
fn assembled(ptxas: &Path, path: &Path, capability: u32) -> Result<Usage> {
    let failed = |what| Error::Program { program: ptxas.to_owned(), what };
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch=sm_{capability}"), "-o"])
        .arg(path.with_extension("cubin"))
        .arg(path)
        .output()
        .map_err(|error| failed(format!("could not be started: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(failed(format!("refuses {}: {}", path.display(), said.trim())));
    }
    match (number_before(&said, " registers"), number_before(&said, " bytes spill stores")) {
        (Some(registers), spilled) => {
            Ok(Usage { registers, spilled: spilled.unwrap_or(0), ..Usage::default() })
        }
        (None, _) => Err(failed(format!("says no registers of {}: {}", path.display(), said.trim()))),
    }
}

/// The first number that stands before some words.
fn number_before(text: &str, words: &str) -> Option<u32> {
    let number = |at: usize| text[..at].rsplit([' ', ',']).next()?.parse().ok();
    text.match_indices(words).find_map(|(at, _)| number(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_no_instructions() {
        let text = ".version 7.0\n.entry k() {\n  .reg .b32 %r<2>;\n  mov.u32 %r1, 1;\nL1:\n  @%p1 bra L1;\n  ret;\n}\n";
        assert_eq!(instructions(text), 3);
    }

    #[test]
    fn what_the_assembler_says() {
        let said = "ptxas info    : Function properties for registers\n    0 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                    ptxas info    : Used 20 registers, used 0 barriers\n";
        assert_eq!(number_before(said, " registers"), Some(20));
        assert_eq!(number_before(said, " bytes spill stores"), Some(12));
        assert_eq!(number_before(said, " bytes of nothing"), None);
    }
}
