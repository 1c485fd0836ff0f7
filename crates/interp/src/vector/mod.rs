//! The arithmetic of the interpreter: each operation is a loop over the lanes of columns.
//!
//! The frequent operations are compiled twice, once for any processor of the target and once for those with wide vectors
//! (see [`simd`]), so they are all `#[inline(always)]` under the entry points there. There are no masks: an operation is
//! computed in whole chunks, and whoever calls takes over the lanes that are active. That is harmless, because these
//! operations have no effects and no faults.

mod binary;
mod cast;
mod map;
pub(crate) mod simd;
#[cfg(test)]
mod tests;
mod unary;

use tilewise_ir::{BinaryOp, CompareOp, Scalar, UnaryOp};

use crate::column::{CHUNK, Cell, Chunk, Column, Reg, Source};

/// An operation without effects, and its operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compute {
    /// [`Op::Unary`](tilewise_ir::Op::Unary)
    Unary(UnaryOp, Scalar, Reg),
    /// [`Op::Binary`](tilewise_ir::Op::Binary)
    Binary(BinaryOp, Scalar, Reg, Reg),
    /// [`Op::Compare`](tilewise_ir::Op::Compare)
    Compare(CompareOp, Scalar, Reg, Reg),
    /// [`Op::MulAdd`](tilewise_ir::Op::MulAdd)
    MulAdd(Scalar, Reg, Reg, Reg),
    /// [`Op::Select`](tilewise_ir::Op::Select): condition, whether it has one component for all, and the two sides.
    Select(Reg, bool, Reg, Reg),
    /// [`Op::Cast`](tilewise_ir::Op::Cast): from, to.
    Cast(Scalar, Scalar, Reg),
}

/// Which chunks of a register are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The first chunk.
    pub(crate) first: usize,
    /// One past the last chunk.
    pub(crate) last: usize,
    /// Chunks of a component of the result: 1 if it is uniform.
    pub(crate) chunks: usize,
    /// Components of the result.
    pub(crate) components: usize,
    /// Chunks of a component of a varying register.
    pub(crate) block: usize,
    /// Whether the result is uniform, so that one lane stands for all.
    pub(crate) uniform: bool,
}

/// Where a result goes: one of the two has its chunks.
#[derive(Debug, Default)]
pub(crate) struct Out {
    /// For a result of up to 32 bits.
    pub(crate) narrow: Column<u32>,
    /// For a result of 64 bits.
    pub(crate) wide: Column<u64>,
}

/// A cell that [`Out`] has a column of.
trait OutCell: Cell {
    fn column(out: &mut Out) -> &mut [Chunk<Self>];
}

impl OutCell for u32 {
    #[inline(always)]
    fn column(out: &mut Out) -> &mut [Chunk<u32>] {
        &mut out.narrow
    }
}

impl OutCell for u64 {
    #[inline(always)]
    fn column(out: &mut Out) -> &mut [Chunk<u64>] {
        &mut out.wide
    }
}

/// A check of bounds: whether `(index + plus) + lanes <= extent`. Only the first sum wraps; `lanes` is at least 1.
#[derive(Clone, Copy)]
pub(crate) struct BoundsCheck<'a> {
    pub(crate) index: Source<'a, u64>,
    pub(crate) plus: u64,
    pub(crate) extent: Source<'a, u64>,
    pub(crate) lanes: u64,
}

/// Whether a check holds for all active threads; `active` are those of the chunks from `first` on.
#[inline(always)]
fn within(check: BoundsCheck<'_>, active: &[u64], first: usize) -> bool {
    let BoundsCheck { plus, lanes, .. } = check;
    for (chunk, &active) in (first..).zip(active) {
        let (index, extent) = (check.index.chunk(0, chunk), check.extent.chunk(0, chunk));
        // Below 2^63, a number is not above another if the difference is not negative: the highest bits of all lanes
        // together say whether anything needs a second look.
        let mut suspect = 0;
        for lane in 0..CHUNK {
            let (index, extent) = (index.0[lane].wrapping_add(plus), extent.0[lane]);
            let last = extent.wrapping_sub(lanes);
            suspect |= index | extent | last | last.wrapping_sub(index);
        }
        let holds = |lane: usize| index.0[lane].wrapping_add(plus) < extent.0[lane].saturating_sub(lanes - 1);
        if suspect >> 63 != 0 && active & !pack(&std::array::from_fn(|lane| holds(lane) as u32)) != 0 {
            return false;
        }
    }
    true
}

/// The lanes that hold true, as bits.
#[inline(always)]
fn truth(values: &Chunk<u32>) -> u64 {
    let (mut all, mut any) = (u32::MAX, 0);
    for &value in &values.0 {
        all &= value;
        any |= value;
    }
    match (all & 1, any & 1) {
        (1, _) => u64::MAX,
        (_, 0) => 0,
        _ => pack(&values.0),
    }
}

/// How the values of a chunk lie, if they are offsets into memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Each lane is one more than the lane before.
    pub run: bool,
    /// In each row of [`ROW`] lanes, all are equal, or each is one more than the lane before.
    pub rows: bool,
    /// The rows in which all lanes are equal, a bit each.
    pub equal: u8,
}

/// Lanes of a row of a chunk: what a row of a tile usually has, or a whole part of it.
pub const ROW: usize = 16;

/// How the values of a chunk lie.
#[inline(always)]
fn pattern(values: &Chunk<u64>) -> Pattern {
    let mut pattern = Pattern { run: true, rows: true, equal: 0 };
    for (number, row) in values.0.as_chunks::<ROW>().0.iter().enumerate() {
        let (mut not_equal, mut not_rising) = (0, 0);
        for (lane, &value) in row.iter().enumerate() {
            not_equal |= value ^ row[0];
            not_rising |= value ^ row[0].wrapping_add(lane as u64);
        }
        pattern.equal |= ((not_equal == 0) as u8) << number;
        pattern.rows &= not_equal == 0 || not_rising == 0;
        pattern.run &= not_rising == 0 && row[0] == values.0[0].wrapping_add((number * ROW) as u64);
    }
    pattern
}

/// The low bits of the lanes. Lanes of other threads may hold anything, so the rest is cut off.
#[inline(always)]
fn pack(values: &[u32; CHUNK]) -> u64 {
    let mut bytes = [0u8; CHUNK];
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = (*value & 1) as u8;
    }
    let mut bits = 0;
    for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // Moves the low bit of byte n to bit n of the highest byte.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * i);
    }
    bits
}
