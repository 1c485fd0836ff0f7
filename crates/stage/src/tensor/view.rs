//! Views of views: tiles, slices, transposes, and how threads share a tensor.

use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::CompareOp;
use tilewise_layout::Layout;

use crate::element::Element;
use crate::math::select;
use crate::recorder;
use crate::staged::{Stage, StageAs};
use crate::tensor::index::TensorIndex;
use crate::tensor::{Dim, Simd, TileTensor, scaled, sum};
use crate::val::{Val, checked_lanes, compare};

/// Sizes along the dimensions of a tensor of rank `RANK`: `n` for rank 1, `[m, n]` for rank 2, and so on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a size of a tensor of rank {RANK}",
    label = "wrong size for a tensor of rank {RANK}",
    note = "sizes are plain `usize` numbers, known while the kernel is described: `n` for rank 1, `[m, n]` for rank 2"
)]
pub trait TileSize<const RANK: usize> {
    /// The size along each dimension.
    #[doc(hidden)]
    fn sizes(self) -> [usize; RANK];
}

impl TileSize<1> for usize {
    fn sizes(self) -> [usize; 1] {
        [self]
    }
}

impl<const RANK: usize> TileSize<RANK> for [usize; RANK] {
    fn sizes(self) -> [usize; RANK] {
        self
    }
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// The tile number `at` of those into which tiles of `size` cut the tensor. At a ragged edge the tile is clipped:
    /// [`dim`](Self::dim) tells how much of it is there. A tile past the end has extent 0.
    ///
    /// # Errors
    ///
    /// Refused if a size is 0, or the tensor is vectorized.
    #[track_caller]
    pub fn tile(&self, size: impl TileSize<RANK>, at: impl TensorIndex<RANK>) -> Self {
        let location = Location::caller();
        let (size, at) = (size.sizes(), at.coordinates());
        self.refuse_vectorized("tile");
        if size.contains(&0) {
            recorder::fail(location, format!("a tile of size {size:?}: each size is at least 1"));
        }
        let start: [Val<usize>; RANK] = std::array::from_fn(|d| at[d] * size[d]);
        let extents = std::array::from_fn(|d| {
            if let Dim::Known(n) = self.extents[d]
                && let Some(i) = at[d].known(location).and_then(|c| c.as_int())
            {
                return Dim::Known(n.saturating_sub(i as usize * size[d]).min(size[d]));
            }
            Dim::Value(distance(start[d], self.extents[d]).min(size[d]))
        });
        Self { extents, compact: false, ..self.starting_at(start) }
    }

    /// The part from `start` to before `end` along each dimension; `end` past the tensor is clipped.
    ///
    /// # Errors
    ///
    /// Refused if a range that is known while the kernel is described lies outside the tensor.
    #[track_caller]
    pub fn slice<S: StageAs<Val<usize>> + Copy>(&self, ranges: [std::ops::Range<S>; RANK]) -> Self {
        let location = Location::caller();
        self.refuse_vectorized("slice");
        let ranges = ranges.map(|r| (r.start.stage_as(), r.end.stage_as()));
        let extents = std::array::from_fn(|d| {
            let (start, end) = ranges[d];
            let known = |v: Val<usize>| v.known(location).and_then(|c| c.as_int()).map(|n| n as usize);
            if let (Some(a), Some(b)) = (known(start), known(end))
                && a > b
            {
                recorder::fail(
                    location,
                    format!("slice {a}..{b} of dimension {d}: it ends before it starts"),
                );
            }
            if let (Some(a), Some(b), Dim::Known(n)) = (known(start), known(end), self.extents[d]) {
                if b > n {
                    recorder::fail(location, format!("slice {a}..{b} of dimension {d}, whose extent is {n}"));
                }
                return Dim::Known(b - a);
            }
            let end = end.min(self.extents[d].value());
            Dim::Value(distance(start, Dim::Value(end)))
        });
        let start = ranges.map(|(start, _)| start);
        Self { extents, compact: false, ..self.starting_at(start) }
    }

    /// The tensor with its dimensions in reverse order: of a matrix `b[[i, j]] == a[[j, i]]`.
    #[track_caller]
    pub fn transpose(&self) -> Self {
        let reversed = |a: [Dim; RANK]| std::array::from_fn(|d| a[RANK - 1 - d]);
        self.refuse_vectorized("transpose");
        Self {
            extents: reversed(self.extents),
            strides: reversed(self.strides),
            compact: RANK == 1 && self.compact,
            ..*self
        }
    }

    /// The same elements, in row-major order, with other extents. If the numbers of elements differ, the result has
    /// extent 0 along its first dimension, so that any access to it is reported; it is refused if both are known while
    /// the kernel is described.
    ///
    /// # Errors
    ///
    /// Refused if the elements do not lie one after the other (a tile, slice or transpose): copy them first.
    #[track_caller]
    pub fn reshape<const N: usize>(&self, extents: [impl StageAs<Val<usize>>; N]) -> TileTensor<T, N, M> {
        let location = Location::caller();
        self.refuse_vectorized("reshape");
        if !self.compact {
            recorder::fail(
                location,
                "reshape of a tensor whose elements do not lie one after the other (a tile, a slice or a transpose): \
                 copy it to a tensor of its own first",
            );
        }
        let mut extents = extents.map(|e| {
            let e = e.stage_as();
            match e.known(location).and_then(|c| c.as_int()) {
                Some(n) => Dim::Known(n as usize),
                None => Dim::Value(e),
            }
        });
        let product = |dims: &[Dim]| dims.iter().fold(Dim::Known(1), |n, &d| n.times(d));
        match (product(&self.extents), product(&extents)) {
            (Dim::Known(a), Dim::Known(b)) if a != b => {
                recorder::fail(location, format!("reshape of {a} elements to {b}"))
            }
            (Dim::Known(_), Dim::Known(_)) => {}
            (a, b) => {
                let same = compare(CompareOp::Eq, a.value(), b.value());
                if let Some(first) = extents.first_mut() {
                    *first = Dim::Value(select(same, first.value(), 0usize));
                }
            }
        }
        let mut strides = [Dim::Known(1); N];
        for d in (1..N).rev() {
            strides[d - 1] = strides[d].times(extents[d]);
        }
        TileTensor {
            mem: self.mem,
            offset: self.offset,
            extents,
            strides,
            simd: None,
            compact: true,
            element: PhantomData,
        }
    }

