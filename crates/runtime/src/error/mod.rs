//! [`Error`]: what can go wrong on the host, each with the values that were in the way.

mod launch;
mod tensor;
#[cfg(any(feature = "cuda", feature = "wgpu", feature = "inspect"))]
mod unsupported;

use std::fmt;

use tilewise_ir::pass::NoSuchPass;
use tilewise_ir::verify::VerifyError;
use tilewise_stage::StageError;

use crate::fault::FaultReport;

pub use launch::LaunchError;
pub use tensor::TensorError;
#[cfg(any(feature = "wgpu", feature = "inspect"))]
pub(crate) use unsupported::by_naga;

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

    /// A checked launch found a mistake in its kernel. It reads as the whole report, with the lines of the source.
    #[error("a checked launch of kernel `{}` found mistakes\n{}", .0.kernel, .0)]
    Check(Box<tilewise_check::Report>),

    /// A checked or profiled launch on a device that runs launches without watching them.
    #[error("device `{device}` can neither check nor profile launches: do that on device `cpu`")]
    CannotWatch {
        /// The device.
        device: String,
    },

    /// A layout that a tensor or view cannot have, or host values that do not fit it.
    #[error(transparent)]
    Tensor(#[from] TensorError),

    /// A layout that cannot be made.
    #[error(transparent)]
    Layout(#[from] tilewise_layout::LayoutError),

    /// There is not enough memory.
    #[error(
        "out of memory: {what} takes {bytes} bytes{}; use smaller extents, or drop what is no longer needed",
        Free(*free)
    )]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// How many bytes were asked for; saturates.
        bytes: u128,
        /// How many bytes are free, where the device tells.
        free: Option<u64>,
    },

    /// A device name that nobody knows.
    #[error(
        "there is no device `{name}`; there is {} (GPUs have names such as `nvidia`, `nvidia:1`, `vulkan`, `amd`)",
        Names(available)
    )]
    NoSuchDevice {
        /// The name that was asked for.
        name: String,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// A device of a kind that this program was built without.
    #[error(
        "device `{name}` is not available in this build of tilewise{}; there is {}", ByFeature(*feature),
        Names(available)
    )]
    DeviceNotBuilt {
        /// The name that was asked for.
        name: String,
        /// The feature of tilewise that adds it, if there is one.
        feature: Option<&'static str>,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// The driver of a device is not installed.
    #[error(
        "device `{name}` needs the {vendor} driver, and none could be loaded (looked for {library}): install it, or use \
         another device; there is {}",
        Names(available)
    )]
    NoDriver {
        /// The name that was asked for.
        name: String,
        /// Who makes the driver.
        vendor: &'static str,
        /// The library that was looked for.
        library: &'static str,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// The driver of a device is older than what tilewise needs.
    #[error(
        "device `{name}`: the driver supports {found}, tilewise needs {needed} or newer: update the driver"
    )]
    DriverTooOld {
        /// The name that was asked for.
        name: String,
        /// What the driver supports.
        found: String,
        /// What it has to support.
        needed: String,
    },

    /// The driver of a device works, but it has no such device.
    #[error(
        "device `{name}`: the driver is there, but it lists no device: {hint}; or use another device; there is {}",
        Names(available)
    )]
    NoHardware {
        /// The name that was asked for.
        name: String,
        /// What to look at.
        hint: &'static str,
        /// The names of the devices that there are.
        available: Vec<String>,
    },

    /// There are adapters, but none that the name means.
    #[error("device `{name}`: there is no such adapter{}; there is {}", ByVariable(variable), List(found))]
    NoAdapter {
        /// The name that was asked for.
        name: String,
        /// The environment variable that restricts the adapters, if it is set.
        variable: Option<&'static str>,
        /// The adapters that there are, and their names.
        found: Vec<String>,
    },

    /// A device that is too old.
    #[error(
        "device `{name}` ({description}) is too old: tilewise needs {needed}; use another, or device `cpu`"
    )]
    DeviceTooOld {
        /// The name that was asked for.
        name: String,
        /// What it is.
        description: String,
        /// What it would have to be.
        needed: String,
    },

    /// A call of the driver failed. What was to be done has not happened; the context can be used further.
    #[error("the driver refused `{call}`: {error}")]
    Driver {
        /// The function of the driver.
        call: &'static str,
        /// The driver's name for the error, and its explanation.
        error: String,
    },

    /// The device has stopped working for this process: all of its memory is lost, and every later call fails like this.
    #[error(
        "the device is lost, and with it all of its memory: {error}; the program has to be started again. If a launch was \
         `unchecked`, run it with its bounds checks to find an access outside a tensor; otherwise look at the driver's log"
    )]
    DeviceLost {
        /// The driver's name for the error, and its explanation.
        error: String,
    },

    /// What a kernel does cannot be done on the device.
    #[error("kernel `{kernel}`: {what} cannot run on {target}{}", At(location.as_ref()))]
    Unsupported {
        /// Name of the kernel.
        kernel: String,
        /// The operation or size, and why.
        what: String,
        /// What the code is for.
        target: String,
        /// The user's position.
        location: Option<tilewise_ir::Location>,
    },

    /// The driver's assembler refused the code of a kernel: a mistake of tilewise, not of the user.
    #[error(
        "the driver could not assemble kernel `{kernel}`: {log}; this is a mistake in tilewise, please report it together \
         with the kernel"
    )]
    Assemble {
        /// Name of the kernel.
        kernel: String,
        /// What the assembler said.
        log: String,
    },

    /// A kernel could not be written to the folder that `TILEWISE_DUMP` names. Nothing has run then; it is reported
    /// once, and later kernels run without being written.
    #[error("TILEWISE_DUMP: {path} cannot be written: {reason}; name another folder, or unset the variable")]
    Dump {
        /// The file or folder.
        path: String,
        /// What the operating system says.
        reason: String,
    },

    /// The environment variable that chooses the passes of the optimiser names one that does not exist.
    #[error("the environment variable {variable} is `{value}`: {wrong}")]
    Passes {
        /// Name of the variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it, and the passes that there are.
        wrong: NoSuchPass,
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

    /// An event of one context was used in another.
    #[error("an event of {owner} is used in {user}; an event orders only the streams of its own context")]
    WrongEvent {
        /// The context that the event was recorded in.
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
        Error::OutOfMemory { what: error.what, bytes: error.bytes.into(), free: None }
    }
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

/// `llvmpipe (`vulkan`)`, or that there is nothing.
struct List<'a>(&'a [String]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("none") } else { f.write_str(&self.0.join(", ")) }
    }
}

/// ` among those that TILEWISE_ADAPTER lets through`, or nothing.
struct ByVariable<'a>(&'a Option<&'static str>);

impl fmt::Display for ByVariable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |variable| write!(f, " among those that {variable} lets through"))
    }
}

/// `, and 1024 are free`, or nothing.
struct Free(Option<u64>);

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |bytes| write!(f, ", and {bytes} are free"))
    }
}

/// `: turn on its feature `cuda``, or nothing.
struct ByFeature(Option<&'static str>);

impl fmt::Display for ByFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |feature| write!(f, ": turn on its feature `{feature}`"))
    }
}

/// ` (src/k.rs:3:5)`, or nothing.
struct At<'a>(Option<&'a tilewise_ir::Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |location| write!(f, " ({location})"))
    }
}

/// ` (and 3 more)`, or nothing.
struct More(usize);

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, " (and {} more)", self.0) } else { Ok(()) }
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
        let text = "there is no device `tpu`; there is `cpu`, `cuda` and `vulkan` (GPUs have names such as `nvidia`, \
                    `nvidia:1`, `vulkan`, `amd`)";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), text);
    }
}
