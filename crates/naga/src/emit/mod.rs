//! Building the shader: operations one after the other, down the tree of blocks.
//!
//! A vector is its lanes, each an expression of its own. A value is visible in a shader where it is in the IR, but for what
//! comes out of structures: that goes through variables.

mod access;
mod arithmetic;
mod atomic;
mod cast;
mod code;
mod control;
mod exchange;
mod float;
mod hide;
mod integer;
mod place;
mod remainder;
mod repetition;
mod report;
mod warp;

use crate::error::Unsupported;
use crate::module::{Arg, LAUNCH_BINDING, LAUNCH_WORDS, Module, ScalarWords, TENSORS_BINDING, Tensor};
use crate::plan::{Memory, Plan, Register, bound_tensors};
use cast::Kind;
use code::{Code, Expr};
use control::Frame;
use naga::{
    AddressSpace, BuiltIn, EntryPoint, Handle, MemoryDecorations, ShaderStage, StorageAccess, TypeInner,
    VectorSize,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::num::NonZeroU32;
use tilewise_ir::{Axis, Builtin, Const, Inst, MemRef, Op, ParamId, Scalar, Site, Space, Value};

/// The lanes of a value.
type Lanes = SmallVec<[Expr; 4]>;

/// Builds the shader of a kernel.
pub(crate) fn emit(plan: Plan<'_>) -> Result<Module, Unsupported> {
    let mut emitter = Emitter::new(plan);
    let kernel = emitter.plan.kernel;
    emitter.block(&kernel.body, emitter.plan.waits, false)?;
    // Operations of warps take some of it.
    emitter.plan.check_shared_bytes(warp::first_span(kernel))?;
    Ok(emitter.finish())
}

struct Emitter<'k> {
    plan: Plan<'k>,
    code: Code,
    values: Vec<Lanes>,
    /// What is known to be a constant.
    constants: Vec<Option<Const>>,
    /// Memory by what refers to it, and the variable or array that holds it.
    memories: FxHashMap<MemRef, (Memory, Expr)>,
    /// Index of the thread in its block and of the block in its part of the grid.
    thread: Expr,
    block: Expr,
    launch: Handle<naga::GlobalVariable>,
    /// Words of the launch that have been read, at the start of the function.
    words: FxHashMap<u32, Expr>,
    args: Vec<Arg>,
    /// First word of each argument.
    places: FxHashMap<Arg, u32>,
    next_word: u32,
    reports: Option<report::Reports>,
    sites: Vec<Site>,
    remainders: FxHashMap<Register, Handle<naga::Function>>,
    next_access: usize,
    next_barrier: usize,
    next_division: usize,
    /// The loops of the shader around the place where statements go, outermost first.
    frames: Vec<Frame>,
    /// Where results of the branches around go.
    yields: Vec<Vec<(Lanes, Register)>>,
    /// Where results of operations go that are built in blocks of their own.
    kept: Vec<Vec<Lanes>>,
    /// Where results and carried values of the loops around go.
    loops: Vec<repetition::LoopVariables>,
    /// How often a truth value has been hidden.
    truths: u32,
    /// Tells a jump over several levels, while it is on its way, from others.
    exit: Option<Expr>,
    /// Whether the thread has not ended, where it goes on for the sake of barriers.
    live: Option<Expr>,
    /// The cell of shared memory that atomic operations order memory by, where they stand for memory barriers.
    ordered_cell: Option<Expr>,
    /// How threads show values to the other lanes of their warps, if they do.
    exchanges: Option<exchange::Exchanges>,
    /// Whether a thread that has ended may be here.
    may_be_dead: bool,
    /// How a thread ends here.
    ending: control::Ending,
}

