//! Text to tokens.

use super::error::{ParseError, ParseErrorKind};
use std::borrow::Cow;
use std::fmt;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind<'t>,
    /// Byte offset of its first character.
    pub(super) offset: usize,
}

/// The kinds of token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind<'t> {
    /// A word: an operation, a type, a keyword.
    Word(&'t str),
    /// `%name`, `%"name"` or `%name#1`.
    Name(Name<'t>),
    /// `^name`
    Label(&'t str),
    /// `@name` or `@"name"`: the kernel's name or the file of a position.
    At(Cow<'t, str>),
    /// A number with its sign, as it stands; `-inf` too.
    Number(&'t str),
    /// `"..."`, escapes resolved.
    Str(String),
    /// One of `( ) { } [ ] < > = , : .`
    Punct(char),
    /// The end of a line.
    Newline,
    /// The end of the text.
    End,
}

/// What stands after `%`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name<'t> {
    /// The name, without quotes.
    pub(super) name: Cow<'t, str>,
    /// The number after `#`, 0 if none: which of several parameters or allocations of one name it is.
    pub(super) nth: u32,
    /// Whether it stands in quotes, so that it is no value.
    pub(super) quoted: bool,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quoted {
            true => write!(f, "%{}", Quoted(&self.name))?,
            false => write!(f, "%{}", self.name)?,
        }
        match self.nth {
            0 => Ok(()),
            nth => write!(f, "#{nth}"),
        }
    }
}

impl fmt::Display for TokenKind<'_> {
    /// As an error message names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Word(word) | TokenKind::Number(word) => write!(f, "`{word}`"),
            TokenKind::Name(name) => write!(f, "`{name}`"),
            TokenKind::Label(label) => write!(f, "`^{label}`"),
            TokenKind::At(name) => write!(f, "`@{name}`"),
            TokenKind::Str(_) => f.write_str("a string"),
            TokenKind::Punct(c) => write!(f, "`{c}`"),
            TokenKind::Newline => f.write_str("the end of the line"),
            TokenKind::End => f.write_str("the end of the text"),
        }
    }
}

/// A string in quotes, escaped as the lexer reads it.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\0' => f.write_str("\\0")?,
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    write!(f, "\\u{{{:x}}}", c as u32)?;
                }
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// Whether a name can stand after `%` or `@` without quotes and is no number.
pub(super) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(is_name_char)
}

/// Whether a file can stand after `@` without quotes.
pub(super) fn is_plain_file(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_file_char)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_file_char(c: char) -> bool {
    is_name_char(c) || matches!(c, '.' | '/' | '-' | '+')
}

/// All tokens of a text; the last is [`TokenKind::End`], and no two [`TokenKind::Newline`] follow each other.
pub(super) fn lex(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { text, offset: 0 };
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.token()?;
        if token.kind == TokenKind::Newline && tokens.last().is_none_or(|t| t.kind == TokenKind::Newline) {
            continue;
        }
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    offset: usize,
}

