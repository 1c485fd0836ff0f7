//! The words of a report: how threads, elements, values and kinds are called.

use std::fmt::Write;

use crate::{
    Action, Datum, Element, Finding, Group, Kind, MemorySpace, Note, Party, RacePattern, Severity, Step,
    ThreadRange,
};

/// Ranges of threads that are named before the rest is counted.
const NAMED_RANGES: usize = 4;

/// What a finding is, in one line without its position.
pub fn headline(finding: &Finding) -> String {
    let element = finding.element.as_ref().map_or("memory".to_owned(), element);
    let memory = finding.element.as_ref().map_or("its memory".to_owned(), |e| format!("`{}`", e.memory));
    match &finding.kind {
        Kind::Race { pattern, between_blocks, harmless, .. } => {
            let (first, second) = (action_of(finding, 0), action_of(finding, 1));
            let mixed = first.is_some_and(Action::is_atomic) != second.is_some_and(Action::is_atomic);
            let who = if *between_blocks { "a thread of another block" } else { "another" };
            let what = match pattern {
                _ if mixed => {
                    let (first, second) = (plain_or_atomic(first), plain_or_atomic(second));
                    format!("one thread {first} while {who} {second}")
                }
                RacePattern::ReadWrite => format!("one thread reads it while {who} writes it"),
                RacePattern::WriteRead => format!("one thread writes it while {who} reads it"),
                RacePattern::WriteWrite if *between_blocks => "threads of two blocks write it".to_owned(),
                RacePattern::WriteWrite => "two threads write it".to_owned(),
            };
            let order = if *between_blocks { "nothing orders them" } else { "no barrier is between them" };
            let harm = match harmless {
                true => "; both orders left the same value",
                false => "",
            };
            format!("data race on {element}: {what}, and {order}{harm}")
        }
        Kind::UninitialisedRead => format!("{element} is read, and nobody has written it"),
        Kind::OutOfBounds { dim, index, extent, .. } => {
            let does = verb(action_of(finding, 0));
            let index = signed(*index);
            format!("{does} outside {memory}: index {index} in dimension {dim}, whose extent is {extent}")
        }
        Kind::OutsideMemory { offset, len } => {
            let does = verb(action_of(finding, 0));
            let (offset, len) = (signed(*offset), counted(*len, "element", "elements"));
            format!("unchecked {does} outside {memory}: element {offset} of a memory of {len}")
        }
        Kind::Misaligned { align, remainder } => {
            let beyond = counted(*remainder, "byte", "bytes");
            format!(
                "misaligned access to {element}: it claims a multiple of {align} bytes and is {beyond} beyond one"
            )
        }
        Kind::BarrierDivergence { .. } | Kind::WarpDivergence { .. }
            if finding.notes.contains(&Note::Collective) =>
        {
            "not all threads of the block reach this operation of the block".to_owned()
        }
        Kind::BarrierDivergence { waiting, .. } if waiting.len() > 1 => {
            "threads of one block wait at different barriers, and none can go on".to_owned()
        }
        Kind::BarrierDivergence { .. } => "not all threads of the block reach the barrier".to_owned(),
        Kind::WarpDivergence { .. } => "not all lanes of the warp reach its operation".to_owned(),
        Kind::AbsentLane { lane } => {
            format!("a shuffle from lane {lane}, which the warp does not have or which has returned")
        }
        Kind::NoProgress { cycles: true, .. } => {
            "a loop never ends: what it changes comes back to what it was".to_owned()
        }
        Kind::NoProgress { .. } => {
            "threads wait in a loop for something that nobody is left to do".to_owned()
        }
        Kind::StepLimit { rounds, .. } => {
            format!("a loop was stopped after {}", counted(*rounds, "round", "rounds"))
        }
        Kind::DivisionByZero => "integer division by zero".to_owned(),
        Kind::RangeStep { step } => format!("a range with step {step}: no round is run"),
        Kind::IndexOverflow { index } => match *index as i64 {
            below if below < 0 => {
                format!(
                    "index arithmetic went below zero: an index is computed from {below}, wrapped to {index}"
                )
            }
            _ => format!("index arithmetic wrapped around 2^64 and came out as {index}"),
        },
        Kind::Assertion { message } if message.is_empty() => "assertion failed".to_owned(),
        Kind::Assertion { message } => format!("assertion failed: {message}"),
        Kind::RedundantBarrier => "this barrier orders nothing: no two accesses needed it".to_owned(),
    }
}

