//! Kernels to text.

use super::infer::result_types;
use super::lex::{Quoted, is_identifier, is_plain_file};
use super::number::Numbering;
use crate::kernel::{AllocId, Block, Inst, Kernel, MemRef, ParamId, ParamKind, Value};
use crate::op::{Access, Label, Op};
use crate::span::Span;
use crate::types::{Const, Scalar, Type};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Write as _};

/// Headers longer than this get a line for each parameter.
const MAX_HEADER: usize = 100;

impl Display for Kernel {
    /// The text, without positions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lines(f, &lines(self, false))
    }
}

/// A kernel that prints with the user's position at each operation; made by [`Kernel::with_spans`].
#[derive(Clone, Copy, Debug)]
pub struct WithSpans<'k>(&'k Kernel);

impl Kernel {
    /// The kernel as text with the user's position, `@file:line:column`, at the end of each line that has one.
    pub fn with_spans(&self) -> WithSpans<'_> {
        WithSpans(self)
    }
}

impl Display for WithSpans<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_lines(f, &lines(self.0, true))
    }
}

fn write_lines(f: &mut fmt::Formatter<'_>, lines: &[Line]) -> fmt::Result {
    lines.iter().try_for_each(|line| writeln!(f, "{}{}", Indent(line.depth), line.text))
}

/// The indentation of a line.
pub(crate) struct Indent(pub(crate) usize);

impl Display for Indent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.0).try_for_each(|_| f.write_str("  "))
    }
}

/// A line of a kernel's text.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// How far it is indented.
    pub(crate) depth: usize,
    /// What stands on it.
    pub(crate) text: String,
    /// What of the kernel stands on it.
    pub(crate) part: Part,
}

/// A part of a kernel that has a line of its own, as long as the header is short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// The kernel's name, and its parameters.
    Header,
    /// A parameter.
    Param(ParamId),
    /// An allocation.
    Alloc(AllocId),
    /// An operation by its number, as [`Block::visit`] counts them.
    Inst(usize),
    /// The end of a block, or the `else` between two blocks.
    Brace,
}

/// The text of a kernel, line by line. Any kernel prints; of a valid one, the text parses back.
pub(crate) fn lines(kernel: &Kernel, spans: bool) -> Vec<Line> {
    let mut printer = Printer { names: Names::new(kernel), spans, lines: Vec::new(), count: 0 };
    printer.kernel();
    printer.lines
}

struct Printer<'k> {
    names: Names<'k>,
    spans: bool,
    lines: Vec<Line>,
    /// Operations so far, elided ones included.
    count: usize,
}

impl<'k> Printer<'k> {
    fn line(&mut self, depth: usize, part: Part, text: impl Into<String>) {
        self.lines.push(Line { depth, text: text.into(), part });
    }

    fn kernel(&mut self) {
        let kernel = self.names.kernel;
        let params: Vec<_> = (0..kernel.params.len() as u32).map(|n| self.param(ParamId(n))).collect();
        let name = Symbol(&kernel.name);
        let end = if kernel.contract { ") {" } else { ") no_contract {" };
        let header = format!("kernel @{name}({}{end}", params.join(", "));
        if header.len() <= MAX_HEADER {
            self.line(0, Part::Header, header);
        } else {
            self.line(0, Part::Header, format!("kernel @{name}("));
            for (n, param) in params.into_iter().enumerate() {
                self.line(1, Part::Param(ParamId(n as u32)), param + ",");
            }
            self.line(0, Part::Brace, end);
        }
        for (n, alloc) in kernel.allocs.iter().enumerate() {
            let id = AllocId(n as u32);
            let mut text = format!(
                "{} {}: array<{}, {}>",
                alloc.space,
                self.names.mem(MemRef::Alloc(id)),
                alloc.elem,
                alloc.len
            );
            self.position(&mut text, alloc.span);
            self.line(1, Part::Alloc(id), text);
        }
        self.block(&kernel.body, 1, false);
        self.line(0, Part::Brace, "}");
    }

