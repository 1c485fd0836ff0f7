//! What a warp asks of memory in one instruction, and what that costs.

use smallvec::SmallVec;

/// Threads of a warp.
pub const WARP: usize = 32;

/// Bytes of a sector: what global memory moves at least.
pub const SECTOR: u64 = 32;

/// Banks of shared memory, each [`WORD`] bytes wide.
pub const BANKS: u64 = 32;

/// Bytes of a word of a bank.
pub const WORD: u64 = 4;

/// Bytes that one instruction moves for a thread at most.
pub const WIDEST: u32 = 16;

/// How many instructions move `size` bytes for a thread if the access may rely on `align` bytes: none is wider than what
/// it is aligned to, nor than [`WIDEST`].
///
/// ```
/// use tilewise_check::profile::instructions;
///
/// assert_eq!(instructions(16, 16), 1);
/// assert_eq!(instructions(16, 4), 4);
/// ```
pub fn instructions(size: u32, align: u32) -> u32 {
    let widest = align.clamp(1, WIDEST);
    size.div_ceil(widest).max(1)
}

/// The accesses of a warp's threads by one instruction: the same number of bytes for each active one.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The byte address of each lane, `None` of one that is not active. A warp has at most [`WARP`].
    pub lanes: &'a [Option<u64>],
    /// Bytes for a lane, at most [`WIDEST`].
    pub size: u32,
}

/// How often shared memory has to be passed through for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// All of them.
    pub total: u64,
    /// Those that lanes cause which want different words of one bank. None, if there are no conflicts.
    pub extra: u64,
}

impl Request<'_> {
    /// How many lanes take part.
    pub fn active(&self) -> u64 {
        self.lanes.iter().flatten().count() as u64
    }

    /// Bytes that the lanes ask for, those that several of them ask for counted for each.
    pub fn bytes(&self) -> u64 {
        self.active() * u64::from(self.size)
    }

    /// Different sectors of global memory in which the bytes lie.
    ///
    /// ```
    /// use tilewise_check::profile::Request;
    ///
    /// let sectors = |stride: u64| {
    ///     let lanes: Vec<_> = (0..32).map(|lane| Some(lane * stride)).collect();
    ///     Request { lanes: &lanes, size: 4 }.sectors()
    /// };
    /// assert_eq!(sectors(4), 4); // neighbours: 128 bytes
    /// assert_eq!(sectors(32), 32); // each in a sector of its own
    /// assert_eq!(sectors(0), 1);
    /// ```
    pub fn sectors(&self) -> u64 {
        sectors(&self.each())
    }

    /// Passes through shared memory. In a pass each bank gives one word, to all lanes that want it. Accesses of 8 bytes go
    /// by half warps and of 16 bytes by quarters, since a pass gives 128 bytes.
    ///
    /// ```
    /// use tilewise_check::profile::{Passes, Request};
    ///
    /// let passes = |stride: u64| {
    ///     let lanes: Vec<_> = (0..32).map(|lane| Some(lane * stride)).collect();
    ///     Request { lanes: &lanes, size: 4 }.passes()
    /// };
    /// assert_eq!(passes(4), Passes { total: 1, extra: 0 });
    /// assert_eq!(passes(8), Passes { total: 2, extra: 1 }); // every second bank, twice
    /// assert_eq!(passes(128), Passes { total: 32, extra: 31 }); // one bank
    /// assert_eq!(passes(0), Passes { total: 1, extra: 0 }); // one word, for all
    /// ```
    pub fn passes(&self) -> Passes {
        passes(&self.each(), self.size)
    }

    fn each(&self) -> SmallVec<[Option<Piece>; WARP]> {
        self.lanes.iter().map(|lane| lane.map(|address| Piece { address, size: self.size })).collect()
    }
}

/// What one lane asks for in a request: fewer bytes than the others where the rest is outside of the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) size: u32,
}

/// [`Request::sectors`], of lanes that may differ in size.
pub(super) fn sectors(lanes: &[Option<Piece>]) -> u64 {
    units(lanes, SECTOR).len() as u64
}

/// [`Request::passes`], of lanes that ask for `size` bytes or fewer.
pub(super) fn passes(lanes: &[Option<Piece>], size: u32) -> Passes {
    let group = match size {
        0..=4 => WARP,
        5..=8 => WARP / 2,
        _ => WARP / 4,
    };
    let mut passes = Passes::default();
    for lanes in lanes.chunks(group) {
        let mut words_of = [0u64; BANKS as usize];
        for word in units(lanes, WORD) {
            words_of[(word % BANKS) as usize] += 1;
        }
        let most = words_of.into_iter().max().unwrap_or(0);
        passes.total += most;
        passes.extra += most.saturating_sub(1);
    }
    passes
}

