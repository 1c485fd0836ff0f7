//! What can be wrong with text.

use crate::types::Type;
use std::fmt;

/// Text that is no kernel, and where it goes wrong.
///
/// Displayed, it shows the line with a caret under the place:
///
/// ```text
/// 3:16: expected a value such as `%0`, found `,`
///   |
/// 3 |   %5 = load %a[,] : f32
///   |                ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// The line's text.
    pub source_line: String,
}

/// The ways in which text is no kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What should stand here.
        expected: &'static str,
        /// What stands here.
        found: String,
    },
    /// A character that no token begins with.
    #[error("unexpected character {found:?}")]
    UnexpectedChar {
        /// The character.
        found: char,
    },
    /// A string does not end on its line.
    #[error("this string has no closing `\"`")]
    UnterminatedString,
    /// An escape in a string that does not exist.
    #[error(r#"unknown escape `{escape}`: there are \n \r \t \0 \\ \" and \u{{...}}"#)]
    UnknownEscape {
        /// The escape as it stands.
        escape: String,
    },
    /// No operation has this name.
    #[error("there is no operation `{name}`")]
    UnknownOp {
        /// The name.
        name: String,
    },
    /// No type has this name.
    #[error("there is no type `{name}`")]
    UnknownType {
        /// The name.
        name: String,
    },
    /// A number does not fit where it stands.
    #[error("`{number}` is not {expected}")]
    OutOfRange {
        /// The number as it stands.
        number: String,
        /// What would fit.
        expected: String,
    },
    /// No parameter or allocation has this name.
    #[error("there is no parameter or allocation `{name}`")]
    UnknownMemory {
        /// The name as it stands.
        name: String,
    },
    /// Two parameters or allocations have the same name.
    #[error("`{name}` is already the name of a parameter or allocation")]
    DuplicateName {
        /// The name as it stands.
        name: String,
    },
    /// A parameter or allocation stands where only a value can.
    #[error("`{name}` is a parameter or allocation, not a value")]
    NotAValue {
        /// The name as it stands.
        name: String,
    },
    /// An allocation stands where only a parameter can.
    #[error("`{name}` is an allocation; `{op}` wants a parameter")]
    NotAParameter {
        /// The name as it stands.
        name: String,
        /// The operation.
        op: &'static str,
    },
    /// Operands do not determine the types of the results, and no types are written.
    #[error("the operands of `{op}` do not determine the type of its result: write it after `:`")]
    UnknownResultType {
        /// The operation.
        op: String,
    },
    /// The type of a parameter of a block is not known.
    #[error("the type of `{value}` is not known here: write it after `:`")]
    UnknownParamType {
        /// The parameter.
        value: String,
    },
    /// The number of types written is not that of results.
    #[error("types are written for {types} results, but results: {results}")]
    ResultCount {
        /// Number of results.
        results: usize,
        /// Number of types.
        types: usize,
    },
    /// A value is defined a second time with another type. (With the same type it is for the verifier to reject.)
    #[error("`{value}` has type {before} at its first definition and {after} here")]
    Retyped {
        /// The value.
        value: String,
        /// Its type at the first definition.
        before: Type,
        /// Its type at the second definition.
        after: Type,
    },
    /// A value is used but nowhere defined, so that its type is not known.
    #[error("`{value}` is nowhere defined")]
    Undefined {
        /// The value.
        value: String,
    },
    /// A format string is malformed.
    #[error("in this format string: {problem}")]
    Format {
        /// What is wrong.
        problem: FormatProblem,
    },
    /// Blocks are nested too deep.
    #[error("blocks are nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
}

/// The ways in which a format string is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatProblem {
    /// `{` without its `}`.
    #[error("`{{` without `}}`; a brace as text is `{{{{`")]
    Unclosed,
    /// `}` without its `{`.
    #[error("`}}` without `{{`; a brace as text is `}}}}`")]
    Unopened,
    /// Something that no format can hold.
    #[error("unexpected {found:?} in `{{...}}`")]
    Unexpected {
        /// The first character that does not fit.
        found: char,
    },
    /// A width or precision above 65,535.
    #[error("a width or precision is above {}", u16::MAX)]
    TooWide,
}

impl ParseError {
    /// The error at byte `offset` of `text`.
    pub(super) fn at(text: &str, offset: usize, kind: ParseErrorKind) -> ParseError {
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[start..].chars().count() + 1;
        let source_line = text[start..].lines().next().unwrap_or("").to_owned();
        ParseError { line, column, kind, source_line }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the caret stands under its character however wide they are shown.
        let indent: String =
            self.source_line.chars().take(self.column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
        writeln!(f, "{}:{}: {}", self.line, self.column, self.kind)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.source_line)?;
        write!(f, "{margin} | {indent}^")
    }
}
