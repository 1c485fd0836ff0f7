//! The variants of a kernel that were compiled for the numbers of its launches.
//!
//! The numbers of a launch (grid, block, extents, strides, integers, alignments) give [facts](tilewise_ir::analysis), and
//! the facts give the variant. Conditions that the numbers decide are made constants first, bounds that they prove are
//! taken out, and the passes run again. A launch whose numbers were seen before neither analyses nor allocates.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHasher;
use tilewise_ir::Kernel;
use tilewise_ir::analysis::{self, Facts, LaunchNumbers};
use tilewise_ir::pass::{Decisions, Optimizer};

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
    optimizer: Optimizer,
    matters: fn(Facts) -> Facts,
    tables: Mutex<Tables<V>>,
}

#[derive(Debug)]
struct Tables<V> {
    by_numbers: Table<LaunchNumbers, Arc<V>>,
    /// What the kernel is where this is decided.
    by_decisions: Table<Decisions, Arc<Kernel>>,
    /// By what is decided, and the facts about the kernel of these decisions.
    by_facts: Table<(Option<Decisions>, Facts), Arc<V>>,
}

impl<V> Variants<V> {
    /// None yet. The passes of `optimizer` have run on the kernel, and run again where a launch has decided something;
    /// `matters` keeps of facts what the device makes use of.
    pub(crate) fn new(kernel: Kernel, optimizer: Optimizer, matters: fn(Facts) -> Facts) -> Variants<V> {
        let tables = Tables {
            by_numbers: Table::new(NUMBERS),
            by_decisions: Table::new(VARIANTS),
            by_facts: Table::new(VARIANTS),
        };
        Variants { kernel, optimizer, matters, tables: Mutex::new(tables) }
    }

    /// A kernel, and facts about it, whose accesses of neighbouring elements are joined, as a GPU wants it.
    #[cfg(any(feature = "cuda", feature = "wgpu"))]
    pub(crate) fn vectorized(&self, kernel: &Kernel, facts: &Facts) -> (Kernel, Facts) {
        let (mut kernel, mut facts) = (kernel.clone(), facts.clone());
        self.optimizer.vectorize(&mut kernel, &mut facts);
        (kernel, facts)
    }

    /// The kernel, of which nothing is known.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.kernel
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
        let decisions = Decisions::of(&self.kernel, &facts, self.optimizer);
        let decided =
            decisions.as_ref().map(|decisions| tables.decided(&self.kernel, decisions, self.optimizer));
        if let Some(kernel) = &decided {
            facts = analysis::analyze(kernel, &numbers);
        }
        let facts = (self.matters)(facts);
        let facts_hash = hash_of(&(&decisions, &facts));
        let is_known = |known: &(Option<Decisions>, Facts)| known.0 == decisions && known.1 == facts;
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
    /// A kernel without the conditions that are decided and the bounds that hold.
    fn decided(&mut self, kernel: &Kernel, decisions: &Decisions, optimizer: Optimizer) -> Arc<Kernel> {
        let hash = hash_of(decisions);
        if let Some(kernel) = self.by_decisions.get(hash, |known| known == decisions) {
            return Arc::clone(kernel);
        }
        let mut decided = kernel.clone();
        decisions.apply(&mut decided, optimizer);
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