/// A finding in one line: where, what, who, and how many more.
pub fn line(finding: &Finding) -> String {
    let mut line = String::new();
    if let Some(location) = finding.sites.iter().find_map(|site| site.location.as_ref()) {
        let _ = write!(line, "{location}: ");
    }
    line.push_str(&headline(finding));
    let named = if groups(finding).is_empty() { finding.parties.as_slice() } else { &[] };
    let named: Vec<_> = named.iter().map(thread).collect();
    if !named.is_empty() {
        let _ = write!(line, " ({})", named.join(", "));
    }
    if finding.count > 1 {
        let _ = write!(line, ", and {}{} more", at_least(finding), finding.count - 1);
    }
    line
}

/// What the thread that is party number `i` does, for the label below its source.
pub(super) fn does(finding: &Finding, i: usize) -> String {
    let Some(party) = finding.parties.get(i) else { return String::new() };
    let action = finding.sites.get(party.site).map_or(Action::Compute, |site| site.action);
    let element = finding.element.as_ref().map_or("it".to_owned(), element);
    let done = match &finding.kind {
        Kind::DivisionByZero => "divides by zero".to_owned(),
        Kind::RangeStep { .. } => "comes to this range".to_owned(),
        Kind::AbsentLane { lane } => format!("reads from lane {lane} and keeps its own value"),
        Kind::Assertion { .. } => "fails here".to_owned(),
        Kind::RedundantBarrier => "passes here".to_owned(),
        Kind::UninitialisedRead => format!("{} {element}", verb_of_thread(action)),
        Kind::IndexOverflow { index } if action == Action::Compute => {
            format!("computes {} here", signed(*index))
        }
        Kind::OutOfBounds { dim, index, extent, extents }
            if !agree(finding, *dim, *index, *extent, extents) =>
        {
            let element = finding.element.as_ref().map_or("it".to_owned(), |e| format!("`{}`", e.memory));
            access(finding, i, action, &element)
        }
        _ => access(finding, i, action, &element),
    };
    format!("{} {done}", thread(party))
}

/// Whether the index of the element is that of all dimensions, as far as one can tell: those that are proved to hold are
/// left out.
fn agree(finding: &Finding, dim: u8, index: u64, extent: u64, extents: &[u64]) -> bool {
    let at = finding.element.as_ref().and_then(|element| element.index.get(usize::from(dim)));
    at == Some(&index) && extents.get(usize::from(dim)) == Some(&extent)
}

/// The extents of a tensor with several dimensions, of which an index is outside one.
pub(super) fn extents(finding: &Finding) -> Option<String> {
    match &finding.kind {
        Kind::OutOfBounds { dim, index, extent, extents }
            if extents.len() > 1 && agree(finding, *dim, *index, *extent, extents) =>
        {
            let element = finding.element.as_ref().map(element)?;
            Some(format!("{element}, where the extents are {extents:?}"))
        }
        _ => None,
    }
}

/// "writes 6.0 to `shared[3]`"; of a race a read says what it gets instead of what.
fn access(finding: &Finding, i: usize, action: Action, element: &str) -> String {
    let step = |writes: bool| {
        finding
            .steps
            .iter()
            .find(|s| s.party == i && s.action == action && (writes || reads(s.action)))
            .map(|s| s.value)
            .filter(|value| matches!(value, Datum::Value(_)))
    };
    match action {
        Action::Write => match step(true) {
            Some(value) => format!("writes {value} to {element}"),
            None => format!("writes {element}"),
        },
        Action::AtomicWrite => match step(true) {
            Some(value) => format!("writes {value} to {element} atomically"),
            None => format!("writes {element} atomically"),
        },
        Action::AtomicUpdate => format!("updates {element} atomically"),
        Action::Read | Action::AtomicRead => {
            let atomically = if action == Action::AtomicRead { " atomically" } else { "" };
            match &finding.kind {
                Kind::Race { right, wrong, .. } if right == wrong || *wrong == Datum::Unknown => {
                    format!("reads {element}{atomically}")
                }
                // No order of blocks is the right one.
                Kind::Race { between_blocks: true, right, wrong, .. } if *right != Datum::Unknown => {
                    format!("reads {element}{atomically}: {right} or {wrong}")
                }
                Kind::Race { right: right @ Datum::Value(_), wrong, .. } => {
                    format!("reads {element}{atomically}: {wrong} instead of {right}")
                }
                _ => format!("reads {element}{atomically}"),
            }
        }
        Action::Barrier => "waits here".to_owned(),
        Action::Loop => "repeats here".to_owned(),
        Action::Compute => "computes the index here".to_owned(),
    }
}

