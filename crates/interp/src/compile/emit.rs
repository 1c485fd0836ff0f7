//! From the tree of operations to linear code: registers, jumps, and moves of what structured operations hand over.

use rustc_hash::FxHashMap;
use tilewise_ir::{
    Access as IrAccess, BinaryOp, Block, Builtin, CompareOp, Inst, MemRef, Op, Space, Type, Value,
};

use super::index::{Index, Position, yielded};
use super::live::{Live, lanes_of, sum};
use super::registers::Allocator;
use super::uniform::{Uniform, Uniformity, constant, is_wide, may_fault};
use crate::code::{Access, AccessOp, Address, Bound, Code, Input, Instr, Loop, Memory, Print};
use crate::column::Reg;
use crate::vector::Compute;

/// Makes the code of a kernel.
pub(super) struct Emitter<'a, 'k> {
    index: &'a Index<'k>,
    uniform: &'a Uniform<'a, 'k>,
    live: &'a Live,
    waits: &'a [bool],
    code: Code,
    allocator: Allocator,
    /// The register of each value that has one.
    regs: Vec<Option<Reg>>,
    /// Uniform values that depend on the block.
    per_block: Vec<bool>,
    constants: FxHashMap<(bool, u64), Reg>,
    inputs: FxHashMap<Input, Reg>,
    /// Position of each label, once it is known. Until the end, jumps hold numbers of labels.
    labels: Vec<u32>,
    /// Labels of each open loop, by position.
    loops: FxHashMap<Position, LoopLabels>,
    /// Results that hold here, by number.
    known: FxHashMap<Known, u32>,
    /// They in the order in which they came, to forget those of an inner block.
    known_order: Vec<Known>,
}

/// Where `Continue` and `Break` go.
#[derive(Clone, Copy)]
struct LoopLabels {
    next: Label,
    exit: Label,
}

/// Number of a label.
type Label = u32;

/// What has been found out about values. It holds for the threads that were active, and so for all that go on from
/// there in the same block or one inside it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    /// The flag of a check: index, extent, lanes.
    Check(Value, Value, u8),
    /// The pattern of offsets.
    Pattern(Value),
}

/// A value that goes from one register to another.
#[derive(Clone, Copy)]
struct Move {
    dst: Reg,
    src: Reg,
    ty: Type,
}

impl<'a, 'k> Emitter<'a, 'k> {
    pub(super) fn new(
        index: &'a Index<'k>,
        uniform: &'a Uniform<'a, 'k>,
        live: &'a Live,
        waits: &'a [bool],
        fair: bool,
    ) -> Emitter<'a, 'k> {
        let values = index.kernel.values.len();
        Emitter {
            index,
            uniform,
            live,
            waits,
            code: Code { fair, waits: waits.contains(&true), ..Code::default() },
            allocator: Allocator::default(),
            regs: vec![None; values],
            per_block: vec![false; values],
            constants: FxHashMap::default(),
            inputs: FxHashMap::default(),
            labels: Vec::new(),
            loops: FxHashMap::default(),
            known: FxHashMap::default(),
            known_order: Vec::new(),
        }
    }

    pub(super) fn emit(mut self) -> Code {
        self.block(&self.index.kernel.body, 0);
        for instr in &mut self.code.body {
            match instr {
                Instr::Jump(target)
                | Instr::Branch { target, .. }
                | Instr::Repeat { target, .. }
                | Instr::Advance { target, .. }
                | Instr::CheckStep { target, .. } => *target = self.labels[*target as usize],
                _ => {}
            }
        }
        self.code.narrow = self.allocator.narrow;
        self.code.wide = self.allocator.wide;
        self.code
    }

    // ---- values and registers ----

    fn ty(&self, value: Value) -> Type {
        self.index.kernel.ty(value)
    }

    /// The register of a value that has been defined.
    fn reg(&self, value: Value) -> Reg {
        self.regs[value.0 as usize].expect("a value is defined before it is used")
    }

