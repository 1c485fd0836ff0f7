//! Passes: functions from kernel to kernel, a file each, and the order in which they run.
//!
//! There are two lists.
//!
//! - [`PREPARE`] runs once on each kernel as staged, for every device, with the optimiser on or off: variables become
//!   SSA values, and floats are contracted. What a kernel computes, to the last bit, is what the prepared kernel
//!   computes.
//! - [`OPTIMIZE`] changes no result. It runs in rounds until nothing changes, at most [`MAX_ROUNDS`] times.
//!
//! ```
//! use tilewise_ir::{Kernel, pass};
//!
//! let mut kernel: Kernel = "
//!     kernel @k(%out: tensor<index, 1, mut>) {
//!       local %x: array<index, 1>
//!       %0 = const index 0
//!       %1 = const index 2
//!       %2 = add %1, %1
//!       store %x[%0], %2
//!       %3 = load %x[%0] : index
//!       store %out[%0], %3
//!       return
//!     }
//! ".parse()?;
//! pass::prepare(&mut kernel);
//! pass::optimize(&mut kernel);
//! assert_eq!(kernel.op_count(), 4); // two constants, the store, the return
//! # Ok::<(), tilewise_ir::ParseError>(())
//! ```
//!
//! # Rules for passes
//!
//! A pass takes a kernel that [`verify`] accepts and leaves one; in debug builds that is checked after
//! each. It says whether it has changed anything, and says so only then. It is a function of the kernel alone, so the
//! same kernel always gives the same result. It takes time about linear in the number of operations.
//!
//! An operation's result may change only where [`op`](crate::op) leaves it open: the bits of a NaN, and the contents of
//! memory that nobody has written. No pass adds a fault; one may drop a fault of an operation whose result is not used,
//! and may report the same fault at the first of two equal operations only.
//!
//! # What a launch decides
//!
//! [`decide`] makes constants of the values that the numbers of a launch decide, [`proved`] takes the bounds out that
//! they prove, [`coalesce`] has the threads of a block access neighbouring elements, and [`partial_unroll`] runs several rounds
//! of a loop at a time that can be no fault then. [`Decisions`] are all four, for a variant of the kernel. [`vectorize`] joins accesses that are proved to be aligned, where the device gains by
//! it.
//!
//! # Lowerings
//!
//! [`lower`] has what a backend runs after these lists, for operations that its device has not.
//!
//! # For writers of passes
//!
//! [`rewrite`] substitutes values and copies blocks, [`uses`] counts and collects, [`slots`] removes results and
//! carried values, [`constants`] knows and makes constants, [`effects`] says what may be moved or dropped, [`access`]
//! what touches which memory.

pub mod access;
pub mod accumulate;
mod assigned;
pub mod carried;
pub mod coalesce;
pub mod compact;
pub mod constants;
pub mod contract;
pub mod control;
pub mod cse;
pub mod dce;
pub mod decide;
pub mod effects;
pub mod licm;
pub mod lower;
pub mod marks;
mod optimizer;
pub mod partial_unroll;
pub mod promote;
pub mod proved;
pub mod rewrite;
pub mod simplify;
pub mod slots;
mod specialize;
pub mod unroll;
pub mod uses;
pub mod vectorize;
pub mod witness;

use crate::kernel::Kernel;
use crate::verify;

pub use optimizer::{NoSuchPass, Optimizer, SPECIALIZE};
pub use specialize::Decisions;

/// A pass: its name and its function, which gives whether it has changed the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name, for dumps and messages.
    pub name: &'static str,
    /// Rewrites the kernel; gives whether it has changed.
    pub run: fn(&mut Kernel) -> bool,
}

/// What runs once, on every kernel, in this order.
pub const PREPARE: &[Pass] = &[
    Pass { name: "promote", run: promote::run },
    Pass { name: "contract", run: contract::run },
    Pass { name: "compact", run: compact::run },
];

