//! The operations of the IR: the one list of them. Everything else matches on it exhaustively, so that a new
//! operation lists its own work.
//!
//! Unless an operation says otherwise, it works lane by lane on vectors, all operands have the same number of lanes,
//! and so has the result.
//!
//! **Faults.** Some operations can go wrong at run time: an access outside its bounds, a division by zero, a failed
//! assertion, a range with a step of zero. The first fault of a launch is recorded (what, where, which thread), the
//! operation has the harmless result that is named at it, and the thread goes on.
//!
//! **Warps.** The threads of a block, numbered x fastest, then y, then z, are cut into warps of [`WARP_SIZE`]; the last
//! warp may have fewer. A thread's place in its warp is its lane (not to be taken for a lane of a vector). A *warp
//! operation* waits until all lanes of the warp are at this very operation, but for those that have returned early; these
//! take part in it. Lanes that wait elsewhere, or have ended at the end of the kernel, are a fault. Threads of a warp are
//! not in step between warp operations, and only [`Op::WarpBarrier`] orders memory. A warp may come to a warp operation
//! without the other warps of its block.

use crate::kernel::MemRef;
use crate::types::{Const, Scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// The name of a loop, for [`Op::Break`] and [`Op::Continue`]; unique in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// Threads of a warp.
pub const WARP_SIZE: u32 = 32;

/// What an operation does. Operands and results are in [`Inst`](crate::kernel::Inst).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // ---- inputs ----
    /// A constant. `() -> scalar`
    Const(Const),
    /// A number of the launch or of the thread. `() -> index`
    Builtin(Builtin, Axis),
    /// The thread's place in its warp, below [`WARP_SIZE`]. `() -> u32`
    LaneId,
    /// The value of a scalar parameter. `() -> scalar`
    Scalar(crate::kernel::ParamId),
    /// The extent of a dimension of a tensor parameter, in elements. `() -> index`
    Extent(crate::kernel::ParamId, u8),
    /// The stride of a dimension of a tensor parameter, in elements. `() -> index`
    Stride(crate::kernel::ParamId, u8),

    // ---- arithmetic ----
    /// `(a) -> same type`, but `bool` for `IsNan` and `IsInf`.
    Unary(UnaryOp),
    /// `(a, b) -> same type`; both operands have one type (shift counts too).
    Binary(BinaryOp),
    /// `(a, b) -> bool`; both operands have one type. With a NaN only `Ne` holds.
    Compare(CompareOp),
    /// `a * b + c` with one rounding. `(a, b, c) -> same type`; floats only.
    MulAdd,
    /// `c ? a : b`. `(c: bool, a, b) -> type of a`; `c` has one lane or as many as `a`.
    Select,
    /// Rust's `as`: integers truncate or extend by the signedness of the operand, float to integer truncates towards
    /// zero and saturates (NaN gives 0), integer to float and float to float round to nearest even, `bool` gives 0 or
    /// 1. To `bool`: whether the operand is not zero. `(a) -> the scalar, same lanes`
    Cast(Scalar),
    /// The same bits as another type of the same size. `(a) -> the scalar, same lanes`; `Bool` takes no part.
    Bitcast(Scalar),

    // ---- vectors ----
    /// The operand in every one of `lanes` lanes. `(a: one lane) -> lanes of a`
    Splat(u8),
    /// A vector from its lanes. `(a0, a1, ...: one lane each, one type) -> vector`
    Pack,
    /// One lane, by number. `(vector) -> one lane`
    Extract(u8),

    // ---- memory ----
    /// Reads consecutive elements. `(offset, bounds...) -> element type x lanes`. A lane out of bounds reads zero
    /// and is a fault.
    Load(Access),
    /// Writes consecutive elements. `(offset, value, bounds...) -> ()`. A lane out of bounds is not written and is a
    /// fault.
    Store(Access),
    /// Atomic read of one element. `(offset, bounds...) -> element`. Out of bounds as `Load`.
    AtomicLoad(Access, Scope, Ordering),
    /// Atomic write of one element. `(offset, value, bounds...) -> ()`. Out of bounds as `Store`.
    AtomicStore(Access, Scope, Ordering),
    /// Atomic read-modify-write of one element; gives the element before. `(offset, value, bounds...) -> element`.
    /// Out of bounds: nothing is written, the result is zero, and it is a fault.
    AtomicRmw(AtomicOp, Access, Scope, Ordering),
    /// Atomic compare-and-exchange of one element, compared by bits; gives the element before, which equals the
    /// expected one if the exchange was made. `(offset, expected, desired, bounds...) -> element`. Out of bounds as
    /// `AtomicRmw`.
    AtomicCas(Access, Scope, Ordering),
    /// Orders the thread's accesses before it with those after it. `() -> ()`
    Fence(Scope, Ordering),

    // ---- threads of a block ----
    /// Waits until all threads of the block that have not returned early are at this very barrier; memory written before
    /// it is seen after it. Threads that wait elsewhere, or have ended at the end of the kernel, are a fault. `() -> ()`
    Barrier,

    // ---- threads of a warp ----
    /// A warp operation: what another lane of the warp gives for `value`; which one, [`Shuffle`] says. Where the source is
    /// past the edge of the warp, the lane's own value. Where it is a lane that does not exist, because the last warp of
    /// the block has fewer, or that has returned, too, and that is a fault. `(value: one lane, number: u32) -> type of the
    /// value`
    Shuffle(Shuffle),
    /// A warp operation: bit `n` says whether lane `n` takes part and gives true. `(condition: bool) -> u32`
    Ballot,
    /// A warp operation: the values of all lanes that take part, combined; the same in each of them. If all 32 do, each
    /// lane combines what it has with what lane `n ^ 16` has, then `n ^ 8`, `n ^ 4`, `n ^ 2` and `n ^ 1`; else from the
    /// lowest lane to the highest. The operation is one for which [`reduction_exists`](crate::verify::reduction_exists)
    /// holds. `(value: one lane) -> same type`
    WarpReduce(BinaryOp),
    /// A warp operation: the values of the lanes up to this one that take part, its own included, combined. If those that
    /// take part are the lowest of the warp, lane `n` combines what lane `n - 1` has with what it has itself, then `n - 2`,
    /// `n - 4`, `n - 8` and `n - 16`, as far as there is such a lane; else from the lowest lane to the highest. Operations
    /// are those of [`Op::WarpReduce`]. `(value: one lane) -> same type`
    WarpScan(BinaryOp),
    /// A barrier for the lanes of the warp whose bit in `mask` is set: waits until all of them that have not returned early
    /// are at this very barrier, with the same mask; memory written before it is seen after it. A lane that is not in its
    /// own mask, and lanes of the mask that wait elsewhere or have ended at the end of the kernel, are a fault.
    /// `(mask: u32) -> ()`
    WarpBarrier,

    // ---- effects ----
    /// Prints a line. `(arguments of the format...) -> ()`
    Print(Arc<Format>),
    /// A fault with a message if the condition is false, and the thread ends. `(condition: bool, arguments of the
    /// format...) -> ()`
    Assert(Arc<Format>),

    // ---- control flow ----
    /// `(condition: bool) -> results`. Two blocks, then and else, which end with `Yield(results)` or leave otherwise.
    If,
    /// Repeats its block. `(initial carried values...) -> results`. One block, whose parameters are the carried
    /// values; `Continue(next carried values...)` starts the next round, `Break(results...)` ends the loop.
    Loop(Label),
    /// Counts `i = lo, lo + step, ...` while `i < hi`, as mathematical integers: nothing wraps. `(lo, hi, step, initial
    /// carried values...) -> final carried values`. One block, whose parameters are `i` and the carried values;
    /// `Continue(next carried values...)` starts the next round or ends the loop, `Break(carried values...)` ends it.
    /// `lo`, `hi` and `step` have one integer type. A step that is not positive is a fault and no round is run.
    For(Label),
    /// Ends a block of `If`. `(results...)`
    Yield,
    /// Ends the loop of this label, which encloses it. `(results of the loop...)`
    Break(Label),
    /// Goes to the next round of the loop of this label, which encloses it. `(carried values...)`
    Continue(Label),
    /// The thread ends. `()`
    Return,
}

