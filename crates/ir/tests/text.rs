//! The text of the IR: what is printed parses back, and what is wrong is refused with its place.

use std::fs;
use std::path::PathBuf;
use tilewise_ir::text::{self, ParseErrorKind};
use tilewise_ir::{
    AtomicOp, Axis, BinaryOp, Block, Builder, Builtin, CompareOp, Const, Inst, Kernel, Op, Ordering, Scalar,
    Scope, Shuffle, Span, UnaryOp, Value,
};

/// The cases, by file name: text that prints as it stands.
fn cases() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/text");
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a case").path())
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn case(name: &str) -> String {
    cases().into_iter().find(|(n, _)| n == name).expect("the case").1
}

fn parse(text: &str) -> Kernel {
    text::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn without_comment_lines(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with(';')).map(|line| format!("{line}\n")).collect()
}

fn assert_same_lines(actual: &str, expected: &str, name: &str) {
    for (n, (actual, expected)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(actual, expected, "line {} of {name}", n + 1);
    }
    assert_eq!(actual.lines().count(), expected.lines().count(), "number of lines of {name}");
}

/// Printing and parsing again gives an equal kernel.
fn assert_round_trip(kernel: &Kernel) {
    let mut kernel = kernel.clone();
    kernel.renumber();
    let mut again = parse(&kernel.with_spans().to_string());
    again.renumber();
    assert_eq!(kernel, again);
    assert_eq!(parse(&kernel.to_string()).to_string(), kernel.to_string());
}

#[test]
fn cases_print_as_they_stand() {
    for (name, text) in cases() {
        let kernel = parse(&text);
        let printed =
            if text.starts_with("; spans\n") { kernel.with_spans().to_string() } else { kernel.to_string() };
        assert_same_lines(&printed, &without_comment_lines(&text), &name);
        assert_round_trip(&kernel);
    }
}

#[test]
fn the_documented_kernel_prints_as_it_stands() {
    let docs = include_str!("../src/text/mod.rs");
    let example = docs.split("//! ```text\n").nth(1).and_then(|rest| rest.split("//! ```\n").next()).unwrap();
    let text: String = example
        .lines()
        .map(|line| line.strip_prefix("//! ").unwrap_or(""))
        .map(|line| format!("{line}\n"))
        .collect();
    let kernel = parse(&text);
    assert_same_lines(&kernel.to_string(), &without_comment_lines(&text), "the documentation");
    assert_eq!(tilewise_ir::verify::verify(&kernel), Ok(()));
}

#[test]
fn the_case_of_every_op_has_every_op() {
    let kernel = parse(&case("every_op.ir"));
    let text = kernel.to_string();
    let has = |word: &str| text.split([' ', '\n', '.', '<', '(', ',']).any(|w| w == word);
    let missing = |words: Vec<&'static str>| words.into_iter().filter(|w| !has(w)).collect::<Vec<_>>();
    assert_eq!(missing(UnaryOp::ALL.iter().map(|op| op.name()).collect()), [""; 0]);
    assert_eq!(missing(BinaryOp::ALL.iter().map(|op| op.name()).collect()), [""; 0]);
    assert_eq!(missing(CompareOp::ALL.iter().map(|op| op.name()).collect()), [""; 0]);
    assert_eq!(missing(Builtin::ALL.iter().map(|b| b.name()).collect()), [""; 0]);
    assert_eq!(missing(Axis::ALL.iter().map(|a| a.name()).collect()), [""; 0]);
    assert_eq!(missing(Scope::ALL.iter().map(|s| s.name()).collect()), [""; 0]);
    assert_eq!(missing(Ordering::ALL.iter().map(|o| o.name()).collect()), [""; 0]);
    assert_eq!(missing(Scalar::ALL.iter().map(|s| s.name()).collect()), [""; 0]);
    for op in AtomicOp::ALL {
        assert!(has(&format!("atomic_{op}")), "{op}");
    }
    for op in Shuffle::ALL {
        assert!(has(&format!("shuffle_{op}")), "{op}");
    }
    // One number for each variant of `Op`; a new one does not compile until it has its own.
    let mut seen = [false; 38];
    kernel.body.visit(&mut |inst| {
        seen[match inst.op {
            Op::Const(_) => 0,
            Op::Builtin(..) => 1,
            Op::Scalar(_) => 2,
            Op::Extent(..) => 3,
            Op::Stride(..) => 4,
            Op::Unary(_) => 5,
            Op::Binary(_) => 6,
            Op::Compare(_) => 7,
            Op::MulAdd => 8,
            Op::Select => 9,
            Op::Cast(_) => 10,
            Op::Bitcast(_) => 11,
            Op::Splat(_) => 12,
            Op::Pack => 13,
            Op::Extract(_) => 14,
            Op::Load(_) => 15,
            Op::Store(_) => 16,
            Op::AtomicLoad(..) => 17,
            Op::AtomicStore(..) => 18,
            Op::AtomicRmw(..) => 19,
            Op::AtomicCas(..) => 20,
            Op::Fence(..) => 21,
            Op::Barrier => 22,
            Op::Print(_) => 23,
            Op::Assert(_) => 24,
            Op::If => 25,
            Op::Loop(_) => 26,
            Op::For(_) => 27,
            Op::Yield => 28,
            Op::Break(_) => 29,
            Op::Continue(_) => 30,
            Op::Return => 31,
            Op::LaneId => 32,
            Op::Shuffle(_) => 33,
            Op::Ballot => 34,
            Op::WarpReduce(_) => 35,
            Op::WarpScan(_) => 36,
            Op::WarpBarrier => 37,
        }] = true;
    });
    assert_eq!(seen, [true; 38]);
}

