//! Dead code: operations, results and carried values that nothing needs.
//!
//! Kept is what has an effect, and what that uses: writes, atomics, barriers, output, jumps, and what may be a fault.
//! All else goes if its results are not used:
//!
//! - Pure operations, reads of memory that have no bounds left to fail, divisions by what is known not to be zero.
//! - Stores to local memory that nobody reads, if they have no bounds left that could be a fault.
//! - An `If`, a one-trip `Loop` or a `For` with nothing in it that has an effect, unless it can leave an outer loop or
//!   the kernel. A `For` must be known to have a positive step, since another one is a fault.
//! - Results of structures, and values that loops carry, also those that only feed themselves round after round.
//!
//! A `Loop` with a `Continue` stays even if it has no effect: it may be what waits for another thread, or never end.

use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{Effect, Label, Op};
use crate::pass::constants::Constants;
use crate::pass::uses::Exits;
use crate::pass::{effects, slots};

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut marker = Marker::new(kernel);
    marker.mark();
    let (live_nodes, live_values) = (marker.live_nodes(), marker.live);
    let mut sweeper = Sweeper { nodes: live_nodes, position: 0, removed: false };
    sweeper.block(&mut kernel.body);
    let removed = sweeper.removed;
    slots::remove(kernel, |value| !live_values[value.0 as usize]) || removed
}

/// Only removes results of structures and carried values; operations stay, used or not.
pub fn prune(kernel: &mut Kernel) -> bool {
    let mut marker = Marker::new(kernel);
    for node in &mut marker.nodes {
        node.essential = true;
    }
    marker.mark();
    let live_values = marker.live;
    slots::remove(kernel, |value| !live_values[value.0 as usize])
}

/// An operation in the order outer before inner.
struct Node<'k> {
    inst: &'k Inst,
    /// The first node that is not inside this one.
    end: usize,
    /// Has to stay as long as what it is in.
    essential: bool,
    live: bool,
}

/// Where a value is defined.
#[derive(Clone, Copy)]
enum Definition {
    None,
    /// This result of this node.
    Result(usize, usize),
    /// This block parameter of this node.
    Param(usize, usize),
}

struct Marker<'k> {
    nodes: Vec<Node<'k>>,
    definitions: Vec<Definition>,
    exits: Exits<'k>,
    /// By value.
    live: Vec<bool>,
    pending: Vec<Value>,
}

impl<'k> Marker<'k> {
    fn new(kernel: &'k Kernel) -> Marker<'k> {
        let mut builder = NodeBuilder {
            kernel,
            constants: Constants::of(kernel),
            read: allocs_read(kernel),
            exits: Exits::of(kernel),
            loops: vec![0; kernel.labels as usize],
            nodes: Vec::new(),
            definitions: vec![Definition::None; kernel.values.len()],
        };
        builder.block(&kernel.body);
        Marker {
            nodes: builder.nodes,
            definitions: builder.definitions,
            exits: builder.exits,
            live: vec![false; kernel.values.len()],
            pending: Vec::new(),
        }
    }

    fn mark(&mut self) {
        self.activate_essential(0, self.nodes.len());
        while let Some(value) = self.pending.pop() {
            match self.definitions[value.0 as usize] {
                Definition::None => {}
                Definition::Result(node, i) => {
                    self.activate(node);
                    self.feed_result(node, i);
                }
                Definition::Param(node, i) => self.feed_param(node, i),
            }
        }
    }

    /// Activates the essential ones of the nodes from `start` to `end`, but not those inside them.
    fn activate_essential(&mut self, start: usize, end: usize) {
        let mut node = start;
        while node < end {
            if self.nodes[node].essential {
                self.activate(node);
            }
            node = self.nodes[node].end;
        }
    }

    fn activate(&mut self, node: usize) {
        if std::mem::replace(&mut self.nodes[node].live, true) {
            return;
        }
        let inst = self.nodes[node].inst;
        let needed = match inst.op {
            Op::For(_) => 3,
            Op::Loop(_) | Op::Yield | Op::Break(_) | Op::Continue(_) => 0,
            _ => inst.args.len(),
        };
        for &arg in &inst.args[..needed] {
            self.use_value(arg);
        }
        self.activate_essential(node + 1, self.nodes[node].end);
    }

    fn use_value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.live[value.0 as usize], true) {
            self.pending.push(value);
        }
    }

    /// Uses what gives a result of a structure its value.
    fn feed_result(&mut self, node: usize, i: usize) {
        let inst = self.nodes[node].inst;
        match inst.op {
            Op::If => {
                for last in inst.blocks.iter().filter_map(|block| block.insts.last()) {
                    if last.op == Op::Yield {
                        self.use_value(last.args[i]);
                    }
                }
            }
            Op::Loop(label) => self.use_breaks(label, i),
            Op::For(_) => self.use_value(inst.blocks[0].params[i + 1]),
            _ => {}
        }
    }

    /// Uses what gives a block parameter its value.
    fn feed_param(&mut self, node: usize, i: usize) {
        let inst = self.nodes[node].inst;
        match inst.op {
            Op::Loop(label) => {
                self.use_value(inst.args[i]);
                self.use_continues(label, i);
            }
            // The first parameter is the counter.
            Op::For(label) if i > 0 => {
                self.use_value(inst.args[i + 2]);
                self.use_continues(label, i - 1);
                self.use_breaks(label, i - 1);
            }
            _ => {}
        }
    }

    fn use_breaks(&mut self, label: Label, i: usize) {
        for k in 0..self.exits.breaks(label).len() {
            self.use_value(self.exits.breaks(label)[k].args[i]);
        }
    }

    fn use_continues(&mut self, label: Label, i: usize) {
        for k in 0..self.exits.continues(label).len() {
            self.use_value(self.exits.continues(label)[k].args[i]);
        }
    }

    /// For each node, whether it is live, and its end.
    fn live_nodes(&self) -> Vec<(bool, usize)> {
        self.nodes.iter().map(|node| (node.live, node.end)).collect()
    }
}

