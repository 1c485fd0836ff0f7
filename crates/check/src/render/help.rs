//! What to do about a finding: short, concrete, with the lines and names at hand.

use super::words::{action_of, counted};
use crate::{Action, Finding, Kind, Location, MemorySpace, Note, RacePattern};

/// What to do about a finding.
pub fn help(finding: &Finding) -> String {
    let memory = finding.element.as_ref().map_or("the memory", |e| e.memory.as_str());
    let space = finding.element.as_ref().map(|e| e.space);
    match &finding.kind {
        Kind::Race { pattern, between_blocks, harmless, .. } => {
            race(finding, *pattern, *between_blocks, *harmless, memory)
        }
        Kind::UninitialisedRead if space == Some(MemorySpace::Local) => format!(
            "give every element of `{memory}` a value before it is read: `{memory}.fill(0.0)`, or a loop over all of it"
        ),
        Kind::UninitialisedRead => format!(
            "write every element of `{memory}` before any is read. Where an `if` fills it, add an `else` that writes \
             zero: shared memory starts with whatever was there. Then a `barrier();`"
        ),
        Kind::OutOfBounds { dim, index, extent, .. } => bounds(finding, *dim, *index, *extent, memory),
        Kind::OutsideMemory { len, .. } => format!(
            "nothing stops this access: guard it with `if i < {len} {{ .. }}`, or launch with bounds checks on"
        ),
        Kind::Misaligned { align, .. } => format!(
            "an aligned access starts at a multiple of {align} bytes: use an index that is a multiple of the width, or \
             `load` and `store` in place of `aligned_load` and `aligned_store`"
        ),
        Kind::BarrierDivergence { .. } | Kind::WarpDivergence { .. }
            if finding.notes.contains(&Note::Collective) =>
        {
            "all threads of a block have to come to it: take it out of the `if` or loop that only some threads enter, and \
             let those that have nothing to give it give a value that changes nothing, such as 0 for a sum"
                .to_owned()
        }
        Kind::BarrierDivergence { waiting, .. } if waiting.len() > 1 => {
            "all threads of a block have to wait at one and the same `barrier()`: put one after the `if`, in place of \
             one in each branch"
                .to_owned()
        }
        Kind::BarrierDivergence { ended: Some(_), .. } => {
            "take the `barrier()` out of the `if` or loop that only some threads enter, and let no thread `return` \
             while others still have to wait: `if i < n { work } barrier();`"
                .to_owned()
        }
        Kind::BarrierDivergence { ended: None, .. } => {
            "take the `barrier()` out of the `if` or loop that only some threads enter: `if i < n { work } barrier();`"
                .to_owned()
        }
        Kind::WarpDivergence { .. } => {
            "all lanes of a warp that have not returned have to come to its operations: take the operation out of the `if` \
             or loop that only some lanes enter, or name those that come with `warp::syncwarp_mask(mask)`"
                .to_owned()
        }
        Kind::AbsentLane { .. } => {
            "the last warp of a block has fewer lanes than 32 where the block is no multiple of it: use `warp::sum` and the \
             like, which take the lanes that there are, or guard the shuffle's result"
                .to_owned()
        }
        Kind::NoProgress { cycles: true, .. } => {
            "see that the loop's condition becomes false: what it changes takes the same values again and again (a number \
             that wraps, a remainder, a value that is toggled), and with none of them does the loop end"
                .to_owned()
        }
        Kind::NoProgress { at_barrier, .. } if !at_barrier.is_empty() => {
            "the loop waits for threads that wait for it at the barrier: let those write what the loop looks at before \
             their `barrier()`"
                .to_owned()
        }
        Kind::NoProgress { .. } => {
            "somebody has to change what the loop looks at: write the flag before the loop waits for it, and in every \
             case in which it is waited for"
                .to_owned()
        }
        Kind::StepLimit { .. } => {
            "see that the loop's condition becomes false for every thread (a stride that is halved ends at 0, one that \
             is doubled needs a bound); if the loop is meant to be that long, raise the limit with \
             `ctx.with_max_rounds(n)`"
                .to_owned()
        }
        Kind::DivisionByZero => {
            "test the divisor first: `if d != 0 { x / d } else { .. }`; the quotient is 0 otherwise, which hides the \
             mistake"
                .to_owned()
        }
        Kind::RangeStep { .. } => {
            "the step has to be positive; to count down write `(lo..hi).rev()`".to_owned()
        }
        Kind::IndexOverflow { .. } => {
            "an index is unsigned: subtract only what is not larger. Test first (`if i >= k { a[i - k] }`) or add \
             before you subtract (`(i + n - 1) % n`)"
                .to_owned()
        }
        Kind::Assertion { .. } => {
            "the condition is false for this thread: print what it depends on with `println!` before it".to_owned()
        }
        Kind::RedundantBarrier => {
            "this launch gives the same result without it, and threads would wait less. Keep it if another size or \
             input needs it"
                .to_owned()
        }
    }
}

