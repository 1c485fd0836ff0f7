//! Text to kernels: the header, blocks and names. Single operations are in [`parse_op`](super::parse_op).

use super::error::{ParseError, ParseErrorKind};
use super::lex::{Name, Token, TokenKind, lex};
use crate::kernel::{Alloc, AllocId, Block, Kernel, MemRef, Param, ParamId, ParamKind, Space, Value};
use crate::op::Label;
use crate::span::Span;
use crate::types::{Scalar, Type};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// How deep blocks may be nested, the body not counted, so that whoever walks a kernel may recurse.
pub const MAX_DEPTH: usize = 256;

/// Parses the text of one kernel. The [module](super) documents the syntax.
///
/// ```
/// let kernel = tilewise_ir::text::parse("
///     kernel @increment(%a: tensor<u32, 1, mut>) {
///       %i = thread_idx.x
///       %n = extent %a.0
///       %before = load %a[%i] if (0: %i < %n) : u32
///       %one = const u32 1
///       %after = add %before, %one
///       store %a[%i], %after if (0: %i < %n)
///       return
///     }
/// ")?;
/// assert_eq!(kernel.op_count(), 7);
/// assert!(kernel.to_string().contains("%4 = add %2, %3"));
/// # Ok::<(), tilewise_ir::text::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Kernel, ParseError> {
    let tokens = lex(text)?;
    let mut parser = Parser::new(text, &tokens);
    let kernel = parser.kernel()?;
    parser.skip_newlines();
    match parser.peek() {
        TokenKind::End => Ok(kernel),
        _ => Err(parser.expected("the end of the text after the kernel")),
    }
}

/// Parses text of any number of kernels.
pub fn parse_all(text: &str) -> Result<Vec<Kernel>, ParseError> {
    let tokens = lex(text)?;
    let mut parser = Parser::new(text, &tokens);
    let mut kernels = Vec::new();
    loop {
        parser.skip_newlines();
        if *parser.peek() == TokenKind::End {
            return Ok(kernels);
        }
        kernels.push(parser.kernel()?);
    }
}

