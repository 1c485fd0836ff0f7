//! How the data of a report reads as text.

use std::fmt;

use crate::finding::{Finding, NotModelled, Report, Severity};
use crate::render::{self, Style};

/// With the source and without colours; [`render::text`] has both as one likes.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(render::text(self, &Style::plain()).trim_end())
    }
}

impl std::error::Error for Report {}

impl fmt::Display for NotModelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.location.as_ref().map_or(Ok(()), |location| write!(f, " ({location})"))
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        })
    }
}

/// In one line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&render::line(self))
    }
}

impl fmt::Display for crate::finding::Element {
    /// `a[1, 2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.memory)?;
        for (i, index) in self.index.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "[" } else { ", " }, *index as i64)?;
        }
        f.write_str(if self.index.is_empty() { "" } else { "]" })
    }
}
