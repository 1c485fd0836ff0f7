//! Drives the real command and compares all that it prints.
//!
//! What is checked of the learner's files is how they are shipped: not solved.

use std::process::{Command, Output};

/// What a run of the command gave.
#[derive(Debug, PartialEq)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// The command, away from the environment of whoever runs the tests.
fn puzzle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_puzzle"));
    command.env_remove("TILEWISE_DEVICE").env_remove("TILEWISE_OPT");
    command
}

fn run(args: &[&str]) -> Run {
    finish(puzzle().args(args).output().unwrap())
}

fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn check(args: &[&str], code: i32, stdout: &str, stderr: &str) {
    let expected = Run { code, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
    assert_eq!(run(args), expected, "puzzle {args:?}");
}

/// The one line, and exit code 2, that a mistake in the arguments gets.
#[track_caller]
fn check_usage(args: &[&str], message: &str) {
    check(args, 2, "", &format!("error: {message}\n"));
}

/// `HostBuffer([...])` of numbers.
fn buffer(values: impl IntoIterator<Item = u32>) -> String {
    let values: Vec<_> = values.into_iter().map(|x| format!("{x}.0")).collect();
    format!("HostBuffer([{}])", values.join(", "))
}

mod p12 {
    use super::*;

    #[test]
    fn unsolved() {
        check(
            &["p12"],
            1,
            "out: HostBuffer([0.0])\nexpected: HostBuffer([140.0])\n",
            "p12: not solved: 1 of 1 elements differ, first element 0: 0.0 instead of 140.0\n",
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
}

mod p16 {
    use super::*;

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
                    "p16 {flag}: not solved: 4 of 4 elements differ, first element 0: 0.0 instead of 4.0\n"
                ),
            );
        }
        check(
            &["p16", "--tiled"],
            1,
            &format!("out: {}\nexpected: {}\n", buffer([0; 81]), buffer(large())),
            "p16 --tiled: not solved: 81 of 81 elements differ, first element 0: 0.0 instead of 3672.0\n",
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
}

mod p23 {
    use super::*;

    const ZEROS: &str = "out: HostBuffer([0.0, 0.0, 0.0, ..., 0.0, 0.0, 0.0])\n";
    const SUMS: &str = "out: HostBuffer([1.0, 5.0, 9.0, ..., 4085.0, 4089.0, 4093.0])\n";
    const EXPECTED: &str = "expected: HostBuffer([1.0, 5.0, 9.0, ..., 4085.0, 4089.0, 4093.0])\n";
    const WHY: &str = "not solved: 1024 of 1024 elements differ, first element 0: 0.0 instead of 1.0";

    /// What is printed before the kernel runs.
    fn head(flag: &str) -> String {
        let tile = if flag == "--elementwise" { "" } else { "tile size: 32\n" };
        format!("SIZE: 1024\nsimd_width: 4\n{tile}")
    }

    fn check_unsolved(flag: &str, printed: &str) {
        let stdout = format!("{}{printed}{ZEROS}{EXPECTED}", head(flag));
        check(&["p23", flag], 1, &stdout, &format!("p23 {flag}: {WHY}\n"));
    }

    #[test]
    fn unsolved() {
        let ids = |n: u32| (0..n).map(|id| format!("tile_id: {id}\n")).collect::<String>();
        check_unsolved("--elementwise", "");
        check_unsolved("--tiled", &ids(32));
        check_unsolved("--manual-vectorized", &ids(8));
        let tiles = (0..32).map(|id| {
            let (start, end) = (32 * id, 32 * id + 32);
            format!("tile_id: {id} tile_start: {start} tile_end: {end} actual_tile_size: 32\n")
        });
        check_unsolved("--vectorized", &tiles.collect::<String>());
    }

    #[test]
    fn solved() {
        for flag in ["--elementwise", "--tiled", "--manual-vectorized", "--vectorized"] {
            let stdout = format!("{}{SUMS}{EXPECTED}", head(flag));
            check(&["p23", flag, "--solution"], 0, &stdout, &format!("p23 {flag}: right\n"));
        }
    }

    const PATTERNS: [&str; 4] = ["elementwise", "tiled", "manual_vectorized", "vectorized"];

    /// The cells of the benchmark's table, without its head.
    fn table(stdout: &str) -> Vec<Vec<String>> {
        let mut lines = stdout.lines();
        assert_eq!(lines.next(), Some("simd_width: 4"));
        let head = lines.next().unwrap();
        assert_eq!(head, "| pattern           |    size | tile |   min ms | median ms | iterations |");
        assert_eq!(lines.next().unwrap().len(), head.len());
        let cells = |line: &str| -> Vec<String> {
            assert_eq!(line.len(), head.len(), "{line}");
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        lines.map(cells).collect()
    }

    /// The first three cells of each row.
    fn rows() -> impl Iterator<Item = [String; 3]> {
        [(16, 4), (128, 16), (1 << 20, 1024)].into_iter().flat_map(|(size, tile): (u32, u32)| {
            PATTERNS.map(|pattern| [pattern.to_owned(), size.to_string(), tile.to_string()])
        })
    }

    #[test]
    fn benchmark_of_the_solution() {
        let Run { code, stdout, stderr } = run(&["p23", "--benchmark", "--solution"]);
        assert_eq!((code, stderr.as_str()), (0, "p23 --benchmark: right\n"));
        let table = table(&stdout);
        assert_eq!(table.len(), 12);
        for (cells, expected) in table.iter().zip(rows()) {
            assert_eq!(cells[..3], expected);
            let (min, median): (f64, f64) = (cells[3].parse().unwrap(), cells[4].parse().unwrap());
            assert!(0.0 < min && min <= median, "{cells:?}");
            assert!((1..=10).contains(&cells[5].parse::<u32>().unwrap()), "{cells:?}");
        }
    }

    #[test]
    fn benchmark_of_what_is_not_solved() {
        let Run { code, stdout, stderr } = run(&["p23", "--benchmark"]);
        assert_eq!(code, 1);
        assert_eq!(
            stderr,
            "p23 --benchmark: not solved: elementwise with 16 elements: \
             16 of 16 elements differ, first element 0: 0.0 instead of 1.0\n",
        );
        let table = table(&stdout);
        assert_eq!(table.len(), 12);
        for (cells, expected) in table.iter().zip(rows()) {
            assert_eq!(cells[..3], expected);
            assert_eq!(cells[3..], ["wrong", "wrong", "0"]);
        }
    }
}

mod usage {
    use super::*;

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
        for text in
            ["Usage: cargo puzzle p16 VARIANT", "--single-block", "--solution", "--hint", "-e, --device"]
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
        check_usage(
            &["p16", "--tiled", "--naive"],
            "--naive and --tiled are two variants of p16, choose one",
        );
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
}

mod device {
    use super::*;

    const RIGHT: &str = "out: HostBuffer([140.0])\nexpected: HostBuffer([140.0])\n";

    #[test]
    fn cpu() {
        for args in [
            ["p12", "--solution", "-e", "cpu"],
            ["-e", "cpu", "p12", "--solution"],
            ["p12", "--device", "CPU", "--solution"],
        ] {
            check(&args, 0, RIGHT, "p12: right\n");
        }
    }

    #[test]
    fn unknown() {
        let Run { code, stdout, stderr } = run(&["p12", "-e", "abacus"]);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(stderr.starts_with("error: there is no device `abacus`"), "{stderr}");
        assert!(stderr.contains("`cpu`") && stderr.lines().count() == 1, "{stderr}");
    }

    /// On the command line it counts before the environment's.
    #[test]
    fn environment() {
        let solution = || {
            let mut command = puzzle();
            command.args(["p12", "--solution"]).env("TILEWISE_DEVICE", "abacus");
            command
        };
        let environment = finish(solution().output().unwrap());
        assert_eq!(environment.code, 2);
        assert!(environment.stderr.starts_with("error: there is no device `abacus`"), "{environment:?}");
        let both = finish(solution().args(["-e", "cpu"]).output().unwrap());
        assert_eq!((both.code, both.stdout.as_str()), (0, RIGHT));
    }

    /// A GPU that this machine, or this build, has not.
    #[test]
    fn a_gpu_is_there_or_refused_in_one_line() {
        for device in ["nvidia", "amd", "apple"] {
            let run = run(&["p12", "--solution", "-e", device]);
            match run.code {
                0 => assert_eq!(run.stdout, RIGHT),
                code => {
                    assert_eq!((code, run.stdout.as_str()), (2, ""), "{device}");
                    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(device), "{run:?}");
                    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
                }
            }
        }
    }
}

mod explain {
    use super::*;

    /// Every check of every solution is proved for the shapes of the course.
    #[test]
    fn no_check_is_left_in_a_solution() {
        let solutions: [&[&str]; 9] = [
            &["p12"],
            &["p16", "--naive"],
            &["p16", "--single-block"],
            &["p16", "--tiled"],
            &["p23", "--elementwise"],
            &["p23", "--tiled"],
            &["p23", "--manual-vectorized"],
            &["p23", "--vectorized"],
            &["p23", "--benchmark"],
        ];
        for puzzle in solutions {
            let run = run(&[puzzle, &["--solution", "--explain", "-e", "cpu"]].concat());
            assert_eq!(run.code, 0, "{puzzle:?}");
            assert!(run.stderr.contains(" proved, none left\n"), "{puzzle:?}: {}", run.stderr);
            assert!(!run.stderr.contains("CHECKED"), "{puzzle:?}: {}", run.stderr);
        }
    }

    #[test]
    fn the_listing_has_the_source() {
        let run = run(&["p16", "--tiled", "--solution", "--explain"]);
        assert!(
            run.stderr.starts_with("matmul_tiled: 3 x 3 x 1 blocks of 3 x 3 x 1 threads\n"),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains("acc += a_shared[[local_row, k]] * b_shared[[k, local_col]];"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("dimension 1: index 0 to 8 below 9: proved"), "{}", run.stderr);
    }
}