#[test]
fn every_constant_keeps_its_bits() {
    let mut rng = Rng(1);
    let mut bits = vec![0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0001];
    bits.extend([
        0x7f80_0000,
        0xff80_0000,
        0x8000_0000,
        0x7fc0_0000,
        0xffc0_0000,
        0x7f80_0001,
        1,
        0x007f_ffff,
    ]);
    bits.extend((0..2000).map(|_| rng.next()));
    let mut b = Builder::new("constants");
    for scalar in Scalar::ALL {
        let all_of_16_bits = (0..1 << 16).filter(|_| scalar.bits() == 16);
        for bits in bits.iter().copied().chain(all_of_16_bits) {
            b.constant(Const::from_bits(scalar, bits));
        }
    }
    assert_round_trip(&b.finish());
}

#[test]
fn constants_can_be_written_freely() {
    for (text, expected) in [
        ("f32 0x3f800000", Const::f32(1.0)),
        ("f32 1", Const::f32(1.0)),
        ("f32 -1e+2", Const::f32(-100.0)),
        ("f32 16777217", Const::f32(16777216.0)),
        ("f64 2.5e-1", Const { scalar: Scalar::F64, bits: 0.25f64.to_bits() }),
        ("f16 65520", Const { scalar: Scalar::F16, bits: 0x7c00 }),
        ("i32 0xffffffff", Const::int(Scalar::I32, -1)),
        ("bool 0x1", Const::bool(true)),
    ] {
        let kernel = parse(&format!("kernel @k() {{\n%0 = const {text}\n}}"));
        assert_eq!(kernel.body.insts[0].op, Op::Const(expected), "{text}");
    }
    for text in [
        "i8 128",
        "u8 -1",
        "bool 1",
        "bool 0x2",
        "i32 1.0",
        "f32 x",
        "f32 infinity",
        "u64 18446744073709551616",
    ] {
        assert!(text::parse(&format!("kernel @k() {{\n%0 = const {text}\n}}")).is_err(), "{text}");
    }
}

#[test]
fn numbers_follow_the_text() {
    let mut b = Builder::new("k");
    let zero = b.constant(Const::index(0));
    let unused = b.label();
    let label = b.label();
    let params = b.open_block(&[Scalar::Index.ty()]);
    b.emit_void(Op::Continue(label), []);
    let body = b.close_block(Op::Return);
    b.emit_structure(Op::For(label), [zero, zero, zero], vec![body], &[]);
    let mut kernel = b.finish();
    kernel.values.push(Scalar::F32.ty());
    assert_eq!((params[0], unused.0, label.0), (Value(1), 0, 1));
    assert_eq!(
        kernel.to_string(),
        "kernel @k() {\n  %0 = const index 0\n  for ^0 %1 = %0 to %0 step %0 {\n    continue ^0\n  }\n  return\n}\n"
    );
    kernel.renumber();
    assert_eq!((kernel.values.len(), kernel.labels), (2, 1));
}

