//! Which values are the same for all threads of a block, so that a barrier may depend on them.
//!
//! Threads that have ended count, too: where a barrier comes after an early return, they go on with the others, and only
//! leave out what has an effect. So a value is uniform only if a thread that has ended has it as well: what is loaded, and
//! what comes out of a structure that ended threads pass over, is not.

use rustc_hash::{FxHashMap, FxHashSet};
use tilewise_ir::{Block, Builtin, Effect, Inst, Kernel, Label, MemRef, Op, ParamKind, Value};

/// Uniformity of values and loops, and which structures all threads have to go through together.
#[derive(Debug, Default)]
pub(crate) struct Uniform {
    varying: Vec<bool>,
    /// Loops that threads leave, or go to the next round of, at different places or in different rounds.
    diverges: FxHashSet<Label>,
    /// Loops with a barrier in them.
    barriers: FxHashSet<Label>,
    /// Whether threads may end before the end of the kernel.
    early: bool,
}

/// Where jumps to each loop come from.
#[derive(Default)]
struct Jumps<'k> {
    breaks: FxHashMap<Label, Vec<&'k Inst>>,
    continues: FxHashMap<Label, Vec<&'k Inst>>,
}

impl Jumps<'_> {
    fn any(of: &FxHashMap<Label, Vec<&Inst>>, label: Label, holds: impl Fn(&Inst) -> bool) -> bool {
        of.get(&label).is_some_and(|insts| insts.iter().any(|inst| holds(inst)))
    }
}

impl Uniform {
    pub(crate) fn analyze(kernel: &Kernel) -> Uniform {
        let mut jumps = Jumps::default();
        let mut barriers = FxHashSet::default();
        let mut ends = 0;
        kernel.body.visit(&mut |inst| match inst.op {
            Op::Break(label) => jumps.breaks.entry(label).or_default().push(inst),
            Op::Continue(label) => jumps.continues.entry(label).or_default().push(inst),
            Op::Loop(label) | Op::For(label) if contains_barrier(inst) => {
                barriers.insert(label);
            }
            Op::Return | Op::Assert(_) => ends += 1,
            _ => {}
        });
        let varying = vec![false; kernel.values.len()];
        let mut uniform = Uniform { varying, diverges: FxHashSet::default(), barriers, early: ends > 1 };
        while uniform.round(kernel, &jumps) {}
        uniform
    }

    /// Whether all threads have to go through a structure together: it has a barrier in it, or a jump that leaves it for a
    /// loop that has.
    pub(crate) fn is_common(&self, inst: &Inst) -> bool {
        let own = match inst.op {
            Op::Loop(label) | Op::For(label) => Some(label),
            _ => None,
        };
        let mut common = false;
        for block in &inst.blocks {
            block.visit(&mut |inner| match inner.op {
                Op::Barrier => common = true,
                Op::Break(label) | Op::Continue(label) => {
                    common |= Some(label) != own && self.barriers.contains(&label);
                }
                _ => {}
            });
        }
        common
    }

