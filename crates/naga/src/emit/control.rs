//! Blocks, structures and jumps.
//!
//! Loops of the shader are left one at a time, so a jump over several says where it goes in a variable, and each loop on
//! the way is followed by a look at it.
//!
//! # Barriers
//!
//! All threads of a block have to come to a barrier of a shader, also those that have ended. So where a barrier may
//! follow, a thread that ends only says so in a variable, and goes on: *together* with the others through structures that
//! have a barrier in them, and past all that has an effect. What is around barriers is uniform, or the kernel is refused.
//! Operations of warps are made of barriers, so all of this holds for them, too.

use super::code::Expr;
use super::{Emitter, Lanes};
use crate::error::{Reason, Unsupported};
use crate::plan::Register;
use naga::{BinaryOperator as Operator, Block as Statements, Statement};
use std::collections::BTreeSet;
use tilewise_ir::{Block, Effect, Inst, Label, Op, Value};

/// A loop of the shader.
#[derive(Debug)]
pub(super) struct Frame {
    target: Target,
    /// Jumps that leave it on their way to a loop around it.
    passing: BTreeSet<Jump>,
}

impl Frame {
    pub(super) fn of_loop(label: Label) -> Frame {
        Frame { target: Target::Loop(label), passing: BTreeSet::new() }
    }

    /// A loop of one round, around a round of a loop of the kernel.
    pub(super) fn of_round() -> Frame {
        Frame { target: Target::Round, passing: BTreeSet::new() }
    }
}

/// What a loop of the shader stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// A loop of the kernel.
    Loop(Label),
    /// A round of a loop, whose end all jumps pass.
    Round,
    /// What a thread that ends leaves; the shader, if it is in no such loop.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Jump {
    target: Target,
    again: bool,
}

impl Jump {
    /// How it is told apart; not 0.
    fn code(self) -> u32 {
        match self.target {
            Target::Loop(label) => 2 + 2 * label.0 + u32::from(self.again),
            Target::End | Target::Round => 1,
        }
    }
}

/// How a thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It leaves the shader.
    Return,
    /// It is marked as ended, and nothing that it should not do follows.
    Mark,
    /// It is marked as ended, and leaves what is around.
    Leave,
}

