//! `cargo xtask twins`: the registers of the benchmark's peers, as NVIDIA's compiler hands them out, into
//! `bench/peers/registers.tsv`.
//!
//! The step `ptxas` compares our kernels with this table, so that it needs the assembler alone. To be run anew when the
//! peers change. The compiler and the headers come from Python packages, half a gigabyte, which are installed into
//! `target/twins`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::ptxas;

/// The packages, pinned: those that hold the compiler, its headers, and the headers that the peers include.
const PACKAGES: [&str; 6] = [
    ptxas::PACKAGE,
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cublas==13.1.0.3",
];

/// The capabilities in the table: Ampere and Hopper.
const CAPABILITIES: [u32; 2] = [80, 90];

/// For each of our kernels with a twin: its file and function in `bench/peers`. Where our checks stay, it is the launch without
/// them that has one, as `bench/src/twins.rs` names it.
const TWINS: [(&str, &str, &str); 14] = [
    ("add-elementwise", "add", "add_vectors"),
    ("add-manual_vectorized", "add", "add_manual_vectorized"),
    ("add-scalar", "add", "add_scalar"),
    ("add-tiled", "add", "add_tiled"),
    ("add-vectorized", "add", "add_vectorized"),
    ("add-vectors", "add", "add_vectors"),
    ("dot-tree", "dot", "dot_tree"),
    ("dot-vectors", "dot", "dot_vectors"),
    ("indirect-gather unchecked", "indirect", "gather"),
    ("indirect-histogram unchecked", "indirect", "histogram_whole"),
    ("indirect-sparse rows unchecked", "indirect", "sparse_rows"),
    ("matmul-naive", "matmul", "matmul_naive"),
    ("matmul-registers", "matmul", "matmul_registers"),
    ("matmul-tiled", "matmul", "matmul_tiled"),
];

/// Makes the table.
pub(crate) fn run() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("");
    let folder = root.join("target").join("twins");
    if !folder.join("nvidia").is_dir() {
        eprintln!("installing {} into {}", PACKAGES.join(", "), folder.display());
        ptxas::install(&folder, &PACKAGES)?;
    }
    let nvcc = ptxas::below(&folder, "nvcc").ok_or("the packages hold no nvcc")?;
    let peers = root.join("bench").join("peers");
    let mut table =
        format!("# Made by `cargo xtask twins` with {}.\ncapability\tkernel\tregisters\n", PACKAGES[0]);
    for capability in CAPABILITIES {
        let mut said = BTreeMap::new();
        for (kernel, file, function) in TWINS {
            if !said.contains_key(file) {
                let source = peers.join(file).with_extension("cu");
                said.insert(file, compile(&nvcc, &source, &folder, capability)?);
            }
            let registers = registers(&said[file], function)
                .ok_or_else(|| format!("nvcc says nothing about {function} of {file}.cu"))?;
            let _ = writeln!(table, "{capability}\t{kernel}\t{registers}");
        }
    }
    let path = peers.join("registers.tsv");
    fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))
}

/// What nvcc and the assembler say about a file.
fn compile(nvcc: &Path, source: &Path, folder: &Path, capability: u32) -> Result<String, String> {
    let include = nvcc.with_file_name("").with_file_name("include");
    let output = Command::new(nvcc)
        .args(["-O3", "-std=c++17", "-cubin", "-Xptxas", "-v", &format!("-arch=sm_{capability}"), "-o"])
        .arg(folder.join("twin.cubin"))
        .args(["-I".as_ref(), include.as_os_str(), "-I".as_ref(), include.join("cccl").as_os_str()])
        .arg(source)
        .output()
        .map_err(|error| format!("{} does not start: {error}", nvcc.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(said) } else { Err(format!("nvcc refuses {}: {said}", source.display())) }
}

/// The registers of a function: its name stands in that of the entry, with its length before it, and the number in a line
/// after that.
fn registers(said: &str, function: &str) -> Option<u32> {
    let mangled = format!("{}{function}E", function.len());
    let head = |line: &&str| line.contains("Compiling entry function") && line.contains(&mangled);
    let (_, after) = said.split_once(said.lines().find(head)?)?;
    let before = &after[..after.find(" registers")?];
    before.rsplit(' ').next()?.parse().ok()
}
