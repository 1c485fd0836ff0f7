//! Shadow memory of buffers, for kernels whose blocks nothing orders.
//!
//! A block keeps its own shadow of the words that it touches, in groups of [`GROUP`] neighbours. Most groups are touched
//! by one thread a word, in the order of the threads: of such a group only that is kept ([`Owned`]), which costs a few
//! moves for all its words together. It gets a full shadow ([`Cells`]) once that no longer holds.
//!
//! When a block has ended, its groups go to the launch. A group that only one block has touched stays as it is; of others
//! each word has, for each class of access, how many threads accessed it and what the two lowest blocks did. That sum does
//! not depend on the order in which blocks end, and two blocks are enough to show a race between blocks. Races are listed
//! when all blocks have ended.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tilewise_ir::Scope;

use crate::cells::{Cells, Mark};
use crate::finding::Datum;
use crate::plan::{Class, Plan, scope};
use crate::record::{Detail, Instance, Key, PatternKey, Record, Who, datum, is_harmless};

/// Words of a group.
pub(crate) const GROUP: usize = 64;

/// What a block has done to a group of words.
#[derive(Debug)]
pub(crate) enum Group {
    Owned(Owned),
    Cells(Box<CellGroup>),
}

/// A group of which each word is touched by one thread: the number of the thread is that of the word less `shift`.
#[derive(Debug)]
pub(crate) struct Owned {
    shift: i64,
    uses: SmallVec<[Use; 1]>,
}

/// A class of access to words of an owned group.
#[derive(Clone, Debug)]
struct Use {
    class: Class,
    site: u16,
    stamp: u32,
    /// Which words, a bit each.
    mask: u64,
    /// Those that were accessed several times.
    several: u64,
    /// The values that were read or written.
    values: Values,
    /// The values before a write, if anybody reads the buffer.
    before: Option<Box<Values>>,
}

/// Values of neighbouring words of a group.
#[derive(Clone, Debug, Default)]
struct Values {
    /// The word of the first.
    first: usize,
    low: Vec<u32>,
    /// The upper halves, if any is not zero.
    high: Vec<u32>,
}

impl Values {
    /// Sets the values of the words from `first` on.
    fn set(&mut self, first: usize, values: &[u64]) {
        if self.low.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let more = self.first - first;
            self.low.splice(0..0, std::iter::repeat_n(0, more));
            if !self.high.is_empty() {
                self.high.splice(0..0, std::iter::repeat_n(0, more));
            }
            self.first = first;
        }
        let (at, end) = (first - self.first, first - self.first + values.len());
        if self.low.len() < end {
            self.low.reserve_exact(end - self.low.len());
            self.low.resize(end, 0);
        }
        self.low[at..end].iter_mut().zip(values).for_each(|(to, &from)| *to = from as u32);
        if !self.high.is_empty() || values.iter().any(|value| value >> 32 != 0) {
            self.high.resize(self.low.len(), 0);
            self.high[at..end].iter_mut().zip(values).for_each(|(to, &from)| *to = (from >> 32) as u32);
        }
    }

    /// The value of a word that was set.
    fn get(&self, word: usize) -> u64 {
        let half = |half: &[u32]| word.checked_sub(self.first).and_then(|at| half.get(at)).copied();
        (half(&self.high).unwrap_or_default() as u64) << 32 | half(&self.low).unwrap_or_default() as u64
    }
}

/// A group in full.
#[derive(Debug)]
pub(crate) struct CellGroup {
    pub(crate) cells: Cells,
    /// Values that were read or written last, by class.
    values: [[u64; GROUP]; 4],
    /// How often a thread wrote that was not the last to write.
    writers: [u16; GROUP],
    /// Which words were written several times, a bit each.
    several: u64,
}

/// Accesses of threads to words of a group, one each.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    pub(crate) class: Class,
    pub(crate) site: u16,
    pub(crate) stamp: u32,
    /// Which words, a bit each.
    pub(crate) mask: u64,
    /// Word less thread.
    pub(crate) shift: i64,
}

