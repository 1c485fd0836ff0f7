//! What is certain about a kernel, given the numbers of a launch: [`Facts`].
//!
//! A GPU backend compiles a kernel together with facts, and the code may be used for every launch whose numbers give
//! the same facts. So facts are few and coarse: a bit for each value, bound and divisor, an alignment for each vector
//! access, and the shape of the block.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::demand;
use super::ranges::Ranges;
use crate::kernel::{Block, Kernel, Value};
use crate::op::{BinaryOp, Op};
use crate::types::{Const, Type};

/// The numbers of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaunchNumbers {
    /// Blocks along each axis, none of them 0.
    pub grid: [u32; 3],
    /// Threads of a block along each axis, none of them 0.
    pub block: [u32; 3],
    /// One entry for each parameter of the kernel.
    pub args: SmallVec<[ArgNumbers; 4]>,
}

/// The numbers of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgNumbers {
    /// The value of a scalar parameter.
    Scalar(Const),
    /// For a tensor parameter.
    Tensor {
        /// Elements along each dimension.
        extents: SmallVec<[u64; 4]>,
        /// Elements from one index to the next along each dimension.
        strides: SmallVec<[u64; 4]>,
        /// A power of two that divides the address of the first element, in bytes.
        align: u32,
    },
}

/// What is certain of a kernel that [`verify`](crate::verify) accepts, in every launch with these numbers.
///
/// It takes some microseconds for a kernel of a hundred operations, and time linear in the size of large ones.
///
/// ```
/// use tilewise_ir::{Kernel, Value, analysis::{ArgNumbers, LaunchNumbers, facts}};
///
/// let kernel: Kernel = "
///     kernel @k(%out: tensor<f32, 1, mut>) {
///       %0 = const f32 1.0
///       %1 = thread_idx.x
///       %2 = extent %out.0
///       store %out[%1], %0 if (0: %1 < %2)
///       return
///     }
/// ".parse()?;
/// let mut numbers = LaunchNumbers {
///     grid: [1, 1, 1],
///     block: [32, 1, 1],
///     args: [ArgNumbers::Tensor {
///         extents: [100].into_iter().collect(),
///         strides: [1].into_iter().collect(),
///         align: 256,
///     }].into_iter().collect(),
/// };
/// let found = facts::analyze(&kernel, &numbers);
/// assert_eq!(found.accesses[0].in_bounds, 0b1);
/// assert!(found.is_narrow(Value(1)));
///
/// numbers.block = [128, 1, 1];
/// assert_eq!(facts::analyze(&kernel, &numbers).accesses[0].in_bounds, 0);
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn analyze(kernel: &Kernel, numbers: &LaunchNumbers) -> Facts {
    let ranges = Ranges::of_launch(kernel, numbers);
    let (narrow, fits) = demand::narrow(kernel, numbers, &ranges);
    let decided = decided(kernel, &ranges);
    let Ranges { accesses, divisors, steps, .. } = ranges;
    Facts { block: Some(numbers.block), narrow, fits, decided, accesses, divisors, steps }
}

/// What holds in every thread of every launch that the compiled kernel is used for. It belongs to one kernel, by the
/// numbers of its values and the order of its operations ([`Block::visit`](crate::kernel::Block::visit)).
///
/// ```
/// use tilewise_ir::{Kernel, analysis::Facts};
///
/// let kernel: Kernel = "kernel @k() { return }".parse()?;
/// let facts = Facts::unknown(&kernel);
/// assert_eq!(facts.block, None);
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Facts {
    /// Threads of a block along each axis: then it is a constant.
    pub block: Option<[u32; 3]>,
    /// For each value of the kernel, whether [`Facts::is_narrow`].
    pub narrow: Vec<bool>,
    /// For each value of the kernel, whether it is an index of one lane that is below 2^32 wherever it is computed.
    pub fits: Vec<bool>,
    /// For each value of the kernel of one lane, what it is wherever it is computed, if that is always the same, and it is
    /// a `bool`, or the smaller or larger of two integers: a constant, or one of them outside of loops. (Where a whole tile ends,
    /// say, that could end with the tensor.)
    /// [`pass::decide`](crate::pass::decide) makes a kernel of it that has no such values.
    pub decided: Vec<Option<Decided>>,
    /// For each operation with an [`Access`](crate::op::Access), in order.
    pub accesses: Vec<AccessFacts>,
    /// For each integer division or remainder, in order: whether its divisor is never zero.
    pub divisors: Vec<bool>,
    /// By the number of its label, for each [`Op::For`]: whether its step is always positive.
    pub steps: Vec<bool>,
}

/// What a value is wherever it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decided {
    /// Always this.
    Constant(Const),
    /// The same as this operand of its operation.
    Operand(Value),
}

