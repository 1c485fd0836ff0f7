//! The verifier: each rule has kernels that keep it and kernels that break it, with the guilty lines marked.

use std::fs;
use std::path::{Path, PathBuf};
use tilewise_ir::text::{self, MAX_DEPTH};
use tilewise_ir::verify::{self, Rule, VerifyErrorKind, verify};
use tilewise_ir::{
    Access, Alloc, AllocId, Block, Builder, Const, Inst, Kernel, Label, MemRef, Op, ParamId, Scalar, Space,
    Span, Type, UnaryOp, Value,
};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(CASES).join(folder)).expect("the folder of cases");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a case").path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse_all(path: &Path) -> Vec<Kernel> {
    text::parse_all(&read(path)).unwrap_or_else(|error| panic!("{}:{error}", path.display()))
}

/// A line of a kernel and the errors under it, as `V4 what is wrong`.
type Marked = (String, Vec<String>);

/// The lines of a case with what their `; error:` comments say.
fn expected_lines(case: &str) -> Vec<Marked> {
    let lines = case.lines().filter(|line| !line.is_empty() && !line.starts_with(';'));
    lines
        .map(|line| {
            let mut parts = line.split("; error: ").map(|part| part.trim_end().to_owned());
            (parts.next().unwrap(), parts.map(|part| part.trim_end_matches(';').to_owned()).collect())
        })
        .collect()
}

/// The lines of a rendered kernel with the errors under them.
fn rendered_lines(rendered: &str) -> Vec<Marked> {
    let mut lines: Vec<Marked> = Vec::new();
    for line in rendered.lines() {
        match line.trim_start().strip_prefix('^') {
            None => lines.push((line.to_owned(), Vec::new())),
            Some(error) => {
                let error = error.trim_start_matches('^').trim_start().replacen(": ", " ", 1);
                lines.last_mut().expect("a line above its error").1.push(error);
            }
        }
    }
    lines
}

