//! Where values and labels are used.

use crate::kernel::{Inst, Kernel, Value};
use crate::op::{Label, Op};

/// For each value, how many operands it is.
#[derive(Clone, Debug)]
pub struct UseCounts {
    counts: Vec<u32>,
}

impl UseCounts {
    /// Counts the uses in a kernel.
    pub fn of(kernel: &Kernel) -> UseCounts {
        let mut counts = vec![0; kernel.values.len()];
        kernel.body.visit(&mut |inst| {
            for arg in &inst.args {
                counts[arg.0 as usize] += 1;
            }
        });
        UseCounts { counts }
    }

    /// How many operands `value` is.
    pub fn count(&self, value: Value) -> u32 {
        self.counts.get(value.0 as usize).copied().unwrap_or(0)
    }
}

/// For each label, how many `Break` and `Continue` name it.
#[derive(Clone, Debug)]
pub struct LabelCounts {
    breaks: Vec<u32>,
    continues: Vec<u32>,
}

impl LabelCounts {
    /// Counts the labels in a kernel.
    pub fn of(kernel: &Kernel) -> LabelCounts {
        let labels = kernel.labels as usize;
        let mut counts = LabelCounts { breaks: vec![0; labels], continues: vec![0; labels] };
        kernel.body.visit(&mut |inst| match inst.op {
            Op::Break(label) => counts.breaks[label.0 as usize] += 1,
            Op::Continue(label) => counts.continues[label.0 as usize] += 1,
            _ => {}
        });
        counts
    }

    /// How many `Break` name the label.
    pub fn breaks(&self, label: Label) -> u32 {
        self.breaks.get(label.0 as usize).copied().unwrap_or(0)
    }

    /// How many `Continue` name the label.
    pub fn continues(&self, label: Label) -> u32 {
        self.continues.get(label.0 as usize).copied().unwrap_or(0)
    }
}

/// For each label, the operations that leave its loop or go to its next round.
#[derive(Clone, Debug)]
pub struct Exits<'k> {
    breaks: Vec<Vec<&'k Inst>>,
    continues: Vec<Vec<&'k Inst>>,
}

impl<'k> Exits<'k> {
    /// Collects them from a kernel.
    pub fn of(kernel: &'k Kernel) -> Exits<'k> {
        let labels = kernel.labels as usize;
        let mut exits = Exits { breaks: vec![Vec::new(); labels], continues: vec![Vec::new(); labels] };
        kernel.body.visit(&mut |inst| match inst.op {
            Op::Break(label) => exits.breaks[label.0 as usize].push(inst),
            Op::Continue(label) => exits.continues[label.0 as usize].push(inst),
            _ => {}
        });
        exits
    }

    /// Each `Break` of the label.
    pub fn breaks(&self, label: Label) -> &[&'k Inst] {
        &self.breaks[label.0 as usize]
    }

    /// Each `Continue` of the label.
    pub fn continues(&self, label: Label) -> &[&'k Inst] {
        &self.continues[label.0 as usize]
    }
}
