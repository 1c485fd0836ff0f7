//! Which bytes were touched at all, each counted once.

use rustc_hash::FxHashMap;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A set of byte addresses. It takes memory for the pages that it has bytes of.
#[derive(Clone, Debug, Default)]
pub struct Footprint {
    pages: FxHashMap<u64, Box<[u64; (PAGE / 64) as usize]>>,
}

impl Footprint {
    /// Adds `size` bytes from `address` on.
    pub fn insert(&mut self, address: u64, size: u64) {
        let mut at = address;
        let end = address.saturating_add(size);
        while at < end {
            // The bits of one word of the set at a time.
            let word_end = (at / 64 + 1).saturating_mul(64).min(end);
            let bits = u64::MAX >> (64 - (word_end - at)) << (at % 64);
            let page = self.pages.entry(at / PAGE).or_insert_with(|| Box::new([0; (PAGE / 64) as usize]));
            page[(at % PAGE / 64) as usize] |= bits;
            at = word_end;
        }
    }

    /// Adds all bytes of another set.
    pub fn merge(&mut self, other: &Footprint) {
        for (number, bits) in &other.pages {
            let page = self.pages.entry(*number).or_insert_with(|| Box::new([0; (PAGE / 64) as usize]));
            for (word, more) in page.iter_mut().zip(bits.iter()) {
                *word |= more;
            }
        }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.pages.values().flat_map(|page| page.iter()).map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set_of_bytes() {
        let (mut footprint, mut other, mut set) =
            (Footprint::default(), Footprint::default(), BTreeSet::new());
        let mut state = 1u64;
        for round in 0..400 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (address, size) = ((state >> 33) % 20_000, (state >> 20) % 150);
            let part = if round % 2 == 0 { &mut footprint } else { &mut other };
            part.insert(address, size);
            set.extend(address..address + size);
        }
        footprint.merge(&other);
        assert_eq!(footprint.bytes(), set.len() as u64);
    }

    #[test]
    fn the_end_of_the_addresses() {
        let mut footprint = Footprint::default();
        footprint.insert(u64::MAX - 3, 100);
        footprint.insert(5, 0);
        assert_eq!(footprint.bytes(), 3);
    }
}
