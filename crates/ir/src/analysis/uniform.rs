//! Which values are the same for all threads of a block, and where threads that came to a place together go different
//! ways.
//!
//! A value is *uniform* if, whenever threads of a block that came the same way define it, all of them define it alike; in
//! a loop, that is in each round by itself. What is not known to be uniform *varies*. A structure *splits* if threads that
//! come to it together may be in it at different places: at different branches, or in different rounds. Where no
//! structure around splits, all threads of the block come, but for those that have ended.
//!
//! What of these depends on the device, which either lets a thread that ends go or takes it along ([`Ended`]).
//!
//! What comes out of memory is uniform only if nothing writes that memory while the kernel runs. What operations of warps
//! give is the same for the lanes of one warp only; for a block of one warp it is uniform where all lanes get the same
//! bits.
//!
//! ```
//! use tilewise_ir::{Kernel, Value, analysis::uniform::{Ended, Uniform}};
//!
//! let kernel: Kernel = "
//!     kernel @k(%n: index) {
//!       %0 = scalar %n
//!       %1 = thread_idx.x
//!       %2 = add %0, %0
//!       %3 = add %0, %1
//!       return
//!     }
//! ".parse()?;
//! let uniform = Uniform::analyze(&kernel, Ended::Gone, None);
//! assert_eq!([0, 1, 2, 3].map(|n| uniform.varies(Value(n))), [false, true, false, true]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Builtin, Effect, Label, Op, WARP_SIZE};

/// What becomes of threads that have ended before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// They are gone, and nobody waits for them: what they would have computed does not count.
    Gone,
    /// They go on with the others to where threads wait for each other, and only leave out what has an effect: they go
    /// through the structures that [lead there](leads_to_waiting), and pass over the others and over all accesses to
    /// memory. So a value is uniform only if such a thread has it as well, which it has not of what it passes over.
    TakenAlong,
}

/// Uniformity of the values and structures of a kernel.
#[derive(Clone, Debug)]
pub struct Uniform {
    varying: Vec<bool>,
    /// Loops that threads leave, or go to the next round of, at different places or in different rounds.
    diverges: FxHashSet<Label>,
}

impl Uniform {
    /// Analyses a kernel; `block` is the number of threads of a block along each axis, if it is known.
    pub fn analyze(kernel: &Kernel, ended: Ended, block: Option<[u32; 3]>) -> Uniform {
        let jumps = Jumps::new(kernel);
        let threads = block.map(|block| block.iter().map(|&n| u64::from(n)).product::<u64>());
        let mut analysis = Analysis {
            kernel,
            passes_over: ended == Ended::TakenAlong && ends_early(kernel),
            one_warp: threads.is_some_and(|threads| threads <= WARP_SIZE.into()),
            waiting_loops: match ended {
                Ended::Gone => FxHashSet::default(),
                Ended::TakenAlong => waiting_loops(kernel),
            },
            jumps,
            uniform: Uniform { varying: vec![false; kernel.values.len()], diverges: FxHashSet::default() },
        };
        while analysis.round() {}
        analysis.uniform
    }

    /// Whether a value may differ between threads of a block.
    pub fn varies(&self, value: Value) -> bool {
        self.varying[value.0 as usize]
    }

    /// Whether threads that come to an operation together may be at different places inside of it. Only a structure can
    /// split.
    pub fn splits(&self, inst: &Inst) -> bool {
        match inst.op {
            Op::If => self.varies(inst.args[0]),
            Op::Loop(label) | Op::For(label) => self.diverges.contains(&label),
            _ => false,
        }
    }

    fn any_varies(&self, values: &[Value]) -> bool {
        values.iter().any(|&value| self.varies(value))
    }
}

/// Whether threads may end before the end of the kernel.
pub fn ends_early(kernel: &Kernel) -> bool {
    let mut ends = 0;
    kernel.body.visit(&mut |inst| ends += usize::from(matches!(inst.op, Op::Return | Op::Assert(_))));
    ends > 1
}

