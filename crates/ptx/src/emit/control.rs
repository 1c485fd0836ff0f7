//! Control flow: branches, loops, and the moves of values where ways join.

use smallvec::SmallVec;
use tilewise_ir::pass::partial_unroll;
use tilewise_ir::{Const, Inst, Label, Scalar, SiteKind, Type, Value};

use super::code::{self, Class, Guard, Jump, Line, Operand, Reg};
use super::integer::integer_type;
use super::{Emitter, asm, pointer};
use crate::Unsupported;

/// A loop around the place that the walk is at.
pub(super) struct Loop<'k> {
    results: &'k [Value],
    carried: &'k [Value],
    /// Where `Continue` goes.
    next: code::Target,
    /// Where `Break` goes.
    exit: code::Target,
}

impl<'k> Emitter<'k> {
    // ---- moves ----

    /// Gives values, which have registers, what others are.
    fn moves(&mut self, to: &[Value], from: &[Value]) {
        let mut pending = Vec::new();
        for (&to, &from) in to.iter().zip(from) {
            if !self.plan.is_needed(to) {
                continue;
            }
            for lane in 0..self.ty(to).lanes as usize {
                let Some(&Operand::Reg(reg)) = self.lanes(to).get(lane) else { continue };
                let from = match (self.ty(to).scalar, reg.class) {
                    (Scalar::Index, Class::B32) => self.low(from, lane),
                    (Scalar::Index, _) => self.wide(from, lane),
                    _ => self.lanes(from).get(lane).copied().unwrap_or(reg.into()),
                };
                pending.push((reg, from));
            }
        }
        self.parallel_move(pending);
    }

    /// Moves as if all at once.
    fn parallel_move(&mut self, mut pending: Vec<(Reg, Operand)>) {
        pending.retain(|&(to, from)| from != Operand::Reg(to));
        while !pending.is_empty() {
            let is_read = |reg: Reg| pending.iter().any(|&(_, from)| from == Operand::Reg(reg));
            if let Some(free) = pending.iter().position(|&(to, _)| !is_read(to)) {
                let (to, from) = pending.remove(free);
                self.set(to, from);
                continue;
            }
            // Registers that take each other's places: one of them is put aside.
            let aside = pending[0].0;
            let saved = self.reg(aside.class);
            self.set(saved, aside);
            for (_, from) in &mut pending {
                if *from == Operand::Reg(aside) {
                    *from = saved.into();
                }
            }
        }
    }

    /// Registers for those of the values that are needed.
    fn allocate_needed(&mut self, values: &[Value]) {
        for &value in values {
            if self.plan.is_needed(value) {
                self.allocate(value);
            }
        }
    }

    // ---- branches ----

    pub(super) fn if_(&mut self, inst: &'k Inst) -> Result<(), Unsupported> {
        self.allocate_needed(&inst.results);
        let pred = self.operand_register(inst.args[0], 0);
        let splits = usize::from(self.plan.uniform.splits(inst));
        self.splits += splits;
        self.yields.push(&inst.results);
        let (then, then_lines) = self.capture(|emitter| emitter.block(&inst.blocks[0]));
        let (otherwise, else_lines) = self.capture(|emitter| emitter.block(&inst.blocks[1]));
        self.yields.pop();
        self.splits -= splits;
        then.and(otherwise)?;
        self.branch(pred, then_lines, else_lines);
        Ok(())
    }

    fn branch(&mut self, pred: Reg, then_lines: Vec<Line>, mut else_lines: Vec<Line>) {
        let guard = |when| Some(Guard { pred, when });
        if let Some(jump) = only_jump(&then_lines) {
            self.lines.push(Line::Jump(guard(true), jump));
            self.lines.append(&mut else_lines);
            return;
        }
        if let Some(jump) = only_jump(&else_lines) {
            self.lines.push(Line::Jump(guard(false), jump));
            self.lines.extend(then_lines);
            return;
        }
        let has_code = |lines: &[Line]| lines.iter().any(Line::is_code);
        let end = self.target();
        match (has_code(&then_lines), has_code(&else_lines)) {
            (false, false) => return,
            (true, false) if is_short(&then_lines) => {
                self.lines.extend(then_lines.into_iter().map(|line| predicated(line, pred)));
                return;
            }
            (true, false) => {
                self.jump_if(pred, false, end);
                self.lines.extend(then_lines);
            }
            (false, true) => {
                self.jump_if(pred, true, end);
                self.lines.append(&mut else_lines);
            }
            (true, true) => {
                let otherwise = self.target();
                self.jump_if(pred, false, otherwise);
                let falls = !matches!(then_lines.last(), Some(Line::Jump(None, _)));
                self.lines.extend(then_lines);
                if falls {
                    self.jump(end);
                }
                self.label(otherwise);
                self.lines.append(&mut else_lines);
            }
        }
        self.label(end);
    }

