//! Reading and writing elements: one by one, as SIMD values, and whole tensors by one thread.

use std::panic::Location;

use smallvec::SmallVec;
use tilewise_ir::{Access, Op, Type};

use crate::control::{For, range};
use crate::element::Element;
use crate::recorder::{self, Raw};
use crate::staged::{Stage, StageAs};
use crate::tensor::index::TensorIndex;
use crate::tensor::{Dim, Immut, TensorRef, TileTensor, Writable, scaled, sum};
use crate::val::{Val, checked_lanes};

/// Where an access goes: its offset, and a pair of index and extent for each dimension.
struct Target {
    offset: Raw,
    access: Access,
    bounds: SmallVec<[Raw; 4]>,
}

impl Target {
    fn args<const N: usize>(self, values: [Raw; N]) -> (Access, SmallVec<[Raw; 8]>) {
        let args = std::iter::once(self.offset).chain(values).chain(self.bounds).collect();
        (self.access, args)
    }
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// Reads `width` elements from `index` on along the last dimension, as a SIMD value. Lanes outside the tensor read
    /// zero and are reported, as for `a[i]`.
    ///
    /// # Errors
    ///
    /// Refused if `width` is 0 or more than 64, or the tensor is [vectorized](Self::vectorize): index it instead.
    #[track_caller]
    pub fn load(&self, index: impl TensorIndex<RANK>, width: usize) -> Val<T> {
        self.refuse_vectorized("load");
        self.load_vector(index.coordinates(), width, 0)
    }

    /// Reads as [`load`](Self::load), and claims that the first element's address is a multiple of the size of the whole
    /// SIMD value, so that one wide access may be made. The claim must hold.
    #[track_caller]
    pub fn aligned_load(&self, index: impl TensorIndex<RANK>, width: usize) -> Val<T> {
        self.refuse_vectorized("aligned_load");
        self.load_vector(index.coordinates(), width, width * T::SCALAR.size())
    }

    /// The element at `index`, or the SIMD value of a [`vectorize`](Self::vectorize)d tensor there.
    #[track_caller]
    pub(crate) fn load_element(&self, index: [Val<usize>; RANK]) -> Val<T> {
        self.load_vector(index, self.element_size(), 0)
    }

    #[track_caller]
    fn load_vector(&self, index: [Val<usize>; RANK], width: usize, align: usize) -> Val<T> {
        let location = Location::caller();
        if let Some(lanes) = index_lanes(&index, location) {
            if width != 1 {
                recorder::fail(location, "an index of several lanes cannot be read with a width too");
            }
            return match contiguous(&index, location) {
                Some(first) => self.load_vector(first, lanes, align),
                None => {
                    let each: Vec<_> =
                        (0..lanes).map(|lane| self.load_vector(lane_of(&index, lane), 1, 0)).collect();
                    Val::from_lanes(&each)
                }
            };
        }
        let lanes = checked_lanes(width, location);
        if width > 1 && !self.neighbouring_lanes() {
            let each: Vec<_> = (0..width).map(|lane| self.load_vector(shifted(&index, lane), 1, 0)).collect();
            return Val::from_lanes(&each);
        }
        let (access, args) = self.target(index, align).args([]);
        Val::from_raw(recorder::emit(location, Op::Load(access), args, Type::vector(T::SCALAR, lanes)))
    }

    #[track_caller]
    fn target(&self, index: [Val<usize>; RANK], align: usize) -> Target {
        let mut offset = self.offset;
        let mut access = Access::unchecked(self.mem);
        access.lane_dim = (RANK - 1) as u8;
        access.align = align as u16;
        let mut bounds = SmallVec::new();
        for (d, &index) in index.iter().enumerate() {
            offset = sum(offset, scaled(index, self.strides[d]));
            access.bounds.push(d as u8);
            let (at, limit) = match self.simd {
                Some(simd) if d == RANK - 1 => {
                    let at = sum(simd.start, scaled(index, Dim::Known(simd.step)));
                    (at.unwrap_or_else(|| 0usize.stage()), simd.limit)
                }
                _ => (index, self.extents[d]),
            };
            bounds.push(at.raw);
            bounds.push(limit.value().raw);
        }
        let offset = offset.unwrap_or_else(|| 0usize.stage());
        Target { offset: offset.raw, access, bounds }
    }

    /// Whether the lanes of a SIMD value are neighbours in memory.
    fn neighbouring_lanes(&self) -> bool {
        self.simd.is_some() || matches!(self.strides[RANK - 1], Dim::Known(1))
    }

    /// Offset, access and bounds of one element, for the atomics.
    #[track_caller]
    pub(crate) fn cell(&self, index: [Val<usize>; RANK]) -> (Access, Raw, SmallVec<[Raw; 4]>) {
        let target = self.target(index, 0);
        (target.access, target.offset, target.bounds)
    }
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// Writes the lanes of `value` from `index` on along the last dimension. Lanes outside the tensor are not written
    /// and are reported, as for `a[i] = v`.
    #[track_caller]
    pub fn store(&self, index: impl TensorIndex<RANK>, value: impl StageAs<Val<T>>)
    where
        M: Writable,
    {
        self.refuse_vectorized("store");
        self.store_vector(index.coordinates(), value.stage_as(), false);
    }

    /// Writes as [`store`](Self::store), and claims that the first element's address is a multiple of the size of the
    /// whole SIMD value. The claim must hold.
    #[track_caller]
    pub fn aligned_store(&self, index: impl TensorIndex<RANK>, value: impl StageAs<Val<T>>)
    where
        M: Writable,
    {
        self.refuse_vectorized("aligned_store");
        self.store_vector(index.coordinates(), value.stage_as(), true);
    }

