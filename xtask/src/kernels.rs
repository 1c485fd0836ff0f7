//! The kernels of the conformance tests, as files for the steps that look at them.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::{ALL, cargo};

/// The folder, once they are there.
static FOLDER: OnceLock<String> = OnceLock::new();

/// Runs the conformance tests, which write their kernels into a folder, and gives the folder. The first step of a run that
/// needs them does so for all.
pub(crate) fn written() -> Result<&'static str, String> {
    if let Some(folder) = FOLDER.get() {
        return Ok(folder);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target").join("kernels");
    // Kernels of an earlier run are not those of this one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = folder.to_string_lossy().into_owned();
    let conformance = ["--test", "conformance"];
    cargo(&[&["test", "--quiet"][..], &ALL, &conformance].concat(), &[("TILEWISE_DUMP", &folder)])?;
    Ok(FOLDER.get_or_init(|| folder))
}
