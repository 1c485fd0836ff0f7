//! What is known of a launch before it runs: which accesses can conflict, in which memory, and how blocks may order each
//! other.

use rustc_hash::FxHashMap;
use tilewise_interp::{AccessSite, Arg, LaunchConfig, Program, SiteKind};
use tilewise_ir::pass::{marks, witness};
use tilewise_ir::{Kernel, MemRef, Op, Ordering, Scalar, Scope, Space, Span, WARP_SIZE};

use crate::exchange;
use crate::finding::{Action, Element, Location, MemorySpace, Site};

/// A launch as the checker sees it.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) config: LaunchConfig,
    /// The accesses, by their number in the program.
    pub(crate) sites: Vec<PlannedSite>,
    /// Buffers of the arguments, each once.
    pub(crate) buffers: Vec<BufferPlan>,
    /// For each allocation, whether it is touched atomically.
    pub(crate) atomic_allocs: Vec<bool>,
    /// Extents and strides of tensor arguments, by parameter.
    tensors: Vec<Option<TensorPlan>>,
    /// Whether anything but barriers of the block orders threads (acquire, release, fences, barriers of warps), or blocks do not run one after the other.
    pub(crate) needs_clocks: bool,
    /// Whether what a block reads can depend on other blocks.
    pub(crate) blocks_depend: bool,
    /// Whether there are more positions than the shadow can tell apart.
    pub(crate) too_many_sites: bool,
}

/// A memory access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedSite {
    pub(crate) access: AccessSite,
    pub(crate) place: Place,
    pub(crate) class: Class,
    /// The number of the first access that reads the same in the source: what findings are told apart by.
    pub(crate) canon: u16,
    /// Whether it can take part in a race, or read what nobody wrote.
    pub(crate) tracked: bool,
    /// Whether it is no access of the user's, but tells of index arithmetic that wraps.
    pub(crate) witness: bool,
    /// Whether it is no access of the user's, but tells who comes to a basic block.
    pub(crate) mark: bool,
}

impl PlannedSite {
    /// Whether there is anything to look at when it happens.
    pub(crate) fn is_watched(&self) -> bool {
        self.tracked || self.access.align as usize > self.access.scalar.size()
    }
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A buffer, by its number in [`Plan::buffers`], and the number of its word that is the first of the tensor.
    Global { buffer: u32, offset: usize },
    /// Shared memory, by number of the allocation.
    Shared(u32),
    /// Memory of each thread, by number of the allocation.
    Local(u32),
}

/// What matters of an access for races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    Read,
    Write,
    AtomicRead,
    AtomicWrite,
}

impl Class {
    pub(crate) const ALL: [Class; 4] = [Class::Read, Class::Write, Class::AtomicRead, Class::AtomicWrite];

    pub(crate) fn is_write(self) -> bool {
        matches!(self, Class::Write | Class::AtomicWrite)
    }

    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Class::AtomicRead | Class::AtomicWrite)
    }

    /// Whether the order of two accesses can matter: atomic ones are no race, but what they read depends on it.
    pub(crate) fn order_matters(self, other: Class) -> bool {
        self.is_write() || other.is_write()
    }

    /// Whether two accesses of different threads that nothing orders are a race.
    pub(crate) fn conflicts(self, other: Class) -> bool {
        self.order_matters(other) && !(self.is_atomic() && other.is_atomic())
    }
}

/// A buffer that arguments are views of.
#[derive(Debug)]
pub(crate) struct BufferPlan {
    pub(crate) len: usize,
    /// Whether some access writes it: if none does, none is a race.
    pub(crate) written: bool,
    /// Whether some access reads it, so that what was there before a write is worth keeping.
    pub(crate) read: bool,
    /// Whether some access is atomic.
    pub(crate) atomic: bool,
}

