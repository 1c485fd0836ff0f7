//! Findings while they are collected: equal ones counted, the first kept, the same whatever the order of the blocks.

use rustc_hash::{FxHashMap, FxHashSet};
use tilewise_interp::{AccessEvent, Chunks, Words};
use tilewise_ir::Span;

use crate::finding::{
    Action, Datum, Element, Finding, Group, Kind, Note, Number, Party, RacePattern, Severity, Site, Step,
};
use crate::global::bits;
use crate::notes;
use crate::plan::{Class, Place, Plan, PlannedSite};

/// What makes findings equal. Accesses are by number of the first that is the same in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Key {
    Race { first: u16, second: u16, pattern: PatternKey, between_blocks: bool },
    Uninitialised { site: u16 },
    OutOfBounds { site: u16, dim: u8 },
    OutsideMemory { site: u16 },
    Misaligned { site: u16 },
    Overflow { span: Span },
    Division { span: Span },
    RangeStep { span: Span },
    Assertion { span: Span },
    AbsentLane { span: Span },
    Divergence { spans: Vec<Span> },
    WarpDivergence { spans: Vec<Span> },
    NoProgress { cycles: bool, spans: Vec<Span> },
    StepLimit { spans: Vec<Span> },
}

/// [`RacePattern`] with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum PatternKey {
    ReadWrite,
    WriteRead,
    WriteWrite,
}

/// A thread at an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) block: u64,
    pub(crate) thread: u32,
    pub(crate) interval: u32,
}

/// The first instance of a finding; of a race the first that shows a difference, if one does.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// Whether it shows none; then block, interval and number of the event in the block: what comes first.
    pub(crate) order: (bool, u64, u32, u64),
    pub(crate) detail: Detail,
}

/// What an instance is about.
#[derive(Clone, Debug)]
pub(crate) enum Detail {
    /// `did` is what the first wrote or read.
    Race {
        word: usize,
        first: Who,
        second: Who,
        right: Datum,
        wrong: Datum,
        did: Datum,
    },
    Access {
        word: Option<usize>,
        who: Who,
        fact: Fact,
    },
    Thread {
        who: Who,
        fact: Fact,
    },
    Groups {
        first: Vec<Group>,
        second: Vec<Group>,
        rounds: u64,
        who: Who,
    },
}

/// What is said of an access or a thread.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    None,
    Bounds { index: u64, extent: u64, all: Vec<(u8, u64, u64)> },
    Outside { offset: u64, len: u64 },
    Alignment { align: u64, remainder: u64 },
    Step(i64),
    Lane(u32),
    Message(String),
    Index(u64),
}

/// An instance of a finding.
pub(crate) struct Instance {
    pub(crate) key: Key,
    /// How many it stands for.
    pub(crate) count: u64,
    /// Whether there may be more.
    pub(crate) at_least: bool,
    /// The word that it is about, and whether each block has its own.
    pub(crate) word: Option<(usize, bool)>,
    /// Of a race: whether both orders leave the same values.
    pub(crate) harmless: bool,
    /// Of a race: whether the values that would be shown are the same.
    pub(crate) equal: bool,
    pub(crate) order: (u64, u32),
}

impl Instance {
    /// One that is about no word and is no race.
    pub(crate) fn one(key: Key, order: (u64, u32)) -> Instance {
        Instance { key, count: 1, at_least: false, word: None, harmless: true, equal: true, order }
    }
}

#[derive(Clone, Debug)]
struct Entry {
    count: u64,
    at_least: bool,
    /// Elements of memory that each block has for itself, of blocks that are done.
    elements: u64,
    /// Those of the block that runs.
    own: FxHashSet<(u64, usize)>,
    /// Those of memory that all blocks share.
    common: FxHashSet<usize>,
    harmless: bool,
    first: First,
}

/// The findings of a block, or of all blocks so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    entries: FxHashMap<Key, Entry>,
    events: u64,
}