/// Numbers that a launch gives each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Position of the thread in its block.
    ThreadIdx,
    /// Position of the block in the grid.
    BlockIdx,
    /// Threads of a block.
    BlockDim,
    /// Blocks of the grid.
    GridDim,
}

/// An axis of grid and block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The fastest.
    X,
    /// The middle one.
    Y,
    /// The slowest.
    Z,
}

/// Which lane of the warp an [`Op::Shuffle`] reads, from its operand `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// Lane `number`, modulo the size of the warp.
    Idx,
    /// The lane `number` below this one; past the edge if there are not so many below.
    Up,
    /// The lane `number` above this one; past the edge if that is above the last lane of a whole warp.
    Down,
    /// The lane whose number is this one's with the lowest five bits of `number` flipped.
    Xor,
}

impl Shuffle {
    /// The lane that `lane` reads; `None` past the edge of the warp.
    ///
    /// ```
    /// use tilewise_ir::Shuffle;
    ///
    /// assert_eq!(Shuffle::Down.source(20, 5), Some(25));
    /// assert_eq!(Shuffle::Down.source(20, 12), None);
    /// assert_eq!(Shuffle::Xor.source(20, 1), Some(21));
    /// ```
    pub fn source(self, lane: u32, number: u32) -> Option<u32> {
        let source = match self {
            Shuffle::Idx => Some(number % WARP_SIZE),
            Shuffle::Up => lane.checked_sub(number),
            Shuffle::Down => lane.checked_add(number),
            Shuffle::Xor => Some(lane ^ (number % WARP_SIZE)),
        };
        source.filter(|&source| source < WARP_SIZE)
    }
}