/// A step: "thread (1, 0, 0) reads 0.0 from `a[1]` (line 12)".
pub(super) fn step(finding: &Finding, step: &Step) -> String {
    let Some(party) = finding.parties.get(step.party) else { return String::new() };
    let element = finding.element.as_ref().map_or("it".to_owned(), element);
    let one_block = finding.parties.iter().all(|other| other.block == party.block);
    let who = if one_block { format!("thread {}", triple(party.thread)) } else { thread(party) };
    let what = match (step.action, step.value) {
        (Action::Read, Datum::Unwritten) => format!("reads {element}, which nobody has written"),
        (Action::Read, value) => format!("reads {value} from {element}"),
        (Action::AtomicRead, Datum::Unwritten) => {
            format!("reads {element} atomically, which nobody has written")
        }
        (Action::AtomicRead, value) => format!("reads {value} from {element} atomically"),
        (Action::Write, value) => format!("writes {value} to {element}"),
        (Action::AtomicWrite, value) => format!("writes {value} to {element} atomically"),
        (Action::AtomicUpdate, Datum::Unknown) => format!("updates {element} atomically"),
        (Action::AtomicUpdate, value) => format!("updates {element} atomically: it becomes {value}"),
        (Action::Barrier, _) => "waits at the barrier".to_owned(),
        (Action::Loop, _) => "goes into the next round".to_owned(),
        (Action::Compute, value) => format!("computes {value}"),
    };
    // A compound assignment reads and writes at one site, so the line is that of the party either way.
    let line = finding.sites.get(party.site).and_then(|site| site.location.as_ref());
    match line {
        Some(location) => format!("{who} {what} (line {})", location.line),
        None => format!("{who} {what}"),
    }
}

/// That the two sides of a race have two names for one memory.
pub(super) fn one_memory(finding: &Finding) -> Option<String> {
    let memory = &finding.element.as_ref()?.memory;
    finding.notes.iter().find_map(|note| match note {
        Note::OneMemory { other } => Some(format!(
            "`{memory}` and `{other}` are one memory in this launch; the index is that in `{memory}`"
        )),
        _ => None,
    })
}

/// Where in time the threads are: the barrier interval. `None` where it says nothing.
pub(super) fn interval(finding: &Finding) -> Option<String> {
    let of_interest = match &finding.kind {
        Kind::Race { .. } => true,
        Kind::UninitialisedRead => finding.element.as_ref().is_some_and(|e| e.space == MemorySpace::Shared),
        _ => false,
    };
    if !of_interest {
        return None;
    }
    match finding.parties.as_slice() {
        [] => None,
        [one] => Some(format!("in barrier interval {}, {}", one.interval, span(one.interval))),
        [a, b, ..] if a.block == b.block && a.interval == b.interval => {
            Some(format!("both in barrier interval {}, {}", a.interval, span(a.interval)))
        }
        [a, b, ..] => {
            let reach = match a.block == b.block {
                true => "",
                false => "; a barrier orders the threads of its own block only",
            };
            Some(format!(
                "{} in barrier interval {} of its block, {} in barrier interval {} of its own{reach}",
                thread(a),
                a.interval,
                thread(b),
                b.interval
            ))
        }
    }
}

/// The part of a block's time that an interval is.
fn span(interval: u32) -> String {
    match interval {
        0 => "before the block's first barrier".to_owned(),
        n => format!("after the {} barrier that the block passes and before the next", ordinal(n)),
    }
}

