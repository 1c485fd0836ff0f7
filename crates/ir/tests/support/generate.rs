//! Random kernels: well-typed, structured, ending, with everything that staging makes and more.
//!
//! Besides plain operations there are variables in local memory, as staging records them, and values that blocks
//! carry, as passes leave them; `while` loops, counted loops, one-trip loops, jumps over several levels, early
//! returns; accesses with bounds that hold, that fail and that are not known; aliased tensors, atomics and barriers.
//!
//! Every kernel ends: a variable counts the rounds of all `Loop`s down, and each of them is left when it is zero.

use super::random::Random;
use super::reference::{Arg, Launch};
use tilewise_ir::{
    Access, AllocId, AtomicOp, Axis, BinaryOp, Block, Builder, Builtin, CompareOp, Const, Format, FormatSpec,
    Kernel, Label, MemRef, Op, Ordering, ParamId, ParamKind, Piece, Scalar, Scope, Space, Type, UnaryOp,
    Value, verify,
};

/// Elements of each tensor.
const LEN: u64 = 16;
/// Extent that tensors have in a launch; accesses beyond it are out of bounds.
const EXTENT: u64 = 13;

/// What a kernel consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    /// Of each kind of operation, how many there are: arithmetic, variables, loads, stores, synchronisation, output,
    /// `if`, one-trip and other loops, `while`, `for`.
    weights: [u64; 10],
    /// How many of the latest values operands are taken from, mostly.
    near: usize,
    /// Whether each result is printed.
    print: bool,
    /// How many launches there are.
    launches: usize,
}

impl Mix {
    /// Some of everything.
    pub(crate) const ALL: Mix =
        Mix { weights: [33, 15, 13, 12, 5, 3, 10, 3, 3, 3], near: 12, print: false, launches: 2 };
    /// Arithmetic only, on few values, so that rules for operations on operations apply.
    pub(crate) const EXPRESSIONS: Mix =
        Mix { weights: [94, 0, 3, 0, 0, 0, 3, 0, 0, 0], near: 4, print: true, launches: 6 };
    /// Loads and stores, of few places.
    pub(crate) const ACCESSES: Mix =
        Mix { weights: [4, 14, 36, 25, 7, 0, 6, 2, 3, 3], near: 12, print: true, launches: 2 };
}

/// A kernel, and launches of it.
pub(crate) fn kernel(seed: u64, mix: Mix) -> (Kernel, Vec<Launch>) {
    let mut random = Random::new(seed);
    let ops = 20 + random.below(140);
    let mut generator = Generator::new(seed, random, ops, mix);
    generator.block_content(0);
    generator.store_everything();
    let launches = (0..mix.launches).map(|_| generator.launch()).collect();
    (generator.finish(), launches)
}

/// A kernel of about so many operations. It need not end.
pub(crate) fn large_kernel(seed: u64, ops: usize) -> Kernel {
    let mut generator = Generator::new(seed, Random::new(seed), usize::MAX, Mix::ALL);
    while generator.builder.kernel().values.len() < ops && !generator.builder.is_terminated() {
        generator.block_content(0);
    }
    generator.store_everything();
    generator.finish()
}
/// Local memory that is accessed element by element.
#[derive(Clone, Copy)]
struct Variable {
    alloc: AllocId,
    elem: Type,
    len: u64,
}

/// A tensor or shared memory.
#[derive(Clone, Copy)]
struct Memory {
    mem: MemRef,
    elem: Scalar,
    mutable: bool,
}

/// Where control can jump to.
#[derive(Clone)]
struct Target {
    label: Label,
    results: Vec<Type>,
    carried: Vec<Type>,
    /// Whether `Continue` may be used.
    repeats: bool,
}

struct Generator {
    builder: Builder,
    random: Random,
    /// How many operations to make yet, roughly.
    ops: usize,
    /// The scalars that this kernel uses most.
    palette: Vec<Scalar>,
    /// What may be used here.
    visible: Vec<Value>,
    variables: Vec<Variable>,
    memories: Vec<Memory>,
    scalars: Vec<(ParamId, Scalar)>,
    targets: Vec<Target>,
    fuel: AllocId,
    line: u32,
    mix: Mix,
    /// The latest operation of one operand, or of one and a constant.
    again: Option<Op>,
    /// What has been compared last.
    compared: Option<[Value; 2]>,
}

impl Generator {
    // ---- the frame ----

