//! A reference evaluator: one thread, straight down the tree of blocks, one operation after the other.
//!
//! It stands for a thread among others: at each barrier, fence and atomic operation, all memory that others could
//! write to changes in a fixed, unpredictable way. So a pass that keeps a value across them is found out.
//!
//! Which NaN an operation gives is open. Arithmetic here gives one and the same, moves keep the bits, and whatever is
//! seen from outside has one NaN for all.

use super::arithmetic;
use super::random::mix;
use std::collections::BTreeSet;
use tilewise_ir::{
    AtomicOp, Axis, BinaryOp, Block, Builtin, Inst, Kernel, Label, MemRef, Op, ParamKind, Scalar, Space,
    Type, Value,
};

/// What is passed for a parameter.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// The bits of a scalar.
    Scalar(u64),
    /// A tensor: which of the buffers, and its extents, row by row.
    Tensor(usize, Vec<u64>),
}

/// What a thread gets and what it leaves.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// For each parameter.
    pub(crate) args: Vec<Arg>,
    /// The bits of the elements of each buffer.
    pub(crate) buffers: Vec<Vec<u64>>,
    /// Index of the thread, by axis; block indices and dimensions follow from it.
    pub(crate) thread: [u64; 3],
    /// How many operations to run at most.
    pub(crate) steps: u64,
}

/// What can go wrong at an operation. The position tells operations apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A load or atomic out of bounds.
    Read(u32),
    /// A store or atomic out of bounds.
    Write(u32),
    /// A division by zero.
    Division(u32),
    /// A step that is not positive.
    Step(u32),
    /// An assertion that failed.
    Assertion(u32),
}

impl Fault {
    /// Whether an optimiser may drop it, if the result of the operation is not used.
    #[allow(dead_code, reason = "for the tests of passes")]
    pub(crate) fn may_vanish(self) -> bool {
        matches!(self, Fault::Read(_) | Fault::Division(_))
    }
}

/// What a thread has done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The buffers at the end.
    pub(crate) buffers: Vec<Vec<u64>>,
    /// The faults, each once.
    pub(crate) faults: BTreeSet<Fault>,
    /// What was printed: the bits of the arguments.
    pub(crate) printed: Vec<Vec<Vec<u64>>>,
    /// How many operations were run.
    pub(crate) steps: u64,
}

/// Runs a kernel. `None` if it takes more steps than allowed.
///
/// # Panics
///
/// If the kernel is wrong: an access outside its memory that no bounds caught, or what the verifier forbids.
#[allow(dead_code, reason = "the tests of facts observe every run")]
pub(crate) fn run(kernel: &Kernel, launch: &Launch) -> Option<Outcome> {
    run_observed(kernel, launch, &mut Unobserved)
}

/// Sees what a thread does, and may change the values that it computes.
pub(crate) trait Observer {
    /// A value gets these lanes.
    fn value(&mut self, value: Value, lanes: &mut [u64]);
    /// An operation without blocks is about to be done, on these operands.
    fn operation(&mut self, inst: &Inst, operands: &dyn Fn(usize) -> Vec<u64>);
}

/// Nobody looks.
#[allow(dead_code, reason = "for `run`")]
struct Unobserved;

impl Observer for Unobserved {
    fn value(&mut self, _: Value, _: &mut [u64]) {}
    fn operation(&mut self, _: &Inst, _: &dyn Fn(usize) -> Vec<u64>) {}
}

/// [`run`], with an observer.
pub(crate) fn run_observed(kernel: &Kernel, launch: &Launch, observer: &mut dyn Observer) -> Option<Outcome> {
    let mut thread = Thread {
        observer,
        kernel,
        launch,
        values: vec![Vec::new(); kernel.values.len()],
        buffers: launch.buffers.clone(),
        allocs: kernel
            .allocs
            .iter()
            .map(|alloc| vec![0; alloc.len as usize * usize::from(alloc.elem.lanes)])
            .collect(),
        faults: BTreeSet::new(),
        printed: Vec::new(),
        disturbances: 0,
        steps: 0,
    };
    match thread.block(&kernel.body) {
        Exit::OutOfSteps => None,
        Exit::Return => Some(Outcome {
            buffers: thread.canonical_buffers(),
            faults: thread.faults,
            printed: thread.printed,
            steps: thread.steps,
        }),
        exit => panic!("the body ended with {exit:?}"),
    }
}

/// How a block ended.
#[derive(Debug)]
enum Exit {
    Yield(Vec<Vec<u64>>),
    Break(Label, Vec<Vec<u64>>),
    Continue(Label, Vec<Vec<u64>>),
    Return,
    OutOfSteps,
}

