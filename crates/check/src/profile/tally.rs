//! Adding up what warps ask of memory, place by place.

use smallvec::SmallVec;

use super::request::{self, Piece};
use super::{Counts, Footprint, Place, SECTOR, Traffic, WARP, WORD, instructions};
use crate::{Action, MemorySpace};

/// What a warp does at a place once: all lanes access as many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The byte address of each lane, `None` of one that is not active. Of shared memory the address in it.
    pub lanes: &'a [Option<u64>],
    /// Bytes for a lane.
    pub size: u32,
    /// The alignment in bytes that the access may rely on.
    pub align: u32,
}

/// The counts of a launch, or of a part of it.
#[derive(Clone, Debug)]
pub struct Tally {
    places: Vec<(Place, Counts)>,
    /// What was counted last at each place: mostly the next access looks the same.
    last: Vec<Option<(Shape, Counts)>>,
    read: Footprint,
    written: Footprint,
}

impl Tally {
    /// A tally of a kernel with these places, in which nothing has been counted yet.
    pub fn new(places: Vec<Place>) -> Tally {
        Tally {
            last: vec![None; places.len()],
            places: places.into_iter().map(|place| (place, Counts::default())).collect(),
            read: Footprint::default(),
            written: Footprint::default(),
        }
    }

    /// Counts an access of a warp at the place with this number. One of a place that is not there is not counted.
    pub fn access(&mut self, place: usize, access: Access<'_>) {
        let Access { lanes, size, align } = access;
        let mut warp = Warp::default();
        for (lane, (address, to)) in lanes.iter().zip(&mut warp.addresses).enumerate() {
            if let Some(address) = address {
                warp.active |= 1 << lane;
                *to = *address;
            }
        }
        self.count(place, &warp, size, align);
    }

    /// Counts an access of a warp.
    pub(super) fn count(&mut self, place: usize, warp: &Warp, size: u32, align: u32) {
        let (Some((place, counts)), Some(last)) = (self.places.get_mut(place), self.last.get_mut(place))
        else {
            return;
        };
        let unit = match place.space {
            MemorySpace::Global => SECTOR,
            MemorySpace::Shared | MemorySpace::Local => WORD,
        };
        if warp.inside.is_some() {
            counts.merge(&counts_of(place.space, warp, size, align));
        } else {
            let shape = Shape::of(warp, size, align, unit);
            match last {
                Some((known, one)) if *known == shape => counts.merge(one),
                _ => {
                    let one = counts_of(place.space, warp, size, align);
                    counts.merge(&one);
                    *last = Some((shape, one));
                }
            }
        }
        if place.space == MemorySpace::Global {
            let (reads, writes) = match place.action {
                Action::Read | Action::AtomicRead => (true, false),
                Action::Write | Action::AtomicWrite => (false, true),
                Action::AtomicUpdate => (true, true),
                Action::Barrier | Action::Loop | Action::Compute => (false, false),
            };
            for (touched, footprint) in [(reads, &mut self.read), (writes, &mut self.written)] {
                if touched {
                    insert(footprint, warp, size);
                }
            }
        }
    }

    /// Adds what was counted in another part of the launch, of the same kernel.
    pub fn merge(&mut self, other: &Tally) {
        for ((_, counts), (_, more)) in self.places.iter_mut().zip(&other.places) {
            counts.merge(more);
        }
        self.read.merge(&other.read);
        self.written.merge(&other.written);
    }

    /// The places with their counts.
    pub fn places(&self) -> impl Iterator<Item = &(Place, Counts)> {
        self.places.iter()
    }

    /// Bytes of global memory.
    pub fn traffic(&self) -> Traffic {
        let global = self.places.iter().filter(|(place, _)| place.space == MemorySpace::Global);
        let requested = global.map(|(place, counts)| match place.action {
            Action::AtomicUpdate => 2 * counts.bytes,
            _ => counts.bytes,
        });
        Traffic { requested: requested.sum(), read: self.read.bytes(), written: self.written.bytes() }
    }
}

