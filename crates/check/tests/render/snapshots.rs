//! Reports as text, one file each.

use tilewise_check::render::{Style, help, line, text};
use tilewise_check::{
    Action, Datum, Element, Finding, Group, Kind, Location, MemorySpace, NotModelled, Party, RacePattern,
    Report, Severity, Site, Step, ThreadRange,
};

use crate::make::{element, f32, finding, group, i32, location, out_of_bounds, party, report, site};

const SHARED: MemorySpace = MemorySpace::Shared;

fn compare(name: &str, report: &Report) {
    compare_in(name, report, &crate::style("sources"));
}

fn compare_in(name: &str, report: &Report, style: &Style) {
    crate::expect(&crate::folder().join(format!("{name}.txt")), &text(report, style));
}

/// Which accesses race, the first in the order of the source first.
fn race(pattern: RacePattern, right: Datum, wrong: Datum) -> Kind {
    Kind::Race { pattern, between_blocks: false, harmless: false, right, wrong }
}

/// Thread 4 writes `shared[4]`, thread 3 reads it, at two positions.
fn write_then_read(write: Option<Location>, read: Option<Location>) -> Finding {
    Finding {
        count: 8,
        elements: 5,
        sites: vec![site(Action::Write, write), site(Action::Read, read)],
        element: element("shared", SHARED, &[4]),
        parties: vec![party(0, 4, 0, 2), party(0, 3, 1, 2)],
        steps: vec![
            Step { party: 1, action: Action::Read, value: f32(0.0) },
            Step { party: 0, action: Action::Write, value: f32(6.0) },
        ],
        ..finding(race(RacePattern::WriteRead, f32(6.0), f32(0.0)))
    }
}

#[test]
fn race_in_a_line_with_tabs() {
    let write = location("cases.rs", "shared[i]\t=", "shared");
    let read = location("cases.rs", "x[i] = shared[i + 1]", "shared");
    compare("race_tabs", &report("k", 64, 256, vec![write_then_read(write, read)]));
}

#[test]
fn race_in_unicode() {
    let write = location("cases.rs", "größe[é] = ", "größe");
    let read = location("cases.rs", "= größe[é + 1]", "größe");
    let mut found = write_then_read(write, read);
    found.element = element("größe", SHARED, &[4]);
    compare("race_unicode", &report("k", 1, 8, vec![found]));
}

#[test]
fn race_in_long_lines() {
    let write = location("cases.rs", "output[global_i] = a_tensor", "output");
    let read = location("cases.rs", "bias[global_i]; }", "bias");
    let found = write_then_read(write, read);
    compare("race_long_line", &report("k", 1, 8, vec![found.clone()]));
    let narrow = Style { width: 60, ..crate::style("sources") };
    compare_in("race_long_line_60_columns", &report("k", 1, 8, vec![found]), &narrow);
}

#[test]
fn race_of_positions_far_apart_in_two_dimensions() {
    let write = location("cases.rs", "tile[[y, x]] = 1.0", "tile");
    let read = location("cases.rs", "tile[[y + 1, x]]", "tile");
    let mut found = write_then_read(write, read);
    found.element = element("tile", SHARED, &[2, 3]);
    found.parties[0].thread = [3, 2, 0];
    found.parties[1].thread = [3, 1, 0];
    let report = Report { block: [4, 4, 1], grid: [2, 2, 1], ..report("stencil", 1, 1, vec![found]) };
    compare("race_far_apart_2d", &report);
}

#[test]
fn race_in_two_files() {
    let write = location("other.rs", "shared[3] = x", "shared");
    let read = location("cases.rs", "shared[i] = shared[i + 1]", "shared[i + 1]");
    compare("race_two_files", &report("k", 1, 8, vec![write_then_read(write, read)]));
}

