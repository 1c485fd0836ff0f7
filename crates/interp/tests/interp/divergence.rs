//! Random kernels whose threads take different ways, with values between that all of them share: branches, loops with
//! breaks and continues over several levels, early returns, carried values, memory of each thread. Each thread has to do
//! what the reference evaluator of the IR does.

use tilewise_interp::Program;
use tilewise_ir::{
    Access, AllocId, Axis, BinaryOp, Block, Builder, Builtin, CompareOp, Const, Kernel, Label, MemRef, Op,
    ParamId, ParamKind, Scalar, Space, Type, UnaryOp, Value, pass,
};

use crate::device::{Data, run_once, scalar, tensor, x};
use crate::support::random::Random;
use crate::support::reference::{self, Arg, Launch};

/// How many kernels are tried: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 1000;

/// Elements of the output that belong to a thread.
const SLOTS: u64 = 4;

const U32: Type = Scalar::U32.ty();

/// A loop that is being built.
#[derive(Clone, Copy)]
struct OpenLoop {
    label: Label,
    /// The value that counts rounds, which `continue` has to step; none in a `for`.
    counter: Option<Value>,
    /// Values carried besides.
    carried: usize,
    results: usize,
}

struct Generator {
    random: Random,
    b: Builder,
    out: ParamId,
    local: AllocId,
    /// Number of the first slot of the thread.
    base: Value,
    /// Values of type `u32` that can be used here.
    values: Vec<Value>,
    loops: Vec<OpenLoop>,
    /// Whether the output is read, so that a loop may seem to wait for others.
    reads: bool,
    /// Statements that may still be made.
    budget: usize,
}

impl Generator {
    fn kernel(seed: u64) -> Kernel {
        let mut random = Random::new(seed);
        let mut b = Builder::new("random");
        let tensor = |mutable| ParamKind::Tensor { elem: Scalar::U32, rank: 1, mutable, aliased: false };
        let out = b.param("out", tensor(true));
        let input = b.param("in", tensor(false));
        let uniform = b.param("n", ParamKind::Scalar(Scalar::U32));
        let local = b.alloc("a", Space::Local, U32, SLOTS);
        let t = b.emit(Op::Builtin(Builtin::ThreadIdx, Axis::X), [], Type::INDEX);
        let slots = b.constant(Const::index(SLOTS));
        let base = b.emit(Op::Binary(BinaryOp::Mul), [t, slots], Type::INDEX);
        let mut values = vec![
            b.emit(Op::Cast(Scalar::U32), [t], U32),
            b.emit(Op::Scalar(uniform), [], U32),
            b.emit(Op::Load(Access::unchecked(MemRef::Param(input))), [t], U32),
        ];
        values.extend([0, 1, 3].map(|n| b.constant(Const::int(Scalar::U32, n))));
        let reads = random.chance(50);
        let budget = 6 + random.below(30);
        let mut generator =
            Generator { random, b, out, local, base, values, loops: Vec::new(), reads, budget };
        for slot in 0..SLOTS {
            let at = generator.b.constant(Const::index(slot));
            let value = generator.value();
            generator.b.emit_void(Op::Store(Access::unchecked(MemRef::Alloc(local))), [at, value]);
        }
        generator.statements(4);
        generator.store();
        generator.b.finish()
    }

    fn value(&mut self) -> Value {
        // Recent values more often, so that they live for different times.
        let (n, recent) = (self.values.len(), self.random.chance(50));
        let from = if recent { n.saturating_sub(4) } else { 0 };
        self.values[from + self.random.below(n - from)]
    }

    fn values(&mut self, n: usize) -> Vec<Value> {
        (0..n).map(|_| self.value()).collect()
    }

    fn condition(&mut self) -> Value {
        let (a, c) = (self.value(), self.random.below(6) as i128);
        let bits = self.b.constant(Const::int(Scalar::U32, 7));
        let low = self.b.emit(Op::Binary(BinaryOp::And), [a, bits], U32);
        let other = self.b.constant(Const::int(Scalar::U32, c));
        let op = self.random.pick(&[CompareOp::Lt, CompareOp::Eq, CompareOp::Ge, CompareOp::Ne]);
        self.b.emit(Op::Compare(op), [low, other], Type::BOOL)
    }

    /// A few statements; none after one that leaves.
    fn statements(&mut self, depth: usize) {
        let count = 1 + self.random.below(4);
        for _ in 0..count {
            if self.budget == 0 || self.b.is_terminated() {
                return;
            }
            self.budget -= 1;
            match self.random.below(if depth == 0 { 5 } else { 10 }) {
                0..=2 => self.arithmetic(),
                3 => self.memory(),
                4 => self.leave(),
                5 | 6 => self.branch(depth - 1),
                7 | 8 => self.repeat(depth - 1),
                _ => self.count(depth - 1),
            }
        }
    }

