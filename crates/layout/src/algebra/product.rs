//! Product: a layout repeated in the order of another.
//!
//! [`logical_product`] repeats a block as a function of one integer; [`blocked_product`] and
//! [`raked_product`] put the repetitions of each mode into that mode, which is what one wants of
//! matrices. For a block of shape `(M, N, L)` and a tiler of two modes:
//!
//! | product | shape of the result |
//! | --- | --- |
//! | [`logical_product`] | `((M, TileM), (N, TileN), L)` |
//! | [`zipped_product`] | `((M, N), (TileM, TileN, L))` |
//! | [`tiled_product`] | `((M, N), TileM, TileN, L)` |
//! | [`flat_product`] | `(M, N, TileM, TileN, L)` |

use super::complement::complement;
use super::composition::compose;
use super::divide::{by_mode, spread_both, spread_rest, unzip};
use super::tiler::Tiler;
use crate::error::{LayoutError, Result};
use crate::{IntTuple, Layout, fixed, make_layout, make_ordered_layout};

/// A layout in mode 0, and in mode 1 where its copies go: A ⊗ B.
///
/// # Law
///
/// logical_product(A, B)(i, j) = A(i) + C(B(j)) with C = complement(A, size(A) * cosize(B)).
///
/// logical_product(A, (B0, B1, ...)) = make_layout(logical_product(A0, B0), logical_product(A1, B1), ...),
/// with the modes of A beyond the tilers as they are.
///
/// ```
/// use tilewise_layout::{Layout, logical_product};
///
/// let block = Layout::new((2, 2), (4, 1))?;
/// assert_eq!(logical_product(&block, 6)?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
///
/// let order = Layout::new((4, 2), (2, 1))?;
/// assert_eq!(logical_product(&block, order)?.to_string(), "((2,2),(4,2)):((4,1),(8,2))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`composition`](crate::composition) and [`complement`](crate::complement).
pub fn logical_product(block: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    product(block, &tiler.into())
}

/// [`logical_product`] with the blocks gathered in mode 0 and the repetitions in mode 1.
///
/// # Law
///
/// zipped_product(A, T)((i, j), (k, l, m)) = logical_product(A, T)((i, k), (j, l), m).
///
/// ```
/// use tilewise_layout::{Layout, row_major, zipped_product};
///
/// // Row-major blocks of 2 by 5, arranged as 3 by 4, column-major.
/// let tiler = (Layout::new(3, 5)?, Layout::new(4, 6)?);
/// let result = zipped_product(&row_major((2, 5)), tiler)?;
/// assert_eq!(result.to_string(), "((2,5),(3,4)):((5,1),(10,30))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// The modes are repeated each on its own, so the tiler must know the strides of the block;
/// [`blocked_product`] gives the same layout for a tiler that does not.
///
/// # Errors
///
/// As [`logical_product`].
pub fn zipped_product(block: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    unzip(block, &tiler.into(), product)
}

/// [`zipped_product`] with a mode for each mode of the repetitions.
///
/// # Law
///
/// tiled_product(A, T)(i, k, l, ...) = zipped_product(A, T)(i, (k, l, ...)).
///
/// ```
/// use tilewise_layout::{Layout, tiled_product};
///
/// let order = Layout::new((2, 3), (3, 1))?;
/// assert_eq!(tiled_product(&Layout::new(4, 1)?, order)?.to_string(), "(4,2,3):(1,12,4)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_product`].
pub fn tiled_product(block: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    spread_rest(&zipped_product(block, tiler)?)
}

/// [`zipped_product`] with a mode for each mode of the block and of the repetitions.
///
/// # Law
///
/// flat_product(A, T)(i, j, ..., k, l, ...) = zipped_product(A, T)((i, j, ...), (k, l, ...)).
///
/// ```
/// use tilewise_layout::{Layout, flat_product};
///
/// let (block, order) = (Layout::new((2, 2), (2, 1))?, Layout::new((2, 3), (3, 1))?);
/// assert_eq!(flat_product(&block, order)?.to_string(), "(2,2,2,3):(2,1,12,4)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_product`].
pub fn flat_product(block: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    spread_both(&zipped_product(block, tiler)?)
}

