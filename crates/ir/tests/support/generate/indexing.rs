//! Random kernels that compute indices: guards, counted loops, halving strides, tiles that end early, early returns,
//! accesses near the edge of what they access.

use super::super::random::Random;
use super::super::reference::{Arg, Launch};
use tilewise_ir::{
    Access, AllocId, Axis, BinaryOp, Block, Builder, Builtin, CompareOp, Const, Format, FormatSpec, Kernel,
    MemRef, Op, ParamId, ParamKind, Piece, Scalar, Space, Type, UnaryOp, Value, verify,
};

/// Elements of each memory.
const LEN: u64 = 24;

/// A kernel, and launches of it.
#[allow(dead_code, reason = "for the tests of facts and devices")]
pub(crate) fn kernel(seed: u64) -> (Kernel, Vec<Launch>) {
    let mut random = Random::new(seed);
    let extent = random.pick(&[8, 13, 16, 24]);
    let size = random.pick(&[extent, extent, extent - 1, extent + 1, 0, 1 << 40]);
    let mut generator = Generator {
        builder: Builder::new(format!("indexing{seed}")),
        random,
        visible: Vec::new(),
        conditions: Vec::new(),
        ops: 0,
        memories: Vec::new(),
        size: ParamId(0),
        fuel: AllocId(0),
        line: 0,
    };
    generator.start();
    while generator.ops < 60 && !generator.builder.is_terminated() {
        generator.content(0);
    }
    let launches = (0..3).map(|_| generator.launch(extent, size)).collect();
    let kernel = generator.builder.finish();
    if let Err(errors) = verify::verify(&kernel) {
        panic!("the generator made a wrong kernel\n{}", verify::render(&kernel, &errors));
    }
    (kernel, launches)
}

struct Generator {
    builder: Builder,
    random: Random,
    /// Indices.
    visible: Vec<Value>,
    conditions: Vec<Value>,
    ops: usize,
    memories: Vec<MemRef>,
    size: ParamId,
    fuel: AllocId,
    line: u32,
}

impl Generator {
    fn start(&mut self) {
        for (name, mutable) in [("out", true), ("a", false)] {
            let kind = ParamKind::Tensor { elem: Scalar::U32, rank: 1, mutable, aliased: false };
            let param = self.builder.param(name, kind);
            self.memories.push(MemRef::Param(param));
        }
        self.size = self.builder.param("size", ParamKind::Scalar(Scalar::Index));
        let shared = self.builder.alloc("shared", Space::Shared, Scalar::U32.ty(), LEN);
        self.memories.push(MemRef::Alloc(shared));
        self.fuel = self.builder.alloc("fuel", Space::Local, Type::INDEX, 1);
        let (zero, fuel) = (self.constant(0), self.constant(30));
        self.effect(Op::Store(Access::unchecked(MemRef::Alloc(self.fuel))), [zero, fuel]);
        let thread = self.emit(Op::Builtin(Builtin::ThreadIdx, Axis::X), []);
        let block = self.emit(Op::Builtin(Builtin::BlockIdx, Axis::X), []);
        let dim = self.emit(Op::Builtin(Builtin::BlockDim, Axis::X), []);
        let start = self.emit(Op::Binary(BinaryOp::Mul), [block, dim]);
        self.emit(Op::Binary(BinaryOp::Add), [start, thread]);
        self.emit(Op::Scalar(self.size), []);
        self.emit(Op::Extent(ParamId(0), 0), []);
    }

    fn launch(&mut self, extent: u64, size: u64) -> Launch {
        let mut buffer = || (0..LEN).map(|_| self.random.bits() >> 32 >> self.random.below(32)).collect();
        let buffers: Vec<Vec<u64>> = vec![buffer(), buffer()];
        let args = vec![Arg::Tensor(0, vec![extent]), Arg::Tensor(1, vec![extent]), Arg::Scalar(size)];
        let thread = [0, 1, 2].map(|_| self.random.pick(&[0, 0, 1, 2, 3, 5, 7, 7]));
        Launch { args, buffers, thread, steps: 20_000 }
    }

    fn locate(&mut self) {
        self.line += 1;
        self.builder.set_location("random", self.line, 1);
    }

    /// An operation that gives an index.
    fn emit(&mut self, op: Op, args: impl IntoIterator<Item = Value>) -> Value {
        let value = self.typed(op, args, Type::INDEX);
        self.visible.push(value);
        value
    }

    fn typed(&mut self, op: Op, args: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        self.locate();
        self.builder.emit(op, args, ty)
    }

    fn effect(&mut self, op: Op, args: impl IntoIterator<Item = Value>) {
        self.locate();
        self.builder.emit_void(op, args);
    }

    fn constant(&mut self, value: u64) -> Value {
        self.builder.constant(Const::index(value))
    }