impl Record {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an instance; what it is about is asked for if it is the first.
    pub(crate) fn add(&mut self, instance: Instance, detail: impl FnOnce() -> Detail) {
        self.events += 1;
        let (block, interval) = instance.order;
        let order = (instance.equal, block, interval, self.events);
        let entry = match self.entries.entry(instance.key) {
            std::collections::hash_map::Entry::Occupied(entry) => {
                let entry = entry.into_mut();
                if order < entry.first.order {
                    entry.first = First { order, detail: detail() };
                }
                entry
            }
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(Entry {
                count: 0,
                at_least: false,
                elements: 0,
                own: FxHashSet::default(),
                common: FxHashSet::default(),
                harmless: true,
                first: First { order, detail: detail() },
            }),
        };
        entry.count += instance.count;
        entry.at_least |= instance.at_least;
        entry.harmless &= instance.harmless;
        match instance.word {
            Some((word, true)) => drop(entry.own.insert((block, word))),
            Some((word, false)) => drop(entry.common.insert(word)),
            None => {}
        }
    }

    /// Takes over the findings of another.
    pub(crate) fn merge(&mut self, other: &mut Record) {
        other.events = 0;
        for (key, mut from) in other.entries.drain() {
            from.elements += from.own.len() as u64;
            from.own = FxHashSet::default();
            match self.entries.get_mut(&key) {
                None => drop(self.entries.insert(key, from)),
                Some(to) => {
                    to.count += from.count;
                    to.at_least |= from.at_least;
                    to.elements += from.elements;
                    to.common.extend(from.common);
                    to.harmless &= from.harmless;
                    if from.first.order < to.first.order {
                        to.first = from.first;
                    }
                }
            }
        }
    }

    /// The findings, in order.
    pub(crate) fn into_findings(self, plan: &Plan<'_>) -> Vec<Finding> {
        let entries = self.entries.into_iter().map(|(key, entry)| {
            let (_, block, interval, event) = entry.first.order;
            let order = (block, interval, event);
            (order, key.clone(), entry.into_finding(key, plan))
        });
        let mut findings: Vec<_> = entries.collect();
        findings.sort_by(|(a_order, a_key, a), (b_order, b_key, b)| {
            (a.severity, a_order, a_key).cmp(&(b.severity, b_order, b_key))
        });
        findings.into_iter().map(|(_, _, finding)| finding).collect()
    }
}