/// What holds for an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessFacts {
    /// Bit `i` is set if entry `i` of [`Access::bounds`](crate::op::Access::bounds) holds for all lanes.
    pub in_bounds: u8,
    /// A power of two that divides the address of the first lane, in bytes; at least the size of an element, unless
    /// nothing is known (0), and no more than is of use: the size of all lanes, rounded up, or
    /// 16 bytes for an access that others stand beside.
    pub align: u16,
}

impl Facts {
    /// Nothing is known, so the compiled kernel fits every launch.
    pub fn unknown(kernel: &Kernel) -> Facts {
        let (mut accesses, mut divisors) = (0, 0);
        kernel.body.visit(&mut |inst| {
            accesses += usize::from(inst.op.access().is_some());
            divisors += usize::from(is_integer_division(kernel, inst));
        });
        Facts {
            block: None,
            narrow: vec![false; kernel.values.len()],
            fits: vec![false; kernel.values.len()],
            decided: vec![None; kernel.values.len()],
            accesses: vec![AccessFacts::default(); accesses],
            divisors: vec![false; divisors],
            steps: vec![false; kernel.labels as usize],
        }
    }

    /// Whether 32 bits are enough for a value of type `Index`: it is below 2^32 in every thread, or nobody looks at its
    /// upper half. Its lower half, extended with zeros, then serves every use.
    ///
    /// A sum, difference, product, shift to the left, bitwise operation or selection that is narrow is computed from the
    /// lower halves of its operands, so it does not count as one who looks at their upper halves; nor does a `Yield`,
    /// `Break` or `Continue` that gives a narrow value. The counter of a `For` is narrow only if it is below 2^32.
    pub fn is_narrow(&self, value: Value) -> bool {
        self.narrow.get(value.0 as usize).copied().unwrap_or(false)
    }
}

/// See [`Facts::decided`].
fn decided(kernel: &Kernel, ranges: &Ranges) -> Vec<Option<Decided>> {
    let truth = |number| Some(Const::bool(ranges.of(Value(number as u32))?.value()? != 0));
    let is_bool = |&ty: &Type| ty == Type::BOOL;
    let types = kernel.values.iter().enumerate();
    let mut decided: Vec<_> =
        types.map(|(number, ty)| truth(number).filter(|_| is_bool(ty)).map(Decided::Constant)).collect();
    let mut constants = vec![None; kernel.values.len()];
    // An index that a loop clamps stays clamped: that is one operation, and an address that grows from round to round instead
    // takes registers (a product of matrices with tiles in registers took 3.10 ms on an H200 instead of 2.92).
    let mut outside = FxHashSet::default();
    note_outside_loops(&kernel.body, &mut outside);
    kernel.body.visit(&mut |inst| {
        let Some(result) = inst.result() else { return };
        match inst.op {
            Op::Const(constant) => constants[result.0 as usize] = Some(constant),
            Op::Binary(op @ (BinaryOp::Min | BinaryOp::Max)) if kernel.ty(result).lanes == 1 => {
                let found = one_of_two(op, &inst.args, ranges).and_then(|value| {
                    let constant = constants[value.0 as usize].map(Decided::Constant);
                    constant.or(outside.contains(&result).then_some(Decided::Operand(value)))
                });
                decided[result.0 as usize] = found;
            }
            _ => {}
        }
    });
    decided
}

/// Notes the results of what is in no loop.
fn note_outside_loops(block: &Block, outside: &mut FxHashSet<Value>) {
    for inst in &block.insts {
        outside.extend(&inst.results);
        if inst.op == Op::If {
            inst.blocks.iter().for_each(|inner| note_outside_loops(inner, outside));
        }
    }
}

/// Which of two integers is always the smaller or larger one.
fn one_of_two(op: BinaryOp, args: &[Value], ranges: &Ranges) -> Option<Value> {
    let &[a, b] = args else { return None };
    let (of_a, of_b) = (ranges.of(a)?, ranges.of(b)?);
    let (a_below, b_below) = (of_a.hi() <= of_b.lo(), of_b.hi() <= of_a.lo());
    match op {
        BinaryOp::Min if a_below => Some(a),
        BinaryOp::Min if b_below => Some(b),
        BinaryOp::Max if a_below => Some(b),
        BinaryOp::Max if b_below => Some(a),
        _ => None,
    }
}

/// Whether an operation is one of those that [`Facts::divisors`] counts.
pub fn is_integer_division(kernel: &Kernel, inst: &crate::kernel::Inst) -> bool {
    matches!(inst.op, Op::Binary(BinaryOp::Div | BinaryOp::Rem)) && !kernel.ty(inst.args[0]).scalar.is_float()
}
