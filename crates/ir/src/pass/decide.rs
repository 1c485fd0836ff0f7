//! Values that the numbers of a launch decide become constants, or one of two that they could have been.
//!
//! Guards are the case: where the blocks of a launch cover a tensor exactly, `i < n` holds in every thread, and the branch
//! can go. So are tiles: where they cover it exactly, each is whole, and a loop over its elements has a number of rounds
//! that is known. The result is a kernel for such launches alone, so a device keeps it beside the others.

use super::constants::Prologue;
use super::rewrite::Substitution;
use crate::analysis::Decided;
use crate::kernel::{Kernel, Value};

/// Replaces the uses of each value that is decided by what it is: by number of the value, as in
/// [`Facts::decided`](crate::analysis::Facts::decided). Gives whether anything has changed. What facts said of the kernel
/// before does not hold after it.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::{LaunchNumbers, analyze}, pass};
///
/// let mut kernel: Kernel = "
///     kernel @k() {
///       %0 = thread_idx.x
///       %1 = const index 64
///       %2 = lt %0, %1
///       if %2 {
///         barrier
///         yield
///       } else {
///         yield
///       }
///       return
///     }
/// ".parse()?;
/// let numbers = LaunchNumbers { grid: [1, 1, 1], block: [64, 1, 1], args: [].into_iter().collect() };
/// let facts = analyze(&kernel, &numbers);
/// assert!(pass::decide::run(&mut kernel, &facts.decided));
/// pass::optimize(&mut kernel);
/// assert_eq!(kernel.op_count(), 2); // the barrier and the return
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn run(kernel: &mut Kernel, decided: &[Option<Decided>]) -> bool {
    let mut prologue = Prologue::take(&mut kernel.body);
    let mut substitution = Substitution::new(kernel);
    for (number, &found) in decided.iter().enumerate() {
        let Some(found) = found else { continue };
        let value = Value(number as u32);
        match found {
            // A constant stays what it is.
            Decided::Constant(_) if prologue.insts().iter().any(|inst| inst.results.contains(&value)) => {}
            Decided::Constant(constant) => {
                substitution.set(value, prologue.value(kernel, constant, constant.scalar.ty()));
            }
            Decided::Operand(operand) => substitution.set(value, operand),
        }
    }
    let changed = substitution.apply_block(&mut kernel.body);
    prologue.put(&mut kernel.body);
    changed
}
