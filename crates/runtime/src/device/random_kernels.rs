//! Random kernels on every device that there is, against the CPU device: what they leave in memory and print, and how often
//! they fault, is the same with facts of the launch and without, as they are described and optimised.
//!
//! `TILEWISE_KERNELS` is how many kernels of each generator are tried, `TILEWISE_SEED` the first of them.

#[path = "../../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;

use std::env;
use std::sync::{Arc, Mutex};

use tilewise_ir::{
    BinaryOp, Const, Effect, Inst, Kernel, MemRef, Op, Param, ParamId, ParamKind, Scalar, Span, Type,
    UnaryOp, pass,
};

use self::support::generate::{self, Mix, indexing};
use self::support::reference::{Arg, Launch};
use self::support::{arithmetic, many};
use crate::context::DeviceContext;
use crate::device::{ArgValue, Memory};
use crate::error::{Error, Result};
use crate::fault::FaultReport;
use crate::launch::{LaunchParam, TensorValue};
use crate::storage::Storage;

/// Threads of a block: a warp and a part of one.
const THREADS: usize = 48;

/// Blocks.
const BLOCKS: usize = 2;

/// How many kernels of each generator are tried: few, as the compilers of software adapters take seconds for one.
const KERNELS: u64 = 8;

/// The most places that may report something, of a kernel for a software adapter. The compiler of Mesa's has no calls, so each
/// place has a copy of the function that reports, and each access to a buffer in it becomes a loop over lanes with variables of
/// its own. For each variable LLVM 15 looks at the whole kernel anew when it makes a coroutine of it: 90 places take seconds,
/// 250 the better part of a minute.
const MOST_REPORTS: usize = 100;

/// What a launch leaves.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    /// The bits of the elements of each buffer, with one NaN for all.
    buffers: Vec<Vec<u64>>,
    /// What was printed, in some order.
    lines: Vec<String>,
    fault: Option<FaultReport>,
}

impl Outcome {
    fn faults(&self) -> u64 {
        self.fault.as_ref().map_or(0, |report| report.more + 1)
    }
}

/// The kernel with a number more in each extent that an access is compared with, and in each divisor. It is zero, but as it
/// comes from memory, nothing is known of it: no check can be proved to hold.
fn with_hidden_zero(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let kind = ParamKind::Tensor { elem: Scalar::Index, rank: 1, mutable: false, aliased: false };
    let hidden = ParamId(kernel.params.len() as u32);
    kernel.params.push(Param { name: "hidden".to_owned(), kind });
    let [at, zero] = [(); 2].map(|()| kernel.new_value(Type::INDEX));
    let load = Op::Load(tilewise_ir::Access::unchecked(MemRef::Param(hidden)));
    let start = [
        Inst::new(Op::Const(Const::index(0)), [], [at], Span::NONE),
        Inst::new(load, [at], [zero], Span::NONE),
    ];
    let mut body = std::mem::take(&mut kernel.body);
    add_to_checks(&mut kernel, &mut body, zero);
    body.insts.splice(0..0, start);
    kernel.body = body;
    kernel
}

fn add_to_checks(kernel: &mut Kernel, block: &mut tilewise_ir::Block, zero: tilewise_ir::Value) {
    for mut inst in std::mem::take(&mut block.insts) {
        for nested in &mut inst.blocks {
            add_to_checks(kernel, nested, zero);
        }
        let is_index = |n: usize| inst.args.get(n).is_some_and(|&value| kernel.ty(value) == Type::INDEX);
        let operands: Vec<usize> = match inst.op {
            Op::Binary(BinaryOp::Div | BinaryOp::Rem) if is_index(1) => vec![1],
            _ => inst
                .op
                .access_args()
                .map_or(Vec::new(), |first| (first + 1..inst.args.len()).step_by(2).collect()),
        };
        for n in operands {
            let sum = kernel.new_value(Type::INDEX);
            block.insts.push(Inst::new(Op::Binary(BinaryOp::Add), [inst.args[n], zero], [sum], Span::NONE));
            inst.args[n] = sum;
        }
        block.insts.push(inst);
    }
}

