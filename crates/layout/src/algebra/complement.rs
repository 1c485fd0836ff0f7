//! Complement: where else a layout can be put.
//!
//! The modes are taken in order of stride. Below each stride may be a gap, which a mode of the
//! complement fills with copies of what lies below; beyond the last mode, one more mode repeats
//! the whole until the target is reached.

use super::coalesce::{coalesce, filter};
use crate::error::{LayoutError, Result};
use crate::{IntTuple, Layout, fixed};

/// The layout of the places to which `layout` can be moved so that the copies cover the offsets
/// below the size of `cotarget`: A*.
///
/// Modes of A with stride 0 play no part. The span of A is what its outermost mode, extent
/// times stride, covers; a target that is not a multiple of it is rounded up.
///
/// # Law
///
/// With R = complement(A, M), the sums filter(A)(i) + R(j) are the offsets below M, rounded up to
/// a multiple of the span of A, each once, and R(j) increases with j.
///
/// ```
/// use tilewise_layout::{Layout, complement};
///
/// let layout = Layout::new((2, 2), (1, 6))?; // offsets 0, 1, 6, 7
/// let rest = complement(&layout, 24)?; // fills the gap from 2, and repeats from 12
/// assert_eq!(rest.to_string(), "(3,2):(2,12)");
///
/// assert_eq!(complement(&Layout::new(6, 4)?, 24)?.to_string(), "4:1");
/// assert_eq!(complement(&Layout::new(1, 0)?, 8)?.to_string(), "8:1");
/// assert_eq!(complement(&Layout::new(24, 1)?, 24)?.to_string(), "1:0");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::ComplementOverlap`] if a mode starts within the span of those with smaller
/// strides, [`LayoutError::ComplementGap`] if copies of that span do not fill the gap evenly,
/// [`LayoutError::ComplementEmpty`] if the layout has no elements,
/// [`LayoutError::Overflow`] if a span does not fit.
pub fn complement(layout: &Layout, cotarget: impl Into<IntTuple>) -> Result<Layout> {
    let target = cotarget.into().product()?;
    layout.check()?;
    if layout.size() == 0 {
        return Err(LayoutError::ComplementEmpty { layout: Box::new(layout.clone()) });
    }
    let mut modes = filter(layout).flat_modes();
    modes.retain(|(extent, _)| *extent != 1); // the 1:0 of a single offset
    modes.sort_by_key(|mode| mode.1);

    let (mut result, mut span) = (Vec::with_capacity(modes.len() + 1), fixed(1));
    for (extent, stride) in modes {
        if stride < span {
            return Err(LayoutError::ComplementOverlap {
                layout: Box::new(layout.clone()),
                extent: extent.get(),
                stride: stride.get(),
                span: span.get(),
            });
        }
        if stride.rem(span)? != 0 {
            return Err(LayoutError::ComplementGap {
                layout: Box::new(layout.clone()),
                extent: extent.get(),
                stride: stride.get(),
                span: span.get(),
            });
        }
        result.push((stride.div(span)?, span));
        span = extent.mul(stride)?;
    }
    result.push((target.div_ceil(span)?, span));
    Ok(coalesce(&Layout::from_flat(&result)?))
}
