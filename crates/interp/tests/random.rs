//! Random kernels against the reference evaluator of the IR, bit for bit, as they are staged, prepared and optimised.
//!
//! The evaluator runs one thread; here many threads run the same kernel at once, each with memory and indices of its
//! own, so that they take different branches and rounds.

#[path = "../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;

use std::num::NonZeroUsize;

use support::generate::{self, Mix};
use support::reference::{self, Arg, Launch};
use support::{arithmetic, random};
use tilewise_interp::{Buffer, LaunchConfig, Options, Program};
use tilewise_ir::{
    Access, AllocId, Axis, BinaryOp, Block, Builtin, Const, Inst, Kernel, MemRef, Op, Param, ParamId,
    ParamKind, Scalar, Space, Span, Type, Value, pass,
};

/// Threads that run a kernel at once: more than fit one chunk of lanes, and not a whole number of chunks.
const THREADS: u64 = 70;

/// How many kernels are tried: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 300;

/// Numbers of a launch that each thread gets from a table: three for each of the four built-ins.
const BUILTINS: u64 = 12;

/// The launch of one thread: the same arguments, other data and another index.
fn of_thread(launch: &Launch, thread: u64) -> Launch {
    let mut own = launch.clone();
    own.thread = launch.thread.map(|t| (t + thread) % 8);
    for (n, buffer) in own.buffers.iter_mut().enumerate() {
        let by = random::mix(thread * 31 + n as u64) as usize % buffer.len();
        buffer.rotate_left(by);
    }
    own
}

/// The kernel for many threads: memory that threads would share is enlarged, and each has its part of it.
fn for_many_threads(kernel: &Kernel, launch: &Launch) -> Kernel {
    let len = launch.buffers[0].len() as u64;
    let mut kernel = kernel.clone();
    let table = ParamId(kernel.params.len() as u32);
    let kind = ParamKind::Tensor { elem: Scalar::Index, rank: 1, mutable: false, aliased: false };
    kernel.params.push(Param { name: "builtins".into(), kind });
    let mut start = Vec::new();
    let mut emit = |kernel: &mut Kernel, op: Op, args: &[Value], ty: Type| {
        let result = kernel.new_value(ty);
        start.push(Inst::new(op, args.iter().copied(), [result], Span::NONE));
        result
    };
    let thread = emit(&mut kernel, Op::Builtin(Builtin::ThreadIdx, Axis::X), &[], Type::INDEX);
    let mut base = |kernel: &mut Kernel, len: u64| {
        let len = emit(kernel, Op::Const(Const::index(len)), &[], Type::INDEX);
        emit(kernel, Op::Binary(BinaryOp::Mul), &[thread, len], Type::INDEX)
    };
    let tensors = base(&mut kernel, len);
    let rows = base(&mut kernel, BUILTINS);
    let mut bases = Vec::new();
    for n in 0..kernel.allocs.len() {
        let alloc = &mut kernel.allocs[n];
        bases.push(match alloc.space {
            Space::Shared => {
                let own = alloc.len;
                alloc.len *= THREADS;
                Some(base(&mut kernel, own))
            }
            Space::Local => None,
        });
    }
    // Memory starts as zeros for the evaluator, and without contents on a device.
    let mut zeros = Vec::new();
    for (n, alloc) in kernel.allocs.clone().iter().enumerate() {
        let own = if alloc.space == Space::Shared { alloc.len / THREADS } else { alloc.len };
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
    rewrite(
        &mut kernel,
        &mut body,
        &|mem| match mem {
            MemRef::Param(_) => Some(tensors),
            MemRef::Alloc(alloc) => bases[alloc.0 as usize],
        },
        rows,
        table,
    );
    body.insts.splice(0..0, start);
    kernel.body = body;
    kernel
}

/// Adds the thread's base to each offset, and reads built-ins from the table.
fn rewrite(
    kernel: &mut Kernel,
    block: &mut Block,
    base: &dyn Fn(MemRef) -> Option<Value>,
    rows: Value,
    table: ParamId,
) {
    for mut inst in std::mem::take(&mut block.insts) {
        for nested in &mut inst.blocks {
            rewrite(kernel, nested, base, rows, table);
        }
        let mut add = |kernel: &mut Kernel, a: Value, b: Value| {
            let sum = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Binary(BinaryOp::Add), [a, b], [sum], Span::NONE));
            sum
        };
        if let Some(base) = inst.op.access().and_then(|a| base(a.mem)) {
            inst.args[0] = add(kernel, inst.args[0], base);
        }
        if let Op::Builtin(builtin, axis) = inst.op {
            let column = kernel.new_value(Type::INDEX);
            let number = Const::index(builtin as u64 * 3 + axis as u64);
            block.insts.push(Inst::new(Op::Const(number), [], [column], Span::NONE));
            let sum = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Binary(BinaryOp::Add), [rows, column], [sum], Span::NONE));
            inst.op = Op::Load(Access::unchecked(MemRef::Param(table)));
            inst.args.push(sum);
        }
        block.insts.push(inst);
    }
}

