//! What a running kernel reports: faults, and lines that it prints; and how the host reads it.
//!
//! # The reports in memory
//!
//! A context has a piece of device memory, in words of 8 bytes unless said otherwise, all zero at first:
//!
//! | word | content |
//! | --- | --- |
//! | 0 | lower 4 bytes: lock of the fault record, odd while somebody writes; upper 4: 1 if there is a record |
//! | 1 | number of faults |
//! | 2 | launch of the first fault |
//! | 3 | its block, as one number, x fastest |
//! | 4 | lower 4 bytes: its site; upper 4: its thread, as one number, x fastest |
//! | 5 to 7 | x, y, z: lower 4 bytes of the block, upper 4 of the thread |
//! | 8 to 27 | its values, one a word ([`MAX_VALUES`]) |
//! | 28 | capacity of the lines in words; set by the host |
//! | 29 | words of lines that were asked for; more than the capacity if some had no room |
//! | 30 | number of lines that had no room |
//! | 31 | not used |
//! | 32 and on | lines |
//!
//! The first fault of a launch is the one of the lowest block, then of the lowest site, then of the lowest thread. A
//! fault of one launch never replaces one of another.
//!
//! A line is a number of words: 0 holds its length in words (lower 4 bytes) and its site (upper 4), 1 the launch, 2
//! to 4 x, y, z of block (lower) and thread (upper), and from 5 on its values, one a word. Words that follow the last
//! line that had room are zero.

use tilewise_ir::Report;

/// Words of the reports before the lines.
pub const HEADER_WORDS: usize = 32;

/// Most values of a fault.
pub const MAX_VALUES: usize = 20;

/// Words of a line before its values.
const LINE_HEADER_WORDS: usize = 5;

/// The first fault in reports, of which at least the header is given, and how many there were, of all launches. Its values
/// are followed by zeros.
///
/// ```
/// use tilewise_ptx::site::{HEADER_WORDS, read_fault};
///
/// let mut words = vec![0; HEADER_WORDS];
/// assert_eq!(read_fault(&words), None);
/// words[0] = 1 << 32; // there is a record,
/// words[1] = 5; // and four more faults
/// words[4] = 3 << 32 | 2; // site 2, thread 3
/// words[5] = 3 << 32;
/// let (fault, count) = read_fault(&words).unwrap();
/// assert_eq!((count, fault.site, fault.thread), (5, 2, [3, 0, 0]));
/// ```
pub fn read_fault(words: &[u64]) -> Option<(Report, u64)> {
    let header = words.get(..HEADER_WORDS)?;
    if header[0] >> 32 == 0 {
        return None;
    }
    let (block, thread) = position(&header[5..8]);
    let values = header[8..][..MAX_VALUES].to_vec();
    Some((Report { launch: header[2], site: header[4] as u32, block, thread, values }, header[1]))
}

/// The lines in reports, in the order in which they got their room. What is not a whole line ends them.
pub fn read_lines(words: &[u64]) -> impl Iterator<Item = Report> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = *rest.first()? as u32 as usize;
        if length < LINE_HEADER_WORDS {
            return None;
        }
        let (line, after) = rest.split_at_checked(length)?;
        rest = after;
        let (block, thread) = position(&line[2..5]);
        let values = line[LINE_HEADER_WORDS..].to_vec();
        Some(Report { launch: line[1], site: (line[0] >> 32) as u32, block, thread, values })
    })
}

/// Block and thread from three words.
fn position(words: &[u64]) -> ([u32; 3], [u32; 3]) {
    let axis = |n: usize| words.get(n).copied().unwrap_or(0);
    ([0, 1, 2].map(|n| axis(n) as u32), [0, 1, 2].map(|n| (axis(n) >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(launch: u64, site: u32, block: [u32; 3], thread: [u32; 3]) -> Vec<u64> {
        let mut words = vec![u64::from(site) << 32 | 6, launch];
        words.extend((0..3).map(|n| u64::from(thread[n]) << 32 | u64::from(block[n])));
        words.push(7);
        words
    }

    #[test]
    fn lines_end_where_there_is_no_whole_one() {
        let mut words = vec![0; HEADER_WORDS];
        words.extend(line(1, 2, [3, 4, 5], [6, 7, 8]));
        words.extend([9, 0, 0]);
        let lines: Vec<_> = read_lines(&words).collect();
        let expected = Report { launch: 1, site: 2, block: [3, 4, 5], thread: [6, 7, 8], values: vec![7] };
        assert_eq!(lines, [expected]);
        assert_eq!(read_lines(&[]).count(), 0);
    }
}
