//! Kernels as text in a folder, for people and tools: what `TILEWISE_DUMP` asks for.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHasher;
use tilewise_ir::Kernel;

use crate::error::{Error, Result};

/// Where compiled kernels are written.
#[derive(Debug)]
pub(crate) struct Dump {
    folder: PathBuf,
    /// Whether writing has failed, and somebody was told.
    failed: AtomicBool,
}

impl Dump {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Dump {
        Dump { folder: folder.into(), failed: AtomicBool::new(false) }
    }

    /// Writes a kernel as the device gets it. An error is returned once; from then on nothing is written.
    pub(crate) fn write(&self, kernel: &Kernel) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let text = kernel.with_spans().to_string();
        let path = self.folder.join(file_name(&kernel.name, &text));
        let outcome = fs::create_dir_all(&self.folder)
            .map_err(|error| failure(&self.folder, &error))
            .and_then(|()| fs::write(&path, text).map_err(|error| failure(&path, &error)));
        match outcome {
            Err(error) if !self.failed.swap(true, Ordering::Relaxed) => Err(error),
            _ => Ok(()),
        }
    }
}

/// `scale-00c0ffee00c0ffee.ir`: the kernel's name, without what a file name cannot have, and a hash of its text.
fn file_name(kernel: &str, text: &str) -> String {
    let name: String =
        kernel.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).take(100).collect();
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    format!("{name}-{:016x}.ir", hasher.finish())
}

fn failure(path: &Path, error: &io::Error) -> Error {
    Error::Dump { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str) -> Kernel {
        format!("kernel @{name}() {{ return }}").parse().unwrap()
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("tilewise-dump-{name}-{}", std::process::id()))
    }

    #[test]
    fn a_kernel_is_a_file_that_parses() {
        let folder = folder("parses");
        let dump = Dump::new(folder.join("inner"));
        dump.write(&kernel("a")).unwrap();
        dump.write(&kernel("b")).unwrap();
        dump.write(&kernel("b")).unwrap();
        let mut files: Vec<_> =
            fs::read_dir(folder.join("inner")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert_eq!(files.len(), 2, "{files:?}");
        assert!(files[0].file_name().unwrap().to_string_lossy().starts_with("a-"), "{files:?}");
        let read: Kernel = fs::read_to_string(&files[1]).unwrap().parse().unwrap();
        assert_eq!(read.name, "b");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failure_is_reported_once() {
        let file = folder("failure");
        fs::write(&file, "a file, not a folder").unwrap();
        let dump = Dump::new(&file);
        let error = dump.write(&kernel("a")).unwrap_err();
        assert!(error.to_string().starts_with("TILEWISE_DUMP: "), "{error}");
        dump.write(&kernel("a")).unwrap();
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn names_are_names_of_files() {
        assert!(file_name("elementwise<f32>/2", "").starts_with("elementwise_f32__2-"));
    }
}
