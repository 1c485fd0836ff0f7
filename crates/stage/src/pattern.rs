//! Functional patterns inside a kernel: `vectorize`.

use crate::control::{For, range};
use crate::staged::{Stage, StageAs};
use crate::tensor::index::coordinate;
use crate::val::{Val, checked_lanes};
use std::panic::Location;

/// Runs `body(width, i)` for `i = 0, width, 2 * width, ...` as long as a whole SIMD value fits below `n`, then
/// `body(1, i)` for each number that is left.
///
/// `width` is known while the kernel is described, so that `body` can load and store with it.
///
/// ```
/// use tilewise_stage::{record, stack_allocation, vectorize, AddressSpace};
/// use tilewise_layout::row_major;
///
/// record("double", &[], || {
///     let a = stack_allocation::<f32, 1>(AddressSpace::Local, row_major([10]));
///     a.fill(1.0);
///     vectorize(4, 10, |width, i| a.store(i, a.load(i, width) * 2.0));
/// })?;
/// # Ok::<(), tilewise_stage::StageError>(())
/// ```
///
/// # Errors
///
/// Refused if `width` is 0 or above 64.
#[track_caller]
pub fn vectorize(width: usize, n: impl StageAs<Val<usize>>, mut body: impl FnMut(usize, Val<usize>)) {
    let location = Location::caller();
    checked_lanes(width, location);
    let n = n.stage_as();
    if width == 1 {
        let mut each = For::begin(range(0usize, n));
        body(1, each.index());
        each.end();
        return;
    }
    let known = n.known(location).and_then(|c| c.as_int()).map(|n| n as usize);
    let whole = match known {
        Some(n) => (n - n % width).stage(),
        None => n / width * width,
    };
    if known.is_none_or(|n| n >= width) {
        let mut vectors = For::begin(range(0usize, whole).step_by(width));
        body(width, vectors.index());
        vectors.end();
    }
    if known.is_none_or(|n| n % width != 0) {
        let mut rest = For::begin(range(whole, n));
        body(1, rest.index());
        rest.end();
    }
}

/// Indices `first, first + 1, ...` as one SIMD value of `lanes` lanes: `a[i]` then reads as many neighbours.
#[track_caller]
pub fn lanes_from(first: impl StageAs<Val<usize>>, lanes: usize) -> Val<usize> {
    let location = Location::caller();
    let first = coordinate(first);
    if lanes == 1 {
        return first;
    }
    checked_lanes(lanes, location);
    let each: Vec<_> = (0..lanes).map(|lane| if lane == 0 { first } else { first + lane }).collect();
    let index = Val::from_lanes(&each);
    crate::recorder::with(location, |r| r.ramps.push((index.raw, first.raw)));
    index
}
