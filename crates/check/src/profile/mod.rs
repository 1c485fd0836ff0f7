//! Counts that otherwise need a profiler, from the addresses that a launch accesses.
//!
//! A [`Profile`] is what was counted, as plain data: for each line of the source what its accesses ask of memory and how many
//! operations it does, for the launch how often it asks for the same bytes and how full a GPU gets with it. [`Tally`] adds it
//! up, from what a warp asks of memory in one instruction: a [`Request`], with its sectors of global memory and its passes
//! through shared memory. All of it is arithmetic: nothing is measured, and no cache is simulated, so the numbers are the
//! same on each machine.
//!
//! ```
//! use tilewise_check::profile::{Access, Place, Tally};
//! use tilewise_check::{Action, MemorySpace};
//!
//! // A warp reads every second element of an array of `f32`, then writes 32 neighbours.
//! let place = |memory: &str, action| Place {
//!     location: None,
//!     memory: memory.to_owned(),
//!     space: MemorySpace::Global,
//!     action,
//! };
//! let mut tally = Tally::new(vec![place("a", Action::Read), place("output", Action::Write)]);
//! let far: Vec<_> = (0..32).map(|lane| Some(8 * lane)).collect();
//! let near: Vec<_> = (0..32).map(|lane| Some(1024 + 4 * lane)).collect();
//! tally.access(0, Access { lanes: &far, size: 4, align: 4 });
//! tally.access(1, Access { lanes: &near, size: 4, align: 4 });
//!
//! let sectors: Vec<_> = tally.places().map(|(_, counts)| counts.sectors_per_request()).collect();
//! assert_eq!(sectors, [8.0, 4.0]);
//! assert_eq!((tally.traffic().requested, tally.traffic().unique()), (256, 256));
//! ```

mod footprint;
mod observer;
mod occupancy;
mod registers;
mod request;
mod subject;
mod tally;

pub use footprint::Footprint;
pub use occupancy::{BlockNeeds, DEVICES, Device, Limiter, Occupancy};
pub use request::{BANKS, Passes, Request, SECTOR, WARP, WIDEST, WORD, instructions};
pub use subject::Subject;
pub use tally::{Access, Tally};

pub(crate) use observer::Profiler;

use serde::Serialize;

use crate::{Action, Location, MemorySpace};

/// What was counted in a launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks of the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// Lines of the source that access global or shared memory, or compute; in the order of the source.
    pub lines: Vec<Line>,
    /// Operations on numbers, each thread's counted: arithmetic on floats and integers, a fused multiply-add as two.
    /// Arithmetic on indices is none, nor are changes of sign, comparisons and conversions.
    pub operations: u64,
    /// Bytes of global memory.
    pub global: Traffic,
    /// What a block takes of a GPU. The registers are an estimate.
    pub needs: BlockNeeds,
}

/// What was counted in a line of the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The line, with the column of its first access or operation, if that is known.
    pub location: Option<Location>,
    /// What it asks of each memory, reads and writes apart.
    pub accesses: Vec<Accesses>,
    /// Its operations, each thread's counted.
    pub operations: u64,
}

/// What was counted of the accesses to one memory in a line, of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accesses {
    /// The first place of the line.
    #[serde(flatten)]
    pub place: Place,
    /// The counts of all its places.
    #[serde(flatten)]
    pub counts: Counts,
}

/// An operation of the kernel that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Where it is, if that is known.
    pub location: Option<Location>,
    /// The user's name of the memory.
    pub memory: String,
    /// What kind of memory it is.
    pub space: MemorySpace,
    /// What it does.
    pub action: Action,
}

/// What was counted at one place, or at several.
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

/// Bytes of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Those that threads ask for, however often; an atomic update asks for each byte twice.
    pub requested: u64,
    /// Those that are read at all.
    pub read: u64,
    /// Those that are written at all.
    pub written: u64,
}

impl Profile {
    /// Operations for each byte that has to move at least: the arithmetic intensity, if caches were perfect. 0 if nothing
    /// moves.
    pub fn intensity(&self) -> f64 {
        ratio(self.operations, self.global.unique())
    }

    /// The counts of one memory and action, of all lines.
    pub fn counts(&self, memory: &str, action: Action) -> Counts {
        let mut sum = Counts::default();
        let accesses = self.lines.iter().flat_map(|line| &line.accesses);
        let wanted = accesses.filter(|each| each.place.memory == memory && each.place.action == action);
        wanted.for_each(|each| sum.merge(&each.counts));
        sum
    }
}

impl Traffic {
    /// What has to move at least: what is read at all and what is written at all.
    pub fn unique(&self) -> u64 {
        self.read + self.written
    }

    /// How often a byte is asked for, on average: requested over unique bytes. 0 if none is.
    pub fn redundancy(&self) -> f64 {
        ratio(self.requested, self.unique())
    }
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

/// 0 if there is nothing to divide by.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
