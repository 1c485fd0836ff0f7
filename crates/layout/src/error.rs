//! [`LayoutError`]: what an operation on layouts refuses, with the values that it refused.
//!
//! A layout operation either returns the layout that its law describes or one of these
//! errors; it never returns a layout that is nearly right.
//!
//! ```
//! use tilewise_layout::{Layout, composition};
//!
//! let a = Layout::new((4, 5), (1, 10))?;
//! let error = composition(&a, Layout::new(5, 3)?).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "(4,5):(1,10) cannot be composed with 5:3: stride 3 steps unevenly over extent 4 of the \
//!      left layout; take a stride that divides 4 or is a multiple of it",
//! );
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use crate::{IntTuple, Layout};

/// What an operation of this crate returns.
pub type Result<T> = std::result::Result<T, LayoutError>;

/// Why an operation on layouts was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A sum or product is too large for the machine.
    #[error(
        "{left} {operation} {right} does not fit in {bits} bits; use smaller extents or strides",
        bits = usize::BITS
    )]
    Overflow {
        /// The left operand.
        left: usize,
        /// `+` or `*`.
        operation: &'static str,
        /// The right operand.
        right: usize,
    },

    /// A division by an extent or stride of 0.
    #[error("{dividend} cannot be divided by 0; use an extent or stride of at least 1")]
    DivisionByZero {
        /// What was to be divided.
        dividend: usize,
    },

    /// Shape and stride are not nested alike.
    #[error(
        "shape {shape} and stride {stride} are not nested alike; give each extent of the shape one \
         stride, in the same parentheses"
    )]
    NotCongruent {
        /// The shape.
        shape: IntTuple,
        /// The stride.
        stride: IntTuple,
    },

    /// A mode that a layout does not have.
    #[error(
        "{layout} has no mode {mode}; its modes are 0 to {last}",
        last = rank.saturating_sub(1)
    )]
    ModeOutOfRange {
        /// The mode asked for.
        mode: usize,
        /// How many modes there are.
        rank: usize,
        /// The layout.
        layout: Box<Layout>,
    },

    /// A list of modes that is not a permutation of the modes of the layout.
    #[error(
        "{order:?} does not name each mode of {layout} once; list 0 to {last} in some order",
        last = layout.rank().saturating_sub(1)
    )]
    NotAPermutation {
        /// The modes that were given.
        order: Vec<usize>,
        /// The layout.
        layout: Box<Layout>,
    },

    /// A coordinate at or above its extent.
    #[error("coordinate {coordinate} is outside extent {extent} (shape {shape}); coordinates start at 0")]
    CoordinateOutOfRange {
        /// The coordinate, or one of its parts.
        coordinate: usize,
        /// The extent (or the size of a nested mode) that it must stay below.
        extent: usize,
        /// The shape, or the part of it, that this extent belongs to.
        shape: IntTuple,
    },

    /// A coordinate that is nested unlike the shape.
    #[error(
        "coordinate {coordinate} does not fit shape {shape}; give one integer, one for each of the \
         {flat} extents, or integers nested like the shape", flat = shape.flat_rank()
    )]
    CoordinateProfile {
        /// The coordinate.
        coordinate: IntTuple,
        /// The shape, or the part of it, that the coordinate met.
        shape: IntTuple,
    },

    /// More modes in a tiler or profile than in the layout.
    #[error(
        "{modes} modes cannot be applied to {layout}, which has {rank}; give at most {rank}",
        rank = layout.rank()
    )]
    TooManyModes {
        /// How many modes the tiler or profile has.
        modes: usize,
        /// The layout.
        layout: Box<Layout>,
    },

    /// An order that is nested unlike the shape.
    #[error("order {order} is not nested like shape {shape}; give each extent one number")]
    OrderProfile {
        /// The order.
        order: IntTuple,
        /// The shape.
        shape: IntTuple,
    },

    /// A composition whose stride does not come back to the start of an extent of the left layout
    /// after a whole number of steps, as one that divides it or is a multiple of it would.
    #[error(
        "{left} cannot be composed with {right}: stride {stride} steps unevenly over extent {extent} \
         of the left layout; take a stride that divides {extent} or is a multiple of it"
    )]
    CompositionStride {
        /// The left layout.
        left: Box<Layout>,
        /// The mode of the right layout.
        right: Box<Layout>,
        /// The extent of the left layout, coalesced.
        extent: usize,
        /// What is left of the right stride when it meets this extent.
        stride: usize,
    },

    /// A composition whose extent ends within an extent of the left layout.
    #[error(
        "{left} cannot be composed with {right}: extent {shape} at stride {stride} ends within a run \
         of {run} over extent {extent} of the left layout; take an extent of at most {run} or a \
         multiple of {run}"
    )]
    CompositionShape {
        /// The left layout.
        left: Box<Layout>,
        /// The mode of the right layout.
        right: Box<Layout>,
        /// The extent of the left layout, coalesced.
        extent: usize,
        /// What is left of the right stride when it meets this extent.
        stride: usize,
        /// What is left of the right extent when it meets this extent.
        shape: usize,
        /// How many steps of the stride this extent holds.
        run: usize,
    },

    /// A composition in which modes of the right layout add up beyond an extent of the left one.
    #[error(
        "{left} cannot be composed with {right}: the modes of the right layout add up to {reach} \
         within extent {extent} of the left layout, so that none of them has a stride of its own; \
         keep their sum below {extent}"
    )]
    CompositionCarry {
        /// The left layout.
        left: Box<Layout>,
        /// The right layout.
        right: Box<Layout>,
        /// The extent of the left layout, coalesced.
        extent: usize,
        /// The largest sum.
        reach: usize,
    },

    /// A composition that would read a layout with no elements.
    #[error(
        "{left} has no elements to compose with {right}, which has {size}; use extents of at least 1",
        size = right.size()
    )]
    CompositionEmpty {
        /// The left layout.
        left: Box<Layout>,
        /// The right layout.
        right: Box<Layout>,
    },

    /// The complement of a layout that reaches an offset twice, or whose modes interleave.
    #[error(
        "{layout} has no complement: extent {extent} at stride {stride} starts within the span of \
         {span} that smaller strides cover; take a stride of at least {span}"
    )]
    ComplementOverlap {
        /// The layout.
        layout: Box<Layout>,
        /// The extent of the mode.
        extent: usize,
        /// The stride of the mode.
        stride: usize,
        /// What the modes with smaller strides span.
        span: usize,
    },

    /// The complement of a layout with a gap that its inner modes do not fill evenly.
    #[error(
        "{layout} has no complement: extent {extent} at stride {stride} leaves a gap that the span of \
         {span} below it does not fill evenly; take a stride that is a multiple of {span}"
    )]
    ComplementGap {
        /// The layout.
        layout: Box<Layout>,
        /// The extent of the mode.
        extent: usize,
        /// The stride of the mode.
        stride: usize,
        /// What the modes with smaller strides span.
        span: usize,
    },

    /// The complement of a layout with no elements.
    #[error("{layout} has no elements, hence no complement; use extents of at least 1")]
    ComplementEmpty {
        /// The layout.
        layout: Box<Layout>,
    },

    /// The left inverse of a layout that no layout inverts.
    #[error(
        "{layout} has no left inverse: extent {extent} at stride {stride} does not start at a \
         multiple of stride {below} beyond the span of {span} below it; take a stride that does"
    )]
    LeftInverse {
        /// The layout.
        layout: Box<Layout>,
        /// The extent of the mode.
        extent: usize,
        /// The stride of the mode.
        stride: usize,
        /// The next smaller stride.
        below: usize,
        /// What the modes with smaller strides span.
        span: usize,
    },

    /// A target shape that a tile does not divide.
    #[error(
        "target extent {target} is not a multiple of tile extent {tile} in mode {mode}; \
         pad the target to a multiple"
    )]
    TileToShape {
        /// The mode.
        mode: usize,
        /// The size of this mode in the target.
        target: usize,
        /// The size of this mode in the tile.
        tile: usize,
    },

    /// A swizzle whose bit fields overlap or do not fit.
    #[error(
        "a swizzle of {bits} bits, base {base} and shift {shift} is not possible; the shift must be \
         at least {bits} either way, and bits, base and shift add up to at most {limit}",
        limit = usize::BITS
    )]
    Swizzle {
        /// How many bits are mixed.
        bits: u32,
        /// How many low bits stay.
        base: u32,
        /// The distance between source and target bits.
        shift: i32,
    },

    /// A text that is not an integer tuple or a layout.
    #[error("{text:?} is not {expected} at byte {at}; write it as (2,(3,4)) or (2,(3,4)):(1,(2,6))")]
    Parse {
        /// The text.
        text: String,
        /// What should have stood there.
        expected: &'static str,
        /// Where, in bytes from the start.
        at: usize,
    },
}
