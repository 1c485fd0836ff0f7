//! Lines and messages: values in the places of a format, as Rust's `format!` shows them.

use std::fmt::Write;

use crate::op::{Align, Format, FormatSpec, Piece, Style};
use crate::types::{Const, Scalar};

/// The text of a format with its arguments, each given by its components. A vector shows as a list.
///
/// ```
/// use tilewise_ir::{Const, Format, FormatSpec, Piece, print};
///
/// let pieces = vec![Piece::Text("i = ".to_owned()), Piece::Arg(FormatSpec::default())];
/// assert_eq!(print::format(&Format { pieces }, &[vec![Const::index(7)]]), "i = 7");
/// ```
pub fn format(format: &Format, args: &[Vec<Const>]) -> String {
    let mut text = String::new();
    let mut args = args.iter();
    for piece in &format.pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Arg(spec) => match args.next().map(Vec::as_slice) {
                Some([one]) => value(&mut text, *one, spec),
                Some(components) => {
                    text.push('[');
                    for (i, &component) in components.iter().enumerate() {
                        if i > 0 {
                            text.push_str(", ");
                        }
                        value(&mut text, component, spec);
                    }
                    text.push(']');
                }
                None => {}
            },
        }
    }
    text
}

/// One value.
fn value(text: &mut String, value: Const, spec: &FormatSpec) {
    match value.scalar {
        Scalar::Bool => truth(text, value.bits != 0, spec),
        Scalar::F64 => float(text, f64::from_bits(value.bits), spec),
        // Shortest digits depend on the type, and the halves show as the `f32` of the same value.
        Scalar::F16 | Scalar::BF16 | Scalar::F32 => {
            float(text, value.as_float().unwrap_or_default() as f32, spec);
        }
        _ => integer(text, value, spec),
    }
}

fn truth(text: &mut String, value: bool, spec: &FormatSpec) {
    let word = value.to_string();
    let shown: String = match spec.precision {
        Some(most) => word.chars().take(most as usize).collect(),
        None => word,
    };
    pad(text, "", &shown, spec, Align::Left);
}

fn integer(text: &mut String, value: Const, spec: &FormatSpec) {
    let number = value.as_int().unwrap_or_default();
    let (prefix, digits) = match spec.style {
        Style::LowerHex => ("0x", format!("{:x}", value.bits)),
        Style::UpperHex => ("0x", format!("{:X}", value.bits)),
        Style::Binary => ("0b", format!("{:b}", value.bits)),
        Style::Octal => ("0o", format!("{:o}", value.bits)),
        Style::LowerExp => match spec.precision {
            Some(precision) => ("", format!("{:.*e}", precision as usize, number.unsigned_abs())),
            None => ("", format!("{:e}", number.unsigned_abs())),
        },
        Style::Display | Style::Debug => ("", number.unsigned_abs().to_string()),
    };
    // In another radix a number shows as the bits of its type, which have no sign.
    let negative = number < 0 && matches!(spec.style, Style::Display | Style::Debug | Style::LowerExp);
    let sign = if negative { "-" } else { plus(spec) };
    let prefix = if spec.alternate { prefix } else { "" };
    signed(text, &format!("{sign}{prefix}"), &digits, spec);
}

/// The two types that floats are shown as.
trait Float: std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp {
    fn is_negative(&self) -> bool;
}

impl Float for f32 {
    fn is_negative(&self) -> bool {
        self.is_sign_negative() && !self.is_nan()
    }
}

impl Float for f64 {
    fn is_negative(&self) -> bool {
        self.is_sign_negative() && !self.is_nan()
    }
}

fn float(text: &mut String, value: impl Float, spec: &FormatSpec) {
    let shown = match (spec.style, spec.precision) {
        (Style::LowerExp, Some(precision)) => format!("{value:.*e}", precision as usize),
        (Style::LowerExp, None) => format!("{value:e}"),
        (_, Some(precision)) => format!("{value:.*}", precision as usize),
        (Style::Debug, None) => format!("{value:?}"),
        (_, None) => format!("{value}"),
    };
    let digits = shown.strip_prefix('-').unwrap_or(&shown);
    let is_nan = digits == "NaN";
    let sign = match (value.is_negative(), is_nan) {
        (true, _) => "-",
        (false, true) => "",
        (false, false) => plus(spec),
    };
    signed(text, sign, digits, spec);
}

fn plus(spec: &FormatSpec) -> &'static str {
    if spec.plus { "+" } else { "" }
}

/// A number: zeros go between sign and digits.
fn signed(text: &mut String, sign: &str, digits: &str, spec: &FormatSpec) {
    if spec.zero {
        let zeros = (spec.width as usize).saturating_sub(sign.len() + digits.len());
        let _ = write!(text, "{sign}{:0<zeros$}{digits}", "");
    } else {
        pad(text, sign, digits, spec, Align::Right);
    }
}