    fn new(seed: u64, mut random: Random, ops: usize, mix: Mix) -> Generator {
        let mut palette = vec![Scalar::Index];
        while palette.len() < if mix.near < 12 { 3 } else { 4 } {
            palette.push(random.pick(&Scalar::ALL));
        }
        let mut generator = Generator {
            builder: Builder::new(format!("random{seed}")),
            random,
            ops,
            palette,
            visible: Vec::new(),
            variables: Vec::new(),
            memories: Vec::new(),
            scalars: Vec::new(),
            targets: Vec::new(),
            fuel: AllocId(0),
            line: 0,
            mix,
            again: None,
            compared: None,
        };
        generator.parameters();
        generator.allocations();
        generator
    }

    fn finish(self) -> Kernel {
        let kernel = self.builder.finish();
        if let Err(errors) = verify::verify(&kernel) {
            panic!("the generator made a wrong kernel\n{}", verify::render(&kernel, &errors));
        }
        kernel
    }

    fn parameters(&mut self) {
        for (i, scalar) in self.palette.clone().into_iter().enumerate() {
            let tensor = |mutable, aliased| ParamKind::Tensor { elem: scalar, rank: 1, mutable, aliased };
            for (name, kind) in [("out", tensor(true, false)), ("in", tensor(false, false))] {
                let param = self.builder.param(format!("{name}{i}"), kind.clone());
                let mutable = name == "out";
                self.memories.push(Memory { mem: MemRef::Param(param), elem: scalar, mutable });
            }
            let param = self.builder.param(format!("scalar{i}"), ParamKind::Scalar(scalar));
            self.scalars.push((param, scalar));
            if i == 1 {
                for (name, mutable) in [("inout", true), ("same", false)] {
                    let param = self.builder.param(name, tensor(mutable, true));
                    self.memories.push(Memory { mem: MemRef::Param(param), elem: scalar, mutable });
                }
            }
        }
    }

    fn allocations(&mut self) {
        self.fuel = self.builder.alloc("fuel", Space::Local, Type::INDEX, 1);
        for i in 0..2 + self.random.below(5) {
            let lanes = self.random.pick(&[1, 1, 1, 1, 4]);
            let elem = self.scalar().ty().with_lanes(lanes);
            let len = self.random.pick(&[1, 1, 1, 2, 4]);
            let alloc = self.builder.alloc(format!("v{i}"), Space::Local, elem, len);
            self.variables.push(Variable { alloc, elem, len });
        }
        let elem = self.scalar();
        let alloc = self.builder.alloc("tile", Space::Shared, elem.ty(), LEN);
        self.memories.push(Memory { mem: MemRef::Alloc(alloc), elem, mutable: true });
        let zero = self.index(0);
        let fuel = self.index(40);
        self.effect(Op::Store(Access::unchecked(MemRef::Alloc(self.fuel))), [zero, fuel]);
        for variable in self.variables.clone() {
            if self.random.chance(70) {
                let value = self.value(variable.elem);
                let zero = self.index(0);
                self.effect(Op::Store(Access::unchecked(MemRef::Alloc(variable.alloc))), [zero, value]);
            }
        }
    }

    /// Stores variables and values where they are seen.
    fn store_everything(&mut self) {
        for _ in 0..6 {
            self.store_to_memory();
        }
        for variable in self.variables.clone() {
            if let Some(memory) = self.memory(variable.elem.scalar, true) {
                let at = self.random.below(variable.len as usize) as u64;
                let offset = self.index(at);
                let access = Access::unchecked(MemRef::Alloc(variable.alloc));
                let value = self.emit(Op::Load(access), [offset], variable.elem);
                let offset = self.index(at);
                self.effect(Op::Store(Access::unchecked(memory.mem)), [offset, value]);
            }
        }
    }

    fn launch(&mut self) -> Launch {
        let mut buffers: Vec<Vec<u64>> = Vec::new();
        let mut args = Vec::new();
        let mut shared = None;
        for param in self.builder.kernel().params.clone() {
            match param.kind {
                ParamKind::Scalar(scalar) => args.push(Arg::Scalar(self.bits(scalar))),
                ParamKind::Tensor { elem, aliased, .. } => {
                    let buffer = match shared {
                        Some(buffer) if aliased => buffer,
                        _ => {
                            buffers.push((0..LEN).map(|_| self.bits(elem)).collect());
                            buffers.len() - 1
                        }
                    };
                    if aliased {
                        shared = Some(buffer);
                    }
                    args.push(Arg::Tensor(buffer, vec![EXTENT]));
                }
            }
        }
        let thread = [0, 1, 2].map(|_| self.random.below(8) as u64);
        Launch { args, buffers, thread, steps: 40_000 }
    }

