//! `cargo xtask passes`: what each pass of the optimiser gains, as `tilewise-bench --passes` measures it: times on the CPU
//! device, instructions of PTX, registers by NVIDIA's assembler.

use crate::{cargo, ptxas};

/// Prints the tables.
pub(crate) fn run() -> Result<(), String> {
    let ptxas = ptxas::find()?;
    let suites = ["dot", "add", "matmul", "indirect"];
    let run = ["run", "--quiet", "--release", "-p", "tilewise-bench", "--"];
    let how = [
        "-e",
        "cpu",
        "--quick",
        "--repeats",
        "15",
        "--dot-blocks",
        "8",
        "--passes",
        "--rounds",
        "5",
        "--ptxas",
    ];
    cargo(&[&run[..], &suites, &how, &[&ptxas.to_string_lossy()]].concat(), &[])
}
