//! The kernels of the course, optimised, at the sizes of its puzzles and others: what is proved of each.

use tilewise_ir::analysis::{ArgNumbers, Facts, LaunchNumbers, analyze};
use tilewise_ir::{Const, Inst, Kernel, Op, Type, Value};

/// A kernel in a launch.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    text: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Extents of tensors, which lie row by row; one number for a scalar.
    args: &'static [Arg],
    /// How many checks of bounds are left.
    unproved: usize,
}

enum Arg {
    Tensor(&'static [u64]),
    Index(u64),
}

use Arg::{Index, Tensor};

macro_rules! case {
    ($file:literal, $grid:expr, $block:expr, $args:expr, $unproved:expr) => {
        Case {
            name: $file,
            text: include_str!(concat!("../cases/facts/", $file, ".ir")),
            grid: $grid,
            block: $block,
            args: $args,
            unproved: $unproved,
        }
    };
}

pub(crate) const CASES: &[Case] = &[
    case!("dot_product", [1, 1, 1], [8, 1, 1], &[Tensor(&[1]), Tensor(&[8]), Tensor(&[8]), Index(8)], 0),
    // More elements than threads, and more threads than elements.
    case!("dot_product", [1, 1, 1], [8, 1, 1], &[Tensor(&[1]), Tensor(&[9]), Tensor(&[9]), Index(9)], 0),
    case!("dot_product", [2, 1, 1], [8, 1, 1], &[Tensor(&[1]), Tensor(&[9]), Tensor(&[9]), Index(9)], 0),
    // The size is not that of the second vector; and a block has more threads than the shared array has elements.
    case!("dot_product", [2, 1, 1], [8, 1, 1], &[Tensor(&[1]), Tensor(&[9]), Tensor(&[8]), Index(9)], 1),
    case!("dot_product", [1, 1, 1], [16, 1, 1], &[Tensor(&[1]), Tensor(&[9]), Tensor(&[9]), Index(9)], 1),
    case!(
        "dot_product_256",
        [4096, 1, 1],
        [256, 1, 1],
        &[Tensor(&[1]), Tensor(&[1 << 20]), Tensor(&[1 << 20]), Index(1 << 20)],
        0
    ),
    case!(
        "dot_product_256",
        [4, 1, 1],
        [256, 1, 1],
        &[Tensor(&[1]), Tensor(&[1000]), Tensor(&[1000]), Index(1000)],
        0
    ),
    case!("matmul_naive", [1, 1, 1], [3, 3, 1], &[Tensor(&[2, 2]), Tensor(&[2, 2]), Tensor(&[2, 2])], 0),
    case!(
        "matmul_single_block",
        [1, 1, 1],
        [3, 3, 1],
        &[Tensor(&[2, 2]), Tensor(&[2, 2]), Tensor(&[2, 2])],
        0
    ),
    case!("matmul_tiled", [3, 3, 1], [3, 3, 1], &[Tensor(&[9, 9]), Tensor(&[9, 9]), Tensor(&[9, 9])], 0),
    case!(
        "matmul_any",
        [5, 3, 1],
        [16, 16, 1],
        &[Tensor(&[33, 65]), Tensor(&[33, 17]), Tensor(&[17, 65])],
        0
    ),
    case!(
        "matmul_any",
        [64, 64, 1],
        [16, 16, 1],
        &[Tensor(&[1024, 1024]), Tensor(&[1024, 1024]), Tensor(&[1024, 1024])],
        0
    ),
    case!("reduction", [4, 1, 1], [256, 1, 1], &[Tensor(&[4]), Tensor(&[1000])], 0),
    case!("reduction", [1, 1, 1], [1024, 1, 1], &[Tensor(&[1]), Tensor(&[1 << 30])], 0),
    // The result has fewer elements than there are blocks.
    case!("reduction", [5, 1, 1], [256, 1, 1], &[Tensor(&[4]), Tensor(&[1280])], 1),
    case!(
        "add_elementwise",
        [1, 1, 1],
        [256, 1, 1],
        &[Tensor(&[1024]), Tensor(&[1024]), Tensor(&[1024]), Index(1024), Index(256), Index(256)],
        0
    ),
    case!(
        "add_elementwise",
        [1000, 1, 1],
        [256, 1, 1],
        &[
            Tensor(&[1_023_996]),
            Tensor(&[1_023_996]),
            Tensor(&[1_023_996]),
            Index(1_023_996),
            Index(255_999),
            Index(255_999),
        ],
        0
    ),
    case!(
        "add_tiled",
        [1, 1, 1],
        [32, 1, 1],
        &[Tensor(&[1024]), Tensor(&[1024]), Tensor(&[1024]), Index(32), Index(32), Index(32)],
        0
    ),
    case!(
        "add_tiled",
        [1, 1, 1],
        [32, 1, 1],
        &[Tensor(&[1000]), Tensor(&[1000]), Tensor(&[1000]), Index(32), Index(32), Index(32)],
        0
    ),
    case!(
        "add_manual_vectorized",
        [1, 1, 1],
        [8, 1, 1],
        &[Tensor(&[1024]), Tensor(&[1024]), Tensor(&[1024]), Index(8), Index(8), Index(8)],
        0
    ),
    case!(
        "add_vectorized",
        [1, 1, 1],
        [32, 1, 1],
        &[Tensor(&[1024]), Tensor(&[1024]), Tensor(&[1024]), Index(1024), Index(32), Index(32), Index(32),],
        0
    ),
    case!(
        "add_vectorized",
        [1, 1, 1],
        [32, 1, 1],
        &[Tensor(&[999]), Tensor(&[999]), Tensor(&[999]), Index(999), Index(32), Index(32), Index(32)],
        0
    ),
];

impl Case {
    pub(crate) fn kernel(&self) -> Kernel {
        self.text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub(crate) fn numbers(&self) -> LaunchNumbers {
        let args = self.args.iter().map(|arg| match *arg {
            Index(number) => ArgNumbers::Scalar(Const::index(number)),
            Tensor(extents) => ArgNumbers::Tensor {
                extents: extents.iter().copied().collect(),
                strides: (0..extents.len()).map(|dim| extents[dim + 1..].iter().product()).collect(),
                align: 256,
            },
        });
        LaunchNumbers { grid: self.grid, block: self.block, args: args.collect() }
    }

    fn facts(&self) -> (Kernel, Facts) {
        let kernel = self.kernel();
        let facts = analyze(&kernel, &self.numbers());
        (kernel, facts)
    }
}

fn accesses(kernel: &Kernel) -> Vec<&Inst> {
    let mut accesses = Vec::new();
    kernel.body.visit(&mut |inst| {
        if inst.op.access().is_some() {
            accesses.push(inst);
        }
    });
    accesses
}

#[test]
fn bounds() {
    for case in CASES {
        let (kernel, facts) = case.facts();
        let unproved: Vec<(usize, &Inst)> = accesses(&kernel)
            .into_iter()
            .enumerate()
            .flat_map(|(n, inst)| {
                let bounds = inst.op.access().expect("an access").bounds.len();
                (0..bounds).map(move |i| (n, i, inst))
            })
            .filter(|&(n, i, _)| facts.accesses[n].in_bounds >> i & 1 == 0)
            .map(|(n, _, inst)| (n, inst))
            .collect();
        assert_eq!(
            unproved.len(),
            case.unproved,
            "{} with {:?} is not proved at {unproved:?}\n{kernel}",
            case.name,
            case.numbers()
        );
    }
}

#[test]
fn vectors_are_aligned() {
    for case in CASES {
        let (kernel, facts) = case.facts();
        for (inst, found) in accesses(&kernel).into_iter().zip(&facts.accesses) {
            let ty = match inst.op {
                Op::Store(_) => kernel.ty(inst.args[1]),
                _ => kernel.ty(inst.results[0]),
            };
            assert_eq!(usize::from(found.align), ty.size(), "{} at {inst:?}\n{kernel}", case.name);
        }
    }
}

#[test]
fn indices_are_narrow() {
    for case in CASES {
        let (kernel, facts) = case.facts();
        for value in (0..kernel.values.len() as u32).map(Value) {
            assert_eq!(
                facts.is_narrow(value),
                kernel.ty(value) == Type::INDEX,
                "{}: {value:?}\n{kernel}",
                case.name
            );
        }
    }
}
