//! Puzzle 16, unsolved and solved.

use super::command::{buffer, check};

const SMALL: [u32; 4] = [4, 6, 12, 22];

fn large() -> impl Iterator<Item = u32> {
    (0..81).map(|i| (0..9).map(|k| (i / 9 * 9 + k) * 2 * (9 * k + i % 9)).sum())
}

#[test]
fn unsolved() {
    for flag in ["--naive", "--single-block"] {
        check(
            &["p16", flag],
            1,
            &format!("out: {}\nexpected: {}\n", buffer([0; 4]), buffer(SMALL)),
            &format!(
                "p16 {flag}: not solved: 4 of 4 elements differ, first element 0: 0.0 instead of 4.0\n\
                 your kernel is in course/puzzles/p16_matmul/problem.rs; `cargo puzzle p16 {flag} --hint` prints tips\n"
            ),
        );
    }
    check(
        &["p16", "--tiled"],
        1,
        &format!("out: {}\nexpected: {}\n", buffer([0; 81]), buffer(large())),
        "p16 --tiled: not solved: 81 of 81 elements differ, first element 0: 0.0 instead of 3672.0\n\
         your kernel is in course/puzzles/p16_matmul/problem.rs; `cargo puzzle p16 --tiled --hint` prints tips\n",
    );
}

#[test]
fn solved() {
    let small = format!("out: {0}\nexpected: {0}\n", buffer(SMALL));
    check(&["p16", "--naive", "--solution"], 0, &small, "p16 --naive: right\n");
    check(&["p16", "--single-block", "--solution"], 0, &small, "p16 --single-block: right\n");
    let large = format!("out: {0}\nexpected: {0}\n", buffer(large()));
    check(&["p16", "--tiled", "--solution"], 0, &large, "p16 --tiled: right\n");
}

#[test]
fn the_expected_product_is_the_tutorials() {
    let all: Vec<u32> = large().collect();
    assert_eq!((all[0], all[1], all[8], all[40], all[80]), (3672, 3744, 4248, 29880, 61272));
    assert_eq!(all.iter().sum::<u32>(), 2_420_280);
}
