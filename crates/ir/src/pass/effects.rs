//! What an operation does besides making its results, knowing its operands.

use crate::kernel::{Inst, Kernel, MemRef, ParamKind, Space};
use crate::op::{BinaryOp, Effect, Op, UnaryOp};
use crate::pass::constants::Constants;

/// [`Op::effect`], but a division is pure where it cannot fault: of floats, and by a constant other than zero.
pub fn effect(kernel: &Kernel, constants: &Constants, inst: &Inst) -> Effect {
    if let (Op::Binary(BinaryOp::Div | BinaryOp::Rem), &[_, divisor]) = (&inst.op, &inst.args[..])
        && (kernel.ty(divisor).scalar.is_float() || constants.get(divisor).is_some_and(|c| !c.is_zero()))
    {
        return Effect::Pure;
    }
    inst.op.effect()
}

/// What a pure operation costs, in simple operations. A constant costs nothing.
pub fn cost(inst: &Inst) -> usize {
    match inst.op {
        Op::Const(_) => 0,
        Op::Unary(
            UnaryOp::Sqrt
            | UnaryOp::Rsqrt
            | UnaryOp::Recip
            | UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh,
        ) => 4,
        Op::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2) => 8,
        _ => 1,
    }
}

/// Whether nobody writes to this memory while the kernel runs: a tensor that the kernel may not write, and that
/// shares its storage with no other.
pub fn is_constant_memory(kernel: &Kernel, mem: MemRef) -> bool {
    match mem {
        MemRef::Param(param) => {
            matches!(
                kernel.params[param.0 as usize].kind,
                ParamKind::Tensor { mutable: false, aliased: false, .. }
            )
        }
        MemRef::Alloc(_) => false,
    }
}

/// Whether this memory is the thread's own.
pub fn is_local(kernel: &Kernel, mem: MemRef) -> bool {
    matches!(mem, MemRef::Alloc(alloc) if kernel.allocs[alloc.0 as usize].space == Space::Local)
}

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
