//! The one way to make a kernel: operations are appended to the innermost open block.

use crate::kernel::{Alloc, AllocId, Block, Inst, Kernel, Param, ParamId, ParamKind, Space, Value};
use crate::op::{Label, Op};
use crate::span::Span;
use crate::types::{Const, Type};

/// Builds one kernel.
///
/// What follows a terminator in a block cannot be reached; it gets values of the right types, so that the caller can
/// go on, and is dropped.
///
/// ```
/// use tilewise_ir::{Builder, Op, Const, BinaryOp, Scalar, Span};
///
/// let mut b = Builder::new("answer");
/// let six = b.constant(Const::int(Scalar::I32, 6));
/// let seven = b.constant(Const::int(Scalar::I32, 7));
/// b.emit(Op::Binary(BinaryOp::Mul), [six, seven], Scalar::I32.ty());
/// let kernel = b.finish();
/// assert_eq!(kernel.op_count(), 4); // and the final return
/// ```
#[derive(Debug)]
pub struct Builder {
    /// Boxed, because it is handed on several times, and at each launch.
    kernel: Box<Kernel>,
    open: Vec<Block>,
    span: Span,
    spare: Spare,
}

/// Memory of kernels that are no longer needed. Allocating the parts of a kernel takes as long as describing it.
#[derive(Debug, Default)]
struct Spare {
    /// An empty kernel, whose body has memory.
    kernel: Option<Box<Kernel>>,
    /// Empty blocks that have memory.
    blocks: Vec<Block>,
    /// How many operations there is memory for, in all of them.
    ops: usize,
}

/// The most operations that memory is kept for: 2 MB of them.
const SPARE_OPS: usize = 16 * 1024;

impl Spare {
    /// Takes a kernel's memory.
    fn take_kernel(&mut self, mut kernel: Box<Kernel>) {
        let ops = kernel.body.insts.capacity();
        let values = kernel.values.capacity();
        if self.kernel.is_some() || self.ops + ops > SPARE_OPS || values > SPARE_OPS {
            return;
        }
        self.take_blocks(&mut kernel.body);
        kernel.clear();
        self.ops += ops;
        self.kernel = Some(kernel);
    }

    /// Takes the operations out of a block, and the memory of the blocks in them.
    fn take_blocks(&mut self, block: &mut Block) {
        block.params.clear();
        for inst in block.insts.drain(..) {
            inst.blocks.into_iter().for_each(|inner| self.take_block(inner));
        }
    }

    fn take_block(&mut self, mut block: Block) {
        self.take_blocks(&mut block);
        let ops = block.insts.capacity();
        if self.ops + ops <= SPARE_OPS {
            self.ops += ops;
            self.blocks.push(block);
        }
    }

    /// An empty kernel.
    fn kernel(&mut self) -> Box<Kernel> {
        let Some(kernel) = self.kernel.take() else { return Box::default() };
        self.ops -= kernel.body.insts.capacity();
        kernel
    }

    /// An empty block.
    fn block(&mut self) -> Block {
        let Some(block) = self.blocks.pop() else { return Block::default() };
        self.ops -= block.insts.capacity();
        block
    }
}

impl Builder {
    /// An empty kernel with its body open.
    pub fn new(name: impl Into<String>) -> Builder {
        Builder {
            kernel: Box::new(Kernel::new(name)),
            open: vec![Block::default()],
            span: Span::NONE,
            spare: Spare::default(),
        }
    }

    /// Starts anew: an empty kernel with its body open, in the memory of those that were [given back](Builder::recycle).
    pub fn restart(&mut self, name: &str) {
        self.kernel = self.spare.kernel();
        self.kernel.name.push_str(name);
        self.kernel.contract = true;
        self.open.clear();
        self.open.push(std::mem::take(&mut self.kernel.body));
        self.span = Span::NONE;
    }

    /// Gives back a kernel that is no longer needed: the next that is built takes its memory.
    pub fn recycle(&mut self, kernel: Box<Kernel>) {
        self.spare.take_kernel(kernel);
    }