impl<'k> Emitter<'k> {
    /// The operations of a block. `together`: all threads of the block of threads are here, those that have ended
    /// included. `follows`: a barrier may come behind it.
    pub(super) fn block(
        &mut self,
        block: &'k Block,
        together: bool,
        follows: bool,
    ) -> Result<(), Unsupported> {
        for (n, inst) in block.insts.iter().enumerate() {
            let follows = self.plan.waits && (follows || block.insts[n + 1..].iter().any(contains_waiting));
            let ending = self.ending;
            if together {
                self.ending = if follows { Ending::Mark } else { Ending::Return };
            }
            self.inst(inst, together, follows)?;
            self.ending = ending;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &'k Inst, together: bool, follows: bool) -> Result<(), Unsupported> {
        match inst.op.effect() {
            Effect::Terminator => self.terminator(inst, together),
            Effect::Structure if !together => self.structure(inst, false, follows)?,
            Effect::Structure => {
                let common = self.plan.is_common(inst);
                let splits = self.plan.uniform.splits(inst);
                if common && splits {
                    return Err(self.divergent(inst));
                }
                let ends = !splits && contains_end(inst) && !self.may_be_dead;
                if common || ends || self.leaves_together(inst) {
                    self.structure(inst, true, follows)?;
                } else {
                    self.apart(inst, follows)?;
                }
            }
            Effect::Read | Effect::Write | Effect::Output if self.may_be_dead => {
                self.guarded(inst, |emitter| {
                    emitter.plain(inst);
                    Ok(())
                })?;
            }
            Effect::Pure | Effect::Fault | Effect::Read | Effect::Write | Effect::Sync | Effect::Output => {
                self.plain(inst)
            }
        }
        if together && follows && matches!(inst.op, Op::Assert(_)) {
            self.may_be_dead = true;
        }
        Ok(())
    }

    /// Why a structure that threads have to go through together, but may not, cannot run: what they wait for in it, or in
    /// the loop that a jump leaves it for.
    fn divergent(&self, inst: &Inst) -> Unsupported {
        let waiting = first_waiting(inst);
        let mut is_of_warp = waiting.is_some_and(|inst| inst.op.is_warp_operation());
        if waiting.is_none() {
            self.plan.kernel.body.visit(&mut |outer| {
                if let Op::Loop(label) | Op::For(label) = outer.op {
                    let is_left_for =
                        |op: &Op| matches!(op, Op::Break(to) | Op::Continue(to) if *to == label);
                    let waits_of_warp = first_waiting(outer).is_some_and(|inst| inst.op.is_warp_operation());
                    is_of_warp |= inst.contains(is_left_for) && waits_of_warp;
                }
            });
        }
        let reason = if is_of_warp { Reason::DivergentWarpOperation } else { Reason::DivergentBarrier };
        Unsupported::new(self.plan.kernel, reason, waiting.map_or(inst.span, |inst| inst.span))
    }

    /// Whether a structure has a jump to a loop that threads go through together. They are together there, too.
    fn leaves_together(&self, inst: &Inst) -> bool {
        let is_together =
            |label| self.loops.iter().any(|variables| variables.label == label && variables.together);
        let mut leaves = false;
        for block in &inst.blocks {
            block.visit(&mut |inner| {
                if let Op::Break(label) | Op::Continue(label) = inner.op {
                    leaves |= is_together(label);
                }
            });
        }
        leaves
    }

    /// A structure without barriers, where all threads are together: those in it are not.
    fn apart(&mut self, inst: &'k Inst, follows: bool) -> Result<(), Unsupported> {
        let marks = contains_end(inst) && follows;
        let outer = self.ending;
        self.ending = match (marks, ends_at_its_end(inst)) {
            (false, _) => Ending::Return,
            (true, true) => Ending::Mark,
            (true, false) => Ending::Leave,
        };
        let leaves = self.ending == Ending::Leave;
        let run = |emitter: &mut Self| {
            if !leaves {
                return emitter.structure(inst, false, follows);
            }
            emitter.through_variables(inst, |emitter| {
                emitter.code.open();
                emitter.frames.push(Frame { target: Target::End, passing: BTreeSet::new() });
                let done = emitter.structure(inst, false, follows);
                emitter.keep_results(inst);
                emitter.code.push(Statement::Break);
                let body = emitter.code.close();
                emitter.close_frame(body, Statements::new(), None);
                done
            })
        };
        if self.may_be_dead {
            self.guarded(inst, run)?
        } else {
            run(self)?
        }
        self.ending = outer;
        self.may_be_dead |= marks;
        Ok(())
    }

    /// An operation that only threads do that have not ended.
    fn guarded(
        &mut self,
        inst: &'k Inst,
        run: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let live = self.live();
        let live = self.code.load(live);
        self.through_variables(inst, |emitter| {
            emitter.may_be_dead = false;
            emitter.code.open();
            let done = run(emitter);
            emitter.keep_results(inst);
            emitter.code.close_if(live);
            emitter.may_be_dead = true;
            done
        })
    }

    /// Has the results of an operation, which is built in a block of its own, come out of it: [`Self::keep_results`] is to
    /// be called at its end.
    fn through_variables(
        &mut self,
        inst: &'k Inst,
        run: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        let variables: Vec<Lanes> = inst
            .results
            .iter()
            .map(|&result| self.variables(self.plan.register(result), self.lanes(result)))
            .collect();
        self.kept.push(variables);
        run(self)?;
        let variables = self.kept.pop().unwrap_or_default();
        for (&result, variables) in inst.results.iter().zip(&variables) {
            let lanes = self.load_all(variables);
            self.define(result, lanes);
        }
        Ok(())
    }

    fn keep_results(&mut self, inst: &'k Inst) {
        let variables = self.kept.last().cloned().unwrap_or_default();
        for (&result, variables) in inst.results.iter().zip(&variables) {
            // Nothing is there if the end is not reached.
            if !self.values[result.0 as usize].is_empty() {
                self.store_all(result, variables, self.plan.register(result));
            }
        }
    }

    /// Pointer to whether the thread has not ended.
    pub(super) fn live(&mut self) -> Expr {
        match self.live {
            Some(live) => live,
            None => {
                let yes = self.code.bool(true);
                let live = self.code.variable_of(Register::Bool, Some(yes));
                self.live = Some(live);
                live
            }
        }
    }

    /// A condition, and that the thread has not ended.
    pub(super) fn if_live(&mut self, condition: Expr) -> Expr {
        if !self.may_be_dead {
            return condition;
        }
        let live = self.live();
        let live = self.code.load(live);
        self.code.and(live, condition)
    }

    /// The thread ends.
    pub(super) fn end_thread(&mut self) {
        match self.ending {
            Ending::Return => self.jump(Jump { target: Target::End, again: false }),
            Ending::Mark | Ending::Leave => {
                let live = self.live();
                let no = self.code.bool(false);
                self.code.store(live, no);
                if self.ending == Ending::Leave {
                    self.jump(Jump { target: Target::End, again: false });
                }
            }
        }
    }

    // ---- jumps ----

    fn terminator(&mut self, inst: &'k Inst, together: bool) {
        match inst.op {
            Op::Yield => {
                let results = self.yields.last().cloned().unwrap_or_default();
                for (&arg, (variables, register)) in inst.args.iter().zip(&results) {
                    self.store_all(arg, variables, *register);
                }
            }
            Op::Break(label) => {
                self.carry(inst, label, false);
                self.jump(Jump { target: Target::Loop(label), again: false });
            }
            Op::Continue(label) => {
                self.carry(inst, label, true);
                self.jump(Jump { target: Target::Loop(label), again: true });
            }
            // All threads are here, so all leave.
            Op::Return if together => self.code.push(Statement::Return { value: None }),
            Op::Return => self.end_thread(),
            _ => {}
        }
    }

    /// Puts the operands of a jump where its loop expects them.
    fn carry(&mut self, inst: &'k Inst, label: Label, again: bool) {
        let Some(n) = self.loops.iter().rposition(|variables| variables.label == label) else { return };
        let variables = if again { &self.loops[n].carried } else { &self.loops[n].results };
        for (&arg, (variables, register)) in inst.args.iter().zip(variables.clone()) {
            self.store_all(arg, &variables, register);
        }
    }

    fn jump(&mut self, jump: Jump) {
        let stops = |frame: &Frame| matches!(frame.target, Target::End | Target::Round);
        if jump.target == Target::End && !self.frames.iter().any(stops) {
            self.code.push(Statement::Return { value: None });
            return;
        }
        let Some(innermost) = self.frames.last_mut() else { return };
        if innermost.target == jump.target {
            self.code.push(if jump.again { Statement::Continue } else { Statement::Break });
            return;
        }
        innermost.passing.insert(jump);
        let by_round = innermost.target == Target::Round;
        let exit = self.exit();
        let mut code = self.code.u32(jump.code());
        if by_round {
            // A compiler that knew the code would jump at once.
            code = self.unknown(code);
        }
        self.code.store(exit, code);
        self.code.push(Statement::Break);
    }

    fn exit(&mut self) -> Expr {
        match self.exit {
            Some(exit) => exit,
            None => {
                let exit = self.code.variable(Register::U32);
                self.exit = Some(exit);
                exit
            }
        }
    }

    /// A loop of the shader, and behind it the jumps that have left it for one around it.
    pub(super) fn close_frame(&mut self, body: Statements, continuing: Statements, break_if: Option<Expr>) {
        self.code.push(Statement::Loop { body, continuing, break_if });
        let Some(frame) = self.frames.pop() else { return };
        for jump in frame.passing {
            let exit = self.exit();
            let now = self.code.load(exit);
            let code = self.code.u32(jump.code());
            let passes = self.code.binary(Operator::Equal, now, code);
            self.code.open();
            if self.frames.last().is_some_and(|frame| frame.target == jump.target) {
                let none = self.code.u32(0);
                self.code.store(exit, none);
            }
            self.jump(jump);
            self.code.close_if(passes);
        }
    }

    // ---- structures ----

    fn structure(&mut self, inst: &'k Inst, together: bool, follows: bool) -> Result<(), Unsupported> {
        match inst.op {
            Op::If => self.branch(inst, together, follows),
            Op::Loop(label) => self.repeat(inst, label, together, follows),
            Op::For(label) => self.count(inst, label, together, follows),
            _ => Ok(()),
        }
    }

    fn branch(&mut self, inst: &'k Inst, together: bool, follows: bool) -> Result<(), Unsupported> {
        let gives_truth = inst.results.iter().any(|&result| self.plan.register(result) == Register::Bool);
        let condition = if gives_truth { self.truth(inst.args[0], 0) } else { self.lane(inst.args[0], 0) };
        let results = self.result_variables(inst);
        self.yields.push(results.clone());
        let before = self.may_be_dead;
        let mut after = before;
        let mut blocks = Vec::new();
        for block in &inst.blocks {
            self.may_be_dead = before;
            self.code.open();
            self.block(block, together, follows)?;
            blocks.push(self.code.close());
            after |= self.may_be_dead;
        }
        self.may_be_dead = after;
        self.yields.pop();
        let mut blocks = blocks.into_iter();
        let (accept, reject) = (blocks.next().unwrap_or_default(), blocks.next().unwrap_or_default());
        self.code.push_if(condition, accept, reject);
        self.load_results(inst, &results);
        Ok(())
    }

    pub(super) fn result_variables(&mut self, inst: &'k Inst) -> Vec<(Lanes, Register)> {
        let results = inst.results.iter();
        results.map(|&result| self.variables_in(result, self.plan.register(result))).collect()
    }

    pub(super) fn variables_in(&mut self, value: Value, register: Register) -> (Lanes, Register) {
        (self.variables(register, self.lanes(value)), register)
    }

    pub(super) fn load_results(&mut self, inst: &'k Inst, variables: &[(Lanes, Register)]) {
        for (&result, (variables, register)) in inst.results.iter().zip(variables) {
            self.load_value(result, variables, *register);
        }
    }

    /// Defines a value by variables that hold it in this register.
    pub(super) fn load_value(&mut self, value: Value, variables: &Lanes, register: Register) {
        let own = self.plan.register(value);
        let lanes = self.load_all(variables);
        let lanes = lanes.into_iter().map(|lane| self.fit(lane, register, own)).collect();
        self.define(value, lanes);
    }
}

/// The first operation in a structure in which threads wait for others.
fn first_waiting(inst: &Inst) -> Option<&Inst> {
    let mut first = None;
    for block in &inst.blocks {
        block.visit(&mut |inner| {
            if inner.op.waits() && first.is_none() {
                first = Some(inner);
            }
        });
    }
    first
}

/// Whether threads wait for others in it.
pub(super) fn contains_waiting(inst: &Inst) -> bool {
    inst.contains(Op::waits)
}

/// Whether a thread may end in it.
pub(super) fn contains_end(inst: &Inst) -> bool {
    inst.contains(|op| matches!(op, Op::Return | Op::Assert(_)))
}

/// Whether threads end in a branch only where the branch ends, so that nothing has to be left.
fn ends_at_its_end(inst: &Inst) -> bool {
    inst.op == Op::If
        && inst.blocks.iter().all(|block| {
            let inner = block.insts.split_last().map_or(&[][..], |(_, inner)| inner);
            !inner.iter().any(contains_end)
        })
}