    // ---- values ----

    fn scalar(&mut self) -> Scalar {
        let palette = self.palette.clone();
        if self.random.chance(15) { self.random.pick(&Scalar::ALL) } else { self.random.pick(&palette) }
    }

    fn ty(&mut self) -> Type {
        let lanes = self.random.pick(&[1, 1, 1, 1, 1, 1, 2, 4]);
        self.scalar().ty().with_lanes(lanes)
    }

    /// Bits of a value of interest.
    fn bits(&mut self, scalar: Scalar) -> u64 {
        let bits = if scalar.is_float() {
            let value = match self.random.below(14) {
                0 => 0.0,
                1 => -0.0,
                2 => 1.0,
                3 => -1.0,
                4 => f64::INFINITY,
                5 => f64::NAN,
                6 => 2f64.powi(self.random.below(12) as i32 - 6),
                7 => return Const::from_bits(scalar, self.random.bits()).bits,
                _ => (self.random.below(2000) as f64 - 1000.0) / 16.0,
            };
            super::arithmetic::from_f64(scalar, value, 0.0)
        } else {
            match self.random.below(9) {
                0 => 0,
                1 => 1,
                2 => u64::MAX,
                3 => 1 << self.random.below(64),
                4 => u64::MAX >> self.random.below(64),
                5 => self.random.bits(),
                _ => self.random.below(10) as u64,
            }
        };
        Const::from_bits(scalar, bits).bits
    }

    fn constant(&mut self, scalar: Scalar) -> Value {
        let bits = self.bits(scalar);
        let value = self.builder.constant(Const { scalar, bits });
        self.visible.push(value);
        value
    }

    fn index(&mut self, value: u64) -> Value {
        self.builder.constant(Const::index(value))
    }

    /// Some value of a type: one that there is, or a new one.
    fn value(&mut self, ty: Type) -> Value {
        if !self.visible.is_empty() && self.random.chance(80) {
            // Often a late one, so that much is used.
            let count = self.visible.len();
            let back = if self.random.chance(60) { count.min(self.mix.near) } else { count };
            let start = count + self.random.below(back);
            for i in 0..count {
                let value = self.visible[(start - i) % count];
                if self.builder.ty(value) == ty {
                    return value;
                }
            }
        }
        if ty.lanes > 1 {
            return if self.random.chance(50) {
                let lane = self.value(ty.with_lanes(1));
                self.emit(Op::Splat(ty.lanes), [lane], ty)
            } else {
                let lanes: Vec<_> = (0..ty.lanes).map(|_| self.value(ty.with_lanes(1))).collect();
                self.emit(Op::Pack, lanes, ty)
            };
        }
        let scalars: Vec<_> = self.scalars.iter().filter(|s| s.1 == ty.scalar).map(|s| s.0).collect();
        match self.random.below(8) {
            0 | 1 if !scalars.is_empty() => {
                let param = self.random.pick(&scalars);
                self.emit(Op::Scalar(param), [], ty)
            }
            2 if ty == Type::INDEX => {
                let builtin = self.random.pick(&[
                    Builtin::ThreadIdx,
                    Builtin::BlockIdx,
                    Builtin::BlockDim,
                    Builtin::GridDim,
                ]);
                let axis = self.random.pick(&[Axis::X, Axis::Y, Axis::Z]);
                self.emit(Op::Builtin(builtin, axis), [], ty)
            }
            3 if !self.visible.is_empty() => {
                let start = self.random.below(self.visible.len());
                let from = (0..self.visible.len())
                    .map(|i| self.visible[(start + i) % self.visible.len()])
                    .find(|&v| self.builder.ty(v).lanes == 1);
                match from {
                    Some(from) => self.emit(Op::Cast(ty.scalar), [from], ty),
                    None => self.constant(ty.scalar),
                }
            }
            4 if ty == Type::BOOL => self.comparison(),
            _ => self.constant(ty.scalar),
        }
    }

    fn comparison(&mut self) -> Value {
        let ty = self.scalar().ty();
        let args = [self.value(ty), self.value(ty)];
        let op = self.random.pick(CompareOp::ALL);
        self.emit(Op::Compare(op), args, Type::BOOL)
    }

