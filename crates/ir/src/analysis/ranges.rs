//! [`Ranges`]: a walk over a kernel that finds a range for each integer value, given the numbers of a launch.
//!
//! With these numbers extents, strides, scalar arguments and dimensions are constants, and indices of threads and blocks
//! lie between constants; what is loaded from memory may be anything of its type. The walk goes down the tree of blocks
//! in order. At each point it has, for each value in scope:
//!
//! - its [`Range`], narrowed by the conditions under which the point is reached: those of the branches around it, of
//!   branches before it that have left, of loops around it, of assertions (`condition.rs`);
//! - differences that such conditions bound, as `i - n <= -1` for `i < n` (`difference.rs`), for what
//!   intervals cannot hold.
//!
//! A loop is walked until its carried values stay in the ranges that they are assumed to be in (widened, then narrowed:
//! `rounds.rs`). A walk is linear in the size of the kernel, times a small number for nested loops, which
//! a budget bounds.

use super::adjacent;
use super::difference::Difference;
use super::explain::BoundExplanation;
use super::facts::{AccessFacts, ArgNumbers, LaunchNumbers, is_integer_division};
use super::range::Range;
use super::rounds::LoopState;
use super::transfer;
use crate::kernel::{Block, Inst, Kernel, ParamId, Value};
use crate::op::{Axis, Builtin, Effect, Op, WARP_SIZE};
use crate::types::{Scalar, Type};
use smallvec::SmallVec;

/// What is known of the values of a kernel, by [`Ranges::of`].
///
/// ```
/// use tilewise_ir::{Kernel, Value, analysis::{LaunchNumbers, Ranges}};
///
/// let kernel: Kernel = "
///     kernel @k() {
///       %0 = block_idx.x
///       %1 = block_dim.x
///       %2 = mul %0, %1
///       %3 = thread_idx.x
///       %4 = add %2, %3
///       return
///     }
/// ".parse()?;
/// let numbers = LaunchNumbers { grid: [4, 1, 1], block: [256, 1, 1], args: [].into_iter().collect() };
/// let ranges = Ranges::of_launch(&kernel, &numbers);
/// let range = ranges.of(Value(4)).expect("it is reached");
/// assert_eq!((range.lo(), range.hi()), (0, 1023));
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ranges {
    pub(super) values: Vec<Option<Range>>,
    pub(super) accesses: Vec<AccessFacts>,
    pub(super) divisors: Vec<bool>,
    pub(super) steps: Vec<bool>,
}

impl Ranges {
    /// Walks a kernel that [`verify`](crate::verify) accepts. Numbers that do not fit the parameters are taken as unknown.
    pub fn of_launch(kernel: &Kernel, numbers: &LaunchNumbers) -> Ranges {
        let mut walk = Walk::new(kernel, numbers);
        walk.block(&kernel.body);
        let Walk { defined: values, accesses, divisors, steps, .. } = walk;
        Ranges { values, accesses, divisors, steps }
    }

    /// The numbers that a value can be, in any lane, wherever it is computed; `None` if it never is. It says nothing of a
    /// float.
    pub fn of(&self, value: Value) -> Option<Range> {
        self.values.get(value.0 as usize).copied().flatten()
    }
}

/// How deep conditions and operands are followed.
pub(super) const DEPTH: u32 = 6;

/// How many times each operation may be walked, on average, before loops are no longer looked at closely.
const VISITS: usize = 24;

/// How many steps are searched for differences in all.
const EFFORT: usize = 20_000;

/// A walk, at some point of the kernel.
pub(super) struct Walk<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) numbers: &'a LaunchNumbers,
    /// For each value, its range at this point.
    pub(super) ranges: Vec<Range>,
    /// For each value, its range where it was defined last.
    pub(super) defined: Vec<Option<Range>>,
    /// For each value that is a result, the operation.
    pub(super) definitions: Vec<Option<&'a Inst>>,
    /// Differences that hold at this point, those of inner blocks last.
    pub(super) differences: Vec<Difference>,
    /// The ranges before this point's conditions, to go back.
    pub(super) trail: Vec<(Value, Range)>,
    /// By label.
    pub(super) loops: Vec<LoopState>,
    /// Numbers that carried values are likely to end at.
    pub(super) landmarks: Vec<i128>,
    /// How many operations may be walked yet before loops are no longer looked at closely.
    pub(super) budget: usize,
    /// How many steps may be searched for differences yet.
    pub(super) effort: usize,
    /// Numbers of the next access and the next division.
    pub(super) next: Numbering,
    pub(super) accesses: Vec<AccessFacts>,
    /// By number of the access, whether it is one of a run.
    pub(super) in_run: Vec<bool>,
    divisors: Vec<bool>,
    /// By label, whether the step of a `For` is positive.
    pub(super) steps: Vec<bool>,
    /// By number of the access, how its bounds are proved, where somebody asks; nothing for one that is not reached.
    pub(super) explained: Option<Vec<Option<Vec<BoundExplanation>>>>,
}