/// Operations of one operand. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`; wraps for integers.
    Neg,
    /// `!a`: bits of an integer, or a truth value.
    Not,
    /// Absolute value; `MIN` stays `MIN`.
    Abs,
    /// -1, 0 or 1 for integers; for floats as Rust's `signum` (1 with the sign of `a`, NaN for NaN).
    Signum,
    /// Square root, correctly rounded.
    Sqrt,
    /// `1 / sqrt(a)`.
    Rsqrt,
    /// `1 / a`.
    Recip,
    /// e to the `a`.
    Exp,
    /// 2 to the `a`.
    Exp2,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Sine of radians.
    Sin,
    /// Cosine of radians.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// Largest integer not above.
    Floor,
    /// Smallest integer not below.
    Ceil,
    /// Nearest integer, halves away from zero (Rust's `round`).
    Round,
    /// Nearest integer, halves to even.
    RoundEven,
    /// Towards zero.
    Trunc,
    /// Number of one bits, in the width of the type.
    CountOnes,
    /// Number of zero bits above the highest one bit; the width for 0.
    LeadingZeros,
    /// Number of zero bits below the lowest one bit; the width for 0.
    TrailingZeros,
    /// Whether a float is NaN. The result is `bool`.
    IsNan,
    /// Whether a float is infinite. The result is `bool`.
    IsInf,
}

/// Operations of two operands of one type. Integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`; integers truncate towards zero, a divisor of zero is a fault and gives 0, `MIN / -1` is `MIN`.
    Div,
    /// Remainder with the sign of `a`; a divisor of zero is a fault and gives 0, `MIN % -1` is 0.
    Rem,
    /// The smaller; of floats one that is not NaN if there is one (Rust's `min`).
    Min,
    /// The larger; of floats one that is not NaN if there is one (Rust's `max`).
    Max,
    /// Bitwise and, logical for `bool`.
    And,
    /// Bitwise or, logical for `bool`.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left; the count is taken modulo the width.
    Shl,
    /// Shift right, arithmetic for signed integers; the count is taken modulo the width.
    Shr,
    /// `a` to the power `b`, floats only.
    Pow,
    /// Angle of the point (`b`, `a`) in radians, floats only.
    Atan2,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

/// Atomic read-modify-write operations. Integers wrap; floats round to nearest even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Sum.
    Add,
    /// Smaller, as [`BinaryOp::Min`].
    Min,
    /// Larger, as [`BinaryOp::Max`].
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The new value, whatever the old one.
    Exchange,
}

/// Among which threads an atomic or a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Threads of one block.
    Block,
    /// All threads of the device.
    Device,
    /// All threads of the device, and the host.
    System,
}

/// Memory ordering, as Rust's `std::sync::atomic::Ordering`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// Atomic, orders nothing else.
    Relaxed,
    /// What the releasing store's thread wrote before it is seen.
    Acquire,
    /// What this thread wrote before is seen by who acquires it.
    Release,
    /// Both.
    AcqRel,
    /// Both, and one order of all such operations.
    SeqCst,
}

/// How a memory operation touches memory.
///
/// The operand `offset` is the number of the first element, counted from the first of the memory. After it (and the
/// values) stands, for each entry of `bounds`, a pair of operands `(index, extent)`: the access is in bounds if
/// `index < extent` for each, and for the entry that equals `lane_dim` if `index + lane < extent` for lane after lane.
/// A pair that is proved to hold is taken out, together with its entry in `bounds`. The offset of an access that is in
/// bounds is inside the memory: whoever makes an access guarantees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// What is touched.
    pub mem: MemRef,
    /// The dimensions of the tensor or view that are checked, in the order of the operand pairs.
    pub bounds: SmallVec<[u8; 2]>,
    /// The dimension along which the lanes of a vector lie.
    pub lane_dim: u8,
    /// Alignment in bytes that the user claims for the whole vector; 0 if none beyond the element's own.
    pub align: u16,
}

impl Access {
    /// An access with no bounds to check.
    pub fn unchecked(mem: MemRef) -> Access {
        Access { mem, bounds: SmallVec::new(), lane_dim: 0, align: 0 }
    }
}

/// A line to print or a message: text with places for arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Format {
    /// Text and places in order; the n-th [`Piece::Arg`] shows the n-th argument.
    pub pieces: Vec<Piece>,
}

/// A part of a [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// The next argument.
    Arg(FormatSpec),
}

