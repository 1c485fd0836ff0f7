//! Bounds that are proved go: an access of which they all hold is checked no more, and passes may move, join and drop it.

use crate::kernel::Kernel;

/// Takes the bounds that hold out of the accesses: for each access in order, those whose bit is set, as in
/// [`AccessFacts::in_bounds`](crate::analysis::AccessFacts::in_bounds). Gives whether anything has changed.
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
/// let in_bounds: Vec<u8> = facts.accesses.iter().map(|access| access.in_bounds).collect();
/// assert!(pass::proved::run(&mut kernel, &in_bounds));
/// assert!(kernel.to_string().contains("store %out[%1], %0\n"));
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn run(kernel: &mut Kernel, in_bounds: &[u8]) -> bool {
    let (mut number, mut changed) = (0, false);
    kernel.body.visit_mut(&mut |inst| {
        let (Some(first), Some(access)) = (inst.op.access_args(), inst.op.access_mut()) else { return };
        let proved = in_bounds.get(number).copied().unwrap_or(0);
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
