//! Counts that otherwise need a profiler, from the addresses that a launch accesses.
//!
//! A [`Request`] is what a warp asks of memory in one instruction: its sectors of global memory, its passes through shared
//! memory. A [`Profile`] adds them up for each line of the source, and for the launch. [`Device::occupancy`] tells how full a
//! GPU gets. All of it is arithmetic: nothing is measured, and no cache is simulated.
//!
//! ```
//! use tilewise_check::profile::{Access, Place, Profile};
//! use tilewise_check::{Action, MemorySpace};
//!
//! // A warp reads every second element of an array of `f32`, then writes 32 neighbours.
//! let place = |action| Place { location: None, space: MemorySpace::Global, action };
//! let mut profile = Profile::new(vec![place(Action::Read), place(Action::Write)]);
//! let far: Vec<_> = (0..32).map(|lane| Some(8 * lane)).collect();
//! let near: Vec<_> = (0..32).map(|lane| Some(1024 + 4 * lane)).collect();
//! profile.access(0, Access { lanes: &far, size: 4, align: 4 });
//! profile.access(1, Access { lanes: &near, size: 4, align: 4 });
//! profile.operations(32);
//!
//! let sectors: Vec<_> = profile.lines().iter().map(|line| line.counts.sectors_per_request()).collect();
//! assert_eq!(sectors, [8.0, 4.0]);
//! assert_eq!(profile.intensity(), 32.0 / 256.0);
//! ```

mod footprint;
mod occupancy;
mod request;

pub use footprint::Footprint;
pub use occupancy::{BlockNeeds, DEVICES, Device, Limiter, Occupancy};
pub use request::{BANKS, Passes, Request, SECTOR, WARP, WIDEST, WORD, instructions};

use serde::Serialize;
use smallvec::SmallVec;

use crate::{Action, Location, MemorySpace};

/// An operation of the kernel that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Where it is, if that is known.
    pub location: Option<Location>,
    /// The memory.
    pub space: MemorySpace,
    /// What it does.
    pub action: Action,
}

/// What a warp does there once: all lanes access as many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The byte address of each lane, `None` of one that is not active. Of shared memory the address in it.
    pub lanes: &'a [Option<u64>],
    /// Bytes for a lane.
    pub size: u32,
    /// The alignment in bytes that the access may rely on.
    pub align: u32,
}

/// What was counted at one place or line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Accesses of warps.
    pub accesses: u64,
    /// Instructions of warps: several for an access that is wider than its alignment or than an instruction.
    pub requests: u64,
    /// Active lanes of all requests.
    pub lanes: u64,
    /// Bytes that the lanes ask for.
    pub bytes: u64,
    /// Of global memory: sectors of all requests.
    pub sectors: u64,
    /// Of shared memory: passes of all requests.
    pub passes: u64,
    /// Of shared memory: passes that conflicts of banks add.
    pub extra_passes: u64,
}

impl Counts {
    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Counts) {
        let Counts { accesses, requests, lanes, bytes, sectors, passes, extra_passes } = other;
        self.accesses += accesses;
        self.requests += requests;
        self.lanes += lanes;
        self.bytes += bytes;
        self.sectors += sectors;
        self.passes += passes;
        self.extra_passes += extra_passes;
    }

    /// Sectors of a request, on average: 4 are best for 4 bytes a lane.
    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.sectors, self.requests)
    }

    /// Passes of a request, on average.
    pub fn passes_per_request(&self) -> f64 {
        ratio(self.passes, self.requests)
    }

    /// Active lanes of a request, on average.
    pub fn lanes_per_request(&self) -> f64 {
        ratio(self.lanes, self.requests)
    }

    /// The part of the sectors' bytes that lanes asked for; above 1 if lanes share bytes.
    pub fn efficiency(&self) -> f64 {
        ratio(self.bytes, self.sectors * SECTOR)
    }
}

/// What was counted in a line of the source, for one kind of memory, reads and writes apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The first place of the line.
    pub place: Place,
    /// The counts of all its places.
    pub counts: Counts,
}

/// The counts of a launch, or of a part of it.
#[derive(Clone, Debug)]
pub struct Profile {
    places: Vec<(Place, Counts)>,
    operations: u64,
    read: Footprint,
    written: Footprint,
}

impl Profile {
    /// A profile of a kernel with these places, in which nothing has been counted yet.
    pub fn new(places: Vec<Place>) -> Profile {
        Profile {
            places: places.into_iter().map(|place| (place, Counts::default())).collect(),
            operations: 0,
            read: Footprint::default(),
            written: Footprint::default(),
        }
    }