    /// The tensor as rows of SIMD values: each index of the last dimension then stands for `widths[RANK - 1]`
    /// neighbouring elements, and its extent is divided by that, rounded up. Lanes lie along the last dimension, so the
    /// other widths are 1.
    ///
    /// # Errors
    ///
    /// Refused if a width is 0 or above 64, one of another dimension is not 1, or the elements of the last dimension
    /// are not neighbours in memory.
    #[track_caller]
    pub fn vectorize(&self, widths: impl TileSize<RANK>) -> Self {
        let location = Location::caller();
        let widths = widths.sizes();
        self.refuse_vectorized("vectorize");
        for (d, &width) in widths.iter().enumerate() {
            checked_lanes(width, location);
            if width > 1 && d + 1 < RANK {
                recorder::fail(
                    location,
                    format!(
                        "vectorize with width {width} along dimension {d}: lanes lie along the last dimension"
                    ),
                );
            }
        }
        let last = RANK - 1;
        let width = widths[last];
        if width == 1 {
            return *self;
        }
        if !matches!(self.strides[last], Dim::Known(1)) {
            recorder::fail(
                location,
                "vectorize of a tensor whose last dimension does not lie element beside element in memory",
            );
        }
        let mut vectorized = *self;
        vectorized.extents[last] = self.extents[last].div_ceil(width);
        vectorized.strides[last] = Dim::Known(width);
        vectorized.simd = Some(Simd { width, start: None, step: width, limit: self.extents[last] });
        vectorized
    }

    /// This thread's share of the tensor, when threads in the arrangement `threads` take its elements in turn: thread
    /// `id` stands at coordinate `(id / stride) % shape` of the arrangement and gets every `shape`-th element from
    /// there on, along each dimension. Of a vectorized tensor whole SIMD values are dealt out.
    ///
    /// # Errors
    ///
    /// Refused if the arrangement has not `RANK` plain dimensions.
    #[track_caller]
    pub fn distribute(&self, threads: Layout, id: impl StageAs<Val<usize>>) -> Self {
        let location = Location::caller();
        let id = id.stage_as();
        let modes = flat_modes::<RANK>(&threads, location);
        if let Some(d) = modes.iter().position(|&(shape, _)| shape == 0) {
            recorder::fail(location, format!("distribute over 0 threads along dimension {d}"));
        }
        let at: [Val<usize>; RANK] = std::array::from_fn(|d| {
            let (shape, stride) = modes[d];
            let id = if stride > 1 { id / stride } else { id };
            if shape == 1 { 0usize.stage() } else { id % shape }
        });
        let extents = std::array::from_fn(|d| {
            let (shape, _) = modes[d];
            match self.extents[d] {
                // Every thread gets equally many.
                Dim::Known(n) if n % shape == 0 => Dim::Known(n / shape),
                extent if shape == 1 => extent,
                extent => Dim::Value(distance(at[d], extent)).div_ceil(shape),
            }
        });
        let strides = std::array::from_fn(|d| self.strides[d].times(Dim::Known(modes[d].0)));
        let simd = self.simd.map(|simd| Simd {
            start: sum(simd.start, scaled(at[RANK - 1], Dim::Known(simd.step))),
            step: simd.step * modes[RANK - 1].0,
            ..simd
        });
        Self { extents, strides, simd, compact: false, ..self.starting_at(at) }
    }

    /// The tensor from another first element on; the extents are left to the caller.
    #[track_caller]
    fn starting_at(&self, start: [Val<usize>; RANK]) -> Self {
        let offset = (0..RANK).fold(self.offset, |offset, d| sum(offset, scaled(start[d], self.strides[d])));
        Self { offset, ..*self }
    }

    #[track_caller]
    pub(crate) fn refuse_vectorized(&self, word: &str) {
        if self.simd.is_some() {
            recorder::fail(
                Location::caller(),
                format!("{word} of a vectorized tensor: use it on the tensor before `vectorize`"),
            );
        }
    }
}

/// `end - start`, or 0 if it is below.
#[track_caller]
fn distance(start: Val<usize>, end: Dim) -> Val<usize> {
    let end = end.value();
    select(compare(CompareOp::Lt, start, end), end - start, 0usize)
}

/// Shape and stride of each of the `RANK` modes of a layout without nesting.
pub(crate) fn flat_modes<const RANK: usize>(
    layout: &Layout,
    location: &'static Location<'static>,
) -> [(usize, usize); RANK] {
    let flat = crate::tensor::memory::flat_dimensions(layout);
    match flat.and_then(|modes| <[(usize, usize); RANK]>::try_from(modes).ok()) {
        Some(modes) => modes,
        None => recorder::fail(
            location,
            format!("the layout {layout} has not {RANK} plain dimension{}", if RANK == 1 { "" } else { "s" }),
        ),
    }
}
