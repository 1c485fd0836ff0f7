//! Puzzle 12, unsolved and solved.

use super::command::check;

#[test]
fn unsolved() {
    check(
        &["p12"],
        1,
        "out: HostBuffer([0.0])\nexpected: HostBuffer([140.0])\n",
        "p12: not solved: 1 of 1 elements differ, first element 0: 0.0 instead of 140.0\n\
         your kernel is in course/puzzles/p12_dot_product/problem.rs; `cargo puzzle p12 --hint` prints tips\n",
    );
}

#[test]
fn solved() {
    check(
        &["p12", "--solution"],
        0,
        "out: HostBuffer([140.0])\nexpected: HostBuffer([140.0])\n",
        "p12: right\n",
    );
}
