//! Memory of the device: allocated, freed, set, and copied within the device.

use cudarc::driver::sys;

use super::{Bound, Failure, Gpu, Result, Stream, check, default_pool};

/// Memory of a GPU. It is not freed when it is dropped, since that needs a stream: see [`Bound::free`].
#[derive(Debug)]
pub(in crate::device::cuda) struct DeviceMemory {
    address: u64,
    len: usize,
}

impl DeviceMemory {
    /// The address on the device.
    pub(in crate::device::cuda) fn address(&self) -> u64 {
        self.address
    }

    /// The address of `len` bytes from byte `at` on.
    pub(super) fn range(&self, call: &'static str, at: usize, len: usize) -> Result<u64> {
        match at.checked_add(len) {
            Some(end) if end <= self.len => Ok(self.address + at as u64),
            _ => Err(Failure::invalid(call)),
        }
    }
}

impl Bound {
    /// Memory of `len` bytes, at least one, that may be used after what `stream` has now.
    pub(in crate::device::cuda) fn allocate(&self, len: usize, stream: &Stream) -> Result<DeviceMemory> {
        let mut address = 0;
        if self.context.has_pool {
            // SAFETY: the pointer is valid for the call, the stream is alive.
            let code = unsafe { sys::cuMemAllocAsync(&mut address, len, stream.raw) };
            check("cuMemAllocAsync", code)?;
        } else {
            // SAFETY: the pointer is valid for the call, and the context is bound.
            check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&mut address, len) })?;
        }
        Ok(DeviceMemory { address, len })
    }

    /// Frees memory after what `stream` has now.
    pub(in crate::device::cuda) fn free(&self, memory: DeviceMemory, stream: &Stream) -> Result<()> {
        if self.context.has_pool {
            // SAFETY: the memory is from `cuMemAllocAsync`, and nobody else has it.
            check("cuMemFreeAsync", unsafe { sys::cuMemFreeAsync(memory.address, stream.raw) })
        } else {
            stream.synchronize()?;
            // SAFETY: the memory is from `cuMemAlloc`, and nobody else has it.
            check("cuMemFree", unsafe { sys::cuMemFree_v2(memory.address) })
        }
    }

    /// Gives memory that was freed back to the device.
    pub(in crate::device::cuda) fn trim(&self) -> Result<()> {
        if !self.context.has_pool {
            return Ok(());
        }
        let mut gpu = 0;
        // SAFETY: the pointer is valid for the call, and the context is bound.
        check("cuCtxGetDevice", unsafe { sys::cuCtxGetDevice(&mut gpu) })?;
        let pool = default_pool(Gpu(gpu))?;
        // SAFETY: the pool is the device's own, which lives as long as the driver.
        check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(pool, 0) })
    }

    /// How many bytes of the device's memory are free.
    pub(in crate::device::cuda) fn free_bytes(&self) -> Result<u64> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are valid for the call, and the context is bound.
        check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free as u64)
    }

    /// Sets `count` elements of `size` bytes (1, 2 or 4) from byte `at` on to the same bits.
    pub(in crate::device::cuda) fn set(
        &self,
        memory: &DeviceMemory,
        at: usize,
        size: usize,
        count: usize,
        bits: u32,
        stream: &Stream,
    ) -> Result<()> {
        let len = count.checked_mul(size).ok_or(Failure::invalid("cuMemset"))?;
        let address = memory.range("cuMemset", at, len)?;
        // SAFETY: the bytes are inside the memory, the stream is alive.
        unsafe {
            match size {
                1 => check("cuMemsetD8Async", sys::cuMemsetD8Async(address, bits as u8, count, stream.raw)),
                2 => {
                    check("cuMemsetD16Async", sys::cuMemsetD16Async(address, bits as u16, count, stream.raw))
                }
                4 => check("cuMemsetD32Async", sys::cuMemsetD32Async(address, bits, count, stream.raw)),
                _ => Err(Failure::invalid("cuMemset")),
            }
        }
    }

    /// Copies `len` bytes within the device; source and target do not overlap.
    pub(in crate::device::cuda) fn copy(
        &self,
        (target, target_at): (&DeviceMemory, usize),
        (source, source_at): (&DeviceMemory, usize),
        len: usize,
        stream: &Stream,
    ) -> Result<()> {
        let call = "cuMemcpyDtoDAsync";
        let (target, source) = (target.range(call, target_at, len)?, source.range(call, source_at, len)?);
        // SAFETY: the bytes are inside their memory, the stream is alive.
        check(call, unsafe { sys::cuMemcpyDtoDAsync_v2(target, source, len, stream.raw) })
    }
}
