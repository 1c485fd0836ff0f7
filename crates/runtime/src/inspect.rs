//! The code that kernels become, on any machine: no GPU and no driver is asked.
//!
//! [`code`] gives that of one launch; [`DeviceContext::with_inspector`](crate::DeviceContext::with_inspector) gives that of
//! all launches of a program, while they run on whatever device it has.
//!
//! ```
//! use tilewise_runtime::inspect::{Target, code};
//! use tilewise_runtime::{LaunchBuilder, block_dim, grid_dim};
//!
//! let launch = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
//! let wgsl = code(launch, grid_dim(1), block_dim(64), Target::Wgsl)?;
//! assert!(wgsl.text().unwrap().contains("@compute @workgroup_size(64, 1, 1)"));
//! # Ok::<(), tilewise_runtime::Error>(())
//! ```
//!
//! It is what a device would run for that launch: with the optimiser's work done and what follows from the launch's
//! numbers known. Only the device is not a real one, but one that is common.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use smallvec::SmallVec;
use tilewise_ir::Kernel;
use tilewise_ir::analysis::{self, Facts};
use tilewise_ir::pass::{self, Decisions, Optimizer};
use tilewise_naga::{Capabilities, Module, write};

use crate::cache::{Passes, prepared};
use crate::device::numbers::launch_numbers;
use crate::device::{ArgValue, DeviceLimits};
use crate::error::{Error, Result, by_naga};
use crate::launch::dims::{BlockDim, GridDim};
use crate::launch::{Launch, TensorValue};

/// Compute capability of the GPU that PTX is for: that of an A100.
const PTX_CAPABILITY: u32 = 80;

/// No launch is too large to be looked at.
const NO_LIMITS: DeviceLimits = DeviceLimits {
    max_grid_dim: [u32::MAX as usize; 3],
    max_block_dim: [u32::MAX as usize; 3],
    max_threads_per_block: usize::MAX,
    max_shared_memory_per_block: u64::MAX,
};

/// A language that kernels become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The text of tilewise's own IR, as the CPU device gets it.
    Ir,
    /// NVIDIA's PTX.
    Ptx,
    /// SPIR-V for Vulkan 1.1: it is binary.
    Spirv,
    /// The WebGPU Shading Language, for any device of WebGPU.
    Wgsl,
    /// The Metal Shading Language, for GPUs of Apple.
    Msl,
    /// The High-Level Shader Language, for Direct3D 12.
    Hlsl,
}

/// The code of one kernel for one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    kernel: String,
    target: Target,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Text(String),
    Words(Vec<u32>),
}

/// What gets the code of each launch.
#[derive(Clone)]
pub(crate) struct Inspector {
    target: Target,
    sink: Arc<dyn Fn(Code) + Send + Sync>,
}

/// The code that a launch becomes. Nothing runs.
///
/// # Errors
///
/// As [`enqueue_function`](crate::DeviceContext::enqueue_function) for what is wrong in the kernel or the launch;
/// [`Error::Unsupported`] names what the target cannot do, and where.
pub fn code(launch: Launch<'_>, grid: GridDim, block: BlockDim, target: Target) -> Result<Code> {
    let block = block.checked(launch.name(), &NO_LIMITS)?;
    let grid = grid.checked(launch.name(), &NO_LIMITS)?;
    let (kernel, params) = launch.into_parts()?;
    let args: SmallVec<[&ArgValue; 8]> = params.iter().map(|param| &param.value).collect();
    translate(&kernel, Optimizer::ON, grid, block, &args, target)
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 6] =
        [Target::Ir, Target::Ptx, Target::Spirv, Target::Wgsl, Target::Msl, Target::Hlsl];

    /// The name: `ir`, `ptx`, `spirv`, `wgsl`, `msl`, `hlsl`.
    pub fn name(self) -> &'static str {
        match self {
            Target::Ir => "ir",
            Target::Ptx => "ptx",
            Target::Spirv => "spirv",
            Target::Wgsl => "wgsl",
            Target::Msl => "msl",
            Target::Hlsl => "hlsl",
        }
    }

    /// The usual extension of a file of it.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Ir => "ir",
            Target::Ptx => "ptx",
            Target::Spirv => "spv",
            Target::Wgsl => "wgsl",
            Target::Msl => "metal",
            Target::Hlsl => "hlsl",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// By its [name](Target::name); the error is the list of names.
