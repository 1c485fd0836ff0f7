//! Loop-invariant code motion: a pure operation in a loop whose operands come from outside is done once, before the
//! loop.
//!
//! It goes out of as many loops as its operands allow, also out of an `If` in the loop: pure operations may be computed
//! where they were not. Right because the operands are visible at the loop: they are defined outside it, and the
//! operation in it sees them. Loads stay where they are; so does a division that can be a fault.

use crate::kernel::{Block, Inst, Kernel};
use crate::op::{Effect, Op};
use crate::pass::constants::Constants;
use crate::pass::effects;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let mut mover = Mover {
        constants: Constants::default(),
        depths: vec![0; kernel.values.len()],
        before: Vec::new(),
        kernel,
        changed: false,
    };
    // Constants of divisors: those of the prologue suffice.
    body.insts.iter().for_each(|inst| mover.constants.record(inst));
    mover.block(&mut body);
    let changed = mover.changed;
    kernel.body = body;
    changed
}

struct Mover<'k> {
    kernel: &'k Kernel,
    constants: Constants,
    /// By value: how many loops are around its definition.
    depths: Vec<u32>,
    /// For each loop around: what goes before it.
    before: Vec<Vec<Inst>>,
    changed: bool,
}

impl Mover<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            let depth = self.before.len() as u32;
            if depth > 0 && effects::effect(self.kernel, &self.constants, &inst) == Effect::Pure {
                let needed = inst.args.iter().map(|arg| self.depths[arg.0 as usize]).max().unwrap_or(0);
                self.define(&inst, needed);
                if needed < depth {
                    self.changed = true;
                    self.before[needed as usize].push(inst);
                } else {
                    block.insts.push(inst);
                }
                continue;
            }
            self.define(&inst, depth);
            if inst.op.effect() == Effect::Structure {
                let is_loop = inst.op != Op::If;
                if is_loop {
                    self.before.push(Vec::new());
                }
                for nested in &mut inst.blocks {
                    for param in &nested.params {
                        self.depths[param.0 as usize] = self.before.len() as u32;
                    }
                    self.block(nested);
                }
                if is_loop {
                    block.insts.extend(self.before.pop().into_iter().flatten());
                }
            }
            block.insts.push(inst);
        }
    }

    fn define(&mut self, inst: &Inst, depth: u32) {
        for &result in &inst.results {
            self.depths[result.0 as usize] = depth;
        }
    }
}
