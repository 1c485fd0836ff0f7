//! What can be wrong with a kernel, and how it is shown.

use crate::kernel::{Kernel, MemRef};
use crate::op::{FormatSpec, Ordering};
use crate::span::Location;
use crate::text::print::{Indent, Line, Part, lines};
use crate::types::{Scalar, Type};
use rustc_hash::FxHashMap;
use std::fmt::{self, Write as _};

/// A rule that a kernel breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// What is wrong.
    pub kind: VerifyErrorKind,
    /// The operation that breaks the rule, as the text shows it; `None` if it is an allocation or the body.
    pub op: Option<String>,
    /// The user's position.
    pub location: Option<Location>,
    /// What to mark in the text.
    pub(super) part: Part,
}

impl VerifyError {
    /// The rule that is broken.
    pub fn rule(&self) -> Rule {
        self.kind.rule()
    }

    /// The text of the kernel, with the guilty line marked.
    pub fn render(&self, kernel: &Kernel) -> String {
        render(kernel, std::slice::from_ref(self))
    }
}

impl std::error::Error for VerifyError {}

impl fmt::Display for VerifyError {
    /// On one line: the rule, what is wrong, the operation and the user's position.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule(), self.kind)?;
        if let Some(op) = &self.op {
            write!(f, ", in `{op}`")?;
        }
        if let Some(location) = &self.location {
            write!(f, " at {location}")?;
        }
        Ok(())
    }
}

/// The text of a kernel with each error under its line:
///
/// ```text
/// kernel @k() {
///   %0 = const f32 1.0
///   %1 = not %0
///   ^^^^^^^^^^^ V9: `not` does not exist for f32
///   return
/// }
/// ```
pub fn render(kernel: &Kernel, errors: &[VerifyError]) -> String {
    let lines = lines(kernel, true);
    let line_of: FxHashMap<Part, usize> = lines.iter().enumerate().map(|(n, line)| (line.part, n)).collect();
    // A short header has no lines for its parameters, and a plain `yield` may have none: then a line before is marked.
    let line_of = |part: Part| match part {
        Part::Inst(count) => (0..=count).rev().find_map(|count| line_of.get(&Part::Inst(count)).copied()),
        _ => line_of.get(&part).copied(),
    };
    let mut marked: Vec<(usize, &VerifyError)> =
        errors.iter().map(|error| (line_of(error.part).unwrap_or(0), error)).collect();
    marked.sort_by_key(|(line, _)| *line);

    let mut out = String::new();
    let mut marked = marked.into_iter().peekable();
    for (n, Line { depth, text, .. }) in lines.iter().enumerate() {
        writeln!(out, "{}{text}", Indent(*depth)).expect("writing to a string cannot fail");
        while let Some((_, error)) = marked.next_if(|(line, _)| *line == n) {
            let underline = "^".repeat(text.chars().count());
            writeln!(out, "{}{underline} {}: {}", Indent(*depth), error.rule(), error.kind)
                .expect("writing to a string cannot fail");
        }
    }
    out
}

/// The rules, as the [module](super) numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// V1: each value is defined once.
    Definition = 1,
    /// V2: definitions dominate uses.
    Dominance,
    /// V3: numbers of operands, results, blocks and their parameters.
    Count,
    /// V4: types of operands, results and parameters of blocks.
    Type,
    /// V5: terminators.
    Terminator,
    /// V6: targets of jumps, and what they carry.
    Jump,
    /// V7: labels of loops.
    Label,
    /// V8: accesses to memory.
    Memory,
    /// V9: operations exist for scalars.
    Scalar,
    /// V10: references to parameters.
    Param,
    /// V11: formats.
    Format,
    /// V12: numbers of lanes.
    Lanes,
    /// V13: atomics and fences.
    Atomic,
    /// V14: bits of constants.
    Const,
    /// V15: depth of blocks.
    Depth,
    /// V16: spans.
    Span,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", *self as u8)
    }
}

/// How many there should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
}

impl Count {
    /// Whether `n` is as many as there should be.
    pub fn includes(self, n: usize) -> bool {
        match self {
            Count::Exactly(count) => n == count,
            Count::AtLeast(count) => n >= count,
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(count) => write!(f, "{count}"),
            Count::AtLeast(count) => write!(f, "at least {count}"),
        }
    }
}

/// The type that an operand should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectedType {
    /// This one.
    #[error("{ty}")]
    Exactly {
        /// The type.
        ty: Type,
    },
    /// Any scalar, in one lane.
    #[error("of one lane")]
    OneLane,
    /// Any integer, in one lane.
    #[error("one integer")]
    OneInteger,
    /// One truth value or one for each lane.
    #[error("bool, of one lane or {lanes}")]
    BoolOfLanes {
        /// The number of lanes.
        lanes: u8,
    },
}

