//! What a running kernel reports: faults, and lines that it prints; and how the host reads it.
//!
//! # The reports in memory
//!
//! A buffer of 4-byte words, all zero at first except where the host sets a capacity:
//!
//! | word | content |
//! | --- | --- |
//! | 0 | number of faults |
//! | 1 | words of fault entries that were asked for; may exceed the capacity |
//! | 2 | capacity of the fault entries in words; set by the host |
//! | 3 | number of lines that had no room |
//! | 4 | words of lines that were asked for; may exceed the capacity |
//! | 5 | capacity of the lines in words; set by the host |
//! | 6, 7 | not used |
//! | 8 and on | fault entries; behind their capacity, lines |
//!
//! A fault entry or a line is, in words ([`ENTRY_WORDS`] and the values):
//!
//! | word | content |
//! | --- | --- |
//! | 0 | its length in words |
//! | 1 | its site |
//! | 2 | number of the launch |
//! | 3 to 5 | x, y, z of the block |
//! | 6 to 8 | x, y, z of the thread |
//! | 9 and on | its values, two words each, the lower half first |
//!
//! Entries follow each other; words behind the last that had room are zero. The first fault of a launch is the entry of
//! the lowest block, then site, then thread. A shader has no lock that is sure to be given back, so faults are not
//! compared on the device: if there are more than fit, those that came first are kept.

use tilewise_ir::Report;

/// Words of the reports before the entries.
pub const HEADER_WORDS: u32 = 8;

/// Words of an entry before its values.
pub const ENTRY_WORDS: u32 = 9;

/// Most values of a failed assertion. Lines have all of theirs.
pub const MAX_FAULT_VALUES: usize = 20;

/// The entries of faults and those of lines in reports, each in the order in which they got their room.
///
/// ```
/// use tilewise_naga::site::{ENTRY_WORDS, HEADER_WORDS, read};
///
/// let mut words = vec![0; HEADER_WORDS as usize + 20];
/// words[2] = 10; // room for faults
/// words[4] = ENTRY_WORDS; // one line
/// words[HEADER_WORDS as usize + 10] = ENTRY_WORDS;
/// words[HEADER_WORDS as usize + 11] = 3;
/// let (faults, lines) = read(&words);
/// assert!(faults.is_empty());
/// assert_eq!(lines[0].site, 3);
/// ```
pub fn read(words: &[u32]) -> (Vec<Report>, Vec<Report>) {
    let Some((header, rest)) = words.split_at_checked(HEADER_WORDS as usize) else {
        return Default::default();
    };
    let (faults, lines) = rest.split_at((header[2] as usize).min(rest.len()));
    let asked = |words: &[u32], asked: u32| entries(&words[..words.len().min(asked as usize)]);
    (asked(faults, header[1]), asked(lines, header[4]))
}

/// Entries one after the other; what is not a whole one ends them.
fn entries(mut rest: &[u32]) -> Vec<Report> {
    let mut entries = Vec::new();
    while let Some(&length) = rest.first()
        && length >= ENTRY_WORDS
        && let Some((entry, after)) = rest.split_at_checked(length as usize)
    {
        rest = after;
        let axes = |first: usize| [entry[first], entry[first + 1], entry[first + 2]];
        let (pairs, _) = entry[ENTRY_WORDS as usize..].as_chunks();
        let values = pairs.iter().map(|&[low, high]| u64::from(high) << 32 | u64::from(low)).collect();
        entries.push(Report {
            launch: entry[2].into(),
            site: entry[1],
            block: axes(3),
            thread: axes(6),
            values,
        });
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(site: u32, value: u64) -> Vec<u32> {
        vec![ENTRY_WORDS + 2, site, 7, 1, 2, 3, 4, 5, 6, value as u32, (value >> 32) as u32]
    }

    #[test]
    fn entries_lie_in_two_areas() {
        let header = vec![3, 22, 24, 0, 11, 24, 0, 0];
        let faults = [entry(1, 5), entry(2, 1 << 40), vec![0; 2]].concat();
        let lines = [entry(3, 9), vec![0; 13]].concat();
        let (faults, lines) = read(&[header, faults, lines].concat());
        let sites: Vec<_> = faults.iter().map(|fault| (fault.site, fault.values[0])).collect();
        assert_eq!(sites, [(1, 5), (2, 1 << 40)]);
        let line = Report { launch: 7, site: 3, block: [1, 2, 3], thread: [4, 5, 6], values: vec![9] };
        assert_eq!(lines, [line]);
    }

    #[test]
    fn what_is_no_whole_entry_ends_them() {
        // The second asked for room that was not there.
        let header = vec![2, 22, 11, 0, 0, 0, 0, 0];
        let (faults, lines) = read(&[header, entry(1, 5)].concat());
        assert_eq!((faults.len(), lines.len()), (1, 0));
        assert_eq!(read(&[1, 2, 3]), (vec![], vec![]));
        assert_eq!(entries(&[ENTRY_WORDS + 2, 1]), []);
    }
}