/// The addresses that the lanes of a warp access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warp {
    /// Which lanes are active, a bit each.
    pub(super) active: u32,
    /// The byte address of each active lane; of others whatever it is.
    pub(super) addresses: [u64; WARP],
    /// Where a part of the access is outside of the memory: how many of the first bytes of each active lane are inside.
    pub(super) inside: Option<[u32; WARP]>,
}

impl Warp {
    /// What each lane asks for of the `size` bytes of an access from byte `at` on.
    fn pieces(&self, at: u32, size: u32) -> impl Iterator<Item = Option<Piece>> + '_ {
        (0..WARP).map(move |lane| {
            let size = self.inside.map_or(size, |inside| inside[lane].saturating_sub(at).min(size));
            let is_active = self.active >> lane & 1 != 0 && size > 0;
            is_active.then(|| Piece { address: self.addresses[lane].saturating_add(u64::from(at)), size })
        })
    }
}

/// What the counts of an access follow from. Sectors are the same wherever in memory it is, if it lies in the same way in a
/// sector; passes, if it lies in the same way in a word, since all banks are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    size: u32,
    align: u32,
    active: u32,
    /// Where the first active lane is in its sector or word.
    start: u64,
    /// How far each active lane is from the first.
    distances: [u64; WARP],
}

impl Shape {
    fn of(warp: &Warp, size: u32, align: u32, unit: u64) -> Shape {
        let Warp { active, addresses, inside: _ } = warp;
        let first = addresses.get(active.trailing_zeros() as usize).copied().unwrap_or(0);
        let mut distances = [0; WARP];
        for (lane, (to, address)) in distances.iter_mut().zip(addresses).enumerate() {
            let is_active = u64::from(active >> lane & 1);
            *to = address.wrapping_sub(first) & is_active.wrapping_neg();
        }
        Shape { size, align, active: *active, start: first % unit, distances }
    }
}

/// What one access counts.
fn counts_of(space: MemorySpace, warp: &Warp, size: u32, align: u32) -> Counts {
    let mut counts = Counts { accesses: 1, ..Counts::default() };
    let pieces = instructions(size, align);
    let size = size.div_ceil(pieces);
    for piece in 0..pieces {
        let lanes: SmallVec<[Option<Piece>; WARP]> = warp.pieces(piece * size, size).collect();
        let active = lanes.iter().flatten().count() as u64;
        if active == 0 {
            continue;
        }
        counts.requests += 1;
        counts.lanes += active;
        counts.bytes += lanes.iter().flatten().map(|lane| u64::from(lane.size)).sum::<u64>();
        match space {
            MemorySpace::Global => counts.sectors += request::sectors(&lanes),
            MemorySpace::Shared => {
                let passes = request::passes(&lanes, size);
                counts.passes += passes.total;
                counts.extra_passes += passes.extra;
            }
            MemorySpace::Local => {}
        }
    }
    counts
}