fn race(
    finding: &Finding,
    pattern: RacePattern,
    between_blocks: bool,
    harmless: bool,
    memory: &str,
) -> String {
    let actions = [action_of(finding, 0), action_of(finding, 1)];
    let atomic = actions.map(|action| action.is_some_and(Action::is_atomic));
    let branches = finding.notes.contains(&Note::Branches);
    if atomic == [true, true] {
        return "an atomic of scope `Block` is none for threads of other blocks: use `.scope(Scope::Device)`, or leave the \
                scope out, at both places"
            .to_owned();
    }
    if atomic[0] != atomic[1] {
        return format!(
            "an atomic orders itself among atomics only: use `{memory}.atomic(i)` at both places{}",
            if between_blocks || branches { "" } else { ", or put a `barrier();` between them" }
        );
    }
    let weak = finding.notes.iter().find_map(|note| match note {
        Note::Relaxed { memory } => Some(format!(
            "if the atomics on `{memory}` are to order these accesses: relaxed ones order nothing else. Write `{memory}` with \
             `.ordering(Ordering::Release)` and read it with `.ordering(Ordering::Acquire)`. Else "
        )),
        Note::BlockScope { memory } => Some(format!(
            "if the atomics on `{memory}` are to order these accesses: those of scope `Block` order threads of one block \
             only. Give them `.scope(Scope::Device)`. Else "
        )),
        Note::Branches | Note::Depends | Note::AtLeast | Note::OneMemory { .. } | Note::Collective => None,
    });
    let usual = race_of_plain_accesses(finding, pattern, between_blocks, harmless, memory);
    weak.unwrap_or_default() + &usual
}

fn race_of_plain_accesses(
    finding: &Finding,
    pattern: RacePattern,
    between_blocks: bool,
    harmless: bool,
    memory: &str,
) -> String {
    let place = |party: usize| {
        finding.parties.get(party).and_then(|p| finding.sites.get(p.site)).and_then(|s| s.location.as_ref())
    };
    let (first, second) = (place(0), place(1));
    // A compound assignment reads and writes at one position.
    let compound = first.is_some() && first == second && pattern != RacePattern::WriteWrite;
    match pattern {
        _ if compound => format!(
            "to change an element in place is to read it and then to write it, and another thread may come between: add \
             with `{memory}.atomic(i).fetch_add(x)`, or let each thread change an element of its own"
        ),
        RacePattern::WriteWrite if harmless => format!(
            "if any thread may write it, say so: `{memory}.atomic(i).store(x)` at both places is no race"
        ),
        RacePattern::WriteWrite if first == second => format!(
            "one element, one writer: choose the thread (`if thread_idx().x == 0 {{ .. }}`){}, or let atomics decide, \
             `{memory}.atomic(i)` with `fetch_add`, `fetch_min` or `fetch_max`",
            if between_blocks { " and give each block an element of its own" } else { "" }
        ),
        _ if between_blocks => format!(
            "`barrier()` does not reach across blocks: let each block write elements of its own and read them in a second \
             launch, or use atomics (`{memory}.atomic(i)`) at both places"
        ),
        _ if finding.notes.contains(&Note::Depends) => {
            "the write needs what the other lanes read, but no memory is ordered by that: keep what is read in a variable, \
             then `syncwarp();` or `barrier();`, then write"
                .to_owned()
        }
        _ if finding.notes.contains(&Note::Branches) => {
            "the two accesses are in different branches of one `if`, where no `barrier()` can be between them: end the `if` \
             after the first, then `barrier();`, and do the second in an `if` of its own"
                .to_owned()
        }
        _ => barrier_between(first, second, pattern),
    }
}

fn barrier_between(first: Option<&Location>, second: Option<&Location>, pattern: RacePattern) -> String {
    let reach = "where all threads of the block pass";
    let (Some(first), Some(second)) = (first, second) else {
        return format!("put a `barrier();` between the two accesses, {reach}");
    };
    if first.file != second.file {
        return format!("put a `barrier();` between {first} and {second}, {reach}");
    }
    match first.line.cmp(&second.line) {
        std::cmp::Ordering::Less => {
            format!("put a `barrier();` between line {} and line {}, {reach}", first.line, second.line)
        }
        std::cmp::Ordering::Greater => format!(
            "the loop comes from line {} back to line {}: put a `barrier();` at the end of the round, after line {}, {reach}",
            first.line, second.line, first.line
        ),
        std::cmp::Ordering::Equal if pattern == RacePattern::ReadWrite => format!(
            "line {} reads what other threads write there: first read into a variable, then `barrier();`, then write",
            first.line
        ),
        std::cmp::Ordering::Equal => format!(
            "line {} runs again before all threads are through with it: put a `barrier();` at the end of the round, {reach}",
            first.line
        ),
    }
}

fn bounds(finding: &Finding, dim: u8, index: u64, extent: u64, memory: &str) -> String {
    let space = finding.element.as_ref().map(|e| e.space);
    let ranks = finding.element.as_ref().map_or(1, |e| e.index.len());
    if (index as i64) < 0 {
        let below = "the index is below 0: guard the access with `if i >= k { .. i - k .. }`, and give the first elements a \
                     case of their own";
        // What `as` makes of a float out of range, too.
        let float = ". If it comes from a float by `as`, the float is too large";
        return format!("{below}{}", if index == u64::MAX { float } else { "" });
    }
    let happened = "Outside, a read gives zero and a write is dropped";
    match space {
        Some(MemorySpace::Global) | None if ranks <= 1 => format!(
            "guard the access with its whole index for `i`: `if i < {memory}.dim({dim}) {{ .. }}`. {happened}"
        ),
        Some(MemorySpace::Global) | None => format!(
            "guard this dimension too, `&& i < {memory}.dim({dim})` with its whole index for `i`: each dimension of each \
             tensor has an extent of its own. {happened}"
        ),
        Some(MemorySpace::Shared | MemorySpace::Local) => format!(
            "`{memory}` has {} in this dimension: allocate more, or guard the access. {happened}",
            counted(extent, "element", "elements")
        ),
    }
}
