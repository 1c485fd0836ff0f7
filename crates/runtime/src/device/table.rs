//! A small table that forgets what has not been used for the longest time.

/// Values by keys. There are few, and the one that was used last is the one that is looked for most often, so keys are
/// compared one after the other, by a hash first.
#[derive(Debug)]
pub(crate) struct Table<K, V> {
    entries: Vec<Entry<K, V>>,
    capacity: usize,
    /// Counts look-ups.
    time: u64,
    /// Where the last one was found.
    latest: usize,
}

#[derive(Debug)]
struct Entry<K, V> {
    hash: u64,
    key: K,
    value: V,
    last_used: u64,
}

impl<K, V> Table<K, V> {
    /// An empty table for at most `capacity` entries, at least one.
    pub(crate) fn new(capacity: usize) -> Table<K, V> {
        Table { entries: Vec::new(), capacity: capacity.max(1), time: 0, latest: 0 }
    }

    /// The value of the key with this hash that `is` says is the right one.
    pub(crate) fn get(&mut self, hash: u64, is: impl Fn(&K) -> bool) -> Option<&V> {
        let found = |entry: &Entry<K, V>| entry.hash == hash && is(&entry.key);
        if !self.entries.get(self.latest).is_some_and(found) {
            self.latest = self.entries.iter().position(found)?;
        }
        self.time += 1;
        let entry = &mut self.entries[self.latest];
        entry.last_used = self.time;
        Some(&entry.value)
    }

    /// Adds a key that is not there. If the table is full, the entry that has not been used for the longest time goes, and
    /// is returned.
    pub(crate) fn insert(&mut self, hash: u64, key: K, value: V) -> Option<(K, V)> {
        let mut evicted = None;
        if self.entries.len() == self.capacity {
            let oldest = self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.last_used);
            if let Some((position, _)) = oldest {
                let Entry { key, value, .. } = self.entries.swap_remove(position);
                evicted = Some((key, value));
            }
        }
        self.time += 1;
        self.latest = self.entries.len();
        self.entries.push(Entry { hash, key, value, last_used: self.time });
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_hash_and_comparison() {
        let mut table = Table::new(4);
        assert_eq!(table.insert(1, "a", 10), None);
        assert_eq!(table.insert(1, "b", 20), None);
        assert_eq!(table.get(1, |key| *key == "a"), Some(&10));
        assert_eq!(table.get(1, |key| *key == "b"), Some(&20));
        assert_eq!(table.get(1, |key| *key == "c"), None);
        assert_eq!(table.get(2, |key| *key == "a"), None, "the hash is another");
    }

    #[test]
    fn the_longest_unused_goes() {
        let mut table = Table::new(2);
        table.insert(1, 'a', 1);
        table.insert(2, 'b', 2);
        assert!(table.get(1, |key| *key == 'a').is_some());
        assert_eq!(table.insert(3, 'c', 3), Some(('b', 2)));
        assert_eq!(table.get(2, |key| *key == 'b'), None);
        assert_eq!(table.get(1, |key| *key == 'a'), Some(&1));
        assert_eq!(table.get(3, |key| *key == 'c'), Some(&3));
    }

    #[test]
    fn a_table_of_one() {
        let mut table = Table::new(0);
        for i in 0..5 {
            table.insert(i, i, i);
            assert_eq!(table.get(i, |key| *key == i), Some(&i));
        }
        assert_eq!(table.get(3, |key| *key == 3), None);
    }
}