/// How an argument is shown: the fields of Rust's format strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatSpec {
    /// `{}`, `{:?}`, `{:x}`, ...
    pub style: Style,
    /// Character that fills up to the width.
    pub fill: char,
    /// Where the value stands in its width.
    pub align: Align,
    /// Least number of characters.
    pub width: u16,
    /// Digits after the point of a float.
    pub precision: Option<u16>,
    /// A plus sign before numbers that are not negative.
    pub plus: bool,
    /// `#`: prefix of radix.
    pub alternate: bool,
    /// Fill with zeros after the sign.
    pub zero: bool,
}

impl Default for FormatSpec {
    fn default() -> Self {
        FormatSpec {
            style: Style::Display,
            fill: ' ',
            align: Align::Default,
            width: 0,
            precision: None,
            plus: false,
            alternate: false,
            zero: false,
        }
    }
}

/// The format traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `{}`
    Display,
    /// `{:?}`
    Debug,
    /// `{:x}`
    LowerHex,
    /// `{:X}`
    UpperHex,
    /// `{:b}`
    Binary,
    /// `{:o}`
    Octal,
    /// `{:e}`
    LowerExp,
}

/// Alignment in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    /// Right for numbers.
    Default,
    /// `<`
    Left,
    /// `^`
    Center,
    /// `>`
    Right,
}

/// What an operation does besides making its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be computed anywhere its operands are there, any number of times, or not at all.
    Pure,
    /// Nothing but a possible fault: it is computed where it stands and nowhere else, also if its result is not used.
    Fault,
    /// Reads memory.
    Read,
    /// Writes memory, or reads and writes it.
    Write,
    /// Orders memory between threads, or waits for other threads: it stays where it is, among accesses to memory too.
    Sync,
    /// Output or the end of the thread.
    Output,
    /// Holds blocks.
    Structure,
    /// Ends a block.
    Terminator,
}

impl Op {
    /// What the operation does besides making its results. A division counts as [`Effect::Fault`] here; for floats
    /// it is pure (see [`Kernel`](crate::kernel::Kernel) types).
    pub fn effect(&self) -> Effect {
        match self {
            Op::Const(_)
            | Op::Builtin(..)
            | Op::LaneId
            | Op::Scalar(_)
            | Op::Extent(..)
            | Op::Stride(..)
            | Op::Unary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_) => Effect::Pure,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem) => Effect::Fault,
            Op::Binary(_) => Effect::Pure,
            Op::Load(_) => Effect::Read,
            Op::Store(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..) => Effect::Write,
            Op::Fence(..)
            | Op::Barrier
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_)
            | Op::WarpBarrier => Effect::Sync,
            Op::Print(_) | Op::Assert(_) => Effect::Output,
            Op::If | Op::Loop(_) | Op::For(_) => Effect::Structure,
            Op::Yield | Op::Break(_) | Op::Continue(_) | Op::Return => Effect::Terminator,
        }
    }

    /// Whether it waits for other lanes of its warp: [a warp operation](self) or [`Op::WarpBarrier`].
    pub fn is_warp_operation(&self) -> bool {
        matches!(self, Op::Shuffle(_) | Op::Ballot | Op::WarpReduce(_) | Op::WarpScan(_) | Op::WarpBarrier)
    }

    /// Whether a thread waits in it for others: [`Op::Barrier`], or [an operation of warps](Op::is_warp_operation).
    pub fn waits(&self) -> bool {
        *self == Op::Barrier || self.is_warp_operation()
    }

    /// Whether it ends a block.
    pub fn is_terminator(&self) -> bool {
        self.effect() == Effect::Terminator
    }

    /// How the operation touches memory, if it does.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Op::Load(a)
            | Op::Store(a)
            | Op::AtomicLoad(a, ..)
            | Op::AtomicStore(a, ..)
            | Op::AtomicRmw(_, a, ..)
            | Op::AtomicCas(a, ..) => Some(a),
            _ => None,
        }
    }

    /// How the operation touches memory, if it does.
    pub fn access_mut(&mut self) -> Option<&mut Access> {
        match self {
            Op::Load(a)
            | Op::Store(a)
            | Op::AtomicLoad(a, ..)
            | Op::AtomicStore(a, ..)
            | Op::AtomicRmw(_, a, ..)
            | Op::AtomicCas(a, ..) => Some(a),
            _ => None,
        }
    }

    /// Number of operands of a memory operation before the pairs of its bounds: the offset and the values.
    pub fn access_args(&self) -> Option<usize> {
        match self {
            Op::Load(_) | Op::AtomicLoad(..) => Some(1),
            Op::Store(_) | Op::AtomicStore(..) | Op::AtomicRmw(..) => Some(2),
            Op::AtomicCas(..) => Some(3),
            _ => None,
        }
    }
}
