//! Kernels as text and the WGSL that they become: `tests/cases/*.ir` and the `.wgsl` beside each.
//!
//! The first lines of a case are comments that say what it shows, and what is known:
//!
//! - `; block: 64 1 1`: threads of a block;
//! - `; indices: narrow`: all indices have 32 bits;
//! - `; align: 4`: bytes that divide the address of each access.
//!
//! With `TILEWISE_BLESS=1` the WGSL is written anew.

use std::fs;
use std::path::{Path, PathBuf};

use naga::back::wgsl;
use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, text, verify};
use tilewise_naga::{Capabilities, compile};

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
fn cases_become_the_wgsl_beside_them() {
    let bless = std::env::var_os("TILEWISE_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for path in files("ir") {
        let content = fs::read_to_string(&path).expect("a case");
        let kernel = text::parse(&content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if let Err(errors) = verify::verify(&kernel) {
            panic!("{}\n{}", path.display(), verify::render(&kernel, &errors));
        }
        let facts = facts(&path, &content, &kernel);
        let module = compile(&kernel, &facts, &Capabilities::WEBGPU)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let info = module.validate().unwrap_or_else(|error| panic!("{}", error.emit_to_string("")));
        let actual = wgsl::write_string(&module.shader, &info, wgsl::WriterFlags::empty()).expect("WGSL");
        let beside = path.with_extension("wgsl");
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if actual == expected {
            continue;
        }
        if bless {
            fs::write(&beside, actual).expect("a case can be written");
        } else {
            wrong.push(format!("{}: expected\n{expected}\nbut it becomes\n{actual}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nTILEWISE_BLESS=1 accepts what is new", wrong.join("\n"));
}

#[test]
fn each_wgsl_has_a_case() {
    for path in files("wgsl") {
        assert!(path.with_extension("ir").is_file(), "{} belongs to no case", path.display());
    }
}
