//! The verifier: what every kernel must satisfy, so that passes, backends and the interpreter need not ask.
//!
//! It runs after staging, before a backend emits code and, in debug builds, after each pass; its time is linear in the
//! size of the kernel. On a kernel that passes, a backend may say that it does not support something, but never
//! panics.
//!
//! # Rules
//!
//! - **V1** Each value is defined once, as a result or as a parameter of a block, and has its type in
//!   [`Kernel::values`].
//! - **V2** Each use of a value is dominated by its definition: it stands after it, in the same block or in a block
//!   nested in it. The results of `If`, `Loop` and `For` are not there in their own blocks.
//! - **V3** Each operation has as many operands, results and nested blocks as [`Op`] says, and each block as many
//!   parameters: none in the body and in `If`, the carried values in `Loop`, the counter and the carried values in
//!   `For`.
//! - **V4** Operands, results and parameters of blocks have the types that [`Op`] says.
//! - **V5** Each block ends with a terminator, and no other operation is one: in `If` it is `Yield`, `Break`,
//!   `Continue` or `Return`, in `Loop` and `For` it is `Break`, `Continue` or `Return`, in the body it is `Return`.
//! - **V6** The label of `Break` and `Continue` is that of a loop around them. They and `Yield` carry as many values
//!   as their target takes, of its types: `Break` and `Yield` the results, `Continue` the carried values.
//! - **V7** The label of a loop is its own alone, and below [`Kernel::labels`].
//! - **V8** What is accessed is a tensor or an allocation, and mutable if it is written; an access has the element's
//!   scalar, in any number of lanes, or exactly the element's type if that is a vector; dimensions are below
//!   [`MAX_DIMS`]; an alignment is a power of two or 0. An allocation's bytes can be counted in an `i64`.
//! - **V9** The operation exists for the scalar: [`unary_exists`], [`binary_exists`], [`bitcast_exists`],
//!   [`reduction_exists`] for `WarpReduce` and `WarpScan`, and `MulAdd` for floats. `Compare`, `Select`, `Cast` and
//!   `Shuffle` exist for all.
//! - **V10** `Scalar` names a scalar parameter, `Extent` and `Stride` a tensor parameter and a dimension below its
//!   rank.
//! - **V11** `Print` and `Assert` have an argument for each place in their format; hexadecimal, binary and octal
//!   places take integers, and `{:e}` takes numbers.
//! - **V12** Types have 1 to [`Type::MAX_LANES`] lanes, and `Extract` names a lane of its operand.
//! - **V13** Atomics touch one element of a type for which [`atomic_exists`] and [`rmw_exists`] hold, not in local
//!   memory. A load does not release, a store does not acquire, and a fence is not relaxed.
//! - **V14** The bits of a constant above the width of its scalar are zero.
//! - **V15** Blocks are nested at most [`MAX_DEPTH`] deep, so that a walk may recurse.
//! - **V16** A span is [`Span::NONE`] or in the kernel's table of spans.

mod error;
mod memory;
mod op;
mod scalar;

pub use error::{Count, ExpectedType, Rule, VerifyError, VerifyErrorKind, render};
pub use scalar::{atomic_exists, binary_exists, bitcast_exists, reduction_exists, rmw_exists, unary_exists};

pub use crate::text::MAX_DEPTH;

use crate::kernel::{AllocId, Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use crate::span::Span;
use crate::text::print::{Names, Part};
use crate::types::Type;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Dimensions of a tensor or view are numbered below this.
pub const MAX_DIMS: u8 = 16;

/// Checks a kernel against the rules of this [module](self).
///
/// # Errors
///
/// All that is wrong, in the order of the text.
///
/// ```
/// use tilewise_ir::{Kernel, verify};
///
/// let kernel: Kernel = "
///     kernel @k() {
///       %0 = const f32 1.0
///       %1 = not %0
///       return
///     }
/// ".parse()?;
/// let errors = verify::verify(&kernel).unwrap_err();
/// assert_eq!(errors[0].to_string(), "V9: `not` does not exist for f32, in `%1 = not %0`");
/// # Ok::<(), tilewise_ir::text::ParseError>(())
/// ```
pub fn verify(kernel: &Kernel) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier {
        kernel,
        states: vec![State::Undefined; kernel.values.len()],
        scope: Vec::new(),
        loops: FxHashMap::default(),
        part: Part::Header,
        count: 0,
        depth: 0,
        names: OnceCell::new(),
        errors: Vec::new(),
    };
    verifier.allocs();
    verifier.block(&kernel.body, BlockKind::Body);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// What is known of a value at a point of the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing defined it yet.
    Undefined,
    /// Its definition dominates the point.
    Live,
    /// It was defined in a block that has ended.
    Left,
}

