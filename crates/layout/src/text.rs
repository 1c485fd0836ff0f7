//! Layouts and integer tuples from text, in the form in which they print.
//!
//! # Law
//!
//! The text of a layout, printed with `{:#}`, parses back to the same layout with the same
//! static integers.
//!
//! ```
//! use tilewise_layout::{Layout, LayoutError};
//!
//! let layout: Layout = "(_2,(3,4)):(_1,(2,6))".parse()?;
//! assert_eq!(format!("{layout:#}"), "(_2,(3,4)):(_1,(2,6))");
//! assert!(matches!("(2,3".parse::<Layout>(), Err(LayoutError::Parse { at: 4, .. })));
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use std::str::FromStr;

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, Layout};

/// How deep a tuple in a text may be nested.
const MAX_DEPTH: usize = 64;

/// Parses `(2,(3,_4))`; an underscore makes an integer static.
impl FromStr for IntTuple {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<IntTuple> {
        let mut parser = Parser { text, at: 0 };
        let tuple = parser.tuple(0)?;
        parser.end()?;
        Ok(tuple)
    }
}

/// Parses `(2,(3,4)):(1,(2,6))`; an underscore makes an integer static.
impl FromStr for Layout {
    type Err = LayoutError;

    fn from_str(text: &str) -> Result<Layout> {
        let mut parser = Parser { text, at: 0 };
        let shape = parser.tuple(0)?;
        parser.expect(b':', "followed by ':' and a stride")?;
        let stride = parser.tuple(0)?;
        parser.end()?;
        Layout::new(shape, stride)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn tuple(&mut self, depth: usize) -> Result<IntTuple> {
        if !self.eat(b'(') {
            return self.int().map(IntTuple::Int);
        }
        if depth == MAX_DEPTH {
            return self.fail("nested at most 64 deep");
        }
        let mut modes = Vec::new();
        if self.eat(b')') {
            return Ok(IntTuple::Tuple(modes));
        }
        loop {
            modes.push(self.tuple(depth + 1)?);
            if self.eat(b')') {
                return Ok(IntTuple::Tuple(modes));
            }
            self.expect(b',', "continued by ',' or ')'")?;
        }
    }

    fn int(&mut self) -> Result<Int> {
        let is_static = self.eat(b'_');
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        match self.text[self.at..self.at + length].parse() {
            Ok(n) => {
                self.at += length;
                self.spaces();
                Ok(if is_static { Int::Static(n) } else { Int::Dynamic(n) })
            }
            Err(_) if length > 0 => self.fail("an integer that fits"),
            Err(_) => self.fail("an integer or a tuple"),
        }
    }

    fn spaces(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|&&b| b == b' ').count();
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.spaces();
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        self.fail(expected)
    }

    fn end(&mut self) -> Result<()> {
        self.spaces();
        if self.at == self.text.len() {
            return Ok(());
        }
        self.fail("at its end")
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T> {
        Err(LayoutError::Parse { text: self.text.to_owned(), expected, at: self.at })
    }
}
