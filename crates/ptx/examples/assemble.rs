//! Assembles kernels with NVIDIA's `ptxas`, and lists what it says about them.
//!
//! `cargo run -p tilewise-ptx --example assemble -- PTXAS FOLDER TABLE` reads the kernels of a folder, files `*.ir` as
//! `TILEWISE_DUMP` writes them. Each is translated twice, with nothing known about its launches and with everything, for
//! each of [`CAPABILITIES`], and assembled; of one function at most [`INSTANCES`] kernels are. `TABLE` gets a line for each: capability, kernel, what was known, registers,
//! bytes of spill stores and loads, separated by tabs.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{Kernel, Scalar, pass};
use tilewise_ptx::{Module, Target, compile, modules_text};

/// One of each generation: Turing, Ampere, Hopper, Blackwell.
const CAPABILITIES: [u32; 4] = [75, 80, 90, 120];

/// The most kernels of one function. The tests make thousands of some, for each type and operand.
const INSTANCES: usize = 16;

/// Kernels that are assembled at once: starting `ptxas` takes longer than a small kernel.
const AT_ONCE: usize = 100;

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [ptxas, folder, table] = &args[..] else {
        eprintln!("usage: assemble PTXAS FOLDER TABLE");
        return ExitCode::from(2);
    };
    match assemble_all(ptxas, folder, table) {
        Ok(summary) => {
            print!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A kernel for one target.
struct Work {
    name: String,
    known: &'static str,
    module: Module,
}

/// What `ptxas` says about an entry.
#[derive(Clone, Copy, Default)]
struct Usage {
    registers: u32,
    spill_stores: u32,
    spill_loads: u32,
}

fn assemble_all(ptxas: &Path, folder: &Path, table: &Path) -> Result<String, Box<dyn Error>> {
    let kernels = kernels(folder)?;
    if kernels.is_empty() {
        return Err(format!("{} holds no kernels", folder.display()).into());
    }
    let mut rows = "capability\tkernel\tknown\tregisters\tspill_stores\tspill_loads\n".to_owned();
    let mut summary = String::new();
    for capability in CAPABILITIES {
        let (works, refused) = works(&kernels, capability);
        let usages = assemble_parts(ptxas, capability, &works, folder)?;
        for (Work { name, known, .. }, usage) in works.iter().zip(&usages) {
            let Usage { registers, spill_stores, spill_loads } = usage;
            writeln!(rows, "{capability}\t{name}\t{known}\t{registers}\t{spill_stores}\t{spill_loads}")?;
        }
        let most = usages.iter().map(|usage| usage.registers).max().unwrap_or(0);
        let spilling = usages.iter().filter(|usage| usage.spill_stores > 0).count();
        writeln!(
            summary,
            "sm_{capability}: {} kernels, twice each, at most {most} registers, {spilling} with spills; {refused} refused",
            kernels.len(),
        )?;
    }
    fs::write(table, rows)?;
    Ok(summary)
}

/// The kernels of a folder with their files' names, ready for this backend.
fn kernels(folder: &Path) -> Result<Vec<(String, Kernel)>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    paths.sort();
    let mut functions: BTreeMap<String, Vec<(String, Kernel)>> = BTreeMap::new();
    for path in paths {
        let mut kernel: Kernel =
            fs::read_to_string(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
        pass::lower::math::run(&mut kernel);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        functions.entry(kernel.name.clone()).or_default().push((name, kernel));
    }
    // Those of a function are in the order of their hashes, so that every n-th is a sample of them.
    let sample = |kernels: Vec<_>| {
        let step = kernels.len().div_ceil(INSTANCES);
        kernels.into_iter().step_by(step)
    };
    Ok(functions.into_values().flat_map(sample).collect())
}

/// The kernels for a capability, with nothing known and with everything; and how many are too large for it.
fn works(kernels: &[(String, Kernel)], capability: u32) -> (Vec<Work>, usize) {
    let target = Target::new(capability);
    let mut refused = 0;
    let mut works = Vec::new();
    for (name, kernel) in kernels {
        let facts = [("nothing", Facts::unknown(kernel)), ("everything", everything(kernel))];
        for (known, facts) in facts {
            match compile(kernel, &facts, target) {
                Ok(module) => works.push(Work { name: name.clone(), known, module }),
                Err(error) => {
                    eprintln!("refused: {error}");
                    refused += 1;
                }
            }
        }
    }
    (works, refused)
}

/// As if each index needed 32 bits, and all were in bounds and aligned: not true, but it has to assemble.
fn everything(kernel: &Kernel) -> Facts {
    let mut facts = Facts::unknown(kernel);
    facts.narrow = kernel.values.iter().map(|ty| ty.scalar == Scalar::Index).collect();
    facts.accesses.fill(AccessFacts { in_bounds: u8::MAX, align: 16 });
    facts.divisors.fill(true);
    facts.steps.fill(true);
    facts.fits = facts.narrow.clone();
    facts
}

/// Assembles kernels, [`AT_ONCE`] by each `ptxas`, as many of these as there are cores; what each kernel uses, in order.
fn assemble_parts(
    ptxas: &Path,
    capability: u32,
    works: &[Work],
    folder: &Path,
) -> Result<Vec<Usage>, Box<dyn Error>> {
    let parts: Vec<&[Work]> = works.chunks(AT_ONCE).collect();
    let results: Vec<OnceLock<Result<Vec<Usage>, String>>> = parts.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(works) = parts.get(part) else { break };
            let path = folder.join(format!("sm_{capability}-{part}.ptx"));
            results[part]
                .get_or_init(|| assemble(ptxas, capability, works, &path).map_err(|error| error.to_string()));
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        });
    });
    let mut usages = Vec::with_capacity(works.len());
    for result in results {
        usages.extend(result.into_inner().unwrap_or_else(|| Err("a part was left out".to_owned()))?);
    }
    Ok(usages)
}

/// Assembles kernels at once; what each uses, in order.
fn assemble(
    ptxas: &Path,
    capability: u32,
    works: &[Work],
    path: &Path,
) -> Result<Vec<Usage>, Box<dyn Error>> {
    let modules: Vec<&Module> = works.iter().map(|work| &work.module).collect();
    let (text, entries) = modules_text(&modules);
    fs::write(path, text)?;
    let output = Command::new(ptxas)
        .args(["-v", &format!("-arch=sm_{capability}"), "-o"])
        .arg(path.with_extension("cubin"))
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", ptxas.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("ptxas refuses {}:\n{said}", path.display()).into());
    }
    entries
        .iter()
        .map(|entry| usage(&said, entry).ok_or_else(|| format!("ptxas says nothing about {entry}").into()))
        .collect()
}

/// What `ptxas -v` says about an entry: a line that names it, and numbers in the lines after it.
fn usage(said: &str, entry: &str) -> Option<Usage> {
    let head = format!("Compiling entry function '{entry}'");
    let mut lines = said.lines().skip_while(|line| !line.contains(&head)).skip(1);
    let mut usage = Usage::default();
    lines.find_map(|line| {
        if let Some(stores) = number_before(line, " bytes spill stores") {
            usage.spill_stores = stores;
            usage.spill_loads = number_before(line, " bytes spill loads").unwrap_or(0);
        }
        let registers = number_before(line, " registers")?;
        Some(Usage { registers, ..usage })
    })
}

/// The number that stands before some words.
fn number_before(line: &str, words: &str) -> Option<u32> {
    let before = &line[..line.find(words)?];
    before.rsplit([' ', ',']).next()?.parse().ok()
}