    fn arithmetic(&mut self) {
        use BinaryOp::{Add, And, Div, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
        let (a, b) = (self.value(), self.value());
        let value = match self.random.below(8) {
            0 => {
                let condition = self.condition();
                self.b.emit(Op::Select, [condition, a, b], U32)
            }
            1 => {
                let op = self.random.pick(&[UnaryOp::Not, UnaryOp::Neg, UnaryOp::CountOnes]);
                self.b.emit(Op::Unary(op), [a], U32)
            }
            2 => {
                let divisor = self.b.constant(Const::int(Scalar::U32, 1 + self.random.below(9) as i128));
                let op = self.random.pick(&[Div, Rem]);
                self.b.emit(Op::Binary(op), [a, divisor], U32)
            }
            _ => {
                let op = self.random.pick(&[Add, Add, Sub, Mul, And, Or, Xor, Shl, Shr, Min, Max]);
                self.b.emit(Op::Binary(op), [a, b], U32)
            }
        };
        self.values.push(value);
    }

    /// Offset of a slot of the thread, that depends on a value.
    fn slot(&mut self) -> Value {
        let value = self.value();
        let mask = self.b.constant(Const::int(Scalar::U32, SLOTS as i128 - 1));
        let low = self.b.emit(Op::Binary(BinaryOp::And), [value, mask], U32);
        self.b.emit(Op::Cast(Scalar::Index), [low], Type::INDEX)
    }

    fn store(&mut self) {
        let (slot, value) = (self.slot(), self.value());
        let at = self.b.emit(Op::Binary(BinaryOp::Add), [self.base, slot], Type::INDEX);
        self.b.emit_void(Op::Store(Access::unchecked(MemRef::Param(self.out))), [at, value]);
    }

    fn memory(&mut self) {
        match self.random.below(if self.reads { 4 } else { 3 }) {
            0 => self.store(),
            1 => {
                let (at, value) = (self.slot(), self.value());
                self.b.emit_void(Op::Store(Access::unchecked(MemRef::Alloc(self.local))), [at, value]);
            }
            2 => {
                let at = self.slot();
                let value = self.b.emit(Op::Load(Access::unchecked(MemRef::Alloc(self.local))), [at], U32);
                self.values.push(value);
            }
            _ => {
                let slot = self.slot();
                let at = self.b.emit(Op::Binary(BinaryOp::Add), [self.base, slot], Type::INDEX);
                let value = self.b.emit(Op::Load(Access::unchecked(MemRef::Param(self.out))), [at], U32);
                self.values.push(value);
            }
        }
    }

    /// A block of statements that can only use what is there now, ended by `end` if nothing else ends it.
    fn block(&mut self, params: &[Type], depth: usize, end: impl FnOnce(&mut Self, &[Value])) -> Block {
        let known = self.values.len();
        let params = self.b.open_block(params);
        self.values.extend(&params);
        self.statements(depth);
        if !self.b.is_terminated() {
            end(self, &params);
        }
        let block = self.b.close_block(Op::Yield);
        self.values.truncate(known);
        block
    }

    /// A break, continue or return under a condition.
    fn leave(&mut self) {
        let condition = self.condition();
        self.b.open_block(&[]);
        if self.loops.is_empty() || self.random.chance(12) {
            if self.random.chance(33) {
                self.store();
            }
            self.b.emit_void(Op::Return, []);
        } else {
            // The innermost loop most often.
            let level = if self.random.chance(33) {
                self.random.below(self.loops.len())
            } else {
                self.loops.len() - 1
            };
            let target = self.loops[level];
            if self.random.chance(50) {
                let values = self.values(target.results);
                self.b.emit_void(Op::Break(target.label), values);
            } else {
                self.next_round(target);
            }
        }
        let then = self.b.close_block(Op::Yield);
        self.b.open_block(&[]);
        let otherwise = self.b.close_block(Op::Yield);
        let blocks = if self.random.chance(50) { vec![then, otherwise] } else { vec![otherwise, then] };
        self.b.emit_structure(Op::If, [condition], blocks, &[]);
    }

    fn next_round(&mut self, target: OpenLoop) {
        let mut values = Vec::new();
        if let Some(counter) = target.counter {
            let one = self.b.constant(Const::int(Scalar::U32, 1));
            values.push(self.b.emit(Op::Binary(BinaryOp::Add), [counter, one], U32));
        }
        values.extend(self.values(target.carried));
        self.b.emit_void(Op::Continue(target.label), values);
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.condition();
        let results = self.random.below(3);
        let end = |g: &mut Self, _: &[Value]| {
            let values = g.values(results);
            g.b.emit_void(Op::Yield, values);
        };
        let blocks = vec![self.block(&[], depth, end), self.block(&[], depth, end)];
        let results = self.b.emit_structure(Op::If, [condition], blocks, &vec![U32; results]);
        self.values.extend(results);
    }

    /// A loop that ends after some rounds at the latest.
    fn repeat(&mut self, depth: usize) {
        let label = self.b.label();
        let (carried, results) = (self.random.below(3), self.random.below(3));
        let limit = if self.random.chance(50) {
            self.b.constant(Const::int(Scalar::U32, self.random.below(6) as i128))
        } else {
            let (value, mask) = (self.value(), self.b.constant(Const::int(Scalar::U32, 7)));
            self.b.emit(Op::Binary(BinaryOp::And), [value, mask], U32)
        };
        let mut initial = vec![self.b.constant(Const::int(Scalar::U32, 0))];
        initial.extend(self.values(carried));
        let known = self.values.len();
        let params = self.b.open_block(&vec![U32; carried + 1]);
        self.values.extend(&params);
        let open = OpenLoop { label, counter: Some(params[0]), carried, results };
        // The end comes first, whatever the rounds do.
        let over = self.b.emit(Op::Compare(CompareOp::Ge), [params[0], limit], Type::BOOL);
        self.b.open_block(&[]);
        let values = self.values(results);
        self.b.emit_void(Op::Break(label), values);
        let then = self.b.close_block(Op::Yield);
        self.b.open_block(&[]);
        let otherwise = self.b.close_block(Op::Yield);
        self.b.emit_structure(Op::If, [over], vec![then, otherwise], &[]);
        self.loops.push(open);
        self.statements(depth);
        if !self.b.is_terminated() {
            self.next_round(open);
        }
        self.loops.pop();
        let block = self.b.close_block(Op::Yield);
        self.values.truncate(known);
        let results = self.b.emit_structure(Op::Loop(label), initial, vec![block], &vec![U32; results]);
        self.values.extend(results);
    }

    fn count(&mut self, depth: usize) {
        let label = self.b.label();
        let carried = self.random.below(3);
        let mask = self.b.constant(Const::int(Scalar::U32, 7));
        let bound = |g: &mut Self| {
            if g.random.chance(50) {
                return g.b.constant(Const::int(Scalar::U32, g.random.below(6) as i128));
            }
            let value = g.value();
            g.b.emit(Op::Binary(BinaryOp::And), [value, mask], U32)
        };
        let (lo, hi) = (bound(self), bound(self));
        let step = self.b.constant(Const::int(Scalar::U32, 1 + self.random.below(3) as i128));
        let mut args = vec![lo, hi, step];
        args.extend(self.values(carried));
        let open = OpenLoop { label, counter: None, carried, results: carried };
        self.loops.push(open);
        let block =
            self.block(&vec![U32; carried + 1], depth, |g: &mut Self, _: &[Value]| g.next_round(open));
        self.loops.pop();
        let results = self.b.emit_structure(Op::For(label), args, vec![block], &vec![U32; carried]);
        self.values.extend(results);
    }
}

#[test]
fn each_thread_does_what_it_would_do_alone() {
    let kernels = std::env::var("TILEWISE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(KERNELS);
    for seed in 0..kernels {
        let kernel = Generator::kernel(seed);
        let threads = [1, 7, 64, 70, 130][seed as usize % 5];
        let mut random = Random::new(!seed);
        let input: Vec<u32> = (0..threads).map(|_| random.bits() as u32 >> random.below(32)).collect();
        let n = random.below(9) as u32;
        let zeros = vec![0u32; threads * SLOTS as usize];
        let expected = alone(&kernel, threads, &zeros, &input, n);
        let args = [tensor(&zeros), tensor(&input), scalar(n)];
        let mut prepared = kernel.clone();
        pass::prepare(&mut prepared);
        let mut optimized = prepared.clone();
        pass::optimize(&mut optimized);
        for kernel in [&kernel, &prepared, &optimized] {
            let program = Program::compile(kernel).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{kernel}"));
            let run = run_once(&program, 1, x(1), x(threads as u32), &args).unwrap();
            assert_eq!(run.fault(), "", "seed {seed}\n{kernel}");
            let Data::Tensor { bits, .. } = &run.args[0] else { unreachable!() };
            if let Some(at) = expected.iter().zip(bits).position(|(expected, got)| expected != got) {
                let (thread, slot) = (at as u64 / SLOTS, at as u64 % SLOTS);
                let (expected, got) = (expected[at], bits[at]);
                panic!("seed {seed}, thread {thread}, slot {slot}: {expected} is right, got {got}\n{kernel}");
            }
        }
    }
}

/// The output, if each thread runs alone.
fn alone(kernel: &Kernel, threads: usize, zeros: &[u32], input: &[u32], n: u32) -> Vec<u64> {
    let wide = |values: &[u32]| values.iter().map(|&v| v as u64).collect::<Vec<u64>>();
    let run = |thread: usize| {
        let launch = Launch {
            args: vec![
                Arg::Tensor(0, vec![zeros.len() as u64]),
                Arg::Tensor(1, vec![input.len() as u64]),
                Arg::Scalar(n as u64),
            ],
            buffers: vec![wide(zeros), wide(input)],
            thread: [thread as u64, 0, 0],
            steps: u64::MAX,
        };
        let outcome = reference::run(kernel, &launch).expect("the kernel ends");
        let slots = SLOTS as usize;
        outcome.buffers[0][thread * slots..][..slots].to_vec()
    };
    (0..threads).flat_map(run).collect()
}
