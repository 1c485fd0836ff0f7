//! From a kernel and facts to a function that can be launched: PTX, machine code from the disk or the driver, loading.
//!
//! The driver's linker, which is the one way to get machine code for the disk, gives each kernel the registers that it
//! would like best, without a look at how many blocks then fit a multiprocessor. So that is done here: see
//! [`more_blocks`].

use std::fs;
use std::sync::Arc;

use tilewise_ir::Kernel;
use tilewise_ir::analysis::Facts;
use tilewise_ptx::{Arg, Module, Target};

use crate::device::cuda::disk_cache::DiskCache;
use crate::device::cuda::driver::{Bound, Function};
use crate::device::reports::Described;
use crate::error::{Error, Result};

/// How much the driver's assembler optimises: the most.
const OPTIMIZATION: u32 = 4;

/// A function that is called needs so many registers for its arguments and its way back: fewer are not asked for.
const LEAST_REGISTERS: u32 = 24;

/// Makes functions for one device.
#[derive(Debug)]
pub(super) struct Assembler {
    target: Target,
    /// Registers of a multiprocessor.
    registers: u32,
    cache: Option<DiskCache>,
    /// What machine code depends on, but for the text.
    environment: String,
}

/// A kernel compiled for some facts.
#[derive(Debug)]
pub(super) struct Variant {
    /// What is launched.
    pub(super) function: Function,
    /// The function's parameters.
    pub(super) args: Vec<Arg>,
    /// What its reports mean.
    pub(super) described: Arc<Described>,
}

impl Assembler {
    /// For a GPU of this compute capability (90 for 9.0) under a driver of this version (12040 for 12.4).
    /// `registers` are those of a multiprocessor.
    pub(super) fn new(capability: u32, driver: u32, registers: u32, cache: Option<DiskCache>) -> Assembler {
        let target = Target::for_driver(capability, driver);
        // Two builds of the driver may have one version, but not one assembler. Only some systems tell the build.
        let build = fs::read_to_string("/sys/module/nvidia/version").unwrap_or_default();
        let environment = format!(
            "tilewise {}\ndriver {driver} {}\ncapability {capability}\nregisters {registers}\noptimization {OPTIMIZATION}\n",
            env!("CARGO_PKG_VERSION"),
            build.trim()
        );
        Assembler { target, registers, cache, environment }
    }

    /// Compiles a kernel for facts.
    pub(super) fn compile(&self, bound: Bound, kernel: &Kernel, facts: &Facts) -> Result<Variant> {
        let module = tilewise_ptx::compile(kernel, facts, self.target)?;
        let threads = facts.block.map(|block| block.iter().product());
        let function = self.function(bound, kernel, &module, threads)?;
        let Module { args, sites, .. } = module;
        let described = Described { name: kernel.name.clone(), sites, spans: kernel.spans.clone() };
        Ok(Variant { function, args, described: Arc::new(described) })
    }