impl<'k> Emitter<'k> {
    fn new(plan: Plan<'k>) -> Emitter<'k> {
        let mut code = Code::new();
        code.extends_by_halves = plan.capabilities.extends_by_halves;
        let vec3 = code.ty(TypeInner::Vector { size: VectorSize::Tri, scalar: naga::Scalar::U32 });
        let thread = code.argument("thread", vec3, BuiltIn::LocalInvocationId);
        let block = code.argument("block", vec3, BuiltIn::WorkGroupId);
        // The length of the array follows from the arguments that turn out to be read.
        let launch = code.add_global(
            "launch",
            AddressSpace::Uniform,
            Some(LAUNCH_BINDING),
            vec3,
            MemoryDecorations::empty(),
        );
        let values = plan.kernel.values.len();
        let mut emitter = Emitter {
            plan,
            code,
            values: vec![Lanes::new(); values],
            constants: vec![None; values],
            memories: FxHashMap::default(),
            thread,
            block,
            launch,
            words: FxHashMap::default(),
            args: Vec::new(),
            places: FxHashMap::default(),
            next_word: LAUNCH_WORDS,
            reports: None,
            sites: Vec::new(),
            remainders: FxHashMap::default(),
            next_access: 0,
            next_barrier: 0,
            next_division: 0,
            frames: Vec::new(),
            yields: Vec::new(),
            kept: Vec::new(),
            loops: Vec::new(),
            truths: 0,
            exit: None,
            live: None,
            ordered_cell: None,
            exchanges: None,
            may_be_dead: false,
            ending: control::Ending::Return,
        };
        emitter.declare_memories();
        emitter
    }

    fn declare_memories(&mut self) {
        let kernel = self.plan.kernel;
        let coherent =
            if self.plan.ordered { MemoryDecorations::COHERENT } else { MemoryDecorations::empty() };
        let bound = bound_tensors(&self.plan.memories);
        for (n, (param, memory)) in bound.into_iter().enumerate() {
            let access = if memory.writable {
                StorageAccess::LOAD | StorageAccess::STORE
            } else {
                StorageAccess::LOAD
            };
            let ty = self.memory_ty(memory, None);
            let decorations = if memory.writable { coherent } else { MemoryDecorations::empty() };
            let global = self.code.add_global(
                &kernel.params[param.0 as usize].name,
                AddressSpace::Storage { access },
                Some(TENSORS_BINDING + n as u32),
                ty,
                decorations,
            );
            let pointer = self.code.global(global);
            self.memories.insert(MemRef::Param(param), (memory, pointer));
        }
        for (mem, memory) in self.plan.memories.clone() {
            let MemRef::Alloc(alloc) = mem else { continue };
            let name = &kernel.allocs[alloc.0 as usize].name;
            // The limits keep the number within 32 bits.
            let len = memory.places.div_ceil(memory.group.into()) as u32;
            let ty = self.memory_ty(memory, Some(NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN)));
            let pointer = match memory.space {
                Some(Space::Shared) => {
                    let none = MemoryDecorations::empty();
                    let global = self.code.add_global(name, AddressSpace::WorkGroup, None, ty, none);
                    self.code.global(global)
                }
                _ => self.code.variable_ty(ty, Some(name.clone()), None),
            };
            self.memories.insert(mem, (memory, pointer));
        }
    }

    /// The array that memory is; `None` for as long as its buffer.
    fn memory_ty(&mut self, memory: Memory, len: Option<NonZeroU32>) -> Handle<naga::Type> {
        let place = memory.form.place();
        match place::vector_size(memory.group) {
            Some(size) => self.code.vectors_ty(place, size, len),
            None => self.code.array_ty(place, memory.atomic, len),
        }
    }

