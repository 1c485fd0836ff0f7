//! Everything that is emitted assembles: the cases of the IR and random kernels, for several targets, with `ptxas` of
//! the CUDA toolkit. It is looked for at `TILEWISE_PTXAS` and on the path; without it, only compiling is tested.

#[path = "../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::generate::{self, Mix};
use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{BinaryOp, Kernel, Op, Scalar, UnaryOp, pass, text, verify};
use tilewise_ptx::{Module, Target, compile, modules_text};

/// How many random kernels are tried: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 5;

const CAPABILITIES: [u32; 4] = [75, 80, 90, 120];

fn ptxas() -> Option<PathBuf> {
    let named = std::env::var_os("TILEWISE_PTXAS").map(PathBuf::from);
    let runs =
        |path: &PathBuf| Command::new(path).arg("--version").output().is_ok_and(|o| o.status.success());
    named.into_iter().chain([PathBuf::from("ptxas")]).find(runs)
}

/// Puts other operations of the same types in place of the functions that are lowered before.
fn without_functions(kernel: &mut Kernel) {
    kernel.body.visit_mut(&mut |inst| match &mut inst.op {
        Op::Unary(op) => {
            if let UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh = op
            {
                *op = UnaryOp::Sqrt;
            }
        }
        Op::Binary(op) => {
            if let BinaryOp::Pow | BinaryOp::Atan2 = op {
                *op = BinaryOp::Rem;
            }
        }
        _ => {}
    });
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of cases") {
        let path = entry.expect("a case").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ir") {
            found.push(path);
        }
    }
}

/// The kernels in the cases of the IR and of this crate that are well formed.
fn cases() -> Vec<Kernel> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    files(&here.join("../ir/tests/cases"), &mut found);
    files(&here.join("tests/cases"), &mut found);
    found.sort();
    let mut kernels = Vec::new();
    for path in found {
        let content = std::fs::read_to_string(&path).expect("a case");
        for part in content.split("; becomes\n") {
            kernels.extend(text::parse_all(part).unwrap_or_default());
        }
    }
    kernels.retain(|kernel| verify::verify(kernel).is_ok());
    assert!(kernels.len() > 80, "only {} cases", kernels.len());
    kernels
}

fn random_kernels() -> Vec<Kernel> {
    let count = std::env::var("TILEWISE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(KERNELS);
    let mut kernels = Vec::new();
    for seed in 0..count {
        for mix in [Mix::ALL, Mix::EXPRESSIONS, Mix::ACCESSES] {
            let (kernel, _) = generate::kernel(seed, mix);
            let mut optimized = kernel.clone();
            pass::prepare(&mut optimized);
            pass::optimize(&mut optimized);
            kernels.extend([kernel, optimized]);
        }
    }
    kernels
}

/// As if each index needed 32 bits, all were in bounds and aligned: not true, but it has to assemble all the same.
fn everything_known(kernel: &Kernel) -> Facts {
    let mut facts = Facts::unknown(kernel);
    facts.block = Some([32, 4, 1]);
    facts.narrow = kernel.values.iter().map(|ty| ty.scalar == Scalar::Index).collect();
    facts.accesses.fill(AccessFacts { in_bounds: u8::MAX, align: 16 });
    facts.divisors.fill(true);
    facts.steps.fill(true);
    facts.fits = facts.narrow.clone();
    facts
}

/// Compiles kernels for a capability, with nothing known and with everything. What is too large for it is left out.
fn modules(kernels: &[Kernel], capability: u32) -> Vec<Module> {
    let target = Target::new(capability);
    let compiled = kernels.iter().flat_map(|kernel| {
        [Facts::unknown(kernel), everything_known(kernel)].map(|facts| compile(kernel, &facts, target))
    });
    let mut refused = 0;
    let modules: Vec<_> = compiled
        .filter_map(|module| match module {
            Ok(module) => Some(module),
            Err(error) => {
                assert!(error.what.contains("bytes of"), "{error}");
                refused += 1;
                None
            }
        })
        .collect();
    assert!(refused * 10 < kernels.len(), "{refused} of {} kernels are refused", kernels.len());
    modules
}

fn assemble(ptxas: &Path, name: &str, capability: u32, modules: &[Module]) {
    let folder = std::env::temp_dir().join(format!("tilewise-ptx-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    for (part, modules) in modules.chunks(200).enumerate() {
        let (text, names) = modules_text(&modules.iter().collect::<Vec<_>>());
        assert_eq!(names.len(), modules.len());
        let all = Module { text, ..modules[0].clone() };
        let silent = all.text_without_reports();
        for (kind, text) in [("all", Some(all.text)), ("silent", silent)] {
            let Some(text) = text else { continue };
            let path = folder.join(format!("{name}-{capability}-{part}-{kind}.ptx"));
            std::fs::write(&path, text).expect("a temporary file can be written");
            let output = Command::new(ptxas)
                .args(["-O1", &format!("-arch=sm_{capability}"), "-o", "/dev/null"])
                .arg(&path)
                .output()
                .expect("ptxas runs");
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {complaints}", path.display());
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn check(name: &str, mut kernels: Vec<Kernel>) {
    kernels.iter_mut().for_each(without_functions);
    let ptxas = ptxas();
    for capability in CAPABILITIES {
        let modules = modules(&kernels, capability);
        match &ptxas {
            Some(ptxas) => assemble(ptxas, name, capability, &modules),
            None => println!("skipped for sm_{capability}: no ptxas at TILEWISE_PTXAS or on the path"),
        }
    }
}

#[test]
fn cases_of_the_ir_assemble() {
    check("cases", cases());
}

#[test]
fn random_kernels_assemble() {
    check("random", random_kernels());
}
