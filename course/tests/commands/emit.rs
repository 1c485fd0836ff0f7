//! `--emit`.

use std::fs;

use super::command::{PROGRAMS, Run, check_usage, puzzle, run};

/// What the code of a kernel has in it, in each language of text.
const TEXTS: [(&str, &str); 5] = [
    ("ir", "kernel @"),
    ("ptx", ".entry "),
    ("wgsl", "@compute @workgroup_size("),
    ("msl", "kernel void "),
    ("hlsl", "[numthreads("),
];

/// Only code is printed, whether the puzzle is solved or not.
#[test]
fn text() {
    for program in PROGRAMS {
        for (language, part) in TEXTS {
            for solution in [&[][..], &["--solution"]] {
                let args = [program, &["--emit", language], solution].concat();
                let Run { code, stdout, stderr } = run(&args);
                assert_eq!((code, stderr.as_str()), (0, ""), "{args:?}");
                assert!(stdout.contains(part), "{args:?}: {stdout}");
                assert!(!stdout.contains("HostBuffer") && !stdout.contains("SIZE:"), "{args:?}: {stdout}");
            }
        }
    }
}

#[test]
fn spirv() {
    let output = puzzle().args(["p12", "--solution", "--emit", "spirv"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout[..4], 0x0723_0203_u32.to_le_bytes(), "the magic number of SPIR-V");

    let Run { code, stdout, stderr } = run(&["p23", "--benchmark", "--solution", "--emit", "spirv"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("use `--out FOLDER`"), "{stderr}");
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("tilewise-course-{}", std::process::id()));
    for program in PROGRAMS {
        for (language, extension) in [("spirv", "spv"), ("msl", "metal")] {
            let _ = fs::remove_dir_all(&folder);
            let out = folder.to_str().unwrap();
            let run = run(&[program, &["--solution", "--emit", language, "--out", out]].concat());
            assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{program:?}");
            let paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert!(!paths.is_empty(), "{program:?}");
            for path in paths {
                assert_eq!(path.extension().unwrap(), extension);
                assert!(fs::metadata(&path).unwrap().len() > 0, "{}", path.display());
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn misuse() {
    check_usage(
        &["p12", "--emit", "asm"],
        "there is no language `asm` to emit; there is ir, ptx, spirv, wgsl, msl, hlsl",
    );
    for args in [
        &["p12", "--emit", "ptx", "--hint"][..],
        &["p12", "--emit", "ptx", "-e", "cpu"],
        &["p12", "--out", "x"],
    ] {
        let Run { code, stdout, stderr } = run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{args:?}: {stderr}");
    }
}
