//! The variants of a kernel that were compiled for the numbers of its launches.
//!
//! The numbers of a launch (grid, block, extents, strides, integers, alignments) give [facts](tilewise_ir::analysis), and
//! the facts give the variant. Conditions that the numbers decide are made constants first, and the passes run again. A
//! launch whose numbers were seen before neither analyses nor allocates.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHasher;
use tilewise_ir::analysis::{self, Facts, LaunchNumbers};
use tilewise_ir::{Kernel, pass};

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
pub(crate) struct Variants<V> {
    kernel: Kernel,
    optimize: bool,
    matters: fn(Facts) -> Facts,
    tables: Mutex<Tables<V>>,
}

#[derive(Debug)]
struct Tables<V> {
    by_numbers: Table<LaunchNumbers, Arc<V>>,
    /// What the kernel is where these of its conditions are decided.
    by_decisions: Table<Decisions, Arc<Kernel>>,
    /// By the conditions that are decided, and the facts about the kernel that has no such conditions.
    by_facts: Table<(Decisions, Facts), Arc<V>>,
}

/// [`Facts::decided`].
type Decisions = Vec<Option<bool>>;

impl<V> Variants<V> {
    /// None yet. `optimize` is whether the passes have run on the kernel, so that they may run again where a launch has
    /// decided its conditions; `matters` keeps of facts what the device makes use of.
    pub(crate) fn new(kernel: Kernel, optimize: bool, matters: fn(Facts) -> Facts) -> Variants<V> {
        let tables = Tables {
            by_numbers: Table::new(NUMBERS),
            by_decisions: Table::new(VARIANTS),
            by_facts: Table::new(VARIANTS),
        };
        Variants { kernel, optimize, matters, tables: Mutex::new(tables) }
    }

    /// The kernel, of which nothing is known.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether passes have run on the kernel.
    pub(crate) fn optimize(&self) -> bool {
        self.optimize
    }

    /// The variant for a launch, compiled from a kernel and facts about it if there is none; `address` gives that of a
    /// tensor's first element. Others who launch the same kernel wait while it is compiled.
    pub(crate) fn get(
        &self,
        launch: &DeviceLaunch<'_>,
        address: fn(&TensorValue) -> u64,
        compile: impl FnOnce(&Kernel, &Facts) -> Result<V>,
    ) -> Result<Arc<V>> {
        let numbers = Numbers::new(launch, address);
        let hash = numbers.hash();
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = tables.by_numbers.get(hash, |known| numbers.are(known)) {
            return Ok(Arc::clone(variant));
        }
        let numbers = numbers.to_launch_numbers();
        let mut facts = analysis::analyze(&self.kernel, &numbers);
        let (mut decisions, mut decided) = (Decisions::new(), None);
        if self.optimize && facts.decided.iter().any(Option::is_some) {
            let kernel = tables.decided(&self.kernel, &facts.decided);
            decisions = facts.decided;
            facts = analysis::analyze(&kernel, &numbers);
            decided = Some(kernel);
        }
        let facts = (self.matters)(facts);
        let facts_hash = hash_of(&(&decisions, &facts));
        let is_known = |known: &(Decisions, Facts)| known.0 == decisions && known.1 == facts;
        let variant = match tables.by_facts.get(facts_hash, is_known) {
            Some(variant) => Arc::clone(variant),
            None => {
                let variant = Arc::new(compile(decided.as_deref().unwrap_or(&self.kernel), &facts)?);
                tables.by_facts.insert(facts_hash, (decisions, facts), Arc::clone(&variant));
                variant
            }
        };
        tables.by_numbers.insert(hash, numbers, Arc::clone(&variant));
        Ok(variant)
    }
}

impl<V> Tables<V> {
    /// A kernel without the conditions that are decided.
    fn decided(&mut self, kernel: &Kernel, decisions: &Decisions) -> Arc<Kernel> {
        let hash = hash_of(decisions);
        if let Some(kernel) = self.by_decisions.get(hash, |known| known == decisions) {
            return Arc::clone(kernel);
        }
        let mut decided = kernel.clone();
        if pass::decide::run(&mut decided, decisions) {
            pass::optimize(&mut decided);
        }
        let decided = Arc::new(decided);
        self.by_decisions.insert(hash, decisions.clone(), Arc::clone(&decided));
        decided
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