#[test]
fn cases_have_the_errors_that_they_mark() {
    let mut wrong = String::new();
    for path in files("verify") {
        let file = path.file_name().unwrap().to_string_lossy();
        let expected = expected_lines(&read(&path));
        let rendered: String = parse_all(&path)
            .iter()
            .map(|kernel| verify::render(kernel, &verify(kernel).err().unwrap_or_default()))
            .collect();
        let actual = rendered_lines(&rendered);
        for ((line, errors), (expected_line, expected_errors)) in actual.iter().zip(&expected) {
            let fit = line == expected_line
                && errors.len() == expected_errors.len()
                && errors.iter().zip(expected_errors).all(|(error, expected)| error.starts_with(expected));
            if !fit {
                wrong +=
                    &format!("{file}: {expected_line} {expected_errors:?}\n    but {line} {errors:?}\n",);
            }
        }
        if actual.len() != expected.len() {
            wrong += &format!("{file}: has {} lines, but prints {}\n", expected.len(), actual.len());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Each rule that text can break has a file, which breaks it, and holds a kernel with no error.
#[test]
fn each_rule_has_cases() {
    for path in files("verify") {
        let number: usize = path.file_name().unwrap().to_string_lossy()[1..3].parse().expect("v01_....ir");
        let results: Vec<_> = parse_all(&path).iter().map(verify).collect();
        assert!(results.iter().any(Result::is_ok), "{}", path.display());
        let rules = results.iter().filter_map(|r| r.as_ref().err()).flatten().map(|e| e.rule() as usize);
        assert!(rules.into_iter().any(|rule| rule == number), "{}", path.display());
    }
    assert_eq!(files("verify").len(), Rule::Atomic as usize);
}

#[test]
fn the_case_of_every_op_is_valid() {
    for name in ["every_op.ir", "names.ir", "spans.ir"] {
        for kernel in parse_all(&Path::new(CASES).join("text").join(name)) {
            if let Err(errors) = verify(&kernel) {
                panic!("{name}:\n{}", verify::render(&kernel, &errors));
            }
        }
    }
}

// ---- what text cannot say ----

/// A kernel of one operation, with a value of each of these types to work on.
fn kernel_of(op: Op, args: &[u32], results: &[u32], types: &[Type]) -> Kernel {
    let mut kernel = Kernel::new("k");
    kernel.values = types.to_vec();
    let values = |numbers: &[u32]| numbers.iter().map(|&n| Value(n)).collect::<Vec<_>>();
    kernel.body.insts.push(Inst::new(op, values(args), values(results), Span::NONE));
    kernel.body.insts.push(Inst::new(Op::Return, [], [], Span::NONE));
    kernel
}

/// The kinds of all errors; rendering them must work too.
fn kinds(kernel: &Kernel) -> Vec<VerifyErrorKind> {
    let errors = verify(kernel).err().unwrap_or_default();
    assert!(!verify::render(kernel, &errors).is_empty());
    errors.into_iter().map(|error| error.kind).collect()
}

#[test]
fn references_outside_their_tables() {
    let f32 = Scalar::F32.ty();
    assert_eq!(
        kinds(&kernel_of(Op::Unary(UnaryOp::Neg), &[7], &[0], &[f32])),
        [VerifyErrorKind::NoSuchValue { value: 7 }]
    );
    assert_eq!(
        kinds(&kernel_of(Op::Const(Const::f32(1.0)), &[], &[u32::MAX], &[])),
        [VerifyErrorKind::NoSuchValue { value: u32::MAX }]
    );
    assert_eq!(
        kinds(&kernel_of(Op::Scalar(ParamId(3)), &[], &[0], &[f32])),
        [VerifyErrorKind::NoSuchParam { param: 3 }]
    );
    for mem in [MemRef::Param(ParamId(0)), MemRef::Alloc(AllocId(u32::MAX))] {
        let mut kernel = kernel_of(Op::Load(Access::unchecked(mem)), &[0], &[1], &[Type::INDEX, f32]);
        kernel.body.insts.insert(0, Inst::new(Op::Const(Const::index(0)), [], [Value(0)], Span::NONE));
        assert_eq!(kinds(&kernel), [VerifyErrorKind::NoSuchMemory { mem }]);
    }
    let mut kernel = kernel_of(Op::Loop(Label(5)), &[], &[], &[]);
    kernel.labels = 5;
    let end = Inst::new(Op::Break(Label(5)), [], [], Span::NONE);
    kernel.body.insts[0].blocks.push(Block { params: Vec::new(), insts: vec![end] });
    assert_eq!(kinds(&kernel), [VerifyErrorKind::NoSuchLabel { label: 5, labels: 5 }]);
}

#[test]
fn spans_outside_their_table() {
    let mut kernel = kernel_of(Op::Barrier, &[], &[], &[]);
    let known = kernel.spans.intern("main.rs", 1, 1);
    kernel.body.insts[0].span = known;
    kernel.body.insts[1].span = Span(2);
    kernel.allocs.push(Alloc {
        name: "x".into(),
        space: Space::Local,
        elem: Type::BOOL,
        len: 1,
        span: Span(3),
    });
    let no_such = |span| VerifyErrorKind::NoSuchSpan { span };
    assert_eq!(kinds(&kernel), [no_such(3), no_such(2)]);
}

#[test]
fn blocks_and_parameters_where_none_should_be() {
    let mut kernel = kernel_of(Op::Barrier, &[], &[], &[Type::BOOL; 3]);
    let block =
        |param| Block { params: vec![Value(param)], insts: vec![Inst::new(Op::Return, [], [], Span::NONE)] };
    kernel.body.insts[0].blocks.push(Block { params: Vec::new(), ..block(0) });
    kernel.body.params.push(Value(0));
    let mut branch = Inst::new(Op::If, [Value(0)], [], Span::NONE);
    branch.blocks.extend([block(1), block(2)]);
    kernel.body.insts.insert(1, branch);
    assert_eq!(
        kinds(&kernel),
        [
            VerifyErrorKind::BodyParams { found: 1 },
            VerifyErrorKind::BlockCount { expected: 0, found: 1 },
            VerifyErrorKind::BlockParamCount { expected: 0, found: 1 },
            VerifyErrorKind::BlockParamCount { expected: 0, found: 1 },
        ]
    );
    let no_blocks = kernel_of(Op::Loop(Label(0)), &[], &[], &[]);
    assert!(kinds(&no_blocks).contains(&VerifyErrorKind::BlockCount { expected: 1, found: 0 }));
}

/// In text, such blocks of an `If` with no results get a `Yield`.
#[test]
fn blocks_of_if_without_terminator() {
    let mut kernel = kernel_of(Op::If, &[0], &[], &[Type::BOOL]);
    kernel.body.insts.insert(0, Inst::new(Op::Const(Const::bool(true)), [], [Value(0)], Span::NONE));
    let barrier = Inst::new(Op::Barrier, [], [], Span::NONE);
    kernel.body.insts[1].blocks = vec![Block { params: Vec::new(), insts: vec![barrier] }, Block::default()];
    let errors = verify(&kernel).unwrap_err();
    assert_eq!(
        verify::render(&kernel, &errors),
        "kernel @k() {
  %0 = const bool true
  if %0 {
  ^^^^^^^ V5: a block with no operations has no terminator
    barrier
    ^^^^^^^ V5: the block ends here, with no terminator
    ; no terminator
  } else {
    ; no terminator
  }
  return
}
"
    );
}

#[test]
fn bits_above_the_width_of_a_constant() {
    for (scalar, bits) in [(Scalar::Bool, 2), (Scalar::I8, 0x100), (Scalar::F32, 1 << 32)] {
        let kernel = kernel_of(Op::Const(Const { scalar, bits }), &[], &[0], &[scalar.ty()]);
        assert_eq!(kinds(&kernel), [VerifyErrorKind::ConstBits { scalar, bits }]);
    }
    let widest = Const { scalar: Scalar::U64, bits: u64::MAX };
    assert_eq!(kinds(&kernel_of(Op::Const(widest), &[], &[0], &[Scalar::U64.ty()])), []);
}

#[test]
fn depth_of_blocks() {
    let nested = |depth: usize| {
        let mut b = Builder::new("k");
        let c = b.constant(Const::bool(true));
        for _ in 0..depth {
            b.open_block(&[]);
        }
        for _ in 0..depth {
            let then = b.close_block(Op::Yield);
            let mut otherwise = Block::default();
            otherwise.insts.push(Inst::new(Op::Yield, [], [], Span::NONE));
            b.emit_structure(Op::If, [c], vec![then, otherwise], &[]);
        }
        b.finish()
    };
    assert_eq!(kinds(&nested(MAX_DEPTH)), []);
    let errors = kinds(&nested(MAX_DEPTH + 1));
    assert!(
        errors.iter().all(|kind| *kind == VerifyErrorKind::TooDeep { limit: MAX_DEPTH })
            && !errors.is_empty()
    );
}

#[test]
fn errors_say_rule_operation_and_position() {
    let kernel = text::parse(
        "kernel @k() {\n%a = const f32 1\n%b = add %a, %c : f32 @main.rs:3:7\n%c = const i32 1\nreturn\n}",
    )
    .unwrap();
    let errors = verify(&kernel).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| error.to_string()).collect();
    assert_eq!(
        messages,
        [
            "V2: %2 is not defined before this use, in `%1 = add %0, %2` at main.rs:3:7",
            "V4: operand 1, %2, is i32, must be f32, in `%1 = add %0, %2` at main.rs:3:7",
        ]
    );
    assert_eq!(
        errors[1].render(&kernel),
        "kernel @k() {
  %0 = const f32 1.0
  %1 = add %0, %2 @main.rs:3:7
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ V4: operand 1, %2, is i32, must be f32
  %2 = const i32 1
  return
}
"
    );
}

