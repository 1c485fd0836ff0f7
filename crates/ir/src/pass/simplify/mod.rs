//! Constant folding, algebraic simplification and strength reduction of single operations.
//!
//! Each pure operation is looked at together with what defines its operands, and becomes something simpler where a
//! rule applies: a constant (`fold`), one of its operands, or a cheaper operation (`integer`, `float`,
//! `logic`, `vector`). Integer rules hold for wrapping arithmetic, float rules for every bit of the result except
//! the bits of a NaN: so `x * 1.0` is `x`, but `x + 0.0` stays, because `-0.0 + 0.0` is `0.0`.
//!
//! Besides:
//! - A constant operand of a commutative operation goes to the right.
//! - Bounds of accesses that hold by constants are taken out.
//! - An assertion of `true` is removed.
//! - Constants move to the [prologue](crate::pass::constants::Prologue), each only once.
//!
//! Operations that become unused are left to [`dce`](crate::pass::dce).

mod float;
mod fold;
mod integer;
mod logic;
mod vector;

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Effect, Op};
use crate::pass::access;
use crate::pass::constants::{Constants, Prologue};
use crate::pass::rewrite::Substitution;
use crate::span::Span;
use crate::types::{Const, Type};
use smallvec::SmallVec;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    run_on(kernel, true)
}

/// [`run`], but bounds that hold by constants stay, so that whoever is told of a fault is told each dimension.
pub fn run_keeping_bounds(kernel: &mut Kernel) -> bool {
    run_on(kernel, false)
}

fn run_on(kernel: &mut Kernel, remove_bounds: bool) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let prologue = Prologue::take(&mut body);
    let mut constants = Constants::default();
    prologue.insts().iter().for_each(|inst| constants.record(inst));
    let mut simplifier = Simplifier {
        substitution: Substitution::new(kernel),
        definitions: vec![NO_DEFINITION; kernel.values.len()],
        expressions: Vec::new(),
        kernel,
        prologue,
        constants,
        out: Vec::new(),
        span: Span::NONE,
        remove_bounds,
        changed: false,
    };
    simplifier.block(&mut body);
    let changed = simplifier.changed;
    simplifier.prologue.put(&mut body);
    kernel.body = body;
    changed
}

/// Operands of an operation.
type Args = SmallVec<[Value; 4]>;

/// A pure operation and its operands.
#[derive(Clone, Debug, PartialEq)]
struct Expression {
    op: Op,
    args: Args,
}

impl Expression {
    fn new(op: Op, args: impl IntoIterator<Item = Value>) -> Expression {
        Expression { op, args: args.into_iter().collect() }
    }
}

/// What an operation is simplified to.
enum Simpler {
    /// A value that is there already.
    Value(Value),
    /// A constant, in each lane.
    Constant(Const),
    /// Another operation in its place, which may be simplified further.
    Expression(Expression),
}

impl Simpler {
    fn expression(op: Op, args: impl IntoIterator<Item = Value>) -> Option<Simpler> {
        Some(Simpler::Expression(Expression::new(op, args)))
    }

    fn value(value: Value) -> Option<Simpler> {
        Some(Simpler::Value(value))
    }

    fn constant(constant: Const) -> Option<Simpler> {
        Some(Simpler::Constant(constant))
    }
}

/// How often one operation is rewritten at most. Rules lead to simpler operations, so this is never reached; it is
/// there so that no mistake in them can make a launch hang.
const MAX_REWRITES: usize = 16;

const NO_DEFINITION: u32 = u32::MAX;

struct Simplifier<'k> {
    kernel: &'k mut Kernel,
    substitution: Substitution,
    prologue: Prologue,
    constants: Constants,
    /// By value: its index in `expressions`.
    definitions: Vec<u32>,
    /// The pure operations so far.
    expressions: Vec<Expression>,
    /// The block that is being written.
    out: Vec<Inst>,
    /// Position of the operation that is being simplified.
    span: Span,
    /// Whether bounds that hold are taken out.
    remove_bounds: bool,
    changed: bool,
}

