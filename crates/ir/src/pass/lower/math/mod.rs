//! Exponentials, logarithms, powers and trigonometric functions as arithmetic.
//!
//! No GPU has these with the accuracy of a C library, and most have none for `f64`. The pass replaces `Exp`, `Exp2`,
//! `Log`, `Log2`, `Sin`, `Cos`, `Tanh`, `Pow` and `Atan2` by operations that are exact or rounded once, so that a function
//! gives the same bits on each device that has those:
//!
//! ```
//! use tilewise_ir::{Kernel, pass::lower::math, verify};
//!
//! let mut kernel: Kernel = "
//!     kernel @k(%out: tensor<f32, 1, mut>, %x: f32) {
//!       %0 = const index 0
//!       %1 = scalar %x
//!       %2 = exp %1
//!       store %out[%0], %2
//!       return
//!     }
//! ".parse()?;
//! assert!(math::run(&mut kernel));
//! assert!(verify::verify(&kernel).is_ok());
//! assert!(!kernel.to_string().contains("exp"));
//! assert!(!math::run(&mut kernel)); // nothing left to replace
//! # Ok::<(), tilewise_ir::ParseError>(())
//! ```
//!
//! # Accuracy
//!
//! The largest errors that were found, in units in the last place:
//!
//! | | `f32` | `f64` |
//! | --- | --- | --- |
//! | `exp` | 0.76 | 0.68 |
//! | `exp2` | 0.75 | 0.72 |
//! | `log` | 0.68 | 0.66 |
//! | `log2` | 0.73 | 0.65 |
//! | `sin` | 0.79 | 0.69 |
//! | `cos` | 0.79 | 0.73 |
//! | `tanh` | 1.46 | 1.36 |
//! | `pow` | 0.77 | 0.73 |
//! | `atan2` | 1.51 | 1.20 |
//!
//! These come from `sin` of all `f32`, the other functions of every 37th or of as many pairs, and from 130 000 arguments
//! of all sizes in `f64`, whose results were compared with ones of many digits; among them are the numbers nearest to
//! multiples of π/2. What is promised, and what tests of the interpreter check on fewer arguments, is an error below 1,
//! for `tanh` and `atan2` below 2: also for huge and subnormal arguments, and for subnormal results.
//!
//! `f16` and `bf16` are computed in `f32` and rounded. Zeros, infinities and NaN are as in Rust's functions of these names
//! (`ln` for `Log`); of a NaN, neither the sign nor the payload means anything.
//!
//! # What a device needs
//!
//! - Additions, multiplications, divisions and `MulAdd` of `f32` (`f64` for functions of it) that are rounded to nearest,
//!   with subnormal numbers, infinities and NaN.
//! - A compiler that neither contracts nor reassociates: the code computes errors of roundings, which are no zeros. Of the
//!   passes, [`contract`](crate::pass::contract) must not run afterwards.
//! - Integers of 32 bits for `f32`, of 64 bits for `f64`.
//!
//! All expansions are straight lines, except that `sin` and `cos` have a branch for large arguments. Vectors are
//! expanded as vectors.
//!
//! # How the polynomials were made
//!
//! `coefficients.py` beside this file prints the constants. Each polynomial interpolates its function at Chebyshev nodes,
//! and has the least degree whose error is below 1/32 of a unit in the last place.

mod atan2;
mod double_word;
mod emit;
mod exp;
mod log;
mod payne_hanek;
mod pow;
mod tanh;
mod trig;

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{BinaryOp, Op, UnaryOp};
use crate::pass::constants::Prologue;
use crate::pass::rewrite::Substitution;
use crate::types::{Scalar, Type};
use emit::{Emit, Format};

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut found = false;
    kernel.body.visit(&mut |inst| found |= Function::of(&inst.op).is_some());
    if !found {
        return false;
    }
    let mut body = std::mem::take(&mut kernel.body);
    let mut lowering =
        Lowering { prologue: Prologue::take(&mut body), results: Substitution::new(kernel), kernel };
    lowering.block(&mut body);
    lowering.prologue.put(&mut body);
    kernel.body = body;
    true
}