/// What runs once on a kernel that is to be checked, in this order: no access, barrier or branch goes away or moves, and
/// memory that may be read unwritten stays memory. Results are those of [`PREPARE`] alone.
pub const PREPARE_CHECKED: &[Pass] = &[
    Pass { name: "witness", run: witness::run },
    Pass { name: "promote_assigned", run: promote::run_assigned },
    Pass { name: "contract", run: contract::run },
    Pass { name: "simplify", run: simplify::run_keeping_bounds },
    Pass { name: "carried", run: carried::run },
    Pass { name: "licm", run: licm::run },
    Pass { name: "compact", run: compact::run },
];

/// What runs first on a kernel that is to be profiled.
const MARK: Pass = Pass { name: "marks", run: marks::run };

/// What runs once, then, on a kernel that is to be profiled, in this order, checked or not: what is counted is what was staged,
/// so nothing is simplified or moved. Results are those of [`PREPARE`] alone.
pub const PREPARE_PROFILED: &[Pass] = &[
    Pass { name: "witness", run: witness::run },
    Pass { name: "promote_assigned", run: promote::run_assigned },
    Pass { name: "contract", run: contract::run },
    Pass { name: "compact", run: compact::run },
];

/// What runs in rounds, in this order.
pub const OPTIMIZE: &[Pass] = &[
    Pass { name: "simplify", run: simplify::run },
    Pass { name: "control", run: control::run },
    Pass { name: "carried", run: carried::run },
    Pass { name: "promote", run: promote::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "cse", run: cse::run },
    Pass { name: "licm", run: licm::run },
    Pass { name: "accumulate", run: accumulate::run },
    Pass { name: "dce", run: dce::run },
];

/// Runs last, after the rounds.
const FINISH: Pass = Pass { name: "compact", run: compact::run };

/// How many rounds of [`OPTIMIZE`] are run at most.
pub const MAX_ROUNDS: usize = 8;

/// Runs [`PREPARE`]. To be run once on a kernel, before anything else: a second run could contract more.
pub fn prepare(kernel: &mut Kernel) {
    prepare_with(kernel, |_, _| {});
}

/// [`prepare`], with `observe` called after each pass that has changed the kernel.
pub fn prepare_with(kernel: &mut Kernel, mut observe: impl FnMut(&Pass, &Kernel)) {
    for pass in PREPARE {
        run(pass, kernel, &mut observe);
    }
}

/// Runs [`PREPARE_CHECKED`], instead of [`PREPARE`] and [`OPTIMIZE`].
pub fn prepare_checked(kernel: &mut Kernel) {
    for pass in PREPARE_CHECKED {
        run(pass, kernel, &mut |_, _| {});
    }
}

/// Runs [`marks`] and [`PREPARE_PROFILED`], instead of [`PREPARE`] and [`OPTIMIZE`]; gives what each basic block computes, as staged.
pub fn prepare_profiled(kernel: &mut Kernel) -> marks::Operations {
    run(&MARK, kernel, &mut |_, _| {});
    let operations = marks::basic_blocks(kernel);
    for pass in PREPARE_PROFILED {
        run(pass, kernel, &mut |_, _| {});
    }
    operations
}

/// Runs all of [`OPTIMIZE`] on a prepared kernel. May be run again when more has become known about a kernel.
pub fn optimize(kernel: &mut Kernel) {
    optimize_with(kernel, |_, _| {});
}

/// [`optimize`], with `observe` called after each pass that has changed the kernel.
pub fn optimize_with(kernel: &mut Kernel, observe: impl FnMut(&Pass, &Kernel)) {
    Optimizer::ON.run_with(kernel, observe);
}

fn run(pass: &Pass, kernel: &mut Kernel, observe: &mut impl FnMut(&Pass, &Kernel)) -> bool {
    let changed = (pass.run)(kernel);
    if changed {
        if cfg!(debug_assertions)
            && let Err(errors) = verify::verify(kernel)
        {
            panic!("pass `{}` has broken the kernel\n{}", pass.name, verify::render(kernel, &errors));
        }
        observe(pass, kernel);
    }
    changed
}
