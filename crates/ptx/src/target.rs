//! Which GPU the code is for.

use std::fmt;

/// A compute capability and a version of PTX that the driver or assembler takes.
///
/// ```
/// use tilewise_ptx::Target;
///
/// // An H100 under a driver of CUDA 12.4.
/// assert_eq!(Target::for_driver(90, 12040).to_string(), "sm_90 (PTX 8.4)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// Compute capability without its point: 75, 80, 90, 120.
    pub capability: u32,
    /// Version of PTX: major, minor.
    pub ptx: (u32, u32),
}

/// The capabilities that code is written for, and the first version of PTX that knows each.
const CAPABILITIES: [(u32, (u32, u32)); 11] = [
    (75, (6, 3)),
    (80, (7, 0)),
    (86, (7, 1)),
    (87, (7, 4)),
    (89, (7, 8)),
    (90, (7, 8)),
    (100, (8, 6)),
    (103, (8, 8)),
    (110, (9, 0)),
    (120, (8, 7)),
    (121, (8, 8)),
];

/// Versions of CUDA, as the driver numbers them, and the version of PTX that came with each.
const DRIVERS: [(u32, (u32, u32)); 20] = [
    (11000, (7, 0)),
    (11010, (7, 1)),
    (11020, (7, 2)),
    (11030, (7, 3)),
    (11040, (7, 4)),
    (11050, (7, 5)),
    (11060, (7, 6)),
    (11070, (7, 7)),
    (11080, (7, 8)),
    (12000, (8, 0)),
    (12010, (8, 1)),
    (12020, (8, 2)),
    (12030, (8, 3)),
    (12040, (8, 4)),
    (12050, (8, 5)),
    (12060, (8, 5)),
    (12070, (8, 6)),
    (12080, (8, 7)),
    (12090, (8, 8)),
    (13000, (9, 0)),
];

impl Target {
    /// The newest version of PTX that is ever asked for.
    const NEWEST: (u32, u32) = (9, 0);

    /// A target with the first version of PTX that knows its capability, but at least 7.0.
    pub fn new(capability: u32) -> Target {
        let (capability, ptx) = known(capability, |_| true);
        Target { capability, ptx: ptx.max((7, 0)) }
    }

    /// The target for a GPU under a driver, whose version is as `cuDriverGetVersion` gives it: 12040 for CUDA 12.4.
    ///
    /// A capability that is not known, or that the driver's PTX does not know, becomes the newest known one below it:
    /// PTX for an older GPU runs on a newer one.
    pub fn for_driver(capability: u32, driver_version: u32) -> Target {
        let takes = DRIVERS.iter().rev().find(|&&(version, _)| version <= driver_version);
        let ptx = takes.map_or((6, 3), |&(_, ptx)| ptx).min(Target::NEWEST);
        let (capability, _) = known(capability, |needs| needs <= ptx);
        Target { capability, ptx }
    }

    /// Most bytes of shared memory that a block can have.
    pub fn max_shared_bytes(self) -> u64 {
        const KB: u64 = 1024;
        match self.capability {
            0..80 => 64 * KB,
            80 | 87 => 163 * KB,
            90 | 100 | 103 | 110 => 227 * KB,
            _ => 99 * KB,
        }
    }

    /// Whether it has the capability, and its PTX the version, that some instruction needs.
    pub(crate) fn has(self, capability: u32, ptx: (u32, u32)) -> bool {
        self.capability >= capability && self.ptx >= ptx
    }
}

/// The newest known capability that is not above `capability` and whose PTX is `fine`; the oldest if there is none.
fn known(capability: u32, fine: impl Fn((u32, u32)) -> bool) -> (u32, (u32, u32)) {
    let mut candidates = CAPABILITIES.iter().rev().filter(|&&(known, _)| known <= capability);
    *candidates.find(|&&(_, ptx)| fine(ptx)).unwrap_or(&CAPABILITIES[0])
}

impl fmt::Display for Target {
    /// `sm_90 (PTX 8.0)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{} (PTX {}.{})", self.capability, self.ptx.0, self.ptx.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_get_what_they_take() {
        let target = |capability, driver| {
            let Target { capability, ptx } = Target::for_driver(capability, driver);
            (capability, ptx)
        };
        assert_eq!(target(90, 13000), (90, (9, 0)));
        assert_eq!(target(90, 13050), (90, (9, 0)));
        assert_eq!(target(75, 11000), (75, (7, 0)));
        assert_eq!(target(89, 11080), (89, (7, 8)));
        assert_eq!(target(120, 12060), (90, (8, 5)), "CUDA 12.6 does not know sm_120");
        assert_eq!(target(130, 13000), (121, (9, 0)), "a newer GPU than is known");
        assert_eq!(target(52, 12000), (75, (8, 0)));
    }

    #[test]
    fn a_capability_alone_has_its_first_version() {
        assert_eq!(Target::new(75).ptx, (7, 0));
        assert_eq!(Target::new(90), Target { capability: 90, ptx: (7, 8) });
        assert_eq!(Target::new(120).ptx, (8, 7));
    }
}
