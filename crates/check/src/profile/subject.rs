//! What a profile says of a kernel whatever the launch.

use std::sync::OnceLock;

use tilewise_ir::pass::{self, marks::Operations};
use tilewise_ir::{Kernel, Span};

use super::registers;

/// A kernel that is profiled: what is known of it without running it. It is made once for all launches.
#[derive(Debug)]
pub struct Subject {
    operations: Operations,
    /// Estimated for the first launch.
    registers: OnceLock<u32>,
}

impl Subject {
    /// Prepares a kernel as staged to be run and profiled, instead of
    /// [`prepare`](tilewise_ir::pass::prepare) and [`optimize`](tilewise_ir::pass::optimize).
    pub fn prepare(kernel: &mut Kernel) -> Subject {
        Subject { operations: pass::prepare_profiled(kernel), registers: OnceLock::new() }
    }

    /// What each basic block computes for a thread, by position.
    pub(super) fn basic_blocks(&self) -> &[Vec<(Span, u64)>] {
        &self.operations
    }

    /// The registers of a thread; `kernel` is the prepared one.
    pub(super) fn registers(&self, kernel: &Kernel) -> u32 {
        *self.registers.get_or_init(|| registers::estimate(kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_estimated_once() {
        let values = |count: usize| -> Kernel {
            let load = |i| format!("%c{i} = const index {i}\n%v{i} = load %in[%c{i}] : f64\n");
            let loads: String = (0..count).map(load).collect();
            let stores: String = (0..count).map(|i| format!("store %out[%t], %v{i}\n")).collect();
            let text = format!(
                "kernel @k(%out: tensor<f64, 1, mut>, %in: tensor<f64, 1>) {{
                   %t = thread_idx.x
                   {loads}{stores}return
                 }}"
            );
            text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
        };
        let (mut small, large) = (values(1), values(30));
        let subject = Subject::prepare(&mut small);
        let registers = subject.registers(&small);
        assert!(registers < registers::estimate(&large));
        assert_eq!(subject.registers(&large), registers);
    }
}
