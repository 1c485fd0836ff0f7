//! The layout of a tensor, taken apart: one extent and one stride for each dimension.

use std::array;

use smallvec::SmallVec;
use tilewise_ir::verify::MAX_DIMS;
use tilewise_layout::{Int, IntTuple, Layout, coalesce};
use tilewise_stage::tensor::ParamDim;

use crate::error::{Result, TensorError};

/// A layout of `RANK` flat modes. Its integers remember whether they are constants of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatLayout<const RANK: usize> {
    pub(crate) extents: [Int; RANK],
    pub(crate) strides: [Int; RANK],
}

impl<const RANK: usize> FlatLayout<RANK> {
    /// The modes of `layout`. A nested mode is coalesced, and must then be one extent with one stride.
    pub(crate) fn new(layout: &Layout) -> Result<FlatLayout<RANK>, TensorError> {
        if RANK == 0 || RANK > MAX_DIMS.into() {
            return Err(TensorError::Dimensions { rank: RANK, limit: MAX_DIMS.into() });
        }
        let modes = layout.rank();
        if modes != RANK {
            return Err(TensorError::Rank { layout: Box::new(layout.clone()), modes, rank: RANK });
        }
        let zero = Int::Dynamic(0);
        let mut flat = FlatLayout { extents: [zero; RANK], strides: [zero; RANK] };
        for (d, mode) in layout.modes().enumerate() {
            let one = integers(&mode).or_else(|| integers(&coalesce(&mode)));
            let Some((extent, stride)) = one else {
                return Err(TensorError::NestedMode {
                    layout: Box::new(layout.clone()),
                    mode: d,
                    nested: Box::new(mode),
                });
            };
            (flat.extents[d], flat.strides[d]) = (extent, stride);
        }
        Ok(flat)
    }

    /// `len` elements one after the other.
    pub(crate) fn dense(len: usize) -> FlatLayout<1> {
        FlatLayout { extents: [Int::Dynamic(len)], strides: [Int::Static(1)] }
    }

    /// The layout as such.
    pub(crate) fn to_layout(self) -> Layout {
        let tuple = |ints: [Int; RANK]| IntTuple::from(ints);
        match Layout::new(tuple(self.extents), tuple(self.strides)) {
            Ok(layout) => layout,
            Err(_) => unreachable!("a flat layout is made from a layout that fits in its memory"),
        }
    }

    /// Extents as plain numbers.
    pub(crate) fn shape(&self) -> [usize; RANK] {
        self.extents.map(Int::get)
    }

    /// Strides as plain numbers.
    pub(crate) fn stride(&self) -> [usize; RANK] {
        self.strides.map(Int::get)
    }

    /// Number of indices; saturates.
    pub(crate) fn size(&self) -> usize {
        if self.shape().contains(&0) {
            return 0;
        }
        self.shape().into_iter().fold(1, usize::saturating_mul)
    }

    /// How many elements of memory are spanned: one past the last; saturates.
    pub(crate) fn cosize(&self) -> usize {
        if self.size() == 0 {
            return 0;
        }
        let last = self.shape().into_iter().zip(self.stride()).map(|(n, d)| (n - 1).saturating_mul(d));
        last.fold(1, usize::saturating_add)
    }

    /// Whether the elements lie one after the other, the last dimension fastest. Goes by the values of the integers.
    pub(crate) fn is_compact(&self) -> bool {
        let mut next = 1usize;
        let mut compact = true;
        for (&extent, &stride) in self.shape().iter().zip(&self.stride()).rev() {
            compact &= extent == 1 || stride == next;
            next = next.saturating_mul(extent);
        }
        compact || self.size() == 0
    }

    /// Whether no two indices have the same element.
    pub(crate) fn is_injective(&self) -> bool {
        self.size() <= 1 || self.to_layout().is_injective()
    }

    /// Offset of an index.
    pub(crate) fn offset(&self, index: [usize; RANK]) -> Result<usize, TensorError> {
        let shape = self.shape();
        if (0..RANK).any(|d| index[d] >= shape[d]) {
            return Err(TensorError::IndexOutOfRange { index: index.to_vec(), shape: shape.to_vec() });
        }
        Ok(index.iter().zip(self.stride()).map(|(i, d)| i * d).sum())
    }

    /// The dimensions in reverse order.
    pub(crate) fn transposed(mut self) -> FlatLayout<RANK> {
        self.extents.reverse();
        self.strides.reverse();
        self
    }

    /// All indices with their offsets, the last dimension fastest.
    pub(crate) fn elements(&self) -> Elements<RANK> {
        Elements {
            shape: self.shape(),
            stride: self.stride(),
            index: [0; RANK],
            offset: 0,
            rest: self.size(),
        }
    }

    /// The runs of neighbouring elements that make up the tensor, as offset and length, in any order.
    pub(crate) fn runs(&self) -> Vec<(usize, usize)> {
        if self.size() == 0 {
            return Vec::new();
        }
        let mut modes: SmallVec<[(usize, usize); 4]> =
            self.stride().into_iter().zip(self.shape()).filter(|&(_, extent)| extent != 1).collect();
        modes.sort_unstable();
        let (mut run, mut joined) = (1usize, 0);
        while let Some(&(stride, extent)) = modes.get(joined)
            && stride == run
        {
            run *= extent;
            joined += 1;
        }
        let mut starts = vec![0];
        for &(stride, extent) in &modes[joined..] {
            starts = (0..extent).flat_map(|i| starts.iter().map(move |start| start + i * stride)).collect();
        }
        starts.into_iter().map(|start| (start, run)).collect()
    }

