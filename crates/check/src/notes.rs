//! What else is to be known of a finding: what the kernel tells beside the accesses or waits that it is about.

use tilewise_interp::SiteKind;
use tilewise_ir::{Block, Kernel, Op, Ordering, Scope, Span};

use crate::clocks::{acquires, releases};
use crate::finding::Note;
use crate::plan::{Plan, PlannedSite, reads_for_others, scope};
use crate::record::Who;

/// Of a race between two accesses, by these threads.
pub(crate) fn of_race(plan: &Plan<'_>, first: u16, second: u16, [one, two]: [Who; 2]) -> Vec<Note> {
    let between_blocks = one.block != two.block;
    let (a, b) = (&plan.sites[first as usize], &plan.sites[second as usize]);
    let mut notes = Vec::new();
    let [name, other] = [a, b].map(|site| plan.kernel.mem_name(site.access.mem));
    if name != other {
        notes.push(Note::OneMemory { other: other.to_owned() });
    }
    if in_two_branches(plan.kernel, a.access.span, b.access.span) {
        notes.push(Note::Branches);
    }
    if !between_blocks && plan.needs((second, two.thread), (first, one.thread)) {
        notes.push(Note::Depends);
    }
    if !a.class.is_atomic() && !b.class.is_atomic() {
        notes.extend(weak(plan, between_blocks));
    }
    notes
}

/// Of threads that wait at these positions.
pub(crate) fn of_waits(kernel: &Kernel, spans: &[Span]) -> Vec<Note> {
    let collective = |span: Span| {
        let (mut barrier, mut warp) = (false, false);
        kernel.body.visit(&mut |inst| {
            barrier |= inst.span == span && inst.op == Op::Barrier;
            warp |= inst.span == span && inst.op.is_warp_operation();
        });
        barrier && warp
    };
    if spans.iter().any(|&span| collective(span)) { vec![Note::Collective] } else { Vec::new() }
}

/// Atomics that some threads write and others look at, and that order nothing else.
fn weak(plan: &Plan<'_>, between_blocks: bool) -> Option<Note> {
    let mut fences = (false, false);
    plan.kernel.body.visit(&mut |inst| {
        if let Op::Fence(_, ordering) = inst.op {
            fences = (fences.0 | releases(ordering), fences.1 | acquires(ordering));
        }
    });
    let atomic = |site: &&PlannedSite| site.class.is_atomic();
    plan.sites.iter().filter(atomic).find_map(|flag| {
        let of_flag = || plan.sites.iter().filter(atomic).filter(|site| site.place == flag.place);
        let writers = || of_flag().filter(|site| site.class.is_write());
        let readers = || of_flag().filter(|site| reads_for_others(plan.kernel, site));
        if writers().next().is_none() || readers().next().is_none() {
            return None;
        }
        let memory = plan.kernel.mem_name(flag.access.mem).to_owned();
        if between_blocks && of_flag().any(|site| scope(site.access.kind) == Scope::Block) {
            return Some(Note::BlockScope { memory });
        }
        let orders = |site: &PlannedSite, f: fn(Ordering) -> bool| match site.access.kind {
            SiteKind::AtomicLoad(_, ordering)
            | SiteKind::AtomicStore(_, ordering)
            | SiteKind::AtomicUpdate(_, ordering) => f(ordering),
            SiteKind::Load | SiteKind::Store => false,
        };
        let released = fences.0 || writers().any(|site| orders(site, releases));
        let acquired = fences.1 || readers().any(|site| orders(site, acquires));
        (!released || !acquired).then_some(Note::Relaxed { memory })
    })
}

/// Whether accesses at two positions are in different branches of one `if`, wherever they occur.
fn in_two_branches(kernel: &Kernel, a: Span, b: Span) -> bool {
    let mut paths = [Vec::new(), Vec::new()];
    collect(&kernel.body, [a, b], &mut 0, &mut Vec::new(), &mut paths);
    let apart = |a: &[(usize, usize)], b: &[(usize, usize)]| {
        a.iter().any(|&(number, branch)| b.contains(&(number, 1 - branch)))
    };
    let [of_a, of_b] = &paths;
    !of_a.is_empty() && !of_b.is_empty() && of_a.iter().all(|a| of_b.iter().all(|b| apart(a, b)))
}

/// For each position the branches that it lies in, as the numbers of the `if` and of its branch.
fn collect(
    block: &Block,
    spans: [Span; 2],
    ifs: &mut usize,
    path: &mut Vec<(usize, usize)>,
    paths: &mut [Vec<Vec<(usize, usize)>>; 2],
) {
    for inst in &block.insts {
        if inst.op.access().is_some() {
            let found = spans.iter().zip(&mut *paths).filter(|(span, _)| **span == inst.span);
            found.for_each(|(_, paths)| paths.push(path.clone()));
        }
        let number = *ifs;
        *ifs += 1;
        for (branch, inner) in inst.blocks.iter().enumerate() {
            let is_if = inst.op == Op::If;
            if is_if {
                path.push((number, branch));
            }
            collect(inner, spans, ifs, path, paths);
            if is_if {
                path.pop();
            }
        }
    }
}