    fn locate(&mut self) {
        self.line += 1;
        self.builder.set_location("random", self.line, 1);
    }

    fn emit(&mut self, op: Op, args: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        self.locate();
        let value = self.builder.emit(op, args, ty);
        self.visible.push(value);
        if self.mix.print && self.random.chance(60) {
            let format = Format { pieces: vec![Piece::Arg(FormatSpec::default())] };
            self.builder.emit_void(Op::Print(format.into()), [value]);
        }
        value
    }

    fn effect(&mut self, op: Op, args: impl IntoIterator<Item = Value>) {
        self.locate();
        self.builder.emit_void(op, args);
    }

    // ---- operations ----

    /// Operations, and structures if there is room for them.
    fn block_content(&mut self, depth: usize) {
        let count = 2 + self.random.below(if depth == 0 { 60 } else { 9 });
        for _ in 0..count {
            if self.ops == 0 || self.builder.is_terminated() {
                return;
            }
            self.ops -= 1;
            match self.kind() {
                0 => self.arithmetic(),
                1 => self.variable(),
                2 => self.load_from_memory(),
                3 => self.store_to_memory(),
                4 => self.synchronize(),
                5 => self.output(),
                _ if depth >= 5 => self.arithmetic(),
                6 => self.branch(depth),
                7 => self.block_loop(depth),
                8 => self.while_loop(depth),
                _ => self.for_loop(depth),
            }
        }
    }

    /// The kind of an operation, by weight.
    fn kind(&mut self) -> usize {
        let weights = self.mix.weights;
        let mut rest = self.random.bits() % weights.iter().sum::<u64>();
        weights
            .iter()
            .position(|&weight| {
                let found = rest < weight;
                rest = rest.wrapping_sub(weight);
                found
            })
            .expect("weights add up")
    }

    /// The latest operation once more, on its result.
    fn repeat(&mut self) -> bool {
        let Some(&value) = self.visible.last() else { return false };
        let ty = self.builder.ty(value);
        match self.again.clone() {
            Some(Op::Unary(op)) if verify::unary_exists(op, ty.scalar) => {
                let is_test = matches!(op, UnaryOp::IsNan | UnaryOp::IsInf);
                self.emit(Op::Unary(op), [value], if is_test { ty.with_scalar(Scalar::Bool) } else { ty });
            }
            Some(Op::Binary(op)) if verify::binary_exists(op, ty.scalar) => {
                let near = match op {
                    BinaryOp::Add => BinaryOp::Sub,
                    BinaryOp::Sub => BinaryOp::Add,
                    BinaryOp::Shl => BinaryOp::Mul,
                    op => op,
                };
                let op = if self.random.chance(30) { near } else { op };
                let constant = self.constant(ty.scalar);
                let constant =
                    if ty.lanes > 1 { self.emit(Op::Splat(ty.lanes), [constant], ty) } else { constant };
                self.emit(Op::Binary(op), [value, constant], ty);
            }
            Some(Op::Cast(_)) => {
                let to = self.random.pick(&Scalar::ALL);
                self.emit(Op::Cast(to), [value], ty.with_scalar(to));
            }
            Some(Op::Compare(_)) if ty.scalar == Scalar::Bool => {
                // Selects one of what has been compared.
                let Some(mut args) = self.compared.take() else { return false };
                if self.random.chance(50) {
                    args.swap(0, 1);
                }
                let lanes = ty.lanes;
                let ty = self.builder.ty(args[0]);
                if lanes != ty.lanes || !args.iter().all(|arg| self.visible.contains(arg)) {
                    return false;
                }
                self.emit(Op::Select, [value, args[0], args[1]], ty);
            }
            _ => return false,
        }
        true
    }