    fn small(&mut self) -> Value {
        let value = match self.random.below(20) {
            0 => u64::MAX - self.random.below(3) as u64,
            1 => (1 << 32) - self.random.below(2) as u64,
            2 => 1 << self.random.below(64),
            _ => self.random.pick(&[0, 1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 24]),
        };
        self.constant(value)
    }

    fn index(&mut self) -> Value {
        let count = self.visible.len();
        match self.random.below(10) {
            0 | 1 => self.small(),
            2..7 => self.visible[count - 1 - self.random.below(count.min(6))],
            _ => self.visible[self.random.below(count)],
        }
    }

    fn condition(&mut self) -> Value {
        let value = match self.random.below(10) {
            0 if !self.conditions.is_empty() => return self.random.pick(&self.conditions.clone()),
            1 => {
                let arg = self.condition();
                self.typed(Op::Unary(UnaryOp::Not), [arg], Type::BOOL)
            }
            2 | 3 => {
                let args = [self.condition(), self.condition()];
                let op = self.random.pick(&[BinaryOp::And, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
                self.typed(Op::Binary(op), args, Type::BOOL)
            }
            4 => {
                let args = [self.condition(), self.condition()];
                let constant = self.random.chance(50);
                let constant = self.builder.constant(Const::bool(constant));
                let sides = if self.random.chance(50) { [args[1], constant] } else { [constant, args[1]] };
                self.typed(Op::Select, [args[0], sides[0], sides[1]], Type::BOOL)
            }
            5 => {
                // A short circuit.
                let condition = self.condition();
                let constant = self.random.chance(50);
                let mut blocks = vec![
                    self.block(&[], |g, _| {
                        let value = g.condition();
                        g.effect(Op::Yield, [value]);
                    }),
                    self.block(&[], |g, _| {
                        let value = g.builder.constant(Const::bool(constant));
                        g.effect(Op::Yield, [value]);
                    }),
                ];
                if self.random.chance(50) {
                    blocks.swap(0, 1);
                }
                self.locate();
                self.builder.emit_structure(Op::If, [condition], blocks, &[Type::BOOL])[0]
            }
            _ => {
                let op = self.random.pick(CompareOp::ALL);
                let op = if self.random.chance(50) { CompareOp::Lt } else { op };
                let args = [self.index(), self.index()];
                self.typed(Op::Compare(op), args, Type::BOOL)
            }
        };
        self.conditions.push(value);
        value
    }

    /// A block: what `content` does. What it makes is not seen outside.
    fn block(&mut self, params: &[Type], content: impl FnOnce(&mut Generator, &[Value])) -> Block {
        let marks = (self.visible.len(), self.conditions.len());
        let params = self.builder.open_block(params);
        self.visible.extend(params.iter().filter(|&&param| self.builder.ty(param) == Type::INDEX));
        content(self, &params);
        let block = self.builder.close_block(Op::Return);
        self.visible.truncate(marks.0);
        self.conditions.truncate(marks.1);
        block
    }

    fn content(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(5) {
            if self.builder.is_terminated() {
                return;
            }
            self.ops += 1;
            match self.random.below(if depth < 4 { 20 } else { 14 }) {
                0..6 => self.arithmetic(),
                6 => self.other_types(),
                7 => {
                    let args = [self.condition(), self.index(), self.index()];
                    self.emit(Op::Select, args);
                }
                8..12 => self.access(),
                12 => {
                    let value = self.index();
                    let format = Format { pieces: vec![Piece::Arg(FormatSpec::default())] };
                    self.effect(Op::Print(format.into()), [value]);
                }
                13 => {
                    if self.random.chance(40) {
                        let condition = self.condition();
                        self.effect(Op::Assert(Format::default().into()), [condition]);
                    } else {
                        self.tile();
                    }
                }
                14..17 => self.branch(depth),
                17 => self.counted(depth),
                18 => self.repeated(depth),
                _ => self.halving(depth),
            }
        }
    }

    fn arithmetic(&mut self) {
        let op = self.random.pick(&[
            BinaryOp::Add,
            BinaryOp::Add,
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::And,
            BinaryOp::Or,
            BinaryOp::Xor,
            BinaryOp::Shl,
            BinaryOp::Shr,
        ]);
        let a = self.index();
        let b = if self.random.chance(50) { self.small() } else { self.index() };
        self.emit(Op::Binary(op), [a, b]);
    }

    /// There and back.
    fn other_types(&mut self) {
        let scalar = self.random.pick(&[
            Scalar::I8,
            Scalar::U8,
            Scalar::I16,
            Scalar::I32,
            Scalar::U32,
            Scalar::I64,
            Scalar::U64,
            Scalar::Bool,
        ]);
        let value = self.index();
        let mut value = self.typed(Op::Cast(scalar), [value], scalar.ty());
        if scalar != Scalar::Bool {
            let other = self.index();
            let other = self.typed(Op::Cast(scalar), [other], scalar.ty());
            let op = self.random.pick(&[
                BinaryOp::Add,
                BinaryOp::Sub,
                BinaryOp::Mul,
                BinaryOp::Shr,
                BinaryOp::Min,
            ]);
            value = self.typed(Op::Binary(op), [value, other], scalar.ty());
            if self.random.chance(20) {
                let op = self.random.pick(&[UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs, UnaryOp::CountOnes]);
                value = self.typed(Op::Unary(op), [value], scalar.ty());
            }
        }
        self.emit(Op::Cast(Scalar::Index), [value]);
    }

    /// `min(start + length, size) - start`, as staging records tiles.
    fn tile(&mut self) {
        let (start, length) = (self.index(), self.small());
        let size = self.emit(Op::Scalar(self.size), []);
        let end = self.emit(Op::Binary(BinaryOp::Add), [start, length]);
        let end = self.emit(Op::Binary(BinaryOp::Min), [end, size]);
        let rest = self.emit(Op::Binary(BinaryOp::Sub), [end, start]);
        if self.random.chance(50) {
            // An access to the tile.
            let i = self.index();
            let is_inside = self.typed(Op::Compare(CompareOp::Lt), [i, rest], Type::BOOL);
            let inside = self.block(&[], |g, _| {
                g.emit(Op::Binary(BinaryOp::Add), [start, i]);
                g.access();
                g.effect(Op::Yield, []);
            });
            let outside = self.block(&[], |g, _| g.effect(Op::Yield, []));
            self.locate();
            self.builder.emit_structure(Op::If, [is_inside], vec![inside, outside], &[]);
        }
    }

    fn access(&mut self) {
        let mem = self.random.pick(&self.memories.clone());
        let lanes = self.random.pick(&[1, 1, 1, 2, 4]);
        let ty = Scalar::U32.ty().with_lanes(lanes);
        let mut access = Access::unchecked(mem);
        let index = self.index();
        let mut args = Vec::new();
        let offset = match mem {
            // In bounds is inside the memory.
            MemRef::Param(param) if self.random.chance(60) => {
                let extent = self.emit(Op::Extent(param, 0), []);
                access.bounds.push(0);
                args = vec![index, extent];
                index
            }
            _ => {
                let mask = self.constant(15);
                self.typed(Op::Binary(BinaryOp::And), [index, mask], Type::INDEX)
            }
        };
        if args.is_empty() || self.random.chance(30) {
            access.bounds.push(if self.random.chance(50) { 0 } else { 1 });
            let (index, extent) = (self.index(), self.index());
            args.extend([index, extent]);
        }
        let is_store = mem != self.memories[1] && self.random.chance(50);
        if is_store {
            let value = self.index();
            let value = self.typed(Op::Cast(Scalar::U32), [value], Scalar::U32.ty());
            let value = if lanes > 1 { self.typed(Op::Splat(lanes), [value], ty) } else { value };
            self.effect(Op::Store(access), [offset, value].into_iter().chain(args));
        } else {
            let mut value = self.typed(Op::Load(access), [offset].into_iter().chain(args), ty);
            if lanes > 1 {
                value = self.typed(Op::Extract(lanes - 1), [value], Scalar::U32.ty());
            }
            self.emit(Op::Cast(Scalar::Index), [value]);
        }
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.condition();
        let results = if self.random.chance(40) { vec![Type::INDEX] } else { vec![] };
        let blocks = (0..2).map(|arm| {
            let leaves = self.random.chance(if arm == 0 { 20 } else { 8 });
            let is_empty = arm == 1 && self.random.chance(60);
            self.block(&[], |g, _| {
                if !is_empty {
                    g.content(depth + 1);
                }
                if !g.builder.is_terminated() {
                    let values: Vec<_> = results.iter().map(|_| g.index()).collect();
                    if leaves { g.effect(Op::Return, []) } else { g.effect(Op::Yield, values) }
                }
            })
        });
        let blocks = blocks.collect();
        self.locate();
        let results = self.builder.emit_structure(Op::If, [condition], blocks, &results);
        self.visible.extend(results);
    }

    fn counted(&mut self, depth: usize) {
        let label = self.builder.label();
        let lo = self.index();
        // Few rounds.
        let (some, seven) = (self.index(), self.constant(7));
        let rounds = self.emit(Op::Binary(BinaryOp::And), [some, seven]);
        let hi = match self.random.below(3) {
            0 => self.emit(Op::Binary(BinaryOp::Add), [lo, rounds]),
            1 => {
                let end = self.emit(Op::Binary(BinaryOp::Add), [lo, rounds]);
                let other = self.index();
                self.emit(Op::Binary(BinaryOp::Min), [end, other])
            }
            _ => rounds,
        };
        let step = self.random.pick(&[1, 1, 2, 3, 4]);
        let step = self.constant(step);
        let initial = self.index();
        let body = self.block(&[Type::INDEX, Type::INDEX], |g, _| {
            g.content(depth + 1);
            if !g.builder.is_terminated() {
                let value = g.index();
                let op = if g.random.chance(10) { Op::Break(label) } else { Op::Continue(label) };
                g.effect(op, [value]);
            }
        });
        self.locate();
        let args = [lo, hi, step, initial];
        let results = self.builder.emit_structure(Op::For(label), args, vec![body], &[Type::INDEX]);
        self.visible.extend(results);
    }

    /// Leaves a loop that has run too long.
    fn burn(&mut self, leave: Block) {
        let access = Access::unchecked(MemRef::Alloc(self.fuel));
        let (zero, one) = (self.constant(0), self.constant(1));
        let left = self.typed(Op::Load(access.clone()), [zero], Type::INDEX);
        let less = self.typed(Op::Binary(BinaryOp::Sub), [left, one], Type::INDEX);
        let is_empty = self.typed(Op::Compare(CompareOp::Eq), [left, zero], Type::BOOL);
        let stay = self.block(&[], |g, _| g.effect(Op::Yield, []));
        self.locate();
        self.builder.emit_structure(Op::If, [is_empty], vec![leave, stay], &[]);
        self.effect(Op::Store(access), [zero, less]);
    }

    /// `while condition { ... }` with two carried values.
    fn repeated(&mut self, depth: usize) {
        let label = self.builder.label();
        let initial = [self.index(), self.index()];
        let body = self.block(&[Type::INDEX; 2], |g, params| {
            let leave = g.block(&[], |g, _| g.effect(Op::Break(label), [params[0]]));
            g.burn(leave);
            let condition = if g.random.chance(60) {
                let end = g.index();
                let op = g.random.pick(CompareOp::ALL);
                g.typed(Op::Compare(op), [params[0], end], Type::BOOL)
            } else {
                g.condition()
            };
            let go_on = g.block(&[], |g, _| g.effect(Op::Yield, []));
            let leave = g.block(&[], |g, _| {
                let value = g.index();
                g.effect(Op::Break(label), [value]);
            });
            g.locate();
            g.builder.emit_structure(Op::If, [condition], vec![go_on, leave], &[]);
            g.content(depth + 1);
            if !g.builder.is_terminated() {
                let step = if g.random.chance(70) { g.small() } else { g.index() };
                let op = g.random.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul]);
                let next = g.emit(Op::Binary(op), [params[0], step]);
                let other = g.index();
                g.effect(Op::Continue(label), [next, other]);
            }
        });
        self.locate();
        let results = self.builder.emit_structure(Op::Loop(label), initial, vec![body], &[Type::INDEX]);
        self.visible.extend(results);
    }

