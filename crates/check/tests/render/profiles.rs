//! Profiles as text.

use tilewise_check::profile::{Access, BlockNeeds, Place, Profile};
use tilewise_check::render::counts;
use tilewise_check::{Action, MemorySpace};

use crate::make::location;

/// 32 blocks of 256 threads: `output[i] = 2 * (a[i] + 10)` by way of every second element of shared memory.
fn two_way() -> Profile {
    let place = |space, action, token: &str, line: &str| Place {
        location: location("conflicts.rs", line, token),
        space,
        action,
    };
    let (first, second) = ("shared[2 * thread_idx().x] = a[i] + 10.0", "output[i] = 2.0 * shared");
    let mut profile = Profile::new(vec![
        place(MemorySpace::Global, Action::Read, "a[i]", first),
        place(MemorySpace::Shared, Action::Write, "shared", first),
        place(MemorySpace::Shared, Action::Read, "shared", second),
        place(MemorySpace::Global, Action::Write, "output", second),
    ]);
    for warp in 0..256 {
        for (number, (base, stride)) in [(0, 4), (0, 8), (0, 8), (1 << 20, 4)].into_iter().enumerate() {
            let start = if number == 0 || number == 3 { warp } else { warp % 8 };
            let lanes: Vec<_> = (0..32).map(|lane| Some(base + stride * (32 * start + lane))).collect();
            profile.access(number, Access { lanes: &lanes, size: 4, align: 4 });
        }
        profile.operations(64);
    }
    profile
}

#[test]
fn lines_totals_and_occupancy() {
    let needs = BlockNeeds { threads: 256, registers: 16, shared: 2048 };
    let text = counts("two_way", [32, 1, 1], [256, 1, 1], &two_way(), Some(needs), &crate::style("sources"));
    crate::expect(&crate::folder().join("profile.txt"), &text);
}

#[test]
fn lines_of_several_files() {
    let place = |location| Place { location, space: MemorySpace::Global, action: Action::AtomicUpdate };
    let mut profile = Profile::new(vec![
        place(location("conflicts.rs", "output[i] = 2.0", "output")),
        place(location("other.rs", "shared[3] = x", "shared")),
        place(None),
    ]);
    for number in 0..3 {
        let lanes: Vec<_> = (0..7).map(|lane| Some(400 * lane)).collect();
        profile.access(number, Access { lanes: &lanes, size: 4, align: 4 });
    }
    let text = counts("k", [2, 2, 1], [7, 1, 1], &profile, None, &crate::style("sources"));
    crate::expect(&crate::folder().join("profile_of_several_files.txt"), &text);
}

#[test]
fn a_launch_without_accesses() {
    let text =
        counts("nothing", [1, 1, 1], [1, 1, 1], &Profile::new(Vec::new()), None, &crate::style("sources"));
    crate::expect(&crate::folder().join("profile_of_nothing.txt"), &text);
}