    /// Extents as the kernel has them: static ones are constants.
    pub(crate) fn param_extents(&self) -> [ParamDim; RANK] {
        array::from_fn(|d| match self.extents[d] {
            Int::Static(n) => ParamDim::Known(n),
            Int::Dynamic(_) => ParamDim::Launch,
        })
    }

    /// Strides as the kernel has them: static ones are constants, and so are 0 and 1, which make another access.
    pub(crate) fn param_strides(&self) -> [ParamDim; RANK] {
        array::from_fn(|d| match self.strides[d] {
            Int::Static(n) | Int::Dynamic(n @ (0 | 1)) => ParamDim::Known(n),
            Int::Dynamic(_) => ParamDim::Launch,
        })
    }
}

/// Extent and stride of a layout that is one mode.
fn integers(mode: &Layout) -> Option<(Int, Int)> {
    Some((mode.shape().as_int()?, mode.stride().as_int()?))
}

/// Indices with their offsets: see [`FlatLayout::elements`].
#[derive(Clone, Debug)]
pub(crate) struct Elements<const RANK: usize> {
    shape: [usize; RANK],
    stride: [usize; RANK],
    index: [usize; RANK],
    offset: usize,
    rest: usize,
}

impl<const RANK: usize> Iterator for Elements<RANK> {
    type Item = ([usize; RANK], usize);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.checked_sub(1)?;
        let item = (self.index, self.offset);
        if self.rest > 0 {
            for d in (0..RANK).rev() {
                self.index[d] += 1;
                self.offset += self.stride[d];
                if self.index[d] < self.shape[d] {
                    break;
                }
                self.offset -= self.index[d] * self.stride[d];
                self.index[d] = 0;
            }
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use tilewise_layout::{col_major, fixed, row_major};

    use super::*;

    fn flat<const RANK: usize>(layout: Layout) -> FlatLayout<RANK> {
        FlatLayout::new(&layout).unwrap()
    }

    #[test]
    fn nested_modes_are_coalesced_or_refused() {
        let nested = Layout::new(((2, 3), 4), ((1, 2), 6)).unwrap();
        assert_eq!((flat::<2>(nested.clone()).shape(), flat::<2>(nested).stride()), ([6, 4], [1, 6]));
        let split = Layout::new(((2, 3), 4), ((1, 8), 2)).unwrap();
        assert_eq!(
            FlatLayout::<2>::new(&split).unwrap_err().to_string(),
            "mode 0 of layout ((2,3),4):((1,8),2) is (2,3):(1,8), which is not one extent with one stride; give it as \
             dimensions of its own"
        );
        assert_eq!(
            FlatLayout::<3>::new(&row_major([2, 3])).unwrap_err().to_string(),
            "layout (2,3):(3,1) has 2 modes, the tensor has 3 dimensions; give one extent for each dimension"
        );
        assert!(matches!(
            FlatLayout::<0>::new(&row_major(8)).unwrap_err(),
            TensorError::Dimensions { rank: 0, limit: 16 }
        ));
    }

    #[test]
    fn compact_goes_by_values() {
        assert!(flat::<2>(row_major([2, 3])).is_compact());
        assert!(flat::<2>(Layout::new((2, 3), (3, 1)).unwrap()).is_compact());
        assert!(flat::<2>(Layout::new((1, 3), (77, 1)).unwrap()).is_compact());
        assert!(flat::<2>(Layout::new((0, 3), (77, 5)).unwrap()).is_compact());
        assert!(!flat::<2>(col_major([2, 3])).is_compact());
        assert!(!flat::<2>(Layout::new((2, 3), (4, 1)).unwrap()).is_compact());
        assert!(!flat::<1>(Layout::new(3, 0).unwrap()).is_compact());
    }

    #[test]
    fn static_integers_are_constants_of_the_kernel() {
        let layout = flat::<3>(Layout::new((7, fixed(8), 9), (72, fixed(9), 1)).unwrap());
        assert_eq!(layout.param_extents(), [ParamDim::Launch, ParamDim::Known(8), ParamDim::Launch]);
        assert_eq!(layout.param_strides(), [ParamDim::Launch, ParamDim::Known(9), ParamDim::Known(1)]);
    }

    #[test]
    fn elements_count_with_the_last_dimension_fastest() {
        let elements: Vec<_> = flat::<2>(col_major([2, 3])).elements().collect();
        assert_eq!(elements, [([0, 0], 0), ([0, 1], 2), ([0, 2], 4), ([1, 0], 1), ([1, 1], 3), ([1, 2], 5)]);
        assert_eq!(flat::<3>(row_major([2, 0, 3])).elements().count(), 0);
    }

    #[test]
    fn runs_cover_each_element_once() {
        for (layout, count) in [
            (Layout::new((2, 3, 4), (12, 4, 1)).unwrap(), 1),
            (Layout::new((4, 3, 2), (1, 4, 12)).unwrap(), 1),
            (Layout::new((2, 3, 4), (20, 5, 1)).unwrap(), 6),
            (Layout::new((2, 3, 4), (30, 10, 2)).unwrap(), 24),
            (Layout::new((1, 1, 1), (5, 6, 7)).unwrap(), 1),
            (Layout::new((2, 0, 4), (12, 4, 1)).unwrap(), 0),
        ] {
            let layout = flat::<3>(layout);
            let runs = layout.runs();
            assert_eq!(runs.len(), count);
            let mut covered: Vec<_> = runs.iter().flat_map(|&(start, len)| start..start + len).collect();
            let mut offsets: Vec<_> = layout.elements().map(|(_, offset)| offset).collect();
            covered.sort_unstable();
            offsets.sort_unstable();
            assert_eq!(covered, offsets);
        }
    }
}
