//! Coalescing: threads that each go through a tile of their own go through the tiles of their block together.
//!
//! ```text
//! %start = mul %thread, 8                     %own = mul %thread, 2
//! for ^0 %k = 0 to 8 step 1 {                 for ^1 %k = 0 to 512 step 128 {
//!     %i = add %start, %k                         %i = add %own, %k
//!     %x = load %a[%i]                            %x = load %a[%i]
//!     %y = mul %x, %x                             %y = mul %x, %x
//!     store %out[%i], %y                =>        store %out[%i], %y
//!     continue ^0                                 %i.1 = add %i, 1
//! }                                               %x.1 = load %a[%i.1]
//!                                                 %y.1 = mul %x.1, %x.1
//!                                                 store %out[%i.1], %y.1
//!                                                 continue ^1
//!                                             }
//! ```
//!
//! (64 threads, elements of 8 bytes.) In each round the threads of a warp then access neighbouring elements, [`BYTES`] each, which
//! is what GPUs are made for: a warp reads lines of memory whole. Thread by thread, each access of a warp touches 32 lines, of
//! which the rest has to stay in the cache until its turn comes.
//!
//! **Which.** The blocks of the launch are known, and have one axis. A `For` at the top of the kernel, where all threads come, with
//! a constant number of rounds, that carries nothing. Its body is plain operations and accesses to tensors that can be no
//! fault, and depends on the thread and the round through *elements* alone: offsets `u + m * (rounds * thread + round)`, with `u`
//! the same for all threads of a block. So the block goes through a range of elements, each of its threads through as many, one
//! after the other, and no two threads through the same. What it writes, it writes to such elements; nothing else in the kernel
//! accesses what it writes, or orders memory between threads.
//!
//! **Why it is right.** What a round does depends on its element alone: on values that are the same in all threads, on memory that
//! nobody writes, and on what is written at the same element. So it does not matter which thread does it, and when. All elements
//! of a block are done as before, each once: the map from thread and round to elements is one to one, before and after.

use super::constants::{Constants, Prologue};
use super::effects;
use super::rewrite::{Copier, Substitution};
use super::uses::LabelCounts;
use crate::analysis::uniform::{Ended, Uniform, ends_early};
use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{Access, Axis, BinaryOp, Builtin, Effect, Label, Op};
use crate::span::Span;
use crate::types::{Const, Type};
use rustc_hash::FxHashMap;

/// The bytes of neighbouring elements that a thread accesses in a round: as many as one instruction of a GPU can.
pub const BYTES: usize = 16;

/// The most operations of a body, and of the copies of it that a round becomes.
const MAX_OPS: usize = 128;

/// How deep offsets are taken apart.
const DEPTH: usize = 32;

/// Whether the pass may change what a launch makes of the kernel: a quick look, before anything is decided.
pub fn may_apply(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.body.visit(&mut |inst| {
        found |= matches!(inst.op, Op::For(_))
            && inst.args.len() == 3
            && inst.contains(|op| matches!(op, Op::Store(Access { mem: MemRef::Param(_), .. })));
    });
    found && !orders_threads(kernel)
}

