//! What is found out about a kernel before a shader is built: whether the device can run it, in which registers its
//! values are, and how its memory is laid out.

use crate::capability::{Capabilities, Feature, needs};
use crate::error::{Reason, Unsupported};
use crate::order::barriers_of_tensors;
use rustc_hash::{FxHashMap, FxHashSet};
use tilewise_ir::analysis::uniform::{Ended, leads_to_waiting, waiting_loops};
use tilewise_ir::analysis::{AccessFacts, Facts, Uniform};
use tilewise_ir::{
    AtomicOp, Inst, Kernel, Label, MemRef, Op, ParamId, ParamKind, Scalar, Space, Span, UnaryOp, Value,
};

/// The type of a value in a shader. Integers of fewer bits are kept in 32, extended by their sign or by zeros; halves
/// that the device has not are kept in `f32`, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Register {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

/// How elements lie in an array of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// One in each place.
    Plain(Register),
    /// The bits of one in each place: of a float that is accessed atomically.
    Bits(Register),
    /// Several in each `u32`: elements of so many bits.
    Packed(u32),
    /// Each in two places, the lower half first: indices where there are no 64-bit integers.
    Halves,
}

/// Memory that a kernel accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) form: Form,
    /// Whether places are accessed atomically.
    pub(crate) atomic: bool,
    /// Who shares it; `None` for a tensor.
    pub(crate) space: Option<Space>,
    /// Whether it is bound as written; only for a tensor.
    pub(crate) writable: bool,
    /// Number of places; 0 for a tensor.
    pub(crate) places: u64,
    /// So many places, 1, 2 or 4, are one vector, which can be accessed at once.
    pub(crate) group: u8,
}

/// What the emitter knows of a kernel.
#[derive(Debug)]
pub(crate) struct Plan<'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) facts: &'k Facts,
    pub(crate) capabilities: Capabilities,
    /// Threads of a block along each axis.
    pub(crate) block: [u32; 3],
    pub(crate) uniform: Uniform,
    /// Whether threads wait for each other anywhere.
    pub(crate) waits: bool,
    waiting_loops: FxHashSet<Label>,
    /// Memory that is accessed, in order.
    pub(crate) memories: Vec<(MemRef, Memory)>,
    /// Whether memory has to be coherent between blocks.
    pub(crate) ordered: bool,
    /// Whether each barrier orders memory of tensors, in order.
    pub(crate) barriers: Vec<bool>,
    pub(crate) shared_bytes: u64,
    narrow: Vec<bool>,
}