/// The loops in which threads [wait](Op::waits) for each other.
pub fn waiting_loops(kernel: &Kernel) -> FxHashSet<Label> {
    let mut loops = FxHashSet::default();
    kernel.body.visit(&mut |inst| {
        if let Op::Loop(label) | Op::For(label) = inst.op
            && inst.contains(Op::waits)
        {
            loops.insert(label);
        }
    });
    loops
}

/// Whether a structure leads to where threads [wait](Op::waits) for each other: that is in it, or a jump that leaves it
/// for one of the [`waiting_loops`].
pub fn leads_to_waiting(inst: &Inst, waiting_loops: &FxHashSet<Label>) -> bool {
    let own = match inst.op {
        Op::Loop(label) | Op::For(label) => Some(label),
        _ => None,
    };
    inst.contains(|op| match op {
        Op::Break(label) | Op::Continue(label) => Some(*label) != own && waiting_loops.contains(label),
        op => op.waits(),
    })
}

/// Where jumps to each loop come from.
#[derive(Default)]
struct Jumps<'k> {
    breaks: FxHashMap<Label, Vec<&'k Inst>>,
    continues: FxHashMap<Label, Vec<&'k Inst>>,
}

impl<'k> Jumps<'k> {
    fn new(kernel: &'k Kernel) -> Jumps<'k> {
        let mut jumps = Jumps::default();
        kernel.body.visit(&mut |inst| match inst.op {
            Op::Break(label) => jumps.breaks.entry(label).or_default().push(inst),
            Op::Continue(label) => jumps.continues.entry(label).or_default().push(inst),
            _ => {}
        });
        jumps
    }
}

struct Analysis<'k> {
    kernel: &'k Kernel,
    jumps: Jumps<'k>,
    /// Whether threads that have ended may pass over something that others do.
    passes_over: bool,
    /// Whether the threads of a block are one warp.
    one_warp: bool,
    waiting_loops: FxHashSet<Label>,
    uniform: Uniform,
}

impl<'k> Analysis<'k> {
    /// Marks what varies because of what is marked; gives whether there was anything new.
    fn round(&mut self) -> bool {
        let kernel = self.kernel;
        let mut changed = self.leave(&kernel.body, &mut Vec::new());
        kernel.body.visit(&mut |inst| {
            if let Op::Loop(label) | Op::For(label) = inst.op {
                changed |= self.params(inst, label);
            }
            for (n, &result) in inst.results.iter().enumerate() {
                if !self.uniform.varies(result) && self.result_varies(inst, n) {
                    changed |= self.mark(result);
                }
            }
        });
        changed
    }

    fn mark(&mut self, value: Value) -> bool {
        !std::mem::replace(&mut self.uniform.varying[value.0 as usize], true)
    }

    /// Marks the loops that a jump leaves or repeats from where threads may be without others. `around` are the
    /// operations around the block, outermost first.
    fn leave(&mut self, block: &'k Block, around: &mut Vec<&'k Inst>) -> bool {
        let mut changed = false;
        for inst in &block.insts {
            if let Op::Break(target) | Op::Continue(target) = inst.op {
                let is_target = |inst: &&Inst| matches!(inst.op, Op::Loop(l) | Op::For(l) if l == target);
                let from = around.iter().position(is_target).unwrap_or(0);
                // Whatever is between the split and the loop that is named is left by some only.
                for n in from..around.len() {
                    let split = around[n + 1..].iter().any(|inst| self.uniform.splits(inst));
                    if let (true, Op::Loop(label) | Op::For(label)) = (split, &around[n].op) {
                        changed |= self.uniform.diverges.insert(*label);
                    }
                }
            }
            around.push(inst);
            for block in &inst.blocks {
                changed |= self.leave(block, around);
            }
            around.pop();
        }
        changed
    }

