//! Composition: one layout applied to the offsets of another.
//!
//! # How it is computed
//!
//! Take the left layout as a list of flat modes, coalesced. An index into it is a number with
//! one digit for each mode, the first digit the lowest, and the extents as bases; the last
//! digit has no limit. The offset is the sum of digit times stride. So the left layout is
//! additive exactly as long as no digit overflows into the next.
//!
//! A mode `s:d` of the right layout counts up these digits by those of `d`, `s` times:
//!
//! - If no digit ever overflows, the result is one mode, `s` steps of the offset of `d`.
//! - Else, if the lowest extent divides `d`, that digit stays 0, and the next extents are
//!   looked at with `d` divided by it.
//! - Else, if the lowest digit of `d` divides the extent, that digit is back at 0 after a run of
//!   extent / digit steps. The run becomes a mode of the result. If its length divides `s`, what
//!   remains are `s` / run steps of `d` * run in the next extents.
//! - Else the offsets do not follow a layout, and the composition is refused.
//!
//! Several modes of the right layout add up. Each of them has a largest value in each digit;
//! if those sum to less than the extent, no sum overflows, and the modes of the result can be
//! put side by side. CuTe relies on that without checking it; here it is checked.
//!
//! This takes all that meets CuTe's divisibility conditions, and more. In rare cases the offsets
//! happen to form a layout although a digit overflows: `(5,4):(1,9)` with `4:3` goes to
//! 0, 3, 10, 13, which is `(2,2):(3,10)`. Such a composition is refused as well.

use super::coalesce::extended_modes;
use super::tiler::Tiler;
use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, Layout, fixed, make_layout};

/// The layout that goes from the coordinates of `tiler` to the offsets of `layout`: A ∘ B.
///
/// With a tuple of tilers, each is composed with the mode at its place, and modes of `layout`
/// beyond them are dropped.
///
/// # Law
///
/// composition(A, B)(i) = A(B(i)) for every i < size(B), where A goes on beyond its size in its
/// last extent, and every coordinate of B is a coordinate of the result.
///
/// composition(A, (B0, B1, ...)) = make_layout(composition(A0, B0), composition(A1, B1), ...).
///
/// ```
/// use tilewise_layout::{Layout, composition};
///
/// let a = Layout::new((6, 2), (8, 2))?;
/// let b = Layout::new((4, 3), (3, 1))?;
/// assert_eq!(composition(&a, b)?.to_string(), "((2,2),3):((24,2),8)");
///
/// // By mode: 3 rows 4 apart, and 8 of the columns, 2 apart.
/// let a = Layout::new((12, (4, 8)), (59, (13, 1)))?;
/// let tiler = (Layout::new(3, 4)?, Layout::new(8, 2)?);
/// assert_eq!(composition(&a, tiler)?.to_string(), "(3,(2,4)):(236,(26,1))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::CompositionStride`], [`LayoutError::CompositionShape`] or
/// [`LayoutError::CompositionCarry`] if the result is not a layout,
/// [`LayoutError::CompositionEmpty`] if A has no elements and B has some,
/// [`LayoutError::TooManyModes`] if a tuple has more tilers than A has modes,
/// [`LayoutError::Overflow`] if an offset does not fit.
pub fn composition(layout: &Layout, tiler: impl Into<Tiler>) -> Result<Layout> {
    by_tiler(layout, &tiler.into())
}

fn by_tiler(layout: &Layout, tiler: &Tiler) -> Result<Layout> {
    match tiler {
        Tiler::Keep => Ok(layout.clone()),
        Tiler::Layout(right) => compose(layout, right),
        Tiler::Modes(tilers) => {
            super::tiler::check_rank(layout, tilers)?;
            let modes = layout.modes().zip(tilers).map(|(mode, tiler)| by_tiler(&mode, tiler));
            make_layout(modes.collect::<Result<Vec<_>>>()?)
        }
    }
}

pub(super) fn compose(left: &Layout, right: &Layout) -> Result<Layout> {
    left.check()?;
    right.check()?;
    if right.size() == 0 {
        let stride = right.shape().map(&mut |_| fixed(0));
        return Ok(Layout::unchecked(right.shape().clone(), stride));
    }
    if left.size() == 0 {
        return Err(LayoutError::CompositionEmpty {
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
        });
    }
    let modes = extended_modes(left);
    let reach = vec![0; modes.len()];
    let mut composer = Composer { left, right, modes, reach };
    let (shape, stride) = composer.tuple(right.shape(), right.stride())?;
    Layout::new(shape, stride)
}

/// A composition in progress.
struct Composer<'a> {
    left: &'a Layout,
    right: &'a Layout,
    /// The left layout, flat and coalesced.
    modes: Vec<(Int, Int)>,
    /// For each of `modes`, the largest digit that the right modes so far add up to.
    reach: Vec<usize>,
}