/// Runs the pass for blocks of so many threads, all along x; gives whether the kernel has changed.
///
/// ```
/// use tilewise_ir::{Kernel, pass};
///
/// let mut kernel: Kernel = "
///     kernel @square(%a: tensor<u64, 1>, %out: tensor<u64, 1, mut>) {
///       %0 = const index 0
///       %1 = const index 1
///       %2 = const index 8
///       %3 = thread_idx.x
///       %4 = mul %3, %2
///       for ^0 %5 = %0 to %2 step %1 {
///         %6 = add %4, %5
///         %7 = load %a[%6] : u64
///         %8 = mul %7, %7
///         store %out[%6], %8
///         continue ^0
///       }
///       return
///     }
/// ".parse()?;
/// assert!(pass::coalesce::run(&mut kernel, 64));
/// pass::optimize(&mut kernel);
/// assert!(kernel.to_string().contains("const index 128")); // from round to round
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn run(kernel: &mut Kernel, threads: u32) -> bool {
    if threads < 2 || ends_early(kernel) || !may_apply(kernel) {
        return false;
    }
    let constants = Constants::of(kernel);
    let labels = LabelCounts::of(kernel);
    let uniform = Uniform::analyze(kernel, Ended::Gone, Some([threads, 1, 1]));
    let mut body = std::mem::take(&mut kernel.body);
    let plans: Vec<Option<Plan>> = {
        let search = Search::new(kernel, &constants, &uniform, &body);
        body.insts.iter().map(|inst| search.plan(inst, &labels, threads)).collect()
    };
    let changed = plans.iter().any(Option::is_some);
    if changed {
        let mut prologue = Prologue::take(&mut body);
        let taken = prologue.insts().len();
        let insts = std::mem::take(&mut body.insts);
        for (inst, plan) in insts.into_iter().zip(plans.into_iter().skip(taken)) {
            match plan {
                None => body.insts.push(inst),
                Some(plan) => {
                    let mut writer = Writer { kernel, prologue: &mut prologue, threads };
                    body.insts.extend(writer.write(&inst, &plan));
                }
            }
        }
        prologue.put(&mut body);
    }
    kernel.body = body;
    changed
}

/// Whether a kernel orders memory between threads, or shows in another way who does what when.
fn orders_threads(kernel: &Kernel) -> bool {
    let mut orders = false;
    kernel.body.visit(&mut |inst| {
        let is_atomic = inst.op.access().is_some() && !matches!(inst.op, Op::Load(_) | Op::Store(_));
        orders |= is_atomic || matches!(inst.op.effect(), Effect::Sync | Effect::Output);
    });
    orders
}

/// How many accesses of each memory a block has.
fn accesses(block: &Block) -> FxHashMap<MemRef, usize> {
    let mut accesses = FxHashMap::default();
    block.visit(&mut |inst| {
        if let Some(access) = inst.op.access() {
            *accesses.entry(access.mem).or_insert(0) += 1;
        }
    });
    accesses
}

/// By how much an offset grows with the number of the thread, and with the counter of the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slopes {
    thread: i128,
    counter: i128,
}

impl Slopes {
    const NONE: Slopes = Slopes { thread: 0, counter: 0 };

    fn plus(self, other: Slopes, times: i128) -> Option<Slopes> {
        let sum = |a: i128, b: i128| small(a.checked_add(b.checked_mul(times)?)?);
        Some(Slopes { thread: sum(self.thread, other.thread)?, counter: sum(self.counter, other.counter)? })
    }
}

/// Numbers that products cannot leave.
fn small(number: i128) -> Option<i128> {
    (number.abs() <= i64::MAX.into()).then_some(number)
}

/// What a value in the loop depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Neither thread nor round.
    Fixed,
    /// Both, through the element alone.
    Element,
    /// What only serves to compute elements.
    Other,
}

/// What is to become of a loop.
#[derive(Debug)]
struct Plan {
    /// The elements that are computed from what depends on the thread or the round in other ways.
    roots: Vec<Value>,
    /// What the roots are computed by: of the loop, and of what is before it as far as it depends on the thread.
    chain: FxHashMap<Value, Inst>,
    /// What the new loop does not copy: of its operations, by position.
    dropped: Vec<bool>,
    written: Vec<MemRef>,
    first: i128,
    rounds: i128,
    /// Elements from one round to the next.
    stride: i128,
    /// How many neighbouring rounds become one.
    width: i128,
}

/// Looks at loops.
struct Search<'a> {
    kernel: &'a Kernel,
    constants: &'a Constants,
    uniform: &'a Uniform,
    /// What computes each value at the top of the kernel.
    definitions: FxHashMap<Value, &'a Inst>,
    /// How many accesses of each memory there are.
    accesses: FxHashMap<MemRef, usize>,
}