/// A block repeated over a tiler, mode by mode, each repetition a block of its own.
///
/// The shorter of the two is extended by modes `1:0`.
///
/// # Law
///
/// blocked_product(A, B)((i, k), (j, l), ...) = logical_product(A, B)((i, j, ...), (k, l, ...)).
///
/// ```
/// use tilewise_layout::{blocked_product, col_major, row_major};
///
/// // Row-major blocks of 2 by 5, arranged as 3 by 4, column-major.
/// let result = blocked_product(&row_major((2, 5)), &col_major((3, 4)))?;
/// assert_eq!(result.to_string(), "((2,3),(5,4)):((5,10),(1,30))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_product`].
pub fn blocked_product(block: &Layout, tiler: &Layout) -> Result<Layout> {
    let (blocks, copies) = same_rank_product(block, tiler)?;
    pair_modes(&blocks, &copies)
}

/// A block repeated over a tiler, mode by mode, the repetitions interleaved.
///
/// # Law
///
/// raked_product(A, B)((k, i), (l, j), ...) = logical_product(A, B)((i, j, ...), (k, l, ...)).
///
/// ```
/// use tilewise_layout::{col_major, raked_product, row_major};
///
/// let result = raked_product(&row_major((2, 5)), &col_major((3, 4)))?;
/// assert_eq!(result.to_string(), "((3,2),(4,5)):((10,5),(30,1))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// As [`logical_product`].
pub fn raked_product(block: &Layout, tiler: &Layout) -> Result<Layout> {
    let (blocks, copies) = same_rank_product(block, tiler)?;
    pair_modes(&copies, &blocks)
}

/// A block repeated until it has the target shape, along its first mode first.
///
/// # Law
///
/// tile_to_shape(A, S) = blocked_product(A, col_major(S / shape(A))), and mode k has the size of
/// mode k of S.
///
/// ```
/// use tilewise_layout::{row_major, tile_to_shape};
///
/// let result = tile_to_shape(&row_major((2, 5)), (6, 20))?;
/// assert_eq!(result.to_string(), "((2,3),(5,4)):((5,10),(1,30))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::TileToShape`] if a mode of the block does not divide the mode of the target,
/// [`LayoutError::TooManyModes`] if the block has more modes than the target, else as
/// [`logical_product`].
pub fn tile_to_shape(block: &Layout, target: impl Into<IntTuple>) -> Result<Layout> {
    let target = target.into();
    if block.rank() > target.rank() {
        return Err(LayoutError::TooManyModes {
            modes: block.rank(),
            layout: Box::new(crate::try_col_major(&target)?),
        });
    }
    let block = extended(block, target.rank())?;
    let mut counts = Vec::with_capacity(target.rank());
    for (i, (tile, target)) in block.modes().zip(target.modes()).enumerate() {
        let (tile, target) = (tile.size_int()?, target.product()?);
        if tile == 0 || target.rem(tile)? != 0 {
            return Err(LayoutError::TileToShape { mode: i, target: target.get(), tile: tile.get() });
        }
        counts.push(target.div(tile)?);
    }
    let order: Vec<usize> = (0..counts.len()).collect();
    blocked_product(&block, &make_ordered_layout(counts, order)?)
}

fn product(block: &Layout, tiler: &Tiler) -> Result<Layout> {
    match tiler {
        Tiler::Keep => Ok(block.clone()),
        Tiler::Layout(tiler) => {
            let target = block.size_int()?.mul(tiler.cosize_int()?)?;
            let places = complement(block, target)?;
            make_layout([block.clone(), compose(&places, tiler)?])
        }
        Tiler::Modes(tilers) => by_mode(block, tilers, product),
    }
}

/// The modes of the logical product of both, extended to the same rank.
fn same_rank_product(block: &Layout, tiler: &Layout) -> Result<(Layout, Layout)> {
    let rank = block.rank().max(tiler.rank());
    let product = logical_product(&extended(block, rank)?, extended(tiler, rank)?)?;
    Ok((product.mode(0)?, product.mode(1)?))
}

/// The layout with modes `1:0` after its own, as a tuple of `rank` modes.
fn extended(layout: &Layout, rank: usize) -> Result<Layout> {
    let unit = Layout::new(fixed(1), fixed(0))?;
    let units = std::iter::repeat_n(unit, rank - layout.rank().min(rank));
    make_layout(layout.modes().chain(units))
}

/// `((a0, b0), (a1, b1), ...)`.
fn pair_modes(first: &Layout, second: &Layout) -> Result<Layout> {
    let pairs = first.modes().zip(second.modes()).map(|(a, b)| make_layout([a, b]));
    make_layout(pairs.collect::<Result<Vec<_>>>()?)
}