impl<'k> Plan<'k> {
    pub(crate) fn new(
        kernel: &'k Kernel,
        facts: &'k Facts,
        capabilities: &Capabilities,
    ) -> Result<Plan<'k>, Unsupported> {
        let block = facts.block.ok_or_else(|| Unsupported::new(kernel, Reason::UnknownBlock, Span::NONE))?;
        let mut plan = Plan {
            kernel,
            facts,
            capabilities: *capabilities,
            block,
            uniform: Uniform::analyze(kernel, Ended::TakenAlong, Some(block)),
            waits: kernel.body.insts.iter().any(|inst| inst.contains(Op::waits)),
            waiting_loops: waiting_loops(kernel),
            memories: Vec::new(),
            ordered: false,
            barriers: barriers_of_tensors(kernel),
            shared_bytes: 0,
            narrow: narrow(kernel, facts),
        };
        plan.check_operations()?;
        plan.find_memories();
        plan.check_limits()?;
        Ok(plan)
    }

    /// Whether all threads of a block have to go through a structure together.
    pub(crate) fn is_common(&self, inst: &Inst) -> bool {
        leads_to_waiting(inst, &self.waiting_loops)
    }

    /// Whether 32 bits are enough for an index.
    pub(crate) fn is_narrow(&self, value: Value) -> bool {
        self.narrow[value.0 as usize]
    }

    pub(crate) fn register(&self, value: Value) -> Register {
        self.register_of(self.kernel.ty(value).scalar, self.is_narrow(value))
    }

    /// The register of a scalar; of an index, `narrow` or not.
    pub(crate) fn register_of(&self, scalar: Scalar, narrow: bool) -> Register {
        match scalar {
            Scalar::Bool => Register::Bool,
            Scalar::I8 | Scalar::I16 | Scalar::I32 => Register::I32,
            Scalar::U8 | Scalar::U16 | Scalar::U32 => Register::U32,
            Scalar::I64 => Register::I64,
            Scalar::U64 => Register::U64,
            Scalar::Index => {
                if narrow {
                    Register::U32
                } else {
                    Register::U64
                }
            }
            Scalar::F16 if self.capabilities.f16 => Register::F16,
            Scalar::F16 | Scalar::BF16 | Scalar::F32 => Register::F32,
            Scalar::F64 => Register::F64,
        }
    }

    /// Refuses what the device cannot do.
    fn check_operations(&self) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        let mut wrong = None;
        kernel.body.visit(&mut |inst| {
            if wrong.is_some() {
                return;
            }
            let params = inst.blocks.iter().flat_map(|block| &block.params);
            for &value in inst.results.iter().chain(params) {
                let wide = kernel.ty(value).scalar == Scalar::Index && !self.is_narrow(value);
                if wide && !self.capabilities.int64 {
                    wrong = Some(Unsupported::new(kernel, Reason::WideIndex, inst.span));
                    return;
                }
            }
            if let Op::Print(_) = inst.op {
                let values = inst.args.iter().map(|&arg| u64::from(kernel.ty(arg).lanes)).sum();
                if let Err(error) =
                    check_limit(kernel, "values of a line", values, MAX_LINE_VALUES, inst.span)
                {
                    wrong = Some(error);
                    return;
                }
            }
            let lacks = |op: &Op, scalar| self.capabilities.supports(op, scalar).err();
            let memory = inst.op.access().and_then(|access| kernel.mem_elem(access.mem));
            let operand = inst.args.first().or(inst.results.first()).map(|&value| kernel.ty(value));
            let scalar = memory.or(operand).map_or(Scalar::U32, |ty| ty.scalar);
            let feature = lacks(&inst.op, scalar).or_else(|| match inst.op {
                // What is made needs its type, too.
                Op::Cast(to) | Op::Bitcast(to) => lacks(&inst.op, to),
                _ => None,
            });
            if let Some(feature) = feature {
                let mut what = format!("`{}`", name(&inst.op));
                if let Some(ty) = memory.or(operand) {
                    what.push_str(&format!(" of {}", ty.scalar));
                }
                wrong = Some(Unsupported::new(kernel, Reason::Lacks { what, feature }, inst.span));
            }
        });
        wrong.map_or(Ok(()), Err)
    }

    /// How memory is laid out, by how it is accessed.
    fn find_memories(&mut self) {
        let mut uses: Vec<(MemRef, Uses)> = Vec::new();
        let mut number: FxHashMap<MemRef, usize> = FxHashMap::default();
        let mut orders = false;
        let mut accesses = 0;
        let kernel = self.kernel;
        kernel.body.visit(&mut |inst| {
            orders |= capability_of_order(inst);
            let Some(access) = inst.op.access() else { return };
            let facts = access_facts(self.facts, accesses);
            accesses += 1;
            let n = *number.entry(access.mem).or_insert_with(|| {
                uses.push((access.mem, Uses::default()));
                uses.len() - 1
            });
            let wide =
                |value: &Value| kernel.ty(*value).scalar == Scalar::Index && !self.narrow[value.0 as usize];
            let values = &inst.args[1..inst.op.access_args().unwrap_or(1)];
            let uses = &mut uses[n].1;
            uses.wide |= values.iter().chain(&inst.results).any(wide);
            let accessed =
                if matches!(inst.op, Op::Store(_)) { inst.args.get(1) } else { inst.results.first() };
            let lanes = accessed.map_or(1, |&value| usize::from(kernel.ty(value).lanes));
            let elem = kernel.mem_elem(access.mem).map_or(1, |ty| ty.scalar.size());
            let together = together(facts, elem, lanes);
            match inst.op {
                Op::Load(_) => uses.together = uses.together.max(together),
                Op::Store(_) => {
                    uses.stored = true;
                    uses.together = uses.together.max(together);
                    // A store that is checked may store some of its lanes.
                    let checked = (0..access.bounds.len()).any(|n| !is_proved(facts, n));
                    uses.parted = uses.parted.min(if checked { 1 } else { together });
                }
                Op::AtomicLoad(..) => uses.atomic = true,
                Op::AtomicRmw(AtomicOp::Add, ..) => {
                    uses.atomic = true;
                    uses.stored = true;
                    uses.sums = true;
                }
                _ => {
                    uses.atomic = true;
                    uses.stored = true;
                    uses.other_atomics |=
                        !matches!(inst.op, Op::AtomicStore(..) | Op::AtomicRmw(AtomicOp::Exchange, ..));
                }
            }
        });
        self.ordered = orders;
        self.memories = uses.into_iter().map(|(mem, uses)| (mem, self.memory(mem, uses))).collect();
    }

    /// How many places are one vector, of a form: as many as an access has together, at most 16 bytes.
    fn group(&self, form: Form, atomic: bool, uses: Uses) -> u8 {
        let (in_place, place) = match form {
            // 64-bit indices take two places each.
            Form::Halves | Form::Bits(_) => return 1,
            Form::Packed(width) => (32 / width as usize, 4),
            Form::Plain(register) => (1, usize::from(register.bytes())),
        };
        let together =
            if self.capabilities.component_stores { uses.together } else { uses.together.min(uses.parted) };
        if atomic { 1 } else { (together / in_place).clamp(1, 4.min(16 / place)) as u8 }
    }

    fn memory(&self, mem: MemRef, uses: Uses) -> Memory {
        match mem {
            MemRef::Param(param) => {
                let (elem, aliased) = match self.kernel.params[param.0 as usize].kind {
                    ParamKind::Tensor { elem, aliased, .. } => (elem, aliased),
                    ParamKind::Scalar(elem) => (elem, false),
                };
                let writable = uses.stored || aliased;
                let atomic = uses.atomic && writable;
                let form = self.tensor_form(elem, atomic, uses);
                let packed = matches!(form, Form::Packed(_));
                let atomic = atomic || packed && uses.stored;
                let group = self.group(form, atomic, uses);
                Memory { form, atomic, space: None, writable, places: 0, group }
            }
            MemRef::Alloc(alloc) => {
                let alloc = &self.kernel.allocs[alloc.0 as usize];
                let form = match (alloc.elem.scalar, uses.atomic) {
                    (Scalar::Bool, _) => Form::Plain(Register::U32),
                    (Scalar::F32, true) => Form::Bits(Register::U32),
                    (Scalar::F64, true) => Form::Bits(Register::U64),
                    (Scalar::Index, atomic) => {
                        Form::Plain(if atomic || uses.wide { Register::U64 } else { Register::U32 })
                    }
                    (scalar, _) => Form::Plain(self.register_of(scalar, false)),
                };
                let group = match alloc.space {
                    Space::Shared => self.group(form, uses.atomic, uses),
                    // Compilers keep it in registers, lane by lane.
                    Space::Local => 1,
                };
                Memory {
                    form,
                    atomic: uses.atomic,
                    space: Some(alloc.space),
                    writable: true,
                    places: alloc.len * u64::from(alloc.elem.lanes),
                    group,
                }
            }
        }
    }

    fn tensor_form(&self, elem: Scalar, atomic: bool, uses: Uses) -> Form {
        match elem {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => Form::Packed(8),
            Scalar::I16 | Scalar::U16 | Scalar::BF16 => Form::Packed(16),
            Scalar::F16 if !self.capabilities.f16 => Form::Packed(16),
            Scalar::F32 if atomic => {
                if self.capabilities.float32_atomics && uses.sums && !uses.other_atomics {
                    Form::Plain(Register::F32)
                } else {
                    Form::Bits(Register::U32)
                }
            }
            Scalar::F64 if atomic => Form::Bits(Register::U64),
            Scalar::Index if !self.capabilities.int64 => Form::Halves,
            Scalar::F16
            | Scalar::I32
            | Scalar::U32
            | Scalar::I64
            | Scalar::U64
            | Scalar::Index
            | Scalar::F32
            | Scalar::F64 => Form::Plain(self.register_of(elem, false)),
        }
    }

    fn check_limits(&mut self) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        let limits = self.capabilities;
        let check = |what, amount, limit, span| check_limit(kernel, what, amount, limit, span);
        let threads = self.block.iter().map(|&n| u64::from(n)).product();
        check("threads of a block", threads, limits.max_threads, Span::NONE)?;
        for (axis, what) in
            ["threads of a block along x", "threads of a block along y", "threads of a block along z"]
                .into_iter()
                .enumerate()
        {
            check(what, self.block[axis].into(), limits.max_block[axis], Span::NONE)?;
        }
        let mut tensors = 0;
        for (mem, memory) in self.memories.clone() {
            match (mem, memory.space) {
                (MemRef::Alloc(alloc), Some(space)) => {
                    let places = memory.places.next_multiple_of(memory.group.into());
                    let bytes = places.saturating_mul(memory.form.place_bytes());
                    let span = kernel.allocs[alloc.0 as usize].span;
                    match space {
                        Space::Shared => {
                            self.shared_bytes += bytes;
                            self.check_shared_bytes(span)?;
                        }
                        // naga's types have at most 2^31 bytes.
                        Space::Local => check("bytes of local memory", bytes, i32::MAX as u32, span)?,
                    }
                }
                _ => tensors += 1,
            }
        }
        // One more for the reports.
        check("buffers", tensors + 1, limits.max_storage_buffers, Span::NONE)
    }

    /// Refuses a kernel with more shared memory than there is.
    pub(crate) fn check_shared_bytes(&self, span: Span) -> Result<(), Unsupported> {
        let what = "bytes of shared memory of a block";
        check_limit(self.kernel, what, self.shared_bytes, self.capabilities.max_shared_bytes, span)
    }
}

