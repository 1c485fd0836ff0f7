//! What the numbers of a launch decide about a kernel, and the kernel for the launches of which it holds.
//!
//! Conditions that are the same in every thread become constants ([`decide`]), as do extents of tiles that are all whole;
//! bounds that hold go ([`proved`]). Then the optimiser runs again: on fewer branches, and on accesses that can be no fault.
//! Threads that go through tiles of their own go through those of their block together ([`coalesce`]). Last, loops of many
//! rounds that can be no fault are unrolled in part ([`partial_unroll`]).

use super::{Optimizer, coalesce, decide, partial_unroll, proved};
use crate::analysis::{Decided, Facts};
use crate::kernel::Kernel;

/// The name of the pass that rearranges what the threads of a block access.
const COALESCE: &str = "coalesce";

/// The name of the pass that unrolls loops in part.
const UNROLL: &str = "partial_unroll";

/// Values and bounds that are decided in a launch: the part of its [`Facts`] that changes the kernel. There may be none, if only
/// loops are to be unrolled in part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decisions {
    values: Vec<Option<Decided>>,
    /// For each access, a bit for each of its bounds that holds.
    in_bounds: Vec<u8>,
    /// Threads of a block, all along x, if the accesses of a block may be rearranged.
    threads: Option<u32>,
}

impl Decisions {
    /// What facts about a kernel decide, as far as the optimiser makes use of it; `None` if that is nothing, and the kernel is to
    /// stay as it is.
    pub fn of(kernel: &Kernel, facts: &Facts, optimizer: Optimizer) -> Option<Decisions> {
        let (mut values, mut in_bounds) = (Vec::new(), Vec::new());
        if optimizer.has("decide") && facts.decided.iter().any(Option::is_some) {
            values.clone_from(&facts.decided);
        }
        if optimizer.has("proved") && facts.accesses.iter().any(|access| access.in_bounds != 0) {
            in_bounds.extend(facts.accesses.iter().map(|access| access.in_bounds));
        }
        let threads = match facts.block {
            Some([threads, 1, 1]) if optimizer.has(COALESCE) && coalesce::may_apply(kernel) => Some(threads),
            _ => None,
        };
        let changes = !values.is_empty()
            || !in_bounds.is_empty()
            || threads.is_some()
            || optimizer.has(UNROLL) && partial_unroll::applies(kernel);
        changes.then_some(Decisions { values, in_bounds, threads })
    }

    /// Makes the kernel that the facts were about the one for these launches. What facts said of it before does not hold
    /// after it.
    ///
    /// ```
    /// use tilewise_ir::{Kernel, analysis::{ArgNumbers, LaunchNumbers, analyze}, pass::{Decisions, Optimizer}};
    ///
    /// let mut kernel: Kernel = "
    ///     kernel @k(%out: tensor<f32, 1, mut>) {
    ///       %0 = const f32 1.0
    ///       %1 = thread_idx.x
    ///       %2 = extent %out.0
    ///       %3 = lt %1, %2
    ///       if %3 {
    ///         store %out[%1], %0 if (0: %1 < %2)
    ///         yield
    ///       } else {
    ///         yield
    ///       }
    ///       return
    ///     }
    /// ".parse()?;
    /// let out = ArgNumbers::Tensor {
    ///     extents: [100].into_iter().collect(),
    ///     strides: [1].into_iter().collect(),
    ///     align: 256,
    /// };
    /// let numbers =
    ///     LaunchNumbers { grid: [1, 1, 1], block: [64, 1, 1], args: [out].into_iter().collect() };
    /// let decisions = Decisions::of(&kernel, &analyze(&kernel, &numbers), Optimizer::ON).unwrap();
    /// decisions.apply(&mut kernel, Optimizer::ON);
    /// assert_eq!(kernel.op_count(), 4); // the constant, the thread's number, the store, the return
    /// # Ok::<(), tilewise_ir::ParseError>(())
    /// ```
    pub fn apply(&self, kernel: &mut Kernel, optimizer: Optimizer) {
        let proved = proved::run(kernel, &self.in_bounds);
        let mut changed = decide::run(kernel, &self.values) || proved;
        if let Some(threads) = self.threads {
            // Of what is unrolled, nothing can be rearranged.
            if changed {
                optimizer.without("unroll").unwrap_or(optimizer).run(kernel);
            }
            changed |= coalesce::run(kernel, threads);
        }
        if changed {
            optimizer.run(kernel);
        }
        // The loops that are made are not to be unrolled altogether.
        if optimizer.has(UNROLL) && partial_unroll::run(kernel) {
            optimizer.without("unroll").unwrap_or(optimizer).run(kernel);
        }
    }
}
