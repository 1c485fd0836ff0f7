//! What has been derived from values and can be used again.
//!
//! An entry is valid where its computation dominates: until the block that it stands in ends. Blocks are entered and
//! left in the order of the walk.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tilewise_ir::{MemRef, Value};

use super::code::Reg;

/// What can be derived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A narrow register, extended with zeros.
    Wide(Reg),
    /// The lower half of a wide register.
    Low(Reg),
    /// The address in memory of the sum of values times numbers of bytes.
    Address(MemRef, SmallVec<[(Value, u64); 2]>),
}

/// The entries, and in which order they came.
#[derive(Debug, Default)]
pub(super) struct Memo {
    entries: FxHashMap<Key, Reg>,
    order: Vec<Key>,
    starts: Vec<usize>,
}

impl Memo {
    pub(super) fn get(&self, key: &Key) -> Option<Reg> {
        self.entries.get(key).copied()
    }

    pub(super) fn insert(&mut self, key: Key, reg: Reg) {
        self.entries.insert(key.clone(), reg);
        self.order.push(key);
    }

    /// A block begins.
    pub(super) fn enter(&mut self) {
        self.starts.push(self.order.len());
    }

    /// The block ends: what was found in it is no longer there.
    pub(super) fn leave(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for key in self.order.drain(start..) {
            self.entries.remove(&key);
        }
    }
}
