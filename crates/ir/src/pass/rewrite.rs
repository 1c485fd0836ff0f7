//! Substitution of values, and copies of blocks with values of their own.

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use rustc_hash::FxHashMap;

/// Which value stands in for which. A value that nothing stands in for is its own substitute.
///
/// Filled in while walking the kernel forwards: a definition comes before its uses, so one walk that sets
/// substitutes at definitions and applies them to operands suffices.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// By value; `u32::MAX` where there is none.
    map: Vec<u32>,
}

impl Substitution {
    const NONE: u32 = u32::MAX;

    /// Nothing substituted yet. Allocates for the values of `kernel`; later ones are fine too.
    pub fn new(kernel: &Kernel) -> Substitution {
        Substitution { map: vec![Substitution::NONE; kernel.values.len()] }
    }

    /// Makes `to` stand in for `from`, and for all that `from` stands in for.
    pub fn set(&mut self, from: Value, to: Value) {
        let (from, to) = (from.0 as usize, self.get(to));
        if to.0 as usize == from {
            return;
        }
        if from >= self.map.len() {
            self.map.resize(from + 1, Substitution::NONE);
        }
        self.map[from] = to.0;
    }

    /// [`set`](Substitution::set) for one value after the other.
    pub fn set_all(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.set(from, to);
        }
    }

    /// What stands in for `value` in the end.
    pub fn get(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(&next) = self.map.get(value.0 as usize)
            && next != Substitution::NONE
        {
            value = Value(next);
        }
        value
    }

    /// Whether something stands in for `value`.
    pub fn is_set(&self, value: Value) -> bool {
        self.map.get(value.0 as usize).is_some_and(|&next| next != Substitution::NONE)
    }

    /// Substitutes the operands of one operation, not those of its blocks. Gives whether one has changed.
    pub fn apply(&self, inst: &mut Inst) -> bool {
        let mut changed = false;
        for arg in &mut inst.args {
            let value = self.get(*arg);
            changed |= value != *arg;
            *arg = value;
        }
        changed
    }

    /// Substitutes the operands of all operations of a block, nested ones too. Gives whether one has changed.
    pub fn apply_block(&self, block: &mut Block) -> bool {
        let mut changed = false;
        block.visit_mut(&mut |inst| changed |= self.apply(inst));
        changed
    }
}

/// Copies blocks: each copy defines new values and new labels, and refers to those outside the block as the original
/// does.
#[derive(Debug)]
pub struct Copier {
    /// The copy of each value of the original.
    pub values: Substitution,
    labels: FxHashMap<Label, Label>,
}

impl Copier {
    /// A copier that also applies `outer` to values from outside the block.
    pub fn new(outer: Substitution) -> Copier {
        Copier { values: outer, labels: FxHashMap::default() }
    }

    /// A copy of some operations. Substitutes for the parameters of their block are set in `values` beforehand.
    pub fn copy_insts(&mut self, kernel: &mut Kernel, insts: &[Inst]) -> Vec<Inst> {
        insts.iter().map(|inst| self.copy_inst(kernel, inst)).collect()
    }

    fn copy_inst(&mut self, kernel: &mut Kernel, inst: &Inst) -> Inst {
        let op = match inst.op {
            Op::Loop(label) => Op::Loop(self.copy_label(kernel, label)),
            Op::For(label) => Op::For(self.copy_label(kernel, label)),
            Op::Break(label) => Op::Break(self.label(label)),
            Op::Continue(label) => Op::Continue(self.label(label)),
            ref op => op.clone(),
        };
        let args = inst.args.iter().map(|&arg| self.values.get(arg)).collect();
        let blocks = inst.blocks.iter().map(|block| self.copy_block(kernel, block)).collect();
        let results = inst.results.iter().map(|&result| self.copy_value(kernel, result)).collect();
        Inst { op, args, results, blocks, span: inst.span }
    }

    fn copy_block(&mut self, kernel: &mut Kernel, block: &Block) -> Block {
        let params = block.params.iter().map(|&param| self.copy_value(kernel, param)).collect();
        Block { params, insts: self.copy_insts(kernel, &block.insts) }
    }

    fn copy_value(&mut self, kernel: &mut Kernel, value: Value) -> Value {
        let copy = kernel.new_value(kernel.ty(value));
        self.values.set(value, copy);
        copy
    }

    fn copy_label(&mut self, kernel: &mut Kernel, label: Label) -> Label {
        let copy = kernel.new_label();
        self.labels.insert(label, copy);
        copy
    }

    fn label(&self, label: Label) -> Label {
        self.labels.get(&label).copied().unwrap_or(label)
    }
}
