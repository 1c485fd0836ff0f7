//! Which values are the same for all threads that run an operation.
//!
//! Threads of a block that took different ways wait for each other where the ways join, so those that are in a loop
//! are in the same round. A value that is computed from uniform ones is therefore uniform, even if threads have left
//! before. What differs is a value that comes from different places for different threads, and what a loop leaves
//! behind that threads leave in different rounds.
//!
//! That argument needs the smallest position to go first, always. Where threads may have to wait for each other
//! elsewhere than at a join (see [`waits`](super::waits)), some go ahead; there only [`Uniformity::Block`] counts.

use tilewise_ir::{BinaryOp, Builtin, Const, Op, Scalar, Value};

use super::index::{Def, Index, Position, yielded};

/// How uniform a value is; the order is from more to less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Uniformity {
    /// One value for the whole block, which can be computed before it starts.
    Block,
    /// One value for all threads that run the operation, each time they do.
    Step,
    /// Any value for each thread.
    Varying,
}

/// The uniformity of each value.
pub(super) struct Uniform<'a, 'k> {
    index: &'a Index<'k>,
    values: Vec<Uniformity>,
    /// For each loop: whether threads leave a round of it at different places or different rounds.
    diverges: Vec<bool>,
    /// What [`Uniformity::Step`] counts as.
    step: Uniformity,
}

impl<'a, 'k> Uniform<'a, 'k> {
    /// Analyses a kernel. If threads may go ahead of each other, only what is the same for the whole block is uniform.
    pub(super) fn new(index: &'a Index<'k>, may_go_ahead: bool) -> Uniform<'a, 'k> {
        let mut uniform = Uniform {
            index,
            values: vec![Uniformity::Block; index.kernel.values.len()],
            diverges: vec![false; index.nodes.len()],
            step: if may_go_ahead { Uniformity::Varying } else { Uniformity::Step },
        };
        while uniform.round() {}
        uniform
    }

    /// How uniform a value is.
    pub(super) fn of(&self, value: Value) -> Uniformity {
        self.values[value.0 as usize]
    }

    /// Whether threads may leave rounds of this loop at different places or in different rounds.
    pub(super) fn diverges(&self, position: Position) -> bool {
        self.diverges[position]
    }

    /// Whether all live threads of the block come to this position together, each time.
    pub(super) fn is_converged(&self, position: Position) -> bool {
        !self.index.ancestors(position).any(|p| self.splits(p))
    }

    /// Whether threads inside this operation may be without others that came to it with them.
    fn splits(&self, position: Position) -> bool {
        let inst = self.index.inst(position);
        match inst.op {
            Op::If => self.of(inst.args[0]) == Uniformity::Varying,
            Op::Loop(_) | Op::For(_) => self.diverges[position],
            _ => false,
        }
    }

