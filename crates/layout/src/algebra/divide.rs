//! Division: a layout cut into tiles.
//!
//! The four divisions have the same elements and differ in how their modes are nested. For a
//! layout of shape `(M, N, L)` and a tiler of two modes:
//!
//! | division | shape of the result |
//! | --- | --- |
//! | [`logical_divide`] | `((TileM, RestM), (TileN, RestN), L)` |
//! | [`zipped_divide`] | `((TileM, TileN), (RestM, RestN, L))` |
//! | [`tiled_divide`] | `((TileM, TileN), RestM, RestN, L)` |
//! | [`flat_divide`] | `(TileM, TileN, RestM, RestN, L)` |
//!
//! A tile that does not divide its extent is rounded up: there are as many tiles as are needed
//! to cover all elements, and those at the edge reach beyond it.

use super::complement::complement;
use super::composition::compose;
use super::tiler::{self, Tiler};
use crate::error::Result;
use crate::{Layout, fixed, make_layout};

/// Splits a layout, or each of its modes, into a tile and the rest: A ⊘ B.
///
/// # Law
///
/// logical_divide(A, B)(i, j) = A(B(i) + C(j)) with C = complement(B, size(A)), where A goes on
/// beyond its size in its last extent.
///
/// logical_divide(A, (B0, B1, ...)) = make_layout(logical_divide(A0, B0), logical_divide(A1, B1), ...),
/// with the modes of A beyond the tilers as they are.
///
/// ```
/// use tilewise_layout::{Layout, logical_divide};
///
/// let layout = Layout::new((4, 2, 3), (2, 1, 8))?;
/// let tile = Layout::new(4, 2)?; // every second element, 4 of them
/// assert_eq!(logical_divide(&layout, tile)?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
///
/// // 10 elements in tiles of 4: the third tile reaches beyond them.
/// assert_eq!(logical_divide(&Layout::new(10, 1)?, 4)?.to_string(), "(4,3):(1,4)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`composition`](crate::composition) and [`complement`](crate::complement).
pub fn logical_divide(layout: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    divide(layout, &tiler.into())
}

/// [`logical_divide`] with the tiles gathered in mode 0 and the rest in mode 1.
///
/// # Law
///
/// Mode 0 of zipped_divide(A, T) is composition(A, T), with 1:0 where T keeps a mode, and
/// zipped_divide(A, T)((i, j), (k, l, m)) =
/// logical_divide(A, T)((i, k), (j, l), m).
///
/// ```
/// use tilewise_layout::{row_major, zipped_divide};
///
/// let tiles = zipped_divide(&row_major((8, 12)), (4, 3))?;
/// assert_eq!(tiles.to_string(), "((4,3),(2,4)):((12,1),(48,3))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_divide`].
pub fn zipped_divide(layout: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    unzip(layout, &tiler.into(), divide)
}

/// [`zipped_divide`] with a mode for each mode of the rest.
///
/// # Law
///
/// tiled_divide(A, T)(i, k, l, ...) = zipped_divide(A, T)(i, (k, l, ...)).
///
/// ```
/// use tilewise_layout::{row_major, tiled_divide};
///
/// let tiles = tiled_divide(&row_major((8, 12)), (4, 3))?;
/// assert_eq!(tiles.to_string(), "((4,3),2,4):((12,1),48,3)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_divide`].
pub fn tiled_divide(layout: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    spread_rest(&zipped_divide(layout, tiler)?)
}

/// [`zipped_divide`] with a mode for each mode of the tile and of the rest.
///
/// # Law
///
/// flat_divide(A, T)(i, j, ..., k, l, ...) = zipped_divide(A, T)((i, j, ...), (k, l, ...)).
///
/// ```
/// use tilewise_layout::{flat_divide, row_major};
///
/// let tiles = flat_divide(&row_major((8, 12)), (4, 3))?;
/// assert_eq!(tiles.to_string(), "(4,3,2,4):(12,1,48,3)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_divide`].
pub fn flat_divide(layout: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    spread_both(&zipped_divide(layout, tiler)?)
}

fn divide(layout: &Layout, tiler: &Tiler) -> Result<Layout> {
    match tiler {
        Tiler::Keep => Ok(layout.clone()),
        Tiler::Layout(tile) => {
            let rest = complement(tile, layout.size_int()?)?;
            compose(layout, &make_layout([tile.clone(), rest])?)
        }
        Tiler::Modes(tilers) => by_mode(layout, tilers, divide),
    }
}

/// Applies `split` to each mode that has a tiler, and keeps the others.
pub(super) fn by_mode(
    layout: &Layout,
    tilers: &[Tiler],
    split: fn(&Layout, &Tiler) -> Result<Layout>,
) -> Result<Layout> {
    tiler::check_rank(layout, tilers)?;
    let modes = layout.modes().enumerate().map(|(i, mode)| match tilers.get(i) {
        Some(tiler) => split(&mode, tiler),
        None => Ok(mode),
    });
    make_layout(modes.collect::<Result<Vec<_>>>()?)
}

/// Applies `split`, which makes two modes of each part that a layout tiles, and gathers the
/// first of them in mode 0, the second, and the modes without a tiler, in mode 1.
pub(super) fn unzip(
    layout: &Layout,
    tiler: &Tiler,
    split: fn(&Layout, &Tiler) -> Result<Layout>,
) -> Result<Layout> {
    match tiler {
        Tiler::Keep => make_layout([Layout::new(fixed(1), fixed(0))?, layout.clone()]),
        Tiler::Layout(_) => split(layout, tiler),
        Tiler::Modes(tilers) => {
            tiler::check_rank(layout, tilers)?;
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for (i, mode) in layout.modes().enumerate() {
                match tilers.get(i) {
                    Some(tiler) => {
                        let pair = unzip(&mode, tiler, split)?;
                        first.push(pair.mode(0)?);
                        second.push(pair.mode(1)?);
                    }
                    None => second.push(mode),
                }
            }
            make_layout([make_layout(first)?, make_layout(second)?])
        }
    }
}

/// The modes of mode 1 after mode 0.
pub(super) fn spread_rest(pair: &Layout) -> Result<Layout> {
    let (first, second) = (pair.mode(0)?, pair.mode(1)?);
    make_layout(std::iter::once(first).chain(second.modes()))
}

/// The modes of mode 0, then those of mode 1.
pub(super) fn spread_both(pair: &Layout) -> Result<Layout> {
    let (first, second) = (pair.mode(0)?, pair.mode(1)?);
    make_layout(first.modes().chain(second.modes()))
}