impl Group {
    /// Takes an access as one of owners; gives whether it is. `values` and `before` fill in those of the words in the mask,
    /// which are neighbours.
    pub(crate) fn take(
        slot: &mut Option<Group>,
        batch: Batch,
        values: impl FnOnce(&mut [u64]),
        before: Option<impl FnOnce(&mut [u64])>,
    ) -> bool {
        let owned = match slot
            .get_or_insert_with(|| Group::Owned(Owned { shift: batch.shift, uses: SmallVec::new() }))
        {
            Group::Owned(owned) if owned.shift == batch.shift => owned,
            _ => return false,
        };
        let number = match owned.uses.iter().position(|used| used.class == batch.class) {
            Some(number) => {
                let used = &owned.uses[number];
                let same = used.site == batch.site && used.stamp == batch.stamp;
                if !same && used.mask & !batch.mask != 0 {
                    return false;
                }
                // The full shadow keeps those of earlier intervals.
                if batch.class.is_atomic() && used.stamp != batch.stamp {
                    return false;
                }
                // The full shadow knows which of plain and atomic writes came last.
                let later = &owned.uses[number + 1..];
                if batch.class.is_write()
                    && later.iter().any(|used| used.class.is_write() && used.mask & batch.mask != 0)
                {
                    return false;
                }
                number
            }
            None => {
                owned.uses.push(Use {
                    class: batch.class,
                    site: batch.site,
                    stamp: batch.stamp,
                    mask: 0,
                    several: 0,
                    values: Values::default(),
                    before: None,
                });
                owned.uses.len() - 1
            }
        };
        let used = &mut owned.uses[number];
        (used.site, used.stamp) = (batch.site, batch.stamp);
        used.several |= used.mask & batch.mask;
        used.mask |= batch.mask;
        let first = batch.mask.trailing_zeros() as usize;
        let last = GROUP - batch.mask.leading_zeros() as usize;
        let mut buffer = [0; GROUP];
        let buffer = &mut buffer[..last - first];
        values(buffer);
        used.values.set(first, buffer);
        if let Some(before) = before {
            before(buffer);
            used.before.get_or_insert_default().set(first, buffer);
        }
        true
    }

    /// Which words were touched, a bit each.
    fn mask(&self) -> u64 {
        match self {
            Group::Owned(owned) => owned.uses.iter().fold(0, |mask, used| mask | used.mask),
            Group::Cells(group) => (0..GROUP).fold(0, |mask, word| {
                let touched = Class::ALL.iter().any(|&class| group.cells.latest(word, class)[0].stamp() != 0);
                mask | (touched as u64) << word
            }),
        }
    }

    /// The full shadow of a group; that of atomic accesses takes more room.
    pub(crate) fn cells(slot: &mut Option<Group>, atomic: bool) -> &mut CellGroup {
        if !matches!(slot, Some(Group::Cells(_))) {
            let mut group = Box::new(CellGroup {
                cells: Cells::new(GROUP, atomic),
                values: [[0; GROUP]; 4],
                writers: [0; GROUP],
                several: 0,
            });
            if let Some(Group::Owned(mut owned)) = slot.take() {
                owned.uses.sort_by_key(|used| used.stamp);
                for used in &owned.uses {
                    for word in bits(used.mask) {
                        let thread = (word as i64 - owned.shift) as u32;
                        let mark = Mark::new(used.stamp, used.site, thread);
                        let before = used.before.as_ref().map_or(0, |before| before.get(word));
                        group.note(word, used.class, mark, used.values.get(word), before);
                    }
                    if used.class == Class::Write {
                        group.several |= used.several;
                    }
                }
            }
            *slot = Some(Group::Cells(group));
        }
        match slot {
            Some(Group::Cells(group)) => group,
            // It has just been made.
            _ => unreachable!("a group in full"),
        }
    }

    /// What the block has done to each word that it touched: class, thread and position, value, value before, how many
    /// threads. There is no value before where others lie between, since the block has written the word several times.
    fn each(&self, mut f: impl FnMut(usize, Class, Mark, u64, Option<u64>, u64)) {
        match self {
            Group::Owned(owned) => {
                for used in &owned.uses {
                    for word in bits(used.mask) {
                        let thread = (word as i64 - owned.shift) as u32;
                        let before = used.before.as_ref().map(|before| before.get(word));
                        let before = before.filter(|_| used.several >> word & 1 == 0);
                        let mark = Mark::new(used.stamp, used.site, thread);
                        f(word, used.class, mark, used.values.get(word), before, 1);
                    }
                }
            }
            Group::Cells(group) => {
                for word in 0..GROUP {
                    for class in Class::ALL {
                        let [first, second] = group.cells.latest(word, class);
                        if first.stamp() == 0 {
                            continue;
                        }
                        let threads = match class {
                            Class::Write => group.writers[word] as u64,
                            _ => 1 + (second.stamp() != 0) as u64,
                        };
                        let value = group.values[class as usize][word];
                        // Of atomic accesses the cells do not know what was before.
                        let known = class == Class::Write && group.several >> word & 1 == 0;
                        let before = known.then(|| group.cells.before(word));
                        f(word, class, first, value, before, threads);
                    }
                }
            }
        }
    }
}

