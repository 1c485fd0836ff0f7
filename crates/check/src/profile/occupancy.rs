//! How many warps of a kernel a multiprocessor of a GPU holds at once, and what keeps it from holding more.
//!
//! Sources of the figures: threads, blocks and shared memory of a multiprocessor and the reserve for each block are those
//! of NVIDIA's CCCL, `cuda/__device/arch_traits.h` (the same as the table "Technical Specifications per Compute
//! Capability" of the CUDA C++ Programming Guide); that registers are given to a warp in units of 256, to four warps at a
//! time, and shared memory in units of 128 bytes (256 before compute capability 8.0), is from NVIDIA's occupancy calculator.

use serde::Serialize;

/// What a multiprocessor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// GPUs that are built from it.
    pub name: &'static str,
    /// Compute capability: major, minor.
    pub capability: (u8, u8),
    /// Threads at once.
    pub threads: u32,
    /// Blocks at once.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Bytes of shared memory that the driver takes of it for each block.
    pub reserved: u32,
    /// Bytes in which shared memory is given out.
    pub shared_unit: u32,
}

/// Registers in which a warp gets them.
const REGISTER_UNIT: u32 = 256;

/// Warps that get registers together.
const WARP_UNIT: u32 = 4;

/// Registers of a thread at most, and threads of a block.
const MOST_REGISTERS: u32 = 255;
const MOST_THREADS: u32 = 1024;

const fn device(
    name: &'static str,
    capability: (u8, u8),
    threads: u32,
    blocks: u32,
    shared_kib: u32,
) -> Device {
    let recent = capability.0 >= 8;
    Device {
        name,
        capability,
        threads,
        blocks,
        registers: 65_536,
        shared: shared_kib * 1024,
        reserved: if recent { 1024 } else { 0 },
        shared_unit: if recent { 128 } else { 256 },
    }
}

/// GPUs from Turing on.
pub const DEVICES: [Device; 7] = [
    device("T4, RTX 20", (7, 5), 1024, 16, 64),
    device("A100", (8, 0), 2048, 32, 164),
    device("A10G, RTX 30", (8, 6), 1536, 16, 100),
    device("L4, RTX 40", (8, 9), 1536, 24, 100),
    device("H100, H200", (9, 0), 2048, 32, 228),
    device("B200", (10, 0), 2048, 32, 228),
    device("RTX 50", (12, 0), 1536, 24, 100),
];

/// What a block of a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
}

/// What limits how many blocks are resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limiter {
    /// The threads of a multiprocessor.
    Threads,
    /// Its registers.
    Registers,
    /// Its shared memory.
    SharedMemory,
    /// The number of its blocks.
    Blocks,
}

/// How full a multiprocessor is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    /// Blocks that are resident; 0 if the kernel does not run there.
    pub blocks: u32,
    /// Warps that are resident.
    pub warps: u32,
    /// Resident warps over those that there could be: 0 to 1.
    pub ratio: f64,
    /// What keeps it from holding more blocks. Of several that allow as many the first in the order of [`Limiter`].
    pub limiter: Limiter,
}

impl Device {
    /// How full a multiprocessor gets with a kernel.
    ///
    /// ```
    /// use tilewise_check::profile::{BlockNeeds, DEVICES, Limiter};
    ///
    /// let a10g = DEVICES.iter().find(|device| device.capability == (8, 6)).unwrap();
    /// let occupancy = a10g.occupancy(BlockNeeds { threads: 1024, registers: 19, shared: 0 });
    /// assert_eq!((occupancy.blocks, occupancy.warps), (1, 32));
    /// assert_eq!(occupancy.limiter, Limiter::Threads); // 1536, and a second block of 1024 does not fit
    /// ```
    pub fn occupancy(&self, block: BlockNeeds) -> Occupancy {
        let warps = block.threads.div_ceil(32).max(1);
        let most_warps = self.threads / 32;
        let by_threads = if block.threads > MOST_THREADS { 0 } else { most_warps / warps };
        let by_registers = match block.registers {
            0 => u32::MAX,
            n if n > MOST_REGISTERS => 0,
            n => {
                let warp = (n * 32).next_multiple_of(REGISTER_UNIT);
                (self.registers / warp / WARP_UNIT * WARP_UNIT) / warps
            }
        };
        let shared = block.shared.saturating_add(self.reserved);
        let by_shared = match shared.checked_next_multiple_of(self.shared_unit) {
            Some(0) => u32::MAX,
            Some(bytes) => self.shared / bytes,
            None => 0,
        };
        let limits = [
            (by_threads, Limiter::Threads),
            (by_registers, Limiter::Registers),
            (by_shared, Limiter::SharedMemory),
            (self.blocks, Limiter::Blocks),
        ];
        // The first of the smallest.
        let (blocks, limiter) =
            limits.into_iter().reduce(|a, b| if b.0 < a.0 { b } else { a }).unwrap_or((0, Limiter::Threads));
        let warps = blocks * warps;
        Occupancy { blocks, warps, ratio: f64::from(warps) / f64::from(most_warps), limiter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(capability: (u8, u8), threads: u32, registers: u32, shared: u32) -> Occupancy {
        let device = DEVICES.iter().find(|d| d.capability == capability).expect("in the table");
        device.occupancy(BlockNeeds { threads, registers, shared })
    }

    /// SAXPY with 0, 48 KiB and 16 KiB of shared memory and 19, 40 and 25 registers, blocks of 1024, on an A10G.
    #[test]
    fn saxpy_fills_two_thirds_of_an_a10g() {
        for (registers, shared) in [(19, 0), (40, 49_152), (25, 16_384)] {
            let occupancy = on((8, 6), 1024, registers, shared);
            assert_eq!(occupancy.limiter, Limiter::Threads);
            assert_eq!(format!("{:.1}%", 100.0 * occupancy.ratio), "66.7%");
        }
    }

    #[test]
    fn each_limiter() {
        // 228 KiB hold four blocks of 48 KiB and their reserve: four of 256 threads are 32 warps of 64.
        let occupancy = on((9, 0), 256, 32, 49_152);
        assert_eq!((occupancy.blocks, occupancy.ratio, occupancy.limiter), (4, 0.5, Limiter::SharedMemory));
        // 65 registers are 2304 for a warp: 28 warps, three blocks of eight.
        let occupancy = on((9, 0), 256, 65, 0);
        assert_eq!((occupancy.blocks, occupancy.warps, occupancy.limiter), (3, 24, Limiter::Registers));
        let occupancy = on((9, 0), 32, 16, 0);
        assert_eq!((occupancy.blocks, occupancy.ratio, occupancy.limiter), (32, 0.5, Limiter::Blocks));
        let occupancy = on((8, 0), 256, 32, 0);
        assert_eq!((occupancy.blocks, occupancy.ratio, occupancy.limiter), (8, 1.0, Limiter::Threads));
    }

    #[test]
    fn a_block_of_a_few_threads_is_a_warp() {
        assert_eq!(on((9, 0), 9, 16, 0).warps, 32);
    }

    #[test]
    fn what_does_not_run_has_no_blocks() {
        assert_eq!(on((8, 6), 1025, 16, 0).blocks, 0);
        assert_eq!(on((8, 6), 32, 256, 0).blocks, 0);
        assert_eq!(on((8, 6), 32, 32, u32::MAX).blocks, 0);
        let most = on((8, 6), 32, 32, 99 * 1024);
        assert_eq!((most.blocks, most.limiter), (1, Limiter::SharedMemory));
        // 255 registers for 1024 threads are four times as many as there are.
        assert_eq!(on((8, 6), 1024, 255, 0).blocks, 0);
    }
}