    /// Whether threads that come to a structure together may be in it at different places.
    pub(crate) fn splits(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::If => self.varies(inst.args[0]),
            Op::Loop(label) | Op::For(label) => self.diverges.contains(&label),
            _ => false,
        }
    }

    fn varies(&self, value: Value) -> bool {
        self.varying[value.0 as usize]
    }

    fn any_varies(&self, values: &[Value]) -> bool {
        values.iter().any(|&value| self.varies(value))
    }

    /// Marks what varies because of what is marked; gives whether there was anything new.
    fn round(&mut self, kernel: &Kernel, jumps: &Jumps<'_>) -> bool {
        let mut changed = self.leave(&kernel.body, &mut Vec::new());
        kernel.body.visit(&mut |inst| {
            if let Op::Loop(label) | Op::For(label) = inst.op {
                changed |= self.params(jumps, inst, label);
            }
            for (n, &result) in inst.results.iter().enumerate() {
                if !self.varies(result) && self.result_varies(kernel, jumps, inst, n) {
                    self.varying[result.0 as usize] = true;
                    changed = true;
                }
            }
        });
        changed
    }

    /// Marks the loops that a jump leaves or repeats from where threads may be without others. `around` are the
    /// operations around the block, outermost first.
    fn leave<'k>(&mut self, block: &'k Block, around: &mut Vec<&'k Inst>) -> bool {
        let mut changed = false;
        for inst in &block.insts {
            if let Op::Break(target) | Op::Continue(target) = inst.op {
                let is_target = |inst: &&Inst| matches!(inst.op, Op::Loop(l) | Op::For(l) if l == target);
                let from = around.iter().position(is_target).unwrap_or(0);
                // Whatever is between the split and the loop that is named is left by some only.
                for n in from..around.len() {
                    let split = around[n + 1..].iter().any(|inst| self.splits(inst));
                    if let (true, Op::Loop(label) | Op::For(label)) = (split, &around[n].op) {
                        changed |= self.diverges.insert(*label);
                    }
                }
            }
            around.push(inst);
            for block in &inst.blocks {
                changed |= self.leave(block, around);
            }
            around.pop();
        }
        changed
    }

    fn params(&mut self, jumps: &Jumps<'_>, inst: &Inst, label: Label) -> bool {
        let mut changed = false;
        let counted = matches!(inst.op, Op::For(_));
        if counted && self.any_varies(&inst.args[..3]) {
            changed |= self.diverges.insert(label);
        }
        let diverges = self.diverges.contains(&label);
        for (n, &param) in inst.blocks[0].params.iter().enumerate() {
            // The counter of a loop that does not diverge is the same for all.
            let carried = if counted { n.checked_sub(1) } else { Some(n) };
            let varies = diverges
                || carried.is_some_and(|n| {
                    let initial = inst.args[if counted { 3 + n } else { n }];
                    self.varies(initial)
                        || Jumps::any(&jumps.continues, label, |inst| self.varies(inst.args[n]))
                });
            if varies && !self.varies(param) {
                self.varying[param.0 as usize] = true;
                changed = true;
            }
        }
        changed
    }

    fn result_varies(&self, kernel: &Kernel, jumps: &Jumps<'_>, inst: &Inst, n: usize) -> bool {
        let passed_over = || self.early && !self.is_common(inst);
        match &inst.op {
            Op::Builtin(Builtin::ThreadIdx, _) | Op::LaneId => true,
            Op::If => {
                self.varies(inst.args[0])
                    || passed_over()
                    || inst.blocks.iter().any(|block| {
                        block.insts.last().is_some_and(|end| end.op == Op::Yield && self.varies(end.args[n]))
                    })
            }
            Op::Loop(label) | Op::For(label) => {
                self.diverges.contains(label)
                    || passed_over()
                    || Jumps::any(&jumps.breaks, *label, |inst| self.varies(inst.args[n]))
                    || matches!(inst.op, Op::For(_)) && self.varies(inst.blocks[0].params[1 + n])
            }
            Op::Load(access) => self.early || !is_constant(kernel, access.mem) || self.any_varies(&inst.args),
            op => match op.effect() {
                Effect::Pure | Effect::Fault => self.any_varies(&inst.args),
                Effect::Read
                | Effect::Write
                | Effect::Sync
                | Effect::Output
                | Effect::Structure
                | Effect::Terminator => true,
            },
        }
    }
}

/// Whether an operation is a barrier or has one in it.
pub(crate) fn contains_barrier(inst: &Inst) -> bool {
    let mut found = inst.op == Op::Barrier;
    for block in &inst.blocks {
        block.visit(&mut |inst| found |= inst.op == Op::Barrier);
    }
    found
}

/// Whether a thread may end in it.
pub(crate) fn contains_end(inst: &Inst) -> bool {
    let is_end = |inst: &Inst| matches!(inst.op, Op::Return | Op::Assert(_));
    let mut found = is_end(inst);
    for block in &inst.blocks {
        block.visit(&mut |inst| found |= is_end(inst));
    }
    found
}

/// Whether nothing writes this memory while the kernel runs.
fn is_constant(kernel: &Kernel, mem: MemRef) -> bool {
    match mem {
        MemRef::Param(param) => match kernel.params[param.0 as usize].kind {
            ParamKind::Tensor { mutable, aliased, .. } => !mutable && !aliased,
            ParamKind::Scalar(_) => false,
        },
        MemRef::Alloc(_) => false,
    }
}