    fn param(&self, id: ParamId) -> String {
        let name = self.names.mem(MemRef::Param(id));
        match self.names.kernel.params[id.0 as usize].kind {
            ParamKind::Scalar(scalar) => format!("{name}: {scalar}"),
            ParamKind::Tensor { elem, rank, mutable, aliased } => {
                let mutable = if mutable { ", mut" } else { "" };
                let aliased = if aliased { ", aliased" } else { "" };
                format!("{name}: tensor<{elem}, {rank}{mutable}{aliased}>")
            }
        }
    }

    /// The lines of a block. `elide` leaves out a plain `yield` at its end.
    fn block(&mut self, block: &'k Block, depth: usize, elide: bool) {
        // After another terminator the parser would not put it back.
        let ends = |insts: &[Inst]| insts.last().is_some_and(|inst| inst.op.is_terminator());
        let elided = match block.insts.split_last() {
            Some((last, before)) => elide && self.is_plain_yield(last) && !ends(before),
            None => false,
        };
        for inst in &block.insts[..block.insts.len() - usize::from(elided)] {
            self.inst(inst, depth);
        }
        self.count += usize::from(elided);
        if elide && !ends(&block.insts) {
            // Else the text would look like that of a block that does end with a plain yield.
            self.line(depth, Part::Brace, "; no terminator");
        }
    }

    fn is_plain_yield(&self, inst: &Inst) -> bool {
        let Inst { op: Op::Yield, args, results, blocks, span } = inst else { return false };
        args.is_empty() && results.is_empty() && blocks.is_empty() && !(self.spans && self.known(*span))
    }

    fn inst(&mut self, inst: &'k Inst, depth: usize) {
        let part = Part::Inst(self.count);
        self.count += 1;
        let mut text = self.names.inst(inst);
        if inst.blocks.is_empty() {
            self.position(&mut text, inst.span);
            self.line(depth, part, text);
            return;
        }
        text.push_str(" {");
        self.position(&mut text, inst.span);
        self.line(depth, part, text);
        let elide = inst.op == Op::If && inst.results.is_empty();
        for (n, block) in inst.blocks.iter().enumerate() {
            let last = n + 1 == inst.blocks.len();
            if elide
                && n == 1
                && last
                && block.params.is_empty()
                && let [only] = &block.insts[..]
                && self.is_plain_yield(only)
            {
                self.count += 1;
                continue;
            }
            if n > 0 {
                self.line(depth, Part::Brace, "} else {");
            }
            self.block(block, depth + 1, elide);
        }
        self.line(depth, Part::Brace, "}");
    }

    fn known(&self, span: Span) -> bool {
        self.names.kernel.spans.get(span).is_some()
    }

    fn position(&self, text: &mut String, span: Span) {
        if let Some(at) = self.names.kernel.spans.get(span).filter(|_| self.spans) {
            match is_plain_file(&at.file) {
                true => push(text, format_args!(" @{at}")),
                false => push(text, format_args!(" @{}:{}:{}", Quoted(&at.file), at.line, at.column)),
            }
        }
    }
}

fn push(text: &mut String, args: fmt::Arguments<'_>) {
    text.write_fmt(args).expect("writing to a string cannot fail");
}

/// What the text calls the things of a kernel.
pub(crate) struct Names<'k> {
    kernel: &'k Kernel,
    numbering: Numbering,
    params: Vec<String>,
    allocs: Vec<String>,
}