/// The bytes of an access, neighbouring lanes in one piece.
fn insert(footprint: &mut Footprint, warp: &Warp, size: u32) {
    let mut run: Option<(u64, u64)> = None;
    for Piece { address, size } in warp.pieces(0, size).flatten() {
        let size = u64::from(size);
        run = match run {
            Some((start, len)) if start.checked_add(len) == Some(address) => Some((start, len + size)),
            // All lanes the same.
            Some((start, len)) if address == start && len == size => run,
            Some((start, len)) => {
                footprint.insert(start, len);
                Some((address, size))
            }
            None => Some((address, size)),
        };
    }
    if let Some((start, len)) = run {
        footprint.insert(start, len);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn place(space: MemorySpace, action: Action) -> Place {
        Place { location: None, memory: "m".to_owned(), space, action }
    }

    fn lanes(address: impl Fn(u64) -> u64) -> Vec<Option<u64>> {
        (0..32).map(|lane| Some(address(lane))).collect()
    }

    /// Shared memory at `tid` and at `2 * tid`, 32 blocks of 256 threads: the conflicts of loads and of stores.
    #[test]
    fn bank_conflicts_of_strides_one_and_two() {
        for (stride, conflicts) in [(1, 0), (2, 256)] {
            let mut tally = Tally::new(vec![
                place(MemorySpace::Shared, Action::Write),
                place(MemorySpace::Shared, Action::Read),
            ]);
            for warp in (0..32).flat_map(|_block| 0..8) {
                let lanes = lanes(|lane| 4 * stride * (32 * warp + lane));
                tally.access(0, Access { lanes: &lanes, size: 4, align: 4 });
                tally.access(1, Access { lanes: &lanes, size: 4, align: 4 });
            }
            for (_, counts) in tally.places() {
                assert_eq!(counts.requests, 256);
                assert_eq!(counts.extra_passes, conflicts);
            }
        }
    }

    /// 2^20 elements of 4 bytes, four for each thread in one access, with the alignment of one element and of four.
    #[test]
    fn instructions_of_vectors_by_their_alignment() {
        for (align, instructions) in [(4, 32_768), (16, 8_192)] {
            let mut tally = Tally::new(vec![
                place(MemorySpace::Global, Action::Read),
                place(MemorySpace::Global, Action::Write),
            ]);
            for warp in 0..(1u64 << 20) / 4 / 32 {
                let lanes = lanes(|lane| 16 * (32 * warp + lane));
                tally.access(0, Access { lanes: &lanes, size: 16, align });
                tally.access(1, Access { lanes: &lanes, size: 16, align });
            }
            for (_, counts) in tally.places() {
                assert_eq!((counts.accesses, counts.requests), (8_192, instructions));
                assert_eq!(counts.bytes, 4 << 20);
            }
            assert_eq!(tally.traffic().unique(), 8 << 20);
        }
    }

    /// Each thread adds its own element and every 512th after it, up to the end: `out = a + b`.
    fn strided_add(n: u64) -> Tally {
        let (a, b, out) = (0, 4 * n, 8 * n);
        let mut tally = Tally::new(vec![
            place(MemorySpace::Global, Action::Read),
            place(MemorySpace::Global, Action::Read),
            place(MemorySpace::Global, Action::Write),
        ]);
        for warp in 0..n / 32 {
            for first in (32 * warp..n).step_by(512) {
                for (number, base) in [a, b, out].into_iter().enumerate() {
                    let lanes = lanes(|lane| base + 4 * (first + lane));
                    tally.access(number, Access { lanes: &lanes, size: 4, align: 4 });
                }
            }
        }
        tally
    }

    #[test]
    fn redundancy_of_a_loop_that_all_threads_share() {
        // An element is added by each 512th thread up to it, from 1 to n / 512 of them: (n / 512 + 1) / 2 on average.
        let expected = |n: u64| (n / 512 + 1) as f64 / 2.0;
        for n in [512, 4096, 16_384, 65_536] {
            let tally = strided_add(n);
            assert_eq!(tally.traffic().redundancy(), expected(n));
            for (_, counts) in tally.places() {
                assert_eq!(counts.sectors_per_request(), 4.0);
                assert_eq!(counts.efficiency(), 1.0);
                assert_eq!(counts.lanes_per_request(), 32.0);
            }
        }
        assert_eq!(expected(65_536), 64.5);
        assert_eq!(expected(1 << 24), 16_384.5);
    }

    /// `y = 2.5 x + y` in place: 8 bytes read and 4 written.
    #[test]
    fn traffic_of_saxpy() {
        let n = 1u64 << 15;
        let mut tally = Tally::new(vec![
            place(MemorySpace::Global, Action::Read),
            place(MemorySpace::Global, Action::Read),
            place(MemorySpace::Global, Action::Write),
        ]);
        for warp in 0..n / 32 {
            for (number, base) in [0, 4 * n, 4 * n].into_iter().enumerate() {
                let lanes = lanes(|lane| base + 4 * (32 * warp + lane));
                tally.access(number, Access { lanes: &lanes, size: 4, align: 4 });
            }
        }
        // Of 2^25 elements it is 384 MiB.
        assert_eq!(tally.traffic().unique() << 10, 384 << 20);
        assert_eq!(tally.traffic().redundancy(), 1.0);
    }

    /// Lanes of which any number of bytes is inside, against each byte by itself.
    #[test]
    fn what_is_outside_is_not_counted() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let (base, stride, align) = (16 * random(20), 16 * random(3), [4, 8, 16][random(3) as usize]);
            let inside: [u32; WARP] = std::array::from_fn(|_| 4 * random(5) as u32);
            let addresses = std::array::from_fn(|lane| base + stride * lane as u64);
            let warp = Warp { active: random(1 << 32) as u32, addresses, inside: Some(inside) };
            let mut tally = Tally::new(vec![place(MemorySpace::Global, Action::Read)]);
            tally.count(0, &warp, 16, align);
            let active = || (0..WARP).filter(|lane| warp.active >> lane & 1 != 0);
            let mut expected = Counts { accesses: 1, ..Counts::default() };
            let mut all = BTreeSet::new();
            for first in (0..16).step_by(align as usize) {
                let bytes = |lane: usize| first..inside[lane].min(first + align);
                let touched = active().flat_map(|lane| bytes(lane).map(move |at| (lane, at)));
                let touched: Vec<u64> = touched.map(|(lane, at)| addresses[lane] + u64::from(at)).collect();
                expected.requests += u64::from(!touched.is_empty());
                expected.lanes += active().filter(|&lane| !bytes(lane).is_empty()).count() as u64;
                expected.bytes += touched.len() as u64;
                expected.sectors +=
                    touched.iter().map(|at| at / SECTOR).collect::<BTreeSet<_>>().len() as u64;
                all.extend(touched);
            }
            assert_eq!(tally.places().next().map(|(_, counts)| *counts), Some(expected));
            assert_eq!(tally.traffic().read, all.len() as u64);
        }
    }

    /// What is remembered of the last access is what would be counted anew.
    #[test]
    fn equal_shapes_count_the_same() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for space in [MemorySpace::Global, MemorySpace::Shared] {
            let mut tally = Tally::new(vec![place(space, Action::Read)]);
            let mut expected = Counts::default();
            for _ in 0..2000 {
                let (base, stride, missing) = (4 * random(20), 4 * random(3), random(4));
                let lanes: Vec<_> = (0..32)
                    .map(|lane| (lane != missing || missing == 0).then_some(base + stride * lane))
                    .collect();
                let access = Access { lanes: &lanes, size: 8, align: 4 };
                tally.access(0, access);
                let mut anew = Tally::new(vec![place(space, Action::Read)]);
                anew.access(0, access);
                anew.places().for_each(|(_, counts)| expected.merge(counts));
            }
            assert_eq!(tally.places().next().map(|(_, counts)| *counts), Some(expected));
        }
    }

    #[test]
    fn parts_of_a_launch_add_up_to_the_whole() {
        let lanes = |base| lanes(move |lane| base + 4 * lane);
        let places = || vec![place(MemorySpace::Global, Action::AtomicUpdate)];
        let (mut whole, mut part, mut other) =
            (Tally::new(places()), Tally::new(places()), Tally::new(places()));
        for (base, half) in [(0, &mut part), (64, &mut other)] {
            half.access(0, Access { lanes: &lanes(base), size: 4, align: 4 });
            whole.access(0, Access { lanes: &lanes(base), size: 4, align: 4 });
        }
        part.merge(&other);
        assert!(part.places().eq(whole.places()));
        assert_eq!((part.traffic().requested, part.traffic().unique()), (512, 2 * 192));
        assert_eq!(part.traffic(), whole.traffic());
        // A place that is not there.
        part.access(9, Access { lanes: &[], size: 4, align: 4 });
    }
}
