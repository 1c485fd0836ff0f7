//! Reports as JSON have what the documentation says.

use serde_json::{Value, json};
use tilewise_check::render::{FORMAT, json as render};
use tilewise_check::{
    Action, Datum, Finding, Kind, MemorySpace, NotModelled, RacePattern, Report, Severity, Step,
};

use crate::make::{element, f32, finding, group, out_of_bounds, party, report, site};

fn parsed(report: &Report) -> Value {
    let text = render(report);
    assert!(!text.contains('\n'), "one line");
    serde_json::from_str(&text).expect("JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn race() -> Finding {
    let place = tilewise_check::Location { file: "k.rs".to_owned(), line: 3, column: 5 };
    Finding {
        count: 4,
        elements: 4,
        sites: vec![site(Action::Write, Some(place)), site(Action::Read, None)],
        element: element("shared", MemorySpace::Shared, &[-1]),
        parties: vec![party(0, 4, 0, 0), party(0, 0, 1, 0)],
        steps: vec![Step { party: 1, action: Action::Read, value: Datum::Unwritten }],
        ..finding(Kind::Race {
            pattern: RacePattern::WriteRead,
            between_blocks: false,
            harmless: false,
            right: f32(6.0),
            wrong: Datum::Unwritten,
        })
    }
}

#[test]
fn a_race_has_all_its_fields() {
    let value = parsed(&report("dot", 2, 8, vec![race()]));
    assert_eq!(keys(&value), ["block", "clean", "findings", "format", "grid", "kernel", "not_modelled"]);
    assert_eq!(value["format"], FORMAT);
    assert_eq!(value["clean"], false);
    assert_eq!((&value["grid"], &value["block"]), (&json!([2, 1, 1]), &json!([8, 1, 1])));
    let found = &value["findings"][0];
    assert_eq!(
        keys(found),
        [
            "count", "element", "elements", "headline", "help", "kind", "notes", "parties", "severity",
            "sites", "steps"
        ]
    );
    assert_eq!(
        found["kind"],
        json!({
            "kind": "race", "pattern": "write-read", "between_blocks": false, "harmless": false,
            "right": {"value": {"type": "f32", "bits": 1086324736, "text": "6.0"}}, "wrong": "unwritten",
        })
    );
    assert_eq!(
        found["sites"],
        json!([
            {"location": {"file": "k.rs", "line": 3, "column": 5}, "action": "write"},
            {"location": null, "action": "read"},
        ])
    );
    assert_eq!(found["element"], json!({"memory": "shared", "space": "shared", "index": [u64::MAX]}));
    assert_eq!(
        found["parties"][0],
        json!({"block": [0, 0, 0], "thread": [4, 0, 0], "site": 0, "interval": 0})
    );
    assert_eq!(found["steps"], json!([{"party": 1, "action": "read", "value": "unwritten"}]));
    assert_eq!(found["severity"], "error");
    assert!(found["help"].as_str().is_some_and(|help| help.contains("barrier()")));
}

#[test]
fn every_kind_has_the_documented_name() {
    let document = include_str!("../../src/render/json.md");
    let groups = || vec![group(None, 0, 3)];
    let kinds = [
        race().kind,
        Kind::UninitialisedRead,
        out_of_bounds(0, 1, 1),
        Kind::OutsideMemory { offset: 1, len: 1 },
        Kind::Misaligned { align: 16, remainder: 4 },
        Kind::BarrierDivergence { waiting: groups(), ended: Some(group(None, 4, 4)) },
        Kind::NoProgress { cycles: false, spinning: groups(), at_barrier: groups() },
        Kind::StepLimit { rounds: 1, running: groups() },
        Kind::DivisionByZero,
        Kind::RangeStep { step: 0 },
        Kind::IndexOverflow { index: 0 },
        Kind::Assertion { message: "no".to_owned() },
        Kind::RedundantBarrier,
    ];
    for kind in kinds {
        let value = parsed(&report("k", 1, 1, vec![finding(kind)]));
        for (name, field) in value["findings"][0]["kind"].as_object().expect("an object") {
            let word = if name == "kind" { field.as_str().expect("a name") } else { name };
            assert!(document.contains(&format!("`{word}`")), "`{word}` is not documented");
        }
    }
}

#[test]
fn errors_come_first_and_all_are_there() {
    let advice = Finding { severity: Severity::Advice, ..finding(Kind::RedundantBarrier) };
    let mut findings = vec![advice; 20];
    findings.push(race());
    let value = parsed(&report("k", 1, 1, findings));
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(21));
    assert_eq!(value["findings"][0]["severity"], "error");
    assert_eq!(value["findings"][1]["severity"], "advice");
}

#[test]
fn what_was_not_checked_is_not_clean() {
    let clean = report("k", 1, 1, Vec::new());
    assert_eq!(parsed(&clean)["clean"], true);
    let not_modelled = vec![NotModelled { what: "x".to_owned(), location: None }];
    let value = parsed(&Report { not_modelled, ..clean });
    assert_eq!(value["clean"], false);
    assert_eq!(value["not_modelled"], json!([{"what": "x", "location": null}]));
}
