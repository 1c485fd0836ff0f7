//! What accesses touch: how many elements, which bounds hold.

use crate::kernel::{Inst, Kernel, Value};
use crate::op::Op;
use crate::pass::constants::Constants;
use smallvec::SmallVec;

/// How many elements of its memory an access touches.
pub fn elements(kernel: &Kernel, inst: &Inst) -> u64 {
    let Some(mem) = inst.op.access().map(|access| access.mem) else { return 0 };
    let value = match inst.op {
        Op::Store(_) => inst.args.get(1).copied(),
        _ => inst.result(),
    };
    let lanes = value.map_or(1, |value| kernel.ty(value).lanes);
    let elem_lanes = kernel.mem_elem(mem).map_or(1, |elem| elem.lanes);
    u64::from(lanes / elem_lanes.max(1))
}

/// For each of the bounds of an access, whether it holds by constants.
pub fn held_bounds(kernel: &Kernel, constants: &Constants, inst: &Inst) -> SmallVec<[bool; 4]> {
    let (Some(first), Some(access)) = (inst.op.access_args(), inst.op.access()) else {
        return SmallVec::new();
    };
    let last_lane = i128::from(elements(kernel, inst)) - 1;
    let pairs = inst.args[first..].chunks_exact(2);
    let holds = |(&dim, pair): (&u8, &[Value])| {
        let last = if dim == access.lane_dim { last_lane } else { 0 };
        match (constants.int(pair[0]), constants.int(pair[1])) {
            (Some(index), Some(extent)) => index + last < extent,
            _ => false,
        }
    };
    access.bounds.iter().zip(pairs).map(holds).collect()
}
