//! `println!`, `assert!` and their kind.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, LitStr, Token};

use super::Rewriter;

/// `"format", a, b, name = c`
struct FormatArguments {
    format: LitStr,
    positional: Vec<Expr>,
    named: Vec<(Ident, Expr)>,
}

impl Parse for FormatArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse()?;
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
                let name = input.parse()?;
                input.parse::<Token![=]>()?;
                named.push((name, input.parse()?));
            } else {
                positional.push(input.parse()?);
            }
        }
        Ok(FormatArguments { format, positional, named })
    }
}

/// A piece of a format string.
enum Piece {
    Text(String),
    Argument { name: String, spec: Spec },
}

/// The part of a placeholder behind the colon.
struct Spec {
    style: &'static str,
    fill: char,
    align: &'static str,
    width: u16,
    precision: Option<u16>,
    plus: bool,
    alternate: bool,
    zero: bool,
}

impl Rewriter {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> TokenStream {
        let span = mac.path.span();
        let name = mac.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            "println" => match self.line(mac.tokens.clone(), span) {
                Ok(line) => quote_spanned!(span=> { #line __line.print() }),
                Err(error) => self.error(error.span(), error),
            },
            "assert" | "debug_assert" => self.assertion(mac, span, name == "debug_assert"),
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                self.comparing_assertion(mac, span, &name)
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let text = match name.as_str() {
                    "panic" => "",
                    "unreachable" => "entered unreachable code",
                    "todo" => "not yet implemented",
                    _ => "not implemented",
                };
                match self.pieces(mac.tokens.clone(), span) {
                    Ok(pieces) => {
                        let colon = if text.is_empty() || pieces.is_empty() { "" } else { ": " };
                        quote_spanned!(span=> {
                            let mut __line = __tw::Line::new();
                            __line.text(#text);
                            __line.text(#colon);
                            #pieces
                            __line.fail()
                        })
                    }
                    Err(error) => self.error(error.span(), error),
                }
            }
            "print" | "eprintln" | "eprint" | "dbg" => self
                .error(span, format!("`{name}!` in a kernel: a thread prints whole lines, with `println!`")),
            "vec" => match Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) {
                Ok(items) => {
                    let items: Vec<_> = items.iter().map(|e| self.expr(e)).collect();
                    quote_spanned!(span=> ::std::vec![#(#items),*])
                }
                Err(_) => {
                    // `vec![item; len]`
                    let repeat = |input: ParseStream<'_>| -> syn::Result<(Expr, Expr)> {
                        let item = input.parse()?;
                        input.parse::<Token![;]>()?;
                        Ok((item, input.parse()?))
                    };
                    match repeat.parse2(mac.tokens.clone()) {
                        Ok((item, len)) => {
                            let (item, len) = (self.expr(&item), self.expr(&len));
                            quote_spanned!(span=> ::std::vec![#item; #len])
                        }
                        Err(error) => self.error(error.span(), error),
                    }
                }
            },
            // Others are the host's business: `matches!` and `format!` work on plain values.
            _ => quote!(#mac),
        }
    }

    fn assertion(&mut self, mac: &syn::Macro, span: Span, debug: bool) -> TokenStream {
        let parse = |input: ParseStream<'_>| -> syn::Result<(Expr, TokenStream)> {
            let condition = input.parse()?;
            let rest = if input.is_empty() {
                TokenStream::new()
            } else {
                input.parse::<Token![,]>()?;
                input.parse()?
            };
            Ok((condition, rest))
        };
        let (condition, message) = match parse.parse2(mac.tokens.clone()) {
            Ok(parsed) => parsed,
            Err(error) => return self.error(error.span(), error),
        };
        let line = if message.is_empty() {
            let text = argument_text(mac, 0, &condition);
            quote_spanned!(span=> let mut __line = __tw::Line::new(); __line.text(#text);)
        } else {
            match self.line(message, span) {
                Ok(line) => line,
                Err(error) => return self.error(error.span(), error),
            }
        };
        let condition = self.expr(&condition);
        let check = quote_spanned!(span=> { let __condition = #condition; #line __line.assert(__condition) });
        debug_only(check, debug, span)
    }

    fn comparing_assertion(&mut self, mac: &syn::Macro, span: Span, name: &str) -> TokenStream {
        let parse = |input: ParseStream<'_>| -> syn::Result<(Expr, Expr, TokenStream)> {
            let left = input.parse()?;
            input.parse::<Token![,]>()?;
            let right = input.parse()?;
            let message = match input.parse::<Option<Token![,]>>()? {
                Some(_) => input.parse()?,
                None => TokenStream::new(),
            };
            Ok((left, right, message))
        };
        let (left_expr, right_expr, message) = match parse.parse2(mac.tokens.clone()) {
            Ok(parsed) => parsed,
            Err(error) => {
                return self.error(error.span(), format!("`{name}!` compares two values: {error}"));
            }
        };
        let message = match self.pieces(message, span) {
            Ok(pieces) if pieces.is_empty() => pieces,
            Ok(pieces) => quote!(__line.text(": "); #pieces),
            Err(error) => return self.error(error.span(), error),
        };
        let (left, right) = (self.expr(&left_expr), self.expr(&right_expr));
        let (method, sign) = if name.ends_with("_eq") { ("tw_eq", "==") } else { ("tw_ne", "!=") };
        let method = Ident::new(method, span);
        let text =
            format!("{} {sign} {}", argument_text(mac, 0, &left_expr), argument_text(mac, 1, &right_expr));
        let spec =
            quote!(__tw::FormatSpec { style: __tw::Style::Debug, ..::core::default::Default::default() });
        let check = quote_spanned!(span=> {
            let (__left, __right) = (#left, #right);
            let __condition = (&&&__tw::Sides(&__left, &__right)).#method();
            let mut __line = __tw::Line::new();
            __line.text(#text);
            __line.text(" (left: ");
            (&&__tw::Shown(&__left)).show(&mut __line, #spec);
            __line.text(", right: ");
            (&&__tw::Shown(&__right)).show(&mut __line, #spec);
            __line.text(")");
            #message
            __line.assert(__condition)
        });
        debug_only(check, name.starts_with("debug"), span)
    }

    /// Statements that make `__line` of a format string and its arguments.
    fn line(&mut self, tokens: TokenStream, span: Span) -> syn::Result<TokenStream> {
        let pieces = self.pieces(tokens, span)?;
        Ok(quote_spanned!(span=> let mut __line = __tw::Line::new(); #pieces))
    }

    /// Statements that add a format string with its arguments to `__line`.
    fn pieces(&mut self, tokens: TokenStream, span: Span) -> syn::Result<TokenStream> {
        let mut out = TokenStream::new();
        if tokens.is_empty() {
            return Ok(out);
        }
        let arguments: FormatArguments = syn::parse2(tokens)?;
        let format_span = arguments.format.span();
        let mut used = vec![false; arguments.positional.len()];
        let mut next = 0;
        for piece in parse_format(&arguments.format)? {
            match piece {
                Piece::Text(text) => out.extend(quote_spanned!(span=> __line.text(#text);)),
                Piece::Argument { name, spec } => {
                    let number = if name.is_empty() {
                        next += 1;
                        Some(next - 1)
                    } else {
                        name.parse::<usize>().ok()
                    };
                    let value = match number {
                        Some(n) => match arguments.positional.get(n) {
                            Some(value) => {
                                used[n] = true;
                                self.expr(value)
                            }
                            None => {
                                return Err(syn::Error::new(
                                    format_span,
                                    format!(
                                        "the format has a place for argument {n}, counted from 0, but there are {} arguments",
                                        arguments.positional.len()
                                    ),
                                ));
                            }
                        },
                        None => match arguments.named.iter().find(|(n, _)| *n == name) {
                            Some((_, value)) => self.expr(value),
                            None => {
                                let name: Ident = syn::parse_str(&name).map_err(|_| {
                                    syn::Error::new(
                                        format_span,
                                        format!("`{{{name}}}` does not name an argument"),
                                    )
                                })?;
                                let name = Ident::new(&name.to_string(), format_span);
                                self.expr(&syn::parse_quote!(#name))
                            }
                        },
                    };
                    let spec = spec.tokens();
                    out.extend(quote_spanned!(span=> (&&__tw::Shown(&(#value))).show(&mut __line, #spec);));
                }
            }
        }
        if let Some(n) = used.iter().position(|u| !u) {
            return Err(syn::Error::new(
                arguments.positional[n].span(),
                "this argument has no place in the format",
            ));
        }
        Ok(out)
    }
}

/// Argument number `n` of a macro as the user wrote it, where the compiler still has it.
fn argument_text(mac: &syn::Macro, n: usize, argument: &Expr) -> String {
    // The span of an expression is that of its first token, in stable Rust; that of the delimiters is whole.
    let all = mac.delimiter.span().join().source_text();
    let inner = all.as_deref().and_then(|text| text.get(1..text.len() - 1));
    let text = inner.and_then(|inner| split_at_commas(inner).into_iter().nth(n));
    text.map_or_else(|| quote!(#argument).to_string(), |text| text.trim().to_owned())
}

/// The parts of a list between the commas that are not inside of something.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted, mut escaped) = (Vec::new(), 0, 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn debug_only(check: TokenStream, debug: bool, span: Span) -> TokenStream {
    if debug { quote_spanned!(span=> if ::core::cfg!(debug_assertions) { #check }) } else { check }
}

fn parse_format(literal: &LitStr) -> syn::Result<Vec<Piece>> {
    let text = literal.value();
    let fail = |message: String| syn::Error::new(literal.span(), message);
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' if chars.peek() == Some(&'{') => {
                chars.next();
                plain.push('{');
            }
            '}' if chars.peek() == Some(&'}') => {
                chars.next();
                plain.push('}');
            }
            '}' => return Err(fail("a `}` alone in a format: write `}}` for the sign itself".into())),
            '{' => {
                let mut inner = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some(c) => inner.push(c),
                        None => return Err(fail("a `{` without its `}` in a format".into())),
                    }
                }
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                let (name, spec) = inner.split_once(':').unwrap_or((&inner, ""));
                let spec = parse_spec(spec).ok_or_else(|| {
                    fail(format!(
                        "`{{{inner}}}` in a kernel: a place has the form `{{name:fill-align-sign-#-0-width.precision-style}}` with \
                         numbers for width and precision, and one of the styles `?`, `x`, `X`, `b`, `o`, `e` or none"
                    ))
                })?;
                pieces.push(Piece::Argument { name: name.trim().to_owned(), spec });
            }
            c => plain.push(c),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

/// `[[fill]align][sign]['#']['0'][width]['.' precision][style]`
fn parse_spec(text: &str) -> Option<Spec> {
    let align_of = |c: char| match c {
        '<' => Some("Left"),
        '^' => Some("Center"),
        '>' => Some("Right"),
        _ => None,
    };
    let mut spec = Spec {
        style: "Display",
        fill: ' ',
        align: "Default",
        width: 0,
        precision: None,
        plus: false,
        alternate: false,
        zero: false,
    };
    let mut rest: Vec<char> = text.trim_end().chars().collect();
    rest.reverse();
    let second = rest.len().checked_sub(2).map(|i| rest[i]);
    if let Some(align) = second.and_then(align_of) {
        spec.fill = rest.pop()?;
        spec.align = align;
        rest.pop();
    } else if let Some(align) = rest.last().copied().and_then(align_of) {
        spec.align = align;
        rest.pop();
    }
    let take = |c: char, rest: &mut Vec<char>| rest.pop_if(|r| *r == c).is_some();
    spec.plus = take('+', &mut rest);
    spec.alternate = take('#', &mut rest);
    spec.zero = take('0', &mut rest);
    let number = |rest: &mut Vec<char>| {
        let mut digits = String::new();
        while let Some(c) = rest.pop_if(|c| c.is_ascii_digit()) {
            digits.push(c);
        }
        digits
    };
    let width = number(&mut rest);
    if !width.is_empty() {
        spec.width = width.parse().ok()?;
    }
    if take('.', &mut rest) {
        spec.precision = Some(number(&mut rest).parse().ok()?);
    }
    rest.reverse();
    let style: String = rest.into_iter().collect();
    spec.style = match style.as_str() {
        "" => "Display",
        "?" => "Debug",
        "x" => "LowerHex",
        "X" => "UpperHex",
        "b" => "Binary",
        "o" => "Octal",
        "e" => "LowerExp",
        _ => return None,
    };
    Some(spec)
}

impl Spec {
    fn tokens(&self) -> TokenStream {
        let (style, align) =
            (Ident::new(self.style, Span::call_site()), Ident::new(self.align, Span::call_site()));
        let Spec { fill, width, plus, alternate, zero, .. } = self;
        let precision = match self.precision {
            Some(p) => quote!(::core::option::Option::Some(#p)),
            None => quote!(::core::option::Option::None),
        };
        quote!(__tw::FormatSpec {
            style: __tw::Style::#style,
            fill: #fill,
            align: __tw::Align::#align,
            width: #width,
            precision: #precision,
            plus: #plus,
            alternate: #alternate,
            zero: #zero,
        })
    }
}
