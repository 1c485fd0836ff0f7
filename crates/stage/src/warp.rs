//! What the threads of a warp do together: shuffles, votes, sums.
//!
//! The threads of a block, numbered x fastest, then y, then z, are cut into warps of [`WARP_SIZE`]; the last warp may have
//! fewer. [`lane_id`] is a thread's place in its warp. Lanes need no [`barrier`](crate::barrier) to exchange values; memory
//! that one lane writes, others see after [`syncwarp`].
//!
//! Each function waits for the other lanes of the warp, so all of them have to call it; those that have returned early
//! need not, and are left out. Lanes that wait elsewhere, or go past it to the end of the kernel, are a fault. Other warps
//! of the block need not come.

use std::panic::Location;

use tilewise_ir::{BinaryOp, CompareOp, Op, Scalar, Shuffle};

use crate::cast::cast_val;
use crate::element::{Bits, Element, Num};
use crate::math::select;
use crate::recorder;
use crate::staged::{Stage, StageAs};
use crate::val::{Val, compare};

/// Threads of a warp.
pub const WARP_SIZE: usize = tilewise_ir::WARP_SIZE as usize;

/// The thread's place in its warp, below [`WARP_SIZE`].
#[track_caller]
pub fn lane_id() -> Val<usize> {
    cast_val::<usize, u32>(lane())
}

#[track_caller]
fn lane() -> Val<u32> {
    Val::from_raw(recorder::emit(Location::caller(), Op::LaneId, [], Scalar::U32.ty()))
}

/// Waits until all lanes of the warp are at this very place. What they wrote to memory before it, all of them see after it.
#[track_caller]
pub fn syncwarp() {
    syncwarp_mask(u32::MAX);
}

/// [`syncwarp`] of the lanes whose bit in `mask` is set. Each of them gives the same mask; the others do not call it.
#[track_caller]
pub fn syncwarp_mask(mask: impl StageAs<Val<u32>>) {
    recorder::emit_void(Location::caller(), Op::WarpBarrier, [mask.stage_as().raw]);
}

// ---- shuffles ----

/// The value that lane `lane` of the warp has; `lane` is taken modulo [`WARP_SIZE`].
///
/// A lane that does not exist in the last warp of a block, or has returned, is a fault; the result is then the thread's own
/// value. That holds for all shuffles.
#[track_caller]
pub fn shuffle_idx<T: Element>(value: impl Stage<Staged = Val<T>>, lane: impl StageAs<Val<usize>>) -> Val<T> {
    shuffle(Shuffle::Idx, value.stage(), lane.stage_as())
}

/// The value of the lane that is `delta` above this one. Past the last lane of the warp, the thread's own value.
///
/// ```
/// use tilewise_stage::{record, thread_idx, warp};
///
/// let kernel = record("difference", &[], || {
///     let x = thread_idx().x;
///     let _ = warp::shuffle_down(x, 1) - x;
/// })?;
/// assert!(kernel.to_string().contains("shuffle_down"));
/// # Ok::<(), tilewise_stage::StageError>(())
/// ```
#[track_caller]
pub fn shuffle_down<T: Element>(
    value: impl Stage<Staged = Val<T>>,
    delta: impl StageAs<Val<usize>>,
) -> Val<T> {
    shuffle(Shuffle::Down, value.stage(), delta.stage_as().min(WARP_SIZE))
}

/// The value of the lane that is `delta` below this one. Past the first lane of the warp, the thread's own value.
#[track_caller]
pub fn shuffle_up<T: Element>(value: impl Stage<Staged = Val<T>>, delta: impl StageAs<Val<usize>>) -> Val<T> {
    shuffle(Shuffle::Up, value.stage(), delta.stage_as().min(WARP_SIZE))
}

/// The value of the lane whose number is this one's with the bits of `mask` flipped.
#[track_caller]
pub fn shuffle_xor<T: Element>(value: impl Stage<Staged = Val<T>>, mask: impl StageAs<Val<usize>>) -> Val<T> {
    shuffle(Shuffle::Xor, value.stage(), mask.stage_as())
}

/// The value that the first lane of the warp has.
#[track_caller]
pub fn broadcast<T: Element>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
    shuffle(Shuffle::Idx, value.stage(), 0usize.stage())
}

#[track_caller]
fn shuffle<T: Element>(shuffle: Shuffle, value: Val<T>, number: Val<usize>) -> Val<T> {
    let number = cast_val::<u32, usize>(number);
    each_lane(Op::Shuffle(shuffle), value, Some(number))
}

