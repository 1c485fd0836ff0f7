//! The kernels and reports of `docs/checker.md`: the guide has both as they are here.

use std::fs;
use std::path::Path;

use tilewise_check::render::text;
use tilewise_check::{Action, Datum, Finding, Kind, MemorySpace, RacePattern, Report, Severity, Step};

use crate::make::{element, f32, finding, group, i32, location, out_of_bounds, party, report, site};

/// The wrong kernels of the guide: the name of the file, and what is found in it.
fn reports() -> Vec<(&'static str, Report)> {
    let (global, shared) = (MemorySpace::Global, MemorySpace::Shared);
    let write = |file, line| site(Action::Write, location(file, line, line));
    let read = |file, line| site(Action::Read, location(file, line, line));
    vec![
        // Products 0, 1, 4, 9, 16, 25, 36, 49: thread 0 adds the 16 of thread 4, which may not be there.
        (
            "dot",
            report(
                "dot_product",
                1,
                8,
                vec![Finding {
                    count: 4,
                    elements: 4,
                    sites: vec![
                        write("src/dot.rs", "shared[local_i] = a"),
                        read("src/dot.rs", "shared[local_i + stride]"),
                    ],
                    element: element("shared", shared, &[4]),
                    parties: vec![party(0, 4, 0, 0), party(0, 0, 1, 0)],
                    steps: vec![
                        Step { party: 1, action: Action::Read, value: Datum::Unwritten },
                        Step { party: 0, action: Action::Write, value: f32(16.0) },
                    ],
                    ..finding(Kind::Race {
                        pattern: RacePattern::WriteRead,
                        between_blocks: false,
                        harmless: false,
                        right: f32(16.0),
                        wrong: Datum::Unwritten,
                    })
                }],
            ),
        ),
        (
            "six",
            report(
                "dot_product",
                1,
                8,
                vec![Finding {
                    count: 2,
                    elements: 2,
                    sites: vec![read("src/six.rs", "shared[local_i + stride]")],
                    element: element("shared", shared, &[6]),
                    parties: vec![party(0, 2, 0, 1)],
                    ..finding(Kind::UninitialisedRead)
                }],
            ),
        ),
        (
            "find",
            report(
                "find",
                1,
                8,
                vec![Finding {
                    elements: 1,
                    sites: vec![write("src/find.rs", "found[0]")],
                    element: element("found", global, &[0]),
                    parties: vec![party(0, 2, 0, 0), party(0, 5, 0, 0)],
                    steps: vec![
                        Step { party: 1, action: Action::Write, value: i32(5) },
                        Step { party: 0, action: Action::Write, value: i32(2) },
                    ],
                    ..finding(Kind::Race {
                        pattern: RacePattern::WriteWrite,
                        between_blocks: false,
                        harmless: false,
                        right: i32(5),
                        wrong: i32(2),
                    })
                }],
            ),
        ),
        (
            "any",
            report(
                "any",
                1,
                8,
                vec![Finding {
                    severity: Severity::Warning,
                    elements: 1,
                    sites: vec![write("src/any.rs", "flag[0]")],
                    element: element("flag", global, &[0]),
                    parties: vec![party(0, 2, 0, 0), party(0, 5, 0, 0)],
                    steps: vec![
                        Step { party: 1, action: Action::Write, value: i32(1) },
                        Step { party: 0, action: Action::Write, value: i32(1) },
                    ],
                    ..finding(Kind::Race {
                        pattern: RacePattern::WriteWrite,
                        between_blocks: false,
                        harmless: true,
                        right: i32(1),
                        wrong: i32(1),
                    })
                }],
            ),
        ),
        (
            "total",
            report(
                "total",
                4,
                1,
                vec![
                    Finding {
                        count: 3,
                        elements: 3,
                        sites: vec![read("src/total.rs", "sums[i]"), write("src/total.rs", "sums[block]")],
                        element: element("sums", global, &[1]),
                        parties: vec![party(0, 0, 0, 1), party(1, 0, 1, 0)],
                        steps: vec![
                            Step { party: 1, action: Action::Write, value: f32(2.0) },
                            Step { party: 0, action: Action::Read, value: f32(2.0) },
                        ],
                        ..finding(Kind::Race {
                            pattern: RacePattern::ReadWrite,
                            between_blocks: true,
                            harmless: false,
                            right: f32(0.0),
                            wrong: f32(2.0),
                        })
                    },
                    Finding {
                        severity: Severity::Advice,
                        count: 4,
                        sites: vec![site(Action::Barrier, location("src/total.rs", "barrier();", "barrier"))],
                        ..finding(Kind::RedundantBarrier)
                    },
                ],
            ),
        ),
        // 4 blocks of 256 threads for 1000 elements.
        (
            "fill",
            report(
                "fill",
                4,
                256,
                vec![Finding {
                    count: 24,
                    sites: vec![write("src/fill.rs", "output[i]")],
                    element: element("output", global, &[1000]),
                    parties: vec![party(3, 232, 0, 0)],
                    ..finding(out_of_bounds(0, 1000, 1000))
                }],
            ),
        ),
        (
            "fill unchecked",
            report(
                "fill",
                4,
                256,
                vec![Finding {
                    count: 24,
                    sites: vec![write("src/fill.rs", "output[i]")],
                    element: element("output", global, &[1000]),
                    parties: vec![party(3, 232, 0, 0)],
                    ..finding(Kind::OutsideMemory { offset: 1000, len: 1000 })
                }],
            ),
        ),
        (
            "smooth",
            report(
                "smooth",
                1,
                8,
                vec![Finding {
                    sites: vec![read("src/smooth.rs", "a[i - 1]")],
                    element: element("a", global, &[-1]),
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(out_of_bounds(0, u64::MAX, 8))
                }],
            ),
        ),
        (
            "ring",
            report(
                "ring",
                1,
                5,
                vec![Finding {
                    severity: Severity::Warning,
                    sites: vec![site(Action::Compute, location("src/ring.rs", "(i - 1)", "("))],
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(Kind::IndexOverflow { index: u64::MAX })
                }],
            ),
        ),
        (
            "double",
            report(
                "double",
                1,
                4,
                vec![Finding {
                    count: 3,
                    sites: vec![site(
                        Action::Read,
                        location("src/double.rs", "aligned_load", "aligned_load"),
                    )],
                    element: element("a", global, &[1]),
                    parties: vec![party(0, 1, 0, 0)],
                    ..finding(Kind::Misaligned { align: 16, remainder: 4 })
                }],
            ),
        ),
        (
            "reverse",
            report(
                "reverse",
                1,
                8,
                vec![Finding {
                    sites: vec![site(Action::Barrier, location("src/reverse.rs", "barrier();", "barrier"))],
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(Kind::BarrierDivergence {
                        waiting: vec![group(location("src/reverse.rs", "barrier();", "barrier"), 0, 5)],
                        ended: Some(group(None, 6, 7)),
                    })
                }],
            ),
        ),
        (
            "signal",
            report(
                "signal",
                1,
                8,
                vec![Finding {
                    sites: vec![
                        site(Action::Loop, location("src/signal.rs", "while", "while")),
                        site(Action::Barrier, location("src/signal.rs", "barrier();", "barrier")),
                    ],
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(Kind::NoProgress {
                        spinning: vec![group(location("src/signal.rs", "while", "while"), 0, 0)],
                        at_barrier: vec![group(location("src/signal.rs", "barrier();", "barrier"), 1, 7)],
                    })
                }],
            ),
        ),
        (
            "halve",
            report(
                "halve",
                1,
                8,
                vec![Finding {
                    sites: vec![site(Action::Loop, location("src/halve.rs", "while", "while"))],
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(Kind::StepLimit {
                        rounds: 1 << 24,
                        running: vec![group(location("src/halve.rs", "while", "while"), 0, 7)],
                    })
                }],
            ),
        ),
        (
            "mean",
            report(
                "mean",
                1,
                4,
                vec![Finding {
                    sites: vec![site(Action::Compute, location("src/mean.rs", "sum[i]", "sum"))],
                    parties: vec![party(0, 2, 0, 0)],
                    ..finding(Kind::DivisionByZero)
                }],
            ),
        ),
        (
            "steps",
            report(
                "steps",
                1,
                1,
                vec![Finding {
                    sites: vec![site(Action::Compute, location("src/steps.rs", "for", "for"))],
                    parties: vec![party(0, 0, 0, 0)],
                    ..finding(Kind::RangeStep { step: 0 })
                }],
            ),
        ),
        (
            "root",
            report(
                "root",
                1,
                8,
                vec![Finding {
                    count: 2,
                    sites: vec![site(Action::Compute, location("src/root.rs", "assert!", "assert"))],
                    parties: vec![party(0, 3, 0, 0)],
                    ..finding(Kind::Assertion { message: "a[3] is -2".to_owned() })
                }],
            ),
        ),
        (
            "own",
            report(
                "own",
                1,
                8,
                vec![Finding {
                    severity: Severity::Advice,
                    sites: vec![site(Action::Barrier, location("src/own.rs", "barrier();", "barrier"))],
                    ..finding(Kind::RedundantBarrier)
                }],
            ),
        ),
        ("clean", report("dot_product", 1, 8, Vec::new())),
    ]
}