impl<'a> Search<'a> {
    fn new(kernel: &'a Kernel, constants: &'a Constants, uniform: &'a Uniform, body: &'a Block) -> Self {
        let results =
            body.insts.iter().flat_map(|inst| inst.results.iter().map(move |&result| (result, inst)));
        let definitions = results.collect();
        Search { kernel, constants, uniform, definitions, accesses: accesses(body) }
    }

    fn plan(&self, inst: &Inst, labels: &LabelCounts, threads: u32) -> Option<Plan> {
        let Op::For(label) = inst.op else { return None };
        let [lo, hi, step] = inst.args[..] else { return None };
        if self.kernel.ty(lo) != Type::INDEX || labels.breaks(label) + labels.continues(label) != 1 {
            return None;
        }
        let (lo, hi, step) = (self.constants.int(lo)?, self.constants.int(hi)?, self.constants.int(step)?);
        if step <= 0 || hi <= lo {
            return None;
        }
        let rounds = small((hi - lo + step - 1) / step).filter(|&rounds| rounds > 1)?;
        let (last, insts) = inst.blocks[0].insts.split_last()?;
        let is_short = insts.len() <= MAX_OPS;
        if last.op != Op::Continue(label) || !is_short || !insts.iter().all(|inst| self.is_plain(inst)) {
            return None;
        }
        let written = self.written(&inst.blocks[0])?;

        let mut slopes = FxHashMap::default();
        slopes.insert(inst.blocks[0].params[0], Some(Slopes { thread: 0, counter: 1 }));
        for inst in insts {
            if let Some(result) = inst.result() {
                slopes.insert(result, self.computed(inst, &slopes));
            }
        }
        let slopes: FxHashMap<Value, Slopes> =
            slopes.into_iter().filter_map(|(value, slopes)| Some((value, slopes?))).collect();
        let is_element = |of: Slopes| of.counter > 0 && of.thread == of.counter * step * rounds;
        let stored = insts.iter().find(|inst| matches!(inst.op, Op::Store(_)))?;
        let element = *slopes.get(&stored.args[0]).filter(|&&of| is_element(of))?;
        let stride = small(element.counter * step)?;
        small(stride * rounds * i128::from(threads))?;
        let mut plan = Plan {
            roots: Vec::new(),
            chain: FxHashMap::default(),
            dropped: vec![false; insts.len()],
            written,
            first: lo,
            rounds,
            stride,
            width: 1,
        };
        self.classify(insts, &slopes, element, &mut plan)?;
        self.check_accesses(insts, &slopes, element, &plan)?;
        let inner: FxHashMap<Value, &Inst> =
            insts.iter().filter_map(|inst| Some((inst.result()?, inst))).collect();
        for root in plan.roots.clone() {
            self.collect(root, &inner, &mut plan.chain);
        }
        plan.width = self.width(insts, &plan);
        // A tile that one access can hold is fine as it is.
        (plan.rounds > plan.width).then_some(plan)
    }

    /// Whether a loop may have the operation: it is pure, or a plain access to a tensor that can be no fault.
    fn is_plain(&self, inst: &Inst) -> bool {
        let is_access = match &inst.op {
            Op::Load(access) | Op::Store(access) => {
                matches!(access.mem, MemRef::Param(_)) && access.bounds.is_empty()
            }
            _ => false,
        };
        let is_pure = || effects::effect(self.kernel, self.constants, inst) == Effect::Pure;
        inst.blocks.is_empty() && (is_access || is_pure())
    }

