//! Linear code: what a kernel is flattened to.
//!
//! Jumps go to absolute positions in [`Code::body`]. Code is laid out in the order of the source, joins after what
//! joins there, so that a scheduler that always runs the smallest position first lets threads meet again after they
//! took different ways.

use std::sync::Arc;

use tilewise_ir::{
    AtomicOp, Axis, BinaryOp, Builtin, Format, MemRef, Ordering, Scalar, Scope, Shuffle, Span, Type,
};

use crate::column::Reg;
use crate::vector::Compute;

/// A flattened kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// Run once a launch: uniform values that are the same in all blocks.
    pub(crate) launch: Vec<Instr>,
    /// Run at the start of each block: other uniform values that do not depend on where a thread is.
    pub(crate) block: Vec<Instr>,
    /// Run by all threads of a block.
    pub(crate) body: Vec<Instr>,
    /// Memory operations, by number.
    pub(crate) accesses: Vec<Access>,
    /// Operations of warps, by number.
    pub(crate) warps: Vec<Warp>,
    /// Lines and messages, by number.
    pub(crate) prints: Vec<Print>,
    /// Loops, by number.
    pub(crate) loops: Vec<Loop>,
    /// Components of each narrow register, and whether it is uniform.
    pub(crate) narrow: Vec<RegShape>,
    /// The same of the wide registers.
    pub(crate) wide: Vec<RegShape>,
    /// Registers that hold a constant: register, whether it is wide, bits.
    pub(crate) constants: Vec<(Reg, bool, u64)>,
    /// Registers that hold the index of the thread along an axis; wide.
    pub(crate) thread_idx: [Option<Reg>; 3],
    /// Register that holds the lane of the thread in its warp; narrow.
    pub(crate) lane_id: Option<Reg>,
    /// How many results of [`Instr::Check`] there are.
    pub(crate) flags: usize,
    /// How many results of [`Instr::Classify`] there are.
    pub(crate) patterns: usize,
    /// Whether threads of a block may have to wait in a loop for others of the block, so that the smallest position
    /// must not always go first.
    pub(crate) fair: bool,
    /// Whether a block may have to wait in a loop for another block.
    pub(crate) waits: bool,
    /// Whether anything is printed.
    pub(crate) prints_lines: bool,
}

/// What a register is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegShape {
    /// Number of components.
    pub(crate) components: u8,
    /// Whether it has one chunk a component, not one lane for each thread.
    pub(crate) uniform: bool,
}

/// One step of a group of threads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instr {
    /// An operation without effects. `wide` is whether the result is of 64 bits.
    Compute { op: Compute, dst: Reg, wide: bool, components: u8 },
    /// Components `from..` of one register to components `to..` of another. With `broadcast`, the one component
    /// `from` to all of them.
    Copy { dst: Reg, src: Reg, wide: bool, to: u8, from: u8, components: u8, broadcast: bool },
    /// A number of the launch or the block; only in [`Code::launch`] and [`Code::block`].
    Input { dst: Reg, wide: bool, input: Input },
    /// Sets a flag: whether `index + lanes <= extent` for all active threads.
    Check { flag: u32, index: Address, extent: Reg, lanes: u8 },
    /// Sees how the values of a register lie in each chunk, for the accesses that have them as offsets.
    Classify { slot: u32, base: Reg },
    /// A fault for each active thread whose divisor is zero.
    CheckDivisor { divisor: Reg, wide: bool, components: u8, span: Span },
    /// A memory operation.
    Access(u32),
    /// Orders memory between threads.
    Fence(Scope, Ordering),
    /// All go on at a later position.
    Jump(u32),
    /// Those whose condition is `when` go on at a later position.
    Branch { cond: Reg, when: bool, target: u32 },
    /// Back to the start of a loop.
    Repeat { target: u32, number: u32 },
    /// Steps the counter of a loop. Those whose counter stays below `hi` go back to the start of its body. `scalar` is
    /// the type of all three.
    Advance { counter: Reg, hi: Reg, step: Reg, scalar: Scalar, target: u32, number: u32 },
    /// A fault for each active thread whose step is not positive; they go on at a later position.
    CheckStep { step: Reg, scalar: Scalar, target: u32, span: Span },
    /// Waits for all threads of the block.
    Barrier(Span),
    /// Waits for the other lanes of the warp, and takes part in what they do together.
    Warp(u32),
    /// The threads end.
    Return,
    /// Prints a line.
    Print(u32),
    /// A fault for each active thread whose condition is false; they end.
    Assert { cond: Reg, message: u32, span: Span },
}