/// The guide with a kernel or report below each comment that asks for it: `<!-- kernel dot -->`, `<!-- report dot -->`.
fn fill_in(guide: &str) -> String {
    let reports = reports();
    let style = crate::style("sources/guide");
    let mut out = String::new();
    let mut lines = guide.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(request) = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->")) else { continue };
        let block = match request.split_once(' ') {
            Some(("kernel", name)) => {
                let path = crate::folder().join(format!("sources/guide/src/{name}.rs"));
                format!("```rust\n{}```\n", fs::read_to_string(path).expect("a kernel of the guide"))
            }
            Some(("report", name)) => {
                let (_, report) = reports.iter().find(|(n, _)| *n == name).expect("a report of the guide");
                format!("```text\n{}```\n", text(report, &style))
            }
            _ => continue,
        };
        out.push_str(&block);
        // The block that was there.
        if lines.next().is_some_and(|l| l.starts_with("```")) {
            lines.by_ref().find(|l| *l == "```");
        }
    }
    out
}

#[test]
fn the_guide_shows_these_kernels_and_reports() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checker.md");
    let guide = fs::read_to_string(&path).expect("docs/checker.md");
    crate::expect(&path, &fill_in(&guide));
    for (name, _) in reports() {
        assert!(guide.contains(&format!("<!-- report {name} -->")), "the guide has no report `{name}`");
    }
}