    pub(super) fn yield_(&mut self, inst: &Inst) {
        if let Some(&results) = self.yields.last() {
            self.moves(results, &inst.args);
        }
    }

    // ---- loops ----

    pub(super) fn loop_(&mut self, inst: &'k Inst, label: Label) -> Result<(), Unsupported> {
        let block = &inst.blocks[0];
        self.hoist_addresses(block);
        self.allocate_needed(&inst.results);
        self.allocate_needed(&block.params);
        self.moves(&block.params, &inst.args);
        let (head, exit) = (self.target(), self.target());
        let around = Loop { results: &inst.results, carried: &block.params, next: head, exit };
        self.label(head);
        self.rounds(inst, label, around)?;
        self.label(exit);
        Ok(())
    }

    /// The block of a loop.
    fn rounds(&mut self, inst: &'k Inst, label: Label, around: Loop<'k>) -> Result<(), Unsupported> {
        let splits = usize::from(self.plan.uniform.splits(inst));
        self.splits += splits;
        self.loops.insert(label, around);
        let (result, mut lines) = self.capture(|emitter| emitter.block(&inst.blocks[0]));
        self.lines.append(&mut lines);
        self.splits -= splits;
        result
    }

    pub(super) fn break_(&mut self, inst: &Inst, label: Label) {
        let Some(around) = self.loops.get(&label) else { return };
        let (results, exit) = (around.results, around.exit);
        self.moves(results, &inst.args);
        self.jump(exit);
    }

    pub(super) fn continue_(&mut self, inst: &Inst, label: Label) {
        let Some(around) = self.loops.get(&label) else { return };
        let (carried, next) = (around.carried, around.next);
        self.moves(carried, &inst.args);
        self.jump(next);
    }

    /// The test stands at the end of a round, and once before the first.
    pub(super) fn for_once(&mut self, inst: &'k Inst, label: Label) -> Result<(), Unsupported> {
        let block = &inst.blocks[0];
        let (counter, carried) = (block.params[0], &block.params[1..]);
        let scalar = self.ty(counter).scalar;
        let mut limits: SmallVec<[Operand; 3]> = inst.args[..3]
            .iter()
            .map(|&arg| self.lanes(arg).first().copied())
            .map(|o| o.unwrap_or(Operand::u32(0)))
            .collect();
        let scalar = if scalar != Scalar::Index {
            scalar
        } else if limits.iter().all(|limit| limit.is_narrow()) {
            limits = limits.into_iter().map(|limit| self.low_of(limit)).collect();
            Scalar::U32
        } else {
            limits = limits.into_iter().map(|limit| self.wide_of(limit)).collect();
            Scalar::U64
        };
        let ty = self.ty(counter);
        let count = Count {
            ty,
            scalar,
            lo: limits[0],
            hi: limits[1],
            step: limits[2],
            counter: self.reg(Class::of(scalar)),
        };
        // Before anything that changes in the loop has a register.
        self.hoist_addresses(block);
        let pointers = if ty == Type::INDEX {
            let (first, step) = (count.lo, count.step);
            let is_exact = self.is_exact(inst.args[0]) && self.is_exact(inst.args[2]);
            self.start_pointers(block, pointer::Counter { value: counter, first, is_exact, step })
        } else {
            Vec::new()
        };

        // A carried value and the result that it becomes share registers: such that hold either, since what is known
        // of the carried one need not hold where no round is run.
        for (&result, &value) in inst.results.iter().zip(carried) {
            if self.plan.is_needed(result) && self.class(result) != self.class(value) {
                self.allocate_as(value, Class::B64);
            } else if self.plan.is_needed(value) {
                self.allocate(value);
            }
            let lanes = self.lanes(value).clone();
            self.define(result, lanes);
        }
        self.moves(carried, &inst.args[3..]);
        self.define(counter, [Operand::Reg(count.counter)].into_iter().collect());

        let [head, next, end] = [(); 3].map(|()| self.target());
        self.set(count.counter, count.lo);
        if !self.steps_forward(label) {
            self.check_step(&count, end);
        }
        self.skip_if_empty(&count, end);
        self.label(head);
        if 2 * partial_unroll::loaded_bytes(self.kernel, block) > partial_unroll::MAX_BYTES {
            // Two rounds at a time would have more bytes under way than pays, and take registers for them.
            asm!(self, ".pragma \"nounroll\"");
        }
        let outer = self.pointers.len();
        self.pointers.extend(pointers);
        let rounds = self.rounds(inst, label, Loop { results: &inst.results, carried, next, exit: end });
        let pointers: Vec<_> = self.pointers.drain(outer..).collect();
        rounds?;
        self.label(next);
        self.advance_pointers(&pointers);
        self.advance(&count, head);
        self.label(end);
        Ok(())
    }