#[derive(Debug)]
struct TensorPlan {
    extents: Vec<u64>,
    strides: Vec<u64>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(program: &'a Program, config: LaunchConfig, args: &[Arg<'_>]) -> Plan<'a> {
        let kernel = program.kernel();
        let (mut buffers, mut by_param, mut tensors) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: Vec<*const tilewise_interp::Buffer> = Vec::new();
        for arg in args {
            let Arg::Tensor { buffer, offset, extents, strides } = *arg else {
                by_param.push(None);
                tensors.push(None);
                continue;
            };
            let number = known.iter().position(|known| std::ptr::eq(*known, buffer)).unwrap_or_else(|| {
                known.push(buffer);
                buffers.push(BufferPlan { len: buffer.len(), written: false, read: false, atomic: false });
                known.len() - 1
            });
            by_param.push(Some((number as u32, offset as usize)));
            tensors.push(Some(TensorPlan { extents: extents.to_vec(), strides: strides.to_vec() }));
        }
        let mut plan = Plan {
            kernel,
            config,
            sites: Vec::new(),
            buffers,
            atomic_allocs: vec![false; kernel.allocs.len()],
            tensors,
            needs_clocks: has_order(kernel) || program.blocks_wait(),
            blocks_depend: false,
            too_many_sites: false,
        };
        let mut canon: FxHashMap<(Span, MemRef, Action), u16> = FxHashMap::default();
        for access in program.sites() {
            let place = match access.mem {
                MemRef::Param(param) => {
                    let (buffer, offset) =
                        by_param.get(param.0 as usize).copied().flatten().unwrap_or((u32::MAX, 0));
                    Place::Global { buffer, offset }
                }
                MemRef::Alloc(alloc) => match kernel.allocs[alloc.0 as usize].space {
                    Space::Shared => Place::Shared(alloc.0),
                    Space::Local => Place::Local(alloc.0),
                },
            };
            let next = plan.sites.len();
            plan.too_many_sites |= next > u16::MAX as usize;
            let canon = *canon
                .entry((access.span, access.mem, action(access.kind)))
                .or_insert(next.min(u16::MAX as usize) as u16);
            let class = class(access.kind);
            match place {
                Place::Global { buffer, .. } => {
                    if let Some(buffer) = plan.buffers.get_mut(buffer as usize) {
                        buffer.written |= class.is_write();
                        buffer.read |= class != Class::Write;
                        buffer.atomic |= class.is_atomic();
                    }
                }
                Place::Shared(alloc) | Place::Local(alloc) => {
                    plan.atomic_allocs[alloc as usize] |= class.is_atomic();
                }
            }
            let witness = kernel.mem_name(access.mem) == witness::NAME;
            let mark = kernel.mem_name(access.mem) == marks::NAME;
            let tracked = !witness && !mark;
            plan.sites.push(PlannedSite { access, place, class, canon, tracked, witness, mark });
        }
        let buffers = &plan.buffers;
        for site in &mut plan.sites {
            if let Place::Global { buffer, .. } = site.place {
                site.tracked = buffers.get(buffer as usize).is_some_and(|buffer| buffer.written);
            }
        }
        plan.blocks_depend = plan.sites.iter().any(|site| {
            let global = matches!(site.place, Place::Global { .. });
            global && site.tracked && reads_for_others(kernel, site)
        });
        plan
    }

    /// Index in the grid of the block of this number.
    pub(crate) fn block_index(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.config.grid.map(u64::from);
        [block % x, block / x % y, block / x / y].map(|n| n as u32)
    }

    /// Index in its block of the thread of this number.
    pub(crate) fn thread_index(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.config.block;
        [thread % x, thread / x % y, thread / x / y]
    }

    pub(crate) fn threads(&self) -> usize {
        self.config.threads() as usize
    }

    /// Words of an allocation.
    pub(crate) fn alloc_words(&self, alloc: u32) -> usize {
        let alloc = &self.kernel.allocs[alloc as usize];
        alloc.len as usize * alloc.elem.lanes as usize
    }

    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        self.kernel.spans.get(span).map(Location::from)
    }

    /// The position and action of an access, for a finding.
    pub(crate) fn site(&self, number: u16) -> Site {
        let site = &self.sites[number as usize];
        Site { location: self.location(site.access.span), action: action(site.access.kind) }
    }

    /// Whether an access by a thread of a block needs what an access by another thread has read: then it cannot come first.
    pub(crate) fn needs(&self, (by, by_thread): (u16, u32), (of, of_thread): (u16, u32)) -> bool {
        let access = |site: u16, thread: u32| {
            let access = &self.sites[site as usize].access;
            exchange::Access { span: access.span, mem: access.mem, lane: thread % WARP_SIZE }
        };
        by_thread / WARP_SIZE == of_thread / WARP_SIZE
            && exchange::needs(self.kernel, access(by, by_thread), access(of, of_thread))
    }

    pub(crate) fn scalar(&self, number: u16) -> Scalar {
        self.sites[number as usize].access.scalar
    }

    /// The element of a word of what an access touches. A word of a buffer is counted from the buffer's start.
    pub(crate) fn element(&self, number: u16, word: usize) -> Element {
        let site = &self.sites[number as usize];
        let memory = self.kernel.mem_name(site.access.mem).to_owned();
        match (site.place, site.access.mem) {
            (Place::Global { offset, .. }, MemRef::Param(param)) => {
                let offset = word.saturating_sub(offset) as u64;
                let tensor = self.tensors.get(param.0 as usize).and_then(Option::as_ref);
                let index = tensor.and_then(|tensor| tensor.index(offset)).unwrap_or_else(|| vec![offset]);
                Element { memory, space: MemorySpace::Global, index }
            }
            (place, mem) => {
                let lanes = self.kernel.mem_elem(mem).map_or(1, |elem| elem.lanes.max(1));
                let space = match place {
                    Place::Local(_) => MemorySpace::Local,
                    _ => MemorySpace::Shared,
                };
                Element { memory, space, index: vec![word as u64 / lanes as u64] }
            }
        }
    }
}