/// The most values that a line may show. They go to a function as vectors of two, and no function of SPIR-V or WGSL has more
/// than 255 arguments.
const MAX_LINE_VALUES: u32 = 500;

fn check_limit(
    kernel: &Kernel,
    what: &'static str,
    amount: u64,
    limit: u32,
    span: Span,
) -> Result<(), Unsupported> {
    let limit = u64::from(limit);
    if amount <= limit {
        return Ok(());
    }
    Err(Unsupported::new(kernel, Reason::Limit { what, amount, limit }, span))
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug)]
struct Uses {
    stored: bool,
    atomic: bool,
    sums: bool,
    other_atomics: bool,
    /// Whether an index of 64 bits is read or written.
    wide: bool,
    /// The most elements that a load or store has together.
    together: usize,
    /// The fewest that a store has.
    parted: usize,
}

impl Default for Uses {
    fn default() -> Uses {
        let (stored, atomic, sums, other_atomics, wide) = Default::default();
        Uses { stored, atomic, sums, other_atomics, wide, together: 1, parted: usize::MAX }
    }
}

impl Form {
    /// Type of a place.
    pub(crate) fn place(self) -> Register {
        match self {
            Form::Plain(register) | Form::Bits(register) => register,
            Form::Packed(_) | Form::Halves => Register::U32,
        }
    }