impl Simplifier<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        let outer = std::mem::replace(&mut self.out, Vec::with_capacity(insts.len()));
        for inst in insts {
            self.inst(inst);
        }
        block.insts = std::mem::replace(&mut self.out, outer);
    }

    fn inst(&mut self, mut inst: Inst) {
        self.substitution.apply(&mut inst);
        self.span = inst.span;
        match inst.op {
            Op::Const(constant) => {
                // Outside the prologue, or there for the second time.
                let value = self.constant(constant, constant.scalar.ty());
                self.replace(inst.results[0], value);
                return;
            }
            Op::Assert(_) if self.constants.get(inst.args[0]) == Some(Const::bool(true)) => {
                self.changed = true;
                return;
            }
            _ => {}
        }
        if self.remove_bounds && inst.op.access().is_some() {
            self.remove_held_bounds(&mut inst);
        }
        if let (Effect::Pure | Effect::Fault, Some(result)) = (inst.op.effect(), inst.result()) {
            self.expression(inst, result);
            return;
        }
        for block in &mut inst.blocks {
            self.block(block);
        }
        self.out.push(inst);
    }

    /// Simplifies a pure operation or a division as far as it goes.
    fn expression(&mut self, mut inst: Inst, result: Value) {
        let ty = self.kernel.ty(result);
        let mut expression = Expression { op: inst.op, args: inst.args };
        for _ in 0..MAX_REWRITES {
            let Some(simpler) = self.simplify(&expression, ty) else { break };
            self.changed = true;
            match simpler {
                Simpler::Value(value) => return self.replace(result, value),
                Simpler::Constant(constant) => {
                    let value = self.constant(constant, ty);
                    return self.replace(result, value);
                }
                Simpler::Expression(next) => expression = next,
            }
        }
        if let Op::Splat(_) = expression.op
            && let Some(constant) = self.constants.get(expression.args[0])
        {
            let value = self.constant(constant, ty);
            return self.replace(result, value);
        }
        (inst.op, inst.args) = (expression.op, expression.args);
        self.push(inst, result);
    }

    /// One step.
    fn simplify(&mut self, expression: &Expression, ty: Type) -> Option<Simpler> {
        if let Some(folded) = self.fold(expression, ty) {
            return Some(folded);
        }
        match (&expression.op, &expression.args[..]) {
            (&Op::Unary(op), &[a]) => self.unary(op, a),
            (&Op::Binary(op), &[a, b]) => self.binary(op, a, b),
            (&Op::Compare(op), &[a, b]) => self.compare(op, a, b),
            (Op::MulAdd, &[a, b, c]) => self.mul_add(a, b, c),
            (Op::Select, &[c, a, b]) => self.select(c, a, b),
            (&Op::Cast(to), &[a]) => self.cast(to, a),
            (&Op::Bitcast(to), &[a]) => self.bitcast(to, a),
            (&Op::Splat(lanes), &[a]) => (lanes == 1).then_some(Simpler::Value(a)),
            (Op::Pack, lanes) => self.pack(lanes),
            (&Op::Extract(lane), &[a]) => self.extract(lane, a),
            _ => None,
        }
        .or_else(|| self.splat_result(expression, ty))
    }

    /// Makes `value` stand in for `result`, whose operation is dropped.
    fn replace(&mut self, result: Value, value: Value) {
        self.substitution.set(result, value);
        self.changed = true;
    }

    /// Appends a pure operation and remembers what it is.
    fn push(&mut self, inst: Inst, result: Value) {
        let index = result.0 as usize;
        if index >= self.definitions.len() {
            self.definitions.resize(self.kernel.values.len(), NO_DEFINITION);
        }
        self.definitions[index] = self.expressions.len() as u32;
        self.expressions.push(Expression { op: inst.op.clone(), args: inst.args.clone() });
        self.out.push(inst);
    }

    /// Appends a new operation that a rule needs.
    fn emit(&mut self, op: Op, args: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        let result = self.kernel.new_value(ty);
        self.push(Inst::new(op, args, [result], self.span), result);
        result
    }

    /// The value that is `constant` in each lane.
    fn constant(&mut self, constant: Const, ty: Type) -> Value {
        let value = self.prologue.value(self.kernel, constant, ty);
        self.constants.set(value, constant);
        value
    }

    /// What defines a value, if it is a pure operation that is not a constant.
    fn definition(&self, value: Value) -> Option<&Expression> {
        let index = *self.definitions.get(value.0 as usize)?;
        self.expressions.get(index as usize)
    }

    /// Takes out the bounds of an access that hold by constants.
    fn remove_held_bounds(&mut self, inst: &mut Inst) {
        let Some(first) = inst.op.access_args() else { return };
        let held = access::held_bounds(self.kernel, &self.constants, inst);
        if !held.contains(&true) {
            return;
        }
        let mut position = 0;
        inst.args.retain(|_| {
            position += 1;
            position <= first || !held[(position - 1 - first) / 2]
        });
        if let Some(access) = inst.op.access_mut() {
            let mut entry = 0;
            access.bounds.retain(|_| {
                entry += 1;
                !held[entry - 1]
            });
        }
        self.changed = true;
    }
}
