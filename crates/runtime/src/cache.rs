//! Compiled kernels, by what was described.
//!
//! A kernel is described anew at each launch; that is cheap, and it is what makes plain Rust the compile-time language.
//! Compiling is not cheap. So the description is looked up by its structure (every operation, type, name and source
//! position) and compiled only if it is new. Nothing else is in the key: no address, no extent that is not part of the
//! description, no order of launches.
//!
//! The number of kernels that are kept is bounded; who has not been launched for the longest time goes first.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};
use tilewise_check::profile::Subject;
use tilewise_ir::pass::{self, Optimizer};
use tilewise_ir::{Block, Kernel, verify};

use crate::device::{Device, Executable};
use crate::dump::Dump;
use crate::error::{Error, Result};

/// The most kernels that are kept.
const CAPACITY: usize = 512;

/// Which passes a kernel goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Passes {
    /// Those without which it would compute something else, then these.
    Optimized(Optimizer),
    /// Those that hide nothing from the checker.
    Checked,
    /// Those that leave what was staged to be counted, and hide nothing from the checker.
    Profiled,
}

/// The compiled kernels of a context.
#[derive(Debug, Default)]
pub(crate) struct KernelCache {
    entries: Mutex<Entries>,
    compilations: AtomicU64,
    dump: Option<Dump>,
}

#[derive(Debug, Default)]
struct Entries {
    /// By the hash of the description; several only if hashes are equal by chance.
    by_hash: FxHashMap<u64, Vec<Arc<Entry>>>,
    len: usize,
    /// Counts look-ups.
    time: u64,
}

#[derive(Debug)]
struct Entry {
    described: Kernel,
    passes: Passes,
    last_used: AtomicU64,
    /// Set by the first who needs it; others wait.
    code: OnceLock<Result<Code>>,
}

/// What a kernel is compiled to.
#[derive(Debug)]
struct Code {
    executable: Arc<dyn Executable>,
    /// What is known of it for profiles, if it goes through those passes.
    subject: Option<Subject>,
}

/// A compiled kernel of the cache.
#[derive(Debug)]
pub(crate) struct Compiled(Arc<Entry>);

impl Compiled {
    /// What can be launched.
    pub(crate) fn executable(&self) -> Result<&dyn Executable> {
        match self.0.code.get() {
            Some(Ok(code)) => Ok(&*code.executable),
            Some(Err(error)) => Err(error.clone()),
            None => unreachable!("an entry is given out when it has been compiled"),
        }
    }

    /// What is known of it for profiles, if it was compiled to be profiled.
    pub(crate) fn subject(&self) -> Option<&Subject> {
        self.0.code.get()?.as_ref().ok()?.subject.as_ref()
    }
}

impl KernelCache {
    /// No kernels yet; those that get compiled are also written as text if `dump` says where.
    pub(crate) fn new(dump: Option<Dump>) -> KernelCache {
        KernelCache { dump, ..KernelCache::default() }
    }

    /// How many kernels have been compiled.
    pub(crate) fn compilations(&self) -> u64 {
        self.compilations.load(Ordering::Relaxed)
    }

