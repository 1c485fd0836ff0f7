//! What the threads of a block do together: sums and the like, of any block size.
//!
//! All threads of the block have to call these functions, as for [`barrier`], and each gets the result. Behind an early
//! `return` they are refused. If threads return in one round of a loop and others call them in the next, nothing is known of
//! the result.
//!
//! Each call has shared memory of its own: a value for each warp, and the result.
//!
//! The warps combine their values first, and then what these have given: see [`warp`]. Sums of floats are therefore the
//! same in every run, but not those of another order.

use std::panic::Location;

use tilewise_ir::{BinaryOp, CompareOp, Const, Scalar};
use tilewise_layout::row_major;

use crate::builtin::{barrier, block_dim, thread_idx};
use crate::control::If;
use crate::element::{Bits, Element, Num};
use crate::math::select;
use crate::recorder;
use crate::staged::{Stage, StageAs};
use crate::tensor::TileTensor;
use crate::tensor::memory::{AddressSpace, stack_allocation};
use crate::val::{Val, compare};
use crate::warp::{self, WARP_SIZE, lane_id};

/// The most warps of a block.
const WARPS: usize = 1024 / WARP_SIZE;

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
    /// The sum of the values of all threads of the block, in each of them. Integers wrap.
    ///
    /// ```
    /// use tilewise_stage::{block, record, thread_idx};
    ///
    /// let kernel = record("sum", &[], || {
    ///     let _ = block::sum(thread_idx().x);
    /// })?;
    /// assert_eq!(kernel.allocs.len(), 2);
    /// # Ok::<(), tilewise_stage::StageError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refused where threads may have returned early: put what is behind the `return` under its condition.
    sum Add Num;
    /// The product of the values of all threads of the block, in each of them. Integers wrap. Refused as [`sum`].
    product Mul Num;
    /// The largest value of all threads of the block, in each of them; NaN only if all are NaN. Refused as [`sum`].
    max Max Num;
    /// The smallest value of all threads of the block, in each of them; NaN only if all are NaN. Refused as [`sum`].
    min Min Num;
    /// The values of all threads of the block combined with `&`, in each of them. Refused as [`sum`].
    and And Bits;
    /// The values of all threads of the block combined with `|`, in each of them. Refused as [`sum`].
    or Or Bits;
    /// The values of all threads of the block combined with `^`, in each of them. Refused as [`sum`].
    xor Xor Bits;
}

/// Whether the condition holds in any thread of the block. Refused as [`sum`].
#[track_caller]
pub fn any(condition: impl StageAs<Val<bool>>) -> Val<bool> {
    reduce(BinaryOp::Or, condition.stage_as())
}

/// Whether the condition holds in all threads of the block. Refused as [`sum`].
#[track_caller]
pub fn all(condition: impl StageAs<Val<bool>>) -> Val<bool> {
    reduce(BinaryOp::And, condition.stage_as())
}

/// The sum of the values of the threads up to this one, its own included. Threads are numbered x fastest, then y, then z.
/// Refused as [`sum`].
#[track_caller]
pub fn prefix_sum<T: Num>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
    let place = Place::find();
    let sums = warp::prefix_sum(one_lane(value.stage()));
    let before = sum_of_warps_before(place, sums);
    select(place.is_in_first_warp(), sums, before + sums)
}

/// The sum of the values of the threads before this one; zero in the first. Threads are numbered as in [`prefix_sum`].
/// Refused as [`sum`].
#[track_caller]
pub fn exclusive_prefix_sum<T: Num>(value: impl Stage<Staged = Val<T>>) -> Val<T> {
    let place = Place::find();
    let value = one_lane(value.stage());
    let sums = warp::prefix_sum(value);
    let before = sum_of_warps_before(place, sums);
    let sums = warp::without_own(sums, value);
    select(place.is_in_first_warp(), sums, before + sums)
}

/// The value that thread number `thread` of the block has; threads are numbered x fastest, then y, then z. If there is no
/// such thread, nothing is known of the result. Refused as [`sum`].
#[track_caller]
pub fn broadcast<T: Element>(value: impl Stage<Staged = Val<T>>, thread: impl StageAs<Val<usize>>) -> Val<T> {
    let place = Place::find();
    let value = one_lane(value.stage());
    let slot = shared::<T>(1);
    // In a loop, all have to have read what was there.
    if may_repeat() {
        barrier();
    }
    store_if(compare(CompareOp::Eq, place.thread, thread.stage_as()), &slot, 0usize.stage(), value);
    barrier();
    slot.load_element([0usize.stage()])
}

/// The thread in its block.
#[derive(Clone, Copy)]
struct Place {
    /// Number of the thread.
    thread: Val<usize>,
    /// Number of its warp.
    warp: Val<usize>,
    /// Warps of the block.
    warps: Val<usize>,
}

