//! Kernels as text and what they become: `tests/cases/*.ir`, and beside each its WGSL (`.wgsl`) for any device of WebGPU
//! and its MSL (`.metal`) for a GPU of Apple.
//!
//! The first lines of a case are comments that say what it shows, and what is known:
//!
//! - `; block: 64 1 1`: threads of a block;
//! - `; indices: narrow`: all indices have 32 bits;
//! - `; align: 4`: bytes that divide the address of each access.
//!
//! With `TILEWISE_BLESS=1` they are written anew.

use std::fs;
use std::path::{Path, PathBuf};

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, text, verify};
use tilewise_naga::write::{self, WriteError};
use tilewise_naga::{Capabilities, Module, compile};

/// What kernels become: the extension of its files, who can run it, and who writes it.
type Writer = (&'static str, Capabilities, fn(&Module) -> Result<String, WriteError>);

const WRITERS: [Writer; 2] =
    [("wgsl", Capabilities::WEBGPU, write::wgsl), ("metal", Capabilities::METAL, write::msl)];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn files(extension: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder())
        .expect("the cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths
}

fn facts(path: &Path, content: &str, kernel: &Kernel) -> Facts {
    let mut facts = Facts::unknown(kernel);
    for line in content.lines().map_while(|line| line.strip_prefix("; ")) {
        let Some((key, value)) = line.split_once(": ").filter(|(key, _)| !key.contains(' ')) else {
            continue;
        };
        match (key, value) {
            ("block", shape) => {
                let sizes: Vec<u32> = shape.split(' ').map(|n| n.parse().expect("a number")).collect();
                facts.block = Some(sizes.try_into().expect("three numbers"));
            }
            ("indices", "narrow") => facts.narrow.fill(true),
            ("align", bytes) => {
                facts.accesses.iter_mut().for_each(|access| access.align = bytes.parse().expect("a number"));
            }
            _ => panic!("{}: `{line}` says nothing", path.display()),
        }
    }
    facts
}

#[test]
fn cases_become_what_is_beside_them() {
    let bless = std::env::var_os("TILEWISE_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for path in files("ir") {
        let content = fs::read_to_string(&path).expect("a case");
        let kernel = text::parse(&content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Err(errors) = verify::verify(&kernel) {
            panic!("{}\n{}", path.display(), verify::render(&kernel, &errors));
        }
        let facts = facts(&path, &content, &kernel);
        for (extension, capabilities, write) in &WRITERS {
            let module = compile(&kernel, &facts, capabilities)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let actual = write(&module).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let beside = path.with_extension(extension);
            let expected = fs::read_to_string(&beside).unwrap_or_default();
            if actual == expected {
                continue;
            }
            if bless {
                fs::write(&beside, actual).expect("a case can be written");
            } else {
                wrong.push(format!("{}: expected\n{expected}\nbut it becomes\n{actual}", beside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\nTILEWISE_BLESS=1 accepts what is new", wrong.join("\n"));
}

#[test]
fn what_is_written_has_a_case() {
    for (extension, ..) in WRITERS {
        for path in files(extension) {
            assert!(path.with_extension("ir").is_file(), "{} belongs to no case", path.display());
        }
    }
}