impl CellGroup {
    fn note(&mut self, word: usize, class: Class, mark: Mark, value: u64, before: u64) {
        let time = crate::cells::Time { now: mark.stamp(), base: 0, since: u32::MAX };
        self.count(word, class, mark, value);
        self.cells.touch(word, class, mark, time, before);
    }

    /// Keeps the value of an access, before it is noted in the cells.
    pub(crate) fn count(&mut self, word: usize, class: Class, mark: Mark, value: u64) {
        if class == Class::Write {
            let [last, _] = self.cells.latest(word, class);
            let other = last.stamp() == 0 || last.thread() != mark.thread();
            self.writers[word] = self.writers[word].saturating_add(other as u16);
            self.several |= ((last.stamp() != 0) as u64) << word;
        }
        self.values[class as usize][word] = value;
    }
}

/// The numbers of the bits that are set.
pub(crate) fn bits(word: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)))
        .take_while(|&rest| rest != 0)
        .map(|rest| rest.trailing_zeros() as usize)
}

/// The shadow that a block keeps of all buffers.
#[derive(Debug, Default)]
pub(crate) struct BlockGlobal {
    index: FxHashMap<(u32, u32), u32>,
    groups: Vec<((u32, u32), Option<Group>)>,
    last: Option<((u32, u32), u32)>,
}

impl BlockGlobal {
    /// The group of a buffer in which a word is.
    pub(crate) fn group(&mut self, buffer: u32, word: usize) -> &mut Option<Group> {
        let key = (buffer, (word / GROUP) as u32);
        let number = match self.last {
            Some((last, number)) if last == key => number,
            _ => {
                let next = self.groups.len() as u32;
                let number = *self.index.entry(key).or_insert(next);
                if number == next {
                    self.groups.push((key, None));
                }
                self.last = Some((key, number));
                number
            }
        };
        &mut self.groups[number as usize].1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// What all blocks have done to the buffers.
#[derive(Debug)]
pub(crate) struct LaunchGlobal {
    /// By buffer and group.
    groups: Vec<Vec<Option<Box<Sum>>>>,
}

/// What blocks have done to a group.
#[derive(Debug)]
enum Sum {
    /// Only one block has touched it.
    One(Part),
    /// No word was touched by two blocks: what each of them did, and the words that were touched.
    Apart { parts: Vec<Part>, mask: u64 },
    /// Some were.
    Words(Vec<WordSum>),
}

/// What one block has done, whose intervals start at the given stamp.
#[derive(Debug)]
struct Part {
    block: u64,
    base: u32,
    group: Group,
}

/// What blocks have done to a word.
#[derive(Clone, Debug, Default)]
struct WordSum {
    classes: SmallVec<[ClassSum; 1]>,
    /// For each pair of classes that conflict, pairs of accesses by one block, which are not counted here.
    inner: [u64; PAIRS.len()],
}

/// What blocks have done to a word with accesses of one class.
#[derive(Clone, Debug)]
struct ClassSum {
    class: Class,
    /// Threads of all blocks.
    threads: u64,
    /// Whether there may have been more: of a block those of two are kept that read, or do so atomically.
    at_least: bool,
    /// What the lowest block did.
    lowest: Deed,
    /// What the next block did.
    next: Option<Box<Deed>>,
    /// What the lowest block did that left another value than the lowest of all.
    other: Option<Box<Deed>>,
}

/// What a block did to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deed {
    block: u64,
    thread: u32,
    interval: u32,
    site: u16,
    value: u64,
    /// What was there before, if it is known and no other value was there for a while.
    before: Option<u64>,
}

/// The pairs of classes that conflict between blocks.
const PAIRS: [(Class, Class); 5] = [
    (Class::Write, Class::Write),
    (Class::Read, Class::Write),
    (Class::Read, Class::AtomicWrite),
    (Class::Write, Class::AtomicWrite),
    (Class::AtomicRead, Class::Write),
];

impl LaunchGlobal {
    pub(crate) fn new(plan: &Plan<'_>) -> LaunchGlobal {
        let groups = plan.buffers.iter().map(|buffer| {
            let count = if buffer.written { buffer.len.div_ceil(GROUP) } else { 0 };
            (0..count).map(|_| None).collect()
        });
        LaunchGlobal { groups: groups.collect() }
    }

