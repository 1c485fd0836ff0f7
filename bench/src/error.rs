//! What can go wrong in the benchmark program.

use std::path::PathBuf;

/// A result with this program's error.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the benchmarks have not run to their end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A launch, a copy or the device failed.
    #[error(transparent)]
    Device(#[from] tilewise::Error),

    /// A size that the kernels are not written for.
    #[error("{option} is {value}; it has to be a multiple of {multiple_of}, and more than 0")]
    Size {
        /// The option.
        option: &'static str,
        /// Its value.
        value: usize,
        /// What it has to be a multiple of.
        multiple_of: usize,
    },

    /// A kernel computed something else than the reference.
    #[error("{benchmark}/{name} is wrong: {what}")]
    Wrong {
        /// Name of the benchmark.
        benchmark: &'static str,
        /// Name of the kernel.
        name: String,
        /// What was found, and what it should be.
        what: String,
    },

    /// A program could not be started or failed.
    #[error("`{}` {what}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// What happened.
        what: String,
    },

    /// A line that a program printed is no result.
    #[error("`{}` printed `{line}`: {source}", program.display())]
    Line {
        /// The program.
        program: PathBuf,
        /// The line.
        line: String,
        /// Why it is no result.
        source: serde_json::Error,
    },

    /// A file or folder could not be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },

    /// A file that is no table of registers.
    #[error("`{}` is no table of registers; `cargo xtask twins` makes one", path.display())]
    Table {
        /// The file.
        path: PathBuf,
    },

    /// A file or folder could not be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}
