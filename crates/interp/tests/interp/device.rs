//! A small device for tests: kernels as text, tensors as vectors.

use std::num::NonZeroUsize;

use tilewise_interp::{Arg, Buffer, LaunchConfig, LaunchError, Options, Outcome, Program};
use tilewise_ir::{Const, Kernel, Scalar, pass};

/// An argument: a tensor with its bits, or a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Tensor { scalar: Scalar, bits: Vec<u64>, offset: u64, extents: Vec<u64>, strides: Vec<u64> },
    Scalar(Const),
}

/// What came of a launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// The arguments afterwards.
    pub(crate) args: Vec<Data>,
    pub(crate) outcome: Outcome,
    pub(crate) lines: Vec<String>,
}

/// How far a kernel has gone before it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    AsWritten,
    Prepared,
    Optimized,
}

/// A type of element on the host.
pub(crate) trait Element: Copy {
    const SCALAR: Scalar;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! element {
    ($($ty:ty: $scalar:ident, $unsigned:ty;)*) => { $(
        impl Element for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }
            fn from_bits(bits: u64) -> $ty {
                bits as $ty
            }
        }
    )* };
}

element! {
    u8: U8, u8;
    u16: U16, u16;
    u32: U32, u32;
    u64: U64, u64;
    usize: Index, u64;
    i8: I8, u8;
    i16: I16, u16;
    i32: I32, u32;
    i64: I64, u64;
}

impl Element for bool {
    const SCALAR: Scalar = Scalar::Bool;
    fn bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> bool {
        assert!(bits < 2, "a truth value is the byte 0 or 1");
        bits == 1
    }
}

impl Element for f32 {
    const SCALAR: Scalar = Scalar::F32;
    fn bits(self) -> u64 {
        self.to_bits() as u64
    }
    fn from_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
}

impl Element for f64 {
    const SCALAR: Scalar = Scalar::F64;
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

/// A tensor of one dimension.
pub(crate) fn tensor<T: Element>(values: &[T]) -> Data {
    bits(T::SCALAR, &values.iter().map(|v| v.bits()).collect::<Vec<_>>())
}

/// A tensor of one dimension, by bits.
pub(crate) fn bits(scalar: Scalar, bits: &[u64]) -> Data {
    Data::Tensor {
        scalar,
        bits: bits.to_vec(),
        offset: 0,
        extents: vec![bits.len() as u64],
        strides: vec![1],
    }
}

/// A part of a buffer as a tensor.
pub(crate) fn view<T: Element>(values: &[T], offset: u64, extents: &[u64], strides: &[u64]) -> Data {
    let bits = values.iter().map(|v| v.bits()).collect();
    Data::Tensor { scalar: T::SCALAR, bits, offset, extents: extents.to_vec(), strides: strides.to_vec() }
}

/// A scalar argument.
pub(crate) fn scalar<T: Element>(value: T) -> Data {
    Data::Scalar(Const { scalar: T::SCALAR, bits: value.bits() })
}

impl Run {
    /// The elements of the buffer of an argument.
    pub(crate) fn get<T: Element>(&self, arg: usize) -> Vec<T> {
        match &self.args[arg] {
            Data::Tensor { bits, .. } => bits.iter().map(|&b| T::from_bits(b)).collect(),
            Data::Scalar(value) => vec![T::from_bits(value.bits)],
        }
    }

    /// The first fault as text, empty if there is none.
    pub(crate) fn fault(&self) -> String {
        self.outcome.first_fault.as_ref().map(|fault| fault.to_string()).unwrap_or_default()
    }
}

/// Parses a kernel and takes it to a stage.
pub(crate) fn kernel(text: &str, stage: Stage) -> Kernel {
    let mut kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    if stage != Stage::AsWritten {
        pass::prepare(&mut kernel);
    }
    if stage == Stage::Optimized {
        pass::optimize(&mut kernel);
    }
    kernel
}

/// Runs a kernel once.
pub(crate) fn run_once(
    program: &Program,
    workers: usize,
    grid: [u32; 3],
    block: [u32; 3],
    args: &[Data],
) -> Result<Run, LaunchError> {
    let buffers: Vec<Option<Buffer>> = args
        .iter()
        .map(|data| match data {
            Data::Tensor { scalar, bits, .. } => {
                let buffer = Buffer::new(*scalar, bits.len()).unwrap();
                bits.iter().enumerate().for_each(|(i, &bits)| assert!(buffer.set(i, bits)));
                Some(buffer)
            }
            Data::Scalar(_) => None,
        })
        .collect();
    let passed: Vec<Arg<'_>> = args
        .iter()
        .zip(&buffers)
        .map(|(data, buffer)| match (data, buffer) {
            (Data::Tensor { offset, extents, strides, .. }, Some(buffer)) => {
                Arg::Tensor { buffer, offset: *offset, extents, strides }
            }
            (Data::Scalar(value), _) => Arg::Scalar(*value),
            _ => unreachable!(),
        })
        .collect();
    let mut lines = Vec::new();
    let mut output = |line: &str| lines.push(line.to_owned());
    let options =
        Options { threads: NonZeroUsize::new(workers), output: Some(&mut output), ..Options::default() };
    let outcome = program.run(LaunchConfig { grid, block }, &passed, options)?;
    let mut args = args.to_vec();
    for (data, buffer) in args.iter_mut().zip(&buffers) {
        if let (Data::Tensor { bits, .. }, Some(buffer)) = (data, buffer) {
            bits.iter_mut().enumerate().for_each(|(i, bits)| *bits = buffer.get(i).unwrap());
        }
    }
    Ok(Run { args, outcome, lines })
}

/// Runs a kernel at these stages, with one, two and three workers; all have to give the same.
pub(crate) fn run_at(stages: &[Stage], text: &str, grid: [u32; 3], block: [u32; 3], args: &[Data]) -> Run {
    let mut first: Option<Run> = None;
    for &stage in stages {
        let kernel = kernel(text, stage);
        let program =
            Program::compile(&kernel).unwrap_or_else(|error| panic!("{stage:?}: {error}\n{kernel}"));
        for workers in 1..=3 {
            let run = run_once(&program, workers, grid, block, args).unwrap();
            match &first {
                Some(first) => assert_eq!(first, &run, "{stage:?}, {workers} workers\n{kernel}"),
                None => first = Some(run),
            }
        }
    }
    first.expect("at least one stage")
}

/// Runs a kernel at all stages.
pub(crate) fn run(text: &str, grid: [u32; 3], block: [u32; 3], args: &[Data]) -> Run {
    run_at(&[Stage::AsWritten, Stage::Prepared, Stage::Optimized], text, grid, block, args)
}

/// Runs a kernel at all stages, in which nothing goes wrong.
pub(crate) fn run_clean(text: &str, grid: [u32; 3], block: [u32; 3], args: &[Data]) -> Run {
    let run = run(text, grid, block, args);
    assert_eq!(run.fault(), "");
    run
}

/// Threads along x.
pub(crate) fn x(n: u32) -> [u32; 3] {
    [n, 1, 1]
}