/// An operation of a warp on each lane of a SIMD value.
#[track_caller]
fn each_lane<T: Element>(op: Op, value: Val<T>, number: Option<Val<u32>>) -> Val<T> {
    let location = Location::caller();
    let number = number.map(|number| number.raw);
    let lanes: Vec<Val<T>> = (0..value.lanes())
        .map(|lane| {
            let args = [value.lane(lane).raw].into_iter().chain(number);
            Val::from_raw(recorder::emit(location, op.clone(), args, T::SCALAR.ty()))
        })
        .collect();
    Val::from_lanes(&lanes)
}

// ---- votes ----

/// A bit for each lane of the warp: bit `n` says whether the condition holds in lane `n`. Lanes that do not take part have 0.
#[track_caller]
pub fn ballot(condition: impl StageAs<Val<bool>>) -> Val<u32> {
    let condition = condition.stage_as();
    Val::from_raw(recorder::emit(Location::caller(), Op::Ballot, [condition.raw], Scalar::U32.ty()))
}

/// [`ballot`], by Mojo's name.
#[track_caller]
pub fn vote(condition: impl StageAs<Val<bool>>) -> Val<u32> {
    ballot(condition)
}

/// Whether the condition holds in any lane of the warp.
#[track_caller]
pub fn any(condition: impl StageAs<Val<bool>>) -> Val<bool> {
    reduce(BinaryOp::Or, condition.stage_as())
}

/// Whether the condition holds in all lanes of the warp.
#[track_caller]
pub fn all(condition: impl StageAs<Val<bool>>) -> Val<bool> {
    reduce(BinaryOp::And, condition.stage_as())
}

// ---- reductions ----

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $op:ident $class:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name<T: $class>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
            reduce(BinaryOp::$op, value.stage())
        }
    )*};
}

reductions! {
    /// The sum of the values of all lanes of the warp, in each of them. Integers wrap.
    ///
    /// ```
    /// use tilewise_stage::{record, thread_idx, warp};
    ///
    /// let kernel = record("sum", &[], || {
    ///     let _ = warp::sum(thread_idx().x);
    /// })?;
    /// assert!(kernel.to_string().contains("warp_reduce_add"));
    /// # Ok::<(), tilewise_stage::StageError>(())
    /// ```
    sum Add Num;
    /// The product of the values of all lanes of the warp, in each of them. Integers wrap.
    product Mul Num;
    /// The largest value of all lanes of the warp, in each of them; NaN only if all are NaN.
    max Max Num;
    /// The smallest value of all lanes of the warp, in each of them; NaN only if all are NaN.
    min Min Num;
    /// The values of all lanes of the warp combined with `&`, in each of them.
    and And Bits;
    /// The values of all lanes of the warp combined with `|`, in each of them.
    or Or Bits;
    /// The values of all lanes of the warp combined with `^`, in each of them.
    xor Xor Bits;
}

#[track_caller]
pub(crate) fn reduce<T: Element>(op: BinaryOp, value: Val<T>) -> Val<T> {
    each_lane(Op::WarpReduce(op), value, None)
}

/// The sum of the values of the lanes up to this one, its own included.
#[track_caller]
pub fn prefix_sum<T: Num>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
    each_lane(Op::WarpScan(BinaryOp::Add), value.stage(), None)
}

/// The sum of the values of the lanes below this one; zero in the first.
#[track_caller]
pub fn exclusive_prefix_sum<T: Num>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
    let value = value.stage();
    without_own(prefix_sum(value), value)
}

/// The sums of the lanes below each lane, from those up to it and the values.
#[track_caller]
pub(crate) fn without_own<T: Num>(sums: Val<T>, value: Val<T>) -> Val<T> {
    if !T::SCALAR.is_float() {
        return sums - value;
    }
    // The difference of two floats is not the sum of the lanes below: that is what the next lane below has.
    let below = lanes_below();
    let is_first = compare(CompareOp::Eq, below, 0u32.stage());
    let next_below = select(is_first, lane(), 31u32.stage() - below.leading_zeros());
    let sums = each_lane(Op::Shuffle(Shuffle::Idx), sums, Some(next_below));
    select(is_first, T::ZERO, sums)
}

/// The lanes below this one that take part, a bit each.
#[track_caller]
fn lanes_below() -> Val<u32> {
    let below = (1u32.stage() << lane()) - 1;
    present() & below
}

/// The lanes that take part, a bit each.
#[track_caller]
fn present() -> Val<u32> {
    ballot(true)
}

/// Whether this is the lowest lane that takes part.
#[track_caller]
pub(crate) fn is_first() -> Val<bool> {
    compare(CompareOp::Eq, lane(), present().trailing_zeros())
}

/// Whether this is the highest lane that takes part.
#[track_caller]
pub(crate) fn is_last() -> Val<bool> {
    compare(CompareOp::Eq, lane(), 31u32.stage() - present().leading_zeros())
}
