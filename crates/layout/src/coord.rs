//! Coordinates: from nested coordinates to one integer and back.
//!
//! A shape such as `(2,(3,4))` has coordinates of several kinds: nested like it,
//! `(1,(2,3))`; one integer for each extent, `(1,2,3)`; one for each mode, `(1,11)`; and
//! one for the whole, `23`. An integer that stands for several extents counts with the
//! first of them fastest.

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple};

/// The offset of coordinate `coord` in the layout `shape:stride`.
///
/// ```
/// use tilewise_layout::{IntTuple, crd2idx};
///
/// let (shape, stride) = (IntTuple::from((3, 4)), IntTuple::from((4, 1)));
/// assert_eq!(crd2idx((2, 1), &shape, &stride)?, 9);
/// assert_eq!(crd2idx(5, &shape, &stride)?, 9); // 5 = 2 + 1 * 3
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::NotCongruent`] if shape and stride are not nested alike,
/// [`LayoutError::CoordinateOutOfRange`] if a part is not below its extent,
/// [`LayoutError::CoordinateProfile`] if the coordinate is nested unlike the shape,
/// [`LayoutError::Overflow`] if the offset does not fit.
pub fn crd2idx(coord: impl Into<IntTuple>, shape: &IntTuple, stride: &IntTuple) -> Result<usize> {
    let coord = coord.into();
    if !shape.is_congruent(stride) {
        return Err(LayoutError::NotCongruent { shape: shape.clone(), stride: stride.clone() });
    }
    if let IntTuple::Tuple(parts) = &coord {
        let flat = parts.iter().all(|part| matches!(part, IntTuple::Int(_)));
        if flat && parts.len() != shape.rank() && parts.len() == shape.flat_rank() {
            let (shape, stride) = (shape.flatten().into(), stride.flatten().into());
            return Ok(inner(&coord, &shape, &stride)?.get());
        }
    }
    Ok(inner(&coord, shape, stride)?.get())
}

/// The coordinate of `shape`, nested like it, that the one integer `index` stands for.
///
/// ```
/// use tilewise_layout::{IntTuple, idx2crd};
///
/// assert_eq!(idx2crd(5, &IntTuple::from((3, 4)))?.to_string(), "(2,1)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::CoordinateOutOfRange`] if `index` is not below the size of the shape.
pub fn idx2crd(index: usize, shape: &IntTuple) -> Result<IntTuple> {
    below(index, shape)?;
    let mut rest = index;
    Ok(shape.map(&mut |extent| {
        // No extent is 0, or the index would not be below the size.
        let digit = rest % extent.get();
        rest /= extent.get();
        Int::Dynamic(digit)
    }))
}

fn inner(coord: &IntTuple, shape: &IntTuple, stride: &IntTuple) -> Result<Int> {
    match (coord, shape, stride) {
        (IntTuple::Int(c), IntTuple::Int(_), IntTuple::Int(d)) => {
            below(c.get(), shape)?;
            c.mul(*d)
        }
        (IntTuple::Int(c), IntTuple::Tuple(_), IntTuple::Tuple(_)) => {
            let coord = idx2crd(c.get(), shape)?;
            inner(&coord, shape, stride)
        }
        (IntTuple::Tuple(c), IntTuple::Tuple(s), IntTuple::Tuple(d)) if c.len() == s.len() => {
            let parts = c.iter().zip(s).zip(d);
            parts.map(|((c, s), d)| inner(c, s, d)).try_fold(Int::Dynamic(0), |sum, part| sum.add(part?))
        }
        // A tuple of one is taken for the integer within it.
        (IntTuple::Tuple(c), IntTuple::Int(_), _) if c.len() == 1 => inner(&c[0], shape, stride),
        _ => Err(LayoutError::CoordinateProfile { coordinate: coord.clone(), shape: shape.clone() }),
    }
}

/// Checks that a one-integer coordinate is below the size of its shape.
fn below(coordinate: usize, shape: &IntTuple) -> Result<()> {
    let extent = shape.saturating_product().get();
    if coordinate < extent {
        return Ok(());
    }
    Err(LayoutError::CoordinateOutOfRange { coordinate, extent, shape: shape.clone() })
}
