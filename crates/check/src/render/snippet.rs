//! Source lines with what happens at them underlined: `miette` draws them.
//!
//! What `miette` gets is a copy of the file in which tabs are spaces and lines that are too wide for the terminal are cut
//! to the part that is underlined, so that it draws what fits.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Style;
use super::paragraph::wrap;
use super::source::Sources;
use super::underline;
use super::underline::Extent;
use crate::{Location, Severity};

/// Spaces of a tab.
const TAB: usize = 4;

/// Columns left of a mark that remain when a line is cut.
const CONTEXT: usize = 8;

/// Columns that a label gets at least, even if the line becomes wider than the terminal.
const LABEL: usize = 30;

/// What happens at a position.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) location: Location,
    pub(super) extent: Extent,
    pub(super) text: String,
}

/// A headline with a snippet for each file. Gives back the labels whose source is not there.
pub(super) fn draw(
    out: &mut String,
    severity: Severity,
    headline: String,
    labels: Vec<Label>,
    sources: &mut Sources,
    style: &Style,
) -> Vec<Label> {
    let mut files: Vec<(String, Vec<Label>)> = Vec::new();
    for label in labels {
        match files.iter_mut().find(|(file, _)| *file == label.location.file) {
            Some((_, labels)) => labels.push(label),
            None => files.push((label.location.file.clone(), vec![label])),
        }
    }
    let mut missing = Vec::new();
    let mut excerpts = Vec::new();
    for (file, labels) in files {
        match sources.text(&file) {
            Some(text) => {
                let (excerpt, unplaced) = Excerpt::new(&text, labels, style.width);
                excerpts.extend(excerpt);
                missing.extend(unplaced);
            }
            None => missing.extend(labels),
        }
    }

    let mut excerpts = excerpts.into_iter();
    let first = Drawn { severity, message: headline, excerpt: excerpts.next() };
    render(out, &first, style, None);
    for excerpt in excerpts {
        let message = "and in another file:".to_owned();
        render(out, &Drawn { severity, message, excerpt: Some(excerpt) }, style, Some("..."));
    }
    missing
}

fn render(out: &mut String, drawn: &Drawn, style: &Style, icon: Option<&str>) {
    let mut theme = if style.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    theme.characters.error = icon.unwrap_or("error:").to_owned();
    theme.characters.warning = icon.unwrap_or("warning:").to_owned();
    theme.characters.advice = icon.unwrap_or("advice:").to_owned();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(style.width)
        .tab_width(TAB)
        .without_syntax_highlighting()
        .without_primary_span_start();
    // A string takes everything, and the spans lie inside the text.
    let _ = handler.render_report(out, drawn);
}

/// What `miette` draws.
#[derive(Debug)]
struct Drawn {
    severity: Severity,
    message: String,
    excerpt: Option<Excerpt>,
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawn {}

impl Diagnostic for Drawn {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Advice => miette::Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.as_ref().map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marks = &self.excerpt.as_ref()?.marks;
        Some(Box::new(
            marks
                .iter()
                .map(|mark| LabeledSpan::new(Some(mark.label.clone()), mark.bytes.start, mark.bytes.len())),
        ))
    }
}

/// A file as it is drawn.
#[derive(Debug)]
struct Excerpt {
    text: String,
    marks: Vec<Mark>,
}

/// An underlined part of it.
#[derive(Debug)]
struct Mark {
    bytes: Range<usize>,
    label: String,
    /// File, line and column in the user's file.
    location: String,
}

/// A label at the bytes of a line that it underlines.
struct Placed {
    line: usize,
    bytes: Range<usize>,
    label: Label,
}

impl Excerpt {
    /// The labels whose line is not in the text are given back.
    fn new(text: &str, labels: Vec<Label>, width: usize) -> (Option<Excerpt>, Vec<Label>) {
        let lines: Vec<_> = text.lines().collect();
        let (mut placed, mut missing) = (Vec::new(), Vec::new());
        for label in labels {
            let line = (label.location.line as usize).wrapping_sub(1);
            let bytes =
                lines.get(line).and_then(|text| underline::extent(text, label.location.column, label.extent));
            match bytes {
                Some(bytes) => placed.push(Placed { line, bytes, label }),
                None => missing.push(label),
            }
        }
        let placed = apart(placed);
        let Some(last) = placed.iter().map(|p| p.line).max() else { return (None, missing) };

        // As `miette` numbers the lines: one more than the last label's is shown.
        let gutter = (last + 2).min(lines.len()).to_string().len() + 4;
        let room = width.saturating_sub(gutter).max(2 * LABEL);
        let mut excerpt = Excerpt { text: String::with_capacity(text.len()), marks: Vec::new() };
        for (number, line) in lines.iter().enumerate().take(last + 2) {
            let here: Vec<_> = placed.iter().filter(|p| p.line == number).collect();
            let ranges: Vec<_> = here.iter().map(|p| p.bytes.clone()).collect();
            let (line, ranges) = fit(line, &ranges, room);
            for (placed, bytes) in here.into_iter().zip(ranges) {
                let Some(bytes) = bytes else {
                    // Its part of the line is cut off.
                    missing.push(placed.label.clone());
                    continue;
                };
                let column = (line[..bytes.start].width() + line[..bytes.end].width()) / 2;
                let label: Vec<_> = placed
                    .label
                    .text
                    .lines()
                    .flat_map(|text| wrap(text, room.saturating_sub(column + 4).max(LABEL)))
                    .collect();
                let start = excerpt.text.len();
                excerpt.marks.push(Mark {
                    bytes: start + bytes.start..start + bytes.end,
                    label: label.join("\n"),
                    location: placed.label.location.to_string(),
                });
            }
            excerpt.text.push_str(&line);
            excerpt.text.push('\n');
        }
        (Some(excerpt), missing)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let contents = self.text.read_span(span, before, after)?;
        // `miette` asks for the first label of a snippet to head it.
        let mark = self.marks.iter().find(|mark| mark.bytes.start == span.offset());
        Ok(Box::new(MietteSpanContents::new_named(
            mark.map(|mark| mark.location.clone()).unwrap_or_default(),
            contents.data(),
            *contents.span(),
            contents.line(),
            contents.column(),
            contents.line_count(),
        )))
    }
}