/// Memory with these bits.
fn storage(ctx: &DeviceContext, scalar: Scalar, bits: &[u64]) -> Result<Arc<Storage>> {
    let storage = Storage::of(ctx, scalar, bits.len())?;
    let mut rest = bits.iter();
    let size = scalar.size();
    storage.memory().write(0, bits.len(), &mut |bytes| {
        for (chunk, bits) in bytes.chunks_exact_mut(size).zip(&mut rest) {
            chunk.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    })?;
    Ok(Arc::new(storage))
}

/// The bits of the elements of memory.
fn bits(memory: &dyn Memory, scalar: Scalar, len: usize) -> Result<Vec<u64>> {
    let mut bits = Vec::new();
    memory.read(0, len, &mut |bytes| {
        for chunk in bytes.chunks_exact(scalar.size()) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            bits.push(arithmetic::canonical(scalar, u64::from_le_bytes(word)));
        }
    })?;
    Ok(bits)
}

/// Runs a kernel on memory of its own for each thread.
fn run(ctx: &DeviceContext, kernel: &Kernel, launches: &[Launch]) -> Result<Outcome> {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = ctx.clone().with_output(Arc::clone(&text));
    let first = &launches[0];
    let mut scalars = vec![Scalar::Index; first.buffers.len()];
    for (param, arg) in kernel.params.iter().zip(&first.args) {
        if let (&ParamKind::Tensor { elem, .. }, Arg::Tensor(buffer, _)) = (&param.kind, arg) {
            scalars[*buffer] = elem;
        }
    }
    let of_all =
        |n: usize| launches.iter().flat_map(|launch| launch.buffers[n].clone()).collect::<Vec<u64>>();
    let storages: Vec<Arc<Storage>> = scalars
        .iter()
        .enumerate()
        .map(|(n, &scalar)| storage(&ctx, scalar, &of_all(n)))
        .collect::<Result<_>>()?;
    let tensor = |storage: &Arc<Storage>| {
        let len = storage.len() as u64;
        ArgValue::Tensor(TensorValue {
            storage: Arc::clone(storage),
            offset: 0,
            extents: [len].into_iter().collect(),
            strides: [1].into_iter().collect(),
        })
    };
    let hidden = storage(&ctx, Scalar::Index, &[0])?;
    let values = kernel.params.iter().enumerate().map(|(n, param)| match (first.args.get(n), &param.kind) {
        (Some(&Arg::Scalar(bits)), &ParamKind::Scalar(scalar)) => {
            ArgValue::Scalar(Const::from_bits(scalar, bits))
        }
        (Some(&Arg::Tensor(buffer, _)), _) => tensor(&storages[buffer]),
        (None, _) => tensor(&hidden),
        (Some(_), _) => panic!("a scalar is no tensor"),
    });
    let params: Vec<LaunchParam> = kernel
        .params
        .iter()
        .zip(values)
        .map(|(param, value)| LaunchParam {
            name: param.name.clone().into(),
            kind: param.kind.clone(),
            value,
        })
        .collect();
    ctx.enqueue_kernel(kernel, &params, [BLOCKS as u32, 1, 1], [THREADS as u32, 1, 1])?;
    let fault = match ctx.synchronize() {
        Ok(()) => None,
        Err(Error::Fault(report)) => Some(*report),
        Err(error) => return Err(error),
    };
    let buffers = storages.iter().zip(&scalars);
    let buffers = buffers
        .map(|(storage, &scalar)| bits(storage.memory(), scalar, storage.len()))
        .collect::<Result<_>>()?;
    let mut lines: Vec<String> =
        text.lock().expect("nobody has panicked").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    Ok(Outcome { buffers, lines, fault })
}

/// The kernel with other operations in place of those functions, such as `exp`, whose last bits are not the same everywhere.
fn without_functions(mut kernel: Kernel) -> Kernel {
    kernel.body.visit_mut(&mut |inst| match &mut inst.op {
        Op::Unary(
            op @ (UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh),
        ) => *op = UnaryOp::Abs,
        Op::Binary(op @ (BinaryOp::Pow | BinaryOp::Atan2)) => *op = BinaryOp::Max,
        _ => {}
    });
    kernel
}

/// Whether the device computes on the CPU, by a driver for GPUs.
fn is_software(ctx: &DeviceContext) -> bool {
    ctx.device_info().description.contains("software adapter")
}

/// Whether the operations of a kernel give the same bits everywhere. Where `fma` rounds twice, a sum of a product of `f64`
/// does so, too.
fn gives_same_bits(ctx: &DeviceContext, kernel: &Kernel) -> bool {
    let mut rounds_twice = false;
    kernel.body.visit(&mut |inst| {
        let scalar = inst.result().map(|result| kernel.ty(result).scalar);
        let sums = matches!(inst.op, Op::MulAdd | Op::Binary(BinaryOp::Add | BinaryOp::Sub));
        rounds_twice |= scalar == Some(Scalar::F64) && sums;
    });
    !(rounds_twice && is_software(ctx))
}