    /// The kernel compiled for `device`, which is the same at each call.
    pub(crate) fn get(&self, described: &Kernel, passes: Passes, device: &dyn Device) -> Result<Compiled> {
        let hash = structural_hash(described, passes);
        let entry = self.lock().entry(hash, described, passes);
        let code = entry.code.get_or_init(|| {
            self.compilations.fetch_add(1, Ordering::Relaxed);
            compile(&entry.described, passes, device, self.dump.as_ref())
        });
        if let Err(error) = code {
            // What failed may work later, when there is more memory.
            let error = error.clone();
            self.lock().remove(hash, &entry);
            return Err(error);
        }
        Ok(Compiled(entry))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// The entry of a description, a new one if it is not there.
    fn entry(&mut self, hash: u64, described: &Kernel, passes: Passes) -> Arc<Entry> {
        self.time += 1;
        let time = self.time;
        if let Some(same_hash) = self.by_hash.get(&hash)
            && let Some(found) = same_hash.iter().find(|e| e.passes == passes && e.described == *described)
        {
            found.last_used.store(time, Ordering::Relaxed);
            return Arc::clone(found);
        }
        if self.len == CAPACITY {
            self.remove_oldest();
        }
        let (described, last_used) = (described.clone(), AtomicU64::new(time));
        let entry = Arc::new(Entry { described, passes, last_used, code: OnceLock::new() });
        self.by_hash.entry(hash).or_default().push(Arc::clone(&entry));
        self.len += 1;
        entry
    }

    fn remove(&mut self, hash: u64, entry: &Arc<Entry>) {
        if let Some(same_hash) = self.by_hash.get_mut(&hash) {
            let before = same_hash.len();
            same_hash.retain(|e| !Arc::ptr_eq(e, entry));
            self.len -= before - same_hash.len();
            if same_hash.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
    }

    fn remove_oldest(&mut self) {
        let all = self.by_hash.iter().flat_map(|(hash, entries)| entries.iter().map(move |e| (*hash, e)));
        let oldest = all.min_by_key(|(_, entry)| entry.last_used.load(Ordering::Relaxed));
        if let Some((hash, entry)) = oldest.map(|(hash, entry)| (hash, Arc::clone(entry))) {
            self.remove(hash, &entry);
        }
    }
}

/// From the description to something that runs.
fn compile(described: &Kernel, passes: Passes, device: &dyn Device, dump: Option<&Dump>) -> Result<Code> {
    let (kernel, subject) = prepared(described, passes, |kernel| device.lower(kernel))?;
    if let Some(dump) = dump {
        dump.write(&kernel)?;
    }
    let optimizer = match passes {
        Passes::Optimized(optimizer) => optimizer,
        Passes::Checked | Passes::Profiled => Optimizer::OFF,
    };
    Ok(Code { executable: device.compile(kernel, optimizer)?, subject })
}

/// What a backend gets of a description, and what a profile knows of it; `lower` rewrites what the backend's device has no
/// instructions for, and tells whether it has changed anything.
pub(crate) fn prepared(
    described: &Kernel,
    passes: Passes,
    lower: impl FnOnce(&mut Kernel) -> bool,
) -> Result<(Kernel, Option<Subject>)> {
    verified(described, described)?;
    let mut kernel = described.clone();
    let mut subject = None;
    match passes {
        Passes::Optimized(optimizer) => {
            pass::prepare(&mut kernel);
            optimizer.run(&mut kernel);
        }
        Passes::Checked => pass::prepare_checked(&mut kernel),
        Passes::Profiled => subject = Some(Subject::prepare(&mut kernel)),
    }
    if lower(&mut kernel)
        && let Passes::Optimized(optimizer) = passes
    {
        optimizer.run(&mut kernel);
    }
    verified(&kernel, described)?;
    Ok((kernel, subject))
}

fn verified(kernel: &Kernel, described: &Kernel) -> Result<()> {
    verify::verify(kernel).map_err(|errors| Error::invalid_kernel(&described.name, &errors))
}

/// A hash of all that the description is but its source positions, which equality looks at.
fn structural_hash(kernel: &Kernel, passes: Passes) -> u64 {
    fn hash_block(block: &Block, hasher: &mut FxHasher) {
        block.params.hash(hasher);
        block.insts.len().hash(hasher);
        for inst in &block.insts {
            inst.op.hash(hasher);
            inst.args.hash(hasher);
            inst.results.hash(hasher);
            inst.span.hash(hasher);
            inst.blocks.iter().for_each(|inner| hash_block(inner, hasher));
        }
    }
    let Kernel { name, params, allocs, values, labels, body, spans: _, contract } = kernel;
    let mut hasher = FxHasher::default();
    (name, params, allocs, values, labels, contract, passes).hash(&mut hasher);
    hash_block(body, &mut hasher);
    hasher.finish()
}
