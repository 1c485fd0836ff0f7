//! Numbers of values and labels in the order in which the text defines them.

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use crate::span::{Span, SpanTable};
use rustc_hash::FxHashMap;

/// The number that each value and each label has in the text.
pub(crate) struct Numbering {
    values: Vec<Option<u32>>,
    /// The values in the order of their numbers.
    order: Vec<Value>,
    labels: FxHashMap<Label, u32>,
}

impl Numbering {
    /// Numbers definitions in the order of the text: results, then parameters of blocks, then what the blocks hold.
    /// Values that are used but nowhere defined come last.
    pub(crate) fn new(kernel: &Kernel) -> Numbering {
        let mut numbering = Numbering {
            values: vec![None; kernel.values.len()],
            order: Vec::with_capacity(kernel.values.len()),
            labels: FxHashMap::default(),
        };
        numbering.define(&kernel.body);
        kernel.body.visit(&mut |inst| inst.args.iter().for_each(|&value| numbering.add(value)));
        numbering
    }

    /// The number of a value; `None` if the kernel neither defines nor uses it, or it is in no table of types.
    pub(crate) fn value(&self, value: Value) -> Option<u32> {
        self.values.get(value.0 as usize).copied().flatten()
    }

    /// The number of a label; `None` if the kernel does not use it.
    pub(crate) fn label(&self, label: Label) -> Option<u32> {
        self.labels.get(&label).copied()
    }

    fn define(&mut self, block: &Block) {
        block.params.iter().for_each(|&param| self.add(param));
        for inst in &block.insts {
            inst.results.iter().for_each(|&result| self.add(result));
            if let Some(label) = label_of(&inst.op) {
                let next = self.labels.len() as u32;
                self.labels.entry(label).or_insert(next);
            }
            inst.blocks.iter().for_each(|block| self.define(block));
        }
    }

    fn add(&mut self, value: Value) {
        if let Some(slot @ None) = self.values.get_mut(value.0 as usize) {
            *slot = Some(self.order.len() as u32);
            self.order.push(value);
        }
    }
}

impl Kernel {
    /// Numbers values, labels and spans in the order of the text, and drops those that nothing refers to. Two kernels
    /// that print alike with spans are then equal in every field.
    ///
    /// References that no table holds stay as they are; [`verify`](crate::verify) reports them.
    pub fn renumber(&mut self) {
        let numbering = Numbering::new(self);
        self.values = numbering.order.iter().map(|&value| self.ty(value)).collect();
        self.labels = numbering.labels.len() as u32;
        let old_spans = std::mem::take(&mut self.spans);
        let mut spans = SpanTable::default();
        let mut respan = |span: Span| match old_spans.get(span) {
            Some(at) => spans.intern(&at.file, at.line, at.column),
            None => Span::NONE,
        };
        for alloc in &mut self.allocs {
            alloc.span = respan(alloc.span);
        }
        renumber_block(&mut self.body, &numbering, &mut respan);
        self.spans = spans;
    }
}

fn renumber_block(block: &mut Block, numbering: &Numbering, respan: &mut impl FnMut(Span) -> Span) {
    let renumber = |value: &mut Value| {
        if let Some(number) = numbering.value(*value) {
            *value = Value(number);
        }
    };
    block.params.iter_mut().for_each(renumber);
    for Inst { op, args, results, blocks, span } in &mut block.insts {
        args.iter_mut().for_each(renumber);
        results.iter_mut().for_each(renumber);
        *span = respan(*span);
        if let Op::Loop(label) | Op::For(label) | Op::Break(label) | Op::Continue(label) = op
            && let Some(number) = numbering.label(*label)
        {
            *label = Label(number);
        }
        blocks.iter_mut().for_each(|block| renumber_block(block, numbering, respan));
    }
}

/// The label that an operation defines or refers to.
fn label_of(op: &Op) -> Option<Label> {
    match op {
        Op::Loop(label) | Op::For(label) | Op::Break(label) | Op::Continue(label) => Some(*label),
        _ => None,
    }
}