struct NodeBuilder<'k> {
    kernel: &'k Kernel,
    constants: Constants,
    read: Vec<bool>,
    exits: Exits<'k>,
    /// By label: the node of its loop.
    loops: Vec<usize>,
    nodes: Vec<Node<'k>>,
    definitions: Vec<Definition>,
}

/// What is in a node besides pure operations.
#[derive(Clone, Copy)]
struct Content {
    effect: bool,
    /// The outermost node that a jump in it ends or continues; `usize::MAX` if none, 0 for the kernel itself.
    target: usize,
}

impl<'k> NodeBuilder<'k> {
    fn block(&mut self, block: &'k Block) -> Content {
        let mut content = Content { effect: false, target: usize::MAX };
        for inst in &block.insts {
            let node = self.nodes.len();
            self.nodes.push(Node { inst, end: 0, essential: false, live: false });
            for (i, &result) in inst.results.iter().enumerate() {
                self.definitions[result.0 as usize] = Definition::Result(node, i);
            }
            let mut own = Content { effect: self.has_effect(inst), target: usize::MAX };
            match inst.op {
                Op::Loop(label) | Op::For(label) => self.loops[label.0 as usize] = node + 1,
                Op::Break(label) | Op::Continue(label) => own.target = self.loops[label.0 as usize],
                Op::Return => own.target = 0,
                _ => {}
            }
            for nested in &inst.blocks {
                for (i, &param) in nested.params.iter().enumerate() {
                    self.definitions[param.0 as usize] = Definition::Param(node, i);
                }
                let inner = self.block(nested);
                own.effect |= inner.effect;
                // Jumps are numbered from 1; one that ends here goes no further.
                if inner.target != node + 1 {
                    own.target = own.target.min(inner.target);
                }
            }
            self.nodes[node].end = self.nodes.len();
            self.nodes[node].essential = own.effect || own.target <= node || inst.op.is_terminator();
            content.effect |= own.effect;
            content.target = content.target.min(own.target);
        }
        content
    }

    /// Whether the operation itself, whatever is in it, has an effect that keeps it.
    fn has_effect(&self, inst: &Inst) -> bool {
        match effects::effect(self.kernel, &self.constants, inst) {
            Effect::Pure | Effect::Terminator => false,
            // What may be a fault stays: the user is told of the same faults with the optimiser on and off.
            Effect::Read => inst.op.access().is_some_and(|access| !access.bounds.is_empty()),
            Effect::Fault | Effect::Sync | Effect::Output => true,
            Effect::Write => match &inst.op {
                Op::Store(access) => match access.mem {
                    MemRef::Alloc(alloc) if self.kernel.is_local_memory(access.mem) => {
                        self.read[alloc.0 as usize] || !access.bounds.is_empty()
                    }
                    _ => true,
                },
                _ => true,
            },
            Effect::Structure => match inst.op {
                Op::Loop(label) => !self.exits.continues(label).is_empty(),
                Op::For(_) => self.constants.int(inst.args[2]).is_none_or(|step| step <= 0),
                _ => false,
            },
        }
    }
}

/// For each allocation, whether an operation reads it.
fn allocs_read(kernel: &Kernel) -> Vec<bool> {
    let mut read = vec![false; kernel.allocs.len()];
    kernel.body.visit(&mut |inst| {
        if let Some(access) = inst.op.access()
            && let MemRef::Alloc(alloc) = access.mem
        {
            read[alloc.0 as usize] |= !matches!(inst.op, Op::Store(_));
        }
    });
    read
}

struct Sweeper {
    nodes: Vec<(bool, usize)>,
    position: usize,
    removed: bool,
}

impl Sweeper {
    fn block(&mut self, block: &mut Block) {
        block.insts.retain_mut(|inst| {
            let (live, end) = self.nodes[self.position];
            if live {
                self.position += 1;
                for nested in &mut inst.blocks {
                    self.block(nested);
                }
            } else {
                self.position = end;
                self.removed = true;
            }
            live
        });
    }
}