/// Kernels with random damage that text cannot do: nothing panics, and what passes prints and parses.
#[test]
fn damaged_kernels_never_panic() {
    let folders = ["verify", "text"];
    let kernels: Vec<_> = folders.into_iter().flat_map(files).flat_map(|path| parse_all(&path)).collect();
    let ops: Vec<Op> = {
        let mut ops = Vec::new();
        kernels.iter().for_each(|kernel| kernel.body.visit(&mut |inst| ops.push(inst.op.clone())));
        ops
    };
    let mut rng = Rng(7);
    let mut valid = 0;
    for _ in 0..20_000 {
        let mut kernel = kernels[rng.below(kernels.len())].clone();
        for _ in 0..1 + rng.below(3) {
            damage(&mut kernel, &mut rng, &ops);
        }
        match verify(&kernel) {
            Ok(()) => {
                valid += 1;
                let printed = kernel.to_string();
                let again = text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
                assert_eq!(again.to_string(), printed);
                assert_eq!(verify(&again), Ok(()));
            }
            Err(errors) => assert!(verify::render(&kernel, &errors).contains("^ V")),
        }
    }
    assert!(valid > 500, "{valid}");
}

fn damage(kernel: &mut Kernel, rng: &mut Rng, ops: &[Op]) {
    let target = rng.below(kernel.op_count().max(1));
    let any_value = |rng: &mut Rng| match rng.below(20) {
        0 => Value(rng.next() as u32),
        _ => Value(rng.below(40) as u32),
    };
    let mut n = 0;
    kernel.body.visit_mut(&mut |inst| {
        n += 1;
        if n - 1 != target {
            return;
        }
        match rng.below(10) {
            0 => inst.op = ops[rng.below(ops.len())].clone(),
            1 => inst.args.push(any_value(rng)),
            2 => drop(inst.args.pop()),
            3 => inst.args.iter_mut().for_each(|arg| *arg = any_value(rng)),
            4 => inst.results.push(any_value(rng)),
            5 => drop(inst.results.pop()),
            6 => drop(inst.blocks.pop()),
            7 => inst.blocks.push(Block { params: vec![any_value(rng)], insts: vec![inst.clone()] }),
            8 => inst.span = Span(rng.below(3) as u32),
            _ => {
                if let Some(block) = inst.blocks.first_mut() {
                    block.params.push(any_value(rng));
                }
                if let Some(access) = inst.op.access_mut() {
                    access.mem = MemRef::Alloc(AllocId(rng.below(3) as u32));
                }
            }
        }
    });
    match rng.below(8) {
        0 => drop(kernel.values.pop()),
        1 => kernel.labels = rng.below(3) as u32,
        2 => drop(kernel.params.pop()),
        3 => drop(kernel.allocs.pop()),
        4 if !kernel.values.is_empty() => {
            let value = rng.below(kernel.values.len());
            kernel.values[value] = Type::vector(Scalar::ALL[rng.below(14)], rng.below(70) as u8);
        }
        _ => {}
    }
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}
