//! Which indices fit 32 bits: those that are below 2^32, and those whose upper half nobody looks at.
//!
//! The lower half of a sum, difference or product depends on the lower halves of the operands alone. So if the result of
//! such an operation is kept in 32 bits, for whatever reason, the operation does not look at the upper halves. Memory of
//! at most 2^32 elements looks at the lower half of an offset: an access that is carried out is inside its memory.

use super::facts::{ArgNumbers, LaunchNumbers};
use super::ranges::Ranges;
use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{BinaryOp, Op, UnaryOp};
use crate::types::{Scalar, Type};

/// Numbers below this fit 32 bits.
const LIMIT: u64 = 1 << 32;

/// For each value whether it is an index for which 32 bits are enough.
pub(super) fn narrow(kernel: &Kernel, numbers: &LaunchNumbers, ranges: &Ranges) -> (Vec<bool>, Vec<bool>) {
    let fits = |(value, &ty): (usize, &Type)| {
        ty == Type::INDEX && ranges.values[value].is_none_or(|range| range.hi() < LIMIT.into())
    };
    let mut demand = Demand {
        kernel,
        numbers,
        narrow: kernel.values.iter().map(|&ty| ty == Type::INDEX).collect(),
        fits: kernel.values.iter().enumerate().map(fits).collect(),
        targets: vec![None; kernel.labels as usize],
        has_changed: true,
    };
    while std::mem::take(&mut demand.has_changed) {
        demand.block(&kernel.body, &[]);
    }
    (demand.narrow, demand.fits)
}

struct Demand<'a> {
    kernel: &'a Kernel,
    numbers: &'a LaunchNumbers,
    /// Values of which nobody has been found yet who looks at the upper half, or that fit.
    narrow: Vec<bool>,
    fits: Vec<bool>,
    /// By label: the loops around.
    targets: Vec<Option<&'a Inst>>,
    has_changed: bool,
}

impl<'a> Demand<'a> {
    /// Walks a block from its end. `results` are those of the branch that it belongs to.
    fn block(&mut self, block: &'a Block, results: &[Value]) {
        for inst in block.insts.iter().rev() {
            self.inst(inst, results);
        }
    }

    /// Somebody looks at all of a value.
    fn all(&mut self, value: Value) {
        let n = value.0 as usize;
        if self.narrow[n] && !self.fits[n] {
            self.narrow[n] = false;
            self.has_changed = true;
        }
    }

    fn all_of(&mut self, values: &[Value]) {
        values.iter().for_each(|&value| self.all(value));
    }

    /// The lower half of `to` depends on the lower halves of `from` alone.
    fn flows(&mut self, from: &[Value], to: Value) {
        if !self.narrow[to.0 as usize] {
            self.all_of(from);
        }
    }

