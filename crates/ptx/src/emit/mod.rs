//! Writing the code of a kernel: a walk over its blocks, operation by operation.
//!
//! - Each lane of a value is a virtual register or a constant; see [`Class`]. Integers below 32 bits are kept
//!   extended by the sign of their type.
//! - An index is in a register of 32 bits if that is enough, else of 64; [`Emitter::low`] and [`Emitter::wide`] give
//!   either view of one.
//! - What is derived from values (addresses, extensions) is remembered for as long as the place where it was computed
//!   dominates; see [`memo`].
//! - What hardly ever happens goes to the end of the function; see [`Emitter::cold`].

mod access;
mod address;
mod arithmetic;
mod atomic;
mod cast;
mod code;
mod control;
mod entry;
mod float;
mod function;
mod half;
mod index;
mod input;
mod integer;
mod memo;
mod note;
mod pointer;
mod report;
mod vector;
mod warp;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tilewise_ir::analysis::uniform::ends_early;
use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{Block, Const, Effect, Inst, Kernel, Label, Op, Scalar, Site, Span, Type, Value};

use crate::plan::Plan;
use crate::{Arg, Module, Target, Unsupported};
use code::{Class, Guard, Jump, Line, Operand, Reg};
use function::Function;
use memo::Memo;
use note::Reports;

pub(crate) use entry::join;
pub(crate) use function::without_reports;

/// The lanes of a value.
type Lanes = SmallVec<[Operand; 1]>;

/// Translates a kernel.
pub(crate) fn module(kernel: &Kernel, facts: &Facts, target: Target) -> Result<Module, Unsupported> {
    let mut emitter = Emitter {
        kernel,
        facts,
        target,
        plan: Plan::new(kernel, facts),
        values: vec![Lanes::new(); kernel.values.len()],
        registers: FxHashMap::default(),
        targets: 0,
        lines: Vec::new(),
        cold_lines: Vec::new(),
        prologue: Vec::new(),
        inputs: FxHashMap::default(),
        memo: Memo::default(),
        args: Vec::new(),
        sites: Vec::new(),
        functions: BTreeSet::new(),
        loops: FxHashMap::default(),
        pointers: Vec::new(),
        yields: Vec::new(),
        splits: 0,
        accesses: 0,
        divisions: 0,
        span: Span::NONE,
        ends_early: ends_early(kernel),
        memory: entry::Memory::new(kernel, target)?,
        guard: None,
        postponed: access::Postponed::default(),
        reports: Reports::default(),
    };
    emitter.block(&kernel.body)?;
    Ok(emitter.finish())
}

/// The state of the walk.
struct Emitter<'k> {
    kernel: &'k Kernel,
    facts: &'k Facts,
    target: Target,
    plan: Plan<'k>,
    /// Lanes of the values that have been computed.
    values: Vec<Lanes>,
    /// How many registers of each class there are.
    registers: FxHashMap<Class, u32>,
    targets: u32,
    lines: Vec<Line>,
    /// What stands at the end of the function.
    cold_lines: Vec<Line>,
    /// What stands at its start: parameters and numbers of the launch.
    prologue: Vec<Line>,
    inputs: FxHashMap<input::Input, Reg>,
    memo: Memo,
    args: Vec<Arg>,
    sites: Vec<Site>,
    functions: BTreeSet<Function>,
    loops: FxHashMap<Label, control::Loop<'k>>,
    /// Addresses that the loops around move, innermost last.
    pointers: Vec<pointer::Pointer>,
    /// Results of the `If` operations around, innermost last.
    yields: Vec<&'k [Value]>,
    /// How many operations around may separate threads of a block.
    splits: usize,
    /// Accesses and integer divisions so far, as [`Facts`] counts them.
    accesses: usize,
    divisions: usize,
    span: Span,
    /// Whether threads may end before the end of the kernel.
    ends_early: bool,
    memory: entry::Memory,
    /// The predicate of an access that is performed only where it is in bounds.
    guard: Option<Reg>,
    postponed: access::Postponed,
    reports: Reports,
}

/// Appends an instruction: `asm!(emitter, "add.s32 {a}, {b}, {c}")`.
macro_rules! asm {
    ($emitter:expr, $($format:tt)+) => {
        $emitter.text(format!($($format)+))
    };
}
use asm;

/// Appends an instruction that accesses memory, under the guard if there is one.
macro_rules! guarded {
    ($emitter:expr, $($format:tt)+) => {
        match $emitter.guard {
            Some(guard) => $emitter.text(format!("@{guard} {}", format_args!($($format)+))),
            None => $emitter.text(format!($($format)+)),
        }
    };
}
use guarded;

impl<'k> Emitter<'k> {
    // ---- lines ----

    fn text(&mut self, mut instruction: String) {
        instruction.push(';');
        self.lines.push(Line::Text(instruction));
    }