    /// Takes over what a block has done.
    pub(crate) fn add(&mut self, plan: &Plan<'_>, block: u64, base: u32, from: &mut BlockGlobal) {
        from.index.clear();
        from.last = None;
        for ((buffer, number), group) in from.groups.drain(..) {
            let Some(group) = group else { continue };
            let Some(slot) =
                self.groups.get_mut(buffer as usize).and_then(|groups| groups.get_mut(number as usize))
            else {
                continue;
            };
            let part = Part { block, base, group };
            *slot = Some(match slot.take() {
                None => Box::new(Sum::One(part)),
                Some(mut sum) => {
                    sum.add(plan, part);
                    sum
                }
            });
        }
    }

    /// Lists the races between blocks.
    pub(crate) fn races(&self, plan: &Plan<'_>, record: &mut Record) {
        for groups in &self.groups {
            for (number, sum) in groups.iter().enumerate() {
                let Some(sum) = sum else { continue };
                let Sum::Words(words) = &**sum else { continue };
                for (word, sum) in words.iter().enumerate() {
                    sum.races(plan, number * GROUP + word, record);
                }
            }
        }
    }
}

impl Sum {
    fn add(&mut self, plan: &Plan<'_>, part: Part) {
        if let Sum::One(_) = self {
            let one = std::mem::replace(self, Sum::Words(Vec::new()));
            if let Sum::One(first) = one {
                *self = Sum::Apart { mask: first.group.mask(), parts: vec![first] };
            }
        }
        if let Sum::Apart { parts, mask } = self {
            let touched = part.group.mask();
            if *mask & touched == 0 {
                *mask |= touched;
                parts.push(part);
                return;
            }
            let mut words = vec![WordSum::default(); GROUP];
            parts.drain(..).for_each(|part| add_to(&mut words, plan, part.block, part.base, &part.group));
            *self = Sum::Words(words);
        }
        if let Sum::Words(words) = self {
            add_to(words, plan, part.block, part.base, &part.group);
        }
    }
}

fn add_to(words: &mut [WordSum], plan: &Plan<'_>, block: u64, base: u32, group: &Group) {
    let mut counts = [[0u64; 4]; GROUP];
    group.each(|word, class, mark, value, before, threads| {
        // An atomic that is atomic among threads of its block only is none for others.
        let narrow = scope(plan.sites[mark.site() as usize].access.kind) == Scope::Block;
        let class = match class {
            Class::AtomicRead if narrow => Class::Read,
            Class::AtomicWrite if narrow => Class::Write,
            class => class,
        };
        counts[word][class as usize] += threads;
        let deed = Deed {
            block,
            thread: mark.thread(),
            interval: mark.stamp() - base.min(mark.stamp()),
            site: mark.site(),
            value,
            before,
        };
        words[word].add(class, deed, threads);
    });
    for (word, counts) in words.iter_mut().zip(&counts) {
        for (inner, (a, b)) in word.inner.iter_mut().zip(PAIRS) {
            *inner += counts[a as usize] * counts[b as usize];
        }
    }
}

impl WordSum {
    fn add(&mut self, class: Class, deed: Deed, threads: u64) {
        let at_least = class != Class::Write && threads > 1;
        let Some(sum) = self.classes.iter_mut().find(|sum| sum.class == class) else {
            self.classes.push(ClassSum { class, threads, at_least, lowest: deed, next: None, other: None });
            return;
        };
        sum.threads += threads;
        sum.at_least |= at_least;
        if deed.block < sum.lowest.block {
            // The lowest so far comes before all that differed from it.
            if sum.lowest.value != deed.value {
                sum.other = Some(Box::new(sum.lowest));
            }
        } else if deed.value != sum.lowest.value
            && sum.other.as_ref().is_none_or(|other| deed.block < other.block)
        {
            sum.other = Some(Box::new(deed));
        }
        let mut later = deed;
        if later.block < sum.lowest.block {
            std::mem::swap(&mut later, &mut sum.lowest);
        }
        if later.block != sum.lowest.block && sum.next.as_ref().is_none_or(|next| later.block < next.block) {
            sum.next = Some(Box::new(later));
        }
    }

