//! Pinned memory of the user.

use std::any::Any;

use tilewise_ir::Scalar;

use crate::device::PinnedMemory;
use crate::device::cuda::Shared;
use crate::device::cuda::driver::Pinned;
use crate::error::{Error, Result};

/// Pinned memory of the user.
#[derive(Debug)]
pub(super) struct CudaPinned {
    memory: Pinned,
}

impl CudaPinned {
    /// Memory for `len` elements, at least one, all bits zero.
    pub(super) fn new(shared: &Shared, scalar: Scalar, len: usize) -> Result<CudaPinned> {
        let too_much = || Error::OutOfMemory {
            what: format!("a pinned buffer of {len} {scalar} on the host"),
            bytes: len as u128 * scalar.size() as u128,
            free: None,
        };
        let bytes = len.checked_mul(scalar.size()).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or_else(too_much)?;
        let bound = shared.context.bind()?;
        match bound.allocate_pinned(bytes, scalar == Scalar::Bool) {
            Ok(memory) => Ok(CudaPinned { memory }),
            Err(failure) if failure.is_out_of_memory() => Err(too_much()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The memory behind pinned memory of this device.
    pub(super) fn own(memory: &dyn PinnedMemory) -> &Pinned {
        let memory: &dyn Any = memory;
        match memory.downcast_ref::<CudaPinned>() {
            Some(pinned) => &pinned.memory,
            None => unreachable!("pinned memory of another context is refused before it gets to a device"),
        }
    }

    /// As [`own`](CudaPinned::own), for writing.
    pub(super) fn own_mut(memory: &mut dyn PinnedMemory) -> &mut Pinned {
        let memory: &mut dyn Any = memory;
        match memory.downcast_mut::<CudaPinned>() {
            Some(pinned) => &mut pinned.memory,
            None => unreachable!("pinned memory of another context is refused before it gets to a device"),
        }
    }
}

impl PinnedMemory for CudaPinned {
    fn bytes(&self) -> Result<&[u8]> {
        Ok(self.memory.bytes()?)
    }

    fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        Ok(self.memory.bytes_mut()?)
    }
}