/// A number that the launch or the block gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// A dimension or the index of the block.
    Builtin(Builtin, Axis),
    /// The bits of a scalar argument, by number of the parameter.
    Scalar(u32),
    /// The extent of a tensor argument along a dimension.
    Extent(u32, u8),
    /// The stride of a tensor argument along a dimension.
    Stride(u32, u8),
}

/// A wide value that is computed where it is used: `base + plus + constant`, wrapping. `plus` is uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) base: Reg,
    pub(crate) plus: Option<Reg>,
    pub(crate) constant: u64,
}

/// A memory operation.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// What is done.
    pub(crate) kind: AccessOp,
    /// What the kernel calls what is touched.
    pub(crate) mem: MemRef,
    /// Where it is.
    pub(crate) memory: Memory,
    /// Type of the components of an element.
    pub(crate) scalar: Scalar,
    /// Components of an element: more than one in an allocation of vectors.
    pub(crate) per_element: u8,
    /// Components that are read or written.
    pub(crate) components: u8,
    /// Number of the first element.
    pub(crate) offset: Address,
    /// The result of [`Instr::Classify`] for the base of the offset, if it is not uniform and that is of use.
    pub(crate) pattern: Option<u32>,
    /// What is checked.
    pub(crate) bounds: Vec<Bound>,
    /// What need not be, since it holds by constants.
    pub(crate) held: Vec<Held>,
    /// Position in the user's source.
    pub(crate) span: Span,
    /// Its number in [`Code::accesses`].
    pub(crate) number: u32,
    /// Among which threads it is atomic, if it is.
    pub(crate) scope: Scope,
    /// Alignment in bytes that is claimed; 0 if none.
    pub(crate) align: u16,
}

/// What a memory operation does, with its registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessOp {
    /// Reads into a register.
    Load { dst: Reg },
    /// Writes a register.
    Store { value: Reg },
    /// Reads into a register, atomically.
    AtomicLoad { dst: Reg, ordering: Ordering },
    /// Writes a register, atomically.
    AtomicStore { value: Reg, ordering: Ordering },
    /// Combines with a register; the element before goes to another.
    Rmw { op: AtomicOp, dst: Reg, value: Reg, ordering: Ordering },
    /// Exchanges if the element is as expected; the element before goes to a register.
    Cas { dst: Reg, expected: Reg, desired: Reg, ordering: Ordering },
}

/// An operation of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Warp {
    /// What is done.
    pub(crate) op: WarpOp,
    /// What each lane gives: a value, a condition, or the mask of a barrier.
    pub(crate) value: Reg,
    /// The type of the value.
    pub(crate) scalar: Scalar,
    /// Position in the user's source.
    pub(crate) span: Span,
}

/// What the lanes of a warp do together, with its registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarpOp {
    /// Each lane reads the value of another, which follows from a number.
    Shuffle { shuffle: Shuffle, number: Reg, dst: Reg },
    /// The conditions as bits.
    Ballot { dst: Reg },
    /// All values combined.
    Reduce { op: BinaryOp, dst: Reg },
    /// The values up to each lane combined.
    Scan { op: BinaryOp, dst: Reg },
    /// They wait for those in the mask.
    Barrier,
}

/// Where an access finds its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Argument for a tensor parameter, by number of the parameter.
    Global(u32),
    /// Shared memory, by number of the allocation.
    Shared(u32),
    /// Memory of each thread, by number of the allocation.
    Local(u32),
}

/// An index that is compared with an extent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// The index.
    pub(crate) index: Address,
    /// The extent.
    pub(crate) extent: Reg,
    /// The dimension, for the message.
    pub(crate) dim: u8,
    /// Whether the components of the access lie along it.
    pub(crate) along: bool,
    /// The flag that says that it holds for all active threads.
    pub(crate) flag: u32,
}

/// A constant index below a constant extent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) index: u64,
    pub(crate) extent: u64,
    /// The dimension, for the message.
    pub(crate) dim: u8,
    /// Whether the components of the access lie along it.
    pub(crate) along: bool,
}

/// A line or a message with the registers of its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Print {
    pub(crate) format: Arc<Format>,
    pub(crate) args: Vec<(Reg, Type)>,
}

/// A loop, for its back edges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// Position in the user's source.
    pub(crate) span: Span,
    /// Whether what ends it is read from memory that others write: it may be waiting for them.
    pub(crate) waits: bool,
}