impl TensorPlan {
    /// The index of an element, by its offset: the one in which dimensions of larger stride come first.
    fn index(&self, offset: u64) -> Option<Vec<u64>> {
        let mut order: Vec<usize> = (0..self.extents.len()).collect();
        order.sort_by_key(|&dim| (std::cmp::Reverse(self.strides[dim]), dim));
        let (mut rest, mut index) = (offset, vec![0; self.extents.len()]);
        for dim in order {
            let (extent, stride) = (self.extents[dim], self.strides[dim]);
            if stride > 0 && extent > 0 {
                index[dim] = (rest / stride).min(extent - 1);
                rest -= index[dim] * stride;
            }
        }
        (rest == 0).then_some(index)
    }
}

/// What an access does, for a finding.
pub(crate) fn action(kind: SiteKind) -> Action {
    match kind {
        SiteKind::Load => Action::Read,
        SiteKind::Store => Action::Write,
        SiteKind::AtomicLoad(..) => Action::AtomicRead,
        SiteKind::AtomicStore(..) => Action::AtomicWrite,
        SiteKind::AtomicUpdate(..) => Action::AtomicUpdate,
    }
}

fn class(kind: SiteKind) -> Class {
    match kind {
        SiteKind::Load => Class::Read,
        SiteKind::Store => Class::Write,
        SiteKind::AtomicLoad(..) => Class::AtomicRead,
        SiteKind::AtomicStore(..) | SiteKind::AtomicUpdate(..) => Class::AtomicWrite,
    }
}

/// Scope of an atomic access.
pub(crate) fn scope(kind: SiteKind) -> Scope {
    match kind {
        SiteKind::Load | SiteKind::Store => Scope::Device,
        SiteKind::AtomicLoad(scope, _)
        | SiteKind::AtomicStore(scope, _)
        | SiteKind::AtomicUpdate(scope, _) => scope,
    }
}

/// Whether anything orders threads but barriers.
fn has_order(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.body.visit(&mut |inst| {
        found |= match &inst.op {
            Op::AtomicLoad(_, _, ordering)
            | Op::AtomicStore(_, _, ordering)
            | Op::AtomicRmw(_, _, _, ordering)
            | Op::AtomicCas(_, _, ordering) => *ordering != Ordering::Relaxed,
            Op::Fence(_, ordering) => *ordering != Ordering::Relaxed,
            Op::WarpBarrier => true,
            _ => false,
        };
    });
    found
}

/// Whether an access gives the kernel a value that other blocks may have written.
pub(crate) fn reads_for_others(kernel: &Kernel, site: &PlannedSite) -> bool {
    match site.access.kind {
        SiteKind::Load | SiteKind::AtomicLoad(..) => true,
        SiteKind::AtomicStore(..) | SiteKind::Store => false,
        SiteKind::AtomicUpdate(..) => {
            // By its position, since that is what the access and the operation have in common.
            let mut used = false;
            let mut results = Vec::new();
            kernel.body.visit(&mut |inst| {
                if matches!(inst.op, Op::AtomicRmw(..) | Op::AtomicCas(..)) && inst.span == site.access.span {
                    results.extend_from_slice(&inst.results);
                }
            });
            kernel.body.visit(&mut |inst| used |= inst.args.iter().any(|arg| results.contains(arg)));
            used
        }
    }
}
