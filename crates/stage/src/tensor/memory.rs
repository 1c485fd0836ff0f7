//! Memory that a kernel allocates: shared by a block's threads, or each thread's own.

use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::{MemRef, Space};
use tilewise_layout::Layout;

use crate::element::Element;
use crate::recorder;
use crate::tensor::view::flat_modes;
use crate::tensor::{Dim, TileTensor};

/// Where [`stack_allocation`] allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// One copy for each block, seen by all its threads.
    Shared,
    /// One copy for each thread.
    Local,
}

/// Allocates a tensor of `layout` in `space`. Its elements have no values at first.
///
/// ```
/// use tilewise_stage::{AddressSpace, record, stack_allocation};
/// use tilewise_layout::row_major;
///
/// let kernel = record("k", &[], || {
///     let shared = stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([16, 16]));
///     shared.fill(0.0);
/// })?;
/// assert_eq!(kernel.allocs[0].len, 256);
/// # Ok::<(), tilewise_stage::StageError>(())
/// ```
///
/// # Errors
///
/// Refused if the layout has not `RANK` dimensions without nesting.
#[track_caller]
pub fn stack_allocation<T: Element, const RANK: usize>(
    space: AddressSpace,
    layout: Layout,
) -> TileTensor<T, RANK> {
    let location = Location::caller();
    let modes = flat_modes::<RANK>(&layout, location);
    // The elements reach from offset 0 to that of the last index.
    let len = modes.iter().try_fold(0u64, |last, &(shape, stride)| {
        (shape as u64).checked_sub(1)?.checked_mul(stride as u64)?.checked_add(last)
    });
    let len = len.map_or(0, |last| last.saturating_add(1));
    let space = match space {
        AddressSpace::Shared => Space::Shared,
        AddressSpace::Local => Space::Local,
    };
    let alloc = recorder::with(location, |r| {
        let name = r.pending_name.take().unwrap_or("stack_allocation");
        r.builder.alloc(name, space, T::SCALAR.ty(), len)
    });
    let mut next = 1;
    let compact = modes.iter().rev().all(|&(shape, stride)| {
        let fits = stride == next || shape == 1;
        next = next.saturating_mul(shape);
        fits
    });
    TileTensor {
        mem: MemRef::Alloc(alloc),
        offset: None,
        extents: modes.map(|(shape, _)| Dim::Known(shape)),
        strides: modes.map(|(_, stride)| Dim::Known(stride)),
        simd: None,
        compact,
        element: PhantomData,
    }
}

/// Extent and stride of each mode, if none is nested.
pub(crate) fn flat_dimensions(layout: &Layout) -> Option<Vec<(usize, usize)>> {
    layout.modes().map(|mode| Some((mode.shape().as_int()?.get(), mode.stride().as_int()?.get()))).collect()
}