impl Composer<'_> {
    /// Composes each extent of the right layout and keeps its nesting.
    fn tuple(&mut self, shape: &IntTuple, stride: &IntTuple) -> Result<(IntTuple, IntTuple)> {
        match (shape, stride) {
            (IntTuple::Tuple(shapes), IntTuple::Tuple(strides)) => {
                let pairs = shapes.iter().zip(strides);
                let modes: Vec<_> = pairs.map(|(s, d)| self.tuple(s, d)).collect::<Result<_>>()?;
                let (shapes, strides) = modes.into_iter().unzip();
                Ok((IntTuple::Tuple(shapes), IntTuple::Tuple(strides)))
            }
            (IntTuple::Int(extent), IntTuple::Int(stride)) => {
                let result = Layout::from_flat(&self.mode(*extent, *stride)?)?;
                Ok((result.shape().clone(), result.stride().clone()))
            }
            // A layout's shape and stride are congruent.
            _ => Err(LayoutError::NotCongruent { shape: shape.clone(), stride: stride.clone() }),
        }
    }

    /// The flat modes of the composition with `extent:stride`.
    fn mode(&mut self, extent: Int, stride: Int) -> Result<Vec<(Int, Int)>> {
        let (mut rest_extent, mut rest_stride) = (extent, stride);
        let mut result = Vec::new();
        for k in 0..self.modes.len() {
            let (left_extent, _) = self.modes[k];
            if let Some((digits, step)) = self.without_carry(k, rest_extent, rest_stride)? {
                result.push((rest_extent, step));
                self.add_reach(k, &digits)?;
                break;
            }
            if rest_stride.rem(left_extent)? == 0 {
                rest_stride = rest_stride.div(left_extent)?;
                continue;
            }
            // The digit comes back to 0, with a carry of 1, after extent / digit steps, if at all.
            let right = || Box::new(Layout::unchecked(extent.into(), stride.into()));
            let uneven = || LayoutError::CompositionStride {
                left: Box::new(self.left.clone()),
                right: right(),
                extent: left_extent.get(),
                stride: rest_stride.get(),
            };
            let digit = if rest_stride < left_extent { rest_stride } else { rest_stride.rem(left_extent)? };
            if left_extent.rem(digit)? != 0 {
                return Err(uneven());
            }
            let run = left_extent.div(digit)?;
            if rest_extent.rem(run)? != 0 {
                return Err(LayoutError::CompositionShape {
                    left: Box::new(self.left.clone()),
                    right: right(),
                    extent: left_extent.get(),
                    stride: rest_stride.get(),
                    shape: rest_extent.get(),
                    run: run.get(),
                });
            }
            let Some((digits, step)) = self.without_carry(k, run, rest_stride)? else {
                return Err(uneven());
            };
            result.push((run, step));
            self.add_reach(k, &digits)?;
            rest_extent = rest_extent.div(run)?;
            rest_stride = if rest_stride < left_extent {
                fixed(1)
            } else {
                run.mul(rest_stride.div(left_extent)?)?.add(fixed(1))?
            };
        }
        Ok(result)
    }

    /// If `extent` steps of `stride` overflow no digit from `k` on: the largest value that each
    /// of these digits takes, and the offset of one step.
    fn without_carry(&self, k: usize, extent: Int, stride: Int) -> Result<Option<(Vec<usize>, Int)>> {
        let steps = extent.get().saturating_sub(1);
        let last = self.modes.len() - 1;
        let (mut digits, mut offset, mut rest) = (Vec::new(), None, stride);
        for (i, &(left_extent, left_stride)) in self.modes.iter().enumerate().skip(k) {
            if rest == 0 {
                break;
            }
            let digit = if i == last || rest < left_extent { rest } else { rest.rem(left_extent)? };
            rest = if digit == rest { fixed(0) } else { rest.div(left_extent)? };
            if digit == 0 {
                digits.push(0);
                continue;
            }
            match digit.get().checked_mul(steps) {
                Some(reach) if i == last || reach < left_extent.get() => digits.push(reach),
                _ if i == last => digits.push(usize::MAX),
                _ => return Ok(None),
            }
            let part = digit.mul(left_stride)?;
            offset = Some(match offset {
                None => part,
                Some(sum) => part.add(sum)?,
            });
        }
        let zero = if stride.is_static() { fixed(0) } else { Int::Dynamic(0) };
        Ok(Some((digits, offset.unwrap_or(zero))))
    }

    /// Adds to the largest digits from `k` on, and refuses a sum that overflows its digit.
    fn add_reach(&mut self, k: usize, digits: &[usize]) -> Result<()> {
        let last = self.modes.len() - 1;
        for (i, digit) in digits.iter().enumerate().map(|(i, digit)| (k + i, digit)) {
            let reach = self.reach[i].saturating_add(*digit);
            let extent = self.modes[i].0.get();
            if i < last && reach >= extent {
                return Err(LayoutError::CompositionCarry {
                    left: Box::new(self.left.clone()),
                    right: Box::new(self.right.clone()),
                    extent,
                    reach,
                });
            }
            self.reach[i] = reach;
        }
        Ok(())
    }
}
