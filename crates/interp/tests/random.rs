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
use support::{arithmetic, many};
use tilewise_interp::{Buffer, LaunchConfig, Options, Program};
use tilewise_ir::{Const, Kernel, ParamKind, Scalar, pass};

/// Threads that run a kernel at once: more than fit one chunk of lanes, and not a whole number of chunks.
const THREADS: u64 = 70;

/// How many kernels are tried: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 300;

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
            let launches: Vec<_> = (0..THREADS).map(|thread| many::of_thread(&launches[0], thread)).collect();
            let many = many::with_table(&kernel, &launches[0], THREADS);
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