///
/// ```
/// use tilewise_runtime::inspect::Target;
///
/// assert_eq!("msl".parse(), Ok(Target::Msl));
/// assert_eq!("asm".parse::<Target>(), Err("ir, ptx, spirv, wgsl, msl, hlsl".to_owned()));
/// ```
impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Target, String> {
        let found = Target::ALL.into_iter().find(|target| target.name() == name);
        found.ok_or_else(|| Target::ALL.map(Target::name).join(", "))
    }
}

impl Code {
    /// Name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// What it is written in.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The text; `None` for SPIR-V, which is binary.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Words(_) => None,
        }
    }

    /// The words of SPIR-V; `None` for text.
    pub fn words(&self) -> Option<&[u32]> {
        match &self.content {
            Content::Text(_) => None,
            Content::Words(words) => Some(words),
        }
    }

    /// What a file of it holds: the text, or the words, their lowest byte first.
    pub fn bytes(&self) -> Vec<u8> {
        match &self.content {
            Content::Text(text) => text.clone().into_bytes(),
            Content::Words(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        }
    }
}

impl Inspector {
    pub(crate) fn new(target: Target, sink: impl Fn(Code) + Send + Sync + 'static) -> Inspector {
        Inspector { target, sink: Arc::new(sink) }
    }

    /// Gives the code of a launch to the sink.
    pub(crate) fn look(
        &self,
        described: &Kernel,
        optimizer: Optimizer,
        grid: [u32; 3],
        block: [u32; 3],
        args: &[&ArgValue],
    ) -> Result<()> {
        translate(described, optimizer, grid, block, args, self.target).map(|code| (self.sink)(code))
    }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inspector({})", self.target)
    }
}

fn translate(
    described: &Kernel,
    optimizer: Optimizer,
    grid: [u32; 3],
    block: [u32; 3],
    args: &[&ArgValue],
    target: Target,
) -> Result<Code> {
    let lower = |kernel: &mut Kernel| match target {
        Target::Ptx | Target::Spirv => pass::lower::math::run(kernel),
        Target::Ir | Target::Wgsl | Target::Msl | Target::Hlsl => false,
    };
    let (mut kernel, _) = prepared(described, Passes::Optimized(optimizer), lower)?;
    let numbers = launch_numbers(grid, block, args, address);
    if let Some(decisions) = Decisions::of(&kernel, &analysis::analyze(&kernel, &numbers), optimizer) {
        decisions.apply(&mut kernel, optimizer);
    }
    let mut facts = analysis::analyze(&kernel, &numbers);
    // The IR is that of all devices, and only GPUs join accesses.
    if target != Target::Ir {
        optimizer.vectorize(&mut kernel, &mut facts);
    }
    let shader = |capabilities, language| shader(&kernel, &facts, capabilities, language);
    let content = match target {
        Target::Ir => Content::Text(kernel.with_spans().to_string()),
        Target::Ptx => {
            let target = tilewise_ptx::Target::new(PTX_CAPABILITY);
            Content::Text(tilewise_ptx::compile(&kernel, &facts, target)?.text)
        }
        Target::Spirv => {
            let module = shader(Capabilities::VULKAN, "Vulkan")?;
            Content::Words(write::spirv(&module).map_err(refused)?)
        }
        Target::Wgsl => {
            let module = shader(Capabilities::WEBGPU, "WebGPU")?;
            Content::Text(write::wgsl(&module).map_err(refused)?)
        }
        Target::Msl => {
            let module = shader(Capabilities::METAL, "Metal")?;
            Content::Text(write::msl(&module).map_err(refused)?)
        }
        Target::Hlsl => {
            let module = shader(Capabilities::DX12, "Direct3D 12")?;
            Content::Text(write::hlsl(&module).map_err(refused)?)
        }
    };
    Ok(Code { kernel: kernel.name, target, content })
}

fn shader(kernel: &Kernel, facts: &Facts, capabilities: Capabilities, language: &str) -> Result<Module> {
    tilewise_naga::compile(kernel, facts, &capabilities).map_err(|unsupported| by_naga(unsupported, language))
}

fn refused(error: write::WriteError) -> Error {
    Error::Assemble { kernel: error.kernel.clone(), log: error.to_string() }
}

/// As if each buffer were at the start of all memory: aligned to whatever an allocator would align it to.
fn address(tensor: &TensorValue) -> u64 {
    tensor.offset * tensor.storage.scalar().size() as u64
}