    /// A register for a value that is defined at this position.
    fn define(&mut self, value: Value, at: Position) -> Reg {
        let ty = self.ty(value);
        let reg = match self.uniform.of(value) {
            Uniformity::Varying => self.allocator.column(ty, at, self.live.end(value)),
            Uniformity::Block | Uniformity::Step => self.allocator.uniform(ty),
        };
        self.regs[value.0 as usize] = Some(reg);
        reg
    }

    fn address(&self, value: Value) -> Address {
        let sum = sum(self.index, self.uniform, value);
        Address { base: self.reg(sum.base), plus: sum.plus.map(|v| self.reg(v)), constant: sum.constant }
    }

    // ---- labels ----

    fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        self.labels.len() as u32 - 1
    }

    /// The label is here.
    fn bind(&mut self, label: Label) {
        let here = self.code.body.len() as u32;
        if let Some(&Instr::Jump(target)) = self.code.body.last()
            && target == label
            && !self.labels.contains(&here)
        {
            self.code.body.pop();
        }
        self.labels[label as usize] = self.code.body.len() as u32;
        self.forget_if_others_run();
    }

    /// Where threads go ahead of each other, others may run between here and what comes next, and find out something
    /// else.
    fn forget_if_others_run(&mut self) {
        if self.code.fair {
            self.known.clear();
            self.known_order.clear();
        }
    }

    /// The result for what is known, or a new one that is known from here on.
    fn find_out(&mut self, known: Known, new: impl FnOnce(&mut Self) -> u32) -> u32 {
        if let Some(&result) = self.known.get(&known) {
            return result;
        }
        let result = new(self);
        self.known.insert(known, result);
        self.known_order.push(known);
        result
    }

    // ---- operations ----

    fn block(&mut self, block: &'k Block, first: Position) {
        let known = self.known_order.len();
        let mut position = first;
        for inst in &block.insts {
            self.inst(inst, position);
            position = self.index.nodes[position].end + 1;
        }
        for forgotten in self.known_order.drain(known.min(self.known_order.len())..) {
            self.known.remove(&forgotten);
        }
    }

    fn inst(&mut self, inst: &'k Inst, position: Position) {
        let args = &inst.args;
        match &inst.op {
            Op::Const(_)
            | Op::Builtin(..)
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
            | Op::Extract(_) => {
                if self.live.is_needed(inst.results[0]) {
                    self.pure(inst, position);
                }
            }
            Op::Load(access)
            | Op::Store(access)
            | Op::AtomicLoad(access, ..)
            | Op::AtomicStore(access, ..)
            | Op::AtomicRmw(_, access, ..)
            | Op::AtomicCas(access, ..) => self.access(inst, access, position),
            Op::Fence(_, ordering) => self.code.body.push(Instr::Fence(*ordering)),
            Op::Barrier => {
                self.code.body.push(Instr::Barrier(inst.span));
                self.forget_if_others_run();
            }
            Op::Print(format) | Op::Assert(format) => {
                let assert = matches!(inst.op, Op::Assert(_));
                let shown = &args[assert as usize..];
                let args = shown.iter().map(|&v| (self.reg(v), self.ty(v))).collect();
                self.code.prints.push(Print { format: format.clone(), args });
                let number = self.code.prints.len() as u32 - 1;
                self.code.body.push(if assert {
                    Instr::Assert { cond: self.reg(inst.args[0]), message: number, span: inst.span }
                } else {
                    self.code.prints_lines = true;
                    Instr::Print(number)
                });
            }
            Op::If if self.live.is_select(position) => self.select(inst, position),
            Op::If => self.branch(inst, position),
            Op::Loop(_) => self.repeat(inst, position),
            Op::For(_) => self.count(inst, position),
            Op::Yield => {
                let (Some(parent), false) = (self.index.nodes[position].parent, args.is_empty()) else {
                    return;
                };
                let results = &self.index.inst(parent).results;
                self.moves(results, args);
            }
            Op::Break(label) => {
                let target = self.index.target(*label);
                self.moves(&self.index.inst(target).results, args);
                let exit = self.loops[&target].exit;
                self.code.body.push(Instr::Jump(exit));
            }
            Op::Continue(label) => {
                let target = self.index.target(*label);
                if !self.index.moves_at_end(target) {
                    self.moves(self.index.carried(target), args);
                }
                let next = self.loops[&target].next;
                self.code.body.push(Instr::Jump(next));
            }
            Op::Return => self.code.body.push(Instr::Return),
        }
    }

    /// An operation without effects, or a division.
    fn pure(&mut self, inst: &Inst, position: Position) {
        let result = inst.results[0];
        let ty = self.ty(result);
        let (wide, components) = (is_wide(ty.scalar), ty.lanes);
        let arg = |i: usize| inst.args[i];
        let op = match &inst.op {
            Op::Const(value) => {
                let key = (wide, value.bits);
                let reg = match self.constants.get(&key) {
                    Some(&reg) => reg,
                    None => {
                        let reg = self.allocator.uniform(ty);
                        self.constants.insert(key, reg);
                        self.code.constants.push((reg, wide, value.bits));
                        reg
                    }
                };
                self.regs[result.0 as usize] = Some(reg);
                return;
            }
            Op::Builtin(Builtin::ThreadIdx, axis) => {
                let slot = &mut self.code.thread_idx[*axis as usize];
                let reg = *slot.get_or_insert_with(|| self.allocator.pinned(ty));
                self.regs[result.0 as usize] = Some(reg);
                return;
            }
            Op::Builtin(builtin, axis) => return self.input(result, Input::Builtin(*builtin, *axis)),
            Op::Scalar(param) => return self.input(result, Input::Scalar(param.0)),
            Op::Extent(param, dim) => return self.input(result, Input::Extent(param.0, *dim)),
            Op::Stride(param, dim) => return self.input(result, Input::Stride(param.0, *dim)),
            Op::Bitcast(_) => return self.copies(inst, position, &[(arg(0), 0, 0, components, false)]),
            Op::Cast(to) if *to == self.ty(arg(0)).scalar => {
                return self.copies(inst, position, &[(arg(0), 0, 0, components, false)]);
            }
            Op::Splat(_) => return self.copies(inst, position, &[(arg(0), 0, 0, components, true)]),
            Op::Extract(lane) => return self.copies(inst, position, &[(arg(0), 0, *lane, 1, false)]),
            Op::Pack => {
                let parts: Vec<_> =
                    inst.args.iter().enumerate().map(|(i, &v)| (v, i as u8, 0, 1, false)).collect();
                return self.copies(inst, position, &parts);
            }
            Op::Unary(op) => Compute::Unary(*op, self.ty(arg(0)).scalar, self.reg(arg(0))),
            Op::Binary(op) => {
                if matches!(op, BinaryOp::Div | BinaryOp::Rem) && may_fault(self.index, arg(1)) {
                    let divisor = self.reg(arg(1));
                    self.code.body.push(Instr::CheckDivisor { divisor, wide, components, span: inst.span });
                }
                Compute::Binary(*op, ty.scalar, self.reg(arg(0)), self.reg(arg(1)))
            }
            Op::Compare(op) => {
                Compute::Compare(*op, self.ty(arg(0)).scalar, self.reg(arg(0)), self.reg(arg(1)))
            }
            Op::MulAdd => Compute::MulAdd(ty.scalar, self.reg(arg(0)), self.reg(arg(1)), self.reg(arg(2))),
            Op::Select => {
                let one = self.ty(arg(0)).lanes == 1;
                Compute::Select(self.reg(arg(0)), one, self.reg(arg(1)), self.reg(arg(2)))
            }
            Op::Cast(to) => Compute::Cast(self.ty(arg(0)).scalar, *to, self.reg(arg(0))),
            _ => return,
        };
        let dst = self.define(result, position);
        self.push(inst, Instr::Compute { op, dst, wide, components });
    }

    /// A result made of components of operands: operand, first component of the result, first of the operand, how many,
    /// and whether one goes to all.
    fn copies(&mut self, inst: &Inst, position: Position, parts: &[(Value, u8, u8, u8, bool)]) {
        let wide = is_wide(self.ty(inst.results[0]).scalar);
        let dst = self.define(inst.results[0], position);
        for &(value, to, from, components, broadcast) in parts {
            let src = self.reg(value);
            self.push(inst, Instr::Copy { dst, src, wide, to, from, components, broadcast });
        }
    }

    /// Appends to the part of the code where the result can be computed.
    fn push(&mut self, inst: &Inst, instr: Instr) {
        let result = inst.results[0];
        if self.uniform.of(result) != Uniformity::Block {
            self.code.body.push(instr);
        } else if inst.args.iter().any(|v| self.per_block[v.0 as usize]) {
            self.per_block[result.0 as usize] = true;
            self.code.block.push(instr);
        } else {
            self.code.launch.push(instr);
        }
    }

    fn input(&mut self, result: Value, input: Input) {
        let ty = self.ty(result);
        let per_block = matches!(input, Input::Builtin(Builtin::BlockIdx, _));
        self.per_block[result.0 as usize] = per_block;
        let reg = match self.inputs.get(&input) {
            Some(&reg) => reg,
            None => {
                let dst = self.allocator.uniform(ty);
                self.inputs.insert(input, dst);
                let code = if per_block { &mut self.code.block } else { &mut self.code.launch };
                code.push(Instr::Input { dst, wide: is_wide(ty.scalar), input });
                dst
            }
        };
        self.regs[result.0 as usize] = Some(reg);
    }

    // ---- memory ----

    fn access(&mut self, inst: &Inst, access: &IrAccess, position: Position) {
        let kernel = self.index.kernel;
        let elem = kernel.mem_elem(access.mem).expect("an access names a tensor or an allocation");
        let values = inst.op.access_args().expect("an access has operands");
        let moved = match inst.op {
            Op::Load(_) | Op::AtomicLoad(..) => self.ty(inst.results[0]),
            _ => self.ty(inst.args[1]),
        };
        let components = moved.lanes;
        let lanes = (components / elem.lanes).max(1);
        let memory = match access.mem {
            MemRef::Param(p) => Memory::Global(p.0),
            MemRef::Alloc(a) => match kernel.allocs[a.0 as usize].space {
                Space::Shared => Memory::Shared(a.0),
                Space::Local => Memory::Local(a.0),
            },
        };
        let mut bounds = Vec::new();
        for (number, pair) in inst.args[values..].as_chunks::<2>().0.iter().enumerate() {
            let lanes = lanes_of(access, number, lanes);
            bounds.extend(self.bound(pair[0], pair[1], lanes, access.bounds[number], lanes > 1));
        }
        let offset = self.address(inst.args[0]);
        let useful = matches!(inst.op, Op::Load(_) | Op::Store(_))
            && !matches!(memory, Memory::Local(_))
            && components == 1
            && offset.base.is_varying();
        let pattern = useful.then(|| {
            let base = sum(self.index, self.uniform, inst.args[0]).base;
            self.find_out(Known::Pattern(base), |emitter| {
                let slot = emitter.code.patterns as u32;
                emitter.code.patterns += 1;
                emitter.code.body.push(Instr::Classify { slot, base: offset.base });
                slot
            })
        });
        let value = |i: usize| self.reg(inst.args[i]);
        let kind = match inst.op {
            Op::Store(_) => AccessOp::Store { value: value(1) },
            Op::AtomicStore(_, _, ordering) => AccessOp::AtomicStore { value: value(1), ordering },
            Op::AtomicRmw(op, _, _, ordering) => {
                let value = value(1);
                AccessOp::Rmw { op, dst: self.define(inst.results[0], position), value, ordering }
            }
            Op::AtomicCas(_, _, ordering) => {
                let (expected, desired) = (value(1), value(2));
                AccessOp::Cas { dst: self.define(inst.results[0], position), expected, desired, ordering }
            }
            Op::AtomicLoad(_, _, ordering) => {
                AccessOp::AtomicLoad { dst: self.define(inst.results[0], position), ordering }
            }
            _ => AccessOp::Load { dst: self.define(inst.results[0], position) },
        };
        self.code.accesses.push(Access {
            kind,
            mem: access.mem,
            memory,
            scalar: elem.scalar,
            per_element: elem.lanes,
            components,
            offset,
            pattern,
            bounds,
            span: inst.span,
        });
        self.code.body.push(Instr::Access(self.code.accesses.len() as u32 - 1));
    }

    /// A check of an index, unless it is known to hold.
    fn bound(&mut self, index: Value, extent: Value, lanes: u8, dim: u8, along: bool) -> Option<Bound> {
        if let (Some(index), Some(extent)) = (constant(self.index, index), constant(self.index, extent))
            && index.bits as u128 + lanes as u128 <= extent.bits as u128
        {
            return None;
        }
        let known = Known::Check(index, extent, lanes);
        let (address, extent) = (self.address(index), self.reg(extent));
        let flag = self.find_out(known, |emitter| {
            let flag = emitter.code.flags as u32;
            emitter.code.flags += 1;
            emitter.code.body.push(Instr::Check { flag, index: address, extent, lanes });
            flag
        });
        Some(Bound { index: address, extent, dim, along, flag })
    }

    // ---- control flow ----

    /// Registers for the results of an operation with blocks.
    fn define_needed(&mut self, values: &[Value], position: Position) {
        for &value in values {
            if self.live.is_needed(value) {
                self.define(value, position);
            }
        }
    }

    fn select(&mut self, inst: &'k Inst, position: Position) {
        self.define_needed(&inst.results, position);
        let mut first = position + 1;
        let mut sides = Vec::new();
        for block in &inst.blocks {
            let (last, others) = block.insts.split_last().expect("a block ends with a terminator");
            for inst in others {
                self.inst(inst, first);
                first += 1;
            }
            first += 1;
            sides.push(&last.args);
        }
        let cond = self.reg(inst.args[0]);
        for (number, &result) in inst.results.iter().enumerate() {
            if self.live.is_needed(result) {
                let ty = self.ty(result);
                let op = Compute::Select(cond, true, self.reg(sides[0][number]), self.reg(sides[1][number]));
                let (dst, wide) = (self.reg(result), is_wide(ty.scalar));
                self.code.body.push(Instr::Compute { op, dst, wide, components: ty.lanes });
            }
        }
    }

    fn branch(&mut self, inst: &'k Inst, position: Position) {
        self.define_needed(&inst.results, position);
        let needed = inst.results.iter().any(|&r| self.live.is_needed(r));
        let is_empty = |block: &Block| block.insts.len() == 1 && yielded(block).is_some() && !needed;
        let (then, otherwise) = (&inst.blocks[0], &inst.blocks[1]);
        let then_first = position + 1;
        let otherwise_first = then_first + self.count_of(then, then_first);
        let cond = self.reg(inst.args[0]);
        let end = self.label();
        self.forget_if_others_run();
        if is_empty(then) {
            self.code.body.push(Instr::Branch { cond, when: true, target: end });
            self.block(otherwise, otherwise_first);
        } else if is_empty(otherwise) {
            self.code.body.push(Instr::Branch { cond, when: false, target: end });
            self.block(then, then_first);
        } else {
            let middle = self.label();
            self.code.body.push(Instr::Branch { cond, when: false, target: middle });
            self.block(then, then_first);
            if yielded(then).is_some() {
                self.code.body.push(Instr::Jump(end));
            }
            self.bind(middle);
            self.block(otherwise, otherwise_first);
        }
        self.bind(end);
    }

    /// How many operations a block has, those inside them counted.
    fn count_of(&self, block: &Block, first: Position) -> usize {
        block.insts.iter().fold(first, |position, _| self.index.nodes[position].end + 1) - first
    }

    fn repeat(&mut self, inst: &'k Inst, position: Position) {
        let number = self.enter(inst, position);
        let head = self.label();
        self.bind(head);
        self.block(&inst.blocks[0], position + 1);
        if !self.index.nodes[position].continues.is_empty() {
            self.next_round(position);
            self.code.body.push(Instr::Repeat { target: head, number });
        }
        let exit = self.loops[&position].exit;
        self.bind(exit);
    }

    fn count(&mut self, inst: &'k Inst, position: Position) {
        let number = self.enter(inst, position);
        let scalar = self.ty(inst.args[0]).scalar;
        let counter = inst.blocks[0].params[0];
        let [lo, hi, step] = [0, 1, 2].map(|i| self.reg(inst.args[i]));
        let counter_reg = self.define(counter, position);
        self.copy(Move { dst: counter_reg, src: lo, ty: scalar.ty() });
        let (done, head) = (self.label(), self.label());
        if constant(self.index, inst.args[2]).and_then(|c| c.as_int()).is_none_or(|step| step <= 0) {
            self.code.body.push(Instr::CheckStep { step, scalar, target: done, span: inst.span });
        }
        let uniform = !lo.is_varying() && !hi.is_varying();
        let below =
            if uniform { self.allocator.uniform(Type::BOOL) } else { self.allocator.temporary(Type::BOOL) };
        let op = Compute::Compare(CompareOp::Lt, scalar, lo, hi);
        self.code.body.push(Instr::Compute { op, dst: below, wide: false, components: 1 });
        self.code.body.push(Instr::Branch { cond: below, when: false, target: done });
        self.allocator.release(below, Type::BOOL);
        self.bind(head);
        self.block(&inst.blocks[0], position + 1);
        if !self.index.nodes[position].continues.is_empty() {
            self.next_round(position);
            self.code.body.push(Instr::Advance {
                counter: counter_reg,
                hi,
                step,
                scalar,
                target: head,
                number,
            });
        }
        self.bind(done);
        self.moves(&inst.results, self.index.carried(position));
        let exit = self.loops[&position].exit;
        self.bind(exit);
    }

    /// Registers, labels and first carried values of a loop; gives its number.
    fn enter(&mut self, inst: &'k Inst, position: Position) -> u32 {
        self.define_needed(&inst.results, position);
        let carried = self.index.carried(position);
        self.define_needed(carried, position);
        self.moves(carried, self.index.initial(position));
        let labels = LoopLabels { next: self.label(), exit: self.label() };
        self.loops.insert(position, labels);
        self.code.loops.push(Loop { span: inst.span, waits: self.waits[position] });
        self.code.loops.len() as u32 - 1
    }

    /// The end of a round of a loop, where all who go on meet.
    fn next_round(&mut self, position: Position) {
        let next = self.loops[&position].next;
        self.bind(next);
        if self.index.moves_at_end(position) {
            let site = self.index.nodes[position].continues[0];
            self.moves(self.index.carried(position), &self.index.inst(site).args);
        }
    }

    // ---- moves ----

    /// Hands over values, all at the same time, to those that are needed.
    fn moves(&mut self, to: &[Value], from: &[Value]) {
        let needed = to.iter().zip(from).filter(|&(&to, _)| self.live.is_needed(to));
        let mut left: Vec<Move> = needed
            .map(|(&to, &from)| Move { dst: self.reg(to), src: self.reg(from), ty: self.ty(to) })
            .filter(|m| m.dst != m.src)
            .collect();
        let mut temporaries = Vec::new();
        while !left.is_empty() {
            let reads = |m: &Move, dst: Reg, wide: bool| m.src == dst && is_wide(m.ty.scalar) == wide;
            let ready = left.iter().position(|m| {
                let wide = is_wide(m.ty.scalar);
                !left.iter().any(|other| reads(other, m.dst, wide))
            });
            let next = left.swap_remove(ready.unwrap_or(0));
            if ready.is_none() {
                // All wait for each other: what the next one overwrites is kept elsewhere.
                let kept = if next.dst.is_varying() {
                    self.allocator.temporary(next.ty)
                } else {
                    self.allocator.uniform(next.ty)
                };
                temporaries.push((kept, next.ty));
                self.copy(Move { dst: kept, src: next.dst, ty: next.ty });
                for other in &mut left {
                    if reads(other, next.dst, is_wide(next.ty.scalar)) {
                        other.src = kept;
                    }
                }
            }
            self.copy(next);
        }
        for (reg, ty) in temporaries {
            self.allocator.release(reg, ty);
        }
    }

    fn copy(&mut self, Move { dst, src, ty }: Move) {
        let (wide, components) = (is_wide(ty.scalar), ty.lanes);
        self.code.body.push(Instr::Copy { dst, src, wide, to: 0, from: 0, components, broadcast: false });
    }
}
