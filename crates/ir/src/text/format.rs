//! Format strings: [`Format`] as Rust writes it, both ways.

use super::error::FormatProblem;
use crate::op::{Align, Format, FormatSpec, Piece, Style};
use std::fmt;

impl fmt::Display for Format {
    /// The format string as Rust writes it, without quotes and with no escapes but doubled braces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    for c in text.chars() {
                        write_char(f, c)?;
                    }
                }
                Piece::Arg(spec) => write!(f, "{{{spec}}}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for FormatSpec {
    /// What stands between the braces: nothing for `{}`, `:>8.3` for `{:>8.3}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == FormatSpec::default() {
            return Ok(());
        }
        f.write_str(":")?;
        if self.fill != ' ' {
            write_char(f, self.fill)?;
        }
        match self.align {
            Align::Default if self.fill != ' ' => f.write_str("~")?,
            Align::Default => {}
            Align::Left => f.write_str("<")?,
            Align::Center => f.write_str("^")?,
            Align::Right => f.write_str(">")?,
        }
        if self.plus {
            f.write_str("+")?;
        }
        if self.alternate {
            f.write_str("#")?;
        }
        if self.zero {
            f.write_str("0")?;
        }
        if self.width != 0 {
            write!(f, "{}", self.width)?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(match self.style {
            Style::Display => "",
            Style::Debug => "?",
            Style::LowerHex => "x",
            Style::UpperHex => "X",
            Style::Binary => "b",
            Style::Octal => "o",
            Style::LowerExp => "e",
        })
    }
}

fn write_char(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '{' => f.write_str("{{"),
        '}' => f.write_str("}}"),
        c => write!(f, "{c}"),
    }
}

/// Parses a format string whose escapes are resolved.
pub(super) fn parse_format(text: &str) -> Result<Format, FormatProblem> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push(c);
            rest = &rest[2..];
        } else if c == '}' {
            return Err(FormatProblem::Unopened);
        } else if c == '{' {
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            let (spec, after) = parse_spec(&rest[1..])?;
            pieces.push(Piece::Arg(spec));
            rest = after;
        } else {
            literal.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(Format { pieces })
}

/// Parses what follows `{`; gives what follows `}`.
fn parse_spec(text: &str) -> Result<(FormatSpec, &str), FormatProblem> {
    let mut spec = FormatSpec::default();
    if let Some(rest) = text.strip_prefix('}') {
        return Ok((spec, rest));
    }
    let mut rest = text.strip_prefix(':').ok_or_else(|| unexpected(text))?;

    let mut chars = rest.chars();
    let first = chars.next().ok_or(FormatProblem::Unclosed)?;
    // A brace as fill is doubled.
    let doubled = matches!(first, '{' | '}') && chars.clone().next() == Some(first);
    if doubled {
        chars.next();
    }
    match chars.next().and_then(align) {
        Some(align) if doubled || !matches!(first, '{' | '}') => {
            (spec.fill, spec.align) = (first, align);
            rest = chars.as_str();
        }
        _ => {
            if let Some(align) = align(first).filter(|&align| align != Align::Default) {
                spec.align = align;
                rest = &rest[1..];
            }
        }
    }

    spec.plus = take(&mut rest, '+');
    spec.alternate = take(&mut rest, '#');
    spec.zero = take(&mut rest, '0');
    spec.width = take_number(&mut rest)?.unwrap_or(0);
    if take(&mut rest, '.') {
        spec.precision = Some(take_number(&mut rest)?.ok_or_else(|| unexpected(rest))?);
    }
    for (c, style) in [
        ('?', Style::Debug),
        ('x', Style::LowerHex),
        ('X', Style::UpperHex),
        ('b', Style::Binary),
        ('o', Style::Octal),
        ('e', Style::LowerExp),
    ] {
        if take(&mut rest, c) {
            spec.style = style;
            break;
        }
    }
    if take(&mut rest, '}') { Ok((spec, rest)) } else { Err(unexpected(rest)) }
}

fn align(c: char) -> Option<Align> {
    match c {
        '<' => Some(Align::Left),
        '^' => Some(Align::Center),
        '>' => Some(Align::Right),
        '~' => Some(Align::Default),
        _ => None,
    }
}

fn take(rest: &mut &str, c: char) -> bool {
    match rest.strip_prefix(c) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

/// A number of decimal digits, if there is one.
fn take_number(rest: &mut &str) -> Result<Option<u16>, FormatProblem> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    if digits.is_empty() {
        return Ok(None);
    }
    digits.parse().map(Some).map_err(|_| FormatProblem::TooWide)
}

fn unexpected(rest: &str) -> FormatProblem {
    match rest.chars().next() {
        Some(found) => FormatProblem::Unexpected { found },
        None => FormatProblem::Unclosed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spec_parses_back() {
        let styles = [
            Style::Display,
            Style::Debug,
            Style::LowerHex,
            Style::UpperHex,
            Style::Binary,
            Style::Octal,
            Style::LowerExp,
        ];
        for style in styles {
            for fill in [' ', '*', '0', '{', '}', '<', '~', ':', 'é', '\n', '"'] {
                for align in [Align::Default, Align::Left, Align::Center, Align::Right] {
                    for (width, precision) in
                        [(0, None), (0, Some(0)), (7, Some(3)), (10, None), (65535, Some(65535))]
                    {
                        for flags in 0..8 {
                            let (plus, alternate, zero) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
                            let spec =
                                FormatSpec { style, fill, align, width, precision, plus, alternate, zero };
                            let format = Format {
                                pieces: vec![
                                    Piece::Text("}{ <".into()),
                                    Piece::Arg(spec),
                                    Piece::Text("}<".into()),
                                    Piece::Arg(spec),
                                ],
                            };
                            assert_eq!(parse_format(&format.to_string()).as_ref(), Ok(&format), "{format}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn malformed_formats_say_what_is_wrong() {
        assert_eq!(parse_format("a {"), Err(FormatProblem::Unclosed));
        assert_eq!(parse_format("a {:"), Err(FormatProblem::Unclosed));
        assert_eq!(parse_format("a {:8"), Err(FormatProblem::Unclosed));
        assert_eq!(parse_format("a }"), Err(FormatProblem::Unopened));
        assert_eq!(parse_format("a {x}"), Err(FormatProblem::Unexpected { found: 'x' }));
        assert_eq!(parse_format("a {:.}"), Err(FormatProblem::Unexpected { found: '}' }));
        assert_eq!(parse_format("a {:70000}"), Err(FormatProblem::TooWide));
    }
}