struct Thread<'k> {
    observer: &'k mut dyn Observer,
    kernel: &'k Kernel,
    launch: &'k Launch,
    values: Vec<Vec<u64>>,
    buffers: Vec<Vec<u64>>,
    allocs: Vec<Vec<u64>>,
    faults: BTreeSet<Fault>,
    printed: Vec<Vec<Vec<u64>>>,
    disturbances: u64,
    steps: u64,
}

impl Thread<'_> {
    fn block(&mut self, block: &Block) -> Exit {
        for inst in &block.insts {
            self.steps += 1;
            if self.steps > self.launch.steps {
                return Exit::OutOfSteps;
            }
            match inst.op {
                Op::If => match self.block(&inst.blocks[usize::from(self.bit(inst.args[0]) == 0)]) {
                    Exit::Yield(values) => self.define(inst, values),
                    exit => return exit,
                },
                Op::Loop(label) => match self.repeat(inst, label) {
                    Exit::Break(target, values) if target == label => self.define(inst, values),
                    exit => return exit,
                },
                Op::For(label) => match self.count(inst, label) {
                    Exit::Break(target, values) if target == label => self.define(inst, values),
                    exit => return exit,
                },
                Op::Yield => return Exit::Yield(self.args(inst)),
                Op::Break(label) => return Exit::Break(label, self.args(inst)),
                Op::Continue(label) => return Exit::Continue(label, self.args(inst)),
                Op::Return => return Exit::Return,
                Op::Assert(_) if self.bit(inst.args[0]) == 0 => {
                    self.faults.insert(Fault::Assertion(inst.span.0));
                    return Exit::Return;
                }
                _ => self.inst(inst),
            }
        }
        panic!("a block without terminator");
    }

    /// The buffers, with one NaN for all.
    fn canonical_buffers(&mut self) -> Vec<Vec<u64>> {
        for (param, arg) in self.kernel.params.iter().zip(&self.launch.args) {
            if let (&ParamKind::Tensor { elem, .. }, Arg::Tensor(buffer, _)) = (&param.kind, arg) {
                for place in &mut self.buffers[*buffer] {
                    *place = arithmetic::canonical(elem, *place);
                }
            }
        }
        std::mem::take(&mut self.buffers)
    }

    fn repeat(&mut self, inst: &Inst, label: Label) -> Exit {
        let mut carried = self.args(inst);
        loop {
            for (&param, value) in inst.blocks[0].params.iter().zip(carried) {
                self.set(param, value);
            }
            match self.block(&inst.blocks[0]) {
                Exit::Continue(target, values) if target == label => carried = values,
                exit => return exit,
            }
        }
    }

    fn count(&mut self, inst: &Inst, label: Label) -> Exit {
        self.observe(inst);
        let scalar = self.kernel.ty(inst.args[0]).scalar;
        let [lo, hi, step] = [0, 1, 2].map(|i| signed(scalar, self.bit(inst.args[i])));
        let mut carried = self.args(inst).split_off(3);
        if step <= 0 {
            self.faults.insert(Fault::Step(inst.span.0));
            return Exit::Break(label, carried);
        }
        let mut i = lo;
        while i < hi {
            let counter = vec![tilewise_ir::Const::int(scalar, i).bits];
            for (&param, value) in inst.blocks[0].params.iter().zip(std::iter::once(counter).chain(carried)) {
                self.set(param, value);
            }
            match self.block(&inst.blocks[0]) {
                Exit::Continue(target, values) if target == label => carried = values,
                exit => return exit,
            }
            i += step;
        }
        Exit::Break(label, carried)
    }

    fn args(&self, inst: &Inst) -> Vec<Vec<u64>> {
        inst.args.iter().map(|&arg| self.get(arg).to_vec()).collect()
    }

    fn get(&self, value: Value) -> &[u64] {
        let lanes = &self.values[value.0 as usize];
        assert_eq!(lanes.len(), usize::from(self.kernel.ty(value).lanes), "{value:?} is not defined");
        lanes
    }

    /// The bits of the first lane.
    fn bit(&self, value: Value) -> u64 {
        self.get(value)[0]
    }

    fn define(&mut self, inst: &Inst, values: Vec<Vec<u64>>) {
        assert_eq!(inst.results.len(), values.len());
        for (&result, value) in inst.results.iter().zip(values) {
            assert_eq!(value.len(), usize::from(self.kernel.ty(result).lanes));
            self.set(result, value);
        }
    }

    fn set(&mut self, value: Value, mut lanes: Vec<u64>) {
        self.observer.value(value, &mut lanes);
        self.values[value.0 as usize] = lanes;
    }

    /// Tells the observer of an operation that is about to be carried out.
    fn observe(&mut self, inst: &Inst) {
        let (values, operand) = (&self.values, |n: usize| inst.args[n].0 as usize);
        self.observer.operation(inst, &|n| values[operand(n)].clone());
    }

    fn inst(&mut self, inst: &Inst) {
        self.observe(inst);
        if inst.op.access().is_some() {
            return self.access(inst);
        }
        let ty = inst.result().map_or(Type::BOOL, |result| self.kernel.ty(result));
        let lanes: Vec<u64> = match &inst.op {
            Op::Const(constant) => vec![constant.bits],
            Op::Builtin(builtin, axis) => vec![self.builtin(*builtin, *axis)],
            Op::Scalar(param) => match self.launch.args[param.0 as usize] {
                Arg::Scalar(bits) => vec![bits],
                Arg::Tensor(..) => panic!("a tensor is no scalar"),
            },
            Op::Extent(param, dim) => vec![self.extents(param.0)[usize::from(*dim)]],
            Op::Stride(param, dim) => vec![self.extents(param.0)[usize::from(*dim) + 1..].iter().product()],
            Op::Splat(lanes) => vec![self.bit(inst.args[0]); usize::from(*lanes)],
            Op::Pack => inst.args.iter().map(|&arg| self.bit(arg)).collect(),
            Op::Extract(lane) => vec![self.get(inst.args[0])[usize::from(*lane)]],
            Op::Fence(..) | Op::Barrier | Op::WarpBarrier => return self.disturb(),
            Op::LaneId => vec![(self.launch.thread[0] + 8 * self.launch.thread[1]) % 32],
            // What other lanes have is open, so it is something that follows from what this one has.
            Op::Shuffle(_) => vec![self.of_another_lane(inst, self.bit(inst.args[1]))],
            Op::Ballot => vec![mix(self.bit(inst.args[0])) & u64::from(u32::MAX)],
            Op::WarpReduce(op) | Op::WarpScan(op) => {
                let scalar = self.kernel.ty(inst.args[0]).scalar;
                let other = self.of_another_lane(inst, 1);
                vec![
                    arithmetic::binary(*op, scalar, self.bit(inst.args[0]), other)
                        .expect("lanes are not combined by division"),
                ]
            }
            Op::Print(_) => {
                let printed = inst.args.iter().map(|&arg| {
                    let scalar = self.kernel.ty(arg).scalar;
                    self.get(arg).iter().map(|&bits| arithmetic::canonical(scalar, bits)).collect()
                });
                let printed = printed.collect();
                return self.printed.push(printed);
            }
            Op::Assert(_) => return,
            _ => (0..usize::from(ty.lanes)).map(|lane| self.lane(inst, ty, lane)).collect(),
        };
        self.define(inst, vec![lanes]);
    }

    /// What another lane of the warp may have for the first operand.
    fn of_another_lane(&self, inst: &Inst, number: u64) -> u64 {
        let scalar = self.kernel.ty(inst.args[0]).scalar;
        let bits = arithmetic::canonical(scalar, self.bit(inst.args[0])) ^ (number % 2);
        arithmetic::canonical(scalar, bits)
    }

    /// One lane of an operation that works lane by lane.
    fn lane(&mut self, inst: &Inst, ty: Type, lane: usize) -> u64 {
        let scalar = self.kernel.ty(inst.args[0]).scalar;
        let arg = |i: usize| {
            let lanes = self.get(inst.args[i]);
            lanes[lane % lanes.len()]
        };
        match inst.op {
            Op::Unary(op) => arithmetic::unary(op, scalar, arg(0)),
            Op::Binary(op) => arithmetic::binary(op, scalar, arg(0), arg(1)).unwrap_or_else(|_| {
                self.faults.insert(Fault::Division(inst.span.0));
                0
            }),
            Op::Compare(op) => arithmetic::compare(op, scalar, arg(0), arg(1)).into(),
            Op::MulAdd => arithmetic::mul_add(scalar, arg(0), arg(1), arg(2)),
            Op::Select => arg(if arg(0) != 0 { 1 } else { 2 }),
            Op::Cast(to) => arithmetic::cast(scalar, to, arg(0)),
            Op::Bitcast(_) => arg(0),
            ref op => panic!("{op:?} of {ty}"),
        }
    }

    fn builtin(&self, builtin: Builtin, axis: Axis) -> u64 {
        let axis = match axis {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        };
        match builtin {
            Builtin::ThreadIdx => self.launch.thread[axis],
            Builtin::BlockIdx => self.launch.thread[axis] + axis as u64,
            Builtin::BlockDim => 8,
            Builtin::GridDim => 16,
        }
    }

    fn extents(&self, param: u32) -> &[u64] {
        match &self.launch.args[param as usize] {
            Arg::Tensor(_, extents) => extents,
            Arg::Scalar(_) => panic!("a scalar has no extents"),
        }
    }

    fn memory(&mut self, mem: MemRef) -> &mut Vec<u64> {
        match mem {
            MemRef::Param(param) => match self.launch.args[param.0 as usize] {
                Arg::Tensor(buffer, _) => &mut self.buffers[buffer],
                Arg::Scalar(_) => panic!("a scalar is no memory"),
            },
            MemRef::Alloc(alloc) => &mut self.allocs[alloc.0 as usize],
        }
    }

    fn access(&mut self, inst: &Inst) {
        let access = inst.op.access().expect("an access");
        let values = inst.op.access_args().expect("an access");
        let offset = self.bit(inst.args[0]);
        let is_atomic = !matches!(inst.op, Op::Load(_) | Op::Store(_));
        if is_atomic {
            self.disturb();
        }
        let ty = match inst.op {
            Op::Store(_) | Op::AtomicStore(..) => self.kernel.ty(inst.args[1]),
            _ => self.kernel.ty(inst.results[0]),
        };
        let elem = self.kernel.mem_elem(access.mem).expect("memory");
        let mut results = Vec::new();
        for lane in 0..u64::from(ty.lanes) {
            // Elements that are vectors are never checked along the vector.
            let step = if elem.lanes == 1 { lane } else { 0 };
            let in_bounds = access.bounds.iter().zip(inst.args[values..].chunks(2)).all(|(&dim, pair)| {
                let last = if dim == access.lane_dim { step } else { 0 };
                u128::from(self.bit(pair[0])) + u128::from(last) < u128::from(self.bit(pair[1]))
            });
            if !in_bounds {
                let fault = match inst.op {
                    Op::Load(_) => Fault::Read(inst.span.0),
                    _ => Fault::Write(inst.span.0),
                };
                self.faults.insert(fault);
                results.push(0);
                continue;
            }
            let position = offset as usize * usize::from(elem.lanes) + lane as usize;
            let arg = |i: usize| self.get(inst.args[i])[lane as usize];
            let operands: Vec<u64> = (1..values).map(arg).collect();
            let place = self.memory(access.mem).get_mut(position).expect("an access inside its memory");
            let before = *place;
            match inst.op {
                Op::Load(_) | Op::AtomicLoad(..) => {}
                Op::Store(_) | Op::AtomicStore(..) => *place = operands[0],
                Op::AtomicRmw(op, ..) => *place = modify(op, elem.scalar, before, operands[0]),
                Op::AtomicCas(..) if before == operands[0] => *place = operands[1],
                _ => {}
            }
            results.push(before);
        }
        if !inst.results.is_empty() {
            self.define(inst, vec![results]);
        }
    }

    /// What other threads may do at a point where this one waits for them.
    fn disturb(&mut self) {
        self.disturbances += 1;
        let mut memories = Vec::new();
        for (i, param) in self.kernel.params.iter().enumerate() {
            if let ParamKind::Tensor { elem, mutable, aliased, .. } = param.kind
                && (mutable || aliased)
            {
                memories.push((MemRef::Param(tilewise_ir::ParamId(i as u32)), elem));
            }
        }
        for (i, alloc) in self.kernel.allocs.iter().enumerate() {
            if alloc.space == Space::Shared {
                memories.push((MemRef::Alloc(tilewise_ir::AllocId(i as u32)), alloc.elem.scalar));
            }
        }
        let seed = self.disturbances;
        for (mem, scalar) in memories {
            for (i, place) in self.memory(mem).iter_mut().enumerate() {
                // A few of them, and only a little, so that values stay of a usual size.
                if mix(seed.wrapping_mul(31) ^ i as u64).is_multiple_of(5) {
                    *place = arithmetic::canonical(scalar, arithmetic::canonical(scalar, *place) ^ 1);
                }
            }
        }
    }
}

fn modify(op: AtomicOp, scalar: Scalar, before: u64, operand: u64) -> u64 {
    let op = match op {
        AtomicOp::Add => BinaryOp::Add,
        AtomicOp::Min => BinaryOp::Min,
        AtomicOp::Max => BinaryOp::Max,
        AtomicOp::And => BinaryOp::And,
        AtomicOp::Or => BinaryOp::Or,
        AtomicOp::Xor => BinaryOp::Xor,
        AtomicOp::Exchange => return operand,
    };
    arithmetic::binary(op, scalar, before, operand).expect("no division")
}

fn signed(scalar: Scalar, bits: u64) -> i128 {
    tilewise_ir::Const { scalar, bits }.as_int().expect("an integer")
}
