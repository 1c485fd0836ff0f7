//! Loops that only read, and may do so out of bounds.
//!
//! A call in a loop, even one that never happens, keeps the assembler from running several rounds at once, with all their
//! loads under way together. So such a loop notes in a predicate whether all accesses were in bounds, and reports nothing.
//! If one was not, the loop runs once more, from its first round, and reports. It changes nothing, so that it reads the same
//! and its results are those of the first time, unless another thread writes what it reads: in a kernel with such a race, a
//! fault may go unreported. Nothing outside a tensor is accessed then either.
//!
//! The loops in such a loop note and report with it, so nothing is emitted more than twice, however deep loops lie in each
//! other. A loop that is too [long](MOST) reports where it is; loops in it are looked at by themselves.

use tilewise_ir::{Const, Effect, Inst, Label, Op};

use super::code::{Class, Reg};
use super::{Emitter, Lanes, asm};
use crate::Unsupported;
use crate::plan::is_proven;

/// The most operations of a loop that is emitted twice.
///
/// A loop of 100 gathers has 600, and a round of it has loads enough under way by itself. Twice, it is a third more text than
/// once, reports and all, and takes `ptxas` 0.5 s instead of 0.4. With 200 gathers that is 1.5 s instead of 0.7.
const MOST: usize = 600;

/// What is done about accesses out of bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Reports {
    /// They are reported where they are, or soon after.
    #[default]
    Made,
    /// They make the predicate false.
    Noted(Reg),
    /// They are reported, by a loop that runs for that alone.
    Repeated,
}

/// What has been found in a loop.
struct Found {
    /// Accesses and divisions up to the place where the search is, as [`Facts`](tilewise_ir::analysis::Facts) counts them.
    accesses: usize,
    divisions: usize,
    /// How many operations there were up to there.
    operations: usize,
    /// The loops around that place, up to the one in question.
    labels: Vec<Label>,
    /// Whether an access may be out of bounds.
    may_fault: bool,
}

impl<'k> Emitter<'k> {
    /// A loop that counts.
    pub(super) fn for_(&mut self, inst: &'k Inst, label: Label) -> Result<(), Unsupported> {
        if !matches!(self.reports, Reports::Made) || !self.is_noted(inst, label) {
            return self.for_once(inst, label);
        }
        let before = (self.accesses, self.divisions);
        let fine = self.reg(Class::Pred);
        asm!(self, "mov.pred {fine}, 1");
        self.reports = Reports::Noted(fine);
        let done = self.for_once(inst, label);
        self.reports = Reports::Made;
        done?;

        let results: Vec<_> = inst.results.iter().map(|&result| self.lanes(result).clone()).collect();
        let (cold, behind) = (self.target(), self.target());
        self.jump_if(fine, false, cold);
        self.label(behind);
        (self.accesses, self.divisions) = before;
        // Nothing in the loop has been computed yet.
        self.forget(inst);
        self.reports = Reports::Repeated;
        let mut done = Ok(());
        self.cold(|emitter| {
            emitter.label(cold);
            done = emitter.for_once(inst, label);
            emitter.jump(behind);
        });
        self.reports = Reports::Made;
        for (&result, lanes) in inst.results.iter().zip(results) {
            self.define(result, lanes);
        }
        done
    }

    /// Forgets what an operation and those in it compute.
    fn forget(&mut self, inst: &Inst) {
        for block in &inst.blocks {
            block.params.iter().for_each(|&param| self.define(param, Lanes::new()));
            block.insts.iter().for_each(|inst| self.forget(inst));
        }
        inst.results.iter().for_each(|&result| self.define(result, Lanes::new()));
    }

    /// Whether a loop can be run twice, is not too long for that, and has something to report.
    fn is_noted(&self, inst: &Inst, label: Label) -> bool {
        let step = self.lanes(inst.args[2]).first().and_then(|step| step.constant());
        if !self.steps_forward(label) && step.and_then(Const::as_int).is_none_or(|step| step <= 0) {
            return false;
        }
        let mut found = Found {
            accesses: self.accesses,
            divisions: self.divisions,
            operations: 0,
            labels: vec![label],
            may_fault: false,
        };
        inst.blocks[0].insts.iter().all(|inst| self.is_repeatable(inst, &mut found)) && found.may_fault
    }

