//! The types of an operation's results, as far as its operands determine them.

use crate::kernel::{Kernel, ParamKind, Value};
use crate::op::{Op, UnaryOp};
use crate::types::{Scalar, Type};
use smallvec::{SmallVec, smallvec};

/// Types of the results of `op` on `args`. `None` if the operands do not determine them: for `Load`, `If` and `Loop`,
/// and if the operation is given too few operands or `ty` does not know the type of one that matters.
///
/// Operands are not checked otherwise.
pub(crate) fn result_types(
    kernel: &Kernel,
    op: &Op,
    args: &[Value],
    ty: impl Fn(Value) -> Option<Type>,
) -> Option<SmallVec<[Type; 1]>> {
    let arg = |n: usize| ty(*args.get(n)?);
    let one = match op {
        Op::Const(c) => c.scalar.ty(),
        Op::Builtin(..) | Op::Extent(..) | Op::Stride(..) => Type::INDEX,
        Op::LaneId | Op::Ballot => Scalar::U32.ty(),
        Op::Shuffle(_) | Op::WarpReduce(_) | Op::WarpScan(_) => arg(0)?,
        Op::Scalar(param) => match kernel.params.get(param.0 as usize)?.kind {
            ParamKind::Scalar(scalar) => scalar.ty(),
            ParamKind::Tensor { .. } => return None,
        },
        Op::Unary(UnaryOp::IsNan | UnaryOp::IsInf) | Op::Compare(_) => arg(0)?.with_scalar(Scalar::Bool),
        Op::Unary(_) | Op::Binary(_) | Op::MulAdd => arg(0)?,
        Op::Select => arg(1)?,
        Op::Cast(scalar) | Op::Bitcast(scalar) => arg(0)?.with_scalar(*scalar),
        Op::Splat(lanes) => arg(0)?.with_lanes(*lanes),
        Op::Pack => arg(0)?.with_lanes(args.len().try_into().ok()?),
        Op::Extract(_) => arg(0)?.with_lanes(1),
        Op::AtomicLoad(access, ..) | Op::AtomicRmw(_, access, ..) | Op::AtomicCas(access, ..) => {
            kernel.mem_elem(access.mem)?
        }
        Op::For(_) => return args.get(3..)?.iter().map(|&value| ty(value)).collect(),
        Op::Load(_) | Op::If | Op::Loop(_) => return None,
        Op::Store(_)
        | Op::AtomicStore(..)
        | Op::Fence(..)
        | Op::Barrier
        | Op::WarpBarrier
        | Op::Print(_)
        | Op::Assert(_)
        | Op::Yield
        | Op::Break(_)
        | Op::Continue(_)
        | Op::Return => return Some(SmallVec::new()),
    };
    Some(smallvec![one])
}
