//! Which loops may be waiting for other threads: those that are left depending on memory that others may write.
//!
//! Such a loop ends only if those others get on. If they are of the same block, the scheduler of the block has to let
//! them go ahead; if they are of another block, that block has to be run meanwhile. All other loops end, or do not, by
//! themselves.
//!
//! A barrier or an operation of a warp that only some threads come to has the same effect: they stay behind, and the
//! others go ahead.

use tilewise_ir::{MemRef, Op, Space, Value};

use super::index::{Index, Position, yielded};
use super::uniform::Uniform;

/// For each operation, whether it is a loop that may be waiting.
pub(super) fn waiting_loops(index: &Index<'_>) -> Vec<bool> {
    let mut taint = Taint {
        index,
        values: vec![false; index.kernel.values.len()],
        locals: vec![false; index.kernel.allocs.len()],
        left: vec![false; index.nodes.len()],
        changed: true,
    };
    while taint.changed {
        taint.changed = false;
        for position in 0..index.nodes.len() {
            taint.visit(position);
        }
    }
    taint.left
}

/// What depends on memory that others may write.
struct Taint<'a, 'k> {
    index: &'a Index<'k>,
    values: Vec<bool>,
    /// Local allocations that hold such values.
    locals: Vec<bool>,
    /// For each loop: whether a thread leaves it depending on such a value.
    left: Vec<bool>,
    changed: bool,
}

impl Taint<'_, '_> {
    fn has(&self, value: Value) -> bool {
        self.values[value.0 as usize]
    }

    fn add(&mut self, value: Value) {
        let old = std::mem::replace(&mut self.values[value.0 as usize], true);
        self.changed |= !old;
    }

    /// Whether it depends on such a value that a thread gets here, seen from inside `outer` (or the kernel).
    fn is_conditional(&self, position: Position, outer: Option<Position>) -> bool {
        let mut around = self.index.ancestors(position).take_while(|&p| Some(p) != outer);
        around.any(|p| match self.index.inst(p).op {
            Op::If => self.has(self.index.inst(p).args[0]),
            _ => self.left[p],
        })
    }

    fn visit(&mut self, position: Position) {
        let index = self.index;
        let inst = index.inst(position);
        let any = inst.args.iter().any(|&v| self.has(v));
        match &inst.op {
            Op::Load(access) | Op::AtomicLoad(access, ..) => {
                let shared = match access.mem {
                    MemRef::Param(_) => !index.kernel.is_constant_memory(access.mem),
                    MemRef::Alloc(a) => match index.kernel.allocs[a.0 as usize].space {
                        Space::Shared => true,
                        Space::Local => self.locals[a.0 as usize],
                    },
                };
                if shared || any {
                    inst.results.iter().for_each(|&v| self.add(v));
                }
            }
            Op::AtomicRmw(..) | Op::AtomicCas(..) => inst.results.iter().for_each(|&v| self.add(v)),
            Op::Store(access) | Op::AtomicStore(access, ..) => {
                if let MemRef::Alloc(a) = access.mem
                    && (any || self.is_conditional(position, None))
                {
                    self.changed |= !std::mem::replace(&mut self.locals[a.0 as usize], true);
                }
            }
            Op::If => self.results_of_blocks(position, self.has(inst.args[0])),
            Op::Loop(_) | Op::For(_) => self.visit_loop(position),
            Op::Break(label) => self.leave(position, index.target(*label), true),
            Op::Continue(label) => self.leave(position, index.target(*label), false),
            Op::Return => {
                let loops: Vec<Position> = index.ancestors(position).collect();
                for outer in loops {
                    self.leave_one(position, outer);
                }
            }
            Op::Const(_)
            | Op::Builtin(..)
            | Op::LaneId
            | Op::Scalar(_)
            | Op::Extent(..)
            | Op::Stride(..)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_)
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_) => {
                if any {
                    inst.results.iter().for_each(|&v| self.add(v));
                }
            }
            Op::Fence(..) | Op::Barrier | Op::WarpBarrier | Op::Print(_) | Op::Assert(_) | Op::Yield => {}
        }
    }

    /// A `Break` or `Continue` leaves all loops inside its target, a `Break` also the target.
    fn leave(&mut self, position: Position, target: Position, also_target: bool) {
        let mut loops: Vec<Position> = self.index.between(position, target).collect();
        loops.extend(also_target.then_some(target));
        for outer in loops {
            self.leave_one(position, outer);
        }
    }

    fn leave_one(&mut self, position: Position, outer: Position) {
        let is_loop = matches!(self.index.inst(outer).op, Op::Loop(_) | Op::For(_));
        if is_loop && !self.left[outer] && self.is_conditional(position, Some(outer)) {
            self.left[outer] = true;
            self.changed = true;
        }
    }

    fn results_of_blocks(&mut self, position: Position, all: bool) {
        let inst = self.index.inst(position);
        for (number, &result) in inst.results.iter().enumerate() {
            let mut sides = inst.blocks.iter().filter_map(yielded);
            if all || sides.any(|values| self.has(values[number])) {
                self.add(result);
            }
        }
    }

    fn visit_loop(&mut self, position: Position) {
        let index = self.index;
        let (node, inst) = (&index.nodes[position], index.inst(position));
        for (number, &param) in index.carried(position).iter().enumerate() {
            let mut next = node.continues.iter().map(|&site| (site, index.inst(site).args[number]));
            let tainted = self.has(index.initial(position)[number])
                || next.any(|(site, v)| {
                    self.has(v) || node.continues.len() > 1 && self.is_conditional(site, Some(position))
                });
            if tainted {
                self.add(param);
            }
        }
        for (number, &result) in inst.results.iter().enumerate() {
            let mut broken = node.breaks.iter().map(|&site| index.inst(site).args[number]);
            let carried = index.carried(position).get(number).copied();
            let counted = carried.filter(|_| matches!(inst.op, Op::For(_)));
            if self.left[position] || counted.is_some_and(|v| self.has(v)) || broken.any(|v| self.has(v)) {
                self.add(result);
            }
        }
        if let Op::For(_) = inst.op
            && inst.args[..3].iter().any(|&v| self.has(v))
        {
            // It runs for a number of rounds that memory gives, but it ends.
            self.add(inst.blocks[0].params[0]);
            inst.results.iter().for_each(|&v| self.add(v));
        }
    }
}

/// Whether threads of a block may have to go ahead of others that are at a smaller position: some loop may be waiting,
/// or some are held at a barrier, where not all threads of the block are together.
pub(super) fn may_go_ahead(index: &Index<'_>, uniform: &Uniform<'_, '_>, waits: &[bool]) -> bool {
    index.nodes.iter().enumerate().any(|(position, node)| match node.inst.op {
        Op::Barrier | Op::Shuffle(_) | Op::Ballot | Op::WarpReduce(_) | Op::WarpScan(_) | Op::WarpBarrier => {
            !uniform.is_converged(position)
        }
        _ => waits[position] && (uniform.diverges(position) || !uniform.is_converged(position)),
    })
}