/// How many places of a kernel may report something once it is optimised, which unrolls loops.
fn reports(kernel: &Kernel) -> usize {
    let mut kernel = kernel.clone();
    pass::prepare(&mut kernel);
    pass::optimize(&mut kernel);
    let mut reports = 0;
    kernel.body.visit(&mut |inst| {
        let has_bounds = inst.op.access().is_some_and(|access| !access.bounds.is_empty());
        reports += usize::from(has_bounds || matches!(inst.op.effect(), Effect::Fault | Effect::Output));
    });
    reports
}

/// Runs kernels on a device and on the CPU device.
fn compare(name: &str, generator: impl Fn(u64) -> (Kernel, Vec<Launch>)) {
    let ctx = match DeviceContext::open(name) {
        Ok(ctx) => ctx,
        Err(error) => return println!("skipped {name}: {error}"),
    };
    let cpu = DeviceContext::open("cpu").expect("every machine has it").with_optimizer(false);
    let number =
        |name: &str, otherwise| env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (first, kernels) = (number("TILEWISE_SEED", 0), number("TILEWISE_KERNELS", KERNELS));
    let (mut compared, mut with_faults, mut passed_over, mut too_large) = (0, 0, 0, 0);
    for seed in first..first + kernels {
        let (kernel, launches) = generator(seed);
        let kernel = without_functions(kernel);
        if launches[0].buffers.is_empty() {
            continue;
        }
        if !gives_same_bits(&ctx, &kernel) {
            passed_over += 1;
            continue;
        }
        let launches: Vec<Launch> =
            (0..BLOCKS * THREADS).map(|thread| many::of_thread(&launches[0], thread as u64)).collect();
        let kernel = many::with_blocks(&kernel, &launches[0], THREADS as u64);
        let checked = with_hidden_zero(&kernel);
        if is_software(&ctx) && reports(&checked) > MOST_REPORTS {
            too_large += 1;
            continue;
        }
        let expected = run(&cpu, &kernel, &launches).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        for (what, kernel) in [("with facts", &kernel), ("with all checks", &checked)] {
            for optimizer in [false, true] {
                let ctx = ctx.clone().with_optimizer(optimizer);
                let found = match run(&ctx, kernel, &launches) {
                    Ok(found) => found,
                    Err(error @ Error::Unsupported { .. }) => {
                        println!("skipped {name}, seed {seed}: {error}");
                        continue;
                    }
                    Err(error) => panic!("{name}, seed {seed}, {what}: {error}\n{kernel}"),
                };
                let what = format!("{name}, seed {seed}, {what}, optimiser {optimizer}");
                assert_eq!(found.buffers, expected.buffers, "{what}\n{kernel}");
                assert_eq!(found.lines, expected.lines, "{what}\n{kernel}");
                let (faults, of_cpu) = (found.faults(), expected.faults());
                // The optimiser drops what has no effect but a fault.
                let right = if optimizer { faults <= of_cpu } else { faults == of_cpu };
                assert!(right, "{what}: {:?}, and not {:?}\n{kernel}", found.fault, expected.fault);
                if faults == 1 && of_cpu == 1 {
                    assert_eq!(found.fault, expected.fault, "{what}\n{kernel}");
                }
                compared += 1;
                with_faults += u64::from(faults > 0);
            }
        }
    }
    println!("{name}: {compared} runs are as on the CPU device, {with_faults} of them with faults");
    if passed_over > 0 {
        println!("skipped {name}: {passed_over} kernels with sums of f64, since its fma rounds twice");
    }
    if too_large > 0 {
        println!("skipped {name}: {too_large} kernels that a software adapter compiles for too long");
    }
    assert!(compared > 0, "no kernel ran on {name}");
}

/// The devices, as [`DeviceContext::open`] takes them.
const DEVICES: [&str; 3] = ["cpu", "nvidia", "vulkan"];

#[test]
fn kernels_that_compute_indices() {
    DEVICES.iter().for_each(|name| compare(name, indexing::kernel));
}

#[test]
fn kernels_of_all_types() {
    DEVICES.iter().for_each(|name| compare(name, |seed| generate::kernel(seed, Mix::ALONE)));
}