impl<'t> Lexer<'t> {
    fn token(&mut self) -> Result<Token<'t>, ParseError> {
        self.run(|c| matches!(c, ' ' | '\t' | '\r'));
        if self.peek() == Some(';') {
            self.run(|c| c != '\n');
        }
        let offset = self.offset;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some('\n') => {
                self.offset += 1;
                TokenKind::Newline
            }
            Some('%') => {
                self.offset += 1;
                TokenKind::Name(self.name()?)
            }
            Some('^') => {
                self.offset += 1;
                TokenKind::Label(self.non_empty_run(is_name_char, "a label such as `^0`")?)
            }
            Some('@') => {
                self.offset += 1;
                TokenKind::At(match self.peek() {
                    Some('"') => self.string()?.into(),
                    _ => self.non_empty_run(is_file_char, "a name after `@`")?.into(),
                })
            }
            Some('"') => TokenKind::Str(self.string()?),
            Some(c @ ('(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' | '=' | ',' | ':' | '.')) => {
                self.offset += 1;
                TokenKind::Punct(c)
            }
            Some(c) if c.is_ascii_digit() || c == '-' => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => TokenKind::Word(self.run(is_name_char)),
            Some(found) => return Err(self.error(ParseErrorKind::UnexpectedChar { found })),
        };
        Ok(Token { kind, offset })
    }

    fn peek(&self) -> Option<char> {
        self.text[self.offset..].chars().next()
    }

    /// Takes all characters that `is` holds for.
    fn run(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.offset..];
        let len = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.offset += len;
        &rest[..len]
    }

    fn non_empty_run(
        &mut self,
        is: impl Fn(char) -> bool,
        expected: &'static str,
    ) -> Result<&'t str, ParseError> {
        match self.run(is) {
            "" => {
                let found = match self.peek() {
                    None => TokenKind::End.to_string(),
                    Some('\n' | '\r') => TokenKind::Newline.to_string(),
                    Some(c) => format!("{c:?}"),
                };
                Err(self.error(ParseErrorKind::Expected { expected, found }))
            }
            run => Ok(run),
        }
    }

    fn name(&mut self) -> Result<Name<'t>, ParseError> {
        let quoted = self.peek() == Some('"');
        let name = match quoted {
            true => self.string()?.into(),
            false => self.non_empty_run(is_name_char, "a name after `%`")?.into(),
        };
        let mut nth = 0;
        if self.peek() == Some('#') {
            self.offset += 1;
            let offset = self.offset;
            let digits = self.non_empty_run(|c| c.is_ascii_digit(), "a number after `#`")?;
            nth = digits.parse().map_err(|_| {
                let kind = ParseErrorKind::OutOfRange {
                    number: digits.into(),
                    expected: "a number of 32 bits".into(),
                };
                ParseError::at(self.text, offset, kind)
            })?;
        }
        Ok(Name { name, nth, quoted })
    }

    fn number(&mut self) -> Result<TokenKind<'t>, ParseError> {
        let start = self.offset;
        if self.peek() == Some('-') {
            self.offset += 1;
            if self.text[self.offset..].starts_with("inf") {
                self.run(is_name_char);
                return Ok(TokenKind::Number(&self.text[start..self.offset]));
            }
        }
        let digits = self.non_empty_run(is_name_char, "a number after `-`")?;
        let decimal = !digits.starts_with("0x");
        if decimal && digits.bytes().all(|b| b.is_ascii_digit()) && self.text[self.offset..].starts_with('.')
        {
            // `1.5`, but not `%a.0`, which never comes here, and not `1.` or `1.x`.
            let fraction = &self.text[self.offset + 1..];
            if fraction.starts_with(|c: char| c.is_ascii_digit()) {
                self.offset += 1;
                self.run(is_name_char);
            }
        }
        let so_far = &self.text[start..self.offset];
        let exponent = decimal && so_far.ends_with(['e', 'E']);
        if exponent && matches!(self.peek(), Some('-' | '+')) {
            self.offset += 1;
            self.run(|c| c.is_ascii_digit());
        }
        Ok(TokenKind::Number(&self.text[start..self.offset]))
    }

    /// A string in quotes, its escapes resolved.
    fn string(&mut self) -> Result<String, ParseError> {
        let start = self.offset;
        self.offset += 1;
        let mut string = String::new();
        loop {
            string.push_str(self.run(|c| !matches!(c, '"' | '\\' | '\n')));
            match self.peek() {
                Some('"') => {
                    self.offset += 1;
                    return Ok(string);
                }
                Some('\\') => string.push(self.escape()?),
                _ => return Err(ParseError::at(self.text, start, ParseErrorKind::UnterminatedString)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let rest = &self.text[self.offset..];
        let (c, len) = match rest.as_bytes().get(1) {
            Some(b'n') => (Some('\n'), 2),
            Some(b'r') => (Some('\r'), 2),
            Some(b't') => (Some('\t'), 2),
            Some(b'0') => (Some('\0'), 2),
            Some(b'\\') => (Some('\\'), 2),
            Some(b'"') => (Some('"'), 2),
            Some(b'u') => {
                let code = rest[2..].strip_prefix('{').and_then(|r| Some(&r[..r.find('}')?]));
                let c = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
                (c, code.map_or(2, |code| code.len() + 4))
            }
            _ => (None, 1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
        };
        match c {
            Some(c) => {
                self.offset += len;
                Ok(c)
            }
            None => {
                let escape = rest[..len].chars().filter(|c| *c != '\n').collect();
                Err(self.error(ParseErrorKind::UnknownEscape { escape }))
            }
        }
    }

    fn error(&self, kind: ParseErrorKind) -> ParseError {
        ParseError::at(self.text, self.offset, kind)
    }
}