/// What the evaluator gives for a built-in; see its `builtin`.
fn builtins(thread: [u64; 3]) -> Vec<u64> {
    let mut table = thread.to_vec();
    table.extend((0..3).map(|axis| thread[axis] + axis as u64));
    table.extend([8; 3]);
    table.extend([16; 3]);
    table
}

/// Runs the kernel for many threads on the interpreter and compares each thread's memory with `expected`.
fn compare(
    what: &str,
    original: &Kernel,
    kernel: &Kernel,
    launches: &[Launch],
    expected: &[reference::Outcome],
) {
    let program = Program::compile(kernel).unwrap_or_else(|error| panic!("{what}: {error}\n{original}"));
    let first = &launches[0];
    let len = first.buffers[0].len();
    let mut scalars = vec![Scalar::Index; first.buffers.len()];
    for (param, arg) in original.params.iter().zip(&first.args) {
        if let (&ParamKind::Tensor { elem, .. }, Arg::Tensor(buffer, _)) = (&param.kind, arg) {
            scalars[*buffer] = elem;
        }
    }
    let filled = |scalar: Scalar, bits: Vec<u64>| {
        let buffer = Buffer::new(scalar, bits.len()).expect("a small buffer");
        for (i, bits) in bits.into_iter().enumerate() {
            assert!(buffer.set(i, bits));
        }
        buffer
    };
    let buffers: Vec<_> = scalars
        .iter()
        .enumerate()
        .map(|(n, &scalar)| filled(scalar, launches.iter().flat_map(|l| l.buffers[n].clone()).collect()))
        .collect();
    let table = filled(Scalar::Index, launches.iter().flat_map(|l| builtins(l.thread)).collect());
    let whole = [len as u64 * THREADS];
    let mut args: Vec<_> = original
        .params
        .iter()
        .zip(&first.args)
        .map(|(param, arg)| match (&param.kind, arg) {
            (&ParamKind::Scalar(scalar), Arg::Scalar(bits)) => {
                tilewise_interp::Arg::Scalar(Const::from_bits(scalar, *bits))
            }
            (_, Arg::Tensor(buffer, _)) => tilewise_interp::Arg::Tensor {
                buffer: &buffers[*buffer],
                offset: 0,
                extents: &whole,
                strides: &[1],
            },
            (ParamKind::Tensor { .. }, Arg::Scalar(_)) => panic!("a scalar is no tensor"),
        })
        .collect();
    let extents = [table.len() as u64];
    args.push(tilewise_interp::Arg::Tensor { buffer: &table, offset: 0, extents: &extents, strides: &[1] });
    let config = LaunchConfig { grid: [1, 1, 1], block: [THREADS as u32, 1, 1] };
    let mut options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
    options.limits.shared_bytes = 1 << 30;
    let outcome =
        program.run(config, &args, options).unwrap_or_else(|error| panic!("{what}: {error}\n{original}"));
    for (thread, expected) in expected.iter().enumerate() {
        for (n, buffer) in buffers.iter().enumerate() {
            let got: Vec<_> = (0..len)
                .map(|i| {
                    arithmetic::canonical(scalars[n], buffer.get(thread * len + i).expect("in the buffer"))
                })
                .collect();
            assert_eq!(
                got, expected.buffers[n],
                "{what}, thread {thread}, buffer {n}: not what the reference evaluator gives; {outcome:?}\n{original}"
            );
        }
    }
    let must = expected.iter().any(|e| e.faults.iter().any(|f| !f.may_vanish()));
    let may = expected.iter().any(|e| !e.faults.is_empty());
    let is = outcome.first_fault.is_some();
    assert!(
        (is || !must) && (may || !is),
        "{what}: fault {:?}, but {must} to {may} expected\n{original}",
        outcome.first_fault
    );
}

#[test]
fn kernels_do_what_the_reference_evaluator_does() {
    let kernels = std::env::var("TILEWISE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(KERNELS);
    let mut compared = 0;
    for seed in 0..kernels {
        for mix in [Mix::ALONE, Mix::EXPRESSIONS] {
            let (kernel, launches) = generate::kernel(seed, mix);
            if launches[0].buffers.is_empty() {
                continue;
            }
            let launches: Vec<_> = (0..THREADS).map(|thread| of_thread(&launches[0], thread)).collect();
            let many = for_many_threads(&kernel, &launches[0]);
            let expect = |kernel: &Kernel| {
                launches.iter().map(|l| reference::run(kernel, l)).collect::<Option<Vec<_>>>()
            };
            let Some(expected) = expect(&kernel) else { continue };
            compared += 1;
            compare("as it is", &kernel, &many, &launches, &expected);
            let (mut prepared, mut many) = (kernel.clone(), many);
            pass::prepare(&mut prepared);
            pass::prepare(&mut many);
            let Some(expected) = expect(&prepared) else { continue };
            compare("prepared", &kernel, &many, &launches, &expected);
            pass::optimize(&mut many);
            compare("optimised", &kernel, &many, &launches, &expected);
        }
    }
    assert!(compared > kernels, "only {compared} of {} kernels were compared", 2 * kernels);
}