    fn params(&mut self, inst: &Inst, label: Label) -> bool {
        let mut changed = false;
        let counted = matches!(inst.op, Op::For(_));
        if counted && self.uniform.any_varies(&inst.args[..3]) {
            changed |= self.uniform.diverges.insert(label);
        }
        let diverges = self.uniform.diverges.contains(&label);
        for (n, &param) in inst.blocks[0].params.iter().enumerate() {
            // The counter of a loop that does not diverge is the same for all.
            let carried = if counted { n.checked_sub(1) } else { Some(n) };
            let varies = diverges
                || carried.is_some_and(|n| {
                    let initial = inst.args[if counted { 3 + n } else { n }];
                    self.uniform.varies(initial) || self.passed_on_varies(&self.jumps.continues, label, n)
                });
            if varies {
                changed |= self.mark(param);
            }
        }
        changed
    }

    /// Whether one of these jumps passes on, as operand `n`, what varies.
    fn passed_on_varies(&self, jumps: &FxHashMap<Label, Vec<&Inst>>, label: Label, n: usize) -> bool {
        let jumps = jumps.get(&label).map_or(&[][..], Vec::as_slice);
        jumps.iter().any(|inst| self.uniform.varies(inst.args[n]))
    }

    fn result_varies(&self, inst: &Inst, n: usize) -> bool {
        let uniform = &self.uniform;
        let is_passed_over = || self.passes_over && !leads_to_waiting(inst, &self.waiting_loops);
        match &inst.op {
            Op::Builtin(Builtin::ThreadIdx, _) | Op::LaneId => true,
            Op::If => {
                let yields = inst.blocks.iter().filter_map(|block| block.insts.last());
                uniform.varies(inst.args[0])
                    || is_passed_over()
                    || yields.filter(|end| end.op == Op::Yield).any(|end| uniform.varies(end.args[n]))
            }
            Op::Loop(label) | Op::For(label) => {
                uniform.diverges.contains(label)
                    || is_passed_over()
                    || self.passed_on_varies(&self.jumps.breaks, *label, n)
                    || matches!(inst.op, Op::For(_)) && uniform.varies(inst.blocks[0].params[1 + n])
            }
            Op::Load(access) => {
                self.passes_over
                    || !self.kernel.is_constant_memory(access.mem)
                    || uniform.any_varies(&inst.args)
            }
            Op::Ballot => !self.one_warp,
            // Lanes combine floats in orders of their own, which shows in the bits of NaN.
            Op::WarpReduce(_) => !self.one_warp || self.kernel.ty(inst.args[0]).scalar.is_float(),
            op => match op.effect() {
                Effect::Pure | Effect::Fault => uniform.any_varies(&inst.args),
                Effect::Read
                | Effect::Write
                | Effect::Sync
                | Effect::Output
                | Effect::Structure
                | Effect::Terminator => true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &str = "%out: tensor<i32, 1, mut>, %x: tensor<i32, 1>, %n: index";

    fn kernel(body: &str) -> Kernel {
        crate::text::parse(&format!("kernel @k({PARAMS}) {{\n{body}\nreturn\n}}"))
            .unwrap_or_else(|error| panic!("{error}\n{body}"))
    }

    /// Which of the values vary, by number, if threads that have ended are gone, and if they are taken along.
    fn varying_in(body: &str, block: Option<[u32; 3]>) -> [Vec<u32>; 2] {
        let kernel = kernel(body);
        [Ended::Gone, Ended::TakenAlong].map(|ended| {
            let uniform = Uniform::analyze(&kernel, ended, block);
            (0..kernel.values.len() as u32).filter(|&value| uniform.varies(Value(value))).collect()
        })
    }

    #[track_caller]
    fn assert_varying(body: &str, gone: &[u32], taken_along: &[u32]) {
        assert_eq!(varying_in(body, None), [gone.to_vec(), taken_along.to_vec()], "{body}");
    }

    #[test]
    fn numbers_of_the_launch_are_uniform_and_those_of_the_thread_vary() {
        let body = "%0 = block_idx.x\n%1 = thread_idx.y\n%2 = scalar %n\n%3 = add %0, %2\n%4 = add %3, %1\n%5 = lane_id";
        assert_varying(body, &[1, 4, 5], &[1, 4, 5]);
    }

    #[test]
    fn only_memory_that_nobody_writes_is_uniform() {
        let body = "%0 = block_idx.x\n%1 = load %x[%0] : i32\n%2 = load %out[%0] : i32\n%3 = thread_idx.x\n\
                    %4 = load %x[%3] : i32";
        assert_varying(body, &[2, 3, 4], &[2, 3, 4]);
    }

    #[test]
    fn a_branch_that_splits_gives_what_varies() {
        let body = "%0 = thread_idx.x\n%1 = block_idx.x\n%2 = const index 3\n%3 = lt %0, %2\n%4 = lt %1, %2\n\
                    %5 = if %3 : index {\nyield %1\n} else {\nyield %2\n}\n%6 = if %4 : index {\nyield %1\n} else {\nyield %2\n}";
        assert_varying(body, &[0, 3, 5], &[0, 3, 5]);
    }

    #[test]
    fn a_loop_that_threads_leave_in_different_rounds_gives_what_varies() {
        // The counter is uniform in the second loop, which all leave in one round.
        let body = "%0 = thread_idx.x\n%1 = const index 0\n%2 = const index 1\n%3 = scalar %n\n\
                    %4 = for ^0 %5 = %1 to %0 step %2 carry (%6 = %1) {\ncontinue ^0 %5\n}\n\
                    %7 = for ^1 %8 = %1 to %3 step %2 carry (%9 = %1) {\ncontinue ^1 %8\n}";
        let kernel = kernel(body);
        let uniform = Uniform::analyze(&kernel, Ended::Gone, None);
        let splits: Vec<bool> =
            kernel.body.insts.iter().filter(|i| !i.blocks.is_empty()).map(|i| uniform.splits(i)).collect();
        assert_eq!(splits, [true, false]);
        assert_varying(body, &[0, 4, 5, 6], &[0, 4, 5, 6]);
    }

    #[test]
    fn what_threads_that_have_ended_pass_over_varies_for_them() {
        // Behind the early return: a load, a branch with nothing in it that threads wait for, and one with a barrier.
        let body = "%0 = thread_idx.x\n%1 = const index 3\n%2 = lt %0, %1\nif %2 {\nreturn\n}\n%3 = block_idx.x\n\
                    %4 = load %x[%3] : i32\n%5 = lt %3, %1\n%6 = if %5 : index {\nyield %1\n} else {\nyield %3\n}\n\
                    %7 = if %5 : index {\nbarrier\nyield %1\n} else {\nyield %3\n}\n%8 = add %3, %1";
        assert_varying(body, &[0, 2], &[0, 2, 4, 6]);
    }

    #[test]
    fn a_jump_to_a_loop_with_a_barrier_leads_to_waiting() {
        let body = "%0 = scalar %n\n%1 = const index 3\n%2 = lt %0, %1\nloop ^0 {\nbarrier\nif %2 {\nbreak ^0\n}\nif %2 {\n}\ncontinue ^0\n}";
        let kernel = kernel(body);
        let loops = waiting_loops(&kernel);
        let Some(around) = kernel.body.insts.iter().find(|inst| matches!(inst.op, Op::Loop(_))) else {
            panic!("there is a loop")
        };
        let branches: Vec<bool> = around.blocks[0]
            .insts
            .iter()
            .filter(|i| i.op == Op::If)
            .map(|i| leads_to_waiting(i, &loops))
            .collect();
        assert_eq!(branches, [true, false]);
        assert!(leads_to_waiting(around, &loops));
    }

    #[test]
    fn what_a_warp_has_in_common_is_uniform_in_a_block_of_one() {
        let body = "%0 = lane_id\n%1 = const u32 3\n%2 = lt %0, %1\n%3 = ballot %2\n%4 = warp_reduce_add %0\n%5 = cast %0 to f32\n\
                    %6 = warp_reduce_add %5\n%7 = warp_scan_add %0";
        let of_one = vec![0, 2, 5, 6, 7];
        assert_eq!(varying_in(body, Some([8, 4, 1])), [of_one.clone(), of_one]);
        let of_several = vec![0, 2, 3, 4, 5, 6, 7];
        assert_eq!(varying_in(body, Some([33, 1, 1])), [of_several.clone(), of_several]);
    }
}