    /// Counts an access of a warp at the place with this number. One of a place that is not there is not counted.
    pub fn access(&mut self, place: usize, access: Access<'_>) {
        let Some((place, counts)) = self.places.get_mut(place) else { return };
        counts.accesses += 1;
        let pieces = instructions(access.size, access.align);
        let size = access.size.div_ceil(pieces);
        let mut lanes: SmallVec<[Option<u64>; WARP]> = SmallVec::from_slice(access.lanes);
        for _ in 0..pieces {
            let request = Request { lanes: &lanes, size };
            counts.requests += 1;
            counts.lanes += request.active();
            counts.bytes += request.bytes();
            match place.space {
                MemorySpace::Global => counts.sectors += request.sectors(),
                MemorySpace::Shared => {
                    let passes = request.passes();
                    counts.passes += passes.total;
                    counts.extra_passes += passes.extra;
                }
                MemorySpace::Local => {}
            }
            for address in lanes.iter_mut().flatten() {
                *address = address.saturating_add(size.into());
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
                    insert(footprint, access);
                }
            }
        }
    }

    /// Counts operations on numbers, one for each active thread.
    pub fn operations(&mut self, count: u64) {
        self.operations += count;
    }

    /// How many operations were counted.
    pub fn operation_count(&self) -> u64 {
        self.operations
    }

    /// Adds what was counted in another part of the launch, of the same kernel.
    pub fn merge(&mut self, other: &Profile) {
        for ((_, counts), (_, more)) in self.places.iter_mut().zip(&other.places) {
            counts.merge(more);
        }
        self.operations += other.operations;
        self.read.merge(&other.read);
        self.written.merge(&other.written);
    }

    /// The counts of each line with accesses, for each kind of memory, reads and writes apart; in the order of the places.
    /// Places without a position are lines of their own.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for (place, counts) in &self.places {
            let position = |place: &Place| place.location.clone().map(|l| (l.file, l.line));
            let same = |line: &&mut Line| {
                place.location.is_some()
                    && position(&line.place) == position(place)
                    && (line.place.space, line.place.action) == (place.space, place.action)
            };
            match lines.iter_mut().find(same) {
                Some(line) => line.counts.merge(counts),
                None => lines.push(Line { place: place.clone(), counts: *counts }),
            }
        }
        lines
    }

    /// Bytes of global memory that threads asked for, however often.
    pub fn requested(&self) -> u64 {
        let global = self.places.iter().filter(|(place, _)| place.space == MemorySpace::Global);
        global
            .map(|(place, counts)| match place.action {
                Action::AtomicUpdate => 2 * counts.bytes,
                _ => counts.bytes,
            })
            .sum()
    }

    /// Bytes of global memory that were read at all and that were written at all: what has to move at least.
    pub fn unique(&self) -> u64 {
        self.read.bytes() + self.written.bytes()
    }

    /// How often a byte was asked for, on average: requested over unique bytes.
    pub fn redundancy(&self) -> f64 {
        ratio(self.requested(), self.unique())
    }

    /// Operations for each unique byte of global memory: the arithmetic intensity, if caches were perfect.
    pub fn intensity(&self) -> f64 {
        ratio(self.operations, self.unique())
    }
}

