//! What is emitted, as text: each `tests/cases/NAME.ir` has a kernel, and `NAME.ptx` is what it becomes.
//!
//! Comments at the start of a case say what is known: `; target: 80`, `; block: 256 1 1`, `; narrow` (each index
//! needs 32 bits), `; fits` (each is below 2^32), `; in bounds` (each access is), `; align: 16` (each access is aligned
//! so), `; divisors` (none is zero), and `; optimize` (the passes run before). With `TILEWISE_BLESS=1` the PTX is written anew.

use std::path::{Path, PathBuf};

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, Scalar, pass, text, verify};
use tilewise_ptx::{Target, compile};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = std::fs::read_dir(folder).expect("the folder of cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a case").path()).collect();
    paths.sort();
    paths
}

/// The kernel of a case, what is known of it, and the target.
fn input(path: &Path, content: &str) -> (Kernel, Facts, Target) {
    let mut kernel = text::parse(content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if let Err(errors) = verify::verify(&kernel) {
        panic!("{}\n{}", path.display(), verify::render(&kernel, &errors));
    }
    let directives: Vec<_> = content
        .lines()
        .map_while(|line| line.strip_prefix("; "))
        .map(|line| line.split_once(": ").unwrap_or((line, "")))
        .collect();
    if directives.iter().any(|&(name, _)| name == "optimize") {
        pass::prepare(&mut kernel);
        pass::optimize(&mut kernel);
    }
    let (mut facts, mut target) = (Facts::unknown(&kernel), Target::new(90));
    for (name, value) in directives {
        let numbers: Vec<u32> = value.split(' ').filter_map(|number| number.parse().ok()).collect();
        match (name, &numbers[..]) {
            ("target", &[capability]) => target = Target::new(capability),
            ("block", &[x, y, z]) => facts.block = Some([x, y, z]),
            ("narrow", _) => {
                facts.narrow = kernel.values.iter().map(|ty| ty.scalar == Scalar::Index).collect();
            }
            ("fits", _) => {
                facts.narrow = kernel.values.iter().map(|ty| ty.scalar == Scalar::Index).collect();
                facts.fits = facts.narrow.clone();
            }
            ("in bounds", _) => facts.accesses.iter_mut().for_each(|access| access.in_bounds = u8::MAX),
            ("align", &[align]) => facts.accesses.iter_mut().for_each(|access| access.align = align as u16),
            ("divisors", _) => facts.divisors.fill(true),
            _ => {}
        }
    }
    (kernel, facts, target)
}

#[test]
fn cases_become_what_they_should() {
    let bless = std::env::var_os("TILEWISE_BLESS").is_some_and(|value| value == "1");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in cases() {
        if path.extension().is_some_and(|extension| extension == "ptx") {
            assert!(path.with_extension("ir").is_file(), "{} belongs to no case", path.display());
            continue;
        }
        count += 1;
        let content = std::fs::read_to_string(&path).expect("a case");
        let (kernel, facts, target) = input(&path, &content);
        let module = compile(&kernel, &facts, target).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let at = path.with_extension("ptx");
        let expected = std::fs::read_to_string(&at).unwrap_or_default();
        if module.text == expected {
            continue;
        }
        if bless {
            std::fs::write(&at, &module.text).expect("a case can be written");
        } else {
            wrong.push(format!("{}: expected\n{expected}\nbut it becomes\n{}", path.display(), module.text));
        }
    }
    assert!(count > 0, "no cases");
    assert!(wrong.is_empty(), "{}\nTILEWISE_BLESS=1 accepts what is new", wrong.join("\n"));
}