    fn place_bytes(self) -> u64 {
        self.place().bytes().into()
    }
}

impl Register {
    /// Size in memory; of a truth value, which is never there, that of a word.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            Register::F16 => 2,
            Register::Bool | Register::I32 | Register::U32 | Register::F32 => 4,
            Register::I64 | Register::U64 | Register::F64 => 8,
        }
    }
}

/// Which indices need 32 bits only: what facts say, and what never has more.
fn narrow(kernel: &Kernel, facts: &Facts) -> Vec<bool> {
    let mut narrow: Vec<bool> =
        (0..kernel.values.len() as u32).map(|value| facts.is_narrow(Value(value))).collect();
    kernel.body.visit(&mut |inst| {
        let small = match inst.op {
            Op::Const(constant) => constant.bits <= u32::MAX.into(),
            Op::Builtin(..) => true,
            _ => false,
        };
        if let (true, Some(result)) = (small, inst.result()) {
            narrow[result.0 as usize] = true;
        }
    });
    narrow
}

/// Whether an operation orders memory.
fn capability_of_order(inst: &Inst) -> bool {
    needs(&inst.op, Scalar::U32).contains(&Some(Feature::MemoryBarriers))
}

/// What an access is known to be, by number.
pub(crate) fn access_facts(facts: &Facts, number: usize) -> AccessFacts {
    facts.accesses.get(number).copied().unwrap_or_default()
}

/// Whether a bound of an access always holds.
pub(crate) fn is_proved(facts: AccessFacts, bound: usize) -> bool {
    bound < 8 && facts.in_bounds >> bound & 1 == 1
}

/// How many elements of so many bytes an access of `lanes` has together: the first of them, and each so many further on,
/// is at a multiple of so many. A power of two.
pub(crate) fn together(facts: AccessFacts, elem: usize, lanes: usize) -> usize {
    let aligned = usize::from(facts.align) / elem.max(1);
    let lanes = 1 << lanes.trailing_zeros().min(4);
    aligned.clamp(1, lanes)
}

/// The parameters whose storage is bound, in order of their bindings.
pub(crate) fn bound_tensors(memories: &[(MemRef, Memory)]) -> Vec<(ParamId, Memory)> {
    let mut seen = FxHashSet::default();
    let mut bound: Vec<_> = memories
        .iter()
        .filter_map(|&(mem, memory)| match mem {
            MemRef::Param(param) => Some((param, memory)),
            MemRef::Alloc(_) => None,
        })
        .filter(|(param, _)| seen.insert(*param))
        .collect();
    bound.sort_by_key(|(param, _)| *param);
    bound
}

/// The word of an operation in the text of the IR.
fn name(op: &Op) -> String {
    // `LeadingZeros` is `leading_zeros`.
    let snake = |name: String| {
        let mut words = String::new();
        for (n, c) in name.chars().enumerate() {
            if n > 0 && c.is_uppercase() {
                words.push('_');
            }
            words.extend(c.to_lowercase());
        }
        words
    };
    match op {
        Op::Unary(UnaryOp::Not) => "not".to_owned(),
        Op::Unary(op) => snake(format!("{op:?}")),
        Op::Binary(op) => snake(format!("{op:?}")),
        Op::Compare(op) => snake(format!("{op:?}")),
        Op::AtomicRmw(op, ..) => snake(format!("Atomic{op:?}")),
        other => {
            let name = format!("{other:?}");
            let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
            snake(name[..end].to_owned())
        }
    }
}