    /// The kernel so far: parameters, allocations and types are there, open blocks are not.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel so far, for its flags.
    pub fn kernel_mut(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// Type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// The position that the following operations get.
    pub fn set_location(&mut self, file: &str, line: u32, column: u32) {
        self.span = self.kernel.spans.intern(file, line, column);
    }

    /// The position that the following operations get.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Adds a parameter.
    pub fn param(&mut self, name: impl Into<String>, kind: ParamKind) -> ParamId {
        self.kernel.params.push(Param { name: name.into(), kind });
        ParamId(self.kernel.params.len() as u32 - 1)
    }

    /// Allocates shared or local memory of `len` elements.
    pub fn alloc(&mut self, name: impl Into<String>, space: Space, elem: Type, len: u64) -> AllocId {
        self.kernel.allocs.push(Alloc { name: name.into(), space, elem, len, span: self.span });
        AllocId(self.kernel.allocs.len() as u32 - 1)
    }

    /// Appends an operation with one result of type `ty`.
    pub fn emit(&mut self, op: Op, args: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        let result = self.kernel.new_value(ty);
        self.push(Inst::new(op, args, [result], self.span));
        result
    }

    /// Appends an operation with no result: a store, an effect or a terminator.
    pub fn emit_void(&mut self, op: Op, args: impl IntoIterator<Item = Value>) {
        self.push(Inst::new(op, args, [], self.span));
    }

    /// Appends an operation with nested blocks, and one result for each of `types`.
    pub fn emit_structure(
        &mut self,
        op: Op,
        args: impl IntoIterator<Item = Value>,
        blocks: Vec<Block>,
        types: &[Type],
    ) -> Vec<Value> {
        let results: Vec<_> = types.iter().map(|&ty| self.kernel.new_value(ty)).collect();
        let mut inst = Inst::new(op, args, results.iter().copied(), self.span);
        inst.blocks = blocks;
        self.push(inst);
        results
    }

    /// Appends a constant.
    pub fn constant(&mut self, value: Const) -> Value {
        self.emit(Op::Const(value), [], value.scalar.ty())
    }

    /// A new loop label.
    pub fn label(&mut self) -> Label {
        self.kernel.new_label()
    }

    /// Opens a block with parameters of these types, and gives the parameters.
    pub fn open_block(&mut self, params: &[Type]) -> Vec<Value> {
        let params: Vec<_> = params.iter().map(|&ty| self.kernel.new_value(ty)).collect();
        let mut block = self.spare.block();
        block.params.extend(&params);
        self.open.push(block);
        params
    }

    /// Closes the innermost open block. If it does not end with a terminator yet, `terminator` is appended with no
    /// operands.
    ///
    /// # Panics
    ///
    /// If only the body is open.
    pub fn close_block(&mut self, terminator: Op) -> Block {
        assert!(self.open.len() > 1, "close_block without open_block");
        if !self.is_terminated() {
            self.emit_void(terminator, []);
        }
        self.open.pop().expect("a block is open")
    }

    /// Appends the operations of a closed block, the terminator included if `keep_terminator`.
    pub fn append(&mut self, mut block: Block, keep_terminator: bool) {
        if !keep_terminator {
            block.insts.pop_if(|i| i.op.is_terminator());
        }
        if !self.is_terminated() {
            self.open.last_mut().expect("the body is open").insts.append(&mut block.insts);
        }
        self.spare.take_block(block);
    }

    /// Whether the innermost open block has its terminator: what follows cannot be reached.
    pub fn is_terminated(&self) -> bool {
        self.current().insts.last().is_some_and(|i| i.op.is_terminator())
    }

    /// How many blocks are open, the body included.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The operations of the innermost open block so far.
    pub fn current(&self) -> &Block {
        self.open.last().expect("the body is open")
    }

    /// The kernel, its body ended by `Return`.
    ///
    /// # Panics
    ///
    /// If a block is still open.
    pub fn finish(mut self) -> Kernel {
        *self.take()
    }

    /// [`finish`](Builder::finish) for a builder that is [restarted](Builder::restart) later; until then it is of no use.
    ///
    /// # Panics
    ///
    /// If a block is still open.
    pub fn take(&mut self) -> Box<Kernel> {
        assert_eq!(self.open.len(), 1, "finish with open blocks");
        if !self.is_terminated() {
            self.emit_void(Op::Return, []);
        }
        self.kernel.body = self.open.pop().expect("the body is open");
        std::mem::take(&mut self.kernel)
    }

    fn push(&mut self, inst: Inst) {
        if !self.is_terminated() {
            self.open.last_mut().expect("the body is open").insts.push(inst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Scalar;

    /// A kernel of loops in loops, with so many operations in the innermost.
    fn nested(b: &mut Builder, ops: usize) {
        let labels = [(); 3].map(|()| {
            b.open_block(&[Type::INDEX]);
            b.label()
        });
        for n in 0..ops {
            b.constant(Const::int(Scalar::I32, n as i128));
        }
        for label in labels.into_iter().rev() {
            let block = b.close_block(Op::Continue(label));
            b.emit_structure(Op::Loop(label), [], vec![block], &[]);
        }
        b.open_block(&[]);
        b.constant(Const::int(Scalar::I32, 7));
        let block = b.close_block(Op::Yield);
        b.append(block, false);
    }

    #[test]
    fn a_kernel_in_the_memory_of_others_is_the_same() {
        let fresh = |ops| {
            let mut b = Builder::new("nested");
            nested(&mut b, ops);
            b.finish()
        };
        let mut b = Builder::new("first");
        for ops in [5, 100, 0, 3, 40_000, 3] {
            b.restart("nested");
            nested(&mut b, ops);
            let kernel = b.take();
            assert_eq!(*kernel, fresh(ops), "{ops} operations");
            b.recycle(kernel);
            let Spare { kernel, blocks, ops: kept } = &b.spare;
            let body = kernel.as_ref().map_or(0, |kernel| kernel.body.insts.capacity());
            assert_eq!(*kept, body + blocks.iter().map(|block| block.insts.capacity()).sum::<usize>());
            assert!(*kept <= SPARE_OPS);
        }
    }

    #[test]
    fn a_kernel_is_built_where_it_was_before() {
        let mut b = Builder::new("");
        let mut spare = || {
            b.restart("nested");
            nested(&mut b, 100);
            let kernel = b.take();
            b.recycle(kernel);
            (b.spare.blocks.len(), b.spare.ops)
        };
        // The blocks of three loops, and the one whose operations were appended.
        let (blocks, ops) = spare();
        assert_eq!(blocks, 4);
        assert_eq!(spare(), (blocks, ops));
    }
}
