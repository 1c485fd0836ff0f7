//! The tree of operations as a table: each operation by its position in the order of the source, and where each value
//! comes from.

use rustc_hash::FxHashMap;
use tilewise_ir::{Block, Inst, Kernel, Label, Op, Value};

/// A kernel with its operations numbered.
pub(super) struct Index<'k> {
    pub(super) kernel: &'k Kernel,
    /// Operations, outer before inner, in order.
    pub(super) nodes: Vec<Node<'k>>,
    /// Where each value comes from, by its number.
    pub(super) defs: Vec<Def>,
    /// The loop of each label.
    loops: FxHashMap<Label, Position>,
}

/// Position of an operation in [`Index::nodes`].
pub(super) type Position = usize;

/// An operation and its place in the tree.
pub(super) struct Node<'k> {
    pub(super) inst: &'k Inst,
    /// The operation whose block it is in.
    pub(super) parent: Option<Position>,
    /// Position of the last operation inside it; its own if it has no blocks.
    pub(super) end: Position,
    /// For a loop: the `Continue`s that name it.
    pub(super) continues: Vec<Position>,
    /// For a loop: the `Break`s that name it.
    pub(super) breaks: Vec<Position>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Def {
    /// Nowhere: no operation that can be reached defines it.
    None,
    /// Result of an operation, by number.
    Result(Position, usize),
    /// Parameter of the block of a loop, by number.
    Param(Position, usize),
}

impl<'k> Index<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Index<'k> {
        let mut index = Index {
            kernel,
            nodes: Vec::new(),
            defs: vec![Def::None; kernel.values.len()],
            loops: FxHashMap::default(),
        };
        index.add_block(&kernel.body, None);
        index
    }

    fn add_block(&mut self, block: &'k Block, parent: Option<Position>) {
        for inst in &block.insts {
            let position = self.nodes.len();
            self.nodes.push(Node { inst, parent, end: position, continues: Vec::new(), breaks: Vec::new() });
            for (number, result) in inst.results.iter().enumerate() {
                self.defs[result.0 as usize] = Def::Result(position, number);
            }
            match inst.op {
                Op::Loop(label) | Op::For(label) => {
                    self.loops.insert(label, position);
                    for (number, param) in inst.blocks[0].params.iter().enumerate() {
                        self.defs[param.0 as usize] = Def::Param(position, number);
                    }
                }
                Op::Break(label) => {
                    let target = self.loops[&label];
                    self.nodes[target].breaks.push(position);
                }
                Op::Continue(label) => {
                    let target = self.loops[&label];
                    self.nodes[target].continues.push(position);
                }
                _ => {}
            }
            for block in &inst.blocks {
                self.add_block(block, Some(position));
            }
            self.nodes[position].end = self.nodes.len() - 1;
        }
    }

    /// The operation at a position.
    pub(super) fn inst(&self, position: Position) -> &'k Inst {
        self.nodes[position].inst
    }

    /// Where a value comes from.
    pub(super) fn def(&self, value: Value) -> Def {
        self.defs[value.0 as usize]
    }

    /// The operation that a value is a result of.
    pub(super) fn def_inst(&self, value: Value) -> Option<&'k Inst> {
        match self.def(value) {
            Def::Result(position, _) => Some(self.inst(position)),
            _ => None,
        }
    }

    /// The loop that a label names.
    pub(super) fn target(&self, label: Label) -> Position {
        self.loops[&label]
    }

    /// The operations around a position, inner before outer.
    pub(super) fn ancestors(&self, position: Position) -> impl Iterator<Item = Position> + '_ {
        std::iter::successors(self.nodes[position].parent, |&p| self.nodes[p].parent)
    }

    /// The operations between a position and a loop around it, inner before outer; neither of the two.
    pub(super) fn between(&self, position: Position, outer: Position) -> impl Iterator<Item = Position> + '_ {
        self.ancestors(position).take_while(move |&p| p != outer)
    }

    /// Initial values of what a loop carries, in the order of its parameters without the counter of a `For`.
    pub(super) fn initial(&self, position: Position) -> &'k [Value] {
        let inst = self.inst(position);
        match inst.op {
            Op::For(_) => &inst.args[3..],
            _ => &inst.args,
        }
    }

    /// Parameters of a loop that it carries, without the counter of a `For`.
    pub(super) fn carried(&self, position: Position) -> &'k [Value] {
        let inst = self.inst(position);
        let params = &inst.blocks[0].params;
        match inst.op {
            Op::For(_) => &params[1..],
            _ => params,
        }
    }
}

/// What a block hands over to the operation around it, if it ends so.
pub(super) fn yielded(block: &Block) -> Option<&[Value]> {
    block.insts.last().filter(|i| i.op == Op::Yield).map(|i| &i.args[..])
}
