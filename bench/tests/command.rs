//! The command on the CPU device, at small sizes: everything runs, is right, and is reported.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs};

/// Runs the command at small sizes.
fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilewise-bench"))
        .args(["-e", "cpu", "--quick", "--size", "1152", "--matrix", "128", "--repeats", "2"])
        .args(["--dot-blocks", "1"])
        .args(args)
        .output()
        .expect("the command starts")
}

/// A file for one test, in the folder for temporary files.
fn temporary(name: &str) -> PathBuf {
    env::temp_dir().join(format!("tilewise-bench-test-{}-{name}", std::process::id()))
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_benchmark_runs_and_is_written_as_json() {
    let json = temporary("all.jsonl");
    let text = stdout(&bench(&["--no-peers", "--json", &json.to_string_lossy()]));
    let lines = fs::read_to_string(&json).expect("the results");
    fs::remove_file(&json).expect("it is there");
    let mut names = Vec::new();
    for line in lines.lines() {
        let record: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert!(record["seconds_median"].as_f64().is_some_and(|s| s > 0.0), "{line}");
        assert_eq!(record["device"], "cpu", "{line}");
        let [benchmark, by, name] =
            ["benchmark", "by", "name"].map(|key| record[key].as_str().unwrap_or("?"));
        names.push(format!("{benchmark}: {by}/{name}"));
        assert!(text.contains(&format!("{by}/{name}")), "{text}");
    }
    for expected in [
        "copy: tilewise/copy",
        "dot: tilewise/tree",
        "dot: tilewise unchecked/vectors",
        "add: tilewise/elementwise",
        "add: tilewise/tiled",
        "add: tilewise/manual_vectorized",
        "add: tilewise/vectorized",
        "matmul: tilewise/tiled",
        "matmul: tilewise unchecked/registers",
        "indirect: tilewise/gather",
        "indirect: tilewise unchecked/histogram",
        "indirect: tilewise unchecked/sparse rows",
        "launch: tilewise/enqueue",
        "first-launch: tilewise/cold",
        "first-launch: tilewise/disk cache",
    ] {
        assert!(names.iter().any(|name| name == expected), "{expected} is not among {names:#?}");
    }
}

#[cfg(unix)]
#[test]
fn peers_are_run_at_the_same_sizes_and_compared_with() {
    use std::os::unix::fs::PermissionsExt;
    let program = temporary("peers.sh");
    let script = r#"#!/bin/sh
[ "$1" = copy ] && exit 0
if [ "$1" = indirect ]; then
    echo '{"benchmark":"indirect","by":"cuda","name":"sparse rows","seconds_median":1000,"seconds_min":1000}'
    exit 0
fi
[ "$*" = "dot --size 1152 --matrix 128 --repeats 2 --batch 100 --dot-blocks 1" ] || exit 7
echo '{"benchmark":"dot","by":"cub","name":"sum","seconds_median":1000,"seconds_min":1000}'
"#;
    fs::write(&program, script).expect("a writable folder");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("our own file");
    let output = bench(&["dot", "--peers", &program.to_string_lossy()]);
    let indirect = bench(&["indirect", "--peers", &program.to_string_lossy()]);
    let matmul = bench(&["matmul", "--peers", &program.to_string_lossy()]);
    fs::remove_file(&program).expect("it is there");
    let text = stdout(&output);
    assert!(text.contains("of cub/sum, aim 0.98: met") && text.contains("cub/sum  "), "{text}");
    assert_eq!(stdout(&indirect).matches(" of cuda/sparse rows").count(), 2, "with checks and without");
    assert_eq!(matmul.status.code(), Some(1));
    let error = String::from_utf8_lossy(&matmul.stderr);
    assert!(error.contains("failed (exit status: 7)"), "{error}");
    // The peers' failure does not keep ours from being measured.
    assert!(String::from_utf8_lossy(&matmul.stdout).contains("tilewise/registers"));
}

#[test]
fn code_without_checks_is_written_where_it_is_another() {
    let folder = temporary("ptx");
    stdout(&bench(&["dot", "indirect", "--no-peers", "--ptx", &folder.to_string_lossy()]));
    for (file, is_there) in [
        ("dot-tree.ptx", true),
        ("unchecked/dot-tree.ptx", false),
        ("indirect-gather.ptx", true),
        ("unchecked/indirect-gather.ptx", true),
    ] {
        assert_eq!(folder.join(file).is_file(), is_there, "{file}");
    }
    fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn a_size_that_is_refused_is_told_in_a_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_tilewise-bench"))
        .args(["-e", "cpu", "--matrix", "100"])
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: --matrix is 100; it has to be a multiple of 128, and more than 0\n");
}

#[test]
fn a_name_that_is_no_benchmark_is_told_with_those_that_are() {
    for args in [&["dots"][..], &["--passes", "dots"]] {
        let output = bench(args);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("invalid value 'dots'"), "{error}");
        assert!(
            error.contains("[possible values: copy, dot, add, matmul, indirect, launch, first-launch]"),
            "{error}"
        );
    }
}

#[test]
fn passes_are_measured_with_the_benchmarks_that_are_named() {
    let output = bench(&["--passes", "dot"]);
    let text = stdout(&output);
    for table in ["time, 1 is with all passes", "instructions of PTX"] {
        let (_, rows) = text.split_once(table).expect("the table");
        let (heads, rows) = rows.split_once('\n').expect("rows");
        assert!(heads.contains("all") && heads.contains("-cse") && heads.contains("none"), "{text}");
        let names = rows.lines().take_while(|row| !row.is_empty()).filter_map(|row| row.split(' ').next());
        let names: Vec<&str> = names.filter(|name| *name != "copy-copy").collect();
        assert_eq!(names, ["dot-tree", "dot-vectors"], "{text}");
    }
    let progress = String::from_utf8_lossy(&output.stderr);
    assert!(progress.contains(": times with TILEWISE_OPT=1, round 1 of 1\n"), "{progress}");
    assert!(progress.contains(" left\n"), "{progress}");
}
