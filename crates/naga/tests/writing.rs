//! Every kernel that the tests of the IR have, and random ones, become shaders that naga's validator accepts and that are
//! written as SPIR-V, MSL, HLSL and WGSL; where `spirv-val` is, it accepts the SPIR-V.

#[path = "../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::generate::{self, Mix};
use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, pass, text, verify};
use tilewise_naga::write::{self, WriteError};
use tilewise_naga::{Capabilities, Module, Reason, Unsupported, compile};

/// Languages of text, who can run them, and who writes them.
type Language = (&'static str, Capabilities, fn(&Module) -> Result<String, WriteError>);

const LANGUAGES: [Language; 4] = [
    ("HLSL", Capabilities::DX12, write::hlsl),
    ("MSL", Capabilities::METAL, write::msl),
    ("MSL", Capabilities::WEBGPU, write::msl),
    ("WGSL", Capabilities::WEBGPU, write::wgsl),
];

/// Writes all languages. `may_be_refused` kernels are passed over.
fn write_all(what: &str, kernel: &Kernel) {
    let module = |capabilities: &Capabilities| {
        let facts = Facts { block: Some([32, 4, 2]), ..Facts::unknown(kernel) };
        match compile(kernel, &facts, capabilities) {
            Ok(module) => Some(module),
            Err(error) => {
                assert!(may_be_refused(&error), "{what}: {error}\n{kernel}");
                None
            }
        }
    };
    for capabilities in [Capabilities::ALL, Capabilities::VULKAN] {
        let Some(module) = module(&capabilities) else { continue };
        let words = write::spirv(&module).unwrap_or_else(|error| panic!("{what}: {error}\n{kernel}"));
        spirv_val(what, &words, kernel);
    }
    for (name, capabilities, write) in LANGUAGES {
        let Some(module) = module(&capabilities) else { continue };
        let code = write(&module).unwrap_or_else(|error| panic!("{what}: {name}: {error}\n{kernel}"));
        assert!(!code.is_empty(), "{what}: {name}\n{kernel}");
    }
}

fn may_be_refused(error: &Unsupported) -> bool {
    match error.reason {
        Reason::Lacks { .. }
        | Reason::WideIndex
        | Reason::DivergentBarrier
        | Reason::DivergentWarpOperation
        | Reason::Limit { .. } => true,
        Reason::UnknownBlock => false,
    }
}

/// Where `spirv-val` is.
fn has_spirv_val() -> bool {
    let probe =
        Command::new("spirv-val").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

fn spirv_val(what: &str, words: &[u32], kernel: &Kernel) {
    if !has_spirv_val() {
        eprintln!("skipped: spirv-val is not there");
        return;
    }
    let name = format!("tilewise-naga-{}-{}.spv", std::process::id(), what.replace('/', "_"));
    let path = std::env::temp_dir().join(name);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&path, bytes).expect("a temporary file");
    let output =
        Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&path).output().expect("it runs");
    if output.status.success() {
        fs::remove_file(&path).expect("the temporary file");
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {}: {stderr}\n{kernel}", path.display());
}

fn cases(folder: &Path, to: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the cases of the IR") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            cases(&path, to);
        } else if path.extension().is_some_and(|extension| extension == "ir") {
            to.push(path);
        }
    }
}

#[test]
fn cases_of_the_ir_are_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ir/tests/cases");
    let mut paths = Vec::new();
    cases(&root, &mut paths);
    paths.sort();
    let mut written = 0;
    for path in paths {
        let content = fs::read_to_string(&path).expect("a case");
        let input = content.split_once("; becomes\n").map_or(&*content, |(input, _)| input);
        let Ok(kernel) = text::parse(input) else { continue };
        if verify::verify(&kernel).is_err() {
            continue;
        }
        let name = path.strip_prefix(&root).expect("a case").display().to_string();
        write_all(&name, &kernel);
        let mut kernel = kernel;
        pass::prepare(&mut kernel);
        pass::optimize(&mut kernel);
        write_all(&name, &kernel);
        written += 1;
    }
    assert!(written > 20, "only {written} cases");
}

#[test]
fn random_kernels_are_written() {
    let kernels = std::env::var("TILEWISE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    for seed in 0..kernels {
        for (n, mix) in [Mix::ALL, Mix::ALONE, Mix::EXPRESSIONS, Mix::ACCESSES].into_iter().enumerate() {
            let (mut kernel, _) = generate::kernel(seed, mix);
            write_all(&format!("random {n} {seed}"), &kernel);
            pass::prepare(&mut kernel);
            pass::optimize(&mut kernel);
            write_all(&format!("random {n} {seed} optimised"), &kernel);
        }
    }
}
