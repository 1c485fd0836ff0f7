//! From the tree of operations to linear code: which operation goes where, and registers for what it defines.

mod control;
mod memory;

use rustc_hash::FxHashMap;
use tilewise_ir::{BinaryOp, Block, Builtin, Inst, Op, Type, Value};

use super::index::{Index, Position};
use super::live::{Live, sum};
use super::registers::Allocator;
use super::uniform::{Uniform, Uniformity, is_wide, may_fault};
use crate::code::{Address, Code, Input, Instr, Print, Warp, WarpOp};
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
            Op::Fence(scope, ordering) => self.code.body.push(Instr::Fence(*scope, *ordering)),
            Op::Barrier => {
                self.code.body.push(Instr::Barrier(inst.span));
                self.forget_if_others_run();
            }
            Op::Shuffle(_) | Op::Ballot | Op::WarpReduce(_) | Op::WarpScan(_) | Op::WarpBarrier => {
                self.warp(inst, position);
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

    /// An operation of a warp. Others may run before its lanes go on.
    fn warp(&mut self, inst: &Inst, position: Position) {
        let value = self.reg(inst.args[0]);
        let number = inst.args.get(1).map(|&number| self.reg(number));
        let dst = inst.result().map(|result| self.define(result, position));
        let op = match (&inst.op, number, dst) {
            (&Op::Shuffle(shuffle), Some(number), Some(dst)) => WarpOp::Shuffle { shuffle, number, dst },
            (Op::Ballot, _, Some(dst)) => WarpOp::Ballot { dst },
            (&Op::WarpReduce(op), _, Some(dst)) => WarpOp::Reduce { op, dst },
            (&Op::WarpScan(op), _, Some(dst)) => WarpOp::Scan { op, dst },
            _ => WarpOp::Barrier,
        };
        let scalar = self.ty(inst.args[0]).scalar;
        self.code.warps.push(Warp { op, value, scalar, span: inst.span });
        self.code.body.push(Instr::Warp(self.code.warps.len() as u32 - 1));
        self.forget_if_others_run();
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
            Op::LaneId => {
                let slot = &mut self.code.lane_id;
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
}
