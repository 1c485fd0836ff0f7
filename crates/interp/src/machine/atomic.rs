//! Atomic operations: on words of buffers, and what read-modify-write operations compute.

use std::sync::atomic::Ordering;

use tilewise_ir::{AtomicOp, Ordering as IrOrdering, Scalar};

use crate::buffer::Word;
use crate::half_float::{BF16, F16};
use crate::lane::{Lane, Number};

/// A word that buffers hold, with the orderings of atomics.
pub(crate) trait Atomic: Word {
    /// Reads the atomic.
    fn load_ordered(cell: &Self::Atomic, ordering: Ordering) -> Self;

    /// Writes the atomic.
    fn store_ordered(cell: &Self::Atomic, value: Self, ordering: Ordering);

    /// Replaces the value by a function of it, in one step; gives the value before.
    fn update(cell: &Self::Atomic, ordering: Ordering, f: impl Fn(Self) -> Self) -> Self;
}

macro_rules! atomic {
    ($($word:ty),*) => { $(
        impl Atomic for $word {
            #[inline(always)]
            fn load_ordered(cell: &Self::Atomic, ordering: Ordering) -> $word {
                cell.load(loads(ordering))
            }

            #[inline(always)]
            fn store_ordered(cell: &Self::Atomic, value: $word, ordering: Ordering) {
                cell.store(value, stores(ordering));
            }

            #[inline(always)]
            fn update(cell: &Self::Atomic, ordering: Ordering, f: impl Fn($word) -> $word) -> $word {
                let mut old = cell.load(Ordering::Relaxed);
                loop {
                    let new = f(old);
                    match cell.compare_exchange_weak(old, new, ordering, loads(ordering)) {
                        Ok(old) => return old,
                        Err(other) => old = other,
                    }
                }
            }
        }
    )* };
}

atomic!(u8, u16, u32, u64);

/// The ordering of Rust with this name.
pub(crate) fn ordering(ordering: IrOrdering) -> Ordering {
    match ordering {
        IrOrdering::Relaxed => Ordering::Relaxed,
        IrOrdering::Acquire => Ordering::Acquire,
        IrOrdering::Release => Ordering::Release,
        IrOrdering::AcqRel => Ordering::AcqRel,
        IrOrdering::SeqCst => Ordering::SeqCst,
    }
}

/// Orders memory between threads of the host.
pub(crate) fn fence(order: IrOrdering) {
    match ordering(order) {
        Ordering::Relaxed => {}
        order => std::sync::atomic::fence(order),
    }
}

/// The part of an ordering that a load can have.
fn loads(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        ordering => ordering,
    }
}

/// The part of an ordering that a store can have.
fn stores(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Acquire => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Release,
        ordering => ordering,
    }
}

/// What a read-modify-write operation writes, by bits.
pub(crate) fn combine(op: AtomicOp, scalar: Scalar, old: u64, value: u64) -> u64 {
    match op {
        AtomicOp::Add => number(scalar, old, value, Sum),
        AtomicOp::Min => number(scalar, old, value, Smaller),
        AtomicOp::Max => number(scalar, old, value, Larger),
        AtomicOp::And => old & value,
        AtomicOp::Or => old | value,
        AtomicOp::Xor => old ^ value,
        AtomicOp::Exchange => value,
    }
}

/// A function of two numbers of any type.
trait Function {
    fn call<N: Number>(self, a: N, b: N) -> N;
}

struct Sum;
struct Smaller;
struct Larger;

impl Function for Sum {
    fn call<N: Number>(self, a: N, b: N) -> N {
        a.add(b)
    }
}

impl Function for Smaller {
    fn call<N: Number>(self, a: N, b: N) -> N {
        a.min(b)
    }
}

impl Function for Larger {
    fn call<N: Number>(self, a: N, b: N) -> N {
        a.max(b)
    }
}

/// Calls a function with the numbers that the bits are.
fn number(scalar: Scalar, a: u64, b: u64, f: impl Function) -> u64 {
    fn narrow<N: Number + Lane<Cell = u32>>(a: u64, b: u64, f: impl Function) -> u64 {
        f.call(N::get(a as u32), N::get(b as u32)).put() as u64
    }
    fn wide<N: Number + Lane<Cell = u64>>(a: u64, b: u64, f: impl Function) -> u64 {
        f.call(N::get(a), N::get(b)).put()
    }
    match scalar {
        Scalar::Bool => a,
        Scalar::I8 => narrow::<i8>(a, b, f),
        Scalar::I16 => narrow::<i16>(a, b, f),
        Scalar::I32 => narrow::<i32>(a, b, f),
        Scalar::I64 => wide::<i64>(a, b, f),
        Scalar::U8 => narrow::<u8>(a, b, f),
        Scalar::U16 => narrow::<u16>(a, b, f),
        Scalar::U32 => narrow::<u32>(a, b, f),
        Scalar::U64 | Scalar::Index => wide::<u64>(a, b, f),
        Scalar::F16 => narrow::<F16>(a, b, f),
        Scalar::BF16 => narrow::<BF16>(a, b, f),
        Scalar::F32 => narrow::<f32>(a, b, f),
        Scalar::F64 => wide::<f64>(a, b, f),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_follow_the_type() {
        let int = |op, scalar, a: i64, b: i64| combine(op, scalar, a as u64, b as u64);
        assert_eq!(int(AtomicOp::Add, Scalar::U32, u32::MAX as i64, 2), 1);
        assert_eq!(int(AtomicOp::Min, Scalar::I32, 0xffff_ffff, 1), 0xffff_ffff);
        assert_eq!(int(AtomicOp::Min, Scalar::U32, 0xffff_ffff, 1), 1);
        assert_eq!(int(AtomicOp::Max, Scalar::I64, -5, -9), -5i64 as u64);
        let float = |op, a: f32, b: f32| {
            f32::from_bits(combine(op, Scalar::F32, a.to_bits() as u64, b.to_bits() as u64) as u32)
        };
        assert_eq!(float(AtomicOp::Max, -0.5, -0.25), -0.25);
        assert_eq!(float(AtomicOp::Min, f32::NAN, 3.0), 3.0);
        assert_eq!(float(AtomicOp::Add, 0.5, 0.25), 0.75);
        assert_eq!(int(AtomicOp::Exchange, Scalar::F64, 1, 2), 2);
    }
}