/// The numbers of the different units of `unit` bytes in which the bytes of these lanes lie.
fn units(lanes: &[Option<Piece>], unit: u64) -> SmallVec<[u64; 2 * WARP]> {
    let mut units: SmallVec<[u64; 2 * WARP]> = SmallVec::new();
    for &Piece { address, size } in lanes.iter().flatten() {
        let last = u64::from(size.max(1)) - 1;
        units.extend(address / unit..=address.saturating_add(last) / unit);
    }
    units.sort_unstable();
    units.dedup();
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(address: impl Fn(u64) -> u64) -> Vec<Option<u64>> {
        (0..32).map(|lane| Some(address(lane))).collect()
    }

    fn sectors(address: impl Fn(u64) -> u64) -> u64 {
        Request { lanes: &lanes(address), size: 4 }.sectors()
    }

    fn passes(size: u32, address: impl Fn(u64) -> u64) -> Passes {
        Request { lanes: &lanes(address), size }.passes()
    }

    /// The embedding lookup with threads along the features, and with 16 x 16 threads of which x runs along the
    /// positions: batch 8, length 512, 10000 rows of 512 features, row `(7919 * position) % 10000`.
    #[test]
    fn an_embedding_along_features_and_along_positions() {
        const FEATURES: u64 = 512;
        let row = |position: u64| (7919 * position) % 10_000;
        for warp in 0..16 {
            // 1D: the features of position 3.
            let feature = |lane: u64| warp * 32 + lane;
            assert_eq!(sectors(|lane| 4 * (row(3) * FEATURES + feature(lane))), 4, "weights");
            assert_eq!(sectors(|lane| 4 * (3 * FEATURES + feature(lane))), 4, "stores");
            assert_eq!(sectors(|_| 4 * 3), 1, "indices");
        }
        for warp in 0..8 {
            // 2D: 16 positions, two features.
            let position = |lane: u64| 32 + lane % 16;
            let feature = |lane: u64| 2 * warp + lane / 16;
            assert_eq!(sectors(|lane| 4 * (row(position(lane)) * FEATURES + feature(lane))), 16, "weights");
            assert_eq!(sectors(|lane| 4 * (position(lane) * FEATURES + feature(lane))), 16, "stores");
            assert_eq!(sectors(|lane| 4 * position(lane)), 2, "indices");
        }
    }

    #[test]
    fn what_is_not_aligned_touches_a_sector_more() {
        assert_eq!(sectors(|lane| 4 + 4 * lane), 5);
        let one = [Some(30u64)];
        assert_eq!(Request { lanes: &one, size: 4 }.sectors(), 2);
    }

    #[test]
    fn lanes_that_are_not_active_cost_nothing() {
        let some: Vec<_> = (0..32).map(|lane| (lane % 2 == 0).then_some(4 * lane)).collect();
        let request = Request { lanes: &some, size: 4 };
        assert_eq!((request.active(), request.bytes(), request.sectors()), (16, 64, 4));
        let none = Request { lanes: &[None; 32], size: 4 };
        assert_eq!((none.active(), none.sectors(), none.passes()), (0, 0, Passes::default()));
    }

    #[test]
    fn odd_strides_and_padded_tiles_have_no_conflicts() {
        for stride in (1..64).step_by(2) {
            assert_eq!(passes(4, |lane| 4 * lane * stride).extra, 0, "stride {stride}");
        }
        // A column of a 32 x 32 tile, and of one with rows of 33.
        assert_eq!(passes(4, |lane| 4 * 32 * lane).extra, 31);
        assert_eq!(passes(4, |lane| 4 * 33 * lane).extra, 0);
    }

    #[test]
    fn strides_have_as_many_passes_as_their_common_factor_with_32() {
        for (stride, total) in [(1, 1), (2, 2), (4, 4), (6, 2), (8, 8), (12, 4), (16, 16), (32, 32), (64, 32)]
        {
            assert_eq!(passes(4, |lane| 4 * lane * stride), Passes { total, extra: total - 1 });
        }
    }

    #[test]
    fn one_word_is_given_to_all_who_want_it() {
        assert_eq!(passes(4, |lane| 4 * (lane / 8)).extra, 0);
        // Bytes and halves of one word.
        assert_eq!(passes(1, |lane| lane), Passes { total: 1, extra: 0 });
        assert_eq!(passes(2, |lane| 2 * lane), Passes { total: 1, extra: 0 });
    }

    #[test]
    fn wide_accesses_go_by_halves_and_quarters() {
        assert_eq!(passes(8, |lane| 8 * lane), Passes { total: 2, extra: 0 });
        assert_eq!(passes(16, |lane| 16 * lane), Passes { total: 4, extra: 0 });
        assert_eq!(passes(8, |lane| 16 * lane), Passes { total: 4, extra: 2 });
        assert_eq!(passes(16, |lane| 32 * lane), Passes { total: 8, extra: 4 });
        assert_eq!(passes(16, |_| 0), Passes { total: 4, extra: 0 });
    }
}