#[test]
fn race_without_source() {
    let missing = |file: &str, line| Some(Location { file: file.to_owned(), line, column: 5 });
    let found = write_then_read(missing("src/gone.rs", 12), missing("src/gone.rs", 14));
    compare("race_no_source", &report("k", 1, 8, vec![found]));
    // One side is there, the other's line is not.
    let found = write_then_read(location("other.rs", "shared[3] = x", "shared"), missing("other.rs", 99));
    compare("race_no_line", &report("k", 1, 8, vec![found]));
    let found = write_then_read(None, None);
    compare("race_no_location", &report("k", 1, 8, vec![found]));
}

#[test]
fn race_read_before_write_in_one_line() {
    let line = "shared[i] = shared[i + 1]";
    let found = Finding {
        count: 7,
        elements: 7,
        sites: vec![
            site(Action::Read, location("cases.rs", line, "shared[i + 1]")),
            site(Action::Write, location("cases.rs", line, "shared[i] =")),
        ],
        element: element("shared", SHARED, &[1]),
        parties: vec![party(0, 0, 0, 1), party(0, 1, 1, 1)],
        steps: vec![
            Step { party: 1, action: Action::Write, value: f32(2.0) },
            Step { party: 0, action: Action::Read, value: f32(2.0) },
        ],
        ..finding(race(RacePattern::ReadWrite, f32(1.0), f32(2.0)))
    };
    compare("race_one_line", &report("shift", 1, 8, vec![found]));
}

#[test]
fn race_at_a_compound_assignment_between_blocks() {
    let place = || location("cases.rs", "count[0] += 1.0", "count");
    let found = Finding {
        count: 3,
        elements: 1,
        sites: vec![site(Action::Read, place()), site(Action::Write, place())],
        element: element("count", MemorySpace::Global, &[0]),
        parties: vec![party(0, 0, 1, 0), party(1, 0, 0, 3)],
        steps: vec![
            Step { party: 0, action: Action::Read, value: f32(0.0) },
            Step { party: 1, action: Action::Read, value: f32(0.0) },
            Step { party: 1, action: Action::Write, value: f32(1.0) },
            Step { party: 0, action: Action::Write, value: f32(1.0) },
        ],
        ..finding(Kind::Race {
            pattern: RacePattern::WriteRead,
            between_blocks: true,
            harmless: false,
            right: f32(1.0),
            wrong: f32(0.0),
        })
    };
    compare("race_compound_between_blocks", &report("count", 3, 1, vec![found]));
}

#[test]
fn race_of_an_atomic_with_a_plain_access() {
    let found = Finding {
        elements: 1,
        sites: vec![
            site(Action::AtomicUpdate, location("cases.rs", "fetch_add(1)", "fetch_add")),
            site(Action::Write, location("cases.rs", "count[0] += 1.0", "count")),
        ],
        element: element("out", MemorySpace::Global, &[0]),
        parties: vec![party(0, 0, 0, 0), party(0, 1, 1, 0)],
        steps: vec![
            Step { party: 1, action: Action::Write, value: i32(9) },
            Step { party: 0, action: Action::AtomicUpdate, value: i32(10) },
        ],
        ..finding(race(RacePattern::WriteWrite, i32(9), i32(10)))
    };
    compare("race_atomic_plain", &report("k", 1, 2, vec![found]));
}

#[test]
fn harmless_race_of_expressions_inside_each_other() {
    let line = "index[index[i]] = 2.0";
    let found = Finding {
        severity: Severity::Warning,
        count: 2,
        elements: 1,
        sites: vec![
            site(Action::Read, location("cases.rs", line, "index[i]")),
            site(Action::Write, location("cases.rs", line, "index[index")),
        ],
        element: element("index", MemorySpace::Global, &[2]),
        parties: vec![party(0, 2, 0, 0), party(0, 3, 1, 0)],
        ..finding(Kind::Race {
            pattern: RacePattern::ReadWrite,
            between_blocks: false,
            harmless: true,
            right: f32(2.0),
            wrong: f32(2.0),
        })
    };
    compare("race_harmless_nested", &report("k", 1, 8, vec![found]));
}