/// A position in the tokens of a text, and the kernel that is being parsed.
pub(super) struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token<'t>],
    next: usize,
    pub(super) kernel: Kernel,
    memory: FxHashMap<(Cow<'t, str>, u32), MemRef>,
    values: FxHashMap<&'t str, Value>,
    /// For each value its type, once it is known, and its first mention.
    mentions: Vec<(Option<Type>, &'t Token<'t>)>,
    labels: FxHashMap<&'t str, Label>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, tokens: &'t [Token<'t>]) -> Parser<'t> {
        Parser {
            text,
            tokens,
            next: 0,
            kernel: Kernel::default(),
            memory: FxHashMap::default(),
            values: FxHashMap::default(),
            mentions: Vec::new(),
            labels: FxHashMap::default(),
            depth: 0,
        }
    }

    fn kernel(&mut self) -> Result<Kernel, ParseError> {
        self.memory.clear();
        self.values.clear();
        self.mentions.clear();
        self.labels.clear();
        self.skip_newlines();
        if !self.eat_word("kernel") {
            return Err(self.expected("`kernel`"));
        }
        let TokenKind::At(name) = self.peek() else {
            return Err(self.expected("a name such as `@dot_product`"));
        };
        self.kernel = Kernel::new(name.clone());
        self.bump();
        self.expect('(')?;
        self.skip_newlines();
        while !self.eat(')') {
            self.param()?;
            self.skip_newlines();
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
            self.skip_newlines();
        }
        self.kernel.contract = !self.eat_word("no_contract");
        self.expect('{')?;
        self.allocs()?;
        self.kernel.body = self.block_rest()?;
        self.end_line()?;

        let mut types = Vec::with_capacity(self.mentions.len());
        for (ty, token) in &self.mentions {
            match ty {
                Some(ty) => types.push(*ty),
                None => return Err(self.error_at(token, ParseErrorKind::Undefined { value: name_of(token) })),
            }
        }
        let mut kernel = std::mem::take(&mut self.kernel);
        kernel.values = types;
        kernel.labels = self.labels.len() as u32;
        Ok(kernel)
    }

    fn param(&mut self) -> Result<(), ParseError> {
        let name = self.declare(MemRef::Param(ParamId(self.kernel.params.len() as u32)))?;
        self.expect(':')?;
        let kind = if self.eat_word("tensor") {
            self.expect('<')?;
            let elem = self.scalar_type()?;
            self.expect(',')?;
            let rank = self.number("a rank")?;
            let (mut mutable, mut aliased) = (false, false);
            while self.eat(',') {
                if self.eat_word("mut") {
                    mutable = true;
                } else if self.eat_word("aliased") {
                    aliased = true;
                } else {
                    return Err(self.expected("`mut` or `aliased`"));
                }
            }
            self.expect('>')?;
            ParamKind::Tensor { elem, rank, mutable, aliased }
        } else {
            ParamKind::Scalar(self.scalar_type()?)
        };
        self.kernel.params.push(Param { name, kind });
        Ok(())
    }

    fn allocs(&mut self) -> Result<(), ParseError> {
        loop {
            self.skip_newlines();
            let TokenKind::Word(word) = self.peek() else { return Ok(()) };
            let Some(space) = Space::from_name(word) else { return Ok(()) };
            self.bump();
            let id = AllocId(self.kernel.allocs.len() as u32);
            let name = self.declare(MemRef::Alloc(id))?;
            self.expect(':')?;
            if !self.eat_word("array") {
                return Err(self.expected("`array`"));
            }
            self.expect('<')?;
            let elem = self.ty()?;
            self.expect(',')?;
            let len = self.number("a length")?;
            self.expect('>')?;
            let span = self.position()?;
            self.end_line()?;
            self.kernel.allocs.push(Alloc { name, space, elem, len, span });
        }
    }

    /// The operations of a block after its `{`, and its `}`.
    fn block_rest(&mut self) -> Result<Block, ParseError> {
        let mut insts = Vec::new();
        loop {
            self.skip_newlines();
            if self.eat('}') {
                return Ok(Block { params: Vec::new(), insts });
            }
            insts.push(self.inst()?);
            self.end_line()?;
        }
    }

    /// A nested block after its `{`, and its `}`.
    pub(super) fn nested_block(&mut self) -> Result<Block, ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_before(ParseErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let block = self.block_rest();
        self.depth -= 1;
        block
    }

    /// The `{` of an operation's first block and, after it, the operation's position.
    pub(super) fn open_block(&mut self) -> Result<Span, ParseError> {
        self.expect('{')?;
        self.position()
    }

    /// The position at the end of a line, if one stands there.
    pub(super) fn position(&mut self) -> Result<Span, ParseError> {
        let TokenKind::At(file) = self.peek() else { return Ok(Span::NONE) };
        self.bump();
        self.expect(':')?;
        let line = self.number("a line number")?;
        self.expect(':')?;
        let column = self.number("a column number")?;
        Ok(self.kernel.spans.intern(file, line, column))
    }

    // ---- names ----

    /// Takes the name of a new parameter or allocation.
    fn declare(&mut self, mem: MemRef) -> Result<String, ParseError> {
        let token = self.token();
        let name = self.mem_name()?;
        if !name.quoted && name.name.starts_with(|c: char| c.is_ascii_digit()) {
            let expected = "a name that is no number, or is in quotes";
            return Err(
                self.error_at(token, ParseErrorKind::Expected { expected, found: token.kind.to_string() })
            );
        }
        if self.memory.insert((name.name.clone(), name.nth), mem).is_some() {
            return Err(self.error_at(token, ParseErrorKind::DuplicateName { name: name.to_string() }));
        }
        Ok(name.name.to_string())
    }

    /// Takes the name of a parameter or allocation, known or not.
    fn mem_name(&mut self) -> Result<&'t Name<'t>, ParseError> {
        match self.peek() {
            TokenKind::Name(name) => {
                self.bump();
                Ok(name)
            }
            _ => Err(self.expected("a parameter or allocation such as `%a`")),
        }
    }

    /// Takes the name of a parameter or allocation.
    pub(super) fn mem(&mut self) -> Result<MemRef, ParseError> {
        let token = self.token();
        let name = self.mem_name()?;
        match self.memory.get(&(name.name.clone(), name.nth)) {
            Some(&mem) => Ok(mem),
            None => Err(self.error_at(token, ParseErrorKind::UnknownMemory { name: name.to_string() })),
        }
    }

    /// Takes the name of a parameter for the operation `op`.
    pub(super) fn param_id(&mut self, op: &'static str) -> Result<ParamId, ParseError> {
        let token = self.token();
        match self.mem()? {
            MemRef::Param(param) => Ok(param),
            MemRef::Alloc(_) => {
                Err(self.error_at(token, ParseErrorKind::NotAParameter { name: name_of(token), op }))
            }
        }
    }

    /// Whether a value stands next.
    pub(super) fn at_value(&self) -> bool {
        matches!(self.peek(), TokenKind::Name(_))
    }

    /// Takes a value.
    pub(super) fn value(&mut self) -> Result<Value, ParseError> {
        let token = self.token();
        let TokenKind::Name(name) = &token.kind else { return Err(self.expected("a value such as `%0`")) };
        if self.memory.contains_key(&(name.name.clone(), name.nth)) && !self.is_number(name) {
            return Err(self.error_at(token, ParseErrorKind::NotAValue { name: name.to_string() }));
        }
        if name.quoted || name.nth != 0 {
            return Err(self.expected("a value such as `%0`"));
        }
        let Cow::Borrowed(text) = name.name else { return Err(self.expected("a value such as `%0`")) };
        self.bump();
        Ok(*self.values.entry(text).or_insert_with(|| {
            self.mentions.push((None, token));
            Value(self.mentions.len() as u32 - 1)
        }))
    }

    fn is_number(&self, name: &Name<'_>) -> bool {
        !name.quoted && name.name.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Defines a value, which `token` names.
    pub(super) fn define(&mut self, value: Value, ty: Type, token: &Token<'_>) -> Result<(), ParseError> {
        let slot = &mut self.mentions[value.0 as usize].0;
        match slot.replace(ty) {
            Some(before) if before != ty => {
                let kind = ParseErrorKind::Retyped { value: name_of(token), before, after: ty };
                Err(self.error_at(token, kind))
            }
            _ => Ok(()),
        }
    }

    /// The type of a value, if it is known yet.
    pub(super) fn known_type(&self, value: Value) -> Option<Type> {
        self.mentions[value.0 as usize].0
    }

    /// Takes a loop's label.
    pub(super) fn label(&mut self) -> Result<Label, ParseError> {
        let TokenKind::Label(name) = self.peek() else { return Err(self.expected("a label such as `^0`")) };
        self.bump();
        let next = Label(self.labels.len() as u32);
        Ok(*self.labels.entry(name).or_insert(next))
    }

    // ---- types and numbers ----

    /// Takes a type.
    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        let TokenKind::Word(word) = self.peek() else { return Err(self.expected("a type such as `f32`")) };
        let ty = match Scalar::from_name(word) {
            Some(scalar) => Some(scalar.ty()),
            None => word.rsplit_once('x').and_then(|(scalar, lanes)| {
                let digits = lanes.bytes().all(|b| b.is_ascii_digit());
                Some(Type {
                    scalar: Scalar::from_name(scalar)?,
                    lanes: lanes.parse().ok().filter(|_| digits)?,
                })
            }),
        };
        let ty = ty.ok_or_else(|| self.error_here(ParseErrorKind::UnknownType { name: word.to_string() }))?;
        self.bump();
        Ok(ty)
    }

    /// Takes a type of one lane.
    pub(super) fn scalar_type(&mut self) -> Result<Scalar, ParseError> {
        let token = self.token();
        match self.ty()? {
            Type { scalar, lanes: 1 } => Ok(scalar),
            ty => {
                let kind =
                    ParseErrorKind::Expected { expected: "a type of one lane", found: format!("`{ty}`") };
                Err(self.error_at(token, kind))
            }
        }
    }

    /// Takes a whole number; `what` it is goes into the error.
    pub(super) fn number<T: TryFrom<u64> + Into<u64>>(
        &mut self,
        what: &'static str,
    ) -> Result<T, ParseError> {
        let TokenKind::Number(number) = self.peek() else { return Err(self.expected(what)) };
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        let value: Option<u64> = number.parse().ok().filter(|_| digits);
        match value.and_then(|value| T::try_from(value).ok()) {
            Some(value) => {
                self.bump();
                Ok(value)
            }
            None => {
                let bits = 8 * size_of::<T>();
                Err(self.error_here(ParseErrorKind::OutOfRange {
                    number: number.to_string(),
                    expected: format!("{what}, a whole number of {bits} bits"),
                }))
            }
        }
    }

    // ---- tokens ----

    /// The next token.
    pub(super) fn token(&self) -> &'t Token<'t> {
        // The last token is `End`, and nothing takes it.
        &self.tokens[self.next]
    }

    /// The kind of the next token.
    pub(super) fn peek(&self) -> &'t TokenKind<'t> {
        &self.token().kind
    }

    /// Takes the next token.
    pub(super) fn bump(&mut self) {
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
    }

    /// Takes this character if it stands next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = *self.peek() == TokenKind::Punct(c);
        if found {
            self.bump();
        }
        found
    }

    /// Takes this word if it stands next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Word(w) if *w == word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes this character.
    pub(super) fn expect(&mut self, c: char) -> Result<(), ParseError> {
        if self.eat(c) {
            return Ok(());
        }
        Err(self.expected(match c {
            '(' => "`(`",
            ')' => "`)`",
            '{' => "`{`",
            '}' => "`}`",
            '[' => "`[`",
            ']' => "`]`",
            '<' => "`<`",
            '>' => "`>`",
            '=' => "`=`",
            ',' => "`,`",
            ':' => "`:`",
            _ => "`.`",
        }))
    }

    /// Takes line ends and comments.
    pub(super) fn skip_newlines(&mut self) {
        while *self.peek() == TokenKind::Newline {
            self.bump();
        }
    }

    /// The end of an operation: a line end, or the end of the block around it.
    fn end_line(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            TokenKind::Newline | TokenKind::End | TokenKind::Punct('}') => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }

    // ---- errors ----

    /// The error that something else should stand next.
    pub(super) fn expected(&self, expected: &'static str) -> ParseError {
        self.error_here(ParseErrorKind::Expected { expected, found: self.peek().to_string() })
    }

    /// An error at the next token.
    pub(super) fn error_here(&self, kind: ParseErrorKind) -> ParseError {
        self.error_at(self.token(), kind)
    }

    /// An error at the token before the next.
    fn error_before(&self, kind: ParseErrorKind) -> ParseError {
        self.error_at(&self.tokens[self.next.saturating_sub(1)], kind)
    }

    /// An error at a token.
    pub(super) fn error_at(&self, token: &Token<'_>, kind: ParseErrorKind) -> ParseError {
        ParseError::at(self.text, token.offset, kind)
    }
}

/// A name, as it stands in the text.
fn name_of(token: &Token<'_>) -> String {
    match &token.kind {
        TokenKind::Name(name) => name.to_string(),
        _ => String::new(),
    }
}