/// The value that is right, and the one that comes out in the other order.
pub(super) fn values(finding: &Finding) -> Option<String> {
    let Kind::Race { pattern, between_blocks, harmless, right, wrong } = &finding.kind else { return None };
    if *right == Datum::Unknown || *wrong == Datum::Unknown {
        return None;
    }
    let is = match pattern {
        RacePattern::ReadWrite | RacePattern::WriteRead => "read",
        RacePattern::WriteWrite => "left",
    };
    if right == wrong {
        let is_nan = matches!(right, Datum::Value(number) if number.0.as_float().is_some_and(f64::is_nan));
        let others = match harmless {
            true => "",
            false if is_nan => ", which hides what the order changes",
            false => "; of others like it the order changes the value",
        };
        return Some(format!("{right} is {is} in either order{others}"));
    }
    let other = if finding.steps.is_empty() { "in the other order" } else { "in the order of these steps" };
    let one_site = finding.parties.windows(2).all(|pair| pair[0].site == pair[1].site);
    let order = match (between_blocks, one_site) {
        (true, _) => "the blocks run one after the other",
        (false, true) => "the threads run one after the other",
        (false, false) => "the lines run in the order of the source",
    };
    Some(format!("{right} is {is} if {order}; {wrong} {other}"))
}

/// How many findings are equal to the one that is shown: "and 7 more like it, on 5 elements".
pub(super) fn more(finding: &Finding) -> Option<String> {
    let unit = match &finding.kind {
        Kind::Race { .. } => ("pair of accesses", "pairs of accesses"),
        Kind::UninitialisedRead => ("read", "reads"),
        Kind::OutOfBounds { .. } | Kind::OutsideMemory { .. } | Kind::Misaligned { .. } => {
            ("access", "accesses")
        }
        Kind::BarrierDivergence { .. }
        | Kind::WarpDivergence { .. }
        | Kind::NoProgress { .. }
        | Kind::StepLimit { .. } => ("block", "blocks"),
        Kind::AbsentLane { .. } => ("lane", "lanes"),
        Kind::DivisionByZero => ("division", "divisions"),
        Kind::RangeStep { .. } => ("range", "ranges"),
        Kind::Assertion { .. } | Kind::IndexOverflow { .. } => ("thread", "threads"),
        Kind::RedundantBarrier => {
            let times = counted(finding.count, "time", "times");
            return Some(format!("it was passed {times}"));
        }
    };
    let others = finding.count.checked_sub(1).filter(|&others| others > 0)?;
    let others = counted(others, &format!("more {} like it", unit.0), &format!("more {} like it", unit.1));
    let others = format!("{}{others}", at_least(finding));
    Some(match finding.elements {
        0 => format!("and {others}"),
        1 => format!("and {others}, on the same element"),
        n => format!("and {others}, on {n} elements in all"),
    })
}

/// What is before a number of others that may be larger.
fn at_least(finding: &Finding) -> &'static str {
    if finding.notes.contains(&Note::AtLeast) { "at least " } else { "" }
}

/// What the threads of a group do, for the label below their barrier or loop.
pub(super) fn group_does(group: &Group, verb: (&str, &str)) -> String {
    format!("{} {}", threads(group), if group.count == 1 { verb.0 } else { verb.1 })
}

/// The groups of a finding, with what they do.
pub(super) fn groups(finding: &Finding) -> Vec<(&Group, (&'static str, &'static str), Action)> {
    const WAIT: (&str, &str) = ("waits here", "wait here");
    const SPIN: (&str, &str) = ("repeats this loop", "repeat this loop");
    match &finding.kind {
        Kind::BarrierDivergence { waiting, .. } | Kind::WarpDivergence { waiting, .. } => {
            waiting.iter().map(|g| (g, WAIT, Action::Barrier)).collect()
        }
        Kind::NoProgress { spinning, at_barrier, .. } => {
            let spinning = spinning.iter().map(|g| (g, SPIN, Action::Loop));
            spinning.chain(at_barrier.iter().map(|g| (g, WAIT, Action::Barrier))).collect()
        }
        Kind::StepLimit { running, .. } => running.iter().map(|g| (g, SPIN, Action::Loop)).collect(),
        Kind::Race { .. }
        | Kind::UninitialisedRead
        | Kind::OutOfBounds { .. }
        | Kind::OutsideMemory { .. }
        | Kind::Misaligned { .. }
        | Kind::AbsentLane { .. }
        | Kind::DivisionByZero
        | Kind::RangeStep { .. }
        | Kind::IndexOverflow { .. }
        | Kind::Assertion { .. }
        | Kind::RedundantBarrier => Vec::new(),
    }
}