    /// Raises what has to be raised, and gives whether anything was.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for position in 0..self.index.nodes.len() {
            let inst = self.index.inst(position);
            if matches!(inst.op, Op::Loop(_) | Op::For(_)) {
                changed |= self.round_of_loop(position);
            }
            for number in 0..inst.results.len() {
                let uniformity = self.result(position, number);
                changed |= self.raise(inst.results[number], uniformity);
            }
        }
        changed
    }

    fn raise(&mut self, value: Value, uniformity: Uniformity) -> bool {
        let old = &mut self.values[value.0 as usize];
        let raised = uniformity > *old;
        *old = (*old).max(uniformity);
        raised
    }

    fn round_of_loop(&mut self, position: Position) -> bool {
        let index = self.index;
        let (node, inst) = (&index.nodes[position], index.inst(position));
        let mut changed = false;
        let counts = match inst.op {
            Op::For(_) => self.join(&inst.args[..3]),
            _ => Uniformity::Block,
        };
        let mut sites = node.continues.iter().chain(&node.breaks);
        let diverges = counts == Uniformity::Varying
            || sites.any(|&site| index.between(site, position).any(|p| self.splits(p)));
        if diverges && !self.diverges[position] {
            self.diverges[position] = true;
            changed = true;
        }
        if let Op::For(_) = inst.op {
            changed |= self.raise(inst.blocks[0].params[0], counts.max(self.step));
        }
        for (number, &param) in index.carried(position).iter().enumerate() {
            // Threads that have counted to their end wait for the others, and look at the carried values after them.
            let apart =
                counts == Uniformity::Varying || self.diverges[position] && !index.moves_at_end(position);
            let uniformity = if apart {
                Uniformity::Varying
            } else {
                let next = node.continues.iter().map(|&site| self.of(index.inst(site).args[number]));
                next.fold(self.of(index.initial(position)[number]), Uniformity::max).max(self.step)
            };
            changed |= self.raise(param, uniformity);
        }
        changed
    }

    fn result(&self, position: Position, number: usize) -> Uniformity {
        let index = self.index;
        let inst = index.inst(position);
        match &inst.op {
            Op::Const(_) | Op::Scalar(_) | Op::Extent(..) | Op::Stride(..) => Uniformity::Block,
            Op::Builtin(Builtin::ThreadIdx, _) | Op::LaneId => Uniformity::Varying,
            Op::Builtin(..) => Uniformity::Block,
            Op::Binary(BinaryOp::Div | BinaryOp::Rem) if may_fault(index, inst.args[1]) => {
                self.join(&inst.args).max(self.step)
            }
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_) => self.join(&inst.args),
            Op::Load(access) if !index.kernel.is_local_memory(access.mem) => {
                self.join(&inst.args).max(self.step)
            }
            Op::If => {
                let mut sides = inst.blocks.iter().filter_map(yielded);
                match (sides.next(), sides.next()) {
                    (Some(a), Some(b)) => self.join(&[inst.args[0], a[number], b[number]]),
                    (Some(only), None) => self.of(only[number]),
                    _ => Uniformity::Block,
                }
                .max(self.step)
            }
            Op::Loop(_) | Op::For(_) => {
                let node = &index.nodes[position];
                let counted = matches!(inst.op, Op::For(_)).then(|| index.carried(position)[number]);
                let broken = node.breaks.iter().map(|&site| index.inst(site).args[number]);
                let mut sources = broken.chain(counted);
                let joined = sources.clone().fold(Uniformity::Block, |join, v| join.max(self.of(v)));
                let same = joined == Uniformity::Block && sources.nth(1).is_none();
                if self.diverges[position] && !same { Uniformity::Varying } else { joined.max(self.step) }
            }
            Op::Load(_)
            | Op::AtomicLoad(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..)
            | Op::Store(_)
            | Op::AtomicStore(..)
            | Op::Fence(..)
            | Op::Barrier
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_)
            | Op::WarpBarrier
            | Op::Print(_)
            | Op::Assert(_)
            | Op::Yield
            | Op::Break(_)
            | Op::Continue(_)
            | Op::Return => Uniformity::Varying,
        }
    }

    fn join(&self, values: &[Value]) -> Uniformity {
        values.iter().map(|&v| self.of(v)).max().unwrap_or(Uniformity::Block)
    }
}

impl Index<'_> {
    /// Whether a loop takes over its next carried values when all threads have come to the end of the round: there is
    /// one `Continue`, in no inner loop, so all get them from the same place.
    pub(super) fn moves_at_end(&self, position: Position) -> bool {
        match self.nodes[position].continues[..] {
            [site] => !self.between(site, position).any(|p| self.inst(p).op != Op::If),
            _ => false,
        }
    }
}

/// Whether a division by this value can be a fault.
pub(super) fn may_fault(index: &Index<'_>, divisor: Value) -> bool {
    let ty = index.kernel.ty(divisor);
    !ty.scalar.is_float() && constant(index, divisor).is_none_or(Const::is_zero)
}

/// The constant that a value is.
pub(super) fn constant(index: &Index<'_>, value: Value) -> Option<Const> {
    let Def::Result(position, _) = index.def(value) else { return None };
    let inst = index.inst(position);
    match inst.op {
        Op::Const(value) => Some(value),
        Op::Splat(_) => constant(index, inst.args[0]),
        _ => None,
    }
}

/// Whether a scalar is kept in wide registers.
pub(super) fn is_wide(scalar: Scalar) -> bool {
    scalar.size() == 8
}