    /// `threads` is the size of the blocks, if it is known.
    fn function(
        &self,
        bound: Bound,
        kernel: &Kernel,
        module: &Module,
        threads: Option<u32>,
    ) -> Result<Function> {
        let shared = u32::try_from(module.dynamic_shared_bytes).unwrap_or(u32::MAX);
        let load = |code: &[u8]| bound.load(code, &module.entry, module.args.len(), shared);
        let key = self.key(&module.text);
        // Code from the disk that the driver does not take is made anew.
        let cached = self.cache.as_ref().and_then(|cache| cache.load(&key));
        if let Some(function) = cached.and_then(|code| load(&code).ok()) {
            return Ok(function);
        }
        let assemble = |text: &str, registers: Option<u32>| {
            bound.assemble(text, OPTIMIZATION, registers).map_err(|(failure, log)| {
                if failure.is_fatal() {
                    return failure.into();
                }
                let kernel = kernel.name.clone();
                let said = if log.is_empty() { "the assembler said nothing more" } else { &log };
                Error::Assemble { kernel, log: format!("{}: {said}", failure.error()) }
            })
        };
        let mut code = assemble(&module.text, None)?;
        let mut function = load(&code)?;
        let mut limit = None;
        // A function that reports takes more registers than most kernels, and what it takes each thread gets. It hardly ever
        // runs, so it may use memory instead: the limit is what the kernel takes without it. A driver that does not take the
        // limit leaves the kernel as it is.
        let limited = |function: &Function, silent: &str, threads: u32| -> Result<_> {
            let own = load(&assemble(silent, None)?)?.registers.max(LEAST_REGISTERS);
            if own >= function.registers {
                return Ok(None);
            }
            let code = assemble(&module.text, Some(own))?;
            let other = load(&code)?;
            let gains = other.resident_blocks(threads)? > function.resident_blocks(threads)?;
            Ok(gains.then_some((code, other, Some(own))))
        };
        if let (Some(silent), Some(threads)) = (module.text_without_reports(), threads)
            && let Ok(Some(better)) = limited(&function, &silent, threads)
        {
            (code, function, limit) = better;
        }
        if let Some(threads) = threads {
            let blocks = function.resident_blocks(threads)?;
            if let Some(more) = more_blocks(function.registers, threads, blocks, self.registers) {
                let limit = limit.map(|limit| registers_for(more, threads, self.registers).min(limit));
                let other_code = assemble(&module.text_for_blocks(more), limit)?;
                let other = load(&other_code)?;
                if other.local_bytes <= function.local_bytes && other.resident_blocks(threads)? > blocks {
                    (code, function) = (other_code, other);
                }
            }
        }
        if let Some(cache) = &self.cache {
            cache.store(&key, &code);
        }
        Ok(function)
    }

    /// All that machine code depends on: the text holds the kernel, its parameters, the facts and the target.
    fn key(&self, text: &str) -> Vec<u8> {
        [self.environment.as_bytes(), text.as_bytes()].concat()
    }
}

/// How many blocks to ask for at a time, if one more than now fits for few registers less. More blocks hide more of the
/// time that memory takes, but registers that there is no room for go to memory themselves. So at most a third as large a
/// part of the registers may be missing as the blocks grow by (a third where one block becomes two, a sixth where two
/// become three), and the caller looks whether that worked.
///
/// `registers` are those of a thread, `available` those of a multiprocessor. Registers are given to warps of 32 threads,
/// 8 of each thread at a time.
fn more_blocks(registers: u32, threads: u32, blocks: u32, available: u32) -> Option<u32> {
    let (used, more) = (registers.next_multiple_of(8), blocks + 1);
    let allowed = registers_for(more, threads, available);
    // Where there are registers for another block, something else is missing.
    let missing = used.checked_sub(allowed).filter(|&missing| missing > 0)?;
    (3 * blocks * missing <= used).then_some(more)
}

/// The registers that each thread may have for so many blocks to fit at a time.
fn registers_for(blocks: u32, threads: u32, available: u32) -> u32 {
    available / (blocks * threads.next_multiple_of(32)) / 8 * 8
}

impl Variant {
    /// Whether a launch may report something.
    pub(super) fn reports(&self) -> bool {
        !self.described.sites.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_all_that_code_depends_on() {
        let key = |capability, driver, text| Assembler::new(capability, driver, 65_536, None).key(text);
        let one = key(90, 12040, "text");
        assert_eq!(one, key(90, 12040, "text"));
        assert_ne!(one, key(89, 12040, "text"));
        assert_ne!(one, key(90, 12050, "text"));
        assert_ne!(one, key(90, 12040, "other text"));
    }

    #[test]
    fn another_block_costs_few_registers() {
        // 1024 threads of 39 or 48 registers are one block, of 32 two; of 56 too much would be missing.
        assert_eq!(more_blocks(39, 1024, 1, 65_536), Some(2));
        assert_eq!(more_blocks(48, 1024, 1, 65_536), Some(2));
        assert_eq!(more_blocks(56, 1024, 1, 65_536), None);
        assert_eq!(more_blocks(141, 256, 1, 65_536), Some(2));
        // A fifth block of 256 threads would leave 48 of 64 registers.
        assert_eq!(more_blocks(64, 256, 4, 65_536), None);
        // Eight blocks are all that 2048 threads can be, whatever the registers.
        assert_eq!(more_blocks(16, 256, 8, 65_536), None);
    }
}
