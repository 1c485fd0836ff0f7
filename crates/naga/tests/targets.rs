//! Which operation works on which target: the table `targets.md`, which is made here by asking the backends.
//!
//! A kernel of each operation on each type that the verifier lets it have is translated for each target, and what
//! [`Capabilities::supports`] says has to agree. With `TILEWISE_BLESS=1` the table is written anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Inst, Kernel, Op, Scalar, pass, verify};
use tilewise_naga::{Capabilities, compile};

const SCALARS: [Scalar; 14] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::Index,
    Scalar::F16,
    Scalar::BF16,
    Scalar::F32,
    Scalar::F64,
];

/// The targets of this backend. That of NVIDIA's driver comes before them.
const TARGETS: [(&str, Capabilities); 4] = [
    ("Vulkan", Capabilities::VULKAN),
    ("Direct3D 12", Capabilities::DX12),
    ("Metal", Capabilities::METAL),
    ("WebGPU", Capabilities::WEBGPU),
];

/// Operations as they are written on `%x` of some type, with what the table calls them. `%i` is an index, `%m` memory,
/// `%b` a truth value, `%u` a number.
const OPERATIONS: [(&str, &str); 63] = [
    ("load", "load %m[%i] : T"),
    ("store", "store %m[%i], %x"),
    ("neg", "neg %x"),
    ("not", "not %x"),
    ("abs", "abs %x"),
    ("signum", "signum %x"),
    ("add", "add %x, %x"),
    ("sub", "sub %x, %x"),
    ("mul", "mul %x, %x"),
    ("div", "div %x, %x"),
    ("rem", "rem %x, %x"),
    ("min", "min %x, %x"),
    ("max", "max %x, %x"),
    ("and", "and %x, %x"),
    ("or", "or %x, %x"),
    ("xor", "xor %x, %x"),
    ("shl", "shl %x, %x"),
    ("shr", "shr %x, %x"),
    ("eq", "eq %x, %x"),
    ("lt", "lt %x, %x"),
    ("mul_add", "mul_add %x, %x, %x"),
    ("select", "select %b, %x, %x"),
    ("count_ones", "count_ones %x"),
    ("leading_zeros", "leading_zeros %x"),
    ("trailing_zeros", "trailing_zeros %x"),
    ("sqrt", "sqrt %x"),
    ("rsqrt", "rsqrt %x"),
    ("recip", "recip %x"),
    ("floor", "floor %x"),
    ("round", "round %x"),
    ("is_nan", "is_nan %x"),
    ("exp", "exp %x"),
    ("log", "log %x"),
    ("sin", "sin %x"),
    ("cos", "cos %x"),
    ("tanh", "tanh %x"),
    ("pow", "pow %x, %x"),
    ("atan2", "atan2 %x, %x"),
    ("cast to f32", "cast %x to f32"),
    ("cast to i32", "cast %x to i32"),
    ("bitcast to i32", "bitcast %x to i32"),
    ("bitcast to i64", "bitcast %x to i64"),
    ("splat", "splat %x x 4"),
    ("atomic_load", "atomic_load device relaxed %m[%i]"),
    ("atomic_store", "atomic_store device relaxed %m[%i], %x"),
    ("atomic_add", "atomic_add device relaxed %m[%i], %x"),
    ("atomic_min", "atomic_min device relaxed %m[%i], %x"),
    ("atomic_xor", "atomic_xor device relaxed %m[%i], %x"),
    ("atomic_exchange", "atomic_exchange device relaxed %m[%i], %x"),
    ("atomic_cas", "atomic_cas device relaxed %m[%i], %x, %x"),
    ("atomic_add, ordered", "atomic_add device acq_rel %m[%i], %x"),
    ("print", "print \"{}\", %x"),
    ("assert", "assert %b, \"no\""),
    ("barrier", "barrier"),
    ("fence", "fence device seq_cst"),
    ("lane_id", "lane_id"),
    ("shuffle_idx", "shuffle_idx %x, %u"),
    ("shuffle_down", "shuffle_down %x, %u"),
    ("ballot", "ballot %b"),
    ("warp_reduce_add", "warp_reduce_add %x"),
    ("warp_reduce_xor", "warp_reduce_xor %x"),
    ("warp_scan_add", "warp_scan_add %x"),
    ("warp_barrier", "warp_barrier %u"),
];

/// A kernel of an operation on a type; `None` if the verifier does not let it have that type.
fn kernel(operation: &str, scalar: Scalar) -> Option<Kernel> {
    let operation = operation
        .replace("%x", "%1")
        .replace("%i", "%0")
        .replace("%b", "%2")
        .replace("%u", "%3")
        .replace(" T", &format!(" {scalar}"));
    let has_result = !["store", "atomic_store", "print", "assert", "barrier", "fence", "warp_barrier"]
        .contains(&operation.split(' ').next().unwrap_or_default());
    let result = if has_result { "%4 = " } else { "" };
    let kernel: Kernel = format!(
        "kernel @k(%m: tensor<{scalar}, 1, mut>, %n: tensor<bool, 1>) {{\n%0 = const index 0\n%1 = load %m[%0] : {scalar}\n\
         %2 = load %n[%0] : bool\n%3 = const u32 3\n{result}{operation}\nreturn\n}}"
    )
    .parse()
    .unwrap_or_else(|error| panic!("{operation}: {error}"));
    verify::verify(&kernel).is_ok().then_some(kernel)
}

