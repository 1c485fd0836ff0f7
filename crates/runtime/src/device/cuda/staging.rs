//! Pinned memory through which the host's elements go to the device and back.

use crate::device::cuda::Shared;
use crate::device::cuda::driver::{Bound, Pinned};
use crate::error::Result;

/// Bytes of a half: large enough that the device copies at full speed, small enough for the second-level cache.
const HALF: usize = 1 << 20;

/// How many idle ones a device keeps.
const KEPT: usize = 2;

/// Two pieces of pinned memory: the host works on one while the device copies the other.
#[derive(Debug)]
pub(super) struct Staging([Pinned; 2]);

impl Staging {
    fn new(bound: Bound) -> Result<Staging> {
        Ok(Staging([bound.allocate_pinned(HALF, false)?, bound.allocate_pinned(HALF, false)?]))
    }

    /// Bytes of a half.
    pub(super) fn piece(&self) -> usize {
        self.0[0].len()
    }

    /// The half for piece number `i`.
    pub(super) fn half(&mut self, i: usize) -> &mut Pinned {
        &mut self.0[i % 2]
    }
}

impl Shared {
    /// A staging buffer for the caller alone. No lock is held while it is used: the caller runs code of the user meanwhile,
    /// which may want one, too.
    pub(super) fn take_staging(&self) -> Result<Staging> {
        let kept = self.idle_staging().pop();
        match kept {
            Some(staging) => Ok(staging),
            None => Staging::new(self.context.bind()?),
        }
    }

    /// Gives a staging buffer back. Copies from it may still be going on.
    pub(super) fn put_staging(&self, staging: Staging) {
        let mut idle = self.idle_staging();
        if idle.len() < KEPT {
            idle.push(staging);
        }
    }
}
