//! `println!` and `assert!` in kernels.

use std::fmt::{self, Write as _};
use std::panic::Location;
use std::sync::Arc;

use tilewise_ir::{Format, FormatSpec, Op, Piece, Style};

use crate::control::{Condition, Decision, Recorded};
use crate::element::Element;
use crate::recorder::{self, Raw};
use crate::staged::Stage;
use crate::val::Val;

/// A line to print or the message of an assertion, while it is put together.
#[derive(Debug, Default)]
pub struct Line {
    pieces: Vec<Piece>,
    args: Vec<Raw>,
}

impl Line {
    /// An empty line.
    pub fn new() -> Line {
        Line::default()
    }

    /// Adds text as it is.
    pub fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn host(&mut self, spec: FormatSpec, shown: String) {
        let width = spec.width as usize;
        let missing = width.saturating_sub(shown.chars().count());
        let left = match spec.align {
            tilewise_ir::Align::Right => missing,
            tilewise_ir::Align::Center => missing / 2,
            // Numbers stand at the right by default, text at the left.
            tilewise_ir::Align::Default if shown.parse::<f64>().is_ok() => missing,
            _ => 0,
        };
        let fill = |n: usize| std::iter::repeat_n(spec.fill, n).collect::<String>();
        self.text(&format!("{}{shown}{}", fill(left), fill(missing - left)));
    }

    /// Records the line as output of the kernel.
    #[track_caller]
    pub fn print(self) {
        let op = Op::Print(Arc::new(Format { pieces: self.pieces }));
        recorder::emit_void(Location::caller(), op, self.args);
    }

    /// `panic!`: a thread that gets here ends, with the line as its message. Where every thread gets, the description
    /// ends instead.
    #[track_caller]
    pub fn fail(self) {
        let location = Location::caller();
        let name =
            recorder::with(location, |r| (r.conditional == 0).then(|| r.builder.kernel().name.clone()));
        if let Some(name) = name {
            let message = self.as_described(location);
            recorder::fail(location, format!("kernel `{name}` panicked while it was described: {message}"));
        }
        self.assert(false.stage());
        crate::control::exit_thread();
    }

    /// The line, as far as it is known while describing.
    fn as_described(&self, location: &'static Location<'static>) -> String {
        let mut message = String::new();
        let mut args = self.args.iter();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => message.push_str(text),
                Piece::Arg(_) => {
                    let constant = args.next().and_then(|&arg| recorder::known(location, arg));
                    let shown = constant.and_then(|c| {
                        let int = c.as_int().map(|n| n.to_string());
                        int.or_else(|| c.as_float().map(|x| x.to_string()))
                    });
                    message.push_str(shown.as_deref().unwrap_or("(known on the device)"));
                }
            }
        }
        message
    }

    /// Records an assertion with the line as its message. A plain condition is checked while describing.
    #[track_caller]
    pub fn assert<C: Condition>(self, condition: C) {
        let location = Location::caller();
        match condition.decide() {
            Decision::Plain(true) => {}
            Decision::Plain(false) => {
                let message = self.as_described(location);
                recorder::fail(
                    location,
                    format!("assertion failed while the kernel was described: {message}"),
                )
            }
            Decision::Recorded(Recorded(raw)) => {
                // Of several lanes each must hold.
                let raw = Val::<bool>::from_raw(raw).reduce_and().raw;
                let op = Op::Assert(Arc::new(Format { pieces: self.pieces }));
                recorder::emit_void(location, op, std::iter::once(raw).chain(self.args));
            }
        }
    }
}

/// An argument of a format string.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, A: ?Sized>(pub &'a A);

/// A value of the kernel as an argument: shown on the device.
pub trait ShowStaged {
    /// Adds the argument to the line.
    fn show(&self, line: &mut Line, spec: FormatSpec);
}

impl<T: Element> ShowStaged for &Shown<'_, Val<T>> {
    fn show(&self, line: &mut Line, spec: FormatSpec) {
        line.pieces.push(Piece::Arg(spec));
        line.args.push(self.0.raw);
    }
}

impl<T: Element> ShowStaged for &Shown<'_, &Val<T>> {
    fn show(&self, line: &mut Line, spec: FormatSpec) {
        (&Shown(*self.0)).show(line, spec);
    }
}

/// A plain number or `bool` as an argument: a constant of the kernel, so that it is shown like other numbers.
pub trait ShowConstant {
    /// Adds the argument to the line.
    #[track_caller]
    fn show(&self, line: &mut Line, spec: FormatSpec);
}

impl<T: Element> ShowConstant for &&Shown<'_, T> {
    #[track_caller]
    fn show(&self, line: &mut Line, spec: FormatSpec) {
        line.pieces.push(Piece::Arg(spec));
        line.args.push((*self.0).stage().raw);
    }
}

/// Any other plain value as an argument: shown while describing.
pub trait ShowHost {
    /// Adds the argument's text to the line.
    fn show(&self, line: &mut Line, spec: FormatSpec);
}

/// What can be shown while describing: plain numbers, text, and whatever shows itself with both `{}` and `{:?}`.
impl<A: fmt::Display + fmt::Debug + ?Sized> ShowHost for Shown<'_, A> {
    fn show(&self, line: &mut Line, spec: FormatSpec) {
        let mut shown = String::new();
        let result = match (spec.style, spec.precision, spec.plus) {
            (Style::Debug, Some(p), _) => write!(shown, "{:.*?}", p as usize, self.0),
            (Style::Debug, None, _) => write!(shown, "{:?}", self.0),
            (_, Some(p), false) => write!(shown, "{:.*}", p as usize, self.0),
            (_, Some(p), true) => write!(shown, "{:+.*}", p as usize, self.0),
            (_, None, true) => write!(shown, "{:+}", self.0),
            (_, None, false) => write!(shown, "{}", self.0),
        };
        if result.is_err() {
            shown.push_str("(cannot be shown)");
        }
        line.host(spec, shown);
    }
}