/// "4 threads: (0, 0, 0) to (3, 0, 0)"; of many ranges the first few.
pub(super) fn threads(group: &Group) -> String {
    let named: Vec<_> = group.threads.iter().take(NAMED_RANGES).map(range).collect();
    let size = counted(group.count.into(), "thread", "threads");
    if named.is_empty() {
        return size;
    }
    if group.count == 1 {
        return format!("thread {}", named[0]);
    }
    let rest = if group.threads.len() > NAMED_RANGES { " and more" } else { "" };
    format!("{size}, {}{rest},", named.join(", "))
}

fn range(range: &ThreadRange) -> String {
    match range.first == range.last {
        true => triple(range.first),
        false => format!("{} to {}", triple(range.first), triple(range.last)),
    }
}

/// "thread (3, 0, 0) of block (0, 0, 0)".
pub(super) fn thread(party: &Party) -> String {
    format!("thread {} of block {}", triple(party.thread), triple(party.block))
}

/// "(1, 2, 3)".
pub(super) fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// An element as the kernel would write it: "`a[3]`", "`tile[[1, 2]]`".
pub(super) fn element(element: &Element) -> String {
    let indices: Vec<_> = element.index.iter().map(|&i| signed(i)).collect();
    match indices.as_slice() {
        [] => format!("`{}`", element.memory),
        [one] => format!("`{}[{one}]`", element.memory),
        several => format!("`{}[[{}]]`", element.memory, several.join(", ")),
    }
}

/// An index; one that must have come from a negative number is shown as that.
pub(super) fn signed(index: u64) -> String {
    (index as i64).to_string()
}

/// "1 thread", "2 threads".
pub(super) fn counted(n: u64, singular: &str, plural: &str) -> String {
    format!("{n} {}", if n == 1 { singular } else { plural })
}

/// "64 blocks x 256 threads".
pub(super) fn launch(grid: [u32; 3], block: [u32; 3]) -> String {
    format!("{} x {}", size(grid, "block", "blocks"), size(block, "thread", "threads"))
}

/// "64 blocks", or "(8, 8, 1) blocks" if there is more than one dimension.
fn size(extents: [u32; 3], singular: &str, plural: &str) -> String {
    match extents {
        [x, 1, 1] => counted(x.into(), singular, plural),
        extents => format!("{} {plural}", triple(extents)),
    }
}

/// "1st", "2nd", "11th".
fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// The word of a severity, in the singular and the plural.
pub(super) fn severity(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Error => ("error", "errors"),
        Severity::Warning => ("warning", "warnings"),
        Severity::Advice => ("piece of advice", "pieces of advice"),
    }
}

pub(super) fn action_of(finding: &Finding, party: usize) -> Option<Action> {
    let party = finding.parties.get(party)?;
    finding.sites.get(party.site).map(|site| site.action)
}

fn reads(action: Action) -> bool {
    matches!(action, Action::Read | Action::AtomicRead | Action::AtomicUpdate)
}

fn plain_or_atomic(action: Option<Action>) -> &'static str {
    match action {
        Some(Action::Read) => "reads it without an atomic",
        Some(Action::Write) => "writes it without an atomic",
        Some(Action::AtomicRead) => "reads it atomically",
        Some(Action::AtomicWrite) => "writes it atomically",
        Some(Action::AtomicUpdate) => "updates it atomically",
        Some(Action::Barrier | Action::Loop | Action::Compute) | None => "uses it",
    }
}

fn verb_of_thread(action: Action) -> &'static str {
    match action {
        Action::AtomicUpdate => "updates",
        _ => "reads",
    }
}

/// What an access does, as a noun.
fn verb(action: Option<Action>) -> &'static str {
    match action {
        Some(Action::Read) => "read",
        Some(Action::Write) => "write",
        Some(Action::AtomicRead | Action::AtomicWrite | Action::AtomicUpdate) => "atomic",
        Some(Action::Barrier | Action::Loop | Action::Compute) | None => "access",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals() {
        let words: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal).into();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]);
    }

    #[test]
    fn a_negative_index_reads_as_such() {
        assert_eq!(signed(u64::MAX), "-1");
        assert_eq!(signed(7), "7");
    }
}
