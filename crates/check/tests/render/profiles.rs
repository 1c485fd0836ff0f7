//! Profiles as text and as JSON.

use tilewise_check::profile::{Accesses, BlockNeeds, Counts, Line, Place, Profile, Traffic};
use tilewise_check::render::{profile, profile_json};
use tilewise_check::{Action, MemorySpace};

use crate::make::location;

fn accesses(place: (&str, MemorySpace, Action), at: (&str, &str), counts: Counts) -> Accesses {
    let (memory, space, action) = place;
    let location = location(at.0, at.1, memory);
    Accesses { place: Place { location, memory: memory.to_owned(), space, action }, counts }
}

/// 256 requests of whole warps for 4 bytes a lane.
fn whole() -> Counts {
    Counts { accesses: 256, requests: 256, lanes: 8192, bytes: 32_768, ..Counts::default() }
}

/// 32 blocks of 256 threads: `output[i] = 2 * (a[i] + 10)` by way of every second element of shared memory.
fn two_way() -> Profile {
    let (first, second) = ("shared[2 * thread_idx().x] = a[i] + 10.0", "output[i] = 2.0 * shared");
    let (near, far) =
        (Counts { sectors: 1024, ..whole() }, Counts { passes: 512, extra_passes: 256, ..whole() });
    let line = |source: &str, accesses: [Accesses; 2]| Line {
        location: location("conflicts.rs", source, source),
        accesses: accesses.into(),
        operations: 8192,
    };
    Profile {
        kernel: "two_way".to_owned(),
        grid: [32, 1, 1],
        block: [256, 1, 1],
        lines: vec![
            line(
                first,
                [
                    accesses(("a", MemorySpace::Global, Action::Read), ("conflicts.rs", first), near),
                    accesses(("shared", MemorySpace::Shared, Action::Write), ("conflicts.rs", first), far),
                ],
            ),
            line(
                second,
                [
                    accesses(("shared", MemorySpace::Shared, Action::Read), ("conflicts.rs", second), far),
                    accesses(("output", MemorySpace::Global, Action::Write), ("conflicts.rs", second), near),
                ],
            ),
        ],
        operations: 16_384,
        global: Traffic { requested: 65_536, read: 32_768, written: 32_768 },
        needs: BlockNeeds { threads: 256, registers: 16, shared: 2048 },
    }
}

#[test]
fn lines_totals_and_occupancy() {
    let text = profile(&two_way(), &crate::style("sources"));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    crate::expect(&crate::folder().join("profile.txt"), &text);
}

#[test]
fn lines_of_several_files() {
    let one = |file: &str, source: &str, memory: &str| {
        let counts =
            Counts { accesses: 1, requests: 1, lanes: 7, bytes: 28, sectors: 7, ..Counts::default() };
        let accesses = accesses((memory, MemorySpace::Global, Action::AtomicUpdate), (file, source), counts);
        Line { location: accesses.place.location.clone(), accesses: vec![accesses], operations: 7 }
    };
    let nowhere = one("other.rs", "shared[3] = x", "shared");
    let counted = Profile {
        lines: vec![
            one("conflicts.rs", "output[i] = 2.0", "output"),
            one("other.rs", "shared[3] = x", "shared"),
            Line { location: None, ..nowhere },
        ],
        operations: 21,
        global: Traffic { requested: 168, read: 28, written: 28 },
        ..two_way()
    };
    crate::expect(
        &crate::folder().join("profile_of_several_files.txt"),
        &profile(&counted, &crate::style("sources")),
    );
}

#[test]
fn a_launch_without_accesses() {
    let counted = Profile {
        kernel: "nothing".to_owned(),
        grid: [1, 1, 1],
        block: [1, 1, 1],
        lines: Vec::new(),
        operations: 0,
        global: Traffic::default(),
        needs: BlockNeeds { threads: 1, registers: 16, shared: 0 },
    };
    crate::expect(
        &crate::folder().join("profile_of_nothing.txt"),
        &profile(&counted, &crate::style("sources")),
    );
}

#[test]
fn json_has_the_counts_and_what_follows_from_them() {
    let json: serde_json::Value = serde_json::from_str(&profile_json(&two_way())).expect("JSON");
    assert_eq!((&json["format"], &json["kernel"]), (&1.into(), &"two_way".into()));
    assert_eq!(json["intensity"], 0.25);
    let shared = &json["lines"][0]["accesses"][1];
    assert_eq!(
        (&shared["memory"], &shared["action"], &shared["extra_passes"]),
        (&"shared".into(), &"write".into(), &256.into())
    );
    let a10g = &json["occupancy"][2];
    assert_eq!((&a10g["device"], &a10g["limiter"]), (&"A10G, RTX 30".into(), &"threads".into()));
}
