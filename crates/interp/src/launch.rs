//! What a launch is given and what it gives back: dimensions, arguments, options, outcome.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;

use thiserror::Error;
use tilewise_ir::{Const, Fault, Kernel, ParamKind, Scalar, Space};

use crate::buffer::{Buffer, OutOfMemory};
use crate::observe::Observer;

/// How many blocks of how many threads: x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks of the grid. If one axis is 0, nothing runs.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// An argument for a kernel parameter.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// For a scalar parameter.
    Scalar(Const),
    /// For a tensor parameter: a view of a buffer.
    Tensor {
        /// Where the elements are; they have the size of the parameter's elements.
        buffer: &'a Buffer,
        /// Number of the buffer's element that is the tensor's first.
        offset: u64,
        /// Elements along each dimension.
        extents: &'a [u64],
        /// Distance of neighbours along each dimension, in elements.
        strides: &'a [u64],
    },
}

/// How a launch runs.
#[derive(Default)]
pub struct Options<'a> {
    /// How many blocks run at a time; as many as the machine has cores if `None`. Results, faults and printed lines of
    /// a kernel that has no races are the same for every number.
    pub threads: Option<NonZeroUsize>,
    /// The largest launch that is not refused.
    pub limits: Limits,
    /// Called with each printed line, without a line break, blocks in order; standard output if `None`.
    pub output: Option<&'a mut (dyn FnMut(&str) + Send)>,
    /// Watches the launch.
    pub observer: Option<&'a dyn Observer>,
    /// How many rounds of loops that may go on for ever a block runs before it is given up with a fault; without a limit
    /// if `None`. Threads that go round together count once.
    pub max_rounds: Option<u64>,
    /// Counts the blocks that have ended, for whoever shows how far the launch is.
    pub ended: Option<&'a AtomicU64>,
}

/// The largest launch that is not refused. The default is what every CUDA device grants, so that a kernel that runs
/// here does not fail there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Blocks along each axis of the grid.
    pub grid: [u32; 3],
    /// Threads along each axis of a block.
    pub block: [u32; 3],
    /// Threads of a block. More than [`Limits::MAX_THREADS`] is never granted.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
}

impl Limits {
    /// The most threads that a block can have on this device.
    pub const MAX_THREADS: u32 = 1024;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            grid: [i32::MAX as u32, 65_535, 65_535],
            block: [1024, 1024, 64],
            threads: Limits::MAX_THREADS,
            shared_bytes: 48 * 1024,
        }
    }
}

/// What happened during a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The first fault: of the block with the lowest number, the first that it met.
    pub first_fault: Option<Fault>,
    /// How many faults there were, each thread's counted.
    pub fault_count: u64,
}

/// Why a launch was refused. Nothing has run then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchError {
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, {got} were given")]
    ArgCount {
        /// Name of the kernel.
        kernel: String,
        /// Number of parameters.
        expected: usize,
        /// Number of arguments.
        got: usize,
    },
    /// A tensor for a scalar parameter, or the reverse.
    #[error("parameter `{param}` takes a {expected}, a {got} was given")]
    ArgKind {
        /// Name of the parameter.
        param: String,
        /// What it takes.
        expected: &'static str,
        /// What was given.
        got: &'static str,
    },
    /// A scalar of another type.
    #[error("parameter `{param}` takes a value of type {expected}, one of type {got} was given")]
    ScalarType {
        /// Name of the parameter.
        param: String,
        /// Its type.
        expected: Scalar,
        /// Type of the argument.
        got: Scalar,
    },
    /// A buffer whose elements have another size.
    #[error(
        "parameter `{param}` takes elements of {} bytes ({expected}), the buffer has elements of {} ({got})",
        expected.size(), got.size()
    )]
    ElementSize {
        /// Name of the parameter.
        param: String,
        /// Type of its elements.
        expected: Scalar,
        /// Type of the buffer's elements.
        got: Scalar,
    },
    /// Another number of dimensions.
    #[error(
        "parameter `{param}` has {expected} dimensions; {extents} extents and {strides} strides were given"
    )]
    Rank {
        /// Name of the parameter.
        param: String,
        /// Its number of dimensions.
        expected: usize,
        /// Number of extents.
        extents: usize,
        /// Number of strides.
        strides: usize,
    },
    /// A tensor that does not fit in its buffer.
    #[error(
        "the tensor for `{param}` reaches to element {end} of its buffer, which has {len} (offset {offset}, extents \
         {extents:?}, strides {strides:?})"
    )]
    OutsideBuffer {
        /// Name of the parameter.
        param: String,
        /// Offset of the first element.
        offset: u64,
        /// Extents of the tensor.
        extents: Vec<u64>,
        /// Strides of the tensor.
        strides: Vec<u64>,
        /// One past the last element; saturates.
        end: u64,
        /// Length of the buffer.
        len: u64,
    },
    /// An axis of the block that is zero or over its limit.
    #[error("a block of {}: {axis} is {value}, the limit is 1 to {limit}", Product(*block))]
    BlockAxis {
        /// Threads along each axis.
        block: [u32; 3],
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// Threads along it.
        value: u32,
        /// The most threads along it.
        limit: u32,
    },
    /// More threads in a block than the limit.
    #[error("a block of {} has {threads} threads, the limit is {limit}", Product(*block))]
    BlockThreads {
        /// Threads along each axis.
        block: [u32; 3],
        /// Their product.
        threads: u64,
        /// The most threads of a block.
        limit: u32,
    },
    /// An axis of the grid that is over its limit.
    #[error("a grid of {}: {axis} is {value}, the limit is {limit}", Product(*grid))]
    GridAxis {
        /// Blocks along each axis.
        grid: [u32; 3],
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// Blocks along it.
        value: u32,
        /// The most blocks along it.
        limit: u32,
    },
    /// More shared memory than the limit.
    #[error("kernel `{kernel}` uses {bytes} bytes of shared memory, the limit is {limit}")]
    SharedMemory {
        /// Name of the kernel.
        kernel: String,
        /// Bytes of all its shared allocations; saturates.
        bytes: u64,
        /// The most bytes of a block.
        limit: u64,
    },
    /// Not enough memory for registers and local arrays of the threads that run at a time.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl LaunchConfig {
    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| n as u64).fold(1, u64::saturating_mul)
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| n as u64).fold(1, u64::saturating_mul)
    }

    /// Refuses what is over the limits.
    pub(crate) fn check(&self, kernel: &Kernel, limits: &Limits) -> Result<(), LaunchError> {
        let axes = |values: [u32; 3], limits: [u32; 3]| {
            ['x', 'y', 'z'].into_iter().zip(values.into_iter().zip(limits))
        };
        for (axis, (value, limit)) in axes(self.block, limits.block) {
            if value == 0 || value > limit {
                return Err(LaunchError::BlockAxis { block: self.block, axis, value, limit });
            }
        }
        let limit = limits.threads.min(Limits::MAX_THREADS);
        if self.threads() > limit as u64 {
            return Err(LaunchError::BlockThreads { block: self.block, threads: self.threads(), limit });
        }
        for (axis, (value, limit)) in axes(self.grid, limits.grid) {
            if value > limit {
                return Err(LaunchError::GridAxis { grid: self.grid, axis, value, limit });
            }
        }
        let shared = kernel.allocs.iter().filter(|a| a.space == Space::Shared);
        let bytes = shared
            .map(|a| a.len.saturating_mul(a.elem.size() as u64))
            .fold(0u64, |sum, bytes| sum.saturating_add(bytes));
        if bytes > limits.shared_bytes {
            let kernel = kernel.name.clone();
            return Err(LaunchError::SharedMemory { kernel, bytes, limit: limits.shared_bytes });
        }
        Ok(())
    }
}

