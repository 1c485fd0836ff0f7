//! [`LaunchError`]: why a launch was refused.

use std::fmt;

/// Why a launch was refused. Nothing has run then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// An axis of the block without a thread, or with more than the device allows.
    #[error(
        "kernel `{kernel}`: a block of {} threads has {value} along {axis}; it must be 1 to {limit}{}",
        Product(*block), if *value == 0 { "" } else { ": launch more blocks of fewer threads" }
    )]
    BlockAxis {
        /// Name of the kernel.
        kernel: String,
        /// Threads along each axis.
        block: [usize; 3],
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// Threads along it.
        value: usize,
        /// The most threads along it.
        limit: usize,
    },

    /// More threads in a block than the device allows.
    #[error(
        "kernel `{kernel}`: a block of {} = {threads} threads is over the limit of {limit}: launch more blocks of \
         fewer threads", Product(*block)
    )]
    BlockThreads {
        /// Name of the kernel.
        kernel: String,
        /// Threads along each axis.
        block: [usize; 3],
        /// Their product.
        threads: usize,
        /// The most threads of a block.
        limit: usize,
    },

    /// An axis of the grid with more blocks than the device allows.
    #[error(
        "kernel `{kernel}`: a grid of {} blocks has {value} along {axis}; the limit is {limit}: use larger blocks or \
         another axis", Product(*grid)
    )]
    GridAxis {
        /// Name of the kernel.
        kernel: String,
        /// Blocks along each axis.
        grid: [usize; 3],
        /// The axis: `x`, `y` or `z`.
        axis: char,
        /// Blocks along it.
        value: usize,
        /// The most blocks along it.
        limit: usize,
    },

    /// More shared memory than a block of the device has.
    #[error(
        "kernel `{kernel}` uses {bytes} bytes of shared memory, the limit is {limit}: allocate smaller tiles"
    )]
    SharedMemory {
        /// Name of the kernel.
        kernel: String,
        /// Bytes of all its shared allocations; saturates.
        bytes: u64,
        /// The most bytes of a block.
        limit: u64,
    },

    /// More threads in a block than this kernel can have on the device, because of the registers that each takes.
    #[error(
        "kernel `{kernel}`: a block of {threads} threads does not fit: a thread takes {registers} registers, and so a block \
         of this kernel has at most {limit} threads: launch more blocks of fewer threads, or keep fewer values at a time"
    )]
    Registers {
        /// Name of the kernel.
        kernel: String,
        /// Threads of the block.
        threads: usize,
        /// Registers of a thread.
        registers: usize,
        /// The most threads of a block of this kernel.
        limit: usize,
    },

    /// The device refused.
    #[error("kernel `{kernel}`: the device refused the launch of {} blocks of {} threads: {error}", Product(*grid), Product(*block))]
    Refused {
        /// Name of the kernel.
        kernel: String,
        /// Blocks along each axis.
        grid: [usize; 3],
        /// Threads along each axis of a block.
        block: [usize; 3],
        /// The driver's name for the error, its explanation, and the limit where one is known.
        error: String,
    },

    /// A SIMD width that no value can have.
    #[error("kernel `{kernel}`: elementwise with width {width}; the width is 1 to {limit}")]
    VectorWidth {
        /// Name of the kernel.
        kernel: String,
        /// The width.
        width: usize,
        /// The most lanes of a SIMD value.
        limit: usize,
    },

    /// More elements than can be counted.
    #[error(
        "kernel `{kernel}`: a shape of {shape:?} has more elements than a usize counts; use smaller extents"
    )]
    TooManyElements {
        /// Name of the kernel.
        kernel: String,
        /// The extents.
        shape: Vec<usize>,
    },

    /// The CPU device refused.
    #[error(transparent)]
    Cpu(#[from] tilewise_interp::LaunchError),
}

/// `33 x 32`, without trailing axes of 1.
struct Product([usize; 3]);

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (_, 1) => write!(f, "{x} x {y}"),
            _ => write!(f, "{x} x {y} x {z}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_name_the_request_and_the_limit() {
        let kernel = "add".to_owned();
        let error = LaunchError::BlockAxis { kernel, block: [0, 1, 1], axis: 'x', value: 0, limit: 1024 };
        assert_eq!(
            error.to_string(),
            "kernel `add`: a block of 0 threads has 0 along x; it must be 1 to 1024"
        );
        let kernel = "add".to_owned();
        let error = LaunchError::BlockThreads { kernel, block: [33, 32, 1], threads: 1056, limit: 1024 };
        assert_eq!(
            error.to_string(),
            "kernel `add`: a block of 33 x 32 = 1056 threads is over the limit of 1024: launch more blocks of fewer \
             threads"
        );
    }
}
