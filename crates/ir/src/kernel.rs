//! A kernel as data: parameters, allocations, and a tree of blocks of operations on SSA values.
//!
//! Nothing here checks anything: [`verify`](crate::verify) does, and [`build`](crate::build) is the way to make
//! kernels.

use crate::op::{Label, Op};
use crate::span::{Span, SpanTable};
use crate::types::{Scalar, Type};
use smallvec::SmallVec;

/// An SSA value: an index into [`Kernel::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A parameter: an index into [`Kernel::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// Memory that the kernel allocates: an index into [`Kernel::allocs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocId(pub u32);

/// What a memory operation touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemRef {
    /// The storage of a tensor parameter, in global memory.
    Param(ParamId),
    /// Shared or local memory of the kernel's own.
    Alloc(AllocId),
}

/// A kernel: what `#[kernel]` describes and what backends translate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Name of the user's function.
    pub name: String,
    /// Parameters in the order of the user's function.
    pub params: Vec<Param>,
    /// Shared and local memory, in order of allocation.
    pub allocs: Vec<Alloc>,
    /// Type of each value; index is the number of the [`Value`].
    pub values: Vec<Type>,
    /// How many labels [`Op::Loop`] and [`Op::For`] use; labels are `0..labels`.
    pub labels: u32,
    /// The operations; ends with [`Op::Return`].
    pub body: Block,
    /// Positions that the operations' spans refer to.
    pub spans: SpanTable,
    /// Whether `a * b + c` may be contracted to one rounding (see `pass::contract`). On unless the user turns it off.
    pub contract: bool,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Name in the user's function.
    pub name: String,
    /// What is passed.
    pub kind: ParamKind,
}

/// The kinds of parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// One value for the whole launch, read by [`Op::Scalar`].
    Scalar(Scalar),
    /// Storage of a tensor. Its elements are numbered by offset from the tensor's first element; extents and
    /// strides that are not known while staging are read by [`Op::Extent`] and [`Op::Stride`].
    Tensor {
        /// Type of an element.
        elem: Scalar,
        /// Number of dimensions.
        rank: u8,
        /// Whether the kernel may write to it.
        mutable: bool,
        /// Whether another parameter of the launch may share its storage (an in-out pair).
        aliased: bool,
    },
}

/// Memory that lives as long as a block of threads (shared) or a thread (local). Its contents at the start are not
/// defined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alloc {
    /// Name of the variable in the user's function; need not be unique.
    pub name: String,
    /// Who shares it.
    pub space: Space,
    /// Type of an element; a vector for a local SIMD variable.
    pub elem: Type,
    /// Number of elements.
    pub len: u64,
    /// Where the user allocated it.
    pub span: Span,
}

/// The address spaces of [`Alloc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// One copy for each block of threads.
    Shared,
    /// One copy for each thread: variables and arrays. What is only indexed by constants becomes SSA values.
    Local,
}

/// A sequence of operations with parameters. The last operation is a terminator, and no other is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Values that each entry to the block sets: carried values of a loop.
    pub params: Vec<Value>,
    /// The operations in order.
    pub insts: Vec<Inst>,
}

/// An operation with its operands and results.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Operands, in the order that [`Op`] documents.
    pub args: SmallVec<[Value; 4]>,
    /// Results, in the order that [`Op`] documents.
    pub results: SmallVec<[Value; 1]>,
    /// Nested blocks: two for `If`, one for `Loop` and `For`, else none.
    pub blocks: Vec<Block>,
    /// The user's position.
    pub span: Span,
}

impl Kernel {
    /// An empty kernel: no parameters, no operations (not even the final `Return`).
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel { name: name.into(), contract: true, ..Kernel::default() }
    }

    /// Takes out all that there is, and keeps the memory that it was in.
    pub fn clear(&mut self) {
        let Kernel { name, params, allocs, values, labels, body, spans, contract } = self;
        name.clear();
        params.clear();
        allocs.clear();
        values.clear();
        *labels = 0;
        body.params.clear();
        body.insts.clear();
        spans.clear();
        *contract = false;
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.0 as usize]
    }

    /// A new value of type `ty`, defined by nothing yet.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.values.push(ty);
        Value(self.values.len() as u32 - 1)
    }

    /// A new label.
    pub fn new_label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// The user's name of what a memory operation touches.
    pub fn mem_name(&self, mem: MemRef) -> &str {
        match mem {
            MemRef::Param(p) => &self.params[p.0 as usize].name,
            MemRef::Alloc(a) => &self.allocs[a.0 as usize].name,
        }
    }

    /// Type of an element of what a memory operation touches. A scalar parameter has none.
    pub fn mem_elem(&self, mem: MemRef) -> Option<Type> {
        match mem {
            MemRef::Param(p) => match self.params.get(p.0 as usize)?.kind {
                ParamKind::Tensor { elem, .. } => Some(elem.ty()),
                ParamKind::Scalar(_) => None,
            },
            MemRef::Alloc(a) => Some(self.allocs.get(a.0 as usize)?.elem),
        }
    }

    /// Whether nobody writes to this memory while the kernel runs: a tensor that the kernel may not write, and that
    /// shares its storage with no other.
    pub fn is_constant_memory(&self, mem: MemRef) -> bool {
        match mem {
            MemRef::Param(param) => {
                let kind = &self.params[param.0 as usize].kind;
                matches!(kind, ParamKind::Tensor { mutable: false, aliased: false, .. })
            }
            MemRef::Alloc(_) => false,
        }
    }

    /// Whether this memory is the thread's own.
    pub fn is_local_memory(&self, mem: MemRef) -> bool {
        matches!(mem, MemRef::Alloc(alloc) if self.allocs[alloc.0 as usize].space == Space::Local)
    }

    /// Whether an access of one memory may touch what an access of the other, by the same thread, touches.
    ///
    /// Two memories are never the same, except tensors that are both marked [`aliased`](ParamKind::Tensor::aliased), of
    /// which no more is known. (Tensors without the mark that nobody writes may share their storage too: no operation
    /// can tell.)
    ///
    /// ```
    /// use tilewise_ir::{Kernel, MemRef, ParamId};
    ///
    /// let kernel: Kernel = "
    ///     kernel @k(%x: tensor<f32, 1>, %out: tensor<f32, 1, mut, aliased>, %in: tensor<f32, 1, aliased>) {
    ///       return
    ///     }
    /// ".parse()?;
    /// let [x, out, input] = [0, 1, 2].map(|param| MemRef::Param(ParamId(param)));
    /// assert!(kernel.may_be_same(out, input));
    /// assert!(!kernel.may_be_same(out, x));
    /// # Ok::<(), tilewise_ir::ParseError>(())
    /// ```
    pub fn may_be_same(&self, a: MemRef, b: MemRef) -> bool {
        let is_aliased = |mem| match mem {
            MemRef::Param(param) => {
                matches!(self.params[param.0 as usize].kind, ParamKind::Tensor { aliased: true, .. })
            }
            MemRef::Alloc(_) => false,
        };
        a == b || is_aliased(a) && is_aliased(b)
    }

    /// All parameters, scalars among them, then all allocations: what operations can name as memory, by position.
    pub fn memories(&self) -> impl Iterator<Item = MemRef> + use<> {
        let params = (0..self.params.len() as u32).map(|param| MemRef::Param(ParamId(param)));
        params.chain((0..self.allocs.len() as u32).map(|alloc| MemRef::Alloc(AllocId(alloc))))
    }

    /// Number of operations, those in nested blocks included.
    pub fn op_count(&self) -> usize {
        let mut n = 0;
        self.body.visit(&mut |_| n += 1);
        n
    }
}