#[test]
fn uninitialised_reads() {
    let local = Finding {
        elements: 1,
        sites: vec![site(Action::Read, location("cases.rs", "let mut acc", "acc"))],
        element: element("acc", MemorySpace::Local, &[3]),
        parties: vec![party(0, 0, 0, 0)],
        ..finding(Kind::UninitialisedRead)
    };
    let atomic = Finding {
        count: 2,
        elements: 1,
        sites: vec![site(Action::AtomicUpdate, location("cases.rs", "fetch_add(1)", "fetch_add"))],
        element: element("out", SHARED, &[0]),
        parties: vec![party(1, 0, 0, 11)],
        ..finding(Kind::UninitialisedRead)
    };
    compare("uninitialised", &report("k", 2, 8, vec![local, atomic]));
}

#[test]
fn outside_in_three_dimensions() {
    let outside_of = |dim: u8, index: i64, extents: [u64; 3]| {
        let extent = extents[usize::from(dim)];
        Kind::OutOfBounds { dim, index: index as u64, extent, extents: extents.to_vec() }
    };
    let place = || vec![site(Action::Write, location("cases.rs", "volume[[z, y, x]]", "volume"))];
    let outside = Finding {
        count: 2,
        elements: 2,
        sites: place(),
        element: element("volume", MemorySpace::Global, &[1, 4, 2]),
        parties: vec![Party { block: [1, 2, 3], thread: [2, 4, 1], site: 0, interval: 0 }],
        ..finding(outside_of(1, 4, [3, 4, 4]))
    };
    let below = Finding {
        count: 1,
        elements: 1,
        element: element("volume", MemorySpace::Global, &[0, 0, -3]),
        ..Finding { kind: outside_of(2, -3, [3, 4, 4]), ..outside.clone() }
    };
    let shared = Finding {
        element: element("volume", SHARED, &[0, 0, 4]),
        ..Finding { kind: outside_of(2, 4, [3, 4, 1]), ..outside.clone() }
    };
    let unchecked = Finding { kind: Kind::OutsideMemory { offset: 64, len: 1 }, ..outside.clone() };
    let report = Report {
        grid: [2, 3, 4],
        block: [4, 8, 2],
        ..report("blur", 1, 1, vec![outside, below, shared, unchecked])
    };
    compare("outside_3d", &report);
}

#[test]
fn misaligned_by_a_byte() {
    let found = Finding {
        elements: 1,
        sites: vec![site(Action::Write, location("cases.rs", "count[0] += 1.0", "count"))],
        element: element("count", MemorySpace::Global, &[0]),
        parties: vec![party(0, 0, 0, 0)],
        ..finding(Kind::Misaligned { align: 2, remainder: 1 })
    };
    compare("misaligned", &report("k", 1, 1, vec![found]));
}

#[test]
fn threads_at_different_barriers() {
    let first = location("cases.rs", "        barrier();", "barrier");
    let second = first.clone().map(|l| Location { line: l.line + 2, ..l });
    let range = |first: [u32; 3], last: [u32; 3]| ThreadRange { first, last };
    let scattered = Group {
        location: second,
        count: 9,
        threads: vec![
            range([0, 1, 0], [3, 1, 0]),
            range([0, 2, 0], [0, 2, 0]),
            range([2, 2, 0], [2, 2, 0]),
            range([0, 3, 0], [1, 3, 0]),
            range([3, 3, 0], [3, 3, 0]),
        ],
    };
    let found = Finding {
        count: 3,
        sites: vec![site(Action::Barrier, first.clone()), site(Action::Barrier, scattered.location.clone())],
        parties: vec![party(0, 0, 0, 0)],
        ..finding(Kind::BarrierDivergence {
            waiting: vec![group(first.clone(), 0, 3), scattered],
            ended: Some(group(None, 1, 1)),
        })
    };
    let looping = Finding {
        count: 1,
        ..Finding {
            kind: Kind::BarrierDivergence { waiting: vec![group(first, 7, 7)], ended: None },
            ..found.clone()
        }
    };
    compare("barrier_divergence", &report("k", 3, 8, vec![found, looping]));
}

