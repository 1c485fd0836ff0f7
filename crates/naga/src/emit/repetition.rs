//! Loops: their variables, rounds, and what counts.

use super::code::Expr;
use super::control::Frame;
use super::control::{contains_end, contains_waiting};
use super::{Emitter, Lanes};
use crate::error::Unsupported;
use crate::plan::Register;
use naga::{BinaryOperator as Operator, Block as Statements, Statement};
use tilewise_ir::{Const, Inst, Label, Scalar, SiteKind, Type, Value};

/// Where results and carried values of a loop go.
#[derive(Debug)]
pub(super) struct LoopVariables {
    pub(super) label: Label,
    /// Whether all threads of a block go through it together.
    pub(super) together: bool,
    pub(super) carried: Vec<(Lanes, Register)>,
    pub(super) results: Vec<(Lanes, Register)>,
}

impl<'k> Emitter<'k> {
    pub(super) fn repeat(
        &mut self,
        inst: &'k Inst,
        label: Label,
        together: bool,
        follows: bool,
    ) -> Result<(), Unsupported> {
        let params = &inst.blocks[0].params;
        let carried: Vec<_> =
            params.iter().map(|&param| self.variables_in(param, self.plan.register(param))).collect();
        for (&initial, (variables, register)) in inst.args.iter().zip(&carried) {
            self.store_all(initial, variables, *register);
        }
        let results = self.result_variables(inst);
        self.loops.push(LoopVariables {
            label,
            together,
            carried: carried.clone(),
            results: results.clone(),
        });
        let body = self.round(inst, label, params, &carried, together, follows)?;
        self.close_frame(body, Statements::new(), None);
        self.loops.pop();
        self.load_results(inst, &results);
        Ok(())
    }

    /// The body of a loop; its frame stays open.
    fn round(
        &mut self,
        inst: &'k Inst,
        label: Label,
        params: &[Value],
        carried: &[(Lanes, Register)],
        together: bool,
        follows: bool,
    ) -> Result<Statements, Unsupported> {
        // A barrier of the next round follows, and threads that have ended in the round before are here.
        let follows = follows || self.plan.waits && contains_waiting(inst);
        self.may_be_dead |= together && follows && contains_end(inst);
        self.code.open();
        self.frames.push(Frame::of_loop(label));
        for (&param, (variables, register)) in params.iter().zip(carried) {
            self.load_value(param, variables, *register);
        }
        if self.leaves_at_the_end(inst) {
            self.code.open();
            self.frames.push(Frame::of_round());
            self.block(&inst.blocks[0], together, follows)?;
            self.code.push(Statement::Break);
            let round = self.code.close();
            self.close_frame(round, Statements::new(), None);
        } else {
            self.block(&inst.blocks[0], together, follows)?;
        }
        Ok(self.code.close())
    }

    pub(super) fn count(
        &mut self,
        inst: &'k Inst,
        label: Label,
        together: bool,
        follows: bool,
    ) -> Result<(), Unsupported> {
        let [lo, hi, step] = [inst.args[0], inst.args[1], inst.args[2]];
        let (counter, params) = match inst.blocks[0].params.split_first() {
            Some((&counter, params)) => (counter, params),
            None => return Ok(()),
        };
        let scalar = self.plan.kernel.ty(lo).scalar;
        let wide = [lo, hi, step, counter].iter().any(|&value| self.plan.register(value) == Register::U64);
        let register = if wide { Register::U64 } else { self.plan.register(lo) };
        let [first, end, by] = [lo, hi, step].map(|value| self.lane_in(value, 0, register));

        let index = self.variable_with(first, register);
        let carried: Vec<_> = params
            .iter()
            .zip(&inst.results)
            .map(|(&param, &result)| {
                // A carried value may need its upper half only behind the loop.
                let wide = self.plan.register(result) == Register::U64;
                let register = if wide { Register::U64 } else { self.plan.register(param) };
                self.variables_in(param, register)
            })
            .collect();
        for (&initial, (variables, register)) in inst.args[3..].iter().zip(&carried) {
            self.store_all(initial, variables, *register);
        }
        let mut enters = self.code.binary(Operator::Less, first, end);
        let known = self.constants[step.0 as usize].and_then(Const::as_int);
        if known.is_none_or(|step| step <= 0) {
            let zero = self.code.zero(register);
            let positive = self.code.binary(Operator::Greater, by, zero);
            self.check_step(inst, step, positive, scalar);
            enters = self.code.and(enters, positive);
        }
        self.code.open();
        self.loops.push(LoopVariables {
            label,
            together,
            carried: carried.clone(),
            results: carried.clone(),
        });
        self.code.open();
        let now = self.code.load(index);
        let own = self.plan.register(counter);
        let value = self.fit(now, register, own);
        self.define(counter, Lanes::from_slice(&[value]));
        let start = self.code.close();
        let mut body = start;
        let mut rest = self.round(inst, label, params, &carried, together, follows)?;
        body.append(&mut rest);

        // The next number is below the end if the step is less than what is left, and only then it may be computed.
        self.code.open();
        let now = self.code.load(index);
        let left = self.code.binary(Operator::Subtract, end, now);
        let next = self.code.binary(Operator::Add, now, by);
        self.code.store(index, next);
        let unsigned = match register {
            Register::I32 => Register::U32,
            Register::I64 => Register::U64,
            same => same,
        };
        let [left, by] =
            [left, by].map(|x| if unsigned == register { x } else { self.code.bitcast(x, unsigned) });
        let ends = self.code.binary(Operator::GreaterEqual, by, left);
        let continuing = self.code.close();
        self.close_frame(body, continuing, Some(ends));
        self.loops.pop();
        self.code.close_if(enters);
        self.load_results(inst, &carried);
        Ok(())
    }

    fn variable_with(&mut self, value: Expr, register: Register) -> Expr {
        let variable = self.code.variable(register);
        self.code.store(variable, value);
        variable
    }

    /// The fault of a step that is not positive.
    fn check_step(&mut self, inst: &'k Inst, step: Value, positive: Expr, scalar: Scalar) {
        let fails = self.code.not(positive);
        let fails = self.if_live(fails);
        self.code.open();
        let (kind, expr) = (self.kind(step), self.lane(step, 0));
        let words = self.value_words(kind, expr);
        let ty: Type = scalar.ty();
        self.fault(inst.span, SiteKind::RangeStep(ty), &[words]);
        self.code.close_if(fails);
    }
}
