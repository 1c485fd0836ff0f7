//! Which values are needed, and from where to where each of them lives.
//!
//! Lives are intervals of positions. What is used in a loop and comes from outside lives to the end of the loop; the
//! results of an operation with blocks live from its start on, since each side writes them when it gets there. So no
//! register is written while another thread, anywhere inside, still has to read it.

use tilewise_ir::{Access, BinaryOp, Effect, Op, Value};

use super::index::{Def, Index, Position, yielded};
use super::uniform::{Uniform, Uniformity, constant};

/// A wide value taken apart for [`Address`](crate::code::Address): `base + plus + constant`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub(super) base: Value,
    pub(super) plus: Option<Value>,
    pub(super) constant: u64,
}

/// Needs and lives of values.
pub(super) struct Live {
    /// For each value, whether anything that has an effect depends on it.
    needed: Vec<bool>,
    /// For each value, the last position at which it may be read.
    ends: Vec<Position>,
    /// For each operation, whether it is an `If` of which both sides are computed and one is selected.
    selects: Vec<bool>,
}

impl Live {
    pub(super) fn new(index: &Index<'_>, uniform: &Uniform<'_, '_>) -> Live {
        let mut live = Live {
            needed: vec![false; index.kernel.values.len()],
            ends: vec![0; index.kernel.values.len()],
            selects: (0..index.nodes.len()).map(|p| is_select(index, uniform, p)).collect(),
        };
        live.find_needed(index, uniform);
        for position in 0..index.nodes.len() {
            live.add_uses(index, uniform, position);
        }
        live
    }

    /// Whether a value is needed.
    pub(super) fn is_needed(&self, value: Value) -> bool {
        self.needed[value.0 as usize]
    }

    /// The last position at which a value may be read.
    pub(super) fn end(&self, value: Value) -> Position {
        self.ends[value.0 as usize]
    }

    /// Whether both sides of this `If` are computed and one is selected.
    pub(super) fn is_select(&self, position: Position) -> bool {
        self.selects[position]
    }

    fn find_needed(&mut self, index: &Index<'_>, uniform: &Uniform<'_, '_>) {
        let mut work = Vec::new();
        for node in &index.nodes {
            let inst = node.inst;
            match inst.op.effect() {
                Effect::Read | Effect::Write => {
                    let values = inst.op.access_args().unwrap_or_default();
                    let (first, rest) = inst.args.split_at(values);
                    for (i, &value) in first.iter().enumerate() {
                        if i == 0 {
                            work.extend(sum(index, uniform, value).values())
                        } else {
                            work.push(value)
                        }
                    }
                    for pair in rest.as_chunks::<2>().0 {
                        work.extend(sum(index, uniform, pair[0]).values());
                        work.push(pair[1]);
                    }
                    work.extend(&inst.results);
                }
                Effect::Output => work.extend(&inst.args),
                Effect::Sync => work.extend(inst.args.iter().chain(&inst.results)),
                Effect::Structure => match inst.op {
                    Op::If => work.push(inst.args[0]),
                    Op::For(_) => {
                        work.extend(&inst.args[..3]);
                        work.push(inst.blocks[0].params[0]);
                    }
                    _ => {}
                },
                // Also if nobody uses the quotient: its fault is told.
                Effect::Fault => work.extend(&inst.results),
                Effect::Pure | Effect::Terminator => {}
            }
        }
        while let Some(value) = work.pop() {
            if std::mem::replace(&mut self.needed[value.0 as usize], true) {
                continue;
            }
            match index.def(value) {
                Def::None => {}
                Def::Result(position, number) => {
                    let inst = index.inst(position);
                    match inst.op {
                        Op::If => {
                            work.extend(inst.blocks.iter().filter_map(yielded).map(|values| values[number]))
                        }
                        Op::Loop(_) | Op::For(_) => {
                            let breaks = &index.nodes[position].breaks;
                            work.extend(breaks.iter().map(|&site| index.inst(site).args[number]));
                            if let Op::For(_) = inst.op {
                                work.push(index.carried(position)[number]);
                            }
                        }
                        _ if inst.op.access().is_some() => {}
                        _ => work.extend(&inst.args),
                    }
                }
                Def::Param(position, number) => {
                    let skip = index.inst(position).blocks[0].params.len() - index.carried(position).len();
                    if let Some(number) = number.checked_sub(skip) {
                        work.push(index.initial(position)[number]);
                        let continues = &index.nodes[position].continues;
                        work.extend(continues.iter().map(|&site| index.inst(site).args[number]));
                    }
                }
            }
        }
    }