    /// `while stride > 0 { ...; stride /= 2 }`
    fn halving(&mut self, depth: usize) {
        let label = self.builder.label();
        let initial = if self.random.chance(60) { self.small() } else { self.index() };
        let body = self.block(&[Type::INDEX], |g, params| {
            let leave = g.block(&[], |g, _| g.effect(Op::Return, []));
            g.burn(leave);
            let zero = g.constant(0);
            let holds = g.typed(Op::Compare(CompareOp::Gt), [params[0], zero], Type::BOOL);
            let go_on = g.block(&[], |g, _| g.effect(Op::Yield, []));
            let leave = g.block(&[], |g, _| g.effect(Op::Break(label), []));
            g.locate();
            g.builder.emit_structure(Op::If, [holds], vec![go_on, leave], &[]);
            let thread = g.visible[0];
            let near = g.typed(Op::Compare(CompareOp::Lt), [thread, params[0]], Type::BOOL);
            let reduce = g.block(&[], |g, _| {
                g.emit(Op::Binary(BinaryOp::Add), [thread, params[0]]);
                g.access();
                g.effect(Op::Yield, []);
            });
            let nothing = g.block(&[], |g, _| g.effect(Op::Yield, []));
            g.locate();
            g.builder.emit_structure(Op::If, [near], vec![reduce, nothing], &[]);
            g.content(depth + 1);
            if !g.builder.is_terminated() {
                let by = g.random.pick(&[2, 2, 3]);
                let by = g.constant(by);
                let next = g.emit(Op::Binary(BinaryOp::Div), [params[0], by]);
                g.effect(Op::Continue(label), [next]);
            }
        });
        self.locate();
        self.builder.emit_structure(Op::Loop(label), [initial], vec![body], &[]);
    }
}