impl<'k> Names<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Names<'k> {
        let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
        let mut unique = |name: &'k str| {
            let nth = seen.entry(name).or_insert(0);
            let suffix = if *nth == 0 { String::new() } else { format!("#{nth}") };
            *nth += 1;
            format!("%{}{suffix}", Symbol(name))
        };
        let params = kernel.params.iter().map(|p| unique(&p.name)).collect();
        let allocs = kernel.allocs.iter().map(|a| unique(&a.name)).collect();
        Names { kernel, numbering: Numbering::new(kernel), params, allocs }
    }

    /// A parameter or allocation, with its `%`.
    pub(crate) fn mem(&self, mem: MemRef) -> &str {
        let name = match mem {
            MemRef::Param(ParamId(n)) => self.params.get(n as usize),
            MemRef::Alloc(AllocId(n)) => self.allocs.get(n as usize),
        };
        name.map_or("%<no such memory>", String::as_str)
    }

    /// A value, with its `%`.
    pub(crate) fn value(&self, value: Value) -> ValueName {
        ValueName(self.numbering.value(value).ok_or(value))
    }

    /// A loop's label, with its `^`.
    pub(crate) fn label(&self, label: Label) -> String {
        match self.numbering.label(label) {
            Some(number) => format!("^{number}"),
            None => format!("^<unused {}>", label.0),
        }
    }

    /// An operation as its line shows it, up to its blocks or the end.
    pub(crate) fn inst(&self, inst: &Inst) -> String {
        let mut text = String::new();
        if !inst.results.is_empty() {
            push(&mut text, format_args!("{} = ", self.list(&inst.results)));
        }
        self.op(&mut text, inst);
        let Some(&first) = inst.results.first() else { return text };
        let actual: Vec<_> = inst.results.iter().map(|&value| self.ty(value)).collect();
        let inferred =
            result_types(self.kernel, &inst.op, &inst.args, |value| self.type_before(value, first));
        if !inferred.iter().flatten().copied().map(Some).eq(actual.iter().copied()) {
            let types: Vec<_> = actual.into_iter().map(type_name).collect();
            push(&mut text, format_args!(" : {}", types.join(", ")));
        }
        text
    }

    /// The type of a value, if the text defines it before `other`, so that the parser knows it there.
    fn type_before(&self, value: Value, other: Value) -> Option<Type> {
        let before = self.numbering.value(value)? < self.numbering.value(other)?;
        self.ty(value).filter(|_| before)
    }

    fn ty(&self, value: Value) -> Option<Type> {
        self.kernel.values.get(value.0 as usize).copied()
    }

    fn list(&self, values: &[Value]) -> String {
        let names: Vec<_> = values.iter().map(|&value| self.value(value).to_string()).collect();
        names.join(", ")
    }

    fn arg(&self, inst: &Inst, n: usize) -> String {
        inst.args.get(n).map_or("%<missing>".to_owned(), |&value| self.value(value).to_string())
    }

    fn op(&self, text: &mut String, inst: &Inst) {
        let args = |text: &mut String| {
            if !inst.args.is_empty() {
                push(text, format_args!(" {}", self.list(&inst.args)));
            }
        };
        match &inst.op {
            Op::Const(value) => push(text, format_args!("const {} {value}", value.scalar)),
            Op::Builtin(builtin, axis) => push(text, format_args!("{builtin}.{axis}")),
            Op::LaneId => text.push_str("lane_id"),
            Op::Scalar(param) => push(text, format_args!("scalar {}", self.mem(MemRef::Param(*param)))),
            Op::Extent(param, dim) => {
                push(text, format_args!("extent {}.{dim}", self.mem(MemRef::Param(*param))));
            }
            Op::Stride(param, dim) => {
                push(text, format_args!("stride {}.{dim}", self.mem(MemRef::Param(*param))));
            }
            Op::Unary(op) => text.push_str(op.name()),
            Op::Binary(op) => text.push_str(op.name()),
            Op::Compare(op) => text.push_str(op.name()),
            Op::MulAdd => text.push_str("mul_add"),
            Op::Select => text.push_str("select"),
            Op::Cast(_) => text.push_str("cast"),
            Op::Bitcast(_) => text.push_str("bitcast"),
            Op::Splat(_) => text.push_str("splat"),
            Op::Pack => text.push_str("pack"),
            Op::Extract(_) => text.push_str("extract"),
            Op::Load(access) => {
                text.push_str("load");
                return self.access(text, inst, access);
            }
            Op::Store(access) => {
                text.push_str("store");
                return self.access(text, inst, access);
            }
            Op::AtomicLoad(access, scope, ordering) => {
                push(text, format_args!("atomic_load {scope} {ordering}"));
                return self.access(text, inst, access);
            }
            Op::AtomicStore(access, scope, ordering) => {
                push(text, format_args!("atomic_store {scope} {ordering}"));
                return self.access(text, inst, access);
            }
            Op::AtomicRmw(op, access, scope, ordering) => {
                push(text, format_args!("atomic_{op} {scope} {ordering}"));
                return self.access(text, inst, access);
            }
            Op::AtomicCas(access, scope, ordering) => {
                push(text, format_args!("atomic_cas {scope} {ordering}"));
                return self.access(text, inst, access);
            }
            Op::Fence(scope, ordering) => push(text, format_args!("fence {scope} {ordering}")),
            Op::Barrier => text.push_str("barrier"),
            Op::Shuffle(op) => push(text, format_args!("shuffle_{op}")),
            Op::Ballot => text.push_str("ballot"),
            Op::WarpReduce(op) => push(text, format_args!("warp_reduce_{op}")),
            Op::WarpScan(op) => push(text, format_args!("warp_scan_{op}")),
            Op::WarpBarrier => text.push_str("warp_barrier"),
            Op::Print(format) => {
                push(text, format_args!("print {}", Quoted(&format.to_string())));
                inst.args.iter().for_each(|&value| push(text, format_args!(", {}", self.value(value))));
                return;
            }
            Op::Assert(format) => {
                push(text, format_args!("assert {}, {}", self.arg(inst, 0), Quoted(&format.to_string())));
                let args = inst.args.iter().skip(1);
                args.for_each(|&value| push(text, format_args!(", {}", self.value(value))));
                return;
            }
            Op::If => text.push_str("if"),
            Op::Loop(label) => {
                push(text, format_args!("loop {}", self.label(*label)));
                return self.carried(text, inst, 0);
            }
            Op::For(label) => {
                let counter = self.block_param(inst, 0, inst.args.first());
                let [lo, hi, step] = [0, 1, 2].map(|n| self.arg(inst, n));
                push(text, format_args!("for {} {counter} = {lo} to {hi} step {step}", self.label(*label)));
                return self.carried(text, inst, 3);
            }
            Op::Yield => text.push_str("yield"),
            Op::Break(label) => push(text, format_args!("break {}", self.label(*label))),
            Op::Continue(label) => push(text, format_args!("continue {}", self.label(*label))),
            Op::Return => text.push_str("return"),
        }
        args(text);
        match &inst.op {
            Op::Cast(scalar) | Op::Bitcast(scalar) => push(text, format_args!(" to {scalar}")),
            Op::Splat(lanes) => push(text, format_args!(" x {lanes}")),
            Op::Extract(lane) => push(text, format_args!("[{lane}]")),
            _ => {}
        }
    }

    /// ` %a[%offset], %value if (0: %index < %extent) lane 1 align 16`
    fn access(&self, text: &mut String, inst: &Inst, access: &Access) {
        let bounds_start = inst.args.len().saturating_sub(2 * access.bounds.len());
        let offset = inst.args[..bounds_start].first().map(|&value| self.value(value).to_string());
        push(text, format_args!(" {}[{}]", self.mem(access.mem), offset.unwrap_or_default()));
        for &value in inst.args[..bounds_start].iter().skip(1) {
            push(text, format_args!(", {}", self.value(value)));
        }
        for (n, dim) in access.bounds.iter().enumerate() {
            let [index, extent] = [0, 1].map(|half| self.arg(inst, bounds_start + 2 * n + half));
            let open = if n == 0 { " if (" } else { ", " };
            push(text, format_args!("{open}{dim}: {index} < {extent}"));
        }
        if !access.bounds.is_empty() {
            text.push(')');
        }
        if access.lane_dim != 0 {
            push(text, format_args!(" lane {}", access.lane_dim));
        }
        if access.align != 0 {
            push(text, format_args!(" align {}", access.align));
        }
    }

    /// ` carry (%param = %initial, ...)`: the operands from `first_arg` on and the parameters of the block that they set.
    fn carried(&self, text: &mut String, inst: &Inst, first_arg: usize) {
        let first_param = usize::from(first_arg > 0);
        let args = inst.args.get(first_arg..).unwrap_or_default();
        let params = inst.blocks.first().map_or(0, |block| block.params.len()).saturating_sub(first_param);
        for n in 0..args.len().max(params) {
            text.push_str(if n == 0 { " carry (" } else { ", " });
            text.push_str(&self.block_param(inst, first_param + n, args.get(n)));
            if let Some(&arg) = args.get(n) {
                push(text, format_args!(" = {}", self.value(arg)));
            }
        }
        if args.len().max(params) > 0 {
            text.push(')');
        }
    }

    /// The name of the `n`-th parameter of the first block, and its type if it is not that of `initial`.
    fn block_param(&self, inst: &Inst, n: usize, initial: Option<&Value>) -> String {
        let params = inst.blocks.first().map_or(&[][..], |block| &block.params);
        let Some(&param) = params.get(n) else { return "_".to_owned() };
        let first = inst.results.first().unwrap_or(&params[0]);
        let ty = self.ty(param);
        if ty.is_some() && initial.is_some_and(|&value| self.type_before(value, *first) == ty) {
            self.value(param).to_string()
        } else {
            format!("{}: {}", self.value(param), type_name(ty))
        }
    }
}

