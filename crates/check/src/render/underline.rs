//! How much of a line to underline, given where the compiler says that an operation begins.
//!
//! A position is a line and a column. What stands there is an expression of the kernel: an access `shared[i + 1]`, a call
//! `barrier()` or `fetch_add(1)`, the head of a loop, arithmetic. It is scanned as far as its line goes.

use std::ops::Range;

use crate::Action;

/// What is to be underlined at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// What does this.
    Of(Action),
    /// A difference, and not what is computed from it: of `(i - 1) % n` what is in the parentheses.
    Difference,
}

/// The bytes of `line` that the operation at `column` (from 1, in characters) takes up; `None` if the line has no such
/// column.
pub(super) fn extent(line: &str, column: u32, what: Extent) -> Option<Range<usize>> {
    let start = line.char_indices().nth(column.checked_sub(1)? as usize)?.0;
    let mut scanner = Scanner { text: line, at: start };
    let action = match what {
        Extent::Of(action) => action,
        Extent::Difference => Action::Compute,
    };
    match action {
        // A range is computed at its loop.
        _ if ["for ", "while ", "loop "].iter().any(|word| scanner.rest().starts_with(word)) => {
            scanner.head()
        }
        Action::Loop => scanner.head(),
        Action::Compute if what == Extent::Difference && scanner.is_difference_in_parentheses() => {
            scanner.group()
        }
        Action::Compute => scanner.arithmetic(),
        Action::Read
        | Action::Write
        | Action::AtomicRead
        | Action::AtomicWrite
        | Action::AtomicUpdate
        | Action::Barrier => scanner.operand(),
    }
    if scanner.at == start {
        scanner.skip();
    }
    Some(start..start + line[start..scanner.at].trim_end().len())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.skip();
        }
    }

    /// An identifier or number. Whether there was one.
    fn word(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.skip();
        }
        self.at > start
    }

    /// From an opening bracket to the one that closes it, or to the end of the line.
    fn group(&mut self) {
        let mut open = 0usize;
        let mut quoted = false;
        while let Some(c) = self.peek() {
            if !quoted && self.rest().starts_with("//") {
                return;
            }
            self.skip();
            match c {
                '\\' if quoted => self.skip(),
                '"' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => open += 1,
                ')' | ']' | '}' if !quoted => {
                    open -= 1;
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// A path with fields and then its brackets: `barrier()`, `self.tile[[y, x]]`, `assert!(..)`. A method that is called
    /// on it does not belong to it.
    fn operand(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, '*' | '-' | '!' | '&')) {
            self.skip();
        }
        if self.peek().is_some_and(|c| matches!(c, '(' | '[')) {
            self.group();
        } else {
            self.path();
        }
        if self.rest().starts_with("!(") {
            self.skip();
        }
        while self.peek().is_some_and(|c| matches!(c, '(' | '[')) {
            self.group();
        }
    }

    /// `a::b::<4>.c`; a field that is called is a method and stays out.
    fn path(&mut self) {
        self.word();
        loop {
            let before = self.at;
            if self.rest().starts_with("::<") {
                match self.rest().find('>') {
                    Some(end) => self.at += end + 1,
                    None => return,
                }
            } else if self.rest().starts_with("::") {
                self.at += 2;
                self.word();
            } else if self.rest().starts_with('.') {
                self.skip();
                if !self.word() || self.peek() == Some('(') || self.rest().starts_with("::<") {
                    self.at = before;
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Whether what stands here is in parentheses and nothing is added to it or taken from it.
    fn is_difference_in_parentheses(&self) -> bool {
        let mut ahead = Scanner { text: self.text, at: self.at };
        if ahead.peek() != Some('(') {
            return false;
        }
        ahead.group();
        ahead.spaces();
        !matches!(ahead.peek(), Some('+' | '-'))
    }

    /// Operands with their methods, and arithmetic between them.
    fn arithmetic(&mut self) {
        loop {
            self.operand();
            while self.rest().starts_with('.') && !self.rest().starts_with("..") {
                self.skip();
                self.operand();
            }
            let end = self.at;
            self.spaces();
            if self.rest().starts_with("as ") {
                self.at += 3;
                self.spaces();
                self.word();
                self.spaces();
            }
            let assigns = |rest: &str| rest.chars().nth(1) == Some('=');
            let operator = match self.peek() {
                _ if self.rest().starts_with("//") => 0,
                _ if self.rest().starts_with("<<") || self.rest().starts_with(">>") => 2,
                Some('+' | '-' | '*' | '/' | '%') if assigns(self.rest()) => 2,
                Some('+' | '-' | '*' | '/' | '%') => 1,
                _ => 0,
            };
            if operator == 0 {
                self.at = end;
                return;
            }
            self.at += operator;
            self.spaces();
            if self.peek().is_none() {
                self.at = end;
                return;
            }
        }
    }

    /// The head of a loop, without the brace that opens its body.
    fn head(&mut self) {
        while let Some(c) = self.peek() {
            if c == '{' || self.rest().starts_with("//") {
                return;
            }
            if matches!(c, '(' | '[') {
                self.group();
            } else {
                self.skip();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is underlined if the position is that of `at` in the line.
    fn of<'a>(line: &'a str, at: &str, action: Action) -> &'a str {
        let column = line[..line.find(at).expect("part of the line")].chars().count() as u32 + 1;
        &line[extent(line, column, Extent::Of(action)).expect("a column of the line")]
    }

    #[test]
    fn an_access_is_its_index_expression() {
        let line = "    shared[local_i] += shared[local_i + stride].sqrt();";
        assert_eq!(of(line, "shared[local_i] ", Action::Write), "shared[local_i]");
        assert_eq!(of(line, "shared[local_i + ", Action::Read), "shared[local_i + stride]");
        assert_eq!(of("x = tile[[row[i], f(col)]] + 1.0;", "tile", Action::Read), "tile[[row[i], f(col)]]");
        assert_eq!(of("self.tile[i][j] = 0.0;", "self", Action::Write), "self.tile[i][j]");
        assert_eq!(of("(a.b)[i] = 0.0;", "(", Action::Write), "(a.b)[i]");
        assert_eq!(of("größe[é] = 1;", "größe", Action::Write), "größe[é]");
    }

    #[test]
    fn a_method_is_its_name_and_arguments() {
        assert_eq!(
            of("out.atomic(i).fetch_add(x.load(1));", "fetch", Action::AtomicUpdate),
            "fetch_add(x.load(1))"
        );
        assert_eq!(of("let v = a.load::<4>(i, 4) + 1.0;", "load", Action::Read), "load::<4>(i, 4)");
        assert_eq!(of("shared.sum(0)", "shared", Action::Read), "shared");
    }

    #[test]
    fn calls_and_macros() {
        assert_eq!(of("    barrier();", "barrier", Action::Barrier), "barrier()");
        assert_eq!(of("tilewise::barrier(); // ]", "tile", Action::Barrier), "tilewise::barrier()");
        assert_eq!(
            of("assert!(i < n, \"no ) {i}\");", "assert", Action::Barrier),
            "assert!(i < n, \"no ) {i}\")"
        );
    }

    #[test]
    fn loops_are_underlined_up_to_the_body() {
        assert_eq!(of("while flag[f(0)] == 0 {", "while", Action::Loop), "while flag[f(0)] == 0");
        assert_eq!(of("    loop {", "loop", Action::Loop), "loop");
        assert_eq!(of("for i in (0..n).step_by(s) {", "for", Action::Compute), "for i in (0..n).step_by(s)");
        assert_eq!(of("for i in 0..n // all", "for", Action::Loop), "for i in 0..n");
    }

    #[test]
    fn arithmetic_goes_on_over_operators() {
        assert_eq!(of("a[i - 1 + n.min(2) * 3] = 1.0;", "i - ", Action::Compute), "i - 1 + n.min(2) * 3");
        assert_eq!(
            of("let q = total / count[i] as f32; // a / b", "total", Action::Compute),
            "total / count[i]"
        );
        assert_eq!(of("q /= d;", "q", Action::Compute), "q /= d");
        assert_eq!(of("for i in lo - 1..hi {", "lo", Action::Compute), "lo - 1");
        assert_eq!(of("if i - 1 < n {", "i -", Action::Compute), "i - 1");
    }

    #[test]
    fn a_difference_ends_with_its_parentheses() {
        let of = |line: &'static str| &line[extent(line, 1, Extent::Difference).expect("a column")];
        assert_eq!(of("(i - 1) % n"), "(i - 1)");
        assert_eq!(of("(i - 2).min(n - 1)"), "(i - 2)");
        assert_eq!(of("(i + 1) - n"), "(i + 1) - n");
        assert_eq!(of("i - 1]"), "i - 1");
    }

    #[test]
    fn what_goes_on_in_the_next_line_ends_with_this_one() {
        assert_eq!(of("out.store(i, a // first", "store", Action::Write), "store(i, a");
        assert_eq!(of("x = a +  ", "a", Action::Compute), "a");
    }

    #[test]
    fn a_column_that_is_not_there_is_none() {
        let read = Extent::Of(Action::Read);
        assert_eq!(extent("ab", 3, read), None);
        assert_eq!(extent("", 1, read), None);
        assert_eq!(extent("ab", 0, read), None);
        // Anything else is one character.
        assert_eq!(extent("ab ;", 4, read), Some(3..4));
    }
}