/// How many accesses and integer divisions there are before a point.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbering {
    pub(super) access: usize,
    division: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(kernel: &'a Kernel, numbers: &'a LaunchNumbers) -> Walk<'a> {
        let mut walk = Walk {
            kernel,
            numbers,
            ranges: kernel.values.iter().map(|ty| Range::all(ty.scalar)).collect(),
            defined: vec![None; kernel.values.len()],
            definitions: vec![None; kernel.values.len()],
            differences: Vec::new(),
            trail: Vec::new(),
            loops: Vec::new(),
            landmarks: Vec::new(),
            budget: 0,
            effort: EFFORT,
            next: Numbering::default(),
            accesses: Vec::new(),
            in_run: in_run(kernel),
            divisors: Vec::new(),
            steps: vec![true; kernel.labels as usize],
            explained: None,
        };
        walk.loops.resize_with(kernel.labels as usize, LoopState::default);
        let mut ops = 0;
        kernel.body.visit(&mut |inst| {
            ops += 1;
            if inst.op.access().is_some() {
                walk.accesses.push(walk.never_reached(inst, walk.accesses.len()));
            } else if is_integer_division(kernel, inst) {
                walk.divisors.push(true);
            }
        });
        walk.budget = VISITS * ops + 256;
        walk
    }

    // ---- what is known ----

    pub(super) fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    pub(super) fn range(&self, value: Value) -> Range {
        self.ranges[value.0 as usize]
    }

    /// Whether a range says something of values of this type.
    pub(super) fn is_integer(&self, value: Value) -> bool {
        !self.ty(value).scalar.is_float()
    }

    /// A value gets its range.
    pub(super) fn define(&mut self, value: Value, range: Range) {
        self.ranges[value.0 as usize] = range;
        self.defined[value.0 as usize] = Some(range);
    }

    // ---- blocks ----

    /// Walks a block. Gives its last operation if that is reached and control goes on behind what the block belongs to:
    /// the `Yield`. What has become known stays.
    pub(super) fn block(&mut self, block: &'a Block) -> Option<&'a Inst> {
        for (n, inst) in block.insts.iter().enumerate() {
            if !self.inst(inst) {
                block.insts[n + 1..].iter().for_each(|inst| self.skip(inst));
                return None;
            }
        }
        block.insts.last().filter(|inst| matches!(inst.op, Op::Yield))
    }

    /// Passes over an operation that is not reached.
    fn skip(&mut self, inst: &Inst) {
        if inst.op.access().is_some() {
            self.next.access += 1;
        } else if is_integer_division(self.kernel, inst) {
            self.next.division += 1;
        }
        inst.blocks.iter().for_each(|block| self.skip_block(block));
    }

    pub(super) fn skip_block(&mut self, block: &Block) {
        block.insts.iter().for_each(|inst| self.skip(inst));
    }

    /// Walks an operation. Gives whether the next one is reached.
    fn inst(&mut self, inst: &'a Inst) -> bool {
        self.budget = self.budget.saturating_sub(1);
        for &result in &inst.results {
            self.definitions[result.0 as usize] = Some(inst);
        }
        match &inst.op {
            Op::Load(_)
            | Op::Store(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..) => {
                self.access(inst);
                self.define_all(&inst.results);
                true
            }
            Op::Shuffle(_) | Op::Ballot | Op::WarpReduce(_) | Op::WarpScan(_) => {
                self.define_all(&inst.results);
                true
            }
            Op::Fence(..) | Op::Barrier | Op::WarpBarrier | Op::Print(_) => true,
            // The thread ends where the condition is false.
            Op::Assert(_) => self.assume(inst.args[0], true, DEPTH),
            Op::If => self.branch(inst),
            Op::Loop(label) => self.endless(inst, *label),
            Op::For(label) => self.counted(inst, *label),
            Op::Break(label) => {
                self.jump(*label, &inst.args, |state| &mut state.results);
                true
            }
            Op::Continue(label) => {
                self.jump(*label, &inst.args, |state| &mut state.carried);
                true
            }
            Op::Yield | Op::Return => true,
            Op::Const(_)
            | Op::Builtin(..)
            | Op::LaneId
            | Op::Scalar(_)
            | Op::Extent(..)
            | Op::Stride(..)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_) => {
                if is_integer_division(self.kernel, inst) {
                    self.divisors[self.next.division] = !self.range(inst.args[1]).contains(0);
                    self.next.division += 1;
                }
                let result = inst.results[0];
                let range = match inst.op {
                    Op::Select if self.is_integer(result) => self.select(inst),
                    _ => self.computed(inst, result),
                };
                if let (Op::Const(_) | Op::Extent(..) | Op::Scalar(_), Some(number)) =
                    (&inst.op, range.value())
                {
                    self.landmark(number);
                }
                let range = self.closer_difference(inst, range);
                self.define(result, range);
                true
            }
        }
    }

    fn define_all(&mut self, values: &[Value]) {
        for &value in values {
            self.define(value, Range::all(self.ty(value).scalar));
        }
    }

    fn landmark(&mut self, number: i128) {
        const MOST: usize = 48;
        if self.landmarks.len() < MOST && !self.landmarks.contains(&number) {
            self.landmarks.push(number);
        }
    }

    /// The range of a result from those of the operands.
    pub(super) fn computed(&self, inst: &Inst, result: Value) -> Range {
        let to = self.ty(result).scalar;
        let arg = |n: usize| self.range(inst.args[n]);
        let from = |n: usize| self.ty(inst.args[n]).scalar;
        match inst.op {
            Op::Const(constant) => constant.as_int().map_or(Range::all(to), Range::exact),
            Op::Builtin(builtin, axis) => self.builtin(builtin, axis),
            Op::LaneId => self.lane_id(),
            Op::Scalar(param) => match self.argument(param) {
                Some(ArgNumbers::Scalar(constant)) if constant.scalar == to => {
                    constant.as_int().map_or(Range::all(to), Range::exact)
                }
                _ => Range::all(to),
            },
            Op::Extent(param, dim) => self.dimension(param, dim, |numbers| match numbers {
                ArgNumbers::Tensor { extents, .. } => Some(extents),
                ArgNumbers::Scalar(_) => None,
            }),
            Op::Stride(param, dim) => self.dimension(param, dim, |numbers| match numbers {
                ArgNumbers::Tensor { strides, .. } => Some(strides),
                ArgNumbers::Scalar(_) => None,
            }),
            Op::Unary(op) => transfer::unary(op, from(0), arg(0)),
            Op::Binary(op) => transfer::binary(op, to, arg(0), arg(1)),
            Op::Compare(op) => transfer::compare(op, from(0), arg(0), arg(1)),
            Op::Select => match arg(0).value() {
                _ if to.is_float() => Range::all(to),
                Some(0) => arg(2),
                Some(_) => arg(1),
                None => arg(1).join(arg(2)),
            },
            Op::Cast(_) => transfer::cast(from(0), to, arg(0)),
            Op::Bitcast(_) => transfer::bitcast(from(0), to, arg(0)),
            Op::Splat(_) | Op::Extract(_) => arg(0),
            Op::Pack => {
                inst.args.iter().map(|&arg| self.range(arg)).reduce(Range::join).unwrap_or(Range::all(to))
            }
            Op::MulAdd
            | Op::Load(_)
            | Op::Store(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..)
            | Op::Fence(..)
            | Op::Barrier
            | Op::Shuffle(_)
            | Op::Ballot
            | Op::WarpReduce(_)
            | Op::WarpScan(_)
            | Op::WarpBarrier
            | Op::Print(_)
            | Op::Assert(_)
            | Op::If
            | Op::Loop(_)
            | Op::For(_)
            | Op::Yield
            | Op::Break(_)
            | Op::Continue(_)
            | Op::Return => Range::all(to),
        }
    }

    /// A selection, each side under its condition.
    fn select(&mut self, inst: &'a Inst) -> Range {
        let result = inst.results[0];
        let condition = inst.args[0];
        if self.range(condition).value().is_some() || self.ty(condition).lanes != 1 {
            return self.computed(inst, result);
        }
        let mut joined = None;
        for (side, truth) in [(inst.args[1], true), (inst.args[2], false)] {
            let mark = self.mark();
            if self.assume(condition, truth, DEPTH) {
                let range = self.sharpened(side, 2);
                joined = Some(joined.map_or(range, |other: Range| other.join(range)));
            }
            self.back(mark);
        }
        joined.unwrap_or_else(|| self.computed(inst, result))
    }

    /// The range of a value computed again from what is known of its operands now, which may be more than was known when
    /// it was defined: of a value that is in scope, its operands are still the same.
    pub(super) fn sharpened(&mut self, value: Value, depth: u32) -> Range {
        if let Some(inst) = self.definitions[value.0 as usize]
            && depth > 0
            && self.range(value).value().is_none()
            && self.is_integer(value)
            && is_computed(&inst.op)
        {
            for &arg in &inst.args {
                self.sharpened(arg, depth - 1);
            }
            let range = self.computed(inst, value);
            self.learn(value, range);
        }
        self.range(value)
    }

    pub(super) fn argument(&self, param: ParamId) -> Option<&'a ArgNumbers> {
        self.numbers.args.get(param.0 as usize)
    }

    fn dimension(
        &self,
        param: ParamId,
        dim: u8,
        of: impl FnOnce(&'a ArgNumbers) -> Option<&'a SmallVec<[u64; 4]>>,
    ) -> Range {
        let number = self.argument(param).and_then(of).and_then(|numbers| numbers.get(usize::from(dim)));
        number.map_or(Range::all(Scalar::Index), |&number| Range::exact(number.into()))
    }

    fn builtin(&self, builtin: Builtin, axis: Axis) -> Range {
        let axis = match axis {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        };
        let (block, grid) = (i128::from(self.numbers.block[axis]), i128::from(self.numbers.grid[axis]));
        let below = |n| Range::interval(0, n - 1).unwrap_or(Range::exact(0));
        match builtin {
            Builtin::ThreadIdx => below(block),
            Builtin::BlockIdx => below(grid),
            Builtin::BlockDim => Range::exact(block),
            Builtin::GridDim => Range::exact(grid),
        }
    }

    fn lane_id(&self) -> Range {
        let threads: i128 = self.numbers.block.iter().map(|&n| i128::from(n)).product();
        Range::interval(0, threads.min(WARP_SIZE.into()) - 1).unwrap_or(Range::exact(0))
    }

    // ---- structures ----

    fn branch(&mut self, inst: &'a Inst) -> bool {
        let condition = inst.args[0];
        let mark = self.mark();
        let mut results: Option<SmallVec<[Range; 4]>> = None;
        // What is known at the end of one block stays if the other does not reach its end.
        let mut first = None;
        for (n, (block, truth)) in inst.blocks.iter().zip([true, false]).enumerate() {
            if !self.assume(condition, truth, DEPTH) {
                self.back(mark);
                self.skip_block(block);
                continue;
            }
            let end = self.block(block);
            let is_only_one = end.is_some() && n == 1 && results.is_none();
            if let Some(end) = end {
                join_all(&mut results, end.args.iter().map(|&arg| self.range(arg)));
                if n == 0 && !ends_with_yield(&inst.blocks[1]) {
                    first = Some(self.knowledge(mark));
                }
            }
            if !is_only_one {
                self.back(mark);
            }
        }
        let Some(results) = results else { return false };
        if let Some(first) = first {
            self.know(first);
        }
        for (&result, range) in inst.results.iter().zip(results) {
            self.define(result, range);
        }
        true
    }
}

/// Joins ranges with those that there are.
pub(super) fn join_all(to: &mut Option<SmallVec<[Range; 4]>>, ranges: impl Iterator<Item = Range>) {
    match to {
        Some(to) => to.iter_mut().zip(ranges).for_each(|(to, range)| *to = to.join(range)),
        None => *to = Some(ranges.collect()),
    }
}

fn ends_with_yield(block: &Block) -> bool {
    block.insts.last().is_some_and(|inst| matches!(inst.op, Op::Yield))
}

/// Whether the result is a function of the operands and the thread alone.
pub(super) fn is_computed(op: &Op) -> bool {
    matches!(op.effect(), Effect::Pure | Effect::Fault)
}

/// By number of the access, whether it is one of a [run](adjacent::Run), up to the last one that is.
fn in_run(kernel: &Kernel) -> Vec<bool> {
    let mut in_run = Vec::new();
    for access in adjacent::runs(kernel).into_iter().flat_map(|run| run.accesses) {
        if in_run.len() <= access {
            in_run.resize(access + 1, false);
        }
        in_run[access] = true;
    }
    in_run
}
