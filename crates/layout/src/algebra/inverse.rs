//! Inverses: from offsets back to one-integer coordinates.

use super::coalesce::coalesce;
use crate::error::{LayoutError, Result};
use crate::{Int, Layout, fixed};

/// The coordinates, in order, of the offsets 0, 1, 2, ...: as many as the modes of the layout
/// reach without a gap.
///
/// # Law
///
/// A(right_inverse(A)(i)) = i for every i < size(right_inverse(A)), which is size(A) if A is
/// bijective.
///
/// ```
/// use tilewise_layout::{Layout, right_inverse, row_major};
///
/// assert_eq!(right_inverse(&row_major((3, 4)))?.to_string(), "(4,3):(3,1)");
///
/// let padded = Layout::new((3, 4), (8, 1))?; // offsets 4 to 7 are in no row
/// assert_eq!(right_inverse(&padded)?.to_string(), "4:3");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::Overflow`] if the layout does not pass [`Layout::check`].
pub fn right_inverse(layout: &Layout) -> Result<Layout> {
    layout.check()?;
    if layout.size() == 0 {
        return Ok(coalesce(layout));
    }
    let (mut result, mut next) = (Vec::new(), fixed(1));
    for Mode { extent, stride, before } in by_stride(layout)? {
        if stride == next {
            result.push((extent, before));
            next = extent.mul(stride)?;
        }
    }
    Ok(coalesce(&Layout::from_flat(&result)?))
}

/// The one-integer coordinate of each offset of the layout.
///
/// # Law
///
/// left_inverse(A)(A(i)) = i for every i < size(A), where left_inverse(A) goes on beyond its size in
/// its last extent.
///
/// ```
/// use tilewise_layout::{Layout, left_inverse};
///
/// let padded = Layout::new((3, 4), (8, 1))?;
/// let inverse = left_inverse(&padded)?;
/// assert_eq!(inverse.to_string(), "(8,3):(3,1)");
/// assert_eq!(inverse.offset(padded.offset((2, 1))?)?, padded.crd2idx((2, 1))?);
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::LeftInverse`] unless each stride is a multiple of the next smaller one and
/// lies beyond what that one spans; so a layout that reaches an offset twice is refused.
/// [`LayoutError::Overflow`] if the layout does not pass [`Layout::check`].
pub fn left_inverse(layout: &Layout) -> Result<Layout> {
    layout.check()?;
    if layout.size() == 0 {
        return Ok(coalesce(layout));
    }
    // The digit of an offset below the smallest stride counts for nothing.
    let (mut result, mut below, mut span, mut step) = (Vec::new(), fixed(1), fixed(1), fixed(0));
    let mut outermost = fixed(1);
    for Mode { extent, stride, before } in by_stride(layout)? {
        if stride == 0 || stride < span || stride.rem(below)? != 0 {
            return Err(LayoutError::LeftInverse {
                layout: Box::new(layout.clone()),
                extent: extent.get(),
                stride: stride.get(),
                below: below.get(),
                span: span.get(),
            });
        }
        result.push((stride.div(below)?, step));
        (below, span, step, outermost) = (stride, extent.mul(stride)?, before, extent);
    }
    result.push((outermost, step));
    Ok(coalesce(&Layout::from_flat(&result)?))
}

/// A mode of a coalesced layout.
struct Mode {
    extent: Int,
    stride: Int,
    /// The product of the extents before it: its stride in the one-integer coordinate.
    before: Int,
}

/// The modes of the coalesced layout in order of stride, then of extent. Extents of 1 are left out.
fn by_stride(layout: &Layout) -> Result<Vec<Mode>> {
    let (mut modes, mut before) = (Vec::new(), fixed(1));
    for (extent, stride) in coalesce(layout).flat_modes() {
        if extent != 1 {
            modes.push(Mode { extent, stride, before });
        }
        before = before.mul(extent)?;
    }
    modes.sort_by_key(|mode| (mode.stride, mode.extent));
    Ok(modes)
}
