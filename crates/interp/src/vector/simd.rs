//! The entry points of [`vector`](super): compiled for any processor of the target, and again for x86-64 processors
//! with AVX2 and FMA, chosen once at run time.

use std::sync::LazyLock;

use tilewise_ir::{BinaryOp, CompareOp, Scalar};

use super::map::Context;
use super::{BoundsCheck, Compute, Out, Pattern, Shape, binary, cast, unary};
use crate::column::{Chunk, Reg, Registers};

/// The entry points for one kind of processor.
pub(crate) struct Engine {
    binary: fn(&mut Context<'_>, BinaryOp, Scalar, Reg, Reg),
    compare: fn(&mut Context<'_>, CompareOp, Scalar, Reg, Reg),
    mul_add: fn(&mut Context<'_>, Scalar, Reg, Reg, Reg),
    select: fn(&mut Context<'_>, bool, Reg, bool, Reg, Reg),
    /// Whether a check of bounds holds: check, active threads of some chunks, the first of these chunks.
    pub(crate) within: fn(BoundsCheck<'_>, &[u64], usize) -> bool,
    /// The lanes that hold a truth value.
    pub(crate) truth: fn(&Chunk<u32>) -> u64,
    /// How the values of a chunk lie.
    pub(crate) pattern: fn(&Chunk<u64>) -> Pattern,
}

impl Engine {
    /// Computes an operation. `wide` is whether the result is of 64 bits.
    pub(crate) fn compute(
        &self,
        operation: &Compute,
        wide: bool,
        registers: &Registers,
        shape: Shape,
        out: &mut Out,
    ) {
        let context = &mut Context { registers, shape, out };
        match *operation {
            Compute::Unary(op, scalar, a) => unary::unary(context, op, scalar, a),
            Compute::Binary(op, scalar, a, b) if binary::is_slow(op, scalar) => {
                binary::slow(context, op, scalar, a, b);
            }
            Compute::Binary(op, scalar, a, b) => (self.binary)(context, op, scalar, a, b),
            Compute::Compare(op, scalar, a, b) if binary::is_half(scalar) => {
                binary::compare_halves(context, op, scalar, a, b);
            }
            Compute::Compare(op, scalar, a, b) => (self.compare)(context, op, scalar, a, b),
            Compute::MulAdd(scalar, a, b, c) if binary::is_half(scalar) => {
                binary::mul_add_halves(context, scalar, a, b, c);
            }
            Compute::MulAdd(scalar, a, b, c) => (self.mul_add)(context, scalar, a, b, c),
            Compute::Select(condition, one, a, b) => (self.select)(context, wide, condition, one, a, b),
            Compute::Cast(from, to, a) => cast::cast(context, from, to, a),
        }
    }
}

/// The entry points for this processor.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        #[cfg(target_arch = "x86_64")]
        if avx2::is_supported() {
            return avx2::ENGINE;
        }
        baseline::ENGINE
    });
    &ENGINE
}

/// Defines the functions of an [`Engine`], each with the given attributes.
macro_rules! entry_points {
    ($(#[$attribute:meta])*) => {
        use super::{BinaryOp, BoundsCheck, Chunk, CompareOp, Context, Pattern, Reg, Scalar};

        $(#[$attribute])*
        fn binary(context: &mut Context<'_>, op: BinaryOp, scalar: Scalar, a: Reg, b: Reg) {
            super::binary::fast(context, op, scalar, a, b);
        }

        $(#[$attribute])*
        fn compare(context: &mut Context<'_>, op: CompareOp, scalar: Scalar, a: Reg, b: Reg) {
            super::binary::compare(context, op, scalar, a, b);
        }

        $(#[$attribute])*
        fn mul_add(context: &mut Context<'_>, scalar: Scalar, a: Reg, b: Reg, c: Reg) {
            super::binary::mul_add(context, scalar, a, b, c);
        }

        $(#[$attribute])*
        fn select(context: &mut Context<'_>, wide: bool, condition: Reg, one: bool, a: Reg, b: Reg) {
            match wide {
                true => context.select::<u64>(condition, one, a, b),
                false => context.select::<u32>(condition, one, a, b),
            }
        }

        $(#[$attribute])*
        fn within(check: BoundsCheck<'_>, active: &[u64], first: usize) -> bool {
            crate::vector::within(check, active, first)
        }

        $(#[$attribute])*
        fn truth(values: &Chunk<u32>) -> u64 {
            crate::vector::truth(values)
        }

        $(#[$attribute])*
        fn pattern(values: &Chunk<u64>) -> Pattern {
            crate::vector::pattern(values)
        }
    };
}

/// For any processor of the target.
mod baseline {
    entry_points!();

    pub(super) const ENGINE: super::Engine =
        super::Engine { binary, compare, mul_add, select, within, truth, pattern };
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    entry_points!(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]);

    /// Whether the processor has what [`ENGINE`] needs: the features that are named at its functions.
    pub(super) fn is_supported() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    /// For processors with AVX2 and FMA. Nobody may call these functions unless [`is_supported`] holds.
    pub(super) const ENGINE: super::Engine = super::Engine {
        // SAFETY (all of them): the table is handed out only where the processor has the features.
        binary: |context, op, scalar, a, b| unsafe { binary(context, op, scalar, a, b) },
        compare: |context, op, scalar, a, b| unsafe { compare(context, op, scalar, a, b) },
        mul_add: |context, scalar, a, b, c| unsafe { mul_add(context, scalar, a, b, c) },
        select: |context, wide, condition, one, a, b| unsafe { select(context, wide, condition, one, a, b) },
        within: |check, active, first| unsafe { within(check, active, first) },
        truth: |values| unsafe { truth(values) },
        pattern: |values| unsafe { pattern(values) },
    };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// All entry points that this processor can run.
    pub(crate) fn engines() -> Vec<&'static Engine> {
        static ALL: Engine = baseline::ENGINE;
        vec![&ALL, engine()]
    }
}
