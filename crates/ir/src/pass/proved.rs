//! Bounds that are proved go: an access of which they all hold is checked no more.
//!
//! It is for devices that take a kernel as it is. A backend that compiles with [`Facts`] leaves them out by itself.

use crate::analysis::Facts;
use crate::kernel::Kernel;

/// Takes the bounds that hold in every launch with these facts out of the accesses. Gives whether anything has changed.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::{ArgNumbers, LaunchNumbers, analyze}, pass};
///
/// let mut kernel: Kernel = "
///     kernel @k(%out: tensor<f32, 1, mut>) {
///       %0 = const f32 1.0
///       %1 = thread_idx.x
///       %2 = extent %out.0
///       store %out[%1], %0 if (0: %1 < %2)
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
/// let facts = analyze(&kernel, &numbers);
/// assert!(pass::proved::run(&mut kernel, &facts));
/// assert!(kernel.to_string().contains("store %out[%1], %0\n"));
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn run(kernel: &mut Kernel, facts: &Facts) -> bool {
    let (mut number, mut changed) = (0, false);
    kernel.body.visit_mut(&mut |inst| {
        let (Some(first), Some(access)) = (inst.op.access_args(), inst.op.access_mut()) else { return };
        let proved = facts.accesses.get(number).map_or(0, |access| access.in_bounds);
        number += 1;
        for entry in (0..access.bounds.len()).rev() {
            if entry < 8 && proved >> entry & 1 == 1 {
                access.bounds.remove(entry);
                inst.args.drain(first + 2 * entry..first + 2 * entry + 2);
                changed = true;
            }
        }
    });
    changed
}