fn type_name(ty: Option<Type>) -> String {
    ty.map_or("<no type>".to_owned(), |ty| ty.to_string())
}

/// A value as the text names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueName(Result<u32, Value>);

impl Display for ValueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(number) => write!(f, "%{number}"),
            Err(value) => write!(f, "%<no such value {}>", value.0),
        }
    }
}

/// A name after `%` or `@`, in quotes if need be.
struct Symbol<'a>(&'a str);

impl Display for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_identifier(self.0) { f.write_str(self.0) } else { write!(f, "{}", Quoted(self.0)) }
    }
}

impl Display for Const {
    /// The value without its type: an integer in decimal, a float with the fewest digits that give its bits back.
    ///
    /// A NaN is `nan` if it is the positive quiet one with no payload; any other is its bits, as is a constant that
    /// breaks the rule on bits above the width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if Const::from_bits(self.scalar, self.bits) != *self {
            return write!(f, "{:#x}", self.bits);
        }
        let Some(value) = self.as_float() else {
            return match self.scalar {
                Scalar::Bool => write!(f, "{}", self.bits != 0),
                _ => write!(f, "{}", self.as_int().unwrap_or_default()),
            };
        };
        match self.scalar {
            _ if Some(*self) == Const::quiet_nan(self.scalar) => f.write_str("nan"),
            _ if value.is_nan() => write!(f, "{:#x}", self.bits),
            Scalar::F64 => write!(f, "{value:?}"),
            Scalar::F32 => write!(f, "{:?}", value as f32),
            _ => write!(f, "{:?}", fewest_digits(*self, value)),
        }
    }
}

