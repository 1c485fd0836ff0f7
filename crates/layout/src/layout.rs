//! [`Layout`]: a shape and a stride, which together map coordinates to offsets.
//!
//! ```
//! use tilewise_layout::Layout;
//!
//! let layout = Layout::new((2, (3, 4)), (1, (2, 6)))?;
//! assert_eq!(layout.to_string(), "(2,(3,4)):(1,(2,6))");
//!
//! // The same element by its nested, its flat, its two-mode and its one coordinate.
//! assert_eq!(layout.offset((1, (2, 3)))?, 1 + 2 * 2 + 3 * 6);
//! assert_eq!(layout.offset((1, 2, 3))?, 23);
//! assert_eq!(layout.offset((1, 11))?, 23);
//! assert_eq!(layout.offset(23)?, 23);
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```

use std::fmt;

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, fixed};

/// A function from the coordinates of a shape to offsets: the inner product of the
/// coordinate with the stride.
///
/// Shape and stride are nested alike. One integer is a coordinate too, for the whole
/// layout or for a nested mode of it; it counts with the first mode fastest.
///
/// # Law
///
/// cosize(A) is one more than the largest offset of A, and 0 if A has none.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: IntTuple,
    stride: IntTuple,
}

impl Layout {
    /// The layout `shape:stride`.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    ///
    /// let broadcast = Layout::new((3, 4), (0, 1))?;
    /// assert_eq!((broadcast.size(), broadcast.cosize()), (12, 4));
    /// assert!(Layout::new((3, 4), 1).is_err());
    /// # Ok::<(), tilewise_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::NotCongruent`] if the two are not nested alike,
    /// [`LayoutError::Overflow`] if the size or the largest offset does not fit in a `usize`.
    pub fn new(shape: impl Into<IntTuple>, stride: impl Into<IntTuple>) -> Result<Layout> {
        let layout = Layout { shape: shape.into(), stride: stride.into() };
        if !layout.shape.is_congruent(&layout.stride) {
            return Err(LayoutError::NotCongruent { shape: layout.shape, stride: layout.stride });
        }
        layout.check()?;
        Ok(layout)
    }

    /// A layout of congruent parts whose size need not fit: see [`Layout::check`].
    pub(crate) fn unchecked(shape: IntTuple, stride: IntTuple) -> Layout {
        debug_assert!(shape.is_congruent(&stride), "{shape} : {stride}");
        Layout { shape, stride }
    }

    /// The layout of these flat modes: a single one is not put in a tuple, none are `1:0`.
    pub(crate) fn from_flat(modes: &[(Int, Int)]) -> Result<Layout> {
        match modes {
            [] => Layout::new(fixed(1), fixed(0)),
            [(extent, stride)] => Layout::new(*extent, *stride),
            _ => {
                let (shape, stride): (Vec<Int>, Vec<Int>) = modes.iter().copied().unzip();
                Layout::new(shape, stride)
            }
        }
    }

    /// Checks that size and largest offset fit in a `usize`.
    ///
    /// [`Layout::new`] checks it too. What may not pass are the layouts that
    /// [`row_major`](crate::row_major) and [`col_major`](crate::col_major) return for shapes so
    /// large that no memory holds them, and single modes of a layout that is empty.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overflow`] with the operation that does not fit.
    pub fn check(&self) -> Result<()> {
        self.size_int()?;
        self.cosize_int()?;
        Ok(())
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &IntTuple {
        &self.shape
    }

    /// The stride.
    #[must_use]
    pub fn stride(&self) -> &IntTuple {
        &self.stride
    }

    /// How many modes the layout has.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// How deep it is nested: 0 for a single extent.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.shape.depth()
    }

    /// How many elements the layout has: the product of the extents.
    ///
    /// It is `usize::MAX`, which no memory holds, for a layout that does not pass
    /// [`Layout::check`].
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.saturating_product().get()
    }

    /// How many elements the storage must have: one more than the largest offset, or 0
    /// if the layout is empty.
    ///
    /// It is `usize::MAX`, which no memory holds, for a layout that does not pass
    /// [`Layout::check`].
    #[must_use]
    pub fn cosize(&self) -> usize {
        match self.cosize_int() {
            Ok(n) => n.get(),
            Err(_) => usize::MAX,
        }
    }

    /// The size, with its kind.
    pub(crate) fn size_int(&self) -> Result<Int> {
        self.shape.product()
    }

    /// The cosize, with its kind.
    pub(crate) fn cosize_int(&self) -> Result<Int> {
        let modes = self.flat_modes();
        if modes.iter().any(|(extent, _)| *extent == 0) {
            return Ok(self.shape.saturating_product());
        }
        modes.into_iter().try_fold(fixed(1), |sum, (extent, stride)| {
            let last = match extent {
                Int::Static(n) => Int::Static(n - 1),
                Int::Dynamic(n) => Int::Dynamic(n - 1),
            };
            sum.add(last.mul(stride)?)
        })
    }

    /// Mode `i`: a layout of its own.
    ///
    /// # Errors
    ///
    /// [`LayoutError::ModeOutOfRange`] if there is no mode `i`.
    pub fn mode(&self, i: usize) -> Result<Layout> {
        match (self.shape.get(i), self.stride.get(i)) {
            (Some(shape), Some(stride)) => Ok(Layout::unchecked(shape.clone(), stride.clone())),
            _ => Err(LayoutError::ModeOutOfRange {
                mode: i,
                rank: self.rank(),
                layout: Box::new(self.clone()),
            }),
        }
    }

    /// All its modes, in order. A single extent is its own only mode.
    pub fn modes(&self) -> impl ExactSizeIterator<Item = Layout> {
        let pairs = self.shape.modes().iter().zip(self.stride.modes());
        pairs.map(|(shape, stride)| Layout::unchecked(shape.clone(), stride.clone()))
    }

    /// Its extents, each with its stride, from left to right and without nesting.
    ///
    /// An offset is the sum of `coordinate * stride` over these.
    #[must_use]
    pub fn flat_modes(&self) -> Vec<(Int, Int)> {
        let strides = self.stride.flatten();
        self.shape.flatten().into_iter().zip(strides).collect()
    }

    /// The same layout with its nesting removed.
    #[must_use]
    pub fn flatten(&self) -> Layout {
        match self.shape {
            IntTuple::Int(_) => self.clone(),
            IntTuple::Tuple(_) => {
                Layout::unchecked(IntTuple::from(self.shape.flatten()), IntTuple::from(self.stride.flatten()))
            }
        }
    }

    /// Its modes in the order `modes`.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    ///
    /// let layout = Layout::new((2, 3, 4), (1, 2, 6))?;
    /// assert_eq!(layout.permute(&[2, 0, 1])?.to_string(), "(4,2,3):(6,1,2)");
    /// # Ok::<(), tilewise_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::NotAPermutation`] unless `modes` names each mode once.
    pub fn permute(&self, modes: &[usize]) -> Result<Layout> {
        let mut sorted = modes.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.rank()) {
            return Err(LayoutError::NotAPermutation {
                order: modes.to_vec(),
                layout: Box::new(self.clone()),
            });
        }
        let pick = |tuple: &IntTuple| match tuple {
            IntTuple::Int(n) => IntTuple::Int(*n),
            IntTuple::Tuple(all) => IntTuple::Tuple(modes.iter().map(|&mode| all[mode].clone()).collect()),
        };
        Ok(Layout::unchecked(pick(&self.shape), pick(&self.stride)))
    }

    /// Its modes in reverse order.
    ///
    /// # Law
    ///
    /// transpose(A)(cn, ..., c1, c0) = A(c0, c1, ..., cn).
    ///
    /// ```
    /// use tilewise_layout::row_major;
    ///
    /// assert_eq!(row_major((3, 4)).transpose().to_string(), "(4,3):(1,4)");
    /// ```
    #[must_use]
    pub fn transpose(&self) -> Layout {
        let reverse = |tuple: &IntTuple| match tuple {
            IntTuple::Int(n) => IntTuple::Int(*n),
            IntTuple::Tuple(modes) => IntTuple::Tuple(modes.iter().rev().cloned().collect()),
        };
        Layout::unchecked(reverse(&self.shape), reverse(&self.stride))
    }

    /// The same layout, its integers known only at launch.
    #[must_use]
    pub fn to_dynamic(&self) -> Layout {
        Layout::unchecked(self.shape.to_dynamic(), self.stride.to_dynamic())
    }

    /// Whether every extent and stride is static.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.shape.is_static() && self.stride.is_static()
    }

    /// What of the layout is part of a kernel: its nesting and its static integers, with
    /// `?` for each dynamic one.
    ///
    /// Layouts with the same key can share one compiled kernel; equality of layouts is not
    /// enough, for it ignores what is static.
    ///
    /// ```
    /// use tilewise_layout::{fixed, row_major};
    ///
    /// assert_eq!(row_major((100, fixed(8))).static_key(), "(?,_8):(_8,_1)");
    /// assert_eq!(row_major((200, fixed(8))).static_key(), "(?,_8):(_8,_1)");
    /// ```
    #[must_use]
    pub fn static_key(&self) -> String {
        fn write(key: &mut String, tuple: &IntTuple) {
            match tuple {
                IntTuple::Int(Int::Static(n)) => key.push_str(&format!("_{n}")),
                IntTuple::Int(Int::Dynamic(_)) => key.push('?'),
                IntTuple::Tuple(modes) => {
                    key.push('(');
                    for (i, mode) in modes.iter().enumerate() {
                        if i > 0 {
                            key.push(',');
                        }
                        write(key, mode);
                    }
                    key.push(')');
                }
            }
        }
        let mut key = String::new();
        write(&mut key, &self.shape);
        key.push(':');
        write(&mut key, &self.stride);
        key
    }

    /// The offset of a coordinate: one integer, one integer for each extent, or integers
    /// nested like the shape, each of which may stand for a nested mode.
    ///
    /// # Errors
    ///
    /// [`LayoutError::CoordinateOutOfRange`] if a part is not below its extent,
    /// [`LayoutError::CoordinateProfile`] if the coordinate is nested unlike the shape.
    pub fn offset(&self, coord: impl Into<IntTuple>) -> Result<usize> {
        crate::crd2idx(coord, &self.shape, &self.stride)
    }

    /// The offset of the one-integer coordinate `index`, also at and beyond the size: there
    /// the last extent goes on without end. This is the function that
    /// [`composition`](crate::composition) composes.
    ///
    /// ```
    /// use tilewise_layout::Layout;
    ///
    /// let layout = Layout::new((4, 2), (1, 10))?;
    /// assert_eq!(layout.extended_offset(7)?, 13);
    /// assert_eq!(layout.extended_offset(8)?, 20);
    /// assert!(layout.offset(8).is_err());
    /// # Ok::<(), tilewise_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overflow`] if the offset does not fit,
    /// [`LayoutError::DivisionByZero`] if an extent other than the last is 0.
    pub fn extended_offset(&self, index: usize) -> Result<usize> {
        let modes = self.flat_modes();
        let (mut rest, mut offset) = (Int::Dynamic(index), Int::Dynamic(0));
        for (i, (extent, stride)) in modes.iter().enumerate() {
            let mut digit = rest;
            if i + 1 < modes.len() {
                digit = rest.rem(*extent)?;
                rest = rest.div(*extent)?;
            }
            offset = offset.add(digit.mul(*stride)?)?;
        }
        Ok(offset.get())
    }

    /// The nested coordinate of the one-integer coordinate `index`.
    ///
    /// # Law
    ///
    /// crd2idx(idx2crd(i)) = i and A(idx2crd(i)) = A(i) for every i < size(A).
    ///
    /// ```
    /// use tilewise_layout::Layout;
    ///
    /// let layout = Layout::new((2, (3, 4)), (1, (2, 6)))?;
    /// assert_eq!(layout.idx2crd(23)?.to_string(), "(1,(2,3))");
    /// # Ok::<(), tilewise_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::CoordinateOutOfRange`] if `index` is not below the size.
    pub fn idx2crd(&self, index: usize) -> Result<IntTuple> {
        crate::idx2crd(index, &self.shape)
    }

    /// The one-integer coordinate of a coordinate of any nesting: the opposite of
    /// [`Layout::idx2crd`]. The stride has no part in it.
    ///
    /// # Errors
    ///
    /// As [`Layout::offset`].
    pub fn crd2idx(&self, coord: impl Into<IntTuple>) -> Result<usize> {
        let compact = crate::try_col_major(&self.shape)?;
        compact.offset(coord)
    }

    /// The offsets of all its elements, first mode fastest.
    ///
    /// ```
    /// use tilewise_layout::row_major;
    ///
    /// assert!(row_major((2, 3)).offsets().eq([0, 3, 1, 4, 2, 5]));
    /// ```
    pub fn offsets(&self) -> impl Iterator<Item = usize> + use<> {
        let layout = self.clone();
        (0..self.size()).map_while(move |i| layout.extended_offset(i).ok())
    }

    /// Whether it stores its elements like [`row_major`](crate::row_major) of its shape:
    /// densely, the last mode fastest. Strides of extents of 1 play no part.
    #[must_use]
    pub fn is_row_major(&self) -> bool {
        self.strides_match(&crate::row_major(&self.shape))
    }

    /// Whether it stores its elements like [`col_major`](crate::col_major) of its shape:
    /// densely, the first mode fastest. Strides of extents of 1 play no part.
    #[must_use]
    pub fn is_col_major(&self) -> bool {
        self.strides_match(&crate::col_major(&self.shape))
    }

    fn strides_match(&self, other: &Layout) -> bool {
        let mut pairs = self.flat_modes().into_iter().zip(other.flat_modes());
        self.size() == 0 || pairs.all(|(a, b)| a.0 == 1 || a.1 == b.1)
    }

    /// Whether no two elements have the same offset.
    ///
    /// # Law
    ///
    /// is_injective(A) is true exactly if no two of A's offsets are equal.
    ///
    /// Extents whose strides each exceed what the smaller ones span are decided at once;
    /// others are searched, which takes long only for many interleaved strides.
    #[must_use]
    pub fn is_injective(&self) -> bool {
        if self.size() <= 1 {
            return true;
        }
        if self.check().is_err() {
            return false;
        }
        let mut modes: Vec<(i128, i128)> = self
            .flat_modes()
            .into_iter()
            .filter(|(extent, _)| *extent != 1)
            .map(|(extent, stride)| (extent.get() as i128 - 1, stride.get() as i128))
            .collect();
        modes.sort_unstable_by_key(|m| m.1);
        !has_zero_difference(&modes, 0, false)
    }

    /// Whether the offsets are exactly 0 to size - 1, each once.
    ///
    /// # Law
    ///
    /// is_bijective(A) is true exactly if A's offsets are 0, 1, ..., size(A) - 1 in some order.
    #[must_use]
    pub fn is_bijective(&self) -> bool {
        if self.size() == 0 {
            return true;
        }
        // The smallest offset that the modes so far do not reach must be the next stride.
        let mut modes = self.flat_modes();
        modes.retain(|(extent, _)| *extent != 1);
        modes.sort_by_key(|mode| mode.1);
        let next = modes.into_iter().try_fold(fixed(1), |next, (extent, stride)| {
            (stride == next).then(|| extent.mul(stride).ok()).flatten()
        });
        next.is_some()
    }
}

