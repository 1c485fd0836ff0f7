//! Loops: their rounds are walked until the carried values stay in the ranges that they are assumed to be in.
//!
//! These ranges start with the initial values. After a round they are joined with what the round carries on; if that
//! goes on growing, ends move to the next number of interest (a constant or extent), and in the end to the type's. When
//! a round carries on nothing new, the ranges hold for all rounds; what the round has carried on may then be less than
//! assumed, so it is tried whether the loop stays in that too.

use super::range::Range;
use super::ranges::{DEPTH, Walk, join_all};
use super::residue::Residue;
use crate::kernel::{Block, Inst, Value};
use crate::op::{CompareOp, Label};
use smallvec::SmallVec;

/// Ranges of carried values or results.
type Several = SmallVec<[Range; 4]>;

/// What the jumps to a loop give it, joined. `None` while there was no jump.
#[derive(Clone, Default)]
pub(super) struct LoopState {
    /// By `Continue`: the carried values.
    pub(super) carried: Option<Several>,
    /// By `Break`: the results.
    pub(super) results: Option<Several>,
}

/// After so many rounds ends move to the next number of interest.
const PATIENCE: usize = 2;

/// After so many rounds ends move to those of the type.
const LAST_LANDMARK: usize = 4;

/// How many times a loop is tried with less.
const NARROWINGS: usize = 2;

impl<'a> Walk<'a> {
    /// A jump to a loop.
    pub(super) fn jump(
        &mut self,
        label: Label,
        args: &[Value],
        of: impl FnOnce(&mut LoopState) -> &mut Option<Several>,
    ) {
        let ranges: Several = args.iter().map(|&arg| self.range(arg)).collect();
        join_all(of(&mut self.loops[label.0 as usize]), ranges.into_iter());
    }

    /// `Loop`. Gives whether it ends.
    pub(super) fn endless(&mut self, inst: &'a Inst, label: Label) -> bool {
        let block = &inst.blocks[0];
        let initial = self.ranges_of(&inst.args);
        self.settle(label, &block.params, initial, |walk| {
            let mark = walk.mark();
            walk.block(block);
            walk.back(mark);
        });
        let Some(results) = self.loops[label.0 as usize].results.take() else { return false };
        self.define_each(&inst.results, results);
        true
    }

    /// `For`. It always ends.
    pub(super) fn counted(&mut self, inst: &'a Inst, label: Label) -> bool {
        let block = &inst.blocks[0];
        let [lo, hi, step] = [inst.args[0], inst.args[1], inst.args[2]];
        let initial = self.ranges_of(&inst.args[3..]);
        let [from, to, by] = [lo, hi, step].map(|value| self.range(value));
        self.steps[label.0 as usize] = by.lo() >= 1;
        let counter = counter(from, to, by);
        let mark = self.mark();
        let has_rounds = counter.is_some()
            && self.assume_comparison(CompareOp::Lt, lo, hi, DEPTH)
            && Range::interval(1, by.hi()).is_some_and(|positive| self.learn(step, positive));
        let mut results = None;
        if let (Some(counter), true) = (counter, has_rounds) {
            self.settle(label, &block.params[1..], initial.clone(), |walk| {
                walk.round(block, lo, hi, counter);
            });
            let state = &mut self.loops[label.0 as usize];
            for ranges in [state.results.take(), state.carried.take()].into_iter().flatten() {
                join_all(&mut results, ranges.into_iter());
            }
        } else {
            self.skip_block(block);
        }
        self.back(mark);
        // Whether there may be no round at all; and a round may neither end nor go on.
        if !has_rounds || from.hi() >= to.lo() || by.lo() < 1 {
            join_all(&mut results, initial.into_iter());
        }
        let Some(results) = results else { return false };
        self.define_each(&inst.results, results);
        true
    }

