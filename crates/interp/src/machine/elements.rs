//! Memory as a kernel sees it: elements by number, whatever is behind them.

use std::sync::atomic::Ordering;

use tilewise_ir::Scalar;

use super::atomic::Atomic;
use std::ops::Range;

use crate::buffer::{Buffer, OutOfMemory, Word};
use crate::column::{CHUNK, Cell, Chunk, Column};

/// The tensor of an argument: its elements in the buffer, from its first to its last.
#[derive(Clone, Copy)]
pub(crate) enum Global<'a> {
    W8(&'a [<u8 as Word>::Atomic]),
    W16(&'a [<u16 as Word>::Atomic]),
    W32(&'a [<u32 as Word>::Atomic]),
    W64(&'a [<u64 as Word>::Atomic]),
}

/// Shared memory of a block. One thread of the host runs all threads of the block, so it needs no atomics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shared {
    W8(Vec<u8>),
    W16(Vec<u16>),
    W32(Vec<u32>),
    W64(Vec<u64>),
}

/// Memory that each thread has for itself: a column for each element and component.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Local {
    Narrow(Column<u32>),
    Wide(Column<u64>),
}

/// A word in memory, and the cell of a register that holds it.
pub(crate) trait Stored: Atomic {
    type Cell: Cell;
    fn to_cell(self) -> Self::Cell;
    fn from_cell(cell: Self::Cell) -> Self;
}

macro_rules! stored {
    ($($word:ty: $cell:ty),*) => { $(
        impl Stored for $word {
            type Cell = $cell;

            #[inline(always)]
            fn to_cell(self) -> $cell {
                self as $cell
            }

            #[inline(always)]
            fn from_cell(cell: $cell) -> $word {
                cell as $word
            }
        }
    )* };
}

stored!(u8: u32, u16: u32, u32: u32, u64: u64);

/// Elements that can be read and written. Numbers outside do nothing.
pub(crate) trait Elements {
    type Cell: Cell;

    /// How many there are.
    fn len(&self) -> usize;

    /// Reads an element.
    fn get(&self, index: usize) -> Option<Self::Cell>;

    /// Writes an element; gives whether it exists.
    fn set(&mut self, index: usize, value: Self::Cell) -> bool;

    /// Reads neighbouring elements if all exist.
    fn get_run(&self, start: usize, to: &mut [Self::Cell]) -> bool;

    /// Writes neighbouring elements if all exist.
    fn set_run(&mut self, start: usize, from: &[Self::Cell]) -> bool;

    /// Reads an element with an ordering.
    fn get_ordered(&self, index: usize, ordering: Ordering) -> Option<Self::Cell>;

    /// Writes an element with an ordering; gives whether it exists.
    fn set_ordered(&mut self, index: usize, value: Self::Cell, ordering: Ordering) -> bool;

    /// Replaces an element by a function of it, atomically; gives the one before.
    fn update(
        &mut self,
        index: usize,
        ordering: Ordering,
        f: impl Fn(Self::Cell) -> Self::Cell,
    ) -> Option<Self::Cell>;
}

/// Elements of a buffer.
pub(crate) struct Atomics<'a, W: Word>(pub(crate) &'a [W::Atomic]);

impl<W: Stored> Elements for Atomics<'_, W> {
    type Cell = W::Cell;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<W::Cell> {
        self.0.get(index).map(|cell| W::load(cell).to_cell())
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: W::Cell) -> bool {
        self.0.get(index).map(|cell| W::store(cell, W::from_cell(value))).is_some()
    }

    #[inline(always)]
    fn get_run(&self, start: usize, to: &mut [W::Cell]) -> bool {
        let Some(cells) = start.checked_add(to.len()).and_then(|end| self.0.get(start..end)) else {
            return false;
        };
        to.iter_mut().zip(cells).for_each(|(to, cell)| *to = W::load(cell).to_cell());
        true
    }

    #[inline(always)]
    fn set_run(&mut self, start: usize, from: &[W::Cell]) -> bool {
        let Some(cells) = start.checked_add(from.len()).and_then(|end| self.0.get(start..end)) else {
            return false;
        };
        from.iter().zip(cells).for_each(|(&from, cell)| W::store(cell, W::from_cell(from)));
        true
    }

    fn get_ordered(&self, index: usize, ordering: Ordering) -> Option<W::Cell> {
        self.0.get(index).map(|cell| W::load_ordered(cell, ordering).to_cell())
    }

    fn set_ordered(&mut self, index: usize, value: W::Cell, ordering: Ordering) -> bool {
        self.0.get(index).map(|cell| W::store_ordered(cell, W::from_cell(value), ordering)).is_some()
    }

    fn update(
        &mut self,
        index: usize,
        ordering: Ordering,
        f: impl Fn(W::Cell) -> W::Cell,
    ) -> Option<W::Cell> {
        let cell = self.0.get(index)?;
        Some(W::update(cell, ordering, |old| W::from_cell(f(old.to_cell()))).to_cell())
    }
}

/// Elements of shared memory.
pub(crate) struct Plain<'a, W>(pub(crate) &'a mut [W]);