/// The bytes of an access, neighbouring lanes in one piece.
fn insert(footprint: &mut Footprint, access: Access<'_>) {
    let size = u64::from(access.size);
    let mut run: Option<(u64, u64)> = None;
    for &address in access.lanes.iter().flatten() {
        run = match run {
            Some((start, len)) if start.checked_add(len) == Some(address) => Some((start, len + size)),
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

/// 0 if there is nothing to divide by.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(space: MemorySpace, action: Action, line: u32) -> Place {
        let location = Some(Location { file: "k.rs".to_owned(), line, column: 1 });
        Place { location, space, action }
    }

    fn lanes(address: impl Fn(u64) -> u64) -> Vec<Option<u64>> {
        (0..32).map(|lane| Some(address(lane))).collect()
    }

    /// Shared memory at `tid` and at `2 * tid`, 32 blocks of 256 threads: the conflicts of loads and of stores.
    #[test]
    fn bank_conflicts_of_strides_one_and_two() {
        for (stride, conflicts) in [(1, 0), (2, 256)] {
            let mut profile = Profile::new(vec![
                place(MemorySpace::Shared, Action::Write, 1),
                place(MemorySpace::Shared, Action::Read, 2),
            ]);
            for warp in (0..32).flat_map(|_block| 0..8) {
                let lanes = lanes(|lane| 4 * stride * (32 * warp + lane));
                profile.access(0, Access { lanes: &lanes, size: 4, align: 4 });
                profile.access(1, Access { lanes: &lanes, size: 4, align: 4 });
            }
            for line in profile.lines() {
                assert_eq!(line.counts.requests, 256);
                assert_eq!(line.counts.extra_passes, conflicts);
            }
        }
    }

    /// 2^20 elements of 4 bytes, four for each thread in one access, with the alignment of one element and of four.
    #[test]
    fn instructions_of_vectors_by_their_alignment() {
        for (align, instructions) in [(4, 32_768), (16, 8_192)] {
            let mut profile = Profile::new(vec![
                place(MemorySpace::Global, Action::Read, 1),
                place(MemorySpace::Global, Action::Write, 1),
            ]);
            for warp in 0..(1u64 << 20) / 4 / 32 {
                let lanes = lanes(|lane| 16 * (32 * warp + lane));
                profile.access(0, Access { lanes: &lanes, size: 16, align });
                profile.access(1, Access { lanes: &lanes, size: 16, align });
            }
            for line in profile.lines() {
                assert_eq!((line.counts.accesses, line.counts.requests), (8_192, instructions));
                assert_eq!(line.counts.bytes, 4 << 20);
            }
            assert_eq!(profile.unique(), 8 << 20);
        }
    }

    /// Each thread adds its own element and every 512th after it, up to the end: `out = a + b`.
    fn strided_add(n: u64) -> Profile {
        let (a, b, out) = (0, 4 * n, 8 * n);
        let mut profile = Profile::new(vec![
            place(MemorySpace::Global, Action::Read, 1),
            place(MemorySpace::Global, Action::Read, 1),
            place(MemorySpace::Global, Action::Write, 1),
        ]);
        for warp in 0..n / 32 {
            for first in (32 * warp..n).step_by(512) {
                for (number, base) in [a, b, out].into_iter().enumerate() {
                    let lanes = lanes(|lane| base + 4 * (first + lane));
                    profile.access(number, Access { lanes: &lanes, size: 4, align: 4 });
                }
                profile.operations(32);
            }
        }
        profile
    }

    #[test]
    fn redundancy_of_a_loop_that_all_threads_share() {
        // An element is added by each 512th thread up to it, from 1 to n / 512 of them: (n / 512 + 1) / 2 on average.
        let expected = |n: u64| (n / 512 + 1) as f64 / 2.0;
        for n in [512, 4096, 16_384, 65_536] {
            let profile = strided_add(n);
            assert_eq!(profile.redundancy(), expected(n));
            for line in profile.lines() {
                assert_eq!(line.counts.sectors_per_request(), 4.0);
                assert_eq!(line.counts.efficiency(), 1.0);
                assert_eq!(line.counts.lanes_per_request(), 32.0);
            }
        }
        assert_eq!(expected(65_536), 64.5);
        assert_eq!(expected(1 << 24), 16_384.5);
    }

    /// `y = 2.5 x + y` in place: 8 bytes read and 4 written for a multiplication and an addition.
    #[test]
    fn intensity_of_saxpy() {
        let n = 1u64 << 15;
        let mut profile = Profile::new(vec![
            place(MemorySpace::Global, Action::Read, 1),
            place(MemorySpace::Global, Action::Read, 1),
            place(MemorySpace::Global, Action::Write, 1),
        ]);
        for warp in 0..n / 32 {
            for (number, base) in [0, 4 * n, 4 * n].into_iter().enumerate() {
                let lanes = lanes(|lane| base + 4 * (32 * warp + lane));
                profile.access(number, Access { lanes: &lanes, size: 4, align: 4 });
            }
            profile.operations(64);
        }
        assert_eq!(profile.intensity(), 2.0 / 12.0);
        // Of 2^25 elements it is 384 MiB.
        assert_eq!(profile.unique() << 10, 384 << 20);
        assert_eq!(profile.redundancy(), 1.0);
    }

    #[test]
    fn parts_of_a_launch_add_up_to_the_whole() {
        let lanes = |base| lanes(move |lane| base + 4 * lane);
        let places = || vec![place(MemorySpace::Global, Action::AtomicUpdate, 7)];
        let (mut whole, mut part, mut other) =
            (Profile::new(places()), Profile::new(places()), Profile::new(places()));
        for (base, half) in [(0, &mut part), (64, &mut other)] {
            half.access(0, Access { lanes: &lanes(base), size: 4, align: 4 });
            half.operations(1);
            whole.access(0, Access { lanes: &lanes(base), size: 4, align: 4 });
            whole.operations(1);
        }
        part.merge(&other);
        assert_eq!(part.lines(), whole.lines());
        assert_eq!((part.requested(), part.unique()), (512, 2 * 192));
        assert_eq!(part.intensity(), whole.intensity());
        // A place that is not there.
        part.access(9, Access { lanes: &[], size: 4, align: 4 });
    }
}