    /// The tensors that are written, if nothing else accesses them, and what is read besides nobody writes.
    fn written(&self, body: &Block) -> Option<Vec<MemRef>> {
        let inner = accesses(body);
        let mut written = Vec::new();
        for inst in &body.insts {
            if let Op::Store(access) = &inst.op
                && !written.contains(&access.mem)
            {
                written.push(access.mem);
            }
        }
        let is_own = |&mem: &MemRef| {
            let others = self.accesses.iter().filter(|&(&other, _)| self.kernel.may_be_same(mem, other));
            others.map(|(_, count)| count).sum::<usize>() == inner.get(&mem).copied().unwrap_or(0)
        };
        let is_fine = |mem: &MemRef| written.contains(mem) || self.kernel.is_constant_memory(*mem);
        (written.iter().all(is_own) && inner.keys().all(is_fine)).then_some(written)
    }

    /// The slopes of what an operation of the loop computes, if it is a sum of multiples of the thread, the counter, and what
    /// depends on neither. `inner` has those of what is in the loop.
    fn computed(&self, inst: &Inst, inner: &FxHashMap<Value, Option<Slopes>>) -> Option<Slopes> {
        self.combine(inst, |value| match inner.get(&value) {
            Some(&slopes) => slopes,
            None => self.outer(value, DEPTH),
        })
    }

    fn combine(&self, inst: &Inst, of: impl Fn(Value) -> Option<Slopes>) -> Option<Slopes> {
        if let Op::Const(_) = inst.op {
            return Some(Slopes::NONE);
        }
        let (&Op::Binary(op), &[a, b]) = (&inst.op, &inst.args[..]) else { return None };
        if self.kernel.ty(a) != Type::INDEX {
            return None;
        }
        let (of_a, of_b) = (of(a)?, of(b)?);
        let times = |slopes: Slopes, factor: Value| match self.constants.int(factor) {
            Some(factor) => Slopes::NONE.plus(slopes, small(factor)?),
            None => (slopes == Slopes::NONE).then_some(slopes),
        };
        match op {
            BinaryOp::Add => of_a.plus(of_b, 1),
            BinaryOp::Sub => of_a.plus(of_b, -1),
            BinaryOp::Mul if of_b == Slopes::NONE => times(of_a, b),
            BinaryOp::Mul if of_a == Slopes::NONE => times(of_b, a),
            BinaryOp::Shl if of_b == Slopes::NONE => match self.constants.int(b) {
                Some(by) if (0..32).contains(&by) => Slopes::NONE.plus(of_a, 1 << by),
                _ => (of_a == Slopes::NONE).then_some(of_a),
            },
            _ => None,
        }
    }

    /// The slopes of a value from before the loop.
    fn outer(&self, value: Value, depth: usize) -> Option<Slopes> {
        if !self.uniform.varies(value) {
            return Some(Slopes::NONE);
        }
        let (inst, depth) = (*self.definitions.get(&value)?, depth.checked_sub(1)?);
        match inst.op {
            Op::Builtin(Builtin::ThreadIdx, Axis::X) => Some(Slopes { thread: 1, counter: 0 }),
            // The blocks have one axis.
            Op::Builtin(Builtin::ThreadIdx, _) => Some(Slopes::NONE),
            _ => self.combine(inst, |value| self.outer(value, depth)),
        }
    }

    /// Collects what a value is computed by.
    fn collect(&self, value: Value, inner: &FxHashMap<Value, &Inst>, chain: &mut FxHashMap<Value, Inst>) {
        let found = match inner.get(&value) {
            Some(&inst) => Some(inst),
            None => self.definitions.get(&value).copied().filter(|_| self.uniform.varies(value)),
        };
        if let Some(inst) = found
            && chain.insert(value, inst.clone()).is_none()
        {
            inst.args.iter().for_each(|&arg| self.collect(arg, inner, chain));
        }
    }