impl Entry {
    fn into_finding(self, key: Key, plan: &Plan<'_>) -> Finding {
        let elements = self.elements + (self.own.len() + self.common.len()) as u64;
        let party = |who: Who, site: usize| Party {
            block: plan.block_index(who.block),
            thread: plan.thread_index(who.thread),
            site,
            interval: who.interval,
        };
        let mut finding = Finding {
            kind: Kind::UninitialisedRead,
            severity: Severity::Error,
            count: self.count,
            elements,
            sites: Vec::new(),
            element: None,
            parties: Vec::new(),
            steps: Vec::new(),
            notes: Vec::new(),
        };
        let at_site = |finding: &mut Finding, site: u16, word: Option<usize>, who: Who| {
            finding.sites = vec![plan.site(site)];
            finding.element = word.map(|word| plan.element(site, word));
            finding.parties = vec![party(who, 0)];
        };
        match (key, self.first.detail) {
            (
                Key::Race { first: a, second: b, pattern, between_blocks },
                Detail::Race { word, first, second, right, wrong, did },
            ) => {
                let harmless = self.harmless;
                finding.severity = if harmless { Severity::Warning } else { Severity::Error };
                let pattern = RacePattern::from(pattern);
                finding.sites = vec![plan.site(a)];
                let second_site = if plan.site(b) == finding.sites[0] { 0 } else { 1 };
                if second_site == 1 {
                    finding.sites.push(plan.site(b));
                }
                finding.element = Some(plan.element(a, word));
                finding.parties = vec![party(first, 0), party(second, second_site)];
                let (of_first, of_second) = (plan.site(a).action, plan.site(b).action);
                let step = |party, action, value| Step { party, action, value };
                finding.steps = match pattern {
                    RacePattern::ReadWrite => vec![step(1, of_second, wrong), step(0, of_first, wrong)],
                    RacePattern::WriteRead => vec![step(1, of_second, wrong), step(0, of_first, did)],
                    RacePattern::WriteWrite => {
                        // What an update leaves depends on the order.
                        let leaves = |action, value| match action {
                            Action::AtomicUpdate => Datum::Unknown,
                            _ => value,
                        };
                        vec![
                            step(1, of_second, leaves(of_second, right)),
                            step(0, of_first, leaves(of_first, did)),
                        ]
                    }
                };
                finding.notes = notes::of_race(plan, a, b, [first, second]);
                finding.notes.extend(self.at_least.then_some(Note::AtLeast));
                let mut wrong = wrong;
                if finding.notes.contains(&Note::Depends) && !harmless {
                    // There is no other order.
                    finding.steps.clear();
                    wrong = Datum::Unknown;
                }
                finding.kind = Kind::Race { pattern, between_blocks, harmless, right, wrong };
            }
            (Key::Uninitialised { site }, Detail::Access { word, who, .. }) => {
                at_site(&mut finding, site, word, who);
            }
            (
                Key::OutOfBounds { site, dim },
                Detail::Access { who, fact: Fact::Bounds { index, extent, all }, .. },
            ) => {
                at_site(&mut finding, site, None, who);
                let extents = all.iter().map(|&(_, _, extent)| extent).collect();
                finding.kind = Kind::OutOfBounds { dim, index, extent, extents };
                let index = all.iter().map(|&(_, index, _)| index).collect();
                finding.element = Some(Element { index, ..plan.element(site, 0) });
            }
            (
                Key::OutsideMemory { site },
                Detail::Access { who, fact: Fact::Outside { offset, len }, .. },
            ) => {
                at_site(&mut finding, site, None, who);
                finding.kind = Kind::OutsideMemory { offset, len };
                finding.element = Some(Element { index: vec![offset], ..plan.element(site, 0) });
            }
            (
                Key::Misaligned { site },
                Detail::Access { word, who, fact: Fact::Alignment { align, remainder } },
            ) => {
                at_site(&mut finding, site, word, who);
                finding.kind = Kind::Misaligned { align, remainder };
            }
            (Key::Overflow { span }, Detail::Thread { who, fact: Fact::Index(index) }) => {
                finding.severity = Severity::Warning;
                finding.sites = vec![computes(plan, span)];
                finding.parties = vec![party(who, 0)];
                finding.kind = Kind::IndexOverflow { index };
            }
            (
                Key::Division { span }
                | Key::RangeStep { span }
                | Key::Assertion { span }
                | Key::AbsentLane { span },
                Detail::Thread { who, fact },
            ) => {
                finding.kind = match fact {
                    Fact::Step(step) => Kind::RangeStep { step },
                    Fact::Lane(lane) => Kind::AbsentLane { lane },
                    Fact::Message(message) => Kind::Assertion { message },
                    _ => Kind::DivisionByZero,
                };
                finding.sites = vec![computes(plan, span)];
                finding.parties = vec![party(who, 0)];
            }
            (Key::Divergence { spans }, Detail::Groups { first, second, who, .. }) => {
                finding.sites = at_spans(plan, &spans, Action::Barrier);
                finding.parties = vec![party(who, 0)];
                finding.notes = notes::of_waits(plan.kernel, &spans);
                finding.kind = Kind::BarrierDivergence { waiting: first, ended: second.into_iter().next() };
            }
            (Key::WarpDivergence { spans }, Detail::Groups { first, second, who, .. }) => {
                finding.sites = at_spans(plan, &spans, Action::Barrier);
                finding.parties = vec![party(who, 0)];
                finding.notes = notes::of_waits(plan.kernel, &spans);
                finding.kind = Kind::WarpDivergence { waiting: first, ended: second.into_iter().next() };
            }
            (Key::NoProgress { cycles, spans }, Detail::Groups { first, second, who, .. }) => {
                finding.sites = at_spans(plan, &spans, Action::Loop);
                finding.parties = vec![party(who, 0)];
                finding.kind = Kind::NoProgress { cycles, spinning: first, at_barrier: second };
            }
            (Key::StepLimit { spans }, Detail::Groups { first, rounds, who, .. }) => {
                finding.sites = at_spans(plan, &spans, Action::Loop);
                finding.parties = vec![party(who, 0)];
                finding.kind = Kind::StepLimit { rounds, running: first };
            }
            // Keys and details are made in pairs.
            _ => {}
        }
        finding
    }
}

fn computes(plan: &Plan<'_>, span: Span) -> Site {
    Site { location: plan.location(span), action: Action::Compute }
}

fn at_spans(plan: &Plan<'_>, spans: &[Span], action: Action) -> Vec<Site> {
    spans.iter().map(|&span| Site { location: plan.location(span), action }).collect()
}

impl From<PatternKey> for RacePattern {
    fn from(key: PatternKey) -> RacePattern {
        match key {
            PatternKey::ReadWrite => RacePattern::ReadWrite,
            PatternKey::WriteRead => RacePattern::WriteRead,
            PatternKey::WriteWrite => RacePattern::WriteWrite,
        }
    }
}