/// The ways in which a kernel can be wrong. Values, labels and memory have the names that they have in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyErrorKind {
    /// V1
    #[error("value {value} is not in the table of values")]
    NoSuchValue {
        /// Its index.
        value: u32,
    },
    /// V1
    #[error("{value} is defined a second time")]
    DefinedTwice {
        /// The value.
        value: String,
    },
    /// V2
    #[error("{value} is not defined before this use")]
    NotYetDefined {
        /// The value.
        value: String,
    },
    /// V2
    #[error("{value} is defined in a block that has ended")]
    OutOfScope {
        /// The value.
        value: String,
    },
    /// V3
    #[error("operands: {found}, must be {expected}")]
    OperandCount {
        /// How many there should be.
        expected: Count,
        /// How many there are.
        found: usize,
    },
    /// V3
    #[error("results: {found}, must be {expected}")]
    ResultCount {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// V3
    #[error("blocks: {found}, must be {expected}")]
    BlockCount {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// V3
    #[error("parameters of the block: {found}, must be {expected}")]
    BlockParamCount {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// V3
    #[error("the body has {found} parameters, must have none")]
    BodyParams {
        /// How many there are.
        found: usize,
    },
    /// V4
    #[error("operand {operand}, {value}, is {found}, must be {expected}")]
    OperandType {
        /// Which operand, from 0.
        operand: usize,
        /// The value.
        value: String,
        /// What its type should be.
        expected: ExpectedType,
        /// Its type.
        found: Type,
    },
    /// V4
    #[error("result {value} is {found}, must be {expected}")]
    ResultType {
        /// The value.
        value: String,
        /// What its type should be.
        expected: Type,
        /// Its type.
        found: Type,
    },
    /// V4
    #[error("parameter {value} of the block is {found}, must be {expected}")]
    BlockParamType {
        /// The value.
        value: String,
        /// What its type should be.
        expected: Type,
        /// Its type.
        found: Type,
    },
    /// V5
    #[error("a block with no operations has no terminator")]
    EmptyBlock,
    /// V5
    #[error("the block ends here, with no terminator")]
    NoTerminator,
    /// V5
    #[error("a terminator with operations after it")]
    EarlyTerminator,
    /// V5
    #[error("this terminator cannot end {block}")]
    WrongTerminator {
        /// What kind of block it is in.
        block: &'static str,
    },
    /// V6
    #[error("{label} is no loop around this")]
    NotInLoop {
        /// The label.
        label: String,
    },
    /// V6
    #[error("carries {found} values, must carry {expected}")]
    JumpCount {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// V6
    #[error("carries {value}, which is {found}, must be {expected}")]
    JumpType {
        /// The value.
        value: String,
        /// What its type should be.
        expected: Type,
        /// Its type.
        found: Type,
    },
    /// V7
    #[error("label {label}, but the kernel has {labels} labels")]
    NoSuchLabel {
        /// The label's number in the kernel.
        label: u32,
        /// How many labels there are.
        labels: u32,
    },
    /// V7
    #[error("{label} is the label of another loop")]
    LabelTwice {
        /// The label.
        label: String,
    },
    /// V8
    #[error("{mem:?} is not in the kernel's tables")]
    NoSuchMemory {
        /// What is accessed.
        mem: MemRef,
    },
    /// V8
    #[error("{name} is a scalar, not memory")]
    NotMemory {
        /// The parameter.
        name: String,
    },
    /// V8
    #[error("{name} is not mutable")]
    NotMutable {
        /// The tensor.
        name: String,
    },
    /// V8
    #[error("accesses {found} in memory of {elem}")]
    NotTheElement {
        /// Type of an element.
        elem: Type,
        /// Type of the value.
        found: Type,
    },
    /// V8
    #[error("dimension {dim} is not below {limit}")]
    DimTooLarge {
        /// The dimension.
        dim: u8,
        /// [`MAX_DIMS`](super::MAX_DIMS).
        limit: u8,
    },
    /// V8
    #[error("alignment {align} is not a power of two")]
    Align {
        /// The alignment.
        align: u16,
    },
    /// V8
    #[error("{len} elements of {elem} are too many bytes")]
    AllocTooLarge {
        /// Number of elements.
        len: u64,
        /// Type of an element.
        elem: Type,
    },
    /// V9
    #[error("`{op}` does not exist for {scalar}")]
    NoSuchOp {
        /// The operation.
        op: &'static str,
        /// The scalar of its first operand.
        scalar: Scalar,
    },
    /// V9
    #[error("`bitcast` does not exist from {from} to {to}")]
    NoSuchBitcast {
        /// The scalar of the operand.
        from: Scalar,
        /// The scalar of the result.
        to: Scalar,
    },
    /// V10
    #[error("parameter {param} is not in the kernel's table")]
    NoSuchParam {
        /// Its index.
        param: u32,
    },
    /// V10
    #[error("{name} is a tensor, must be a scalar")]
    NotAScalar {
        /// The parameter.
        name: String,
    },
    /// V10
    #[error("{name} is a scalar, must be a tensor")]
    NotATensor {
        /// The parameter.
        name: String,
    },
    /// V10
    #[error("dimension {dim} of a tensor of rank {rank}")]
    NoSuchDim {
        /// The dimension.
        dim: u8,
        /// The tensor's rank.
        rank: u8,
    },
    /// V11
    #[error("the format has {places} places for {args} arguments")]
    FormatArgs {
        /// How many arguments the format shows.
        places: usize,
        /// How many arguments there are.
        args: usize,
    },
    /// V11
    #[error("`{{{spec}}}` cannot show {value}, which is {scalar}")]
    FormatStyle {
        /// The place in the format.
        spec: FormatSpec,
        /// The argument.
        value: String,
        /// Its scalar.
        scalar: Scalar,
    },
    /// V12
    #[error("{lanes} lanes, must be 1 to {}", Type::MAX_LANES)]
    Lanes {
        /// How many there are.
        lanes: usize,
    },
    /// V12
    #[error("lane {lane} of {lanes}")]
    NoSuchLane {
        /// The lane.
        lane: u8,
        /// How many there are.
        lanes: u8,
    },
    /// V13
    #[error("this atomic does not exist for {elem}")]
    NoSuchAtomic {
        /// Type of an element.
        elem: Type,
    },
    /// V13
    #[error("an atomic on local memory")]
    LocalAtomic,
    /// V13
    #[error("{op} cannot be `{ordering}`")]
    Ordering {
        /// What kind of operation it is.
        op: &'static str,
        /// Its ordering.
        ordering: Ordering,
    },
    /// V14
    #[error("bits {bits:#x} do not fit {scalar}")]
    ConstBits {
        /// The type of the constant.
        scalar: Scalar,
        /// Its bits.
        bits: u64,
    },
    /// V15
    #[error("blocks are nested more than {limit} deep")]
    TooDeep {
        /// [`MAX_DEPTH`](super::MAX_DEPTH).
        limit: usize,
    },
    /// V16
    #[error("span {span} is not in the table of spans")]
    NoSuchSpan {
        /// Its index.
        span: u32,
    },
}

impl VerifyErrorKind {
    /// The rule that is broken.
    pub fn rule(&self) -> Rule {
        match self {
            VerifyErrorKind::NoSuchValue { .. } | VerifyErrorKind::DefinedTwice { .. } => Rule::Definition,
            VerifyErrorKind::NotYetDefined { .. } | VerifyErrorKind::OutOfScope { .. } => Rule::Dominance,
            VerifyErrorKind::OperandCount { .. }
            | VerifyErrorKind::ResultCount { .. }
            | VerifyErrorKind::BlockCount { .. }
            | VerifyErrorKind::BlockParamCount { .. }
            | VerifyErrorKind::BodyParams { .. } => Rule::Count,
            VerifyErrorKind::OperandType { .. }
            | VerifyErrorKind::ResultType { .. }
            | VerifyErrorKind::BlockParamType { .. } => Rule::Type,
            VerifyErrorKind::EmptyBlock
            | VerifyErrorKind::NoTerminator
            | VerifyErrorKind::EarlyTerminator
            | VerifyErrorKind::WrongTerminator { .. } => Rule::Terminator,
            VerifyErrorKind::NotInLoop { .. }
            | VerifyErrorKind::JumpCount { .. }
            | VerifyErrorKind::JumpType { .. } => Rule::Jump,
            VerifyErrorKind::NoSuchLabel { .. } | VerifyErrorKind::LabelTwice { .. } => Rule::Label,
            VerifyErrorKind::NoSuchMemory { .. }
            | VerifyErrorKind::NotMemory { .. }
            | VerifyErrorKind::NotMutable { .. }
            | VerifyErrorKind::NotTheElement { .. }
            | VerifyErrorKind::DimTooLarge { .. }
            | VerifyErrorKind::Align { .. }
            | VerifyErrorKind::AllocTooLarge { .. } => Rule::Memory,
            VerifyErrorKind::NoSuchOp { .. } | VerifyErrorKind::NoSuchBitcast { .. } => Rule::Scalar,
            VerifyErrorKind::NoSuchParam { .. }
            | VerifyErrorKind::NotATensor { .. }
            | VerifyErrorKind::NotAScalar { .. }
            | VerifyErrorKind::NoSuchDim { .. } => Rule::Param,
            VerifyErrorKind::FormatArgs { .. } | VerifyErrorKind::FormatStyle { .. } => Rule::Format,
            VerifyErrorKind::Lanes { .. } | VerifyErrorKind::NoSuchLane { .. } => Rule::Lanes,
            VerifyErrorKind::NoSuchAtomic { .. }
            | VerifyErrorKind::LocalAtomic
            | VerifyErrorKind::Ordering { .. } => Rule::Atomic,
            VerifyErrorKind::ConstBits { .. } => Rule::Const,
            VerifyErrorKind::TooDeep { .. } => Rule::Depth,
            VerifyErrorKind::NoSuchSpan { .. } => Rule::Span,
        }
    }
}
