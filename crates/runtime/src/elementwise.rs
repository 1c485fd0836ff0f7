//! [`elementwise`]: a body run for every index of a shape.

use std::array;
use std::borrow::Cow;

use tilewise_ir::Type;
use tilewise_stage::compare::{CompareLeft as _, Sides};
use tilewise_stage::control::If;
use tilewise_stage::{Element, Val, block_dim, block_idx, grid_dim, thread_idx};

use crate::context::DeviceContext;
use crate::error::{LaunchError, Result};
use crate::launch::dims::{BlockDim, GridDim};
use crate::launch::{DescribeIndex, IndexBody};

/// Threads of a block.
const BLOCK: usize = 256;

/// Bytes that a thread reads or writes at once at full speed.
const VECTOR_BYTES: usize = 16;

/// How many elements of type `T` one access of 16 bytes holds, the widest that a thread makes: the `width` with which
/// [`elementwise`] is fastest. 4 for `f32`.
///
/// ```
/// use tilewise_runtime::{DeviceContext, simd_width_of};
///
/// let ctx = DeviceContext::new()?;
/// assert_eq!(simd_width_of::<f32>(&ctx), 4);
/// assert_eq!(simd_width_of::<u8>(&ctx), 16);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
pub fn simd_width_of<T: Element>(_ctx: &DeviceContext) -> usize {
    VECTOR_BYTES / T::SCALAR.size()
}

/// Runs `body` for all indices of `shape`, `width` neighbours along the last dimension at a time.
///
/// A thread runs `body(width, index)`, for `width` elements from `index` on. Where the last dimension is no multiple of
/// `width`, each element that is left at its end has a thread of its own, which runs `body(1, index)`. So each thread
/// runs the body once, and a `return` in it leaves nothing undone.
///
/// The extents are arguments of the launch, so one compiled kernel serves all sizes; only whether the width divides the
/// last one makes another.
///
/// ```
/// use tilewise_layout::row_major;
/// use tilewise_runtime::{Bind, DeviceContext, LaunchBuilder, elementwise};
///
/// let ctx = DeviceContext::new()?;
/// let a = ctx.tensor_from_fn(row_major([10]), |[i]| i as f32)?;
/// let mut output = ctx.zeros::<f32, 1>(row_major([10]))?;
///
/// let mut builder = LaunchBuilder::new("double");
/// let (to, from) = (builder.capture_mut("output", &mut output), builder.capture("a", &a));
/// let body = builder.describe_index(move |width, [i]| {
///     let (output, a) = (to.bind(), from.bind());
///     output.store(i, a.load(i, width) * 2.0);
/// });
/// elementwise(&ctx, 4, [10], body)?;
/// assert_eq!(output.to_host()?, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0]);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
///
/// # Errors
///
/// [`LaunchError::VectorWidth`] if the width is 0 or more than 64, [`LaunchError::TooManyElements`] if the elements
/// cannot be counted, else as [`enqueue_function`](DeviceContext::enqueue_function).
pub fn elementwise<const RANK: usize>(
    ctx: &DeviceContext,
    width: usize,
    shape: [usize; RANK],
    body: IndexBody<'_, RANK>,
) -> Result<()> {
    let IndexBody { mut builder, body } = body;
    let kernel = || builder.name().to_owned();
    let limit = Type::MAX_LANES.into();
    if width == 0 || width > limit {
        return Err(LaunchError::VectorWidth { kernel: kernel(), width, limit }.into());
    }
    let last = shape.last().copied().unwrap_or(1);
    let (vectors, rest) = (last / width, last % width);
    let steps = vectors + rest;
    let rows = &shape[..RANK.saturating_sub(1)];
    let Some(threads) = product(rows.iter().copied().chain([steps])) else {
        return Err(LaunchError::TooManyElements { kernel: kernel(), shape: shape.to_vec() }.into());
    };
    let (grid, block) = dims(threads, ctx.device_info().limits.max_grid_dim[0]);

    let extents: [_; RANK] =
        array::from_fn(|d| builder.push_scalar(Cow::Owned(format!("extent_{d}")), shape[d]));
    let threads = builder.scalar("threads", threads);
    let steps = builder.scalar("steps", steps);
    let vectors = (rest > 0).then(|| builder.scalar("vectors", vectors));
    let launch = builder.describe(move || {
        let block = block_idx().y * grid_dim().x + block_idx().x;
        let thread = block * block_dim().x + thread_idx().x;
        let mut works = If::new((&&&Sides(&thread, &threads.bind())).tw_lt());
        if works.then() {
            let index = position(thread, steps.bind(), extents.map(|extent| extent.bind()));
            match vectors {
                None => body(width, at_element(index, |step| step * width)),
                Some(vectors) => describe_ragged(&body, width, index, vectors.bind()),
            }
        }
        works.otherwise();
        works.end();
    });
    ctx.enqueue_function(launch, grid, block)
}