#[test]
fn loops_that_do_not_end() {
    let place = || location("cases.rs", "while flag[0] == 0", "while");
    let alone = Finding {
        count: 2,
        sites: vec![site(Action::Loop, place())],
        parties: vec![party(5, 0, 0, 0)],
        ..finding(Kind::NoProgress {
            cycles: false,
            spinning: vec![group(place(), 0, 7)],
            at_barrier: Vec::new(),
        })
    };
    let endless = Finding {
        kind: Kind::StepLimit { rounds: 1, running: vec![group(None, 3, 3)] },
        count: 1,
        sites: Vec::new(),
        ..alone.clone()
    };
    compare("endless_loops", &report("k", 8, 8, vec![alone, endless]));
}

#[test]
fn arithmetic_and_assertions() {
    let compute = |line: &str, token: &str| vec![site(Action::Compute, location("cases.rs", line, token))];
    let division = Finding {
        count: 2,
        sites: compute("shared[i] = shared[i + 1]", "i + 1"),
        parties: vec![party(0, 1, 0, 0)],
        ..finding(Kind::DivisionByZero)
    };
    let step = Finding { kind: Kind::RangeStep { step: -1 }, ..division.clone() };
    let assertion =
        Finding { kind: Kind::Assertion { message: String::new() }, count: 3, ..division.clone() };
    let below = Finding {
        severity: Severity::Warning,
        count: 2,
        ..Finding { kind: Kind::IndexOverflow { index: -2i64 as u64 }, ..division.clone() }
    };
    let above = Finding { kind: Kind::IndexOverflow { index: 3 }, count: 1, ..below.clone() };
    compare("arithmetic", &report("k", 1, 2, vec![division, step, assertion, below, above]));
}

#[test]
fn errors_come_first_and_the_rest_is_counted() {
    let place = || location("cases.rs", "count[0] += 1.0", "count");
    let advice = Finding {
        severity: Severity::Advice,
        sites: vec![site(Action::Barrier, place())],
        ..finding(Kind::RedundantBarrier)
    };
    let error = Finding {
        sites: vec![site(Action::Compute, place())],
        parties: vec![party(0, 1, 0, 0)],
        ..finding(Kind::DivisionByZero)
    };
    let warning = Finding { severity: Severity::Warning, ..error.clone() };
    let all = report("k", 1, 1, vec![advice.clone(), warning, error, advice]);
    compare_in("order", &all, &Style { findings: 3, ..crate::style("sources") });
    compare_in("counted_only", &all, &Style { findings: 0, ..crate::style("sources") });
}

#[test]
fn clean_and_not_quite_clean() {
    let clean = report("add", 64, 256, Vec::new());
    compare("clean", &clean);
    let advice = Finding {
        severity: Severity::Advice,
        sites: vec![site(Action::Barrier, location("cases.rs", "        barrier();", "barrier"))],
        ..finding(Kind::RedundantBarrier)
    };
    compare("clean_with_advice", &report("add", 1, 1, vec![advice]));
    let not_modelled = vec![
        NotModelled {
            what:
                "an atomic of system scope is taken for one of the device: races with the host are not seen"
                    .to_owned(),
            location: location("cases.rs", "fetch_add(1)", "fetch_add"),
        },
        NotModelled { what: "blocks after the first 10".to_owned(), location: None },
    ];
    compare("not_checked", &Report { not_modelled: not_modelled.clone(), ..clean });
    let found = Finding {
        sites: vec![site(Action::Compute, None)],
        parties: vec![party(0, 1, 0, 0)],
        ..finding(Kind::DivisionByZero)
    };
    compare("not_checked_and_wrong", &Report { not_modelled, ..report("add", 1, 2, vec![found]) });
}

