//! A kernel for many threads, from one that a thread runs by itself: each has a part of its own of all memory, so threads
//! neither see nor disturb each other. They still take different branches and rounds.
//!
//! Buffers of a launch have to be as many times as long as there are threads, those of one thread after those of another;
//! each thread sees the extents of its own part.

#![allow(dead_code, reason = "for the tests of devices")]

use super::random::mix;
use super::reference::{Arg, Launch};
use tilewise_ir::{
    Access, AllocId, Axis, BinaryOp, Block, Builtin, Const, Inst, Kernel, MemRef, Op, Param, ParamId,
    ParamKind, Scalar, Space, Span, Type, Value,
};

/// Numbers of a launch that each thread gets from a table: three for each of the four built-ins.
const BUILTINS: u64 = 12;

/// The launch of one thread: the same arguments, other data and another index.
pub(crate) fn of_thread(launch: &Launch, thread: u64) -> Launch {
    let mut own = launch.clone();
    own.thread = launch.thread.map(|t| (t + thread) % 8);
    for (n, buffer) in own.buffers.iter_mut().enumerate() {
        let by = mix(thread * 31 + n as u64) as usize % buffer.len();
        buffer.rotate_left(by);
    }
    own
}

/// The kernel for so many threads of one block, each of which gets the numbers of the launch and of the thread from a
/// table, which is one more parameter.
pub(crate) fn with_table(kernel: &Kernel, launch: &Launch, threads: u64) -> Kernel {
    let mut kernel = kernel.clone();
    let table = ParamId(kernel.params.len() as u32);
    let kind = ParamKind::Tensor { elem: Scalar::Index, rank: 1, mutable: false, aliased: false };
    kernel.params.push(Param { name: "builtins".into(), kind });
    let mut start = Start::default();
    let thread = start.builtin(&mut kernel, Builtin::ThreadIdx);
    let rows = start.times(&mut kernel, thread, BUILTINS);
    finish(kernel, launch, threads, start, thread, Some((table, rows)))
}

/// The kernel for any number of blocks of so many threads along x.
pub(crate) fn with_blocks(kernel: &Kernel, launch: &Launch, threads: u64) -> Kernel {
    let mut kernel = kernel.clone();
    let mut start = Start::default();
    let [thread, block] =
        [Builtin::ThreadIdx, Builtin::BlockIdx].map(|builtin| start.builtin(&mut kernel, builtin));
    let before = start.times(&mut kernel, block, threads);
    let thread_of_grid = start.emit(&mut kernel, Op::Binary(BinaryOp::Add), &[before, thread], Type::INDEX);
    finish(kernel, launch, threads, start, thread_of_grid, None)
}

/// What is computed at the start of a kernel.
#[derive(Default)]
struct Start(Vec<Inst>);

impl Start {
    fn emit(&mut self, kernel: &mut Kernel, op: Op, args: &[Value], ty: Type) -> Value {
        let result = kernel.new_value(ty);
        self.0.push(Inst::new(op, args.iter().copied(), [result], Span::NONE));
        result
    }

    fn builtin(&mut self, kernel: &mut Kernel, builtin: Builtin) -> Value {
        self.emit(kernel, Op::Builtin(builtin, Axis::X), &[], Type::INDEX)
    }

    fn times(&mut self, kernel: &mut Kernel, value: Value, factor: u64) -> Value {
        let factor = self.emit(kernel, Op::Const(Const::index(factor)), &[], Type::INDEX);
        self.emit(kernel, Op::Binary(BinaryOp::Mul), &[value, factor], Type::INDEX)
    }
}

fn finish(
    mut kernel: Kernel,
    launch: &Launch,
    threads: u64,
    mut start: Start,
    thread: Value,
    table: Option<(ParamId, Value)>,
) -> Kernel {
    let len = launch.buffers[0].len() as u64;
    let tensors = start.times(&mut kernel, thread, len);
    let in_block = start.builtin(&mut kernel, Builtin::ThreadIdx);
    let mut shared = Vec::new();
    for n in 0..kernel.allocs.len() {
        let alloc = &mut kernel.allocs[n];
        shared.push(match alloc.space {
            Space::Shared => {
                let own = alloc.len;
                alloc.len *= threads;
                Some(start.times(&mut kernel, in_block, own))
            }
            Space::Local => None,
        });
    }
    // Memory starts as zeros for the evaluator, and without contents on a device.
    let mut zeros = Vec::new();
    for (n, alloc) in kernel.allocs.clone().iter().enumerate() {
        let own = if alloc.space == Space::Shared { alloc.len / threads } else { alloc.len };
        for element in 0..own {
            let index = kernel.new_value(Type::INDEX);
            zeros.push(Inst::new(Op::Const(Const::index(element)), [], [index], Span::NONE));
            let mut zero = kernel.new_value(alloc.elem.scalar.ty());
            zeros.push(Inst::new(Op::Const(Const::from_bits(alloc.elem.scalar, 0)), [], [zero], Span::NONE));
            if alloc.elem.lanes > 1 {
                let vector = kernel.new_value(alloc.elem);
                zeros.push(Inst::new(Op::Splat(alloc.elem.lanes), [zero], [vector], Span::NONE));
                zero = vector;
            }
            let access = Access::unchecked(MemRef::Alloc(AllocId(n as u32)));
            zeros.push(Inst::new(Op::Store(access), [index, zero], [], Span::NONE));
        }
    }
    let mut body = std::mem::take(&mut kernel.body);
    // A tensor is now as long as the parts of all threads; each sees the extent of its own.
    body.visit_mut(&mut |inst| {
        if let Op::Extent(param, dim) = inst.op
            && let Arg::Tensor(_, extents) = &launch.args[param.0 as usize]
        {
            inst.op = Op::Const(Const::index(extents[usize::from(dim)]));
        }
    });
    body.insts.splice(0..0, zeros);
    let base = |mem| match mem {
        MemRef::Param(_) => Some(tensors),
        MemRef::Alloc(alloc) => shared[alloc.0 as usize],
    };
    rewrite(&mut kernel, &mut body, &base, table);
    body.insts.splice(0..0, start.0);
    kernel.body = body;
    kernel
}

/// Adds the thread's base to each offset, and reads built-ins from the table if there is one.
fn rewrite(
    kernel: &mut Kernel,
    block: &mut Block,
    base: &dyn Fn(MemRef) -> Option<Value>,
    table: Option<(ParamId, Value)>,
) {
    for mut inst in std::mem::take(&mut block.insts) {
        for nested in &mut inst.blocks {
            rewrite(kernel, nested, base, table);
        }
        let mut add = |kernel: &mut Kernel, a: Value, b: Value| {
            let sum = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Binary(BinaryOp::Add), [a, b], [sum], Span::NONE));
            sum
        };
        if let Some(base) = inst.op.access().and_then(|a| base(a.mem)) {
            inst.args[0] = add(kernel, inst.args[0], base);
        }
        if let (Op::Builtin(builtin, axis), Some((table, rows))) = (&inst.op, table) {
            let number = Const::index(*builtin as u64 * 3 + *axis as u64);
            let column = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Const(number), [], [column], Span::NONE));
            let sum = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Binary(BinaryOp::Add), [rows, column], [sum], Span::NONE));
            inst.op = Op::Load(Access::unchecked(MemRef::Param(table)));
            inst.args.push(sum);
        }
        block.insts.push(inst);
    }
}
