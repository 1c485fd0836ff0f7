//! How many blocks of how many threads a launch has, and the limits of the device for it.

use std::fmt;

use tilewise_ir::{Kernel, Space};

use crate::device::DeviceLimits;
use crate::error::LaunchError;

const AXES: [char; 3] = ['x', 'y', 'z'];

macro_rules! dims {
    ($(#[$doc:meta])* $dims:ident, $(#[$function_doc:meta])* $function:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $dims([usize; 3]);

        $(#[$function_doc])*
        pub fn $function(dims: impl Into<$dims>) -> $dims {
            dims.into()
        }

        impl $dims {
            /// Number along x, y and z.
            pub fn to_array(self) -> [usize; 3] {
                self.0
            }
        }

        impl From<usize> for $dims {
            fn from(x: usize) -> $dims {
                $dims([x, 1, 1])
            }
        }

        impl From<(usize, usize)> for $dims {
            fn from((x, y): (usize, usize)) -> $dims {
                $dims([x, y, 1])
            }
        }

        impl From<(usize, usize, usize)> for $dims {
            fn from((x, y, z): (usize, usize, usize)) -> $dims {
                $dims([x, y, z])
            }
        }

        impl From<[usize; 1]> for $dims {
            fn from([x]: [usize; 1]) -> $dims {
                $dims([x, 1, 1])
            }
        }

        impl From<[usize; 2]> for $dims {
            fn from([x, y]: [usize; 2]) -> $dims {
                $dims([x, y, 1])
            }
        }

        impl From<[usize; 3]> for $dims {
            fn from(dims: [usize; 3]) -> $dims {
                $dims(dims)
            }
        }

        /// `(x, y, z)`
        impl fmt::Display for $dims {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let [x, y, z] = self.0;
                write!(f, "({x}, {y}, {z})")
            }
        }
    };
}

dims! {
    /// How many blocks a launch has along x, y and z. [`grid_dim`] makes it.
    GridDim,
    /// The number of blocks of a launch: `x`, `(x, y)` or `(x, y, z)`, or an array of them.
    ///
    /// ```
    /// use tilewise_runtime::grid_dim;
    ///
    /// assert_eq!(grid_dim(8).to_array(), [8, 1, 1]);
    /// assert_eq!(grid_dim((8, 2)), grid_dim([8, 2, 1]));
    /// ```
    grid_dim
}

dims! {
    /// How many threads a block has along x, y and z. [`block_dim`] makes it.
    BlockDim,
    /// The number of threads of each block: `x`, `(x, y)` or `(x, y, z)`, or an array of them.
    ///
    /// ```
    /// use tilewise_runtime::block_dim;
    ///
    /// assert_eq!(block_dim((16, 16)).to_string(), "(16, 16, 1)");
    /// ```
    block_dim
}

impl GridDim {
    /// The dimensions as a device takes them; refuses what is over its limits.
    pub(crate) fn checked(self, kernel: &str, limits: &DeviceLimits) -> Result<[u32; 3], LaunchError> {
        for (i, axis) in AXES.into_iter().enumerate() {
            let (value, limit) = (self.0[i], limits.max_grid_dim[i]);
            if value > limit {
                let kernel = kernel.to_owned();
                return Err(LaunchError::GridAxis { kernel, grid: self.0, axis, value, limit });
            }
        }
        Ok(self.0.map(|n| n as u32))
    }
}

impl BlockDim {
    /// The dimensions as a device takes them; refuses what is zero or over its limits.
    pub(crate) fn checked(self, kernel: &str, limits: &DeviceLimits) -> Result<[u32; 3], LaunchError> {
        let block = self.0;
        for (i, axis) in AXES.into_iter().enumerate() {
            let (value, limit) = (block[i], limits.max_block_dim[i]);
            if value == 0 || value > limit {
                let kernel = kernel.to_owned();
                return Err(LaunchError::BlockAxis { kernel, block, axis, value, limit });
            }
        }
        let threads = block.iter().copied().fold(1, usize::saturating_mul);
        let limit = limits.max_threads_per_block;
        if threads > limit {
            let kernel = kernel.to_owned();
            return Err(LaunchError::BlockThreads { kernel, block, threads, limit });
        }
        Ok(block.map(|n| n as u32))
    }
}

/// Refuses a kernel that allocates more shared memory than a block has.
pub(crate) fn check_shared_memory(kernel: &Kernel, limits: &DeviceLimits) -> Result<(), LaunchError> {
    let shared = kernel.allocs.iter().filter(|alloc| alloc.space == Space::Shared);
    let bytes =
        shared.map(|alloc| alloc.len.saturating_mul(alloc.elem.size() as u64)).fold(0, u64::saturating_add);
    let limit = limits.max_shared_memory_per_block;
    if bytes > limit {
        return Err(LaunchError::SharedMemory { kernel: kernel.name.clone(), bytes, limit });
    }
    Ok(())
}
