//! Text to operations: results, operands, attributes and types.

use super::error::{ParseError, ParseErrorKind};
use super::format::parse_format;
use super::infer::result_types;
use super::lex::{Token, TokenKind};
use super::parse::Parser;
use crate::kernel::{Block, Inst, Value};
use crate::op::{
    Access, AtomicOp, Axis, BinaryOp, Builtin, CompareOp, Format, Op, Ordering, Scope, Shuffle, UnaryOp,
};
use crate::span::Span;
use crate::types::{Const, Scalar, Type};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A name, and the token that it stands at.
type Named<'t> = (Value, &'t Token<'t>);

/// An operation whose blocks and results are not known yet.
struct Draft<'t> {
    op: Op,
    args: SmallVec<[Value; 4]>,
    /// Parameters of the block, with the type that is written or else that of the initial value.
    params: Vec<(Named<'t>, Option<Type>)>,
}

impl<'t> Parser<'t> {
    /// Takes an operation up to the end of its line or its last block.
    pub(super) fn inst(&mut self) -> Result<Inst, ParseError> {
        let results = self.results()?;
        let op_token = self.token();
        let Draft { op, args, params } = self.op()?;
        let types = self.result_types(&op, &args, results.len(), op_token)?;
        for (&(value, token), &ty) in results.iter().zip(&types) {
            self.define(value, ty, token)?;
        }
        let (blocks, span) = match op {
            Op::If => self.if_blocks(results.is_empty())?,
            Op::Loop(_) | Op::For(_) => self.loop_block(params)?,
            _ => (Vec::new(), self.position()?),
        };
        Ok(Inst { op, args, results: results.into_iter().map(|(value, _)| value).collect(), blocks, span })
    }

    /// `%0, %1 =`, if it stands next.
    fn results(&mut self) -> Result<SmallVec<[Named<'t>; 1]>, ParseError> {
        let mut results = SmallVec::new();
        if self.at_value() {
            results.push(self.named()?);
            while self.eat(',') {
                results.push(self.named()?);
            }
            self.expect('=')?;
        }
        Ok(results)
    }

