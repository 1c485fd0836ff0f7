//! Registers and spills of the kernels beside those of the same kernels in CUDA C++.
//!
//! The twins' registers are in `bench/peers/registers.tsv`, which `cargo xtask twins` makes from `bench/peers` with NVIDIA's
//! compiler. A kernel of ours may spill nothing, and take a tenth more registers than its twin. The twins' pointers are `__restrict__`, as our
//! tensors are: `ptxas` has more loads under way, in more registers, where no store comes between.
//!
//! The twins have no bounds checks. Where those of a kernel stay, as its indices come from memory, the twin is that of the launch
//! without them; what the launch with checks takes is printed, and it may spill nothing either.

use std::fs;
use std::path::Path;

use crate::code::{UNCHECKED, Usage, usages};
use crate::error::{Error, Result};

/// The capabilities that are looked at: Ampere and Hopper.
const CAPABILITIES: [u32; 2] = [80, 90];

/// A line of the table of twins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Twin {
    capability: u32,
    /// `BENCHMARK-NAME`, as our kernel's, and `unchecked` after it if it is the twin of the launch without checks.
    name: String,
    registers: u32,
}

/// Prints what the kernels of a folder take beside the twins of a table. Gives whether each is within its limit.
pub(crate) fn compare(folder: &Path, table: &Path, ptxas: &Path) -> Result<bool> {
    let text = fs::read_to_string(table).map_err(|source| Error::Read { path: table.to_owned(), source })?;
    let twins = parse(&text).ok_or_else(|| Error::Table { path: table.to_owned() })?;
    println!(
        "{:<32} {:>10} {:>10} {:>10} {:>10}",
        "registers", "capability", "tilewise", "CUDA C++", "spilled"
    );
    let mut fine = true;
    for capability in CAPABILITIES {
        let mut all = usages(folder, Some(ptxas), capability)?;
        let unchecked = folder.join(UNCHECKED);
        if unchecked.is_dir() {
            let without = usages(&unchecked, Some(ptxas), capability)?;
            all.extend(
                without
                    .into_iter()
                    .map(|usage| Usage { name: format!("{} {UNCHECKED}", usage.name), ..usage }),
            );
        }
        for usage in all {
            let twin = twins.iter().find(|twin| twin.capability == capability && twin.name == usage.name);
            let verdict = verdict(&usage, twin);
            fine &= verdict.is_empty();
            let Usage { name, registers, spilled, .. } = &usage;
            let twin = twin.map_or("none".to_owned(), |twin| twin.registers.to_string());
            println!("{name:<32} {capability:>10} {registers:>10} {twin:>10} {spilled:>10} {verdict}");
        }
    }
    Ok(fine)
}

/// What is wrong, if something is.
fn verdict(usage: &Usage, twin: Option<&Twin>) -> &'static str {
    let limit = twin.map(|twin| twin.registers + twin.registers / 10);
    if usage.spilled > 0 {
        "SPILLS"
    } else if limit.is_some_and(|limit| usage.registers > limit) {
        "TOO MANY"
    } else {
        ""
    }
}

/// The lines `capability`, `kernel`, `registers`, separated by tabs, after comments and a head.
fn parse(text: &str) -> Option<Vec<Twin>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.next().filter(|head| *head == "capability\tkernel\tregisters")?;
    lines
        .map(|line| {
            let mut words = line.split('\t');
            let capability = words.next()?.parse().ok()?;
            let name = words.next()?.to_owned();
            let registers = words.next()?.parse().ok()?;
            words.next().is_none().then_some(Twin { capability, name, registers })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twin(registers: u32) -> Twin {
        Twin { capability: 90, name: "dot-tree".to_owned(), registers }
    }

    #[test]
    fn a_tenth_more_is_fine() {
        let usage = |registers, spilled| Usage { registers, spilled, ..Usage::default() };
        assert_eq!(verdict(&usage(138, 0), Some(&twin(126))), "");
        assert_eq!(verdict(&usage(139, 0), Some(&twin(126))), "TOO MANY");
        assert_eq!(verdict(&usage(11, 0), Some(&twin(10))), "");
        assert_eq!(verdict(&usage(12, 0), Some(&twin(10))), "TOO MANY");
        assert_eq!(verdict(&usage(20, 4), Some(&twin(40))), "SPILLS");
        assert_eq!(verdict(&usage(200, 0), None), "");
    }

    #[test]
    fn tables() {
        let text = "# nvcc 13.0.88\ncapability\tkernel\tregisters\n90\tdot-tree\t10\n";
        assert_eq!(parse(text), Some(vec![twin(10)]));
        assert_eq!(parse("90\tdot-tree\t10\n"), None);
        assert_eq!(parse("capability\tkernel\tregisters\n90\tdot-tree\n"), None);
    }

    #[test]
    fn the_table_of_the_repository_is_one() {
        assert!(parse(include_str!("../peers/registers.tsv")).is_some_and(|twins| !twins.is_empty()));
    }
}