impl Place {
    /// Finds it, if no thread can have returned.
    #[track_caller]
    fn find() -> Place {
        let location = Location::caller();
        if let Some(ended) = recorder::with(location, |r| r.ended) {
            recorder::fail(
                location,
                format!(
                    "all threads of a block have to take part, and some may have returned at {}:{}: put what follows it \
                     under the condition, not behind a `return`",
                    ended.file(),
                    ended.line()
                ),
            );
        }
        let (index, size) = (thread_idx(), block_dim());
        let thread = (index.z * size.y + index.y) * size.x + index.x;
        let threads = size.x * size.y * size.z;
        Place { thread, warp: thread / WARP_SIZE, warps: (threads + (WARP_SIZE - 1)) / WARP_SIZE }
    }

    #[track_caller]
    fn is_in_first_warp(self) -> Val<bool> {
        compare(CompareOp::Eq, self.warp, 0usize.stage())
    }
}

/// Combines the values of all threads: those of each warp, then those of the warps.
///
/// All warps do the second step, and only what the first warp finds counts: it has all its lanes if there is more than one.
/// So no thread has to go another way than others.
#[track_caller]
fn reduce<T: Element>(op: BinaryOp, value: Val<T>) -> Val<T> {
    let place = Place::find();
    let (of_warps, of_block) = (shared::<T>(WARPS), shared::<T>(1));
    let total = warp::reduce(op, one_lane(value));
    store_if(warp::is_first(), &of_warps, place.warp, total);
    barrier();
    let total = warp::reduce(op, of_warp(place, &of_warps, identity(op, T::SCALAR)));
    store_if(compare(CompareOp::Eq, place.thread, 0usize.stage()), &of_block, 0usize.stage(), total);
    barrier();
    of_block.load_element([0usize.stage()])
}

/// The sum of all warps before this one, from the sums up to each lane; in the first warp, nothing is known of it.
#[track_caller]
fn sum_of_warps_before<T: Num>(place: Place, sums: Val<T>) -> Val<T> {
    let (of_warps, up_to_warps) = (shared::<T>(WARPS), shared::<T>(WARPS));
    store_if(warp::is_last(), &of_warps, place.warp, sums);
    barrier();
    let sums = warp::prefix_sum(of_warp(place, &of_warps, identity(BinaryOp::Add, T::SCALAR)));
    let is_one_of_them = compare(CompareOp::Lt, place.thread, place.warps);
    store_if(is_one_of_them, &up_to_warps, lane_id(), sums);
    barrier();
    let first = place.is_in_first_warp();
    up_to_warps.load_element([select(first, 0usize, place.warp - 1)])
}

/// What the warp whose number is this thread's lane has given; `otherwise` if there is none.
#[track_caller]
fn of_warp<T: Element>(place: Place, of_warps: &TileTensor<T, 1>, otherwise: Const) -> Val<T> {
    let lane = lane_id();
    let exists = compare(CompareOp::Lt, lane, place.warps);
    let value = of_warps.load_element([select(exists, lane, 0usize)]);
    let otherwise = Val::from_raw(recorder::constant(Location::caller(), otherwise));
    select(exists, value, otherwise)
}

#[track_caller]
fn shared<T: Element>(len: usize) -> TileTensor<T, 1> {
    stack_allocation(AddressSpace::Shared, row_major([len]))
}

#[track_caller]
fn store_if<T: Element>(condition: Val<bool>, to: &TileTensor<T, 1>, index: Val<usize>, value: Val<T>) {
    let mut branch = If::new(condition);
    branch.then();
    to.store_element([index], value);
    branch.otherwise();
    branch.end();
}

#[track_caller]
fn one_lane<T: Element>(value: Val<T>) -> Val<T> {
    if value.lanes() != 1 {
        recorder::fail(
            Location::caller(),
            format!(
                "a value of {} lanes cannot be combined among the threads of a block: combine its lanes first, with \
                 `reduce_add` and the like, or take one with `lane`",
                value.lanes()
            ),
        );
    }
    value
}

/// Whether what is being described may be run again.
#[track_caller]
fn may_repeat() -> bool {
    recorder::with(Location::caller(), |r| r.builder.depth() > 1)
}

/// The value that changes nothing when another is combined with it. For the minimum and maximum of floats it is NaN, so
/// that infinities count.
fn identity(op: BinaryOp, scalar: Scalar) -> Const {
    let bits = scalar.bits();
    let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let sign = 1 << (bits - 1);
    let of_bits = |bits| Const::from_bits(scalar, bits);
    let nan = match scalar {
        Scalar::F16 => 0x7e00,
        Scalar::BF16 => 0x7fc0,
        Scalar::F32 => 0x7fc0_0000,
        _ => 0x7ff8_0000_0000_0000,
    };
    match op {
        // Of floats, only minus zero leaves minus zero as it is.
        BinaryOp::Add if scalar.is_float() => of_bits(sign),
        BinaryOp::Mul => Const::one(scalar),
        BinaryOp::Min | BinaryOp::Max if scalar.is_float() => of_bits(nan),
        BinaryOp::Min if scalar.is_signed_int() => of_bits(all >> 1),
        BinaryOp::Max if scalar.is_signed_int() => of_bits(sign),
        BinaryOp::Min => of_bits(all),
        BinaryOp::And if scalar == Scalar::Bool => Const::bool(true),
        BinaryOp::And => of_bits(all),
        _ => of_bits(0),
    }
}
