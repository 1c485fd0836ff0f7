//! What an operation does besides making its results, knowing its operands.

use crate::kernel::{Inst, Kernel};
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