impl Arg<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Arg::Scalar(_) => "scalar",
            Arg::Tensor { .. } => "tensor",
        }
    }
}

/// Refuses arguments that do not fit the parameters.
pub(crate) fn check_args(kernel: &Kernel, args: &[Arg<'_>]) -> Result<(), LaunchError> {
    if args.len() != kernel.params.len() {
        return Err(LaunchError::ArgCount {
            kernel: kernel.name.clone(),
            expected: kernel.params.len(),
            got: args.len(),
        });
    }
    for (param, arg) in kernel.params.iter().zip(args) {
        let name = || param.name.clone();
        match (&param.kind, arg) {
            (&ParamKind::Scalar(expected), Arg::Scalar(value)) => {
                if value.scalar != expected {
                    return Err(LaunchError::ScalarType { param: name(), expected, got: value.scalar });
                }
            }
            (&ParamKind::Tensor { elem, rank, .. }, &Arg::Tensor { buffer, offset, extents, strides }) => {
                if buffer.scalar().size() != elem.size() {
                    return Err(LaunchError::ElementSize {
                        param: name(),
                        expected: elem,
                        got: buffer.scalar(),
                    });
                }
                if extents.len() != rank as usize || strides.len() != rank as usize {
                    return Err(LaunchError::Rank {
                        param: name(),
                        expected: rank as usize,
                        extents: extents.len(),
                        strides: strides.len(),
                    });
                }
                let (end, len) = (offset.saturating_add(cosize(extents, strides)), buffer.len() as u64);
                if end > len {
                    return Err(LaunchError::OutsideBuffer {
                        param: name(),
                        offset,
                        extents: extents.to_vec(),
                        strides: strides.to_vec(),
                        end,
                        len,
                    });
                }
            }
            (ParamKind::Scalar(_), _) => {
                return Err(LaunchError::ArgKind { param: name(), expected: "scalar", got: arg.kind() });
            }
            (ParamKind::Tensor { .. }, _) => {
                return Err(LaunchError::ArgKind { param: name(), expected: "tensor", got: arg.kind() });
            }
        }
    }
    Ok(())
}

/// How many elements of memory a tensor spans: one past its last element, counted from its first; saturates.
pub(crate) fn cosize(extents: &[u64], strides: &[u64]) -> u64 {
    if extents.contains(&0) {
        return 0;
    }
    let last = extents.iter().zip(strides).map(|(&extent, &stride)| (extent - 1).saturating_mul(stride));
    last.fold(1, u64::saturating_add)
}

/// `32 x 8 x 1`.
struct Product([u32; 3]);

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x} x {y} x {z}")
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("limits", &self.limits)
            .field("output", &self.output.as_ref().map(|_| "FnMut(&str)"))
            .field("observer", &self.observer.map(|_| "Observer"))
            .field("max_rounds", &self.max_rounds)
            .finish()
    }
}
