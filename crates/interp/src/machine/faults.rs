//! Faults of a block: the first in full, the others counted.

use tilewise_ir::{Fault, FaultKind, Kernel, Span};

use crate::observe::ThreadFault;

/// What went wrong in a block, or in all blocks so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) count: u64,
    pub(crate) first: Option<Fault>,
    /// All faults of single threads that nobody was told of, if somebody wants to know.
    pub(crate) log: Option<Vec<ThreadFault>>,
}

/// Where in the launch something happens.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) kernel: &'a Kernel,
    /// Index of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Threads along each axis of a block.
    pub(crate) block_dim: [u32; 3],
}

impl Place<'_> {
    /// The index of a thread, given by its number, in its block.
    pub(crate) fn thread(&self, number: usize) -> [u32; 3] {
        let [x, y, _] = self.block_dim;
        let number = number as u32;
        [number % x, number / x % y, number / x / y]
    }
}

impl Faults {
    /// Adds a fault of one thread. What it was is asked for only if it is the first.
    pub(crate) fn add(
        &mut self,
        place: Place<'_>,
        span: Span,
        thread: usize,
        kind: impl FnOnce() -> FaultKind,
    ) {
        self.add_at(place, span, None, thread, Vec::new, kind);
    }

    /// [`add`](Faults::add), of a thread at an access, with all the dimensions that were checked.
    pub(crate) fn add_at(
        &mut self,
        place: Place<'_>,
        span: Span,
        site: Option<u32>,
        thread: usize,
        bounds: impl FnOnce() -> Vec<(u8, u64, u64)>,
        kind: impl FnOnce() -> FaultKind,
    ) {
        let Some(log) = &mut self.log else { return self.add_group(place, span, thread, kind) };
        let kind = kind();
        log.push(ThreadFault { kind: kind.clone(), span, thread: thread as u32, site, bounds: bounds() });
        self.add_group(place, span, thread, || kind);
    }

    /// Adds a fault of several threads, the first of which is given.
    pub(crate) fn add_group(
        &mut self,
        place: Place<'_>,
        span: Span,
        thread: usize,
        kind: impl FnOnce() -> FaultKind,
    ) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(Fault {
                kind: kind(),
                location: place.kernel.spans.get(span),
                block: place.block,
                thread: place.thread(thread),
            });
        }
    }
}