    fn class(&self, class: Class) -> Option<&ClassSum> {
        self.classes.iter().find(|sum| sum.class == class)
    }

    fn races(&self, plan: &Plan<'_>, word: usize, record: &mut Record) {
        for ((a, b), inner) in PAIRS.into_iter().zip(self.inner) {
            let (Some(a), Some(b)) = (self.class(a), self.class(b)) else { continue };
            let Some((first, second)) = a.lowest_pair(b, plan) else { continue };
            let count = if a.class == b.class {
                (a.threads * a.threads).saturating_sub(inner) / 2
            } else {
                (a.threads * b.threads).saturating_sub(inner)
            };
            race(plan, word, count.max(1), first, second, a, b, record);
        }
    }
}

impl ClassSum {
    fn deeds(&self) -> impl Iterator<Item = (Class, Deed)> + '_ {
        let others = self.next.as_deref().into_iter().chain(self.other.as_deref());
        std::iter::once(&self.lowest).chain(others).map(|deed| (self.class, *deed))
    }

    /// What two different blocks did: the lowest that show a difference, or the lowest.
    fn lowest_pair(&self, other: &ClassSum, plan: &Plan<'_>) -> Option<((Class, Deed), (Class, Deed))> {
        let pairs = self.deeds().flat_map(|a| other.deeds().map(move |b| (a, b)));
        let different = pairs.filter(|(a, b)| a.1.block != b.1.block);
        let ordered = different.map(|(a, b)| if a.1.block < b.1.block { (a, b) } else { (b, a) });
        ordered.min_by_key(|(a, b)| {
            let (_, right, wrong) = values(plan, *a, *b);
            (wrong == Some(right), a.1.block, b.1.block)
        })
    }
}

/// What a race between two blocks is, and what it leaves or reads in the order of the source and in the other, if that is
/// known.
fn values(
    plan: &Plan<'_>,
    (first_class, first): (Class, Deed),
    (second_class, second): (Class, Deed),
) -> (PatternKey, u64, Option<u64>) {
    let writes = |class: Class, site: u16| class.is_write() || plan.sites[site as usize].class.is_write();
    match (writes(first_class, first.site), writes(second_class, second.site)) {
        (true, true) => (PatternKey::WriteWrite, second.value, Some(first.value)),
        (true, false) => (PatternKey::WriteRead, first.value, first.before),
        // Who reads may find what the other block has written in between.
        _ => {
            let other = Some(second.value).filter(|&value| value != first.value || second.before.is_some());
            (PatternKey::ReadWrite, first.value, other)
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "both sides of a race, and both sums that they are from")]
fn race(
    plan: &Plan<'_>,
    word: usize,
    count: u64,
    one: (Class, Deed),
    two: (Class, Deed),
    a: &ClassSum,
    b: &ClassSum,
    record: &mut Record,
) {
    let (pattern, right, wrong) = values(plan, one, two);
    let ((_, first), (_, second)) = (one, two);
    let value = |bits| datum(plan, first.site, bits);
    let (right, wrong) = (value(right), wrong.map_or(Datum::Unknown, value));
    let equal = is_harmless(right, wrong);
    let writes_equal = [a, b].into_iter().filter(|sum| sum.class.is_write()).all(|sum| sum.other.is_none());
    record.add(
        Instance {
            key: Key::Race { first: first.site, second: second.site, pattern, between_blocks: true },
            count,
            at_least: a.at_least || b.at_least,
            word: Some((word, false)),
            harmless: equal && writes_equal,
            equal,
            order: (first.block, first.interval),
        },
        || Detail::Race {
            word,
            first: Who { block: first.block, thread: first.thread, interval: first.interval },
            second: Who { block: second.block, thread: second.thread, interval: second.interval },
            right,
            wrong,
            did: value(first.value),
        },
    );
}
