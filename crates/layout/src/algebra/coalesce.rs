//! Coalescing: the same function with as few modes as possible.
//!
//! Two neighbouring modes `s0:d0` and `s1:d1` are one where the second goes on where the first
//! ends, `d1 = s0 * d0`; a mode of extent 1 adds nothing. This goes by the values of the
//! integers, so it works for dynamic ones as well.

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, Layout, fixed, make_layout};

/// The same function from one-integer coordinates to offsets, with as few modes as possible.
///
/// # Law
///
/// coalesce(A) has the size of A and a depth of at most 1, and coalesce(A)(i) = A(i) for every
/// i < size(A).
///
/// ```
/// use tilewise_layout::{Layout, coalesce};
///
/// let layout = Layout::new((2, (3, 4)), (1, (2, 6)))?;
/// assert_eq!(coalesce(&layout).to_string(), "24:1");
///
/// let gaps = Layout::new((2, 1, 3), (4, 9, 8))?;
/// assert_eq!(coalesce(&gaps).to_string(), "6:4");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
#[must_use]
pub fn coalesce(layout: &Layout) -> Layout {
    if layout.size() == 0 {
        let zero = layout.shape().saturating_product();
        return Layout::unchecked(zero.into(), fixed(0).into());
    }
    let mut modes = layout.flat_modes();
    modes.retain(|(extent, _)| *extent != 1);
    from_modes(&merged(&modes))
}

/// [`coalesce`] of those modes to which `profile` has an integer; a tuple in the profile goes
/// into the mode, and modes beyond the profile stay. The values of the integers play no part.
///
/// # Law
///
/// coalesce_by_profile(A, (p0, p1, ...)) = make_layout(coalesce_by_profile(A0, p0),
/// coalesce_by_profile(A1, p1), ...), and coalesce_by_profile(A, p) = coalesce(A) for an integer p.
///
/// ```
/// use tilewise_layout::{Layout, coalesce_by_profile};
///
/// let layout = Layout::new((2, (1, 6)), (1, (6, 2)))?;
/// assert_eq!(coalesce_by_profile(&layout, (1, 1))?.to_string(), "(2,6):(1,2)");
/// assert_eq!(coalesce_by_profile(&layout, 1)?.to_string(), "12:1");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::TooManyModes`] if the profile has more modes than the layout.
pub fn coalesce_by_profile(layout: &Layout, profile: impl Into<IntTuple>) -> Result<Layout> {
    by_profile(layout, &profile.into())
}

fn by_profile(layout: &Layout, profile: &IntTuple) -> Result<Layout> {
    let IntTuple::Tuple(profiles) = profile else {
        return Ok(coalesce(layout));
    };
    if profiles.len() > layout.rank() {
        return Err(LayoutError::TooManyModes { modes: profiles.len(), layout: Box::new(layout.clone()) });
    }
    let modes = layout.modes().enumerate().map(|(i, mode)| match profiles.get(i) {
        Some(profile) => by_profile(&mode, profile),
        None => Ok(mode),
    });
    make_layout(modes.collect::<Result<Vec<_>>>()?)
}

/// What is left of a layout without its modes of stride 0 and of extent 1, coalesced.
///
/// # Law
///
/// filter(A) has the same offsets as A, and no mode with stride 0 or extent 1 unless it is 1:0.
///
/// ```
/// use tilewise_layout::{Layout, filter};
///
/// let broadcast = Layout::new((3, 4), (0, 1))?;
/// assert_eq!(filter(&broadcast).to_string(), "4:1");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
#[must_use]
pub fn filter(layout: &Layout) -> Layout {
    if layout.size() == 0 {
        return coalesce(layout);
    }
    let mut modes = layout.flat_modes();
    modes.retain(|(extent, stride)| *extent != 1 && *stride != 0);
    from_modes(&merged(&modes))
}

/// Joins each mode with the one before where it goes on where that one ends.
fn merged(modes: &[(Int, Int)]) -> Vec<(Int, Int)> {
    let mut merged: Vec<(Int, Int)> = Vec::with_capacity(modes.len());
    for &(extent, stride) in modes {
        if let Some((last_extent, last_stride)) = merged.last_mut() {
            let goes_on = last_extent.mul(*last_stride).is_ok_and(|end| end == stride);
            // Only a layout too large to count has a product that does not fit.
            if let (true, Ok(product)) = (goes_on, last_extent.mul(extent)) {
                *last_extent = product;
                continue;
            }
        }
        merged.push((extent, stride));
    }
    merged
}

/// The flat modes of `layout`, at least one of them, coalesced without a change to the
/// function beyond its size: the last mode stays even if its extent is 1, for beyond the size
/// it is the one that goes on.
pub(super) fn extended_modes(layout: &Layout) -> Vec<(Int, Int)> {
    let mut modes = layout.flat_modes();
    let last = modes.len().saturating_sub(1);
    let mut i = 0;
    modes.retain(|(extent, _)| {
        i += 1;
        *extent != 1 || i > last
    });
    let modes = merged(&modes);
    if modes.is_empty() { vec![(fixed(1), fixed(0))] } else { modes }
}

fn from_modes(modes: &[(Int, Int)]) -> Layout {
    let (shape, stride): (Vec<Int>, Vec<Int>) = modes.iter().copied().unzip();
    match modes {
        [] => Layout::unchecked(fixed(1).into(), fixed(0).into()),
        [(extent, stride)] => Layout::unchecked((*extent).into(), (*stride).into()),
        _ => Layout::unchecked(shape.into(), stride.into()),
    }
}