    fn named(&mut self) -> Result<Named<'t>, ParseError> {
        let token = self.token();
        Ok((self.value()?, token))
    }

    /// The types of `count` results: those that are written after `:`, else those that the operands determine.
    fn result_types(
        &mut self,
        op: &Op,
        args: &[Value],
        count: usize,
        op_token: &Token<'_>,
    ) -> Result<SmallVec<[Type; 1]>, ParseError> {
        let colon = self.token();
        if self.eat(':') {
            let mut types = smallvec![self.ty()?];
            while self.eat(',') {
                types.push(self.ty()?);
            }
            return match types.len() == count {
                true => Ok(types),
                false => {
                    Err(self
                        .error_at(colon, ParseErrorKind::ResultCount { results: count, types: types.len() }))
                }
            };
        }
        if count == 0 {
            return Ok(SmallVec::new());
        }
        match result_types(&self.kernel, op, args, |value| self.known_type(value)) {
            Some(types) if types.len() == count => Ok(types),
            _ => {
                let op = op_token.kind.to_string().trim_matches('`').to_owned();
                Err(self.error_at(op_token, ParseErrorKind::UnknownResultType { op }))
            }
        }
    }

    // ---- blocks ----

    fn if_blocks(&mut self, no_results: bool) -> Result<(Vec<Block>, Span), ParseError> {
        let span = self.open_block()?;
        let mut blocks = vec![self.nested_block()?];
        if self.eat_word("else") {
            self.expect('{')?;
            blocks.push(self.nested_block()?);
        } else if no_results {
            blocks.push(Block::default());
        }
        if no_results {
            for block in &mut blocks {
                if !block.insts.last().is_some_and(|inst| inst.op.is_terminator()) {
                    block.insts.push(Inst::new(Op::Yield, [], [], Span::NONE));
                }
            }
        }
        Ok((blocks, span))
    }

    fn loop_block(
        &mut self,
        params: Vec<(Named<'t>, Option<Type>)>,
    ) -> Result<(Vec<Block>, Span), ParseError> {
        for &((value, token), ty) in &params {
            let unknown =
                || ParseErrorKind::UnknownParamType { value: token.kind.to_string().replace('`', "") };
            let ty = ty.ok_or_else(|| self.error_at(token, unknown()))?;
            self.define(value, ty, token)?;
        }
        let span = self.open_block()?;
        let mut block = self.nested_block()?;
        block.params = params.into_iter().map(|((value, _), _)| value).collect();
        Ok((vec![block], span))
    }

    /// `carry (%param = %initial, %param: type = %initial, _ = %initial, %param: type)`, if it stands next.
    fn carry(&mut self, draft: &mut Draft<'t>) -> Result<(), ParseError> {
        if !self.eat_word("carry") {
            return Ok(());
        }
        self.expect('(')?;
        loop {
            let param = self.block_param()?;
            let initial = if self.eat('=') { Some(self.value()?) } else { None };
            draft.args.extend(initial);
            self.add_param(draft, param, initial);
            if !self.eat(',') {
                return self.expect(')');
            }
        }
    }

    /// `%param`, `%param: type` or `_`
    fn block_param(&mut self) -> Result<Option<(Named<'t>, Option<Type>)>, ParseError> {
        if self.eat_word("_") {
            return Ok(None);
        }
        let named = self.named()?;
        Ok(Some((named, if self.eat(':') { Some(self.ty()?) } else { None })))
    }

    fn add_param(
        &self,
        draft: &mut Draft<'t>,
        param: Option<(Named<'t>, Option<Type>)>,
        initial: Option<Value>,
    ) {
        if let Some((named, ty)) = param {
            draft.params.push((named, ty.or_else(|| self.known_type(initial?))));
        }
    }

    // ---- operations ----

    /// The operation with its operands, up to its types, its blocks and its position.
    fn op(&mut self) -> Result<Draft<'t>, ParseError> {
        let TokenKind::Word(word) = *self.peek() else {
            return Err(self.expected("an operation"));
        };
        let token = self.token();
        self.bump();
        let op = match word {
            "const" => Op::Const(self.constant()?),
            "scalar" => Op::Scalar(self.param_id("scalar")?),
            "extent" => {
                let param = self.param_id("extent")?;
                self.expect('.')?;
                Op::Extent(param, self.number("a dimension")?)
            }
            "stride" => {
                let param = self.param_id("stride")?;
                self.expect('.')?;
                Op::Stride(param, self.number("a dimension")?)
            }
            "lane_id" => Op::LaneId,
            "mul_add" => Op::MulAdd,
            "select" => Op::Select,
            "pack" => Op::Pack,
            "cast" | "bitcast" => {
                let args = self.args()?;
                if !self.eat_word("to") {
                    return Err(self.expected("`to`"));
                }
                let scalar = self.scalar_type()?;
                let op = if word == "cast" { Op::Cast(scalar) } else { Op::Bitcast(scalar) };
                return Ok(Draft { op, args, params: Vec::new() });
            }
            "splat" => {
                let args = self.args()?;
                if !self.eat_word("x") {
                    return Err(self.expected("`x`"));
                }
                let op = Op::Splat(self.number("a number of lanes")?);
                return Ok(Draft { op, args, params: Vec::new() });
            }
            "extract" => {
                let args = self.args()?;
                self.expect('[')?;
                let op = Op::Extract(self.number("a lane")?);
                self.expect(']')?;
                return Ok(Draft { op, args, params: Vec::new() });
            }
            "load" => return self.access(Op::Load),
            "store" => return self.access(Op::Store),
            "atomic_load" => return self.atomic(Op::AtomicLoad),
            "atomic_store" => return self.atomic(Op::AtomicStore),
            "atomic_cas" => return self.atomic(Op::AtomicCas),
            "fence" => Op::Fence(self.scope()?, self.ordering()?),
            "barrier" => Op::Barrier,
            "ballot" => Op::Ballot,
            "warp_barrier" => Op::WarpBarrier,
            "print" => {
                let op = Op::Print(self.format()?);
                let mut args = SmallVec::new();
                while self.eat(',') {
                    args.push(self.value()?);
                }
                return Ok(Draft { op, args, params: Vec::new() });
            }
            "assert" => {
                let mut args = smallvec![self.value()?];
                self.expect(',')?;
                let op = Op::Assert(self.format()?);
                while self.eat(',') {
                    args.push(self.value()?);
                }
                return Ok(Draft { op, args, params: Vec::new() });
            }
            "if" => Op::If,
            "loop" => {
                let op = Op::Loop(self.label()?);
                let mut draft = Draft { op, args: SmallVec::new(), params: Vec::new() };
                self.carry(&mut draft)?;
                return Ok(draft);
            }
            "for" => return self.for_loop(),
            "yield" => Op::Yield,
            "break" => Op::Break(self.label()?),
            "continue" => Op::Continue(self.label()?),
            "return" => Op::Return,
            _ => {
                if let Some(op) = UnaryOp::from_name(word) {
                    Op::Unary(op)
                } else if let Some(op) = BinaryOp::from_name(word) {
                    Op::Binary(op)
                } else if let Some(op) = CompareOp::from_name(word) {
                    Op::Compare(op)
                } else if let Some(builtin) = Builtin::from_name(word) {
                    self.expect('.')?;
                    Op::Builtin(builtin, self.word("an axis: `x`, `y` or `z`", Axis::from_name)?)
                } else if let Some(op) = word.strip_prefix("shuffle_").and_then(Shuffle::from_name) {
                    Op::Shuffle(op)
                } else if let Some(op) = word.strip_prefix("warp_reduce_").and_then(BinaryOp::from_name) {
                    Op::WarpReduce(op)
                } else if let Some(op) = word.strip_prefix("warp_scan_").and_then(BinaryOp::from_name) {
                    Op::WarpScan(op)
                } else if let Some(op) = word.strip_prefix("atomic_").and_then(AtomicOp::from_name) {
                    return self.atomic(|access, scope, ordering| Op::AtomicRmw(op, access, scope, ordering));
                } else {
                    return Err(self.error_at(token, ParseErrorKind::UnknownOp { name: word.to_owned() }));
                }
            }
        };
        Ok(Draft { op, args: self.args()?, params: Vec::new() })
    }

    /// `%0, %1, ...`, or nothing.
    fn args(&mut self) -> Result<SmallVec<[Value; 4]>, ParseError> {
        let mut args = SmallVec::new();
        if self.at_value() {
            args.push(self.value()?);
            while self.eat(',') {
                args.push(self.value()?);
            }
        }
        Ok(args)
    }

    /// `^0 %i = %lo to %hi step %step carry (...)`
    fn for_loop(&mut self) -> Result<Draft<'t>, ParseError> {
        let op = Op::For(self.label()?);
        let mut draft = Draft { op, args: SmallVec::new(), params: Vec::new() };
        let counter = self.block_param()?;
        self.expect('=')?;
        let lo = self.value()?;
        draft.args.push(lo);
        self.add_param(&mut draft, counter, Some(lo));
        for (word, expected) in [("to", "`to`"), ("step", "`step`")] {
            if !self.eat_word(word) {
                return Err(self.expected(expected));
            }
            draft.args.push(self.value()?);
        }
        self.carry(&mut draft)?;
        Ok(draft)
    }

    fn atomic(&mut self, op: impl FnOnce(Access, Scope, Ordering) -> Op) -> Result<Draft<'t>, ParseError> {
        let (scope, ordering) = (self.scope()?, self.ordering()?);
        self.access(|access| op(access, scope, ordering))
    }

    /// `%a[%offset], %value if (0: %index < %extent) lane 1 align 16`
    fn access(&mut self, op: impl FnOnce(Access) -> Op) -> Result<Draft<'t>, ParseError> {
        let mut access = Access::unchecked(self.mem()?);
        let mut args = SmallVec::new();
        self.expect('[')?;
        if !self.eat(']') {
            args.push(self.value()?);
            self.expect(']')?;
        }
        while self.eat(',') {
            args.push(self.value()?);
        }
        if self.eat_word("if") {
            self.expect('(')?;
            loop {
                access.bounds.push(self.number("a dimension")?);
                self.expect(':')?;
                args.push(self.value()?);
                self.expect('<')?;
                args.push(self.value()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        if self.eat_word("lane") {
            access.lane_dim = self.number("a dimension")?;
        }
        if self.eat_word("align") {
            access.align = self.number("an alignment")?;
        }
        Ok(Draft { op: op(access), args, params: Vec::new() })
    }

    fn scope(&mut self) -> Result<Scope, ParseError> {
        self.word("a scope: `block`, `device` or `system`", Scope::from_name)
    }

    fn ordering(&mut self) -> Result<Ordering, ParseError> {
        self.word("an ordering: `relaxed`, `acquire`, `release`, `acq_rel` or `seq_cst`", Ordering::from_name)
    }

    fn word<T>(
        &mut self,
        expected: &'static str,
        from_name: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ParseError> {
        let TokenKind::Word(word) = self.peek() else { return Err(self.expected(expected)) };
        let found = from_name(word).ok_or_else(|| self.expected(expected))?;
        self.bump();
        Ok(found)
    }

    fn format(&mut self) -> Result<Arc<Format>, ParseError> {
        let TokenKind::Str(text) = self.peek() else { return Err(self.expected("a format string")) };
        match parse_format(text) {
            Ok(format) => {
                self.bump();
                Ok(Arc::new(format))
            }
            Err(problem) => Err(self.error_here(ParseErrorKind::Format { problem })),
        }
    }

    /// `f32 0.5`
    fn constant(&mut self) -> Result<Const, ParseError> {
        let scalar = self.scalar_type()?;
        let (TokenKind::Number(text) | TokenKind::Word(text)) = *self.peek() else {
            return Err(self.expected("a number, `true` or `false`"));
        };
        match parse_const(scalar, text) {
            Some(value) => {
                self.bump();
                Ok(value)
            }
            None => Err(self.error_here(ParseErrorKind::OutOfRange {
                number: text.to_owned(),
                expected: format!("a constant of type {scalar}"),
            })),
        }
    }
}

/// A constant: `0x` and its bits, or a value of the type.
fn parse_const(scalar: Scalar, text: &str) -> Option<Const> {
    if let Some(digits) = text.strip_prefix("0x") {
        let digits = Some(digits).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return Some(Const::from_bits(scalar, bits)).filter(|c| c.bits == bits);
    }
    match scalar {
        Scalar::Bool => Some(Const::bool(text.parse().ok()?)),
        // Rounded once, from the decimal. The narrower ones are rounded through f64, which gives back what is printed.
        Scalar::F32 if is_decimal(text) => Some(Const::f32(text.parse().ok()?)),
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => {
            Const::round_from(scalar, parse_float(text)?)
        }
        _ => {
            let value: i128 = text.parse().ok()?;
            Some(Const::int(scalar, value)).filter(|c| c.as_int() == Some(value))
        }
    }
}

fn parse_float(text: &str) -> Option<f64> {
    match text {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => text.parse().ok().filter(|_| is_decimal(text)),
    }
}

/// Whether text begins like a decimal number: Rust's parser takes words such as `infinity` too.
fn is_decimal(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit())
}