    fn reg(&mut self, class: Class) -> Reg {
        let count = self.registers.entry(class).or_default();
        *count += 1;
        Reg { class, number: *count }
    }

    fn target(&mut self) -> code::Target {
        self.targets += 1;
        code::Target(self.targets)
    }

    fn label(&mut self, target: code::Target) {
        self.lines.push(Line::Label(target));
    }

    fn jump(&mut self, target: code::Target) {
        self.lines.push(Line::Jump(None, Jump::To(target)));
    }

    fn jump_if(&mut self, pred: Reg, when: bool, target: code::Target) {
        self.lines.push(Line::Jump(Some(Guard { pred, when }), Jump::To(target)));
    }

    /// The lines that `write` appends, taken out. What it remembers is forgotten.
    fn capture<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (T, Vec<Line>) {
        let before = std::mem::take(&mut self.lines);
        self.memo.enter();
        let result = write(self);
        self.memo.leave();
        (result, std::mem::replace(&mut self.lines, before))
    }

    /// Puts the lines that `write` appends at the end of the function, where they are out of the way. To get there
    /// and back is up to the caller.
    fn cold(&mut self, write: impl FnOnce(&mut Self)) {
        let span = self.span;
        let ((), mut lines) = self.capture(|emitter| {
            emitter.lines.push(Line::Position(span));
            write(emitter);
        });
        self.cold_lines.append(&mut lines);
    }

    // ---- values ----

    /// What a value is in each lane. Of a value that is not needed, there is nothing.
    fn define(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = lanes;
    }

    fn lanes(&self, value: Value) -> &Lanes {
        &self.values[value.0 as usize]
    }

    fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// A lane of a value as an operand that can be written as it is.
    fn operand(&mut self, value: Value, lane: usize) -> Operand {
        match self.lanes(value).get(lane).copied() {
            Some(operand) => self.literal(operand),
            // Nobody looks at the result of an operation that was left out.
            None => self.reg(self.class(value)).into(),
        }
    }

