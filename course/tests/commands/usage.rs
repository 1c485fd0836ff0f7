//! The list, the help, the hints, and mistakes in the arguments.

use super::command::{Run, check_usage, puzzle, run};

#[test]
fn alone_it_lists_what_there_is() {
    let list = run(&[]);
    assert_eq!((list.code, list.stderr.as_str()), (0, ""));
    for text in [
        "  p12  Dot product\n       course/puzzles/p12_dot_product/problem.rs\n",
        "  p16  Matrix multiplication\n       course/puzzles/p16_matmul/problem.rs\n",
        "       --single-block       2 by 2:",
        "  p23  Functional patterns\n       course/puzzles/p23_functional/problem.rs\n",
        "       --manual-vectorized  a thread adds",
        "cargo puzzle p12 --hint ",
    ] {
        assert!(list.stdout.contains(text), "{text:?} is missing:\n{}", list.stdout);
    }
}

#[test]
fn help() {
    let help = run(&["p16", "--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for text in ["Usage: cargo puzzle p16 VARIANT", "--single-block", "--solution", "--hint", "-e, --device"]
    {
        assert!(help.stdout.contains(text), "{text:?} is missing:\n{}", help.stdout);
    }
    assert!(!help.stdout.contains("--vectorized"));
    assert!(run(&["--help"]).stdout.contains("p23  Functional patterns"));
}

#[test]
fn hints() {
    let hint = run(&["p12", "--hint"]);
    assert_eq!((hint.code, hint.stderr.as_str()), (0, ""));
    assert!(hint.stdout.starts_with("1. Allocate TPB elements in shared memory"));

    let tiled = run(&["p16", "--tiled", "--hint"]);
    assert_eq!(tiled.code, 0);
    let all = run(&["p16", "--hint"]);
    assert_eq!(all.code, 0);
    for flag in ["naive", "single-block", "tiled"] {
        assert!(all.stdout.contains(&format!("p16 --{flag}\n\n1. ")), "{}", all.stdout);
    }
    assert!(all.stdout.ends_with(&tiled.stdout));
}

#[test]
fn a_puzzle_by_its_number() {
    for (short, name) in [("12", "p12"), ("P12", "p12"), ("16", "p16")] {
        let (by_number, by_name) = (run(&[short, "--hint"]), run(&[name, "--hint"]));
        assert_eq!((by_number.code, &by_number.stdout), (0, &by_name.stdout));
    }
    check_usage(&["--tiled", "16"], "`--tiled` goes after the puzzle: `cargo puzzle p16 --tiled`");
}

#[test]
fn unknown_puzzle() {
    check_usage(&["p99"], "there is no puzzle `p99`; the puzzles are p12, p16, p23");
    check_usage(&["--naive"], "there is no argument `--naive`; the puzzles are p12, p16, p23");
}

#[test]
fn flag_of_no_or_another_puzzle() {
    check_usage(
        &["p16", "--vectorized"],
        "p16 has no argument `--vectorized`; its variants are --naive, --single-block, --tiled \
         (`cargo puzzle p16 --help` lists all flags)",
    );
    check_usage(
        &["p12", "--tiled"],
        "p12 has no argument `--tiled`; it has no variants (`cargo puzzle p12 --help` lists all flags)",
    );
    check_usage(
        &["p12", "--size=9"],
        "p12 has no argument `--size`; it has no variants (`cargo puzzle p12 --help` lists all flags)",
    );
    check_usage(
        &["p23", "p12"],
        "p23 has no argument `p12`; its variants are --elementwise, --tiled, --manual-vectorized, \
         --vectorized, --benchmark (`cargo puzzle p23 --help` lists all flags)",
    );
}

#[test]
fn flag_before_the_puzzle() {
    check_usage(&["--naive", "p16"], "`--naive` goes after the puzzle: `cargo puzzle p16 --naive`");
}

#[test]
fn not_one_variant() {
    check_usage(&["p16"], "p16 has variants, choose one: --naive, --single-block, --tiled");
    check_usage(&["p16", "--solution"], "p16 has variants, choose one: --naive, --single-block, --tiled");
    check_usage(&["p16", "--tiled", "--naive"], "--naive and --tiled are two variants of p16, choose one");
}

#[test]
fn other_misuse_is_one_line_too() {
    for args in [
        &["p12", "--hint", "--solution"][..],
        &["p12", "-e"],
        &["p12", "--solution", "--solution"],
        &["p12", "--solution=yes"],
    ] {
        let Run { code, stdout, stderr } = run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{args:?}: {stderr}");
        assert!(stderr.ends_with("; see `cargo puzzle --help`\n"), "{args:?}: {stderr}");
    }
}

/// As by `| head`: what is printed goes nowhere, and no panic is told of.
#[test]
fn output_that_nobody_reads_ends_the_command() {
    for args in [&["p23", "--tiled"][..], &["p12", "--solution"], &[]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = puzzle().args(args).stdout(writer).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(1), ""), "{args:?}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let code = puzzle().args(args).stderr(writer).output().unwrap().status.code();
        assert!(code.is_some_and(|code| code < 2), "{args:?}: {code:?}");
    }
}
