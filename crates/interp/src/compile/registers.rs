//! Registers for values: columns are used again once the value in them is dead, uniform registers are not.

use rustc_hash::FxHashMap;
use tilewise_ir::Type;

use super::index::Position;
use super::uniform::is_wide;
use crate::code::RegShape;
use crate::column::Reg;

/// Hands out registers.
#[derive(Default)]
pub(super) struct Allocator {
    pub(super) narrow: Vec<RegShape>,
    pub(super) wide: Vec<RegShape>,
    /// Columns that no value is in, by whether they are wide and their number of components.
    free: FxHashMap<(bool, u8), Vec<Reg>>,
    /// Columns in use, by the last position at which they may be read.
    ends: Vec<Vec<(Reg, Type)>>,
    /// The first position of which the ends are still in use.
    next_end: Position,
}

impl Allocator {
    /// A register with one chunk a component, of its own.
    pub(super) fn uniform(&mut self, ty: Type) -> Reg {
        self.add(ty, true)
    }

    /// A column for a value that is defined at position `at` and may be read up to position `end`.
    pub(super) fn column(&mut self, ty: Type, at: Position, end: Position) -> Reg {
        while self.next_end < at {
            let ended = self.ends.get_mut(self.next_end).map(std::mem::take).unwrap_or_default();
            for (reg, ty) in ended {
                self.release(reg, ty);
            }
            self.next_end += 1;
        }
        let reg = self.temporary(ty);
        let end = end.max(at);
        if self.ends.len() <= end {
            self.ends.resize_with(end + 1, Vec::new);
        }
        self.ends[end].push((reg, ty));
        reg
    }

    /// A column until it is given to [`release`](Allocator::release).
    pub(super) fn temporary(&mut self, ty: Type) -> Reg {
        match self.free.get_mut(&key(ty)).and_then(Vec::pop) {
            Some(reg) => reg,
            None => self.add(ty, false),
        }
    }

    /// A column for the whole run.
    pub(super) fn pinned(&mut self, ty: Type) -> Reg {
        self.add(ty, false)
    }

    /// Makes a column free for others.
    pub(super) fn release(&mut self, reg: Reg, ty: Type) {
        if reg.is_varying() {
            self.free.entry(key(ty)).or_default().push(reg);
        }
    }

    fn add(&mut self, ty: Type, uniform: bool) -> Reg {
        let file = if is_wide(ty.scalar) { &mut self.wide } else { &mut self.narrow };
        let index = file.len() as u32;
        file.push(RegShape { components: ty.lanes, uniform });
        if uniform { Reg::uniform(index) } else { Reg::varying(index) }
    }
}

fn key(ty: Type) -> (bool, u8) {
    (is_wide(ty.scalar), ty.lanes)
}
