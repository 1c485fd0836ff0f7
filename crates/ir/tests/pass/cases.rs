//! Kernels as text, before and after a pass: `tests/cases/pass/NAME/*.ir`, where NAME is that of a pass, `prepare` or
//! `optimize`.
//!
//! A file has comments that say what it shows, a kernel, the line `; becomes`, and what the pass makes of the kernel.
//! With `TILEWISE_BLESS=1` the last part is written anew.

use std::fs;
use std::path::{Path, PathBuf};
use tilewise_ir::pass;
use tilewise_ir::{Kernel, text, verify};

const BECOMES: &str = "; becomes\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/pass")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// What the cases in the folder of this name do with a kernel; gives whether it has changed.
fn transformation(name: &str) -> Option<fn(&mut Kernel) -> bool> {
    let prepare = |kernel: &mut Kernel| {
        pass::prepare(kernel);
        true
    };
    let optimize = |kernel: &mut Kernel| {
        pass::prepare(kernel);
        pass::optimize(kernel);
        true
    };
    match name {
        "prepare" => Some(prepare),
        "optimize" => Some(optimize),
        // Blocks of 64 threads.
        "coalesce" => Some(|kernel| pass::coalesce::run(kernel, 64)),
        "partial_unroll" => Some(pass::partial_unroll::run),
        _ => pass::PREPARE.iter().chain(pass::OPTIMIZE).find(|pass| pass.name == name).map(|pass| pass.run),
    }
}

#[test]
fn cases_become_what_they_should() {
    let bless = std::env::var_os("TILEWISE_BLESS").is_some_and(|value| value == "1");
    let mut wrong = Vec::new();
    for folder in entries(&folder()) {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let transformation = transformation(&name).unwrap_or_else(|| panic!("no pass has the name `{name}`"));
        for path in entries(&folder) {
            assert!(path.extension().is_some_and(|e| e == "ir"), "{} is no case", path.display());
            let content = fs::read_to_string(&path).expect("a case");
            let (input, expected) = content.split_once(BECOMES).unwrap_or((&content, ""));
            let mut kernel = text::parse(input).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if let Err(errors) = verify::verify(&kernel) {
                panic!("{}\n{}", path.display(), verify::render(&kernel, &errors));
            }
            let before = kernel.clone();
            let changed = transformation(&mut kernel);
            assert!(changed || before.body == kernel.body, "`{name}` says that it has changed nothing");
            if let Err(errors) = verify::verify(&kernel) {
                panic!("after {}\n{}", path.display(), verify::render(&kernel, &errors));
            }
            let actual = kernel.to_string();
            if actual.trim() == expected.trim() {
                continue;
            }
            if bless {
                let input = input.trim_end();
                fs::write(&path, format!("{input}\n\n{BECOMES}{actual}")).expect("a case can be written");
            } else {
                wrong.push(format!("{}: expected\n{expected}\nbut it becomes\n{actual}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\nTILEWISE_BLESS=1 accepts what is new", wrong.join("\n"));
}

#[test]
fn each_pass_has_a_case() {
    for pass in pass::PREPARE.iter().chain(pass::OPTIMIZE) {
        assert!(folder().join(pass.name).is_dir(), "no cases for `{}`", pass.name);
    }
}
