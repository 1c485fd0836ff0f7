//! A lowered function, ready to be run on slices of operands.

use tilewise_interp::{Arg, Buffer, LaunchConfig, Options, Program, Word};
use tilewise_ir::{Kernel, Scalar, pass, verify};

/// How many threads a block has.
const BLOCK: usize = 256;

/// A function of one or two operands of a type, one lane each.
pub(crate) struct Function {
    scalar: Scalar,
    program: Program,
}

/// The text of a kernel that stores the function of the elements of `%a` and `%b`, `lanes` to a thread.
pub(crate) fn text(name: &str, scalar: Scalar, lanes: usize) -> String {
    let ty = if lanes == 1 { scalar.name().to_owned() } else { format!("{scalar}x{lanes}") };
    let args = if is_binary(name) { "%x, %y" } else { "%x" };
    format!(
        "kernel @k(%out: tensor<{scalar}, 1, mut>, %a: tensor<{scalar}, 1>, %b: tensor<{scalar}, 1>) {{
           %block = block_idx.x
           %threads = block_dim.x
           %thread = thread_idx.x
           %first = mul %block, %threads
           %number = add %first, %thread
           %lanes = const index {lanes}
           %i = mul %number, %lanes
           %x = load %a[%i] : {ty}
           %y = load %b[%i] : {ty}
           %r = {name} {args}
           store %out[%i], %r
           return
         }}"
    )
}

/// The kernel of that text, lowered.
pub(crate) fn lowered(name: &str, scalar: Scalar, lanes: usize) -> Kernel {
    let text = text(name, scalar, lanes);
    let mut kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    pass::prepare(&mut kernel);
    assert!(pass::lower::math::run(&mut kernel), "{name} is lowered");
    if let Err(errors) = verify::verify(&kernel) {
        panic!("{}", verify::render(&kernel, &errors));
    }
    kernel
}

/// Whether the function has two operands.
pub(crate) fn is_binary(name: &str) -> bool {
    matches!(name, "pow" | "atan2")
}

impl Function {
    /// The lowered function.
    pub(crate) fn new(name: &str, scalar: Scalar) -> Function {
        Function::of(&lowered(name, scalar, 1), scalar)
    }

    /// The function that a kernel like [`text`] computes, with one lane.
    pub(crate) fn of(kernel: &Kernel, scalar: Scalar) -> Function {
        Function { scalar, program: Program::compile(kernel).unwrap() }
    }

    /// The function of each operand, or pair of operands, by bits.
    pub(crate) fn run<W: Word>(&self, a: &[W], b: &[W]) -> Vec<W> {
        self.run_lanes(a, b, 1)
    }

    /// The same for a kernel with this many lanes.
    pub(crate) fn run_lanes<W: Word>(&self, a: &[W], b: &[W], lanes: usize) -> Vec<W> {
        let blocks = a.len().div_ceil(BLOCK * lanes);
        let len = blocks * BLOCK * lanes;
        let buffer = |values: &[W]| {
            let buffer = Buffer::new(self.scalar, len).unwrap();
            buffer.write(0, values).unwrap();
            buffer
        };
        let (out, a_buffer, b_buffer) = (buffer(&[]), buffer(a), buffer(b));
        let (extents, strides) = ([len as u64], [1]);
        let tensor = |buffer| Arg::Tensor { buffer, offset: 0, extents: &extents, strides: &strides };
        let config = LaunchConfig { grid: [blocks as u32, 1, 1], block: [BLOCK as u32, 1, 1] };
        let args = [tensor(&out), tensor(&a_buffer), tensor(&b_buffer)];
        let outcome = self.program.run(config, &args, Options::default()).unwrap();
        assert_eq!(outcome.fault_count, 0);
        let mut results = vec![W::default(); a.len()];
        out.read(0, &mut results).unwrap();
        results
    }
}