    /// Extends the lives of what the operation at a position reads, and of what it defines.
    fn add_uses(&mut self, index: &Index<'_>, uniform: &Uniform<'_, '_>, position: Position) {
        let node = &index.nodes[position];
        let inst = node.inst;
        for &result in &inst.results {
            self.read(index, result, node.end);
        }
        match &inst.op {
            Op::If => {
                self.read(index, inst.args[0], if self.selects[position] { node.end } else { position })
            }
            Op::Loop(_) | Op::For(_) => {
                for &value in &inst.args {
                    self.read(index, value, position);
                }
                if let Op::For(_) = inst.op {
                    self.read(index, inst.args[1], node.end);
                    self.read(index, inst.args[2], node.end);
                }
                for &param in &inst.blocks[0].params {
                    self.read(index, param, node.end);
                }
            }
            Op::Continue(label) => {
                let target = index.target(*label);
                let at = if index.moves_at_end(target) { index.nodes[target].end } else { position };
                for &value in &inst.args {
                    self.read(index, value, at);
                }
            }
            Op::Yield => {
                let at = match node.parent {
                    Some(parent) if self.selects[parent] => index.nodes[parent].end,
                    _ => position,
                };
                for &value in &inst.args {
                    self.read(index, value, at);
                }
            }
            op => {
                for (i, &value) in inst.args.iter().enumerate() {
                    if is_address(op, i) {
                        for value in sum(index, uniform, value).values() {
                            self.read(index, value, position);
                        }
                    } else if op.access().is_some() || inst.results.iter().all(|&r| self.is_needed(r)) {
                        self.read(index, value, position);
                    }
                }
            }
        }
    }

    /// A value is read at a position, and in every round of the loops around it that it comes from outside of.
    fn read(&mut self, index: &Index<'_>, value: Value, at: Position) {
        let (Def::Result(defined, _) | Def::Param(defined, _)) = index.def(value) else { return };
        let loops = index
            .ancestors(at)
            .filter(|&p| p > defined && matches!(index.inst(p).op, Op::Loop(_) | Op::For(_)));
        let end = loops.map(|p| index.nodes[p].end).max().unwrap_or(at).max(at);
        let old = &mut self.ends[value.0 as usize];
        *old = (*old).max(end);
    }
}

impl Sum {
    /// The values that are added.
    pub(super) fn values(self) -> impl Iterator<Item = Value> {
        std::iter::once(self.base).chain(self.plus)
    }
}

/// Takes a sum apart, so that an address that differs by something uniform needs no column of its own.
pub(super) fn sum(index: &Index<'_>, uniform: &Uniform<'_, '_>, value: Value) -> Sum {
    let mut sum = Sum { base: value, plus: None, constant: 0 };
    if uniform.of(value) != Uniformity::Varying {
        return sum;
    }
    while let Some(inst) = index.def_inst(sum.base)
        && inst.op == Op::Binary(BinaryOp::Add)
    {
        let (a, b) = (inst.args[0], inst.args[1]);
        let (varying, other) = if uniform.of(a) == Uniformity::Varying { (a, b) } else { (b, a) };
        if uniform.of(other) == Uniformity::Varying {
            break;
        } else if let Some(constant) = constant(index, other) {
            sum.constant = sum.constant.wrapping_add(constant.bits);
        } else if sum.plus.is_none() {
            sum.plus = Some(other);
        } else {
            break;
        }
        sum.base = varying;
    }
    sum
}

/// Whether this operand is an offset or an index that is taken apart with [`sum`].
fn is_address(op: &Op, operand: usize) -> bool {
    let Some(values) = op.access_args() else { return false };
    operand == 0 || operand >= values && (operand - values).is_multiple_of(2)
}

/// Whether both sides of an operation are so cheap, and free of effects, that computing both beats sending threads
/// different ways.
fn is_select(index: &Index<'_>, uniform: &Uniform<'_, '_>, position: Position) -> bool {
    const MOST_OPERATIONS: usize = 8;
    let inst = index.inst(position);
    inst.op == Op::If
        && uniform.of(inst.args[0]) == Uniformity::Varying
        && inst.blocks.iter().map(|b| b.insts.len()).sum::<usize>() <= MOST_OPERATIONS + 2
        && inst.blocks.iter().all(|block| {
            let (last, others) = block.insts.split_last().expect("a block ends with a terminator");
            last.op == Op::Yield && others.iter().all(|i| i.op.effect() == Effect::Pure)
        })
        && !inst.results.is_empty()
}

/// The lanes of an access along the dimension of entry `number` of its bounds.
pub(super) fn lanes_of(access: &Access, number: usize, components: u8) -> u8 {
    if access.bounds[number] == access.lane_dim { components } else { 1 }
}