    fn flow_each(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.flows(&[from], to);
        }
    }

    fn inst(&mut self, inst: &'a Inst, results: &[Value]) {
        let args = &inst.args[..];
        match &inst.op {
            Op::Unary(op) => match op {
                UnaryOp::Neg | UnaryOp::Not => self.flows(args, inst.results[0]),
                UnaryOp::Abs
                | UnaryOp::Signum
                | UnaryOp::Sqrt
                | UnaryOp::Rsqrt
                | UnaryOp::Recip
                | UnaryOp::Exp
                | UnaryOp::Exp2
                | UnaryOp::Log
                | UnaryOp::Log2
                | UnaryOp::Sin
                | UnaryOp::Cos
                | UnaryOp::Tanh
                | UnaryOp::Floor
                | UnaryOp::Ceil
                | UnaryOp::Round
                | UnaryOp::RoundEven
                | UnaryOp::Trunc
                | UnaryOp::CountOnes
                | UnaryOp::LeadingZeros
                | UnaryOp::TrailingZeros
                | UnaryOp::IsNan
                | UnaryOp::IsInf => self.all_of(args),
            },
            Op::Binary(op) => match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor => self.flows(args, inst.results[0]),
                BinaryOp::Shl => {
                    self.flows(&args[..1], inst.results[0]);
                    self.all(args[1]);
                }
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::Shr
                | BinaryOp::Pow
                | BinaryOp::Atan2 => self.all_of(args),
            },
            Op::Select => self.flows(&args[1..], inst.results[0]),
            Op::Cast(to) => {
                let is_lower_half = !to.is_float() && *to != Scalar::Bool && to.bits() <= 32;
                if *to == Scalar::Index {
                    self.flows(args, inst.results[0]);
                } else if !is_lower_half {
                    self.all_of(args);
                }
            }
            // Vectors are kept as they are.
            Op::Compare(_) | Op::Bitcast(_) | Op::Splat(_) | Op::Pack | Op::MulAdd | Op::Extract(_) => {
                self.all_of(args);
            }
            Op::Load(access)
            | Op::Store(access)
            | Op::AtomicLoad(access, ..)
            | Op::AtomicStore(access, ..)
            | Op::AtomicRmw(_, access, ..)
            | Op::AtomicCas(access, ..) => {
                if !self.is_small(access.mem) {
                    self.all(args[0]);
                }
                self.all_of(&args[1..]);
            }
            Op::Print(_)
            | Op::Assert(_)
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_)
            | Op::WarpBarrier => self.all_of(args),
            Op::If => {
                for block in &inst.blocks {
                    self.block(block, &inst.results);
                }
            }
            Op::Loop(label) => {
                self.targets[label.0 as usize] = Some(inst);
                self.block(&inst.blocks[0], &[]);
                self.flow_each(args, &inst.blocks[0].params);
            }
            Op::For(label) => {
                // The counter is compared with its end.
                let params = &inst.blocks[0].params;
                self.all(params[0]);
                self.all_of(&args[..3]);
                self.targets[label.0 as usize] = Some(inst);
                self.block(&inst.blocks[0], &[]);
                self.flow_each(&args[3..], &params[1..]);
                self.flow_each(&args[3..], &inst.results);
            }
            Op::Yield => self.flow_each(args, results),
            Op::Break(label) => {
                if let Some(target) = self.targets[label.0 as usize] {
                    self.flow_each(args, &target.results);
                }
            }
            Op::Continue(label) => {
                let Some(target) = self.targets[label.0 as usize] else { return };
                let params = &target.blocks[0].params;
                if matches!(target.op, Op::For(_)) {
                    self.flow_each(args, &params[1..]);
                    self.flow_each(args, &target.results);
                } else {
                    self.flow_each(args, params);
                }
            }
            Op::Const(_)
            | Op::Builtin(..)
            | Op::LaneId
            | Op::Scalar(_)
            | Op::Extent(..)
            | Op::Stride(..)
            | Op::Fence(..)
            | Op::Barrier
            | Op::Return => {}
        }
    }

    /// Whether the elements of a memory can be numbered with 32 bits.
    fn is_small(&self, mem: MemRef) -> bool {
        let elements = match mem {
            MemRef::Alloc(alloc) => {
                let alloc = &self.kernel.allocs[alloc.0 as usize];
                alloc.len.checked_mul(alloc.elem.size() as u64)
            }
            MemRef::Param(param) => match self.numbers.args.get(param.0 as usize) {
                Some(ArgNumbers::Tensor { extents, strides, .. }) => span(extents, strides),
                _ => None,
            },
        };
        elements.is_some_and(|elements| elements <= LIMIT)
    }
}

/// How many elements there are from the first of a tensor to its last.
fn span(extents: &[u64], strides: &[u64]) -> Option<u64> {
    if extents.contains(&0) {
        return Some(0);
    }
    extents.iter().zip(strides).try_fold(1u64, |span, (&extent, &stride)| {
        (extent - 1).checked_mul(stride).and_then(|more| span.checked_add(more))
    })
}