#[test]
fn a_broken_kernel_prints() {
    let mut kernel = Kernel::new("broken");
    let mut inst =
        Inst::new(Op::For(tilewise_ir::Label(9)), [Value(7)], [Value(8), Value(u32::MAX)], Span(99));
    inst.blocks.push(Block {
        params: vec![Value(3)],
        insts: vec![Inst::new(Op::Barrier, [Value(2)], [], Span::NONE)],
    });
    kernel.body.insts.push(inst);
    for (op, args) in [
        (
            Op::Load(tilewise_ir::Access {
                bounds: [0, 1].into_iter().collect(),
                ..tilewise_ir::Access::unchecked(tilewise_ir::MemRef::Alloc(tilewise_ir::AllocId(1)))
            }),
            1,
        ),
        (Op::Scalar(tilewise_ir::ParamId(3)), 0),
        (Op::Loop(tilewise_ir::Label(1)), 1),
        (Op::Assert(Default::default()), 0),
        (Op::If, 0),
    ] {
        kernel.body.insts.push(Inst::new(op, (0..args).map(Value), [], Span::NONE));
    }
    assert!(kernel.to_string().contains("for ^0"));
    kernel.renumber();
}

#[test]
fn several_kernels_in_one_text() {
    let both = format!("{}\n; comment\n{}", case("every_op.ir"), case("names.ir"));
    let kernels = text::parse_all(&both).unwrap();
    assert_eq!(kernels.len(), 2);
    assert_eq!(kernels[1].to_string(), without_comment_lines(&case("names.ir")));
    assert_eq!(text::parse_all(" ; nothing\n").unwrap().len(), 0);
    assert!(text::parse(&both).is_err());
}

#[test]
fn errors_show_the_place() {
    let error = text::parse("kernel @k(%a: tensor<f32, 1>) {\n  %5 = load %a[ ,]  ; oh\n}\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "2:17: expected a value such as `%0`, found `,`\n  |\n2 |   %5 = load %a[ ,]  ; oh\n  |                 ^"
    );
}