    /// A round of `For`.
    fn round(&mut self, block: &'a Block, lo: Value, hi: Value, counter: Range) {
        let i = block.params[0];
        self.define(i, counter);
        let mark = self.mark();
        self.differ_by_at_most(i, hi, -1);
        self.differ_by_at_most(lo, i, 0);
        self.block(block);
        self.back(mark);
    }

    /// Walks rounds until the carried values stay in ranges; the jumps of the last round stay in the state of the loop.
    fn settle(&mut self, label: Label, params: &[Value], initial: Several, mut round: impl FnMut(&mut Self)) {
        let start = self.next;
        let mut assumed = initial.clone();
        // What is known to hold, while less is tried.
        let mut certain: Option<Several> = None;
        let mut narrowings = NARROWINGS;
        for rounds in 0.. {
            if self.budget == 0 {
                assumed = self.anything(params);
            }
            self.next = start;
            self.loops[label.0 as usize] = LoopState::default();
            for (&param, &range) in params.iter().zip(&assumed) {
                self.define(param, range);
            }
            round(self);
            let mut seen = Some(initial.clone());
            if let Some(carried) = &self.loops[label.0 as usize].carried {
                join_all(&mut seen, carried.iter().copied());
            }
            let seen = seen.unwrap_or_default();
            let holds = seen.iter().zip(&assumed).all(|(seen, assumed)| seen.is_within(*assumed));
            if holds {
                if seen == assumed || narrowings == 0 || self.budget == 0 {
                    return;
                }
                narrowings -= 1;
                certain = Some(std::mem::replace(&mut assumed, seen));
            } else if let Some(certain) = certain.take() {
                assumed = certain;
                narrowings = 0;
            } else {
                for ((assumed, &seen), &param) in assumed.iter_mut().zip(&seen).zip(params) {
                    let all = Range::all(self.kernel.ty(param).scalar);
                    *assumed = widened(*assumed, assumed.join(seen), rounds, all, &self.landmarks);
                }
            }
        }
    }

    fn ranges_of(&self, values: &[Value]) -> Several {
        values.iter().map(|&value| self.range(value)).collect()
    }

    fn anything(&self, values: &[Value]) -> Several {
        values.iter().map(|&value| Range::all(self.ty(value).scalar)).collect()
    }

    fn define_each(&mut self, values: &[Value], ranges: Several) {
        for (&value, range) in values.iter().zip(ranges) {
            self.define(value, range);
        }
    }
}

/// The range of a counter from `from` to below `to` by `by`; `None` if there is no round.
fn counter(from: Range, to: Range, by: Range) -> Option<Range> {
    let last = match (from.value(), by.value()) {
        (Some(first), Some(step)) if step > 0 && first < to.hi() => {
            first + (to.hi() - 1 - first) / step * step
        }
        _ => to.hi() - 1,
    };
    let residue = from.residue().truncated(by.residue().trailing_zeros());
    if by.hi() < 1 { None } else { Range::new(from.lo(), last, Residue::new(residue.bits(), residue.low())) }
}

/// Ranges that go on growing grow faster: `grown` has all of `before`.
fn widened(before: Range, grown: Range, rounds: usize, all: Range, landmarks: &[i128]) -> Range {
    if rounds < PATIENCE || before == grown {
        return grown;
    }
    let is_last = rounds >= LAST_LANDMARK;
    let lo = if grown.lo() == before.lo() {
        grown.lo()
    } else {
        let below = landmarks.iter().copied().filter(|&number| number <= grown.lo() && !is_last);
        below.max().unwrap_or(all.lo()).max(all.lo())
    };
    let hi = if grown.hi() == before.hi() {
        grown.hi()
    } else {
        let above = landmarks.iter().copied().filter(|&number| number >= grown.hi() && !is_last);
        above.min().unwrap_or(all.hi()).min(all.hi())
    };
    let residue =
        if is_last && grown.residue() != before.residue() { Residue::UNKNOWN } else { grown.residue() };
    Range::new(lo, hi, residue).unwrap_or(all)
}
