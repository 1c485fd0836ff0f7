//! Puzzle 23, unsolved and solved, and its benchmark.

use super::command::{Run, check, run};

const ZEROS: &str = "out: HostBuffer([0.0, 0.0, 0.0, ..., 0.0, 0.0, 0.0])\n";
const SUMS: &str = "out: HostBuffer([1.0, 5.0, 9.0, ..., 4085.0, 4089.0, 4093.0])\n";
const EXPECTED: &str = "expected: HostBuffer([1.0, 5.0, 9.0, ..., 4085.0, 4089.0, 4093.0])\n";
const WHY: &str = "not solved: 1024 of 1024 elements differ, first element 0: 0.0 instead of 1.0";

/// What is printed before the kernel runs.
fn head(flag: &str) -> String {
    let tile = if flag == "--elementwise" { "" } else { "tile size: 32\n" };
    format!("SIZE: 1024\nsimd_width: 4\n{tile}")
}

/// What is said of a file that is not solved.
fn next(flag: &str) -> String {
    format!(
        "your kernel is in course/puzzles/p23_functional/problem.rs; `cargo puzzle p23 {flag} --hint` prints tips\n"
    )
}

fn check_unsolved(flag: &str, printed: &str) {
    let stdout = format!("{}{printed}{ZEROS}{EXPECTED}", head(flag));
    check(&["p23", flag], 1, &stdout, &format!("p23 {flag}: {WHY}\n{}", next(flag)));
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
        format!(
            "p23 --benchmark: not solved: elementwise with 16 elements: \
             16 of 16 elements differ, first element 0: 0.0 instead of 1.0\n{}",
            next("--benchmark")
        ),
    );
    let table = table(&stdout);
    assert_eq!(table.len(), 12);
    for (cells, expected) in table.iter().zip(rows()) {
        assert_eq!(cells[..3], expected);
        assert_eq!(cells[3..], ["wrong", "wrong", "0"]);
    }
}