/// A value of what an access touches.
pub(crate) fn datum(plan: &Plan<'_>, site: u16, bits: u64) -> Datum {
    Datum::Value(Number::new(plan.scalar(site), bits))
}

/// The first access of a race, as seen from its second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) class: Class,
    pub(crate) site: u16,
    /// What it left, or what it found if it wrote nothing, if that is known.
    pub(crate) did: Option<u64>,
    /// What was there before it, if that is known and anything was.
    pub(crate) before: Option<u64>,
}

/// What a race is, and what it does to the value of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RaceValues {
    pub(crate) pattern: PatternKey,
    /// What is read, or left, in the order of the source.
    pub(crate) right: Datum,
    /// The same in the other order.
    pub(crate) wrong: Datum,
    /// What the first access wrote or read.
    pub(crate) did: Datum,
}

/// The values of a race, seen from its second access: `old` is what it found, `written` what it wrote. Others may have written
/// between the two.
pub(crate) fn values_of_race(
    plan: &Plan<'_>,
    site: u16,
    first: Earlier,
    old: u64,
    written: Option<u64>,
) -> RaceValues {
    let value = |bits| datum(plan, site, bits);
    let did = first.did.map_or(Datum::Unknown, value);
    let (pattern, right, wrong) = match (first.class.is_write(), written) {
        // What an update leaves depends on the order.
        (true, Some(new)) if plan.site(first.site).action == Action::AtomicUpdate => {
            (PatternKey::WriteWrite, value(new), Datum::Unknown)
        }
        (true, Some(new)) => (PatternKey::WriteWrite, value(new), did),
        (false, new) => (PatternKey::ReadWrite, did, new.map_or(Datum::Unknown, value)),
        (true, None) if first.class.is_atomic() => (PatternKey::WriteRead, value(old), Datum::Unknown),
        (true, None) => (PatternKey::WriteRead, value(old), first.before.map_or(Datum::Unwritten, value)),
    };
    RaceValues { pattern, right, wrong, did }
}

/// What the wrong order gives. Who reads what a thread writes several times may find a value in between, so that what was
/// there before all of them was the same says nothing then.
pub(crate) fn wrong_value(pattern: PatternKey, right: Datum, wrong: Datum, again: bool) -> Datum {
    if again && pattern == PatternKey::WriteRead && is_harmless(right, wrong) {
        Datum::Unknown
    } else {
        wrong
    }
}

/// Whether a race leaves the same value in both orders, as far as can be told. Where both are NaN it cannot: that is what comes
/// of memory that nobody wrote, whatever is done with it.
pub(crate) fn is_harmless(right: Datum, wrong: Datum) -> bool {
    match right {
        Datum::Value(Number(value)) => right == wrong && !value.as_float().is_some_and(f64::is_nan),
        Datum::Unwritten | Datum::Unknown => false,
    }
}

/// Records claims of alignment that do not hold; `who` is any thread of the block.
pub(crate) fn misaligned(site: &PlannedSite, event: &AccessEvent<'_>, who: Who, record: &mut Record) {
    let (size, align) = (site.access.scalar.size() as u64, site.access.align as u64);
    if align <= size {
        return;
    }
    let offset = match site.place {
        Place::Global { offset, .. } => offset,
        Place::Shared(_) | Place::Local(_) => 0,
    };
    let mut check = |thread: usize, word: usize| {
        let remainder = (offset + word) as u64 * size % align;
        if remainder == 0 {
            return;
        }
        let who = Who { thread: thread as u32, ..who };
        let (key, order) = (Key::Misaligned { site: site.canon }, (who.block, who.interval));
        record.add(Instance::one(key, order), || Detail::Access {
            word: Some(offset + word),
            who,
            fact: Fact::Alignment { align, remainder },
        });
    };
    match &event.words {
        Words::Same(first) => event.threads.iter().for_each(|thread| check(thread, *first)),
        Words::Chunks(chunks) => {
            for chunk in chunks.iter() {
                let base = chunk.chunk * Chunks::LANES;
                bits(chunk.active).for_each(|lane| check(base + lane, chunk.word(lane)));
            }
        }
        Words::Each(spots) => {
            let first = spots.iter().filter(|spot| spot.component == 0);
            first.for_each(|spot| check(spot.thread as usize, spot.word));
        }
    }
}