    #[track_caller]
    pub(crate) fn store_element(&self, index: [Val<usize>; RANK], value: Val<T>) {
        let index_lanes = index_lanes(&index, Location::caller()).unwrap_or(1);
        let lanes = self.element_size() * index_lanes;
        let value = if value.lanes() == 1 { value.splat(lanes) } else { value };
        if value.lanes() != lanes {
            recorder::fail(
                Location::caller(),
                format!(
                    "a value of {} lanes is assigned to {lanes} element{}: use `store(index, value)` for a SIMD value",
                    value.lanes(),
                    if lanes == 1 { "" } else { "s" }
                ),
            );
        }
        self.store_vector(index, value, false);
    }

    #[track_caller]
    fn store_vector(&self, index: [Val<usize>; RANK], value: Val<T>, aligned: bool) {
        let location = Location::caller();
        let width = value.lanes();
        if let Some(lanes) = index_lanes(&index, location) {
            let value = value.splat_to(lanes);
            match contiguous(&index, location) {
                Some(first) => self.store_vector(first, value, aligned),
                None => {
                    for lane in 0..lanes {
                        self.store_vector(lane_of(&index, lane), value.lane(lane), false);
                    }
                }
            }
            return;
        }
        if width > 1 && !self.neighbouring_lanes() {
            for lane in 0..width {
                self.store_vector(shifted(&index, lane), value.lane(lane), false);
            }
            return;
        }
        let align = if aligned { width * T::SCALAR.size() } else { 0 };
        let (access, args) = self.target(index, align).args([value.raw]);
        recorder::emit_void(location, Op::Store(access), args);
    }

    /// Writes `value` to every element. The calling thread does all of it.
    #[track_caller]
    pub fn fill(&self, value: impl StageAs<Val<T>>)
    where
        M: Writable,
    {
        self.refuse_vectorized("fill");
        let value = value.stage_as();
        self.for_each_index(&mut |index| self.store_vector(index, value, false));
    }

    /// Copies every element of `source`, which must have the same extents; what one of the two lacks is reported as an
    /// access out of bounds. The calling thread does all of it.
    #[track_caller]
    pub fn copy_from<S>(&self, source: S)
    where
        S: TensorRef<TileTensor<T, RANK, Immut>, Immut = TileTensor<T, RANK, Immut>>,
        M: Writable,
    {
        let source = source.tensor_ref();
        self.refuse_vectorized("copy_from");
        source.refuse_vectorized("copy_from");
        for d in 0..RANK {
            if let (Dim::Known(a), Dim::Known(b)) = (self.extents[d], source.extents[d])
                && a != b
            {
                recorder::fail(
                    Location::caller(),
                    format!("copy_from of a tensor whose extent {d} is {b} to one where it is {a}"),
                );
            }
        }
        source.for_each_index(&mut |index| {
            let value = source.load_vector(index, 1, 0);
            self.store_vector(index, value, false);
        });
    }
}

impl<T: Element, const RANK: usize, M> TileTensor<T, RANK, M> {
    /// Loops over the indices of all elements.
    #[track_caller]
    fn for_each_index(&self, body: &mut dyn FnMut([Val<usize>; RANK])) {
        let mut loops = Vec::with_capacity(RANK);
        for extent in self.extents {
            loops.push(For::begin(range(0usize, extent.value())));
        }
        let index = std::array::from_fn(|d| loops[d].index());
        body(index);
        for mut each in loops.into_iter().rev() {
            each.end();
        }
    }
}

impl<T: Element> Val<T> {
    #[track_caller]
    fn splat_to(self, lanes: usize) -> Val<T> {
        if self.lanes() != 1 && self.lanes() != lanes {
            recorder::fail(
                Location::caller(),
                format!("a value of {} lanes is written to {lanes} indices", self.lanes()),
            );
        }
        self.splat(lanes)
    }
}

/// Lanes of an index that has several: then it stands for as many elements.
#[track_caller]
fn index_lanes<const RANK: usize>(
    index: &[Val<usize>; RANK],
    location: &'static Location<'static>,
) -> Option<usize> {
    let lanes = index.iter().map(|i| i.lanes()).max().unwrap_or(1);
    if let Some(other) = index.iter().map(|i| i.lanes()).find(|&n| n != 1 && n != lanes) {
        recorder::fail(location, format!("indices of {other} and {lanes} lanes in one index"));
    }
    (lanes > 1).then_some(lanes)
}

/// The first lane's index, if only the last dimension has lanes and they count up by one.
#[track_caller]
fn contiguous<const RANK: usize>(
    index: &[Val<usize>; RANK],
    location: &'static Location<'static>,
) -> Option<[Val<usize>; RANK]> {
    let (last, others) = index.split_last()?;
    if others.iter().any(|i| i.lanes() != 1) {
        return None;
    }
    let first = recorder::ramp(location, last.raw)?;
    let mut result = *index;
    result[RANK - 1] = Val::from_raw(first);
    Some(result)
}

#[track_caller]
fn lane_of<const RANK: usize>(index: &[Val<usize>; RANK], lane: usize) -> [Val<usize>; RANK] {
    std::array::from_fn(|d| if index[d].lanes() == 1 { index[d] } else { index[d].lane(lane) })
}

/// The index of the element `by` further along the last dimension.
#[track_caller]
fn shifted<const RANK: usize>(index: &[Val<usize>; RANK], by: usize) -> [Val<usize>; RANK] {
    std::array::from_fn(|d| if d == RANK - 1 && by > 0 { index[d] + by } else { index[d] })
}
