//! How large indices can be, from the limits that hold for every launch. It is coarse: facts say the rest.

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Axis, BinaryOp, Builtin, Inst, Kernel, Op, Scalar, Type, Value};

/// The most threads of a block.
const MAX_THREADS: u64 = 1024;

/// For each value of type `Index` a number that it does not exceed, if one is known.
pub(super) fn analyze(kernel: &Kernel, facts: &Facts) -> Vec<Option<u64>> {
    let mut bounds = vec![None; kernel.values.len()];
    kernel.body.visit(&mut |inst| {
        if let Op::For(_) = inst.op {
            let counter = inst.blocks[0].params[0];
            if kernel.ty(counter) == Type::INDEX {
                bounds[counter.0 as usize] =
                    bounds[inst.args[1].0 as usize].map(|hi: u64| hi.saturating_sub(1));
            }
        }
        if let Some(result) = inst.result().filter(|&result| kernel.ty(result) == Type::INDEX) {
            bounds[result.0 as usize] = bound(kernel, facts, inst, |value| bounds[value.0 as usize]);
        }
    });
    bounds
}

fn bound(kernel: &Kernel, facts: &Facts, inst: &Inst, of: impl Fn(Value) -> Option<u64>) -> Option<u64> {
    let arg = |n: usize| of(inst.args[n]);
    match inst.op {
        Op::Const(constant) => Some(constant.bits),
        Op::Builtin(builtin, axis) => Some(builtin_bound(facts, builtin, axis)),
        Op::Binary(op) => match op {
            BinaryOp::Add => arg(0)?.checked_add(arg(1)?),
            BinaryOp::Mul => arg(0)?.checked_mul(arg(1)?),
            // A count is at most its bound, unless that is 64 or more.
            BinaryOp::Shl => arg(0)?.checked_mul(1u64.checked_shl(u32::try_from(arg(1)?).ok()?)?),
            BinaryOp::Min | BinaryOp::And => match (arg(0), arg(1)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            BinaryOp::Max => Some(arg(0)?.max(arg(1)?)),
            BinaryOp::Or | BinaryOp::Xor => {
                let bits = 64 - (arg(0)? | arg(1)?).leading_zeros();
                Some(if bits == 64 { u64::MAX } else { (1 << bits) - 1 })
            }
            BinaryOp::Div | BinaryOp::Shr => arg(0),
            BinaryOp::Rem => match (arg(0), arg(1)) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            BinaryOp::Sub | BinaryOp::Pow | BinaryOp::Atan2 => None,
        },
        Op::Select => Some(arg(1)?.max(arg(2)?)),
        Op::Cast(_) => match kernel.ty(inst.args[0]).scalar {
            Scalar::Index => arg(0),
            Scalar::Bool => Some(1),
            Scalar::U8 => Some(u8::MAX.into()),
            Scalar::U16 => Some(u16::MAX.into()),
            Scalar::U32 => Some(u32::MAX.into()),
            _ => None,
        },
        _ => None,
    }
}

/// The largest value of a number of the launch or the thread.
fn builtin_bound(facts: &Facts, builtin: Builtin, axis: Axis) -> u64 {
    let n = axis as usize;
    let threads = facts.block.map_or(if n == 2 { 64 } else { MAX_THREADS }, |block| block[n].into());
    let blocks = if n == 0 { i32::MAX as u64 } else { u16::MAX.into() };
    match builtin {
        Builtin::ThreadIdx => threads - 1,
        Builtin::BlockIdx => blocks - 1,
        Builtin::BlockDim => threads,
        Builtin::GridDim => blocks,
    }
}