    fn finish(mut self) -> Module {
        let words = self.next_word;
        let vec4 = self.code.ty(TypeInner::Vector { size: VectorSize::Quad, scalar: naga::Scalar::U32 });
        let size = NonZeroU32::new(words.div_ceil(4)).unwrap_or(NonZeroU32::MIN);
        let ty =
            self.code.ty(TypeInner::Array { base: vec4, size: naga::ArraySize::Constant(size), stride: 16 });
        self.code.module.global_variables.get_mut(self.launch).ty = ty;
        let tensors = bound_tensors(&self.plan.memories)
            .into_iter()
            .map(|(param, memory)| Tensor { param, writable: memory.writable })
            .collect();
        let name = &self.plan.kernel.name;
        let (mut shader, mut function) = self.code.finish();
        function.name = Some(name.clone());
        shader.entry_points.push(EntryPoint {
            name: name.clone(),
            stage: ShaderStage::Compute,
            early_depth_test: None,
            workgroup_size: self.plan.block,
            workgroup_size_overrides: None,
            function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
        Module {
            shader,
            args: self.args,
            tensors,
            shared_bytes: self.plan.shared_bytes,
            sites: self.sites,
            capabilities: self.plan.capabilities,
        }
    }

    // ---- values ----

    fn kind(&self, value: Value) -> Kind {
        Kind { scalar: self.plan.kernel.ty(value).scalar, register: self.plan.register(value) }
    }

    fn lanes(&self, value: Value) -> usize {
        usize::from(self.plan.kernel.ty(value).lanes)
    }

    /// A lane of a value; of one lane, it is in all.
    fn lane(&self, value: Value, lane: usize) -> Expr {
        let lanes = &self.values[value.0 as usize];
        lanes[if lanes.len() == 1 { 0 } else { lane }]
    }

    /// A lane in a register, which can only differ from its own for an index.
    fn lane_in(&mut self, value: Value, lane: usize, register: Register) -> Expr {
        let expr = self.lane(value, lane);
        self.fit(expr, self.plan.register(value), register)
    }

    /// An index with zeros for its upper half, or without its upper half.
    fn fit(&mut self, expr: Expr, from: Register, to: Register) -> Expr {
        match (from, to) {
            (Register::U32, Register::U64) | (Register::U64, Register::U32) => self.code.convert(expr, to),
            _ => expr,
        }
    }

    fn define(&mut self, value: Value, lanes: Lanes) {
        self.values[value.0 as usize] = lanes;
    }

    /// Variables for the lanes of a value.
    fn variables(&mut self, register: Register, lanes: usize) -> Lanes {
        (0..lanes).map(|_| self.code.variable(register)).collect()
    }

    fn load_all(&mut self, variables: &Lanes) -> Lanes {
        variables.iter().map(|&variable| self.code.load(variable)).collect()
    }

    /// Puts a value into variables of this register.
    fn store_all(&mut self, value: Value, variables: &Lanes, register: Register) {
        for (lane, &variable) in variables.iter().enumerate() {
            let expr = match register {
                Register::Bool => self.truth(value, lane),
                _ => self.lane_in(value, lane, register),
            };
            self.code.store(variable, expr);
        }
    }

    // ---- inputs ----

    /// A word of the launch, read at the start of the function.
    fn word(&mut self, word: u32) -> Expr {
        if let Some(&expr) = self.words.get(&word) {
            return expr;
        }
        let launch = self.code.global(self.launch);
        let expr = self.code.at_start(|code| {
            let four = code.part(launch, word / 4);
            let one = code.part(four, word % 4);
            code.load(one)
        });
        self.words.insert(word, expr);
        expr
    }

    /// The lower word of an argument, and the number of its word.
    fn arg(&mut self, arg: Arg) -> (Expr, u32) {
        let place = match self.places.get(&arg) {
            Some(&place) => place,
            None => {
                let place = self.next_word;
                self.next_word += arg.words();
                self.args.push(arg);
                self.places.insert(arg, place);
                place
            }
        };
        (self.word(place), place)
    }

    /// An argument of two words in the register of an index.
    fn index_arg(&mut self, arg: Arg, register: Register) -> Expr {
        let (low, place) = self.arg(arg);
        if register == Register::U32 {
            return low;
        }
        let high = self.word(place + 1);
        self.code.join(low, high)
    }

    fn scalar_arg(&mut self, param: ParamId, kind: Kind) -> Expr {
        let words = if kind.scalar.size() == 8 { ScalarWords::Two } else { ScalarWords::One };
        let arg = Arg::Scalar(param, words);
        if kind.scalar == Scalar::Index {
            return self.index_arg(arg, kind.register);
        }
        let (low, place) = self.arg(arg);
        let bits = match words {
            ScalarWords::One => low,
            ScalarWords::Two => {
                let high = self.word(place + 1);
                self.code.join(low, high)
            }
        };
        self.code.value_of_bits(kind, bits)
    }

    /// A number of the launch or the thread, below 2^32.
    fn builtin(&mut self, builtin: Builtin, axis: Axis) -> Expr {
        let axis = axis as u32;
        let (thread, block) = (self.thread, self.block);
        match builtin {
            Builtin::BlockDim => self.code.u32(self.plan.block[axis as usize]),
            Builtin::ThreadIdx if self.plan.block[axis as usize] == 1 => self.code.u32(0),
            Builtin::ThreadIdx => self.code.part(thread, axis),
            Builtin::GridDim => self.word(3 + axis),
            Builtin::BlockIdx => {
                let base = self.word(axis);
                let in_part = self.code.part(block, axis);
                self.code.binary(naga::BinaryOperator::Add, base, in_part)
            }
        }
    }

    fn constant(&mut self, constant: Const, register: Register) -> Expr {
        let bits = match constant.scalar {
            Scalar::I8 => constant.bits as u8 as i8 as u32 as u64,
            Scalar::I16 => constant.bits as u16 as i16 as u32 as u64,
            // In `f32`, where the device has no halves.
            Scalar::F16 if register == Register::F32 => {
                half::f16::from_bits(constant.bits as u16).to_f32().to_bits().into()
            }
            Scalar::BF16 => constant.bits << 16,
            _ => constant.bits,
        };
        if self.hides(constant) {
            return self.hidden(register, bits);
        }
        self.code.number(register, bits)
    }

    /// Gives an operation's only result.
    fn result(&mut self, inst: &Inst, lanes: Lanes) {
        if let Some(result) = inst.result() {
            self.define(result, lanes);
        }
    }

    /// An operation that is no structure and no terminator.
    fn plain(&mut self, inst: &'k Inst) {
        match &inst.op {
            Op::Const(constant) => {
                let Some(result) = inst.result() else { return };
                self.constants[result.0 as usize] = Some(*constant);
                let expr = self.constant(*constant, self.plan.register(result));
                self.define(result, Lanes::from_slice(&[expr]));
            }
            Op::Builtin(builtin, axis) => {
                let expr = self.builtin(*builtin, *axis);
                self.result(inst, Lanes::from_slice(&[expr]));
            }
            Op::Scalar(param) => {
                let Some(result) = inst.result() else { return };
                let expr = self.scalar_arg(*param, self.kind(result));
                self.define(result, Lanes::from_slice(&[expr]));
            }
            Op::Extent(param, dim) | Op::Stride(param, dim) => {
                let Some(result) = inst.result() else { return };
                let arg = match inst.op {
                    Op::Extent(..) => Arg::Extent(*param, *dim),
                    _ => Arg::Stride(*param, *dim),
                };
                let expr = self.index_arg(arg, self.plan.register(result));
                self.define(result, Lanes::from_slice(&[expr]));
            }
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::MulAdd
            | Op::Select
            | Op::Cast(_)
            | Op::Bitcast(_)
            | Op::Splat(_)
            | Op::Pack
            | Op::Extract(_) => self.arithmetic(inst),
            Op::Load(access) => self.load(inst, access),
            Op::Store(access) => self.store(inst, access),
            Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::AtomicRmw(..) | Op::AtomicCas(..) => {
                self.atomic(inst);
            }
            Op::Fence(..) => self.memory_barrier(),
            Op::Barrier | Op::WarpBarrier => {
                let of_tensors = self.plan.ordered || self.plan.barriers[self.next_barrier];
                self.next_barrier += 1;
                let mut flags = naga::Barrier::WORK_GROUP;
                flags.set(naga::Barrier::STORAGE, of_tensors);
                self.code.push(naga::Statement::ControlBarrier(flags));
            }
            Op::Print(format) => self.print(inst, format),
            Op::Assert(format) => self.assert(inst, format),
            Op::LaneId => {
                let lane = self.lane_id();
                self.result(inst, Lanes::from_slice(&[lane]));
            }
            Op::Shuffle(shuffle) => self.shuffle(inst, *shuffle),
            Op::Ballot => self.ballot(inst),
            Op::WarpReduce(op) => self.warp_reduce(inst, *op),
            Op::WarpScan(op) => self.warp_scan(inst, *op),
            Op::If | Op::Loop(_) | Op::For(_) | Op::Yield | Op::Break(_) | Op::Continue(_) | Op::Return => {}
        }
    }
}
