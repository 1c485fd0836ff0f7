//! Which values are constants, and where a pass puts the constants that it needs.

use crate::eval;
use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::Op;
use crate::span::Span;
use crate::types::{Const, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The values that are one constant in every lane: results of [`Op::Const`], and of operations on such values.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    by_value: Vec<Option<Const>>,
}

impl Constants {
    /// The constants of a kernel.
    pub fn of(kernel: &Kernel) -> Constants {
        let mut constants = Constants { by_value: vec![None; kernel.values.len()] };
        kernel.body.visit(&mut |inst| constants.record(inst));
        constants
    }

    /// Takes note of an operation, if its result is a constant.
    pub fn record(&mut self, inst: &Inst) {
        if let (Some(result), Some(constant)) = (inst.result(), self.evaluate(inst)) {
            self.set(result, constant);
        }
    }

    /// The constant that the result of an operation is, given what is known of its operands.
    pub fn evaluate(&self, inst: &Inst) -> Option<Const> {
        match inst.op {
            Op::Const(constant) => Some(constant),
            Op::Splat(_) | Op::Extract(_) => self.get(*inst.args.first()?),
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_) => {
                let operands: Option<SmallVec<[Const; 4]>> =
                    inst.args.iter().map(|&arg| self.get(arg)).collect();
                eval::operation(&inst.op, &operands?)
            }
            _ => None,
        }
    }

    /// Takes note that `value` is `constant` in every lane.
    pub fn set(&mut self, value: Value, constant: Const) {
        self.replace(value, Some(constant));
    }

    /// Takes note of what `value` is in every lane, for now.
    pub fn replace(&mut self, value: Value, constant: Option<Const>) {
        let index = value.0 as usize;
        if index >= self.by_value.len() {
            self.by_value.resize(index + 1, None);
        }
        self.by_value[index] = constant;
    }

    /// The constant that `value` is.
    pub fn get(&self, value: Value) -> Option<Const> {
        self.by_value.get(value.0 as usize).copied().flatten()
    }

    /// The integer that `value` is.
    pub fn int(&self, value: Value) -> Option<i128> {
        self.get(value)?.as_int()
    }
}

/// The constants at the start of a kernel's body, each there once: the prologue.
///
/// They are visible everywhere, run once, and two values of the prologue are the same constant only if they are the
/// same value. A backend that has immediate operands looks through them.
#[derive(Debug, Default)]
pub struct Prologue {
    index: FxHashMap<(Const, u8), Value>,
    insts: Vec<Inst>,
}

impl Prologue {
    /// Takes the leading constants off the body. Operations that repeat a constant are left to the body.
    pub fn take(body: &mut Block) -> Prologue {
        let mut prologue = Prologue::default();
        let mut scalars = FxHashMap::default();
        let mut len = 0;
        for inst in &body.insts {
            let Some(result) = inst.result() else { break };
            let key = match (&inst.op, &inst.args[..]) {
                (&Op::Const(constant), _) => (constant, 1),
                (&Op::Splat(lanes), &[arg]) if scalars.contains_key(&arg) && lanes > 1 => {
                    (scalars[&arg], lanes)
                }
                _ => break,
            };
            if prologue.index.contains_key(&key) {
                break;
            }
            prologue.index.insert(key, result);
            if key.1 == 1 {
                scalars.insert(result, key.0);
            }
            len += 1;
        }
        prologue.insts = body.insts.drain(..len).collect();
        prologue
    }

    /// The value that is `constant` in each lane of `ty`.
    pub fn value(&mut self, kernel: &mut Kernel, constant: Const, ty: Type) -> Value {
        if let Some(&value) = self.index.get(&(constant, ty.lanes)) {
            return value;
        }
        let inst = if ty.lanes == 1 {
            Inst::new(Op::Const(constant), [], [kernel.new_value(constant.scalar.ty())], Span::NONE)
        } else {
            let lane = self.value(kernel, constant, constant.scalar.ty());
            Inst::new(Op::Splat(ty.lanes), [lane], [kernel.new_value(ty)], Span::NONE)
        };
        let value = inst.results[0];
        self.index.insert((constant, ty.lanes), value);
        self.insts.push(inst);
        value
    }

    /// The operations of the prologue.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// Puts the prologue at the start of the body.
    pub fn put(self, body: &mut Block) {
        body.insts.splice(0..0, self.insts);
    }
}