    fn arithmetic(&mut self) {
        if self.random.chance(30) && self.repeat() {
            return;
        }
        let ty = self.ty();
        let scalar = ty.scalar;
        match self.random.below(13) {
            0 | 1 => {
                let ops: Vec<_> =
                    UnaryOp::ALL.iter().copied().filter(|&op| verify::unary_exists(op, scalar)).collect();
                if !ops.is_empty() {
                    let op = self.random.pick(&ops);
                    let is_test = matches!(op, UnaryOp::IsNan | UnaryOp::IsInf);
                    let result = if is_test { ty.with_scalar(Scalar::Bool) } else { ty };
                    let arg = self.value(ty);
                    self.emit(Op::Unary(op), [arg], result);
                    self.again = Some(Op::Unary(op));
                }
            }
            2..7 => {
                let ops: Vec<_> =
                    BinaryOp::ALL.iter().copied().filter(|&op| verify::binary_exists(op, scalar)).collect();
                let op = self.random.pick(&ops);
                let a = self.value(ty);
                let b = if self.random.chance(40) {
                    let lane = self.constant(scalar);
                    if ty.lanes > 1 { self.emit(Op::Splat(ty.lanes), [lane], ty) } else { lane }
                } else {
                    self.value(ty)
                };
                let args = if self.random.chance(20) { [b, a] } else { [a, b] };
                let value = self.emit(Op::Binary(op), args, ty);
                self.again = Some(Op::Binary(op));
                if self.random.chance(20) {
                    self.keep(value);
                }
            }
            7 => {
                let op = self.random.pick(CompareOp::ALL);
                let args = [self.value(ty), self.value(ty)];
                self.emit(Op::Compare(op), args, ty.with_scalar(Scalar::Bool));
                self.again = Some(Op::Compare(op));
                self.compared = Some(args);
            }
            8 => {
                let lanes = if self.random.chance(50) { 1 } else { ty.lanes };
                let condition = self.value(Type::BOOL.with_lanes(lanes));
                let args = [condition, self.value(ty), self.value(ty)];
                self.emit(Op::Select, args, ty);
            }
            9 => {
                let to = self.scalar();
                let arg = self.value(ty);
                self.emit(Op::Cast(to), [arg], ty.with_scalar(to));
                self.again = Some(Op::Cast(to));
            }
            10 => {
                let to = self.scalar();
                if verify::bitcast_exists(scalar, to) {
                    let mut arg = self.value(ty);
                    if scalar.is_float() {
                        // Which NaN it is, is open.
                        let nan = self.emit(Op::Unary(UnaryOp::IsNan), [arg], ty.with_scalar(Scalar::Bool));
                        let zero = self.builder.constant(Const::from_bits(scalar, 0));
                        let zero = self.emit(Op::Splat(ty.lanes), [zero], ty);
                        arg = self.emit(Op::Select, [nan, zero, arg], ty);
                    }
                    self.emit(Op::Bitcast(to), [arg], ty.with_scalar(to));
                }
            }
            11 => {
                let vector = ty.with_lanes(self.random.pick(&[2, 4]));
                let arg = self.value(vector);
                let lane = self.random.below(vector.lanes.into()) as u8;
                self.emit(Op::Extract(lane), [arg], ty.with_lanes(1));
            }
            12 if scalar.is_float() && self.random.chance(40) => {
                // What tells apart zeros of unlike sign.
                let special = |g: &mut Generator| {
                    let value = g.random.pick(&[0.0, -0.0, 0.0, -0.0, 1.0, -1.0]);
                    let bits = super::arithmetic::from_f64(scalar, value, 0.0);
                    g.builder.constant(Const { scalar, bits })
                };
                let ty = scalar.ty();
                let args = [Type::BOOL, ty].map(|ty| self.value(ty));
                let mut x = special(self);
                for _ in 0..2 {
                    let other = special(self);
                    let condition = self.comparison();
                    x = self.emit(Op::Select, [condition, x, other], ty);
                }
                x = self.emit(Op::Select, [args[0], x, args[1]], ty);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div]);
                let y = special(self);
                let result = self.emit(Op::Binary(op), [x, y], ty);
                self.keep(result);
            }
            _ if scalar.is_float() => {
                let args = [self.value(ty), self.value(ty), self.value(ty)];
                if self.random.chance(60) {
                    let product = self.emit(Op::Binary(BinaryOp::Mul), [args[0], args[1]], ty);
                    let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                    let sum = if self.random.chance(50) { [product, args[2]] } else { [args[2], product] };
                    self.emit(Op::Binary(op), sum, ty);
                } else {
                    self.emit(Op::MulAdd, args, ty);
                }
            }
            _ => {
                let value = self.value(ty);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Xor]);
                if verify::binary_exists(op, scalar) {
                    self.emit(Op::Binary(op), [value, value], ty);
                }
            }
        }
    }

    /// A load or store of a variable.
    fn variable(&mut self) {
        let variables = self.variables.clone();
        let Variable { alloc, elem, len } = self.random.pick(&variables);
        let mut access = Access::unchecked(MemRef::Alloc(alloc));
        let wide = elem.lanes == 1 && len == 4 && self.random.chance(30);
        let ty = if wide { elem.with_lanes(2) } else { elem };
        let room = if wide { 3 } else { len };
        let offset = if len > 1 && self.random.chance(8) {
            let value = self.value(Type::INDEX);
            let mask = self.index(if wide { 1 } else { len - 1 });
            self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
        } else {
            let at = self.random.below(room as usize) as u64;
            self.index(at)
        };
        let mut bounds = Vec::new();
        if self.random.chance(30) {
            let fails = self.random.chance(15);
            let extent = self.index(if fails { len - 1 } else { len });
            access.bounds.push(0);
            bounds = vec![offset, extent];
        }
        if self.random.chance(55) {
            let value = self.value(ty);
            self.effect(Op::Store(access), [offset, value].into_iter().chain(bounds));
        } else {
            self.emit(Op::Load(access), [offset].into_iter().chain(bounds), ty);
        }
    }

    fn memory(&mut self, elem: Scalar, mutable: bool) -> Option<Memory> {
        let fits: Vec<_> =
            self.memories.iter().copied().filter(|m| m.elem == elem && (m.mutable || !mutable)).collect();
        (!fits.is_empty()).then(|| self.random.pick(&fits))
    }

    /// Offset and bounds of an access that is inside the memory if its bounds hold.
    fn place(&mut self, memory: Memory) -> (Access, Vec<Value>) {
        let mut access = Access::unchecked(memory.mem);
        if self.random.chance(40) {
            let offset = if self.random.chance(50) {
                let at = self.random.pick(&[0, 0, 0, 1, 1, 2, 5, 8]);
                self.index(at)
            } else {
                let value = self.value(Type::INDEX);
                let mask = self.index(7);
                self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
            };
            return (access, vec![offset]);
        }
        let index = if self.random.chance(40) {
            let at = self.random.pick(&[0, 0, 1, 5, 9, 11, 12, 13, 15]);
            self.index(at)
        } else {
            self.value(Type::INDEX)
        };
        let extent = match memory.mem {
            MemRef::Param(param) if self.random.chance(60) => {
                self.emit(Op::Extent(param, 0), [], Type::INDEX)
            }
            _ => self.index(EXTENT),
        };
        access.bounds.push(0);
        (access, vec![index, index, extent])
    }

    fn load_from_memory(&mut self) {
        let memories = self.memories.clone();
        let memory = self.random.pick(&memories);
        let (access, args) = self.place(memory);
        let lanes = self.random.pick(&[1, 1, 1, 2, 4]);
        let value = self.emit(Op::Load(access), args, memory.elem.ty().with_lanes(lanes));
        if !self.mix.print && self.random.chance(30) {
            self.keep(value);
        }
    }

    fn store_to_memory(&mut self) {
        let scalar = self.scalar();
        let Some(memory) = self.memory(scalar, true) else { return };
        let (access, mut args) = self.place(memory);
        let lanes = self.random.pick(&[1, 1, 1, 2, 4]);
        let value = self.value(memory.elem.ty().with_lanes(lanes));
        args.insert(1, value);
        self.effect(Op::Store(access), args);
    }

    /// Stores a value where it is seen, if there is a place for it.
    fn keep(&mut self, value: Value) {
        let Some(memory) = self.memory(self.builder.ty(value).scalar, true) else { return };
        let at = self.random.below(8) as u64;
        let offset = self.index(at);
        self.effect(Op::Store(Access::unchecked(memory.mem)), [offset, value]);
    }

    fn synchronize(&mut self) {
        let scope = self.random.pick(&[Scope::Block, Scope::Device]);
        let atomic: Vec<_> =
            self.memories.iter().copied().filter(|m| m.mutable && verify::atomic_exists(m.elem)).collect();
        if atomic.is_empty() || self.random.chance(40) {
            let op = if self.random.chance(50) { Op::Barrier } else { Op::Fence(scope, Ordering::AcqRel) };
            return self.effect(op, []);
        }
        let memory = self.random.pick(&atomic);
        let (access, mut args) = self.place(memory);
        let ty = memory.elem.ty();
        let order = Ordering::Relaxed;
        match self.random.below(4) {
            0 => {
                self.emit(Op::AtomicLoad(access, scope, order), args, ty);
            }
            1 => {
                args.insert(1, self.value(ty));
                self.effect(Op::AtomicStore(access, scope, order), args);
            }
            2 => {
                let ops: Vec<_> =
                    AtomicOp::ALL.iter().copied().filter(|&op| verify::rmw_exists(op, memory.elem)).collect();
                let op = self.random.pick(&ops);
                args.insert(1, self.value(ty));
                self.emit(Op::AtomicRmw(op, access, scope, order), args, ty);
            }
            _ if memory.elem.is_float() => {}
            _ => {
                args.insert(1, self.value(ty));
                args.insert(2, self.value(ty));
                self.emit(Op::AtomicCas(access, scope, order), args, ty);
            }
        }
    }

    fn output(&mut self) {
        let format = Format { pieces: vec![Piece::Arg(FormatSpec::default())] };
        let ty = self.ty();
        let value = self.value(ty);
        if self.random.chance(75) {
            self.effect(Op::Print(format.into()), [value]);
        } else {
            let unlikely = self.comparison();
            let other = self.value(Type::BOOL);
            let condition = self.emit(Op::Binary(BinaryOp::Or), [unlikely, other], Type::BOOL);
            self.effect(Op::Assert(format.into()), [condition, value]);
        }
    }

    // ---- structures ----

    fn types(&mut self) -> Vec<Type> {
        (0..self.random.pick(&[0, 0, 0, 1, 2])).map(|_| self.ty()).collect()
    }

    fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    /// A nested block: `content`, then an end by `end`, unless it has left already.
    fn block(
        &mut self,
        params: &[Type],
        content: impl FnOnce(&mut Generator, &[Value]),
        end: impl FnOnce(&mut Generator) -> (Op, Vec<Value>),
    ) -> Block {
        let mark = self.visible.len();
        let params = self.builder.open_block(params);
        self.visible.extend(&params);
        content(self, &params);
        if !self.builder.is_terminated() {
            if self.random.chance(12) {
                self.jump();
            }
            if !self.builder.is_terminated() {
                let (op, args) = end(self);
                self.effect(op, args);
            }
        }
        let block = self.builder.close_block(Op::Return);
        self.visible.truncate(mark);
        block
    }

    /// Leaves the block, if there is somewhere to go to.
    fn jump(&mut self) {
        if self.targets.is_empty() || self.random.chance(10) {
            if self.random.chance(30) {
                self.effect(Op::Return, []);
            }
            return;
        }
        let near = self.targets.len() - 1 - self.random.below(self.targets.len().min(3));
        let target = self.targets[near].clone();
        if target.repeats && self.random.chance(40) {
            let args = self.values(&target.carried);
            self.effect(Op::Continue(target.label), args);
        } else {
            let args = self.values(&target.results);
            self.effect(Op::Break(target.label), args);
        }
    }

    fn structure(&mut self, op: Op, args: Vec<Value>, blocks: Vec<Block>, results: &[Type]) {
        self.locate();
        let results = self.builder.emit_structure(op, args, blocks, results);
        self.visible.extend(results);
    }

    fn branch(&mut self, depth: usize) {
        let condition = self.value(Type::BOOL);
        let results = self.types();
        let mut blocks = Vec::new();
        for arm in 0..2 {
            let empty = arm == 1 && self.random.chance(50);
            let types = results.clone();
            blocks.push(self.block(
                &[],
                |g, _| {
                    if !empty {
                        g.block_content(depth + 1);
                    }
                },
                |g| (Op::Yield, g.values(&types)),
            ));
        }
        self.structure(Op::If, vec![condition], blocks, &results);
    }

    /// One round less; leaves the loop if there are none.
    fn burn(&mut self, label: Label, results: &[Type]) {
        let access = Access::unchecked(MemRef::Alloc(self.fuel));
        let zero = self.index(0);
        let left = self.emit(Op::Load(access.clone()), [zero], Type::INDEX);
        let one = self.index(1);
        let less = self.emit(Op::Binary(BinaryOp::Sub), [left, one], Type::INDEX);
        self.visible.pop();
        let empty = self.emit(Op::Compare(CompareOp::Eq), [left, zero], Type::BOOL);
        let types = results.to_vec();
        let leave = self.block(&[], |_, _| {}, |g| (Op::Break(label), g.values(&types)));
        let stay = self.block(&[], |_, _| {}, |_| (Op::Yield, vec![]));
        self.structure(Op::If, vec![empty], vec![leave, stay], &[]);
        self.effect(Op::Store(access), [zero, less]);
    }

    /// A `Loop` with carried values and results, that repeats or not.
    fn block_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let (results, carried) = (self.types(), self.types());
        let repeats = self.random.chance(40);
        let initial = self.values(&carried);
        let outer = self.targets.clone();
        self.targets.push(Target { label, results: results.clone(), carried: carried.clone(), repeats });
        let body = self.block(
            &carried.clone(),
            |g, _| {
                if repeats {
                    g.burn(label, &results);
                }
                g.block_content(depth + 1);
            },
            |g| {
                if repeats {
                    (Op::Continue(label), g.values(&carried))
                } else {
                    (Op::Break(label), g.values(&results))
                }
            },
        );
        self.targets = outer;
        self.structure(Op::Loop(label), initial, vec![body], &results);
    }

    /// `while i < n { ...; i += 1 }` as staged.
    fn while_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let scalar = self.random.pick(&[Scalar::Index, Scalar::I32, Scalar::U8]);
        let counter = self.builder.alloc("i", Space::Local, scalar.ty(), 1);
        let access = Access::unchecked(MemRef::Alloc(counter));
        let zero = self.index(0);
        let start = self.builder.constant(Const::int(scalar, 0));
        self.effect(Op::Store(access.clone()), [zero, start]);
        let rounds = self.random.below(5) as i128;
        let outer = self.targets.clone();
        self.targets.push(Target { label, results: vec![], carried: vec![], repeats: false });
        let body = self.block(
            &[],
            |g, _| {
                let zero = g.index(0);
                let i = g.emit(Op::Load(access.clone()), [zero], scalar.ty());
                let limit = g.builder.constant(Const::int(scalar, rounds));
                let holds = g.emit(Op::Compare(CompareOp::Lt), [i, limit], Type::BOOL);
                let done = g.emit(Op::Unary(UnaryOp::Not), [holds], Type::BOOL);
                let leave = g.block(&[], |_, _| {}, |_| (Op::Break(label), vec![]));
                let stay = g.block(&[], |_, _| {}, |_| (Op::Yield, vec![]));
                g.structure(Op::If, vec![done], vec![leave, stay], &[]);
                g.block_content(depth + 1);
                if !g.builder.is_terminated() {
                    let i = g.emit(Op::Load(access.clone()), [zero], scalar.ty());
                    let one = g.builder.constant(Const::int(scalar, 1));
                    let next = g.emit(Op::Binary(BinaryOp::Add), [i, one], scalar.ty());
                    g.effect(Op::Store(access), [zero, next]);
                    g.effect(Op::Continue(label), []);
                }
            },
            |_| (Op::Continue(label), vec![]),
        );
        self.targets = outer;
        self.structure(Op::Loop(label), vec![], vec![body], &[]);
    }

    fn for_loop(&mut self, depth: usize) {
        let label = self.builder.label();
        let scalar = self.random.pick(&[Scalar::Index, Scalar::Index, Scalar::I32, Scalar::I8, Scalar::U16]);
        let lo = self.random.below(4) as i128;
        let span = self.random.below(7) as i128;
        let step = self.random.pick(&[1, 1, 1, 1, 2, 3, 0]);
        let [lo, hi, step] = [lo, lo + span - 1, step].map(|v| {
            let v = if v < 0 && !scalar.is_signed_int() { 0 } else { v };
            self.builder.constant(Const::int(scalar, v))
        });
        let hi = if scalar == Scalar::Index && self.random.chance(40) {
            let value = self.value(Type::INDEX);
            let mask = self.index(3);
            self.emit(Op::Binary(BinaryOp::And), [value, mask], Type::INDEX)
        } else {
            hi
        };
        let carried = self.types();
        let mut args = vec![lo, hi, step];
        args.extend(self.values(&carried));
        let params: Vec<_> = std::iter::once(scalar.ty()).chain(carried.iter().copied()).collect();
        let outer = self.targets.clone();
        let target = Target { label, results: carried.clone(), carried: carried.clone(), repeats: true };
        self.targets.push(target);
        let body = self.block(
            &params,
            |g, _| g.block_content(depth + 1),
            |g| (Op::Continue(label), g.values(&carried)),
        );
        self.targets = outer;
        self.structure(Op::For(label), args, vec![body], &carried);
    }
}
