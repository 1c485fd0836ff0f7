//! A report as plain lines.

use std::fmt;

use crate::finding::{Action, Finding, Group, Kind, Location, NotModelled, Report, Severity};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if self.findings.is_empty() && self.not_modelled.is_empty() {
            return f.write_str(": nothing found");
        }
        for finding in &self.findings {
            write!(f, "\n{finding}")?;
        }
        for part in &self.not_modelled {
            write!(f, "\nnot checked: {part}")?;
        }
        Ok(())
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

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Read => "reads",
            Action::Write => "writes",
            Action::AtomicRead => "atomically reads",
            Action::AtomicWrite => "atomically writes",
            Action::AtomicUpdate => "atomically updates",
            Action::Barrier => "waits",
            Action::Loop => "repeats",
            Action::Compute => "computes",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.severity)?;
        let element = self.element.as_ref().map_or_else(String::new, ToString::to_string);
        match &self.kind {
            Kind::Race { between_blocks, right, wrong, harmless, .. } => {
                let which = if *between_blocks { " between blocks" } else { "" };
                write!(f, "race{which} on `{element}`")?;
                if *harmless {
                    write!(f, ", between equal values ({right})")
                } else {
                    write!(f, ": {wrong} instead of {right}")
                }
            }
            Kind::UninitialisedRead => write!(f, "`{element}` is read, and nobody has written it"),
            Kind::OutOfBounds { dim, index, extent, .. } => {
                let signed = *index as i64;
                write!(f, "`{element}`: index {signed} is outside dimension {dim}, whose extent is {extent}")
            }
            Kind::OutsideMemory { len, .. } => {
                write!(f, "`{element}` is outside its memory of {len} elements")
            }
            Kind::Misaligned { align, remainder } => {
                write!(
                    f,
                    "the address of `{element}` is {remainder} modulo {align}, not a multiple as claimed"
                )
            }
            Kind::BarrierDivergence { waiting, ended } => {
                f.write_str("a barrier is not reached by all threads of the block")?;
                waiting.iter().chain(ended).try_for_each(|group| write!(f, "; {group}"))
            }
            Kind::WarpDivergence { waiting, ended } => {
                f.write_str("an operation of a warp is not reached by all of its lanes")?;
                waiting.iter().chain(ended).try_for_each(|group| write!(f, "; {group}"))
            }
            Kind::AbsentLane { lane } => {
                write!(f, "a shuffle from lane {lane}, which is not there or has returned")
            }
            Kind::NoProgress { spinning, at_barrier } => {
                f.write_str("threads wait for what nobody will do")?;
                spinning.iter().chain(at_barrier).try_for_each(|group| write!(f, "; {group}"))
            }
            Kind::StepLimit { rounds, running } => {
                write!(f, "a loop has not ended after {rounds} rounds, which is the limit")?;
                running.iter().try_for_each(|group| write!(f, "; {group}"))
            }
            Kind::DivisionByZero => f.write_str("division by zero"),
            Kind::RangeStep { step } => write!(f, "a range with step {step}: the step has to be positive"),
            Kind::IndexOverflow { index } => {
                write!(f, "an index is computed from {}, which has wrapped around to {index}", *index as i64)
            }
            Kind::Assertion { message } if message.is_empty() => f.write_str("assertion failed"),
            Kind::Assertion { message } => write!(f, "assertion failed: {message}"),
            Kind::RedundantBarrier => f.write_str("this barrier orders nothing"),
        }?;
        for party in &self.parties {
            let (block, thread) = (Triple(party.block), Triple(party.thread));
            write!(f, "\n  block {block}, thread {thread}")?;
            if let Some(site) = self.sites.get(party.site) {
                write!(f, " {}{}", site.action, At(site.location.as_ref()))?;
            }
            let noun = if party.interval == 1 { "barrier" } else { "barriers" };
            write!(f, ", after {} {noun}", party.interval)?;
        }
        if self.parties.is_empty() {
            let places = self.sites.iter().filter_map(|site| site.location.as_ref());
            places.into_iter().try_for_each(|location| write!(f, "\n  at {location}"))?;
        }
        if self.count > 1 {
            write!(f, "\n  {} times", self.count)?;
            if self.elements > 0 {
                write!(f, ", {} elements", self.elements)?;
            }
        }
        Ok(())
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

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.count == 1 { "thread" } else { "threads" };
        write!(f, "{} {noun} ", self.count)?;
        for (i, range) in self.threads.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{}", Triple(range.first))?;
            if range.first != range.last {
                write!(f, " to {}", Triple(range.last))?;
            }
        }
        match &self.location {
            Some(location) => write!(f, " at {location}"),
            None => f.write_str(" ended"),
        }
    }
}

/// ` at k.rs:1:2`, or nothing.
struct At<'a>(Option<&'a Location>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |location| write!(f, " at {location}"))
    }
}

/// `(1, 2, 3)`.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}
