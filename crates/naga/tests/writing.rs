//! Every kernel that the tests of the IR have, and random ones, become shaders that naga's validator accepts and that are
//! written as SPIR-V, MSL, HLSL and WGSL; where `spirv-val` is, it accepts the SPIR-V.

#[path = "../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use naga::back::{hlsl, msl, spv, wgsl};
use support::generate::{self, Mix};
use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, pass, text, verify};
use tilewise_naga::spirv::exact;
use tilewise_naga::{Capabilities, Module, Reason, Unsupported, compile};

/// What the writer of MSL can express.
const METAL: Capabilities =
    Capabilities { f64: false, int64_atomics: false, memory_barriers: false, ..Capabilities::ALL };

fn facts(kernel: &Kernel) -> Facts {
    Facts { block: Some([32, 4, 2]), ..Facts::unknown(kernel) }
}

fn module(kernel: &Kernel, capabilities: &Capabilities) -> Result<Module, Unsupported> {
    compile(kernel, &facts(kernel), capabilities)
}

fn spirv(module: &Module) -> Vec<u32> {
    let info = module.validate().unwrap_or_else(|error| panic!("{}", error.emit_to_string("")));
    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    spv::write_vec(&module.shader, &info, &options, None).expect("SPIR-V")
}

/// Writes all languages whose writers can express what is used.
fn write_all(what: &str, kernel: &Kernel) {
    let all = match module(kernel, &Capabilities::ALL) {
        Ok(all) => all,
        Err(error) => {
            assert!(may_be_refused(&error), "{what}: {error}\n{kernel}");
            return;
        }
    };
    let info =
        all.validate().unwrap_or_else(|error| panic!("{what}: {}\n{kernel}", error.emit_to_string("")));
    let words = spirv(&all);
    spirv_val(what, &words, kernel);
    spirv_val(what, &exact(&words), kernel);
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_6,
        fake_missing_bindings: true,
        ..hlsl::Options::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: None };
    let mut out = String::new();
    hlsl::Writer::new(&mut out, &options, &pipeline)
        .write(&all.shader, &info, None)
        .unwrap_or_else(|error| panic!("{what}: HLSL: {error}\n{kernel}"));
    for capabilities in [METAL, Capabilities::WEBGPU] {
        let module = match module(kernel, &capabilities) {
            Ok(module) => module,
            Err(error) => {
                assert!(may_be_refused(&error), "{what}: {error}\n{kernel}");
                continue;
            }
        };
        let info = module.validate().expect("it is validated by `compile` as well");
        let options =
            msl::Options { lang_version: (3, 1), fake_missing_bindings: true, ..msl::Options::default() };
        msl::write_string(&module.shader, &info, &options, &msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{what}: MSL: {error}\n{kernel}"));
        wgsl::write_string(&module.shader, &info, wgsl::WriterFlags::empty())
            .unwrap_or_else(|error| panic!("{what}: WGSL: {error}\n{kernel}"));
    }
}

fn may_be_refused(error: &Unsupported) -> bool {
    match error.reason {
        Reason::Lacks { .. } | Reason::WideIndex | Reason::DivergentBarrier | Reason::Limit { .. } => true,
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
