//! Which values are the same for all threads of a block, and where the threads of a block are together.
//!
//! Threads that have ended do not count: nobody waits for them.

use rustc_hash::FxHashSet;
use tilewise_ir::{Block, Builtin, Effect, Inst, Kernel, Label, MemRef, Op, ParamKind, Value};

use super::{Structure, yielded};

/// Uniformity of values and loops.
#[derive(Debug)]
pub(crate) struct Uniform {
    varying: Vec<bool>,
    /// Loops that threads leave, or go to the next round of, at different places or in different rounds.
    diverges: FxHashSet<Label>,
}

impl Uniform {
    pub(super) fn analyze(kernel: &Kernel, structure: &Structure<'_>) -> Uniform {
        let mut uniform =
            Uniform { varying: vec![false; kernel.values.len()], diverges: FxHashSet::default() };
        while uniform.round(kernel, structure) {}
        uniform
    }

    /// Whether a value may differ between threads.
    pub(crate) fn varies(&self, value: Value) -> bool {
        self.varying[value.0 as usize]
    }

    /// Whether threads inside of this operation may be without others that came to it with them.
    pub(crate) fn splits(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::If => self.varies(inst.args[0]),
            Op::Loop(label) | Op::For(label) => self.diverges.contains(&label),
            _ => false,
        }
    }

    /// Marks what varies because of what is marked; gives whether there was anything new.
    fn round(&mut self, kernel: &Kernel, structure: &Structure<'_>) -> bool {
        let mut changed = self.jumps(&kernel.body, &mut Vec::new());
        kernel.body.visit(&mut |inst| {
            if let Op::Loop(label) | Op::For(label) = inst.op {
                changed |= self.params(structure, inst, label);
            }
            for (n, &result) in inst.results.iter().enumerate() {
                if !self.varies(result) && self.result_varies(kernel, structure, inst, n) {
                    self.varying[result.0 as usize] = true;
                    changed = true;
                }
            }
        });
        changed
    }

    /// Marks the loops that a jump leaves or repeats from where threads may be without others. `around` are the
    /// operations around the block, outermost first.
    fn jumps<'k>(&mut self, block: &'k Block, around: &mut Vec<&'k Inst>) -> bool {
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
                changed |= self.jumps(block, around);
            }
            around.pop();
        }
        changed
    }

    fn params(&mut self, structure: &Structure<'_>, inst: &Inst, label: Label) -> bool {
        let mut changed = false;
        let counted = matches!(inst.op, Op::For(_));
        if counted && inst.args[..3].iter().any(|&arg| self.varies(arg)) {
            changed |= self.diverges.insert(label);
        }
        let diverges = self.diverges.contains(&label);
        for (n, &param) in inst.blocks[0].params.iter().enumerate() {
            let varies = diverges
                || match (counted, n) {
                    (true, 0) => false,
                    (true, n) => self.carried_varies(structure, label, inst.args[2 + n], n - 1),
                    (false, n) => self.carried_varies(structure, label, inst.args[n], n),
                };
            if varies && !self.varies(param) {
                self.varying[param.0 as usize] = true;
                changed = true;
            }
        }
        changed
    }

    fn carried_varies(&self, structure: &Structure<'_>, label: Label, initial: Value, n: usize) -> bool {
        self.varies(initial) || structure.continues(label).iter().any(|inst| self.varies(inst.args[n]))
    }

    fn result_varies(&self, kernel: &Kernel, structure: &Structure<'_>, inst: &Inst, n: usize) -> bool {
        let any = |values: &[Value]| values.iter().any(|&value| self.varies(value));
        match &inst.op {
            Op::Builtin(Builtin::ThreadIdx, _) | Op::LaneId => true,
            Op::If => {
                self.varies(inst.args[0])
                    || inst.blocks.iter().filter_map(yielded).any(|inst| self.varies(inst.args[n]))
            }
            Op::Loop(label) | Op::For(label) => {
                self.diverges.contains(label)
                    || structure.breaks(*label).iter().any(|inst| self.varies(inst.args[n]))
                    || matches!(inst.op, Op::For(_)) && self.varies(inst.blocks[0].params[1 + n])
            }
            Op::Load(access) => !is_constant(kernel, access.mem) || any(&inst.args),
            op => match op.effect() {
                Effect::Pure | Effect::Fault => any(&inst.args),
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

/// Whether nothing writes this memory while the kernel runs.
pub(crate) fn is_constant(kernel: &Kernel, mem: MemRef) -> bool {
    match mem {
        MemRef::Param(param) => match kernel.params[param.0 as usize].kind {
            ParamKind::Tensor { mutable, aliased, .. } => !mutable && !aliased,
            ParamKind::Scalar(_) => false,
        },
        MemRef::Alloc(_) => false,
    }
}
