//! What a profile says of a kernel whatever the launch.

use std::sync::OnceLock;

use tilewise_ir::pass::{self, marks::Operations};
use tilewise_ir::{Kernel, Span};

use super::registers;

/// A kernel that is profiled: what is known of it without running it. It is made once for all launches.
#[derive(Debug)]
pub struct Subject {
    /// The prepared kernel.
    kernel: Kernel,
    operations: Operations,
    /// Estimated for the first launch.
    registers: OnceLock<u32>,
}

impl Subject {
    /// Prepares a kernel as staged to be run and profiled, instead of
    /// [`prepare`](tilewise_ir::pass::prepare) and [`optimize`](tilewise_ir::pass::optimize). The program whose launches are
    /// profiled is compiled from what the kernel is then.
    pub fn prepare(kernel: &mut Kernel) -> Subject {
        let operations = pass::prepare_profiled(kernel);
        Subject { kernel: kernel.clone(), operations, registers: OnceLock::new() }
    }

    /// The prepared kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What each basic block computes for a thread, by position.
    pub(super) fn basic_blocks(&self) -> &[Vec<(Span, u64)>] {
        &self.operations
    }

    /// The registers of a thread.
    pub(super) fn registers(&self) -> u32 {
        *self.registers.get_or_init(|| registers::estimate(&self.kernel))
    }
}
