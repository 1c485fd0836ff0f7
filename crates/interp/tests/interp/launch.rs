//! Launches that are refused, and those that have nothing to do.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;

use tilewise_interp::{Arg, Buffer, LaunchConfig, Limits, Options, Outcome, Program};
use tilewise_ir::{Const, Kernel, Scalar};

use crate::device::{run_clean, tensor, x};

const FILL: &str = "
    kernel @fill(%out: tensor<f32, 2, mut>, %value: f32) {
      shared %s: array<f64, 1000>
      %t = thread_idx.x
      %v = scalar %value
      store %out[%t], %v
      return
    }";

fn refused(grid: [u32; 3], block: [u32; 3], args: &[Arg<'_>], limits: Limits) -> String {
    let program = Program::compile(&FILL.parse::<Kernel>().unwrap()).unwrap();
    let options = Options { limits, ..Options::default() };
    program.run(LaunchConfig { grid, block }, args, options).unwrap_err().to_string()
}

#[test]
fn dimensions_over_a_limit_are_refused() {
    let buffer = Buffer::new(Scalar::F32, 6).unwrap();
    let args = [
        Arg::Tensor { buffer: &buffer, offset: 0, extents: &[2, 3], strides: &[3, 1] },
        Arg::Scalar(Const::f32(1.0)),
    ];
    let refused = |grid, block| refused(grid, block, &args, Limits::default());
    assert_eq!(refused(x(1), x(1025)), "a block of 1025 x 1 x 1: x is 1025, the limit is 1 to 1024");
    assert_eq!(refused(x(1), [33, 32, 1]), "a block of 33 x 32 x 1 has 1056 threads, the limit is 1024");
    assert_eq!(refused(x(1), [1, 1, 65]), "a block of 1 x 1 x 65: z is 65, the limit is 1 to 64");
    assert_eq!(refused(x(0), [0, 1, 1]), "a block of 0 x 1 x 1: x is 0, the limit is 1 to 1024");
    assert_eq!(refused([1, 70000, 1], x(32)), "a grid of 1 x 70000 x 1: y is 70000, the limit is 65535");
    assert_eq!(
        super::launch::refused(x(1), x(1), &args, Limits { shared_bytes: 7999, ..Limits::default() }),
        "kernel `fill` uses 8000 bytes of shared memory, the limit is 7999"
    );
    assert_eq!(buffer.get(0), Some(0), "nothing has run");
}

#[test]
fn blocks_that_have_ended_are_counted() {
    let buffer = Buffer::new(Scalar::F32, 6).unwrap();
    let args = [
        Arg::Tensor { buffer: &buffer, offset: 0, extents: &[2, 3], strides: &[3, 1] },
        Arg::Scalar(Const::f32(1.0)),
    ];
    let program = Program::compile(&FILL.parse::<Kernel>().unwrap()).unwrap();
    for threads in [1, 3] {
        let ended = AtomicU64::new(0);
        let options =
            Options { threads: NonZeroUsize::new(threads), ended: Some(&ended), ..Options::default() };
        program.run(LaunchConfig { grid: [5, 4, 1], block: x(2) }, &args, options).unwrap();
        assert_eq!(ended.into_inner(), 20);
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let buffer = Buffer::new(Scalar::F32, 6).unwrap();
    let bytes = Buffer::new(Scalar::U8, 6).unwrap();
    let value = Arg::Scalar(Const::f32(1.0));
    let tensor = |buffer, offset, extents, strides| Arg::Tensor { buffer, offset, extents, strides };
    let refused = |args: &[Arg<'_>]| refused(x(1), x(1), args, Limits::default());
    let whole = tensor(&buffer, 0, &[2, 3], &[3, 1]);
    assert_eq!(refused(&[whole]), "kernel `fill` takes 2 arguments, 1 were given");
    assert_eq!(refused(&[value, value]), "parameter `out` takes a tensor, a scalar was given");
    assert_eq!(refused(&[whole, whole]), "parameter `value` takes a scalar, a tensor was given");
    assert_eq!(
        refused(&[whole, Arg::Scalar(Const::index(1))]),
        "parameter `value` takes a value of type f32, one of type index was given"
    );
    assert_eq!(
        refused(&[tensor(&bytes, 0, &[2, 3], &[3, 1]), value]),
        "parameter `out` takes elements of 4 bytes (f32), the buffer has elements of 1 (u8)"
    );
    assert_eq!(
        refused(&[tensor(&buffer, 0, &[6], &[1]), value]),
        "parameter `out` has 2 dimensions; 1 extents and 1 strides were given"
    );
    assert_eq!(
        refused(&[tensor(&buffer, 1, &[2, 3], &[3, 1]), value]),
        "the tensor for `out` reaches to element 7 of its buffer, which has 6 (offset 1, extents [2, 3], strides [3, \
         1])"
    );
    assert!(
        refused(&[tensor(&buffer, 1, &[u64::MAX, 3], &[u64::MAX, 1]), value]).contains("reaches to element")
    );
}

#[test]
fn empty_grids_and_empty_tensors_do_nothing() {
    let text = "
        kernel @add_one(%out: tensor<u32, 1, mut>, %a: tensor<u32, 1>) {
          %t = thread_idx.x
          %n = extent %a.0
          %in = lt %t, %n
          if %in {
            %v = load %a[%t] if (0: %t < %n) : u32
            %one = const u32 1
            %w = add %v, %one
            store %out[%t], %w if (0: %t < %n)
          }
          return
        }";
    let empty: [u32; 0] = [];
    run_clean(text, x(3), x(8), &[tensor(&empty), tensor(&empty)]);
    for grid in [x(0), [0, 1, 1], [5, 0, 1]] {
        let run = run_clean(text, grid, x(8), &[tensor(&[9u32; 4]), tensor(&[9u32; 4])]);
        assert_eq!(run.get::<u32>(0), [9; 4]);
        assert_eq!(run.outcome, Outcome::default());
    }
}

#[test]
fn an_invalid_kernel_is_refused() {
    let kernel: Kernel = "
        kernel @bad() {
          %0 = const f32 1.0
          %1 = not %0
          return
        }"
    .parse()
    .unwrap();
    let error = Program::compile(&kernel).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `bad` is not valid: V9: `not` does not exist for f32, in `%1 = not %0`"
    );
}

#[test]
fn local_memory_that_does_not_fit_is_an_error() {
    let text = "
        kernel @huge(%out: tensor<u32, 1, mut>) {
          local %a: array<u32, 1000000000000000>
          %t = thread_idx.x
          %one = const u32 1
          store %a[%t], %one
          return
        }";
    let program = Program::compile(&text.parse::<Kernel>().unwrap()).unwrap();
    let buffer = Buffer::new(Scalar::U32, 1).unwrap();
    let args = [Arg::Tensor { buffer: &buffer, offset: 0, extents: &[1], strides: &[1] }];
    let config = LaunchConfig { grid: x(1), block: x(1) };
    let error = program.run(config, &args, Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("out of memory: local memory"), "{error}");
}
