//! Carried values and results that are always the same value from outside: the outer value takes their place.
//!
//! - A value that a loop carries, and that each `Continue` hands on as it is (or sets to the initial value again), is
//!   the initial value.
//! - A result of `Loop` that each `Break` sets to one value defined before the loop is that value.
//! - A result of `If` for which each arm that yields yields one value defined before the `If` is that value.
//! - A result of `For` is the initial value if its carried value is, and each `Break` leaves it so.
//!
//! Right because a value that is visible at a structure is the same value inside and behind it. Relies on
//! [`dce`](crate::pass::dce) for carried values and results that are not used.

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use crate::pass::rewrite::Substitution;
use crate::pass::slots;
use crate::pass::uses::Exits;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let substitution = {
        let mut finder = Finder {
            exits: Exits::of(kernel),
            substitution: Substitution::new(kernel),
            order: vec![0; kernel.values.len()],
            position: 0,
        };
        finder.block(&kernel.body);
        finder.substitution
    };
    let replaced = substitution.apply_block(&mut kernel.body);
    let removed = slots::remove(kernel, |value| substitution.is_set(value));
    replaced || removed
}

struct Finder<'k> {
    exits: Exits<'k>,
    substitution: Substitution,
    /// By value: the position of the operation that defines it, outer before inner. What is visible inside a
    /// structure and has a smaller position is defined before it.
    order: Vec<u32>,
    position: u32,
}

impl<'k> Finder<'k> {
    fn block(&mut self, block: &'k Block) {
        for inst in &block.insts {
            self.position += 1;
            let position = self.position;
            for &result in &inst.results {
                self.order[result.0 as usize] = position;
            }
            for nested in &inst.blocks {
                for &param in &nested.params {
                    self.order[param.0 as usize] = position;
                }
                self.block(nested);
            }
            match inst.op {
                Op::If => self.branch(inst, position),
                Op::Loop(label) => self.repeat(inst, label, position),
                Op::For(label) => self.count(inst, label),
                _ => {}
            }
        }
    }

    fn branch(&mut self, inst: &Inst, position: u32) {
        let yields: Vec<&Inst> =
            inst.blocks.iter().filter_map(|b| b.insts.last()).filter(|i| i.op == Op::Yield).collect();
        for (i, &result) in inst.results.iter().enumerate() {
            self.result(result, &yields, i, position);
        }
    }

    fn repeat(&mut self, inst: &Inst, label: Label, position: u32) {
        for (i, (&param, &initial)) in inst.blocks[0].params.iter().zip(&inst.args).enumerate() {
            if self.all_are(self.exits.continues(label), i, param, initial) {
                self.substitution.set(param, initial);
            }
        }
        let breaks = self.exits.breaks(label).to_vec();
        for (i, &result) in inst.results.iter().enumerate() {
            self.result(result, &breaks, i, position);
        }
    }

    fn count(&mut self, inst: &Inst, label: Label) {
        let carried = inst.blocks[0].params[1..].iter().zip(&inst.args[3..]).zip(&inst.results);
        for (i, ((&param, &initial), &result)) in carried.enumerate() {
            if self.all_are(self.exits.continues(label), i, param, initial) {
                self.substitution.set(param, initial);
                if self.all_are(self.exits.breaks(label), i, param, initial) {
                    self.substitution.set(result, initial);
                }
            }
        }
    }

    /// Whether the operand number `i` of each exit is `param` or `initial`.
    fn all_are(&self, exits: &[&Inst], i: usize, param: Value, initial: Value) -> bool {
        let (param, initial) = (self.substitution.get(param), self.substitution.get(initial));
        exits.iter().all(|exit| {
            let arg = self.substitution.get(exit.args[i]);
            arg == param || arg == initial
        })
    }

    /// Substitutes a result whose exits all set one value that is defined before the structure.
    fn result(&mut self, result: Value, exits: &[&Inst], i: usize, position: u32) {
        let Some(first) = exits.first() else { return };
        let value = self.substitution.get(first.args[i]);
        let same = exits.iter().all(|exit| self.substitution.get(exit.args[i]) == value);
        if same && self.order[value.0 as usize] < position {
            self.substitution.set(result, value);
        }
    }
}
