//! `--profile`.

use super::command::{Run, finish, puzzle, run};

#[test]
fn what_a_line_asks_of_memory() {
    let Run { code, stderr, .. } = run(&["p16", "--tiled", "--solution", "--profile"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.starts_with("profile of `matmul_tiled`: (3, 3, 1) blocks x (3, 3, 1) threads\n"),
        "{stderr}"
    );
    assert!(stderr.contains("\ncourse/puzzles/p16_matmul/solution.rs\n"), "{stderr}");
    // Three tiles along each row and column: an element is read by three blocks, and a warp has nine threads.
    for part in ["9.0 lanes", "redundancy 2.", "arithmetic intensity ", "limited by"] {
        assert!(stderr.contains(part), "{part}\n{stderr}");
    }
    assert!(stderr.ends_with("\n\np16 --tiled: right\n"), "{stderr}");
    assert!(stderr.lines().all(|line| line.chars().count() <= 100), "{stderr}");
}

#[test]
fn with_the_checker() {
    let Run { code, stderr, .. } = run(&["p12", "--solution", "--profile", "--check"]);
    assert_eq!(code, 0, "{stderr}");
    let at = |part| stderr.find(part).unwrap_or_else(|| panic!("no `{part}` in\n{stderr}"));
    assert!(at("profile of `dot_product`") < at("checked `dot_product`: no races"));
}

#[test]
fn equal_launches_are_shown_once() {
    let Run { stderr, .. } = run(&["p12", "--profile", "--no-check"]);
    assert_eq!(stderr.matches("profile of").count(), 1, "{stderr}");
}

#[test]
fn by_the_environment() {
    let with = |value: &str| {
        finish(puzzle().args(["p12", "--solution"]).env("TILEWISE_PROFILE", value).output().unwrap())
    };
    let Run { code, stderr, .. } = with("1");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("profile of `dot_product`: 1 block x 8 threads\n"), "{stderr}");
    assert_eq!(with("0").stderr, "p12: right\n");
    let Run { code, stderr, .. } = with("yes");
    assert_eq!(code, 2);
    assert!(stderr.contains("TILEWISE_PROFILE is `yes`; set it to 0 or 1"), "{stderr}");
}

#[test]
fn not_with_a_hint() {
    let Run { code, stderr, .. } = run(&["p12", "--hint", "--profile"]);
    assert_eq!(code, 2, "{stderr}");
}