/// The number of fewest decimal digits that rounds to the constant, an f16 or bf16 of this finite or infinite value.
fn fewest_digits(constant: Const, value: f64) -> f64 {
    let mut candidates = (0..8).filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok());
    candidates.find(|&c| Const::round_from(constant.scalar, c) == Some(constant)).unwrap_or(value)
}

impl Const {
    /// The positive quiet NaN with no payload; `None` if the scalar is no float.
    pub(super) const fn quiet_nan(scalar: Scalar) -> Option<Const> {
        let bits = match scalar {
            Scalar::F16 => 0x7e00,
            Scalar::BF16 => 0x7fc0,
            Scalar::F32 => 0x7fc0_0000,
            Scalar::F64 => 0x7ff8_0000_0000_0000,
            _ => return None,
        };
        Some(Const { scalar, bits })
    }

    /// The nearest value of a float scalar, halves to even; `None` if the scalar is no float.
    pub(super) fn round_from(scalar: Scalar, value: f64) -> Option<Const> {
        let bits = match scalar {
            _ if value.is_nan() => return Const::quiet_nan(scalar),
            Scalar::F16 => half::f16::from_f64(value).to_bits() as u64,
            Scalar::BF16 => half::bf16::from_f64(value).to_bits() as u64,
            Scalar::F32 => (value as f32).to_bits() as u64,
            Scalar::F64 => value.to_bits(),
            _ => return None,
        };
        Some(Const { scalar, bits })
    }
}