/// Fills up to the width.
fn pad(text: &mut String, sign: &str, rest: &str, spec: &FormatSpec, default: Align) {
    let missing = (spec.width as usize).saturating_sub(sign.len() + rest.chars().count());
    let before = match if spec.align == Align::Default { default } else { spec.align } {
        Align::Left | Align::Default => 0,
        Align::Center => missing / 2,
        Align::Right => missing,
    };
    text.extend(std::iter::repeat_n(spec.fill, before));
    text.push_str(sign);
    text.push_str(rest);
    text.extend(std::iter::repeat_n(spec.fill, missing - before));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(spec: FormatSpec, value: Const) -> String {
        format(&Format { pieces: vec![Piece::Arg(spec)] }, &[vec![value]])
    }

    /// All combinations of flags that do not name a fill, with the format string that has them.
    macro_rules! check {
        ($value:expr, $constant:expr, $($style:literal: $name:ident),*) => { $(
            check!(@flags $value, $constant, $name, $style, "", "+", "#", "0", "+#", "+0", "#0", "+#0");
        )* };
        (@flags $value:expr, $constant:expr, $name:ident, $style:literal, $($flags:literal),*) => { $(
            let spec = FormatSpec {
                style: Style::$name,
                plus: $flags.contains('+'),
                alternate: $flags.contains('#'),
                zero: $flags.contains('0'),
                ..FormatSpec::default()
            };
            assert_eq!(
                show(spec, $constant), format!(concat!("{:", $flags, $style, "}"), $value),
                "{:?}", spec
            );
            assert_eq!(
                show(FormatSpec { width: 12, ..spec }, $constant),
                format!(concat!("{:", $flags, "12", $style, "}"), $value), "{:?}", spec
            );
            assert_eq!(
                show(FormatSpec { width: 12, precision: Some(2), ..spec }, $constant),
                format!(concat!("{:", $flags, "12.2", $style, "}"), $value), "{:?}", spec
            );
            assert_eq!(
                show(FormatSpec { width: 11, fill: '*', align: Align::Center, ..spec }, $constant),
                format!(concat!("{:*^", $flags, "11", $style, "}"), $value), "{:?}", spec
            );
            assert_eq!(
                show(FormatSpec { width: 9, fill: 'é', align: Align::Left, ..spec }, $constant),
                format!(concat!("{:é<", $flags, "9", $style, "}"), $value), "{:?}", spec
            );
        )* };
    }

    #[test]
    fn integers_show_as_in_rust() {
        for value in [0, 1, -1, 42, i32::MIN, i32::MAX] {
            let constant = Const::int(Scalar::I32, value as i128);
            check!(
                value, constant, "": Display, "?": Debug, "x": LowerHex, "X": UpperHex, "b": Binary, "o": Octal,
                "e": LowerExp
            );
        }
        for value in [0, 200u8] {
            let constant = Const::int(Scalar::U8, value as i128);
            check!(value, constant, "": Display, "x": LowerHex, "e": LowerExp);
        }
        check!(-3i8, Const::int(Scalar::I8, -3), "": Display, "x": LowerHex, "b": Binary);
        check!(u64::MAX, Const::int(Scalar::U64, u64::MAX as i128), "": Display, "X": UpperHex);
    }

    #[test]
    fn floats_show_as_in_rust() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1e16,
            1e-7,
            123456.79,
            f32::MAX,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -f32::NAN,
        ];
        for value in values {
            check!(value, Const::f32(value), "": Display, "?": Debug, "e": LowerExp);
            let wide = value as f64;
            let constant = Const::from_bits(Scalar::F64, wide.to_bits());
            check!(wide, constant, "": Display, "?": Debug, "e": LowerExp);
        }
        let half = Const::from_bits(Scalar::F16, half::f16::from_f32(0.1).to_bits() as u64);
        assert_eq!(show(FormatSpec::default(), half), half::f16::from_f32(0.1).to_f32().to_string());
    }

    #[test]
    fn truth_values_show_as_in_rust() {
        for value in [true, false] {
            check!(value, Const::bool(value), "": Display, "?": Debug);
        }
    }

    #[test]
    fn text_and_vectors() {
        let pieces = vec![
            Piece::Text("v = ".to_owned()),
            Piece::Arg(FormatSpec { precision: Some(1), ..FormatSpec::default() }),
            Piece::Text(", i = ".to_owned()),
            Piece::Arg(FormatSpec::default()),
        ];
        let vector = [1.0, 2.5, -3.0].map(Const::f32).to_vec();
        assert_eq!(
            format(&Format { pieces }, &[vector, vec![Const::index(7)]]),
            "v = [1.0, 2.5, -3.0], i = 7"
        );
    }
}