impl Block {
    /// Calls `f` on each operation, outer before inner, in order.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Inst)) {
        for inst in &self.insts {
            f(inst);
            for block in &inst.blocks {
                block.visit(f);
            }
        }
    }

    /// Calls `f` on each operation, outer before inner, in order.
    pub fn visit_mut(&mut self, f: &mut impl FnMut(&mut Inst)) {
        for inst in &mut self.insts {
            f(inst);
            for block in &mut inst.blocks {
                block.visit_mut(f);
            }
        }
    }
}

impl Inst {
    /// An operation with no nested blocks.
    pub fn new(
        op: Op,
        args: impl IntoIterator<Item = Value>,
        results: impl IntoIterator<Item = Value>,
        span: Span,
    ) -> Inst {
        let mut inst = Inst { op, args: SmallVec::new(), results: SmallVec::new(), blocks: Vec::new(), span };
        args.into_iter().for_each(|arg| inst.args.push(arg));
        results.into_iter().for_each(|result| inst.results.push(result));
        inst
    }

    /// Whether `holds` of this operation or of one inside of it.
    pub fn contains(&self, holds: impl Fn(&Op) -> bool) -> bool {
        let mut found = holds(&self.op);
        for block in &self.blocks {
            block.visit(&mut |inst| found = found || holds(&inst.op));
        }
        found
    }

    /// The only result of an operation that has exactly one.
    pub fn result(&self) -> Option<Value> {
        match self.results[..] {
            [value] => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kernel, MemRef};

    /// All kinds of memory, two of each.
    const ALL: &str = "
        kernel @k(
          %n: u32,
          %read: tensor<f32, 1>, %read2: tensor<f32, 1>,
          %write: tensor<f32, 1, mut>, %write2: tensor<f32, 1, mut>,
          %in: tensor<f32, 1, aliased>, %in2: tensor<u32, 2, aliased>,
          %out: tensor<f32, 1, mut, aliased>, %out2: tensor<f32, 1, mut, aliased>
        ) {
          shared %s: array<f32, 64>
          shared %s2: array<f32, 64>
          local %l: array<f32, 4>
          local %l2: array<f32, 4>
          return
        }";

    fn all() -> (Kernel, Vec<MemRef>) {
        let kernel: Kernel = ALL.parse().expect("the kernel parses");
        // The scalar parameter is no memory.
        let memories = kernel.memories().skip(1).collect();
        (kernel, memories)
    }

    fn named(kernel: &Kernel, memories: &[MemRef], holds: impl Fn(MemRef) -> bool) -> String {
        let names = memories.iter().filter(|&&mem| holds(mem)).map(|&mem| kernel.mem_name(mem));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_tensors_that_are_both_aliased_may_be_the_same() {
        let (kernel, memories) = all();
        let table: Vec<String> = memories
            .iter()
            .map(|&a| {
                let same = named(&kernel, &memories, |b| kernel.may_be_same(a, b));
                format!("{}: {same}", kernel.mem_name(a))
            })
            .collect();
        assert_eq!(
            table,
            [
                "read: read",
                "read2: read2",
                "write: write",
                "write2: write2",
                "in: in in2 out out2",
                "in2: in in2 out out2",
                "out: in in2 out out2",
                "out2: in in2 out out2",
                "s: s",
                "s2: s2",
                "l: l",
                "l2: l2",
            ]
        );
    }

    #[test]
    fn what_nobody_writes_and_what_is_a_threads_own() {
        let (kernel, memories) = all();
        assert_eq!(named(&kernel, &memories, |mem| kernel.is_constant_memory(mem)), "read read2");
        assert_eq!(named(&kernel, &memories, |mem| kernel.is_local_memory(mem)), "l l2");
    }
}