fn facts(kernel: &Kernel) -> Facts {
    let mut facts = Facts { block: Some([32, 1, 1]), ..Facts::unknown(kernel) };
    // As long as an index fits, no target needs 64 bits for it.
    facts.narrow.fill(true);
    facts
}

/// The kernel without the functions that take more than arithmetic, and whether there were any.
fn lowered(kernel: &Kernel) -> (Kernel, bool) {
    let mut kernel = kernel.clone();
    let changed = pass::lower::math::run(&mut kernel);
    (kernel, changed)
}

fn works_on_nvidia(kernel: &Kernel) -> bool {
    let kernel = lowered(kernel).0;
    tilewise_ptx::compile(&kernel, &facts(&kernel), tilewise_ptx::Target::new(75)).is_ok()
}

fn works(kernel: &Kernel, capabilities: &Capabilities, scalar: Scalar) -> bool {
    let (kernel, changed) =
        if capabilities.native_functions { (kernel.clone(), false) } else { lowered(kernel) };
    let works = compile(&kernel, &facts(&kernel), capabilities).is_ok();
    if !changed {
        let supports = |inst: &Inst| capabilities.supports(&inst.op, scalar).is_ok();
        // The first operations are those that get the operands; those of the index, the condition and the number aside.
        let own = |n: &usize| *n == 1 || *n > 3;
        let insts = &kernel.body.insts;
        let all = (0..insts.len()).filter(own).all(|n| insts[n].op == Op::Return || supports(&insts[n]));
        assert_eq!(works, all, "compiling and `supports` do not agree on {scalar}\n{kernel}");
    }
    works
}

/// The types of `of`, as few words as there are; `of` has those that an operation can have at all.
fn cell(works: &[Scalar], of: &[Scalar]) -> String {
    let names = |scalars: &[Scalar]| {
        let names: Vec<_> = scalars.iter().map(|scalar| format!("`{scalar}`")).collect();
        names.join(" ")
    };
    let lacks: Vec<Scalar> = of.iter().copied().filter(|scalar| !works.contains(scalar)).collect();
    match (works.len(), lacks.len()) {
        (_, 0) => "yes".to_owned(),
        (0, _) => "no".to_owned(),
        (has, lacks) if has < lacks => names(works),
        _ => format!("not {}", names(&lacks)),
    }
}

fn table() -> String {
    let mut table = "<!-- Made by crates/naga/tests/targets.rs; TILEWISE_BLESS=1 makes it anew. -->\n\n\
                     | operation | types | CUDA |"
        .to_owned();
    for (name, _) in TARGETS {
        write!(table, " {name} |").expect("a string takes all");
    }
    writeln!(table, "\n|{}", " --- |".repeat(3 + TARGETS.len())).expect("a string takes all");
    for (name, operation) in OPERATIONS {
        // The type plays no part where no value of it is an operand.
        let scalars: &[Scalar] =
            if ["%x", "%m"].iter().any(|part| operation.contains(part)) { &SCALARS } else { &[Scalar::U32] };
        let kernels: Vec<(Scalar, Kernel)> =
            scalars.iter().filter_map(|&scalar| Some((scalar, kernel(operation, scalar)?))).collect();
        assert!(!kernels.is_empty(), "{name} takes no type at all");
        let of: Vec<Scalar> = kernels.iter().map(|(scalar, _)| *scalar).collect();
        let types = match of.len() {
            14 => "all".to_owned(),
            1 if of[0] == Scalar::U32 => String::new(),
            n if n > 7 => {
                let lacks: Vec<_> =
                    SCALARS.iter().filter(|scalar| !of.contains(scalar)).map(|s| format!("`{s}`")).collect();
                format!("all but {}", lacks.join(" "))
            }
            _ => of.iter().map(|scalar| format!("`{scalar}`")).collect::<Vec<_>>().join(" "),
        };
        write!(table, "| `{name}` | {types} |").expect("a string takes all");
        let with = |works: &dyn Fn(&Kernel, Scalar) -> bool| -> Vec<Scalar> {
            kernels
                .iter()
                .filter(|(scalar, kernel)| works(kernel, *scalar))
                .map(|(scalar, _)| *scalar)
                .collect()
        };
        let nvidia = with(&|kernel, _| works_on_nvidia(kernel));
        write!(table, " {} |", cell(&nvidia, &of)).expect("a string takes all");
        for (_, capabilities) in &TARGETS {
            let adapters = with(&|kernel, scalar| works(kernel, capabilities, scalar));
            write!(table, " {} |", cell(&adapters, &of)).expect("a string takes all");
        }
        table.push('\n');
    }
    table
}

#[test]
fn the_table_of_targets_is_what_the_backends_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets.md");
    let (table, found) = (table(), fs::read_to_string(&path).unwrap_or_default());
    if std::env::var_os("TILEWISE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, table).expect("the table can be written");
    } else {
        assert!(table == found, "targets.md is stale, TILEWISE_BLESS=1 makes it anew; it would be\n{table}");
    }
}
