//! [`Error`]: what can go wrong on the host, each with the values that were in the way.

use std::fmt;

use tilewise_ir::verify::VerifyError;
use tilewise_layout::Layout;
use tilewise_stage::StageError;

use crate::fault::FaultReport;

/// What a function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was refused or went wrong.
///
/// [`Debug`](fmt::Debug) shows the same text as [`Display`](fmt::Display): Rust shows an error that `main` returns by
/// its `Debug`, and there the user wants to read what is wrong, not how the enum is built.
///
/// ```
/// use tilewise_layout::row_major;
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let error = ctx.tensor_from_slice::<f32, 2>(row_major([2, 3]), &[1.0, 2.0]).unwrap_err();
/// assert_eq!(
///     format!("{error:?}"),
///     "2 values for the 6 elements of layout (2,3):(3,1); give one value for each element, last dimension fastest",
/// );
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel could not be described.
    #[error(transparent)]
    Stage(#[from] StageError),

    /// The launch was refused; nothing has run.
    #[error(transparent)]
    Launch(#[from] LaunchError),

    /// A kernel that ran earlier went wrong.
    #[error(transparent)]
    Fault(Box<FaultReport>),

    /// A layout that a tensor or view cannot have, or host values that do not fit it.
    #[error(transparent)]
    Tensor(#[from] TensorError),

    /// A layout that cannot be made.
    #[error(transparent)]
    Layout(#[from] tilewise_layout::LayoutError),

    /// There is not enough memory.
    #[error(
        "out of memory: {what} takes {bytes} bytes; use smaller extents, or drop what is no longer needed"
    )]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// How many bytes were asked for; saturates.
        bytes: u128,
    },

    /// A device name that nobody knows.
    #[error("there is no device `{name}`; there is {}", Names(available))]
    NoSuchDevice {
        /// The name that was asked for.
        name: String,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// A device of a kind that this program was built without.
    #[error("device `{name}` is not available in this build of tilewise; there is {}", Names(available))]
    DeviceNotBuilt {
        /// The name that was asked for.
        name: String,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// An environment variable that has no meaning.
    #[error("the environment variable {variable} is `{value}`; set it to {expected}, or unset it")]
    Variable {
        /// Name of the variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },

    /// Memory of one context was used in another.
    #[error(
        "{what} is memory of {owner}, but it is used in {user}; create it there, or copy it there with `to_host` and \
         `tensor_from_slice`"
    )]
    WrongContext {
        /// The argument or buffer.
        what: String,
        /// The context that the memory belongs to.
        owner: String,
        /// The context of the operation.
        user: String,
    },

    /// The verifier does not let a kernel through that was described: a mistake of tilewise, not of the user.
    #[error(
        "kernel `{kernel}` was described wrongly: {first}{}; this is a mistake in tilewise, please report it together \
         with the kernel", More(*more)
    )]
    InvalidKernel {
        /// Name of the kernel.
        kernel: String,
        /// The first broken rule, the operation and its position.
        first: String,
        /// How many more there are.
        more: usize,
    },

    /// The device could not compile a kernel.
    #[error(transparent)]
    Compile(#[from] tilewise_interp::CompileError),

    /// A copy between host and device failed.
    #[error(transparent)]
    Copy(#[from] tilewise_interp::CopyError),
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(crate) fn invalid_kernel(kernel: &str, errors: &[VerifyError]) -> Error {
        Error::InvalidKernel {
            kernel: kernel.to_owned(),
            first: errors.first().map(ToString::to_string).unwrap_or_default(),
            more: errors.len().saturating_sub(1),
        }
    }
}

impl From<tilewise_interp::OutOfMemory> for Error {
    fn from(error: tilewise_interp::OutOfMemory) -> Error {
        Error::OutOfMemory { what: error.what, bytes: error.bytes.into() }
    }
}

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

/// Why a layout, an index or the number of host values does not fit a tensor.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// A layout of another number of modes than the tensor has dimensions.
    #[error(
        "layout {layout} has {modes} modes, the tensor has {rank} dimensions; give one extent for each dimension"
    )]
    Rank {
        /// The layout.
        layout: Box<Layout>,
        /// Number of its modes.
        modes: usize,
        /// Number of dimensions of the tensor.
        rank: usize,
    },

    /// A number of dimensions that no tensor has.
    #[error("a tensor of {rank} dimensions; a tensor has 1 to {limit}")]
    Dimensions {
        /// The number.
        rank: usize,
        /// The most dimensions.
        limit: usize,
    },

    /// A nested mode that is not one extent with one stride.
    #[error(
        "mode {mode} of layout {layout} is {nested}, which is not one extent with one stride; give it as dimensions of \
         its own"
    )]
    NestedMode {
        /// The layout.
        layout: Box<Layout>,
        /// Number of the mode.
        mode: usize,
        /// The mode.
        nested: Box<Layout>,
    },

    /// A layout that puts several indices on one element, where elements are written.
    #[error(
        "layout {layout} puts several indices on one element; only a `view` for reading may do so, choose strides that \
         keep the elements apart"
    )]
    Overlap {
        /// The layout.
        layout: Box<Layout>,
    },

    /// A layout that reaches beyond the memory under it.
    #[error(
        "layout {layout} at offset {offset} takes {needed} elements, there are {available}; use a smaller offset, extents \
         or strides"
    )]
    OutsideStorage {
        /// The layout.
        layout: Box<Layout>,
        /// Offset of its first element.
        offset: usize,
        /// One past the last element that it reaches; saturates.
        needed: usize,
        /// How many elements there are.
        available: usize,
    },

    /// Another number of host values than elements.
    #[error(
        "{values} values for the {elements} elements of layout {layout}; give one value for each element, last \
         dimension fastest"
    )]
    ValueCount {
        /// Number of values on the host.
        values: usize,
        /// Number of elements of the tensor.
        elements: usize,
        /// The tensor's layout.
        layout: Box<Layout>,
    },

    /// Another number of elements in source and destination of a copy.
    #[error("a copy of {source_len} elements to a buffer of {len}; both must have the same length")]
    CopyLength {
        /// Number of elements of the source.
        source_len: usize,
        /// Number of elements of the destination.
        len: usize,
    },

    /// A reshape to another number of elements.
    #[error("{from} has {elements} elements and cannot be reshaped to {to}, which has {to_elements}")]
    ReshapeSize {
        /// The tensor's layout.
        from: Box<Layout>,
        /// Number of its elements.
        elements: usize,
        /// The new layout.
        to: Box<Layout>,
        /// Number of its elements.
        to_elements: usize,
    },

    /// A reshape of elements that do not lie one after the other.
    #[error(
        "{from} is not row-major and cannot be reshaped to {to} without a copy; copy it to a new tensor first"
    )]
    ReshapeStrided {
        /// The tensor's layout.
        from: Box<Layout>,
        /// The new layout.
        to: Box<Layout>,
    },

    /// An index outside the tensor.
    #[error("index {index:?} is outside a tensor of shape {shape:?}; indices start at 0")]
    IndexOutOfRange {
        /// The index.
        index: Vec<usize>,
        /// Extents of the tensor.
        shape: Vec<usize>,
    },
}

/// `cpu and vulkan`.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}`{name}`")?;
        }
        Ok(())
    }
}

/// ` (and 3 more)`, or nothing.
struct More(usize);

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, " (and {} more)", self.0) } else { Ok(()) }
    }
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
    fn errors_go_between_threads() {
        fn check<T: Send + Sync + 'static>() {}
        check::<Error>();
    }

    #[test]
    fn debug_is_what_main_shows() {
        let error = Error::NoSuchDevice {
            name: "tpu".to_owned(),
            available: vec!["cpu".to_owned(), "cuda".to_owned(), "vulkan".to_owned()],
        };
        let text = "there is no device `tpu`; there is `cpu`, `cuda` and `vulkan`";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), text);
    }

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