/// Whether `total` plus a sum of `e * stride` is 0 with `-last <= e <= last` for each
/// `(last, stride)`, and some `e`, here or before (`moved`), is not 0. The modes are in
/// order of stride: each leaves only those `e` that the smaller strides can still bring to 0.
fn has_zero_difference(modes: &[(i128, i128)], total: i128, moved: bool) -> bool {
    let Some(((last, stride), smaller)) = modes.split_last() else {
        return total == 0 && moved;
    };
    if *stride == 0 {
        return total == 0; // a mode of stride 0 and more than one element moves for nothing
    }
    let span: i128 = smaller.iter().map(|(last, stride)| last * stride).sum();
    let low = (-(total + span)).div_euclid(*stride) - 1;
    let high = (span - total).div_euclid(*stride) + 1;
    (low.max(-last)..=high.min(*last))
        .filter(|e| (total + e * stride).abs() <= span)
        .any(|e| has_zero_difference(smaller, total + e * stride, moved || e != 0))
}

/// A layout whose modes are the given layouts.
///
/// # Law
///
/// make_layout(A, B, ...)(i, j, ...) = A(i) + B(j) + ....
///
/// ```
/// use tilewise_layout::{Layout, make_layout};
///
/// let tile = Layout::new(4, 1)?;
/// let rest = Layout::new((2, 3), (4, 100))?;
/// assert_eq!(make_layout([tile, rest])?.to_string(), "(4,(2,3)):(1,(4,100))");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
///
/// # Errors
///
/// [`LayoutError::Overflow`] if the size or the largest offset does not fit.
pub fn make_layout(modes: impl IntoIterator<Item = Layout>) -> Result<Layout> {
    let (shape, stride): (Vec<IntTuple>, Vec<IntTuple>) =
        modes.into_iter().map(|m| (m.shape, m.stride)).unzip();
    Layout::new(shape, stride)
}

/// As CuTe prints it: `(2,(3,4)):(1,(2,6))`. `{:#}` puts an underscore before static integers.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.shape, f)?;
        f.write_str(":")?;
        fmt::Display::fmt(&self.stride, f)
    }
}

/// As `{:#}` of [`Display`](fmt::Display), which shows static integers.
impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
