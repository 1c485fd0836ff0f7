//! Renumbering: values, labels and allocations are numbered anew in the order of the text, and those that no operation
//! mentions any more are dropped.
//!
//! Changes nothing that a kernel does. It keeps tables that are indexed by value small, and the text of a kernel the
//! same whatever passes did on the way.

use crate::kernel::{Alloc, AllocId, Block, Kernel, MemRef, Value};
use crate::op::{Label, Op};
use crate::types::Type;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let mut numbering = Numbering {
        old_types: std::mem::take(&mut kernel.values),
        old_allocs: std::mem::take(&mut kernel.allocs),
        values: Vec::new(),
        allocs: Vec::new(),
        labels: vec![None; kernel.labels as usize],
        types: Vec::new(),
        new_allocs: Vec::new(),
        new_labels: 0,
        changed: false,
    };
    numbering.values = vec![None; numbering.old_types.len()];
    numbering.allocs = vec![None; numbering.old_allocs.len()];
    numbering.block(&mut body);
    let changed = numbering.changed
        || numbering.types.len() != numbering.old_types.len()
        || numbering.new_allocs.len() != numbering.old_allocs.len()
        || numbering.new_labels != kernel.labels;
    kernel.body = body;
    kernel.values = numbering.types;
    kernel.allocs = numbering.new_allocs;
    kernel.labels = numbering.new_labels;
    changed
}

struct Numbering {
    old_types: Vec<Type>,
    old_allocs: Vec<Alloc>,
    values: Vec<Option<Value>>,
    allocs: Vec<Option<AllocId>>,
    labels: Vec<Option<Label>>,
    types: Vec<Type>,
    new_allocs: Vec<Alloc>,
    new_labels: u32,
    changed: bool,
}

impl Numbering {
    fn block(&mut self, block: &mut Block) {
        for param in &mut block.params {
            *param = self.value(*param);
        }
        for inst in &mut block.insts {
            for arg in &mut inst.args {
                *arg = self.value(*arg);
            }
            match &mut inst.op {
                Op::Loop(label) | Op::For(label) | Op::Break(label) | Op::Continue(label) => {
                    *label = self.label(*label);
                }
                op => {
                    if let Some(access) = op.access_mut()
                        && let MemRef::Alloc(alloc) = &mut access.mem
                    {
                        *alloc = self.alloc(*alloc);
                    }
                }
            }
            for result in &mut inst.results {
                *result = self.value(*result);
            }
            for nested in &mut inst.blocks {
                self.block(nested);
            }
        }
    }

    fn value(&mut self, old: Value) -> Value {
        let new = *self.values[old.0 as usize].get_or_insert_with(|| {
            self.types.push(self.old_types[old.0 as usize]);
            Value(self.types.len() as u32 - 1)
        });
        self.changed |= new != old;
        new
    }

    fn label(&mut self, old: Label) -> Label {
        let new = *self.labels[old.0 as usize].get_or_insert_with(|| {
            self.new_labels += 1;
            Label(self.new_labels - 1)
        });
        self.changed |= new != old;
        new
    }

    fn alloc(&mut self, old: AllocId) -> AllocId {
        let new = *self.allocs[old.0 as usize].get_or_insert_with(|| {
            self.new_allocs.push(self.old_allocs[old.0 as usize].clone());
            AllocId(self.new_allocs.len() as u32 - 1)
        });
        self.changed |= new != old;
        new
    }
}
