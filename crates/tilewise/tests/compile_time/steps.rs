//! The steps from a kernel's function to code, as a launch takes them, and their times.

use std::hint::black_box;
use std::time::Instant;

use tilewise::DeviceContext;
use tilewise::ir::analysis::{self, ArgNumbers, LaunchNumbers};
use tilewise::ir::pass::{self, Decisions, Optimizer};
use tilewise::ir::{Const, Kernel, ParamKind, verify};
use tilewise::layout::row_major;

use crate::kernels::Describe;

/// The steps: description, the verifier before and after the passes, passes for all launches, facts of a launch, the
/// passes that follow from them, and code for each device: PTX, a naga module, a program of the interpreter.
pub(crate) const STEPS: [&str; 8] = ["stage", "verify", "passes", "facts", "decided", "ptx", "naga", "cpu"];

/// Steps that each device needs; of the others a device needs one.
const COMMON: usize = 5;

/// Milliseconds of each of [`STEPS`].
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// Operations as staged.
    pub(crate) staged: usize,
    /// The most operations that there were between passes.
    pub(crate) most: usize,
    pub(crate) steps: [f64; STEPS.len()],
}

impl Times {
    /// All steps together, for all devices.
    pub(crate) fn total(&self) -> f64 {
        self.steps.iter().sum()
    }

    /// The steps for the device that takes longest.
    pub(crate) fn to_device(&self) -> f64 {
        let (common, devices) = self.steps.split_at(COMMON);
        common.iter().sum::<f64>() + devices.iter().copied().fold(0.0, f64::max)
    }

    /// Of each step the shorter time.
    pub(crate) fn best(mut self, other: Times) -> Times {
        for (time, other) in self.steps.iter_mut().zip(other.steps) {
            *time = time.min(other);
        }
        self
    }
}

/// The shortest times of so many runs with a kernel of so many pieces.
pub(crate) fn measure(runs: usize, describe: Describe, pieces: usize) -> Times {
    let ctx = DeviceContext::open("cpu").expect("the CPU device");
    let a = ctx.zeros(row_major([1])).expect("a tensor");
    let mut output = ctx.zeros(row_major([1])).expect("a tensor");
    let mut stage = || describe(&mut output, &a, pieces).into_kernel().expect("a kernel");
    (0..runs).map(|_| run(&mut stage)).reduce(Times::best).expect("some runs")
}

fn run(stage: &mut impl FnMut() -> Kernel) -> Times {
    let mut steps = [0.0; STEPS.len()];
    let mut start = Instant::now();
    let mut next = 0;
    let mut step = |steps: &mut [f64; STEPS.len()]| {
        steps[next] = start.elapsed().as_secs_f64() * 1e3;
        next += 1;
        start = Instant::now();
    };
    let mut kernel = stage();
    step(&mut steps);
    let described = kernel.clone();
    verify::verify(&kernel).expect("a kernel as it should be");
    step(&mut steps);
    pass::prepare(&mut kernel);
    pass::optimize(&mut kernel);
    if pass::lower::math::run(&mut kernel) {
        pass::optimize(&mut kernel);
    }
    verify::verify(&kernel).expect("a kernel as it should be");
    step(&mut steps);
    let numbers = launch_numbers(&kernel);
    let mut facts = analysis::analyze(&kernel, &numbers);
    step(&mut steps);
    if let Some(decisions) = Decisions::of(&kernel, &facts, Optimizer::ON) {
        decisions.apply(&mut kernel, Optimizer::ON);
        facts = analysis::analyze(&kernel, &numbers);
    }
    step(&mut steps);
    let scalar = (kernel.clone(), facts.clone());
    Optimizer::ON.vectorize(&mut kernel, &mut facts);
    black_box(tilewise_ptx::compile(&kernel, &facts, tilewise_ptx::Target::new(90)).expect("PTX"));
    step(&mut steps);
    let (kernel, facts) = scalar;
    black_box(
        tilewise_naga::compile(&kernel, &facts, &tilewise_naga::Capabilities::VULKAN).expect("a module"),
    );
    step(&mut steps);
    black_box(tilewise_interp::Program::compile(&kernel).expect("a program"));
    step(&mut steps);

    let mut most = kernel.op_count();
    let mut again = described.clone();
    pass::prepare(&mut again);
    pass::optimize_with(&mut again, |_, kernel| most = most.max(kernel.op_count()));
    Times { staged: described.op_count(), most, steps }
}

/// Numbers of a launch that leaves half of the guards open: a grid of 256 blocks, and tensors that end within the last one.
fn launch_numbers(kernel: &Kernel) -> LaunchNumbers {
    let arg = |kind: &ParamKind| match *kind {
        ParamKind::Scalar(scalar) => ArgNumbers::Scalar(Const::one(scalar)),
        ParamKind::Tensor { rank, .. } => ArgNumbers::Tensor {
            extents: (0..rank).map(|_| 256 * 256 - 3).collect(),
            strides: (0..rank).map(|dim| (256 * 256 - 3u64).pow(u32::from(rank - 1 - dim))).collect(),
            align: 256,
        },
    };
    LaunchNumbers {
        grid: [256, 1, 1],
        block: [256, 1, 1],
        args: kernel.params.iter().map(|param| arg(&param.kind)).collect(),
    }
}
