//! `--explain`.

use super::command::{PROGRAMS, Run, run};

/// Every check of every solution is proved for the shapes of the course.
#[test]
fn no_check_is_left_in_a_solution() {
    for program in PROGRAMS {
        let run = run(&[program, &["--solution", "--explain", "-e", "cpu"]].concat());
        assert_eq!(run.code, 0, "{program:?}");
        assert!(run.stderr.contains(" proved, none left\n"), "{program:?}: {}", run.stderr);
        assert!(!run.stderr.contains("CHECKED"), "{program:?}: {}", run.stderr);
    }
}

#[test]
fn the_listing_has_the_source() {
    let Run { stderr, .. } = run(&["p16", "--tiled", "--solution", "--explain", "-e", "cpu"]);
    assert!(stderr.starts_with("matmul_tiled: 3 x 3 x 1 blocks of 3 x 3 x 1 threads\n"), "{stderr}");
    assert!(stderr.contains("acc += a_shared[[local_row, k]] * b_shared[[k, local_col]];"), "{stderr}");
    assert!(stderr.contains("dimension 1: index 0 to 8 below 9: proved"), "{stderr}");
}