    /// Finds the roots, and what need not be copied. `None` if something that counts depends on the thread or the round in another
    /// way than through the element.
    fn classify(
        &self,
        insts: &[Inst],
        slopes: &FxHashMap<Value, Slopes>,
        element: Slopes,
        plan: &mut Plan,
    ) -> Option<()> {
        let mut kinds: FxHashMap<Value, Kind> = FxHashMap::default();
        for (inst, dropped) in insts.iter().zip(&mut plan.dropped) {
            let kind = |&arg: &Value| match kinds.get(&arg) {
                Some(&kind) => kind,
                // The counter, which is the one value of the loop that no operation gives.
                None if slopes.get(&arg).is_some_and(|&of| of != Slopes::NONE) => Kind::Other,
                None if self.uniform.varies(arg) => Kind::Other,
                None => Kind::Fixed,
            };
            let has = |wanted| inst.args.iter().any(|arg| kind(arg) == wanted);
            let Some(result) = inst.result() else {
                // A store.
                if has(Kind::Other) {
                    return None;
                }
                continue;
            };
            let found = match slopes.get(&result) {
                _ if inst.op.access().is_some() && has(Kind::Other) => return None,
                Some(&of) if of == element => {
                    if has(Kind::Other) {
                        plan.roots.push(result);
                        *dropped = true;
                    }
                    Kind::Element
                }
                _ if has(Kind::Other) => {
                    *dropped = true;
                    Kind::Other
                }
                _ if has(Kind::Element) || inst.op.access().is_some() => Kind::Element,
                _ => Kind::Fixed,
            };
            kinds.insert(result, found);
        }
        Some(())
    }

    /// What is written, and what is read of that, is at one element, and reaches no other.
    fn check_accesses(
        &self,
        insts: &[Inst],
        slopes: &FxHashMap<Value, Slopes>,
        element: Slopes,
        plan: &Plan,
    ) -> Option<()> {
        let mut places: FxHashMap<MemRef, Value> = FxHashMap::default();
        for inst in insts {
            let Some(access) = inst.op.access().filter(|access| plan.written.contains(&access.mem)) else {
                continue;
            };
            let place = inst.args[0];
            let is_same = *places.entry(access.mem).or_insert(place) == place;
            let is_element = slopes.get(&place) == Some(&element);
            if !is_same || !is_element || self.elements(inst)? > plan.stride {
                return None;
            }
        }
        Some(())
    }

    /// How many elements of its tensor an access touches.
    fn elements(&self, inst: &Inst) -> Option<i128> {
        let access = inst.op.access()?;
        let elem = self.kernel.mem_elem(access.mem)?;
        Some(if elem.lanes > 1 { 1 } else { self.accessed(inst)?.lanes.into() })
    }

    /// The type of what is loaded or stored.
    fn accessed(&self, inst: &Inst) -> Option<Type> {
        match inst.op {
            Op::Load(_) => inst.result().map(|result| self.kernel.ty(result)),
            _ => inst.args.get(1).map(|&value| self.kernel.ty(value)),
        }
    }

    /// How many rounds are to become one, so that a thread accesses [`BYTES`] of neighbours in it.
    fn width(&self, insts: &[Inst], plan: &Plan) -> i128 {
        let accesses = || insts.iter().filter(|inst| inst.op.access().is_some());
        // Only rounds whose elements leave no gap can be accessed at once.
        let touch = accesses().filter(|inst| matches!(inst.op, Op::Store(_)));
        if touch.clone().any(|inst| self.elements(inst) != Some(plan.stride)) {
            return 1;
        }
        let widest = accesses().filter_map(|inst| self.accessed(inst)).map(Type::size).max().unwrap_or(BYTES);
        let ops = insts.iter().zip(&plan.dropped).filter(|&(_, dropped)| !dropped).count() + plan.roots.len();
        let mut width = 1;
        while 2 * width * widest <= BYTES
            && plan.rounds % (2 * width as i128) == 0
            && 2 * width * ops <= MAX_OPS
        {
            width *= 2;
        }
        width as i128
    }
}

/// Writes the new loop.
struct Writer<'a> {
    kernel: &'a mut Kernel,
    prologue: &'a mut Prologue,
    threads: u32,
}