    /// A step that is not positive is a fault, and no round is run.
    fn check_step(&mut self, count: &Count, end: code::Target) {
        if count.step_constant().is_some_and(|step| step > 0) {
            return;
        }
        let ty = integer_type(count.scalar);
        let (bad, cold) = (self.reg(Class::Pred), self.target());
        let step = self.in_register(count.step);
        asm!(self, "setp.le.{ty} {bad}, {step}, 0");
        self.jump_if(bad, true, cold);
        let site = self.site(SiteKind::RangeStep(count.ty));
        self.cold(|emitter| {
            emitter.label(cold);
            let bits = emitter.report_bits(count.scalar, step.into());
            emitter.fault(site, &[bits]);
            emitter.jump(end);
        });
    }

    fn skip_if_empty(&mut self, count: &Count, end: code::Target) {
        let ends = count.lo.constant().zip(count.hi.constant());
        if ends.is_some_and(|(lo, hi)| lo.as_int() < hi.as_int()) {
            return;
        }
        let empty = self.reg(Class::Pred);
        asm!(self, "setp.ge.{} {empty}, {}, {}", integer_type(count.scalar), count.counter, count.hi);
        self.jump_if(empty, true, end);
    }

    /// Steps the counter where it stays below the limit, and goes back. The counter is below the limit before, so
    /// what is left up to it is a positive number, and nothing wraps.
    fn advance(&mut self, count: &Count, head: code::Target) {
        let &Count { scalar, hi, step, counter, .. } = count;
        let (ty, more) = (integer_type(scalar), self.reg(Class::Pred));
        if count.sum_fits() {
            asm!(self, "add.{ty} {counter}, {counter}, {step}");
            asm!(self, "setp.lt.{ty} {more}, {counter}, {hi}");
        } else {
            let (bits, left) = (counter.class.ty().trim_start_matches('b'), self.reg(counter.class));
            asm!(self, "sub.u{bits} {left}, {hi}, {counter}");
            asm!(self, "setp.gt.u{bits} {more}, {left}, {step}");
            asm!(self, "add.{ty} {counter}, {counter}, {step}");
        }
        self.jump_if(more, true, head);
    }
}

/// What a loop counts.
struct Count {
    ty: Type,
    /// What it is counted as: indices as integers of 32 or 64 bits.
    scalar: Scalar,
    lo: Operand,
    hi: Operand,
    step: Operand,
    counter: Reg,
}

impl Count {
    fn step_constant(&self) -> Option<i128> {
        self.step.constant().and_then(Const::as_int)
    }

    /// Whether the register can hold the counter that ends the loop: it is less than the step above the limit.
    fn sum_fits(&self) -> bool {
        let Some(step) = self.step_constant() else { return false };
        if step == 1 {
            return true;
        }
        let Some(hi) = self.hi.constant().and_then(Const::as_int) else {
            // Small integers have room in their registers.
            return self.scalar.size() < 4;
        };
        hi + step <= if self.counter.class == Class::B64 { i64::MAX.into() } else { i32::MAX.into() }
    }
}

/// The most instructions that are predicated rather than jumped over.
const SHORT: usize = 4;

/// Whether a branch is a few loads, stores and what is computed between them. A jump over it would cost about what it saves, and
/// `ptxas` hands out fewer registers where there is none: a tree in shared memory takes 10 instead of 12. What orders threads, or
/// concerns a warp, is jumped over: those who take part in it are at one place then.
fn is_short(lines: &[Line]) -> bool {
    let texts = || {
        lines.iter().filter(|line| line.is_code()).map(|line| match line {
            Line::Text(text) => Some(text.as_str()),
            _ => None,
        })
    };
    let is_access = |text: &str| ["ld.", "st.", "red."].iter().any(|start| text.starts_with(start));
    let is_plain = |text: &str| {
        let computes =
            ["add.", "sub.", "mul.", "mad.", "fma.", "min.", "max.", "mov.", "shl.", "and.", "or.", "xor."];
        is_access(text) || computes.iter().any(|start| text.starts_with(start))
    };
    let is_all = texts().all(|text| text.is_some_and(is_plain));
    is_all && texts().count() <= SHORT && texts().flatten().any(is_access)
}

/// An instruction that is done where a predicate is true.
fn predicated(line: Line, pred: Reg) -> Line {
    match line {
        Line::Text(text) => Line::Text(format!("@{pred} {text}")),
        other => other,
    }
}

/// The jump that is all there is.
fn only_jump(lines: &[Line]) -> Option<Jump> {
    let mut code = lines.iter().filter(|line| line.is_code());
    match (code.next(), code.next()) {
        (Some(&Line::Jump(None, jump)), None) => Some(jump),
        _ => None,
    }
}
