//! Compact layouts: the elements of a shape stored densely in one order or another.
//!
//! ```
//! use tilewise_layout::{col_major, make_ordered_layout, row_major};
//!
//! assert_eq!(row_major((2, 3, 4)).to_string(), "(2,3,4):(12,4,1)");
//! assert_eq!(col_major((2, 3, 4)).to_string(), "(2,3,4):(1,2,6)");
//! assert_eq!(make_ordered_layout((2, 3, 4), (1, 0, 2))?.to_string(), "(2,3,4):(3,1,6)");
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, Layout, fixed};

/// `shape` stored densely, the last extent fastest (C order; CuTe's `LayoutRight`).
///
/// The stride of the last extent is a static 1.
///
/// A shape of more elements than a `usize` counts gets the stride `usize::MAX` where the
/// right one does not fit; its size and cosize are then `usize::MAX`, so no memory is
/// large enough for it, and every operation that would need the stride returns an error.
/// [`try_row_major`] refuses such a shape at once.
///
/// # Law
///
/// row_major(S)(c0, c1, ..., cn) = (...(c0 * s1 + c1) * s2 + ...) * sn + cn for the flat
/// coordinates of S.
///
/// ```
/// use tilewise_layout::row_major;
///
/// assert_eq!(row_major([4, 8]).to_string(), "(4,8):(8,1)");
/// assert_eq!(row_major((2, (3, 4))).to_string(), "(2,(3,4)):(12,(4,1))");
/// ```
#[must_use]
pub fn row_major(shape: impl Into<IntTuple>) -> Layout {
    let shape = shape.into();
    let extents = shape.flatten();
    let order: Vec<usize> = (0..extents.len()).rev().collect();
    compact(shape, &extents, &order)
}

/// `shape` stored densely, the first extent fastest (Fortran order; CuTe's `LayoutLeft`).
///
/// The stride of the first extent is a static 1. Shapes too large to count are as with
/// [`row_major`].
///
/// # Law
///
/// col_major(S)(i) = i for every i < size(S).
///
/// ```
/// use tilewise_layout::col_major;
///
/// assert_eq!(col_major([4, 8]).to_string(), "(4,8):(1,4)");
/// ```
#[must_use]
pub fn col_major(shape: impl Into<IntTuple>) -> Layout {
    let shape = shape.into();
    let extents = shape.flatten();
    let order: Vec<usize> = (0..extents.len()).collect();
    compact(shape, &extents, &order)
}

/// [`row_major`], but a shape too large to count is refused.
///
/// # Errors
///
/// [`LayoutError::Overflow`] if the size does not fit in a `usize`.
pub fn try_row_major(shape: impl Into<IntTuple>) -> Result<Layout> {
    let layout = row_major(shape);
    layout.check()?;
    Ok(layout)
}

/// [`col_major`], but a shape too large to count is refused.
///
/// # Errors
///
/// [`LayoutError::Overflow`] if the size does not fit in a `usize`.
pub fn try_col_major(shape: impl Into<IntTuple>) -> Result<Layout> {
    let layout = col_major(shape);
    layout.check()?;
    Ok(layout)
}

/// `shape` stored densely, the extent with the smallest number in `order` fastest.
///
/// Extents with equal numbers follow each other from left to right.
///
/// # Law
///
/// make_ordered_layout(S, order) is bijective, and its strides do not decrease where the
/// order increases.
///
/// ```
/// use tilewise_layout::make_ordered_layout;
///
/// let layout = make_ordered_layout((2, 2, 2, 2), (0, 2, 3, 1))?;
/// assert_eq!(layout.to_string(), "(2,2,2,2):(1,4,8,2)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::OrderProfile`] if `order` is not nested like `shape`,
/// [`LayoutError::Overflow`] if the size does not fit.
pub fn make_ordered_layout(shape: impl Into<IntTuple>, order: impl Into<IntTuple>) -> Result<Layout> {
    let (shape, order) = (shape.into(), order.into());
    if !shape.is_congruent(&order) {
        return Err(LayoutError::OrderProfile { order, shape });
    }
    let ranks = order.flatten();
    let mut positions: Vec<usize> = (0..ranks.len()).collect();
    positions.sort_by_key(|&i| ranks[i]);
    let extents = shape.flatten();
    let layout = compact(shape, &extents, &positions);
    layout.check()?;
    Ok(layout)
}

/// `shape` with dense strides, `order` listing its flat extents from fastest to slowest.
fn compact(shape: IntTuple, extents: &[Int], order: &[usize]) -> Layout {
    let mut strides = vec![fixed(1); extents.len()];
    let mut stride = fixed(1);
    for &i in order {
        strides[i] = stride;
        stride = stride.saturating_mul(extents[i]);
    }
    let stride = shape.with_flat(&strides);
    Layout::unchecked(shape, stride)
}