impl Writer<'_> {
    /// The operations that stand in for a loop.
    fn write(&mut self, inst: &Inst, plan: &Plan) -> Vec<Inst> {
        let block = &inst.blocks[0];
        let Some((last, insts)) = block.insts.split_last() else { return Vec::new() };
        let mut out = Vec::new();

        // Where the thread's first element is.
        let thread = self.new_index();
        out.push(Inst::new(Op::Builtin(Builtin::ThreadIdx, Axis::X), [], [thread], inst.span));
        let own = self.index(plan.width * plan.stride);
        let own = self.binary(BinaryOp::Mul, thread, own, inst.span, &mut out);
        let mut origins = FxHashMap::default();
        origins.insert(block.params[0], self.index(plan.first));
        let starts: Vec<Value> = plan
            .roots
            .iter()
            .map(|&root| {
                let start = self.origin(root, plan, &mut origins, &mut out);
                self.binary(BinaryOp::Add, start, own, inst.span, &mut out)
            })
            .collect();

        let label = self.kernel.new_label();
        let body = self.body(insts, last.span, label, plan, &starts);
        let all = plan.rounds * plan.stride * i128::from(self.threads);
        let [zero, end, step] = [0, all, all / (plan.rounds / plan.width)].map(|number| self.index(number));
        let mut new = Inst::new(Op::For(label), [zero, end, step], [], inst.span);
        new.blocks.push(body);
        out.push(new);
        out
    }

    fn body(&mut self, insts: &[Inst], end: Span, label: Label, plan: &Plan, starts: &[Value]) -> Block {
        let counter = self.new_index();
        let mut copier = Copier::new(Substitution::new(self.kernel));
        let mut out = Vec::new();
        let mut firsts = FxHashMap::default();
        for lane in 0..plan.width {
            for (position, (inst, &dropped)) in insts.iter().zip(&plan.dropped).enumerate() {
                let root = inst.result().and_then(|r| plan.roots.iter().position(|&root| root == r));
                if let Some(root) = root {
                    let element = match firsts.get(&position) {
                        None => self.binary(BinaryOp::Add, starts[root], counter, inst.span, &mut out),
                        Some(&first) => {
                            let by = self.index(lane * plan.stride);
                            self.binary(BinaryOp::Add, first, by, inst.span, &mut out)
                        }
                    };
                    firsts.entry(position).or_insert(element);
                    copier.values.set(plan.roots[root], element);
                } else if !dropped {
                    out.extend(copier.copy_insts(self.kernel, std::slice::from_ref(inst)));
                }
            }
        }
        out.push(Inst::new(Op::Continue(label), [], [], end));
        Block { params: vec![counter], insts: out }
    }

    /// What a value is in the first thread and the first round; `known` has what was asked for before.
    fn origin(
        &mut self,
        value: Value,
        plan: &Plan,
        known: &mut FxHashMap<Value, Value>,
        out: &mut Vec<Inst>,
    ) -> Value {
        if let Some(&origin) = known.get(&value) {
            return origin;
        }
        let origin = match plan.chain.get(&value) {
            None => value,
            Some(inst) if matches!(inst.op, Op::Builtin(Builtin::ThreadIdx, _)) => self.index(0),
            Some(inst) => {
                let args: Vec<Value> =
                    inst.args.iter().map(|&arg| self.origin(arg, plan, known, out)).collect();
                let result = self.new_index();
                out.push(Inst::new(inst.op.clone(), args, [result], inst.span));
                result
            }
        };
        known.insert(value, origin);
        origin
    }

    fn index(&mut self, number: i128) -> Value {
        self.prologue.value(self.kernel, Const::int(Type::INDEX.scalar, number), Type::INDEX)
    }

    fn new_index(&mut self) -> Value {
        self.kernel.new_value(Type::INDEX)
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value, span: Span, out: &mut Vec<Inst>) -> Value {
        let result = self.new_index();
        out.push(Inst::new(Op::Binary(op), [a, b], [result], span));
        result
    }
}
