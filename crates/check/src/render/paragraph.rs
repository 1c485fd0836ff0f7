//! Lines of words, as wide as the terminal.

use unicode_width::UnicodeWidthStr;

/// The text in lines of at most `width` columns, cut at spaces; a word that is wider has a line of its own. What is
/// quoted as code stays in one piece if it fits.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let last = lines.last().map_or(0, |line| line.width());
        if last > 0 && last + 1 + word.width() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Split at spaces, but for those in short pieces of code and in `(1, 2, 3)`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let (mut code, mut numbers) = (false, false);
    let mut since = 0;
    text.split(move |c: char| {
        since += 1;
        match c {
            '`' => (code, since) = (!code, 0),
            '(' => numbers = true,
            ' ' | ',' | '0'..='9' => {}
            _ => numbers = false,
        }
        // A long piece breaks, and so does what follows a stray backtick.
        c == ' ' && !(numbers || code && since < 30)
    })
    .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible word", 7), ["incomprehensible", "word"]);
        assert_eq!(wrap("", 7), [""]);
    }

    #[test]
    fn code_stays_in_one_piece() {
        assert_eq!(wrap("guard `if i < n`, then", 14), ["guard", "`if i < n`,", "then"]);
    }

    #[test]
    fn a_thread_stays_in_one_piece() {
        assert_eq!(wrap("thread (1, 2, 3) of (x y)", 12), ["thread", "(1, 2, 3) of", "(x y)"]);
    }
}
