//! A kernel made ready to run: the linear code, and the door to running it.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use thiserror::Error;
use tilewise_ir::{Kernel, VerifyError, verify};

use crate::code::{AccessOp, Code};
use crate::compile;
use crate::launch::{Arg, LaunchConfig, LaunchError, Options, Outcome, check_args};
use crate::machine::{Launch, Watching};
use crate::observe::{AccessSite, SiteKind};
use crate::schedule;

/// A kernel flattened to linear code. It can be launched any number of times, also at the same time.
///
/// ```
/// use tilewise_interp::{Arg, Buffer, LaunchConfig, Options, Program};
/// use tilewise_ir::{Kernel, Scalar};
///
/// let kernel: Kernel = "
///     kernel @square(%out: tensor<u32, 1, mut>) {
///       %0 = thread_idx.x
///       %1 = cast %0 to u32
///       %2 = mul %1, %1
///       store %out[%0], %2
///       return
///     }
/// ".parse()?;
/// let program = Program::compile(&kernel)?;
/// let out = Buffer::new(Scalar::U32, 5)?;
/// let config = LaunchConfig { grid: [1, 1, 1], block: [5, 1, 1] };
/// let args = [Arg::Tensor { buffer: &out, offset: 0, extents: &[5], strides: &[1] }];
/// let outcome = program.run(config, &args, Options::default())?;
/// assert_eq!(outcome.first_fault, None);
/// let mut host = [0u32; 5];
/// out.read(0, &mut host)?;
/// assert_eq!(host, [0, 1, 4, 9, 16]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    kernel: Arc<Kernel>,
    code: Arc<Code>,
}

/// A kernel that the verifier does not let through.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("kernel `{kernel}` is not valid: {}{}", errors[0], match errors.len() {
    1 => String::new(),
    n => format!(" (and {} more)", n - 1),
})]
pub struct CompileError {
    /// Name of the kernel.
    pub kernel: String,
    /// What is wrong; at least one.
    pub errors: Vec<VerifyError>,
}

/// Cores that the process may use. Asking the system takes longer than many a launch.
static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, NonZeroUsize::get));

impl Program {
    /// Flattens a kernel. It may come straight from staging or have gone through any passes.
    ///
    /// # Errors
    ///
    /// If the kernel is not valid.
    pub fn compile(kernel: &Kernel) -> Result<Program, CompileError> {
        verify::verify(kernel).map_err(|errors| CompileError { kernel: kernel.name.clone(), errors })?;
        let code = compile::compile(kernel);
        Ok(Program { kernel: Arc::new(kernel.clone()), code: Arc::new(code) })
    }

    /// The kernel as it was compiled.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Whether a block may have to wait for another one, so that blocks do not simply run one after the other.
    pub fn blocks_wait(&self) -> bool {
        self.code.waits
    }

    /// The memory accesses of the kernel, in the order of the source. An [`Observer`](crate::Observer) is told their numbers
    /// in this list.
    pub fn sites(&self) -> impl ExactSizeIterator<Item = AccessSite> + '_ {
        self.code.accesses.iter().map(|access| AccessSite {
            span: access.span,
            mem: access.mem,
            kind: match access.kind {
                AccessOp::Load { .. } => SiteKind::Load,
                AccessOp::Store { .. } => SiteKind::Store,
                AccessOp::AtomicLoad { ordering, .. } => SiteKind::AtomicLoad(access.scope, ordering),
                AccessOp::AtomicStore { ordering, .. } => SiteKind::AtomicStore(access.scope, ordering),
                AccessOp::Rmw { ordering, .. } | AccessOp::Cas { ordering, .. } => {
                    SiteKind::AtomicUpdate(access.scope, ordering)
                }
            },
            scalar: access.scalar,
            components: access.components,
            align: access.align,
        })
    }

    /// Runs the kernel to its end, and gives what went wrong on the way.
    ///
    /// # Errors
    ///
    /// If the launch is over a limit or the arguments do not fit the parameters; nothing has run then.
    pub fn run(
        &self,
        config: LaunchConfig,
        args: &[Arg<'_>],
        options: Options<'_>,
    ) -> Result<Outcome, LaunchError> {
        config.check(&self.kernel, &options.limits)?;
        check_args(&self.kernel, args)?;
        let workers = options.threads.map_or_else(|| *CORES, NonZeroUsize::get);
        let watching = Watching { observer: options.observer, max_rounds: options.max_rounds };
        let launch = Launch::new(&self.kernel, &self.code, config, args, watching);
        let mut print = |line: &str| println!("{line}");
        let output = options.output.unwrap_or(&mut print);
        Ok(schedule::run(&launch, workers, output, options.ended)?)
    }
}
