//! What an access needs from other lanes of its warp: operations of warps hand over values, and who uses such a value cannot
//! run before it was read.
//!
//! An operation of a warp orders no memory, so the accesses around it can still be a race. But an order in which a lane writes
//! what was computed from a read that comes after does not exist, and is not to be shown.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tilewise_ir::{Block, Inst, Kernel, Label, MemRef, Op, Shuffle, Span, Value, WARP_SIZE};

/// An access, as findings tell them apart, by a lane of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) span: Span,
    pub(crate) mem: MemRef,
    pub(crate) lane: u32,
}

/// Whether what `by` does needs what `of`, which is of the same warp, has read.
pub(crate) fn needs(kernel: &Kernel, by: Access, of: Access) -> bool {
    let mut flow = Flow { kernel, of, sources: FxHashMap::default(), stores: FxHashMap::default() };
    let mut roots = Vec::new();
    flow.block(&kernel.body, &mut Around { conditions: Vec::new(), loops: Vec::new() }, by, &mut roots);
    let mut lanes: FxHashMap<Value, u32> = FxHashMap::default();
    let mut rest: Vec<(Value, u32)> = roots.into_iter().map(|value| (value, 1 << by.lane)).collect();
    while let Some((value, mask)) = rest.pop() {
        let known = lanes.entry(value).or_default();
        let new = mask & !*known;
        *known |= mask;
        if new == 0 {
            continue;
        }
        for source in flow.sources.get(&value).into_iter().flatten() {
            match source {
                Source::Read if new >> of.lane & 1 != 0 => return true,
                Source::Read => {}
                Source::Value(from, of_lanes) => rest.push((*from, of_lanes.of(new))),
                Source::Local(mem) => {
                    let stored = flow.stores.get(mem).into_iter().flatten();
                    rest.extend(stored.map(|&from| (from, new)));
                }
            }
        }
    }
    false
}

/// Where a value comes from.
enum Source {
    /// It is what is read.
    Read,
    /// Another value, of some lanes.
    Value(Value, Lanes),
    /// Memory of the thread.
    Local(MemRef),
}

/// Of which lanes a value is needed.
#[derive(Clone, Copy)]
enum Lanes {
    /// The lane itself.
    Own,
    /// All of the warp.
    All,
    /// Those up to the lane.
    UpTo,
    /// One that is so far away, or the lane itself.
    Of(Shuffle, u32),
    /// It cannot be told.
    Unknown,
}

impl Lanes {
    /// The lanes for lanes, a bit each.
    fn of(self, lanes: u32) -> u32 {
        match self {
            Lanes::Own => lanes,
            Lanes::All => u32::MAX,
            Lanes::UpTo => u32::MAX >> lanes.leading_zeros(),
            Lanes::Of(shuffle, number) => (0..WARP_SIZE)
                .filter(|lane| lanes >> lane & 1 != 0)
                .fold(0, |mask, lane| mask | 1 << shuffle.source(lane, number).unwrap_or(lane)),
            Lanes::Unknown => 0,
        }
    }
}

/// What is around an operation.
struct Around<'k> {
    /// Conditions under which it runs.
    conditions: Vec<Value>,
    loops: Vec<(Label, &'k Inst)>,
}

struct Flow<'k> {
    kernel: &'k Kernel,
    of: Access,
    sources: FxHashMap<Value, SmallVec<[Source; 4]>>,
    /// Values that are stored to memory of the thread.
    stores: FxHashMap<MemRef, Vec<Value>>,
}

impl<'k> Flow<'k> {
    fn add(&mut self, value: Value, source: Source) {
        self.sources.entry(value).or_default().push(source);
    }

    fn add_each(&mut self, to: &[Value], from: &[Value]) {
        for (&to, &from) in to.iter().zip(from) {
            self.add(to, Source::Value(from, Lanes::Own));
        }
    }

    /// Collects where values come from, and what the access `by` uses.
    fn block(&mut self, block: &'k Block, around: &mut Around<'k>, by: Access, roots: &mut Vec<Value>) {
        for inst in &block.insts {
            let mem = inst.op.access().map(|access| access.mem);
            if mem == Some(by.mem) && inst.span == by.span {
                roots.extend(inst.args.iter().chain(&around.conditions));
            }
            self.inst(inst, mem, around);
            for block in &inst.blocks {
                match inst.op {
                    Op::If => {
                        around.conditions.push(inst.args[0]);
                        self.block(block, around, by, roots);
                        around.conditions.pop();
                        if let Some(last) = block.insts.last().filter(|last| last.op == Op::Yield) {
                            self.add_each(&inst.results, &last.args);
                        }
                    }
                    Op::Loop(label) | Op::For(label) => {
                        around.loops.push((label, inst));
                        self.block(block, around, by, roots);
                        around.loops.pop();
                    }
                    _ => self.block(block, around, by, roots),
                }
            }
        }
    }

    fn inst(&mut self, inst: &'k Inst, mem: Option<MemRef>, around: &Around<'k>) {
        let (own, span) = (Lanes::Own, inst.span);
        let target = |label| around.loops.iter().find(|(other, _)| *other == label).map(|(_, inst)| *inst);
        match &inst.op {
            Op::WarpReduce(_) | Op::Ballot => self.all(inst, Lanes::All),
            Op::WarpScan(_) => self.all(inst, Lanes::UpTo),
            Op::Shuffle(shuffle) => {
                let [value, number] = inst.args[..] else { return };
                let lanes =
                    self.constant(number).map_or(Lanes::Unknown, |number| Lanes::Of(*shuffle, number));
                for &result in &inst.results {
                    self.add(result, Source::Value(value, lanes));
                    self.add(result, Source::Value(number, own));
                }
            }
            Op::Loop(_) | Op::For(_) => {
                let count = if matches!(inst.op, Op::For(_)) { 3 } else { 0 };
                let params = &inst.blocks[0].params;
                if count > 0 {
                    inst.args[..count].iter().for_each(|&arg| self.add(params[0], Source::Value(arg, own)));
                    self.add_each(&inst.results, &params[1..]);
                }
                self.add_each(&params[usize::from(count > 0)..], &inst.args[count..]);
            }
            Op::Continue(label) => {
                let Some(target) = target(*label) else { return };
                let counter = usize::from(matches!(target.op, Op::For(_)));
                self.add_each(&target.blocks[0].params[counter..], &inst.args);
            }
            Op::Break(label) => {
                let Some(target) = target(*label) else { return };
                self.add_each(&target.results, &inst.args);
            }
            _ => {
                if let Some(mem) = mem {
                    let is_read = mem == self.of.mem && span == self.of.span;
                    let is_local = self.kernel.is_local_memory(mem);
                    for &result in &inst.results {
                        if is_read {
                            self.add(result, Source::Read);
                        }
                        if is_local {
                            self.add(result, Source::Local(mem));
                        }
                    }
                    if is_local {
                        self.stores.entry(mem).or_default().extend_from_slice(&inst.args);
                    }
                }
                self.all(inst, own);
            }
        }
    }

    /// Each result comes from each operand.
    fn all(&mut self, inst: &Inst, lanes: Lanes) {
        for &result in &inst.results {
            inst.args.iter().for_each(|&arg| self.add(result, Source::Value(arg, lanes)));
        }
    }

    /// A number that is a constant of the kernel.
    fn constant(&self, value: Value) -> Option<u32> {
        let mut found = None;
        self.kernel.body.visit(&mut |inst| {
            if let Op::Const(number) = inst.op
                && inst.results.contains(&value)
            {
                found = number.as_int().and_then(|number| u32::try_from(number).ok());
            }
        });
        found
    }
}
