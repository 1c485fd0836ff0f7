//! The variants of a kernel that were compiled for the numbers of its launches.
//!
//! The numbers of a launch (grid, block, extents, strides, integers, alignments) give [facts](tilewise_ir::analysis), and
//! the facts give the variant. A launch whose numbers were seen before neither analyses nor allocates.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHasher;
use tilewise_ir::Kernel;
use tilewise_ir::analysis::{self, Facts, LaunchNumbers};

use crate::device::DeviceLaunch;
use crate::device::numbers::Numbers;
use crate::device::table::Table;
use crate::error::Result;
use crate::launch::TensorValue;

/// The most launches whose numbers are remembered.
const NUMBERS: usize = 64;

/// The most variants that are kept.
const VARIANTS: usize = 16;

/// The variants of one kernel, each a `V`.
#[derive(Debug)]
pub(crate) struct Variants<V>(Mutex<Tables<V>>);

#[derive(Debug)]
struct Tables<V> {
    by_numbers: Table<LaunchNumbers, Arc<V>>,
    by_facts: Table<Facts, Arc<V>>,
}

impl<V> Variants<V> {
    /// None yet.
    pub(crate) fn new() -> Variants<V> {
        Variants(Mutex::new(Tables { by_numbers: Table::new(NUMBERS), by_facts: Table::new(VARIANTS) }))
    }

    /// Calls `enqueue` with the variant of `kernel` for a launch, compiled if there is none; `address` gives that of a
    /// tensor's first element. Others who launch the same kernel wait meanwhile.
    pub(crate) fn with(
        &self,
        kernel: &Kernel,
        launch: &DeviceLaunch<'_>,
        address: fn(&TensorValue) -> u64,
        compile: impl FnOnce(&Facts) -> Result<V>,
        enqueue: impl FnOnce(&V) -> Result<()>,
    ) -> Result<()> {
        let numbers = Numbers::new(launch, address);
        let hash = numbers.hash();
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = tables.by_numbers.get(hash, |known| numbers.are(known)) {
            return enqueue(variant);
        }
        let numbers = numbers.to_launch_numbers();
        let facts = analysis::analyze(kernel, &numbers);
        let mut hasher = FxHasher::default();
        facts.hash(&mut hasher);
        let facts_hash = hasher.finish();
        let variant = match tables.by_facts.get(facts_hash, |known| *known == facts) {
            Some(variant) => Arc::clone(variant),
            None => {
                let variant = Arc::new(compile(&facts)?);
                tables.by_facts.insert(facts_hash, facts, Arc::clone(&variant));
                variant
            }
        };
        tables.by_numbers.insert(hash, numbers, Arc::clone(&variant));
        enqueue(&variant)
    }
}