#[test]
fn colours_are_the_only_difference() {
    let write = location("other.rs", "shared[3] = x", "shared");
    let report = report("k", 1, 8, vec![write_then_read(write.clone(), write)]);
    let plain = text(&report, &crate::style("sources"));
    let coloured = text(&report, &Style { colour: true, ..crate::style("sources") });
    assert!(!plain.contains('\u{1b}') && coloured.contains("\u{1b}[36m"));
    let mut stripped = String::new();
    let mut chars = coloured.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.find(|&c| c == 'm');
        } else {
            stripped.push(c);
        }
    }
    assert_eq!(stripped, plain);
}

/// A finding may be built by hand: parts that are missing are left out.
#[test]
fn nothing_known_is_no_reason_to_fail() {
    let kinds = [
        race(RacePattern::WriteWrite, Datum::Unknown, Datum::Unknown),
        Kind::UninitialisedRead,
        out_of_bounds(0, 1, 1),
        Kind::OutsideMemory { offset: 1, len: 1 },
        Kind::Misaligned { align: 16, remainder: 4 },
        Kind::BarrierDivergence { waiting: Vec::new(), ended: None },
        Kind::NoProgress { cycles: false, spinning: Vec::new(), at_barrier: Vec::new() },
        Kind::StepLimit { rounds: 1, running: Vec::new() },
        Kind::DivisionByZero,
        Kind::RangeStep { step: 0 },
        Kind::IndexOverflow { index: 0 },
        Kind::Assertion { message: String::new() },
        Kind::RedundantBarrier,
    ];
    let mut findings: Vec<_> = kinds.into_iter().map(finding).collect();
    for found in &mut findings {
        found.steps = vec![Step { party: 7, action: Action::Read, value: Datum::Unknown }];
        assert!(!help(found).is_empty());
    }
    let wrong_site = Finding { parties: vec![party(0, 0, 9, 0)], ..findings[0].clone() };
    let no_index = Finding {
        element: Some(Element { memory: "x".to_owned(), space: SHARED, index: Vec::new() }),
        ..findings[1].clone()
    };
    findings.extend([wrong_site, no_index]);
    let all = report("k", 0, 0, findings);
    assert!(text(&all, &Style { findings: 100, width: 0, ..crate::style("sources") }).ends_with('\n'));
}

#[test]
fn a_finding_in_one_line() {
    let write = location("other.rs", "shared[3] = x", "shared");
    assert_eq!(
        line(&write_then_read(write, None)),
        "other.rs:4:5: data race on `shared[4]`: one thread writes it while another reads it, and no barrier is \
         between them (thread (4, 0, 0) of block (0, 0, 0), thread (3, 0, 0) of block (0, 0, 0)), and 7 more"
    );
    assert_eq!(line(&finding(Kind::DivisionByZero)), "integer division by zero");
}

/// Positions may be wrong (an edited file, another version of it): whatever they are, there is a report.
#[test]
fn any_position_can_be_drawn() {
    let actions = [
        Action::Read,
        Action::Write,
        Action::AtomicRead,
        Action::AtomicWrite,
        Action::AtomicUpdate,
        Action::Barrier,
        Action::Loop,
        Action::Compute,
    ];
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..3000 {
        let mut site = || {
            let file = ["cases.rs", "other.rs", "empty.rs"][random(3) as usize].to_owned();
            let location = Location { file, line: random(45) as u32, column: random(170) as u32 };
            Site { location: Some(location), action: actions[random(8) as usize] }
        };
        let sites = vec![site(), site(), site()];
        let mut found = write_then_read(None, None);
        found.sites = sites;
        found.parties.push(party(1, 2, 2, 0));
        let style = Style { colour: random(2) == 0, width: random(160) as usize, ..crate::style("sources") };
        let text = text(&report("k", 1, 8, vec![found]), &style);
        assert!(!text.contains("Failed to read"), "{text}");
    }
}
