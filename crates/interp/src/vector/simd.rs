//! The entry points of [`vector`](super): compiled for any processor of the target, and again for x86-64 processors
//! with AVX2 and FMA, chosen once at run time.

use std::sync::LazyLock;

use super::{Compute, Out, Shape};
use crate::column::{Chunk, Registers, Source};

/// The entry points for one kind of processor.
pub(crate) struct Engine {
    /// Computes an operation: operation, whether the result is of 64 bits, registers, chunks, destination.
    pub(crate) compute: fn(&Compute, bool, &Registers, Shape, &mut Out),
    /// Whether indices lie within extents: index, what to add to it, extent, lanes of the access, active threads, chunks.
    pub(crate) within: fn(Source<'_, u64>, u64, Source<'_, u64>, u64, &[u64], usize, usize) -> bool,
    /// The lanes that hold a truth value.
    pub(crate) truth: fn(&Chunk<u32>) -> u64,
    /// Whether each lane is one more than the lane before.
    pub(crate) consecutive: fn(&Chunk<u64>) -> bool,
}

/// The entry points for this processor.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        #[cfg(target_arch = "x86_64")]
        if avx2::is_supported() {
            return avx2::ENGINE;
        }
        BASELINE
    });
    &ENGINE
}

/// For any processor of the target.
const BASELINE: Engine = Engine { compute, within, truth, consecutive };

fn compute(operation: &Compute, wide: bool, registers: &Registers, shape: Shape, out: &mut Out) {
    super::compute(operation, wide, registers, shape, out);
}

fn within(
    index: Source<'_, u64>,
    plus: u64,
    extent: Source<'_, u64>,
    lanes: u64,
    active: &[u64],
    first: usize,
    last: usize,
) -> bool {
    super::within(index, plus, extent, lanes, active, first, last)
}

fn truth(values: &Chunk<u32>) -> u64 {
    super::truth(values)
}

fn consecutive(values: &Chunk<u64>) -> bool {
    super::consecutive(values)
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use super::{Chunk, Compute, Engine, Out, Registers, Shape, Source};

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
    pub(super) const ENGINE: Engine = Engine {
        // SAFETY (all four): the table is handed out only where the processor has the features.
        compute: |operation, wide, registers, shape, out| unsafe {
            compute(operation, wide, registers, shape, out);
        },
        within: |index, plus, extent, lanes, active, first, last| unsafe {
            within(index, plus, extent, lanes, active, first, last)
        },
        truth: |values| unsafe { truth(values) },
        consecutive: |values| unsafe { consecutive(values) },
    };

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn compute(operation: &Compute, wide: bool, registers: &Registers, shape: Shape, out: &mut Out) {
        super::super::compute(operation, wide, registers, shape, out);
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn within(
        index: Source<'_, u64>,
        plus: u64,
        extent: Source<'_, u64>,
        lanes: u64,
        active: &[u64],
        first: usize,
        last: usize,
    ) -> bool {
        super::super::within(index, plus, extent, lanes, active, first, last)
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn truth(values: &Chunk<u32>) -> u64 {
        super::super::truth(values)
    }

    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn consecutive(values: &Chunk<u64>) -> bool {
        super::super::consecutive(values)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// All entry points that this processor can run.
    pub(crate) fn engines() -> Vec<&'static Engine> {
        static ALL: Engine = BASELINE;
        vec![&ALL, engine()]
    }
}