/// A function that is replaced.
#[derive(Clone, Copy, Debug)]
enum Function {
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tanh,
    Pow,
    Atan2,
}

impl Function {
    /// The function that an operation computes, if it is one of them.
    fn of(op: &Op) -> Option<Function> {
        match op {
            Op::Unary(op) => Function::of_unary(*op),
            Op::Binary(op) => Function::of_binary(*op),
            Op::Const(_)
            | Op::Builtin(..)
            | Op::LaneId
            | Op::Scalar(_)
            | Op::Extent(..)
            | Op::Stride(..)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..)
            | Op::Fence(..)
            | Op::Barrier
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_)
            | Op::WarpBarrier
            | Op::Print(_)
            | Op::Assert(_)
            | Op::If
            | Op::Loop(_)
            | Op::For(_)
            | Op::Yield
            | Op::Break(_)
            | Op::Continue(_)
            | Op::Return => None,
        }
    }

    fn of_unary(op: UnaryOp) -> Option<Function> {
        match op {
            UnaryOp::Exp => Some(Function::Exp),
            UnaryOp::Exp2 => Some(Function::Exp2),
            UnaryOp::Log => Some(Function::Log),
            UnaryOp::Log2 => Some(Function::Log2),
            UnaryOp::Sin => Some(Function::Sin),
            UnaryOp::Cos => Some(Function::Cos),
            UnaryOp::Tanh => Some(Function::Tanh),
            UnaryOp::Neg
            | UnaryOp::Not
            | UnaryOp::Abs
            | UnaryOp::Signum
            | UnaryOp::Sqrt
            | UnaryOp::Rsqrt
            | UnaryOp::Recip
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::RoundEven
            | UnaryOp::Trunc
            | UnaryOp::CountOnes
            | UnaryOp::LeadingZeros
            | UnaryOp::TrailingZeros
            | UnaryOp::IsNan
            | UnaryOp::IsInf => None,
        }
    }

    fn of_binary(op: BinaryOp) -> Option<Function> {
        match op {
            BinaryOp::Pow => Some(Function::Pow),
            BinaryOp::Atan2 => Some(Function::Atan2),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr => None,
        }
    }

    /// Emits the function; the operands are of the format of `e`.
    fn emit(self, e: &mut Emit<'_>, args: &[Value]) -> Value {
        match self {
            Function::Exp => exp::exp(e, args[0]),
            Function::Exp2 => exp::exp2(e, args[0]),
            Function::Log => log::log(e, args[0]),
            Function::Log2 => log::log2(e, args[0]),
            Function::Sin => trig::sin(e, args[0]),
            Function::Cos => trig::cos(e, args[0]),
            Function::Tanh => tanh::tanh(e, args[0]),
            Function::Pow => pow::pow(e, args[0], args[1]),
            Function::Atan2 => atan2::atan2(e, args[0], args[1]),
        }
    }
}

struct Lowering<'a> {
    kernel: &'a mut Kernel,
    prologue: Prologue,
    /// What stands in for the results of the functions.
    results: Substitution,
}

impl Lowering<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            self.results.apply(&mut inst);
            match (Function::of(&inst.op), inst.result()) {
                (Some(function), Some(result)) => {
                    let (expansion, value) = self.expand(function, &inst, self.kernel.ty(result));
                    block.insts.extend(expansion);
                    self.results.set(result, value);
                }
                _ => {
                    for nested in &mut inst.blocks {
                        self.block(nested);
                    }
                    block.insts.push(inst);
                }
            }
        }
    }

    /// The code of a function, and the value that is its result.
    fn expand(&mut self, function: Function, inst: &Inst, ty: Type) -> (Vec<Inst>, Value) {
        let format = if ty.scalar == Scalar::F64 { Format::Double } else { Format::Single };
        let is_half = ty.scalar.size() < Scalar::F32.size();
        let mut e = Emit::new(self.kernel, &mut self.prologue, inst.span, format, ty.lanes);
        let mut args = inst.args.clone();
        if is_half {
            for arg in &mut args {
                *arg = e.cast(*arg, e.float());
            }
        }
        let mut result = function.emit(&mut e, &args);
        if is_half {
            result = e.cast(result, ty);
        }
        (e.finish(), result)
    }
}
