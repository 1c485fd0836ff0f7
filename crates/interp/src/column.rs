//! Registers: columns of lanes, one lane for each thread of a block.
//!
//! A column is cut into [`Chunk`]s of [`CHUNK`] lanes, so that the loops over lanes have a constant trip count and
//! become straight vector code. Values of up to 32 bits live in cells of `u32`, zero-extended; those of 64 bits
//! (and `index`) in cells of `u64`. A vector value has one column for each of its components, one after the other.
//!
//! The register of a *uniform* value, which all threads share, is one chunk a component, with the value in every
//! lane: an operation on it is computed once, not once a thread, and it can be an operand beside any column.

/// Lanes of a chunk. One bit each of a `u64` says which of them are active.
pub(crate) const CHUNK: usize = 64;

/// The most chunks that a column has.
pub(crate) const MAX_CHUNKS: usize = 16;

/// Neighbouring lanes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Chunk<T>(pub(crate) [T; CHUNK]);

/// The chunks of a register.
pub(crate) type Column<T> = Vec<Chunk<T>>;

/// A register: its number among those of its cell size, and whether it has a lane for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reg(u32);

impl Reg {
    /// The register of a uniform value.
    pub(crate) const fn uniform(index: u32) -> Reg {
        Reg(index << 1)
    }

    /// A register with a lane for each thread.
    pub(crate) const fn varying(index: u32) -> Reg {
        Reg(index << 1 | 1)
    }

    /// Its number in [`Registers`].
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it has a lane for each thread.
    #[inline(always)]
    pub(crate) const fn is_varying(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The registers of a block, by the size of their cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Registers {
    /// Those of up to 32 bits.
    pub(crate) narrow: Vec<Column<u32>>,
    /// Those of 64 bits.
    pub(crate) wide: Vec<Column<u64>>,
}

/// What a lane of a register is made of: `u32` or `u64`.
pub(crate) trait Cell: Copy + Default + PartialEq + 'static {
    /// The registers of this size.
    fn file(registers: &Registers) -> &[Column<Self>];

    /// The registers of this size.
    fn file_mut(registers: &mut Registers) -> &mut Vec<Column<Self>>;

    /// The bits, zero-extended.
    fn bits(self) -> u64;

    /// The low bits.
    fn from_bits(bits: u64) -> Self;

    /// Copies the lanes whose bit in `active` is set.
    fn blend(to: &mut Chunk<Self>, from: &Chunk<Self>, active: u64);
}

impl Cell for u32 {
    fn file(registers: &Registers) -> &[Column<u32>] {
        &registers.narrow
    }

    fn file_mut(registers: &mut Registers) -> &mut Vec<Column<u32>> {
        &mut registers.narrow
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> u32 {
        bits as u32
    }

    #[inline(never)]
    fn blend(to: &mut Chunk<u32>, from: &Chunk<u32>, active: u64) {
        for (lane, (to, from)) in to.0.iter_mut().zip(&from.0).enumerate() {
            let mask = ((active >> lane) as u32 & 1).wrapping_neg();
            *to = (*from & mask) | (*to & !mask);
        }
    }
}

impl Cell for u64 {
    fn file(registers: &Registers) -> &[Column<u64>] {
        &registers.wide
    }

    fn file_mut(registers: &mut Registers) -> &mut Vec<Column<u64>> {
        &mut registers.wide
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> u64 {
        bits
    }

    #[inline(never)]
    fn blend(to: &mut Chunk<u64>, from: &Chunk<u64>, active: u64) {
        for (lane, (to, from)) in to.0.iter_mut().zip(&from.0).enumerate() {
            let mask = (active >> lane & 1).wrapping_neg();
            *to = (*from & mask) | (*to & !mask);
        }
    }
}

/// A register as an operand: a uniform one is the same chunk again and again.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, T> {
    chunks: &'a [Chunk<T>],
    /// Distance of neighbouring chunks: 0 or 1.
    step: usize,
    /// Distance of components; 0 to use one component for all.
    component: usize,
}

impl<'a, T: Cell> Source<'a, T> {
    /// The register as an operand in a block of `chunks` chunks.
    #[inline(always)]
    pub(crate) fn new(registers: &'a Registers, reg: Reg, chunks: usize) -> Source<'a, T> {
        let step = reg.is_varying() as usize;
        let component = if reg.is_varying() { chunks } else { 1 };
        Source { chunks: &T::file(registers)[reg.index()], step, component }
    }

    /// The same operand for every component.
    #[inline(always)]
    pub(crate) fn broadcast(self) -> Source<'a, T> {
        Source { component: 0, ..self }
    }

    /// Whether it has a lane for each thread.
    #[inline(always)]
    pub(crate) fn is_varying(&self) -> bool {
        self.step != 0
    }

    /// The chunk of a component.
    #[inline(always)]
    pub(crate) fn chunk(&self, component: usize, index: usize) -> &'a Chunk<T> {
        &self.chunks[component * self.component + index * self.step]
    }

    /// The value of a component in a thread.
    #[inline(always)]
    pub(crate) fn lane(&self, component: usize, thread: usize) -> T {
        self.chunk(component, thread / CHUNK).0[thread % CHUNK]
    }
}

impl Registers {
    /// The value in the first lane of a narrow register; that of all lanes if the register is uniform.
    #[inline(always)]
    pub(crate) fn first<T: Cell>(&self, reg: Reg) -> T {
        T::file(self)[reg.index()][0].0[0]
    }

    /// Sets all lanes of a register.
    pub(crate) fn fill<T: Cell>(&mut self, reg: Reg, value: T) {
        T::file_mut(self)[reg.index()].fill(Chunk([value; CHUNK]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blend_takes_active_lanes_only() {
        let active = 0x8000_0000_0000_0005;
        let mut narrow = Chunk([1u32; CHUNK]);
        u32::blend(&mut narrow, &Chunk([2; CHUNK]), active);
        let mut wide = Chunk([1u64; CHUNK]);
        u64::blend(&mut wide, &Chunk([2; CHUNK]), active);
        for lane in 0..CHUNK {
            let expected = if active >> lane & 1 == 1 { 2 } else { 1 };
            assert_eq!((narrow.0[lane], wide.0[lane]), (expected, expected as u64), "{lane}");
        }
    }
}