impl<W: Stored> Elements for Plain<'_, W> {
    type Cell = W::Cell;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn get(&self, index: usize) -> Option<W::Cell> {
        self.0.get(index).map(|&word| word.to_cell())
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: W::Cell) -> bool {
        self.0.get_mut(index).map(|word| *word = W::from_cell(value)).is_some()
    }

    #[inline(always)]
    fn get_run(&self, start: usize, to: &mut [W::Cell]) -> bool {
        let Some(words) = start.checked_add(to.len()).and_then(|end| self.0.get(start..end)) else {
            return false;
        };
        to.iter_mut().zip(words).for_each(|(to, &word)| *to = word.to_cell());
        true
    }

    #[inline(always)]
    fn set_run(&mut self, start: usize, from: &[W::Cell]) -> bool {
        let words = start.checked_add(from.len()).and_then(|end| self.0.get_mut(start..end));
        let Some(words) = words else { return false };
        words.iter_mut().zip(from).for_each(|(word, &from)| *word = W::from_cell(from));
        true
    }

    fn get_ordered(&self, index: usize, _: Ordering) -> Option<W::Cell> {
        self.get(index)
    }

    fn set_ordered(&mut self, index: usize, value: W::Cell, _: Ordering) -> bool {
        self.set(index, value)
    }

    fn update(&mut self, index: usize, _: Ordering, f: impl Fn(W::Cell) -> W::Cell) -> Option<W::Cell> {
        let old = self.get(index)?;
        self.set(index, f(old));
        Some(old)
    }
}

/// What memory that nobody has written holds: NaN for floats, bytes of `0xCD` for integers, true for `bool`. Not zero,
/// because zero is too often what a kernel needs by luck.
fn unwritten(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => 1,
        Scalar::F16 => 0x7e00,
        Scalar::BF16 => 0x7fc0,
        Scalar::F32 => 0x7fc0_0000,
        Scalar::F64 => 0x7ff8_0000_0000_0000,
        _ => 0xcdcd_cdcd_cdcd_cdcd,
    }
}

/// Room for `len` elements, or what it is for and how much it takes.
pub(crate) fn reserve<T: Clone>(len: u64, value: T, what: &str) -> Result<Vec<T>, OutOfMemory> {
    let mut elements = Vec::new();
    let reserved = usize::try_from(len).map(|len| elements.try_reserve_exact(len).is_ok());
    if reserved != Ok(true) {
        let bytes = len.saturating_mul(size_of::<T>() as u64);
        return Err(OutOfMemory { what: what.to_owned(), bytes });
    }
    elements.resize(len as usize, value);
    Ok(elements)
}

impl<'a> Global<'a> {
    /// Elements of a buffer, which are inside it.
    pub(crate) fn new(buffer: &'a Buffer, range: Range<usize>) -> Global<'a> {
        fn part<W: Word>(buffer: &Buffer, range: Range<usize>) -> &[W::Atomic] {
            buffer.cells::<W>().and_then(|cells| cells.get(range)).unwrap_or_default()
        }
        match buffer.scalar().size() {
            1 => Global::W8(part::<u8>(buffer, range)),
            2 => Global::W16(part::<u16>(buffer, range)),
            4 => Global::W32(part::<u32>(buffer, range)),
            _ => Global::W64(part::<u64>(buffer, range)),
        }
    }
}

impl Shared {
    /// Memory for `len` elements of `components` scalars each.
    pub(crate) fn new(scalar: Scalar, len: u64, components: u8) -> Result<Shared, OutOfMemory> {
        let (len, what) = (len.saturating_mul(components as u64), "shared memory of a block");
        Ok(match scalar.size() {
            1 => Shared::W8(reserve(len, 0, what)?),
            2 => Shared::W16(reserve(len, 0, what)?),
            4 => Shared::W32(reserve(len, 0, what)?),
            _ => Shared::W64(reserve(len, 0, what)?),
        })
    }

    /// Forgets what was written.
    pub(crate) fn clear(&mut self, scalar: Scalar) {
        let bits = unwritten(scalar);
        match self {
            Shared::W8(words) => words.fill(bits as u8),
            Shared::W16(words) => words.fill(bits as u16),
            Shared::W32(words) => words.fill(bits as u32),
            Shared::W64(words) => words.fill(bits),
        }
    }
}

impl Local {
    /// Memory for `len` elements of `components` scalars each, for each thread of a block of `chunks` chunks.
    pub(crate) fn new(scalar: Scalar, len: u64, components: u8, chunks: usize) -> Result<Local, OutOfMemory> {
        let len = len.saturating_mul(components as u64).saturating_mul(chunks as u64);
        let what = "local memory of the threads of a block";
        Ok(match scalar.size() {
            8 => Local::Wide(reserve(len, Chunk([0; CHUNK]), what)?),
            _ => Local::Narrow(reserve(len, Chunk([0; CHUNK]), what)?),
        })
    }

    /// Forgets what was written.
    pub(crate) fn clear(&mut self, scalar: Scalar) {
        let bits = unwritten(scalar);
        match self {
            Local::Narrow(column) => {
                let mask = u32::MAX >> (32 - 8 * scalar.size().min(4));
                column.fill(Chunk([bits as u32 & mask; CHUNK]));
            }
            Local::Wide(column) => column.fill(Chunk([bits; CHUNK])),
        }
    }
}
