//! The invariants of ARCHITECTURE.md that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// All Rust files of the workspace, but for those that a test feeds to a macro or compiler on purpose.
fn rust_files() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> =
            fs::read_dir(dir).expect("a readable folder").flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") && name != "ui" {
                    walk(&path, out);
                }
            } else if name.ends_with(".rs") {
                out.push(path);
            }
        }
    }
    let mut files = Vec::new();
    for folder in ["crates", "bench", "course", "xtask"] {
        walk(&root().join(folder), &mut files);
    }
    files
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn every_file_says_what_it_is() {
    let silent: Vec<_> = rust_files()
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).expect("readable");
            let first = text.lines().find(|l| !l.trim().is_empty() && !l.starts_with("#!"));
            !first.is_some_and(|l| l.starts_with("//!"))
        })
        .map(|path| relative(&path))
        .collect();
    assert!(silent.is_empty(), "these files do not open with `//!`: {silent:#?}");
}

#[test]
fn unsafe_code_is_where_the_architecture_says() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let stray: Vec<_> = rust_files()
        .into_iter()
        .filter(|path| {
            let text = fs::read_to_string(path).expect("readable");
            text.lines().any(|line| {
                let code = line.split("//").next().unwrap_or_default();
                code.contains("unsafe {") || code.contains("unsafe impl")
            })
        })
        .map(|path| relative(&path))
        .filter(|path| !path.starts_with("xtask/") && !path.starts_with("crates/macros/"))
        .filter(|path| !path.contains("/tests/") && !architecture.contains(&format!("`{path}`")))
        .collect();
    assert!(stray.is_empty(), "unsafe code outside the files that ARCHITECTURE.md names: {stray:#?}");
}

#[test]
fn the_architecture_names_only_what_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for (i, part) in text.split('`').enumerate() {
        let is_path = i % 2 == 1
            && part.contains('/')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
            && !part.starts_with('/');
        if is_path && !root().join(part.trim_end_matches('/')).exists() {
            missing.push(part.to_owned());
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names paths that are not there: {missing:#?}");
}

/// The crates in the order in which data flows; a crate depends only on crates before it.
const ORDER: [&str; 12] = [
    "layout", "ir", "macros", "interp", "check", "ptx", "naga", "stage", "runtime", "tilewise", "bench",
    "course",
];

#[test]
fn dependencies_run_one_way() {
    for (position, name) in ORDER.iter().enumerate() {
        let folder = match *name {
            "bench" | "course" => root().join(name),
            _ => root().join("crates").join(name),
        };
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for (other, dependency) in ORDER.iter().enumerate() {
            let package = if *dependency == "tilewise" {
                "tilewise.".to_owned()
            } else {
                format!("tilewise-{dependency}")
            };
            let depends = dependencies.lines().any(|l| l.starts_with(&package));
            assert!(!depends || other < position, "`{name}` depends on `{dependency}`, which comes after it");
        }
    }
    // The interpreter and the backends see the IR alone, the checker also the interpreter.
    for backend in ["interp", "ptx", "naga", "check"] {
        let manifest =
            fs::read_to_string(root().join("crates").join(backend).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for line in dependencies.lines().filter(|line| line.starts_with("tilewise-")) {
            let allowed = line.starts_with("tilewise-ir.")
                || (backend == "check" && line.starts_with("tilewise-interp."));
            assert!(allowed, "`{backend}` depends on more than the IR: {line}");
        }
    }
}