/// What a block belongs to.
#[derive(Clone, Copy)]
enum BlockKind<'k> {
    /// It is the kernel's body.
    Body,
    /// One of the blocks of this `If`.
    If(&'k Inst),
    /// The block of a `Loop` or `For`.
    Loop,
}

/// A walk over a kernel in the order of the text.
struct Verifier<'k> {
    kernel: &'k Kernel,
    states: Vec<State>,
    /// The live values, in order of definition.
    scope: Vec<Value>,
    /// The labels seen so far, with their loop if the walk is in it.
    loops: FxHashMap<Label, Option<&'k Inst>>,
    /// Where the walk is.
    part: Part,
    /// Operations so far.
    count: usize,
    depth: usize,
    /// For errors only.
    names: OnceCell<Names<'k>>,
    errors: Vec<VerifyError>,
}

impl<'k> Verifier<'k> {
    fn error(&mut self, kind: VerifyErrorKind, inst: Option<&Inst>) {
        let op = inst.map(|inst| self.names().inst(inst));
        let location = inst.and_then(|inst| self.kernel.spans.get(inst.span));
        self.errors.push(VerifyError { kind, op, location, part: self.part });
    }

    fn names(&self) -> &Names<'k> {
        self.names.get_or_init(|| Names::new(self.kernel))
    }

    fn name(&self, value: Value) -> String {
        self.names().value(value).to_string()
    }

    fn ty(&self, value: Value) -> Option<Type> {
        self.kernel.values.get(value.0 as usize).copied()
    }

    fn allocs(&mut self) {
        for (n, alloc) in self.kernel.allocs.iter().enumerate() {
            self.part = Part::Alloc(AllocId(n as u32));
            self.lanes(alloc.elem.lanes, None);
            let bytes = alloc.len.checked_mul(alloc.elem.size() as u64);
            if bytes.is_none_or(|bytes| i64::try_from(bytes).is_err()) {
                self.error(VerifyErrorKind::AllocTooLarge { len: alloc.len, elem: alloc.elem }, None);
            }
            self.span(alloc.span, None);
        }
        self.part = Part::Header;
    }

    /// V16.
    fn span(&mut self, span: Span, inst: Option<&Inst>) {
        if span.0 as usize > self.kernel.spans.len() {
            self.error(VerifyErrorKind::NoSuchSpan { span: span.0 }, inst);
        }
    }

    /// V12.
    fn lanes(&mut self, lanes: u8, inst: Option<&Inst>) {
        if !(1..=Type::MAX_LANES).contains(&lanes) {
            self.error(VerifyErrorKind::Lanes { lanes: lanes.into() }, inst);
        }
    }

    // ---- blocks ----

    fn block(&mut self, block: &'k Block, kind: BlockKind<'k>) {
        let outer_scope = self.scope.len();
        let outer_part = self.part;
        for &param in &block.params {
            self.define(param, None);
        }
        if matches!(kind, BlockKind::Body) && !block.params.is_empty() {
            self.error(VerifyErrorKind::BodyParams { found: block.params.len() }, None);
        }
        for (n, inst) in block.insts.iter().enumerate() {
            self.part = Part::Inst(self.count);
            self.count += 1;
            self.terminator(inst, n + 1 == block.insts.len(), kind);
            self.inst(inst, kind);
        }
        if block.insts.is_empty() {
            self.part = outer_part;
            self.error(VerifyErrorKind::EmptyBlock, None);
        }
        for value in self.scope.drain(outer_scope..) {
            self.states[value.0 as usize] = State::Left;
        }
    }

    /// V5.
    fn terminator(&mut self, inst: &Inst, last: bool, kind: BlockKind<'k>) {
        let fits = match (&inst.op, kind) {
            (Op::Yield, BlockKind::If(_)) => true,
            (Op::Break(_) | Op::Continue(_), BlockKind::If(_) | BlockKind::Loop) => true,
            (Op::Return, _) => true,
            (op, _) => !op.is_terminator(),
        };
        match (inst.op.is_terminator(), last) {
            (true, true) if !fits => {
                let block = match kind {
                    BlockKind::Body => "the body",
                    BlockKind::If(_) => "a block of `if`",
                    BlockKind::Loop => "the block of a loop",
                };
                self.error(VerifyErrorKind::WrongTerminator { block }, Some(inst));
            }
            (true, false) => self.error(VerifyErrorKind::EarlyTerminator, Some(inst)),
            (false, true) => self.error(VerifyErrorKind::NoTerminator, Some(inst)),
            _ => {}
        }
    }

    fn inst(&mut self, inst: &'k Inst, kind: BlockKind<'k>) {
        self.span(inst.span, Some(inst));
        for &arg in &inst.args {
            self.used(arg, inst);
        }
        self.op(inst);
        self.jump(inst, kind);
        let label = match inst.op {
            Op::Loop(label) | Op::For(label) => Some(label),
            _ => None,
        };
        if let Some(label) = label {
            self.open_loop(label, inst);
        }
        for block in &inst.blocks {
            if self.depth == MAX_DEPTH {
                self.error(VerifyErrorKind::TooDeep { limit: MAX_DEPTH }, Some(inst));
                block.visit(&mut |_| self.count += 1);
                continue;
            }
            let part = self.part;
            self.depth += 1;
            self.block(block, if label.is_some() { BlockKind::Loop } else { BlockKind::If(inst) });
            self.depth -= 1;
            self.part = part;
        }
        if let Some(label) = label {
            self.loops.insert(label, None);
        }
        for &result in &inst.results {
            self.define(result, Some(inst));
        }
    }

    // ---- values ----

    /// V1, and V12 for its type.
    fn define(&mut self, value: Value, inst: Option<&Inst>) {
        let Some(ty) = self.ty(value) else {
            return self.error(VerifyErrorKind::NoSuchValue { value: value.0 }, inst);
        };
        self.lanes(ty.lanes, inst);
        let state = &mut self.states[value.0 as usize];
        match std::mem::replace(state, State::Live) {
            State::Undefined => self.scope.push(value),
            before => {
                if before == State::Left {
                    self.scope.push(value);
                }
                self.error(VerifyErrorKind::DefinedTwice { value: self.name(value) }, inst);
            }
        }
    }

    /// V2.
    fn used(&mut self, value: Value, inst: &Inst) {
        let kind = match self.states.get(value.0 as usize) {
            Some(State::Live) => return,
            Some(State::Undefined) => VerifyErrorKind::NotYetDefined { value: self.name(value) },
            Some(State::Left) => VerifyErrorKind::OutOfScope { value: self.name(value) },
            None => VerifyErrorKind::NoSuchValue { value: value.0 },
        };
        self.error(kind, Some(inst));
    }

    // ---- loops ----

    /// V7.
    fn open_loop(&mut self, label: Label, inst: &'k Inst) {
        if label.0 >= self.kernel.labels {
            self.error(
                VerifyErrorKind::NoSuchLabel { label: label.0, labels: self.kernel.labels },
                Some(inst),
            );
        }
        if self.loops.insert(label, Some(inst)).is_some() {
            self.error(VerifyErrorKind::LabelTwice { label: self.names().label(label) }, Some(inst));
        }
    }

    /// V6.
    fn jump(&mut self, inst: &Inst, kind: BlockKind<'k>) {
        let target: &[Value] = match inst.op {
            Op::Yield => match kind {
                BlockKind::If(target) => &target.results,
                _ => return,
            },
            Op::Break(label) | Op::Continue(label) => match self.loops.get(&label) {
                Some(Some(target)) => match (&inst.op, &target.op) {
                    (Op::Break(_), _) => &target.results,
                    (_, Op::For(_)) => {
                        target.blocks.first().and_then(|b| b.params.get(1..)).unwrap_or_default()
                    }
                    _ => target.blocks.first().map_or(&[], |b| &b.params[..]),
                },
                _ => {
                    let label = self.names().label(label);
                    return self.error(VerifyErrorKind::NotInLoop { label }, Some(inst));
                }
            },
            _ => return,
        };
        if inst.args.len() != target.len() {
            let kind = VerifyErrorKind::JumpCount { expected: target.len(), found: inst.args.len() };
            return self.error(kind, Some(inst));
        }
        for (&arg, &taken) in inst.args.iter().zip(target) {
            let (Some(found), Some(expected)) = (self.ty(arg), self.ty(taken)) else { continue };
            if found != expected {
                let kind = VerifyErrorKind::JumpType { value: self.name(arg), expected, found };
                self.error(kind, Some(inst));
            }
        }
    }
}