/// The product of numbers; 0 if one of them is 0, `None` if it does not fit.
fn product(numbers: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    if numbers.clone().any(|n| n == 0) {
        return Some(0);
    }
    numbers.into_iter().try_fold(1, usize::checked_mul)
}

/// A grid for this many threads, along x, and along y too where x would be over `limit`.
fn dims(threads: usize, limit: usize) -> (GridDim, BlockDim) {
    let block = threads.clamp(1, BLOCK);
    let blocks = threads.div_ceil(block);
    let y = blocks.div_ceil(limit).max(1);
    (GridDim::from((blocks.div_ceil(y), y)), BlockDim::from(block))
}

/// Which work thread number `thread` has: the last dimension, which has `steps` steps, is the fastest.
fn position<const RANK: usize>(
    thread: Val<usize>,
    steps: Val<usize>,
    extents: [Val<usize>; RANK],
) -> [Val<usize>; RANK] {
    let mut position = [thread; RANK];
    let mut rest = thread;
    for d in (1..RANK).rev() {
        let count = if d == RANK - 1 { steps } else { extents[d] };
        position[d] = rest % count;
        rest = rest / count;
        position[0] = rest;
    }
    position
}

/// An index: a position with its step along the last dimension replaced by an element.
fn at_element<const RANK: usize>(
    mut position: [Val<usize>; RANK],
    element: impl FnOnce(Val<usize>) -> Val<usize>,
) -> [Val<usize>; RANK] {
    if let Some(last) = position.last_mut() {
        *last = element(*last);
    }
    position
}

/// The first `vectors` steps are of `width` elements, each further one is of one.
fn describe_ragged<const RANK: usize>(
    body: &DescribeIndex<'_, RANK>,
    width: usize,
    position: [Val<usize>; RANK],
    vectors: Val<usize>,
) {
    let mut whole = If::new((&&&Sides(&position[RANK - 1], &vectors)).tw_lt());
    if whole.then() {
        body(width, at_element(position, |step| step * width));
    }
    if whole.otherwise() {
        body(1, at_element(position, |step| vectors * width + (step - vectors)));
    }
    whole.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_enough_threads_within_the_limits() {
        for limit in [3, 65_535, i32::MAX as usize] {
            for threads in [0, 1, 255, 256, 257, 1000, 70_000] {
                let (grid, block) = dims(threads, limit);
                let ([x, y, z], [block, ..]) = (grid.to_array(), block.to_array());
                assert!(x <= limit && z == 1, "{threads} {limit}");
                assert!(x * y * block >= threads && (x * y).saturating_sub(y) * block <= threads);
                assert_eq!(x == 0, threads == 0);
            }
        }
        assert_eq!(dims(5, 10).1.to_array(), [5, 1, 1]);
    }

    #[test]
    fn an_empty_shape_has_no_elements_whatever_the_others_are() {
        assert_eq!(product([usize::MAX, 0, usize::MAX].into_iter()), Some(0));
        assert_eq!(product([usize::MAX, 2].into_iter()), None);
        assert_eq!(product([].into_iter()), Some(1));
    }
}
