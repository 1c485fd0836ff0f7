//! Faults that the interpreter finds by itself, as findings.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use smallvec::SmallVec;
use tilewise_interp::{GivenUp, ThreadFault, Threads};
use tilewise_ir::{FaultKind, Span};

use crate::finding::{Group, ThreadRange};
use crate::plan::{Place, Plan};
use crate::record::{Detail, Fact, Instance, Key, Record, Who};

/// Records a fault of one thread.
pub(crate) fn thread(plan: &Plan<'_>, fault: &ThreadFault, who: Who, record: &mut Record) {
    let span = fault.span;
    let site = fault.site.map_or(0, |site| plan.sites[site as usize].canon);
    let witness = fault.site.is_some_and(|site| plan.sites[site as usize].witness);
    let (key, fact) = match &fault.kind {
        // What is subtracted, and one more than what it is subtracted from.
        FaultKind::OutOfBounds { index, extent, .. } if witness => {
            (Key::Overflow { span }, Fact::Index(extent.wrapping_sub(1).wrapping_sub(*index)))
        }
        FaultKind::OutOfBounds { dim, index, extent, .. } => {
            let (index, extent) = (*index, *extent);
            let fact = Fact::Bounds { index, extent, all: fault.bounds.clone() };
            (Key::OutOfBounds { site, dim: *dim }, fact)
        }
        FaultKind::OutsideMemory { offset, len, .. } => {
            (Key::OutsideMemory { site }, Fact::Outside { offset: *offset, len: *len })
        }
        FaultKind::DivisionByZero => (Key::Division { span }, Fact::None),
        FaultKind::Assertion { message } => (Key::Assertion { span }, Fact::Message(message.clone())),
        FaultKind::RangeStep { step } => {
            let step = (*step).clamp(i64::MIN as i128, i64::MAX as i128) as i64;
            (Key::RangeStep { span }, Fact::Step(step))
        }
        FaultKind::AbsentLane { lane } => (Key::AbsentLane { span }, Fact::Lane(*lane)),
        // These are of several threads: see `block`.
        FaultKind::BarrierDivergence { .. }
        | FaultKind::WarpDivergence { .. }
        | FaultKind::NoProgress { .. }
        | FaultKind::TooManyRounds { .. } => return,
    };
    let place = fault.site.filter(|_| !witness).map(|site| plan.sites[site as usize].place);
    let of_access = place.is_some();
    let order = (who.block, who.interval);
    // The element that is not there, by its index in all dimensions; each thread has local memory of its own.
    let word = place.map(|place| match place {
        Place::Global { .. } => (element_outside(fault), false),
        Place::Shared(_) => (element_outside(fault), true),
        Place::Local(_) => (hash(&(fault.thread, element_outside(fault))), true),
    });
    record.add(Instance { word, ..Instance::one(key, order) }, || {
        if of_access { Detail::Access { word: None, who, fact } } else { Detail::Thread { who, fact } }
    });
}

/// A number for the element that an access would have touched: of one dimension the index, of several one that hardly two
/// elements share.
fn element_outside(fault: &ThreadFault) -> usize {
    match (&fault.kind, &fault.bounds[..]) {
        (FaultKind::OutsideMemory { offset, .. }, _) => *offset as usize,
        (_, [(_, index, _)]) => *index as usize,
        (_, bounds) => hash(&bounds.iter().map(|(_, index, _)| index).collect::<SmallVec<[_; 4]>>()[..]),
    }
}

fn hash<T: Hash + ?Sized>(of: &T) -> usize {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish() as usize
}

/// Records why a block was given up.
pub(crate) fn block(plan: &Plan<'_>, why: &GivenUp, who: Who, record: &mut Record) {
    let spans = |groups: &[(Span, Threads)]| groups.iter().map(|(span, _)| *span).collect::<Vec<_>>();
    let groups = |groups: &[(Span, Threads)]| {
        groups.iter().map(|(span, threads)| group(plan, Some(*span), threads)).collect::<Vec<_>>()
    };
    let first_thread = |groups: &[(Span, Threads)]| {
        groups.iter().filter_map(|(_, threads)| threads.iter().next()).min().unwrap_or(0) as u32
    };
    let (key, first, second, rounds, thread) = match why {
        GivenUp::Divergence { waiting, ended } => {
            let ended = (!ended.is_empty()).then(|| group(plan, None, ended)).into_iter().collect();
            (Key::Divergence { spans: spans(waiting) }, groups(waiting), ended, 0, first_thread(waiting))
        }
        GivenUp::WarpDivergence { waiting, ended } => {
            let ended = (!ended.is_empty()).then(|| group(plan, None, ended)).into_iter().collect();
            let key = Key::WarpDivergence { spans: spans(waiting) };
            (key, groups(waiting), ended, 0, first_thread(waiting))
        }
        GivenUp::NoProgress { cycles, spinning, at_barrier } => {
            let key = Key::NoProgress { cycles: *cycles, spans: spans(spinning) };
            (key, groups(spinning), groups(at_barrier), 0, first_thread(spinning))
        }
        GivenUp::TooManyRounds { rounds, running } => {
            let key = Key::StepLimit { spans: spans(running) };
            (key, groups(running), Vec::new(), *rounds, first_thread(running))
        }
    };
    let who = Who { thread, ..who };
    let order = (who.block, who.interval);
    record.add(Instance::one(key, order), || Detail::Groups { first, second, rounds, who });
}

/// Threads at a place, as ranges.
fn group(plan: &Plan<'_>, span: Option<Span>, threads: &Threads) -> Group {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for thread in threads.iter() {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == thread => *last = thread,
            _ => ranges.push((thread, thread)),
        }
    }
    let index = |thread: usize| plan.thread_index(thread as u32);
    Group {
        location: span.and_then(|span| plan.location(span)),
        count: threads.count(),
        threads: ranges
            .into_iter()
            .map(|(first, last)| ThreadRange { first: index(first), last: index(last) })
            .collect(),
    }
}