/// Each text is wrong at the character after `@@`.
#[test]
fn errors_name_what_is_wrong() {
    for (marked, expected) in [
        ("@@", "expected `kernel`, found the end of the text"),
        ("kernel @@k() {}", "expected a name such as `@dot_product`, found `k`"),
        ("kernel @k() {} @@return", "expected the end of the line, found `return`"),
        ("kernel @k() {}\n@@return", "expected the end of the text after the kernel, found `return`"),
        ("kernel @k(%a: @@f33) {}", "there is no type `f33`"),
        ("kernel @k(%a: @@f32x4) {}", "expected a type of one lane, found `f32x4`"),
        ("kernel @k(%a: tensor<f32, @@256>) {}", "`256` is not a rank, a whole number of 8 bits"),
        ("kernel @k(%a: f32, @@%a: f32) {}", "`%a` is already the name of a parameter or allocation"),
        ("kernel @k(@@%0: f32) {}", "expected a name that is no number, or is in quotes, found `%0`"),
        ("kernel @k() {\n@@frob %0\n}", "there is no operation `frob`"),
        (
            "kernel @k() {\n%0 = const f32 @@\n}",
            "expected a number, `true` or `false`, found the end of the line",
        ),
        ("kernel @k() {\n%0 = const i8 @@200\n}", "`200` is not a constant of type i8"),
        (
            "kernel @k() {\n%1 = @@neg %0\n}",
            "the operands of `neg` do not determine the type of its result: write it after `:`",
        ),
        ("kernel @k() {\nprint \"\", @@%0\n}", "`%0` is nowhere defined"),
        ("kernel @k(%x: f32) {\nprint \"\", @@%x\n}", "`%x` is a parameter or allocation, not a value"),
        (
            "kernel @k() {\n%0 = const f32 1\n@@%0 = const i32 1\n}",
            "`%0` has type f32 at its first definition and i32 here",
        ),
        ("kernel @k() {\n%0 = scalar @@%x\n}", "there is no parameter or allocation `%x`"),
        (
            "kernel @k() {\nlocal %x: array<f32, 1>\n%0 = extent @@%x.0\n}",
            "`%x` is an allocation; `extent` wants a parameter",
        ),
        (
            "kernel @k(%a: tensor<f32, 1>) {\n%i = const index 0\n%0 = @@load %a[%i]\n}",
            "the operands of `load` do not determine the type of its result: write it after `:`",
        ),
        ("kernel @k() {\n%0 = barrier @@: f32, f32\n}", "types are written for 2 results, but results: 1"),
        (
            "kernel @k() {\nloop ^0 carry (@@%0) {\n}\n}",
            "the type of `%0` is not known here: write it after `:`",
        ),
        (
            "kernel @k() {\nprint @@\"{\"\n}",
            "in this format string: `{` without `}`; a brace as text is `{{`",
        ),
        ("kernel @k() {\nprint @@\"abc\n}", "this string has no closing `\"`"),
        (
            "kernel @k() {\nprint \"a@@\\q\"\n}",
            "unknown escape `\\q`: there are \\n \\r \\t \\0 \\\\ \\\" and \\u{...}",
        ),
        (
            "kernel @k() {\nfence device @@\n}",
            "expected an ordering: `relaxed`, `acquire`, `release`, `acq_rel` or `seq_cst`, found the end of the line",
        ),
        ("kernel @k() {\n@@?\n}", "unexpected character '?'"),
        ("kernel @k() {\nreturn\n@@", "expected an operation, found the end of the text"),
    ] {
        let offset = marked.find("@@").expect("a mark");
        let text = marked.replace("@@", "");
        let error = text::parse(&text).expect_err(marked);
        assert_eq!(error.kind.to_string(), expected, "{marked}");
        let lines = text[..offset].matches('\n').count();
        let column = text[..offset].chars().rev().take_while(|&c| c != '\n').count();
        assert_eq!((error.line, error.column), (lines + 1, column + 1), "{marked}\n{error}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let nested = |depth: usize| {
        let open = "if %c {\n".repeat(depth);
        format!("kernel @k() {{\n%c = const bool true\n{open}{}return\n}}", "}\n".repeat(depth))
    };
    assert_round_trip(&parse(&nested(text::MAX_DEPTH)));
    let error = text::parse(&nested(text::MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(error.kind, ParseErrorKind::TooDeep { limit: text::MAX_DEPTH });
    assert!(text::parse(&nested(100_000)).is_err());
    assert!(text::parse(&"{(<[".repeat(100_000)).is_err());
}

/// Valid text with random edits: the parser gives an error or a kernel, and that kernel prints and parses back.
#[test]
fn damaged_text_is_refused_or_round_trips() {
    let cases = cases();
    let words: Vec<_> = cases.iter().flat_map(|(_, text)| tokens(text)).collect();
    let mut rng = Rng(20_261_129);
    let (mut parsed, mut refused) = (0, 0);
    for round in 0..40_000 {
        let original = &cases[rng.below(cases.len())].1;
        let text = if round % 2 == 0 {
            damage_tokens(&mut rng, original, &words)
        } else {
            damage_bytes(&mut rng, original)
        };
        match text::parse(&text) {
            Ok(kernel) => {
                parsed += 1;
                let printed = kernel.to_string();
                let again = text::parse(&printed)
                    .unwrap_or_else(|error| panic!("{error}\nin\n{printed}\nof\n{text}"));
                assert_eq!(again.to_string(), printed);
                if parsed % 16 == 0 {
                    assert_round_trip(&kernel);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.line >= 1 && error.column >= 1);
                assert!(error.line <= text.lines().count().max(1) + 1);
                assert!(!error.to_string().is_empty());
            }
        }
    }
    // Both kinds must be there, or the edits test nothing.
    assert!(parsed > 2_000 && refused > 10_000, "{parsed} parsed, {refused} refused");
}

fn damage_tokens(rng: &mut Rng, text: &str, words: &[&str]) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + rng.below(3) {
        let (at, other) = (rng.below(tokens.len()), rng.below(tokens.len()));
        match rng.below(5) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at]),
            2 => tokens[at] = words[rng.below(words.len())],
            3 => tokens.swap(at, other),
            _ => {
                let end = (at + rng.below(30)).min(tokens.len());
                let run = tokens[at..end].to_vec();
                tokens.splice(other..other, run);
            }
        }
    }
    tokens.concat()
}

fn damage_bytes(rng: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len());
        match rng.below(4) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, bytes[at]),
            2 => bytes[at] = rng.next() as u8,
            _ => bytes[at] = b"%^@\"{}()[]<>=,:.;#\\0x-_\n"[rng.below(24)],
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words, and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after;
    }
    tokens
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