/// Labels of the same expression become one of several lines; of expressions inside each other, the outer one is
/// underlined up to the inner one.
fn apart(mut placed: Vec<Placed>) -> Vec<Placed> {
    placed.sort_by_key(|p| (p.line, p.bytes.start));
    let mut result: Vec<Placed> = Vec::with_capacity(placed.len());
    for next in placed {
        if let Some(last) = result.last_mut()
            && last.line == next.line
            && last.bytes.end > next.bytes.start
        {
            if last.bytes.start == next.bytes.start {
                last.bytes.end = last.bytes.end.max(next.bytes.end);
                last.label.text = format!("{}\n{}", last.label.text, next.label.text);
                continue;
            }
            last.bytes.end = next.bytes.start;
        }
        result.push(next);
    }
    result
}

/// A line without tabs and control characters, cut to `room` columns around the first of its marks, and the marks in it;
/// `None` is one that is cut off.
fn fit(line: &str, marks: &[Range<usize>], room: usize) -> (String, Vec<Option<Range<usize>>>) {
    let clean = |text: &str, column: usize| -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\t' => {
                    let column = column + out.width();
                    out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
                }
                c if c.is_control() => out.push('\u{fffd}'),
                c => out.push(c),
            }
        }
        out
    };
    // Where a byte of the line goes is as long as what is before it becomes.
    let moved = |byte: usize| clean(&line[..byte], 0).len();
    let marks: Vec<_> = marks.iter().map(|mark| moved(mark.start)..moved(mark.end)).collect();
    let line = clean(line, 0);
    if line.width() <= room {
        return (line, marks.into_iter().map(Some).collect());
    }

    let first = marks.first().cloned().unwrap_or(0..0);
    let from = match line[..first.end].width() < room {
        true => 0,
        false => line[..first.start].width().saturating_sub(CONTEXT),
    };
    let (mut start, mut end, mut column) = (line.len(), line.len(), 0);
    for (byte, c) in line.char_indices() {
        if column >= from && start > byte {
            start = start.min(byte);
        }
        column += c.width().unwrap_or(0);
        if column > from + room - 2 {
            end = byte;
            break;
        }
    }
    let ellipsis = |needed: bool| if needed { Cow::Borrowed("…") } else { Cow::Borrowed("") };
    let (left, right) = (ellipsis(start > 0), ellipsis(end < line.len()));
    let shift = |byte: usize| byte.clamp(start, end) - start + left.len();
    let cut = format!("{left}{}{right}", &line[start..end]);
    let marks =
        marks.iter().map(|mark| (mark.start < end).then(|| shift(mark.start)..shift(mark.end))).collect();
    (cut, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line with one mark that is not cut off.
    fn one(line: &str, mark: Range<usize>, room: usize) -> (String, Range<usize>) {
        let (line, marks) = fit(line, std::slice::from_ref(&mark), room);
        (line, marks[0].clone().expect("not cut off"))
    }

    #[test]
    fn tabs_are_spaces_and_marks_move_along() {
        let (line, mark) = one("\ta\tb[i]", 3..7, 80);
        assert_eq!(line, "    a   b[i]");
        assert_eq!(&line[mark], "b[i]");
    }

    #[test]
    fn a_wide_line_is_cut_around_its_mark() {
        let text = format!("{} shared[i] {}", "x".repeat(100), "y".repeat(100));
        let (line, mark) = one(&text, 101..110, 60);
        assert_eq!(&line[mark], "shared[i]");
        assert!(line.starts_with("…xxxxxxx shared[i] yyy") && line.ends_with('…'), "{line}");
        assert!(line.width() <= 60, "{line}");
    }

    #[test]
    fn a_mark_in_front_keeps_the_front() {
        let text = format!("    a[i] {}", "é".repeat(100));
        let (line, mark) = one(&text, 4..8, 60);
        assert_eq!(&line[mark], "a[i]");
        assert!(line.starts_with("    a[i]") && line.width() <= 60, "{line}");
    }

    #[test]
    fn a_mark_beyond_the_cut_is_left_out() {
        let text = format!("a[i] {} b[i]", "-".repeat(100));
        let (_, marks) = fit(&text, &[0..4, 106..110], 60);
        assert_eq!(marks, [Some(0..4), None]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(fit("a\u{1b}[31m", &[], 80).0, "a\u{fffd}[31m");
    }
}