    /// Halves and truth values have no literals.
    fn literal(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Imm(Const { scalar: Scalar::Bool | Scalar::F16 | Scalar::BF16, .. }) => {
                self.in_register(operand).into()
            }
            _ => operand,
        }
    }

    /// An operand in a register.
    fn in_register(&mut self, operand: Operand) -> Reg {
        match operand {
            Operand::Reg(reg) => reg,
            Operand::Imm(constant) => {
                let reg = self.reg(Class::of(constant.scalar));
                self.set(reg, operand);
                reg
            }
        }
    }

    /// A lane of a value in a register.
    fn operand_register(&mut self, value: Value, lane: usize) -> Reg {
        let operand = self.operand(value, lane);
        self.in_register(operand)
    }

    /// `to = from`, of one class.
    fn set(&mut self, to: Reg, from: impl Into<Operand>) {
        let from = from.into();
        if from != Operand::Reg(to) {
            asm!(self, "mov.{} {to}, {from}", to.class.ty());
        }
    }

    /// The class of registers in which a value is kept whose lanes come from several places.
    fn class(&self, value: Value) -> Class {
        match self.ty(value).scalar {
            Scalar::Index if self.is_narrow(value) => Class::B32,
            scalar => Class::of(scalar),
        }
    }

    /// Whether 32 bits are enough for an index.
    fn is_narrow(&self, value: Value) -> bool {
        self.facts.is_narrow(value) || self.plan.bound(value).is_some_and(|bound| bound <= u32::MAX.into())
    }

    /// New registers for the lanes of a value.
    fn allocate(&mut self, value: Value) {
        self.allocate_as(value, self.class(value));
    }

    fn allocate_as(&mut self, value: Value, class: Class) {
        let lanes = (0..self.ty(value).lanes).map(|_| self.reg(class).into()).collect();
        self.define(value, lanes);
    }

    /// Computes each lane of the result of an operation by itself.
    fn each_lane(
        &mut self,
        inst: &Inst,
        mut compute: impl FnMut(&mut Self, usize) -> Result<Operand, Unsupported>,
    ) -> Result<(), Unsupported> {
        let Some(result) = inst.result() else { return Ok(()) };
        let lanes = (0..self.ty(result).lanes as usize).map(|lane| compute(self, lane));
        let lanes = lanes.collect::<Result<Lanes, Unsupported>>()?;
        self.define(result, lanes);
        Ok(())
    }

    fn unsupported(&self, what: impl Into<String>) -> Unsupported {
        Unsupported {
            kernel: self.kernel.name.clone(),
            what: what.into(),
            target: self.target,
            location: self.kernel.spans.get(self.span),
        }
    }

    // ---- the walk ----

    fn block(&mut self, block: &'k Block) -> Result<(), Unsupported> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    fn inst(&mut self, inst: &'k Inst) -> Result<(), Unsupported> {
        let access = self.next_access(inst);
        let divisor = self.next_divisor(inst);
        let faults = divisor == Some(false);
        if matches!(inst.op.effect(), Effect::Pure | Effect::Fault)
            && !faults
            && !inst.results.iter().any(|&result| self.plan.is_needed(result))
        {
            return Ok(());
        }
        if inst.span != Span::NONE && inst.span != self.span {
            self.span = inst.span;
            self.lines.push(Line::Position(inst.span));
        }
        match inst.op.effect() {
            Effect::Sync | Effect::Output | Effect::Structure | Effect::Terminator => self.report_postponed(),
            Effect::Fault if faults => self.report_postponed(),
            Effect::Pure | Effect::Fault | Effect::Read | Effect::Write => {}
        }
        match &inst.op {
            Op::Const(constant) => {
                self.each_lane(inst, |_, _| Ok(Operand::Imm(*constant)))?;
            }
            Op::Builtin(builtin, axis) => {
                self.each_lane(inst, |emitter, _| Ok(emitter.builtin(*builtin, *axis)))?;
            }
            Op::Scalar(_) | Op::Extent(..) | Op::Stride(..) => self.argument(inst),
            Op::Unary(op) => self.unary(inst, *op)?,
            Op::Binary(op) => match divisor {
                Some(never_zero) => self.division(inst, *op, never_zero),
                None => self.binary(inst, *op)?,
            },
            Op::Compare(op) => self.compare(inst, *op),
            Op::MulAdd => self.mul_add(inst),
            Op::Select => self.select(inst),
            Op::Cast(to) => self.cast(inst, *to),
            Op::Bitcast(to) => self.bitcast(inst, *to),
            Op::Splat(lanes) => {
                let lane = self.lanes(inst.args[0]).first().copied();
                self.define(inst.results[0], lane.into_iter().cycle().take((*lanes).into()).collect());
            }
            Op::Pack => {
                let lanes = inst.args.iter().filter_map(|&arg| self.lanes(arg).first().copied()).collect();
                self.define(inst.results[0], lanes);
            }
            Op::Extract(lane) => {
                let lanes = self.lanes(inst.args[0]).get(usize::from(*lane)).copied();
                self.define(inst.results[0], lanes.into_iter().collect());
            }
            Op::Load(a)
            | Op::Store(a)
            | Op::AtomicLoad(a, ..)
            | Op::AtomicStore(a, ..)
            | Op::AtomicRmw(_, a, ..)
            | Op::AtomicCas(a, ..) => self.access(inst, a, access),
            Op::Fence(scope, ordering) => self.fence(*scope, *ordering),
            Op::Barrier => {
                let word = if self.splits == 0 { "bar" } else { "barrier" };
                asm!(self, "{word}.sync 0");
            }
            Op::LaneId => {
                let lane = self.lane_id();
                self.each_lane(inst, |_, _| Ok(lane.into()))?;
            }
            Op::Shuffle(shuffle) => self.shuffle(inst, *shuffle),
            Op::Ballot => self.ballot(inst),
            Op::WarpReduce(op) => self.warp_reduce(inst, *op)?,
            Op::WarpScan(op) => self.warp_scan(inst, *op)?,
            Op::WarpBarrier => self.warp_barrier(inst),
            Op::Print(format) => self.print(inst, format),
            Op::Assert(format) => self.assert(inst, format),
            Op::If => self.if_(inst)?,
            Op::Loop(label) => self.loop_(inst, *label)?,
            Op::For(label) => self.for_(inst, *label)?,
            Op::Yield => self.yield_(inst),
            Op::Break(label) => self.break_(inst, *label),
            Op::Continue(label) => self.continue_(inst, *label),
            Op::Return => self.lines.push(Line::Jump(None, Jump::Return)),
        }
        Ok(())
    }

    /// What is known of an access; counts it.
    fn next_access(&mut self, inst: &Inst) -> AccessFacts {
        if inst.op.access().is_none() {
            return AccessFacts::default();
        }
        self.accesses += 1;
        self.facts.accesses.get(self.accesses - 1).copied().unwrap_or_default()
    }

    /// For a division of integers, whether its divisor is never zero; counts it.
    fn next_divisor(&mut self, inst: &Inst) -> Option<bool> {
        if !tilewise_ir::analysis::facts::is_integer_division(self.kernel, inst) {
            return None;
        }
        self.divisions += 1;
        let known = self.facts.divisors.get(self.divisions - 1).copied().unwrap_or(false);
        let divisor = inst.args[1];
        let lanes = self.lanes(divisor);
        let constant =
            !lanes.is_empty() && lanes.iter().all(|lane| lane.constant().is_some_and(|c| !c.is_zero()));
        Some(known || constant)
    }
}
