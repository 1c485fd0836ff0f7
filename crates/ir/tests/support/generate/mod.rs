//! Random kernels: well-typed, structured, ending, with everything that staging makes and more.
//!
//! Besides plain operations there are variables in local memory, as staging records them, and values that blocks
//! carry, as passes leave them; `while` loops, counted loops, one-trip loops, jumps over several levels, early
//! returns; accesses with bounds that hold, that fail and that are not known; aliased tensors, atomics, barriers and operations of warps.
//!
//! Every kernel ends: a variable counts the rounds of all `Loop`s down, and each of them is left when it is zero.

pub(crate) mod indexing;
mod memory;
mod structures;
mod values;

use super::random::Random;
use super::reference::{Arg, Launch};
use tilewise_ir::{
    Access, AllocId, BinaryOp, Builder, Format, FormatSpec, Kernel, Label, MemRef, Op, ParamId, ParamKind,
    Piece, Scalar, Space, Type, Value, verify,
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
    /// Nothing that another thread could see or disturb.
    #[allow(dead_code, reason = "for the tests of devices")]
    pub(crate) const ALONE: Mix =
        Mix { weights: [33, 15, 13, 12, 0, 0, 10, 3, 3, 3], near: 12, print: false, launches: 2 };
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
}