    /// Whether the step of a loop is known to be positive.
    pub(super) fn steps_forward(&self, label: Label) -> bool {
        self.facts.steps.get(label.0 as usize).copied().unwrap_or(false)
    }

    /// Whether an operation can be run twice, and leaves no fault but accesses of one element out of bounds.
    fn is_repeatable(&self, inst: &Inst, found: &mut Found) -> bool {
        found.operations += 1;
        if found.operations > MOST {
            return false;
        }
        if let Some(access) = inst.op.access() {
            let known = self.facts.accesses.get(found.accesses).copied().unwrap_or_default();
            found.accesses += 1;
            if !(0..access.bounds.len()).all(|n| is_proven(known, n)) {
                found.may_fault = true;
                if inst.result().is_none_or(|result| self.ty(result).lanes != 1) {
                    return false;
                }
            }
        }
        if tilewise_ir::analysis::facts::is_integer_division(self.kernel, inst) {
            let divisor = self.facts.divisors.get(found.divisions).copied();
            found.divisions += 1;
            return divisor == Some(true);
        }
        match (&inst.op, inst.op.effect()) {
            (Op::If, _) => {}
            (Op::For(label), _) => {
                if !self.steps_forward(*label) {
                    return false;
                }
                found.labels.push(*label);
            }
            (Op::Break(label) | Op::Continue(label), _) => return found.labels.contains(label),
            (Op::Yield, _) => return true,
            (_, effect) => return matches!(effect, Effect::Pure | Effect::Fault | Effect::Read),
        }
        let repeatable =
            inst.blocks.iter().flat_map(|block| &block.insts).all(|inst| self.is_repeatable(inst, found));
        if let Op::For(_) = inst.op {
            found.labels.pop();
        }
        repeatable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Target, compile};

    /// What a kernel becomes whose loops lie in each other, each of which loads from `x` as many times as it says.
    fn ptx(loads: &[usize]) -> String {
        fn nest(loads: &[usize], depth: usize) -> String {
            let Some((&count, inner)) = loads.split_first() else { return String::new() };
            let loads: String = (0..count)
                .map(|n| format!("%x{depth}_{n} = load %x[%i{depth}] if (0: %i{depth} < %n) : f32\n"))
                .collect();
            let inner = nest(inner, depth + 1);
            format!(
                "for ^{depth} %i{depth} = %zero to %end step %one {{
                   {loads}{inner}continue ^{depth}
                 }}\n"
            )
        }
        let text = format!(
            "kernel @k(%x: tensor<f32, 1>, %m: index) {{
               %zero = const index 0
               %one = const index 1
               %n = extent %x.0
               %end = scalar %m
               {}return
             }}",
            nest(loads, 0)
        );
        let kernel: tilewise_ir::Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut facts = tilewise_ir::analysis::Facts::unknown(&kernel);
        facts.steps.fill(true);
        compile(&kernel, &facts, Target::new(90)).expect("supported").text
    }

    fn loads(ptx: &str) -> usize {
        ptx.matches("ld.global").count()
    }

    #[test]
    fn loops_in_a_loop_that_is_emitted_twice_are_not_doubled_once_more() {
        for depth in 1..6 {
            assert_eq!(loads(&ptx(&vec![1; depth])), 2 * depth, "{depth} loops");
        }
    }

    #[test]
    fn a_long_loop_is_emitted_once() {
        // The last operation of the loop goes on with it.
        assert_eq!(loads(&ptx(&[MOST - 1])), 2 * (MOST - 1));
        assert_eq!(loads(&ptx(&[MOST])), MOST);
    }

    #[test]
    fn a_short_loop_in_a_long_one_is_emitted_twice() {
        assert_eq!(loads(&ptx(&[MOST, 3])), MOST + 2 * 3);
        assert_eq!(loads(&ptx(&[1, MOST, 3])), 1 + MOST + 2 * 3);
    }
}
