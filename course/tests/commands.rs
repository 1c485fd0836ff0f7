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
    // Where there is no GPU, the command says so unless the CPU is asked for.
    // Mesa's drivers complain about its absence.
    command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    command.env("TILEWISE_DEVICE", "cpu").env_remove("TILEWISE_OPT").env_remove("TILEWISE_ADAPTER");
    command.env_remove("TILEWISE_CHECK").env_remove("TILEWISE_PROFILE");
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

/// What is wrong with an environment variable is told before anything runs.
#[test]
fn passes_that_there_are_not() {
    let opt =
        |value| finish(puzzle().args(["p12", "--solution"]).env("TILEWISE_OPT", value).output().unwrap());
    let Run { code, stdout, stderr } = opt("-unknown");
    assert_eq!((code, stdout.as_str()), (2, ""));
    for part in
        ["TILEWISE_OPT is `-unknown`: there is no pass `unknown`; ", " simplify, control, ", ", licm, "]
    {
        assert!(stderr.contains(part) && stderr.lines().count() == 1, "{stderr}");
    }
    assert_eq!(opt("-licm").code, 0);
}

/// Every puzzle with each of its variants.
const PROGRAMS: [&[&str]; 9] = [
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

#[cfg(feature = "inspect")]
mod emit {
    use std::fs;

    use super::*;

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
                    assert!(
                        !stdout.contains("HostBuffer") && !stdout.contains("SIZE:"),
                        "{args:?}: {stdout}"
                    );
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
                let paths: Vec<_> =
                    fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
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
}

/// What only the CPU can do is refused of other devices, before anything runs and whether they are there or not.
#[test]
fn what_only_the_cpu_can_do() {
    let refusal = |device| Run {
        code: 2,
        stdout: String::new(),
        stderr: format!(
            "error: device `{device}` can neither check nor profile launches: do that on device `cpu`\n"
        ),
    };
    for device in ["nvidia", "amd", "apple", "vulkan:1"] {
        for flags in [&["--check"][..], &["--profile"], &["--check", "--profile"]] {
            assert_eq!(run(&[&["p12", "-e", device], flags].concat()), refusal(device), "{flags:?}");
            let mut command = puzzle();
            command.env("TILEWISE_DEVICE", device).arg("p12").args(flags);
            assert_eq!(finish(command.output().unwrap()), refusal(device), "{flags:?}");
        }
    }
    let unknown = run(&["p12", "-e", "abacus", "--check"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("there is no device `abacus`"), "{unknown:?}");
}

/// On a machine without an adapter for Vulkan these are skipped, and say so.
#[cfg(feature = "wgpu")]
mod vulkan {
    use super::*;

    #[test]
    fn every_solution_is_right() {
        for program in PROGRAMS {
            // Its kernels for tiles of 1024 elements are long, and Mesa's software adapter compiles each for minutes.
            if program.contains(&"--benchmark") {
                continue;
            }
            let args = [program, &["--solution", "-e", "vulkan"]].concat();
            let Run { code, stderr, .. } = run(&args);
            if code == 2 {
                println!("skipped: {stderr}");
                return;
            }
            assert_eq!((code, stderr.trim_end()), (0, &*format!("{}: right", program.join(" "))), "{args:?}");
        }
    }
}

/// What happens where no device is named and no GPU can be used.
mod fallback {
    use super::*;

    /// The command where the CUDA driver hides all GPUs.
    fn without_nvidia() -> Command {
        let mut command = puzzle();
        command.args(["p12", "--solution"]).env_remove("TILEWISE_DEVICE").env("CUDA_VISIBLE_DEVICES", "");
        command
    }

    /// The result is right, and one line says that it is the CPU's.
    #[track_caller]
    fn check_falls_back(command: &mut Command, why: &str) {
        let Run { code, stdout, stderr } = finish(command.output().unwrap());
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(stdout, "out: HostBuffer([140.0])\nexpected: HostBuffer([140.0])\n");
        let lines: Vec<&str> = stderr.lines().collect();
        let [said, "p12: right"] = lines[..] else { panic!("{stderr}") };
        assert!(said.starts_with("tilewise: no GPU, so kernels run on the CPU: "), "{said}");
        assert!(said.contains(why), "{said}");
    }

    #[cfg(not(feature = "wgpu"))]
    #[test]
    fn without_a_gpu() {
        check_falls_back(&mut without_nvidia(), "NVIDIA");
    }

    #[cfg(all(feature = "wgpu", target_os = "linux"))]
    mod wgpu {
        use std::fs;
        use std::path::PathBuf;

        use super::*;

        /// A folder with one file, a library or the description of a driver.
        fn folder_with(name: &str, content: &str) -> PathBuf {
            let folder = std::env::temp_dir().join(format!("tilewise-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(name), content).unwrap();
            folder
        }

        /// The command with these drivers for Vulkan alone.
        fn with_drivers(files: &str) -> Command {
            let mut command = without_nvidia();
            command.env("VK_ICD_FILENAMES", files).env("VK_DRIVER_FILES", files);
            command
        }

        #[test]
        fn no_driver() {
            check_falls_back(&mut with_drivers("/nonexistent.json"), "Vulkan");
        }

        #[test]
        fn broken_driver() {
            let content = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "./libnot.so", "api_version": "1.3.0"}}"#;
            let folder = folder_with("broken.json", content);
            fs::write(folder.join("libnot.so"), "this is no library").unwrap();
            check_falls_back(&mut with_drivers(folder.join("broken.json").to_str().unwrap()), "Vulkan");
            fs::remove_dir_all(folder).unwrap();
        }

        #[test]
        fn no_loader() {
            let folder = folder_with("libvulkan.so.1", "this is no library");
            check_falls_back(without_nvidia().env("LD_LIBRARY_PATH", &folder), "Vulkan");
            fs::remove_dir_all(folder).unwrap();
        }

        #[test]
        fn software_only() {
            let software = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json";
            if !fs::exists(software).unwrap() {
                println!("skipped: Mesa's software adapter is not there");
                return;
            }
            check_falls_back(&mut with_drivers(software), "a software adapter");
        }

        #[test]
        fn an_adapter_that_is_not_there() {
            let mut command = with_drivers("/nonexistent.json");
            let Run { code, stderr, .. } = finish(command.args(["-e", "vulkan"]).output().unwrap());
            assert_eq!(code, 2, "{stderr}");
            assert!(stderr.contains("device `vulkan`") && stderr.contains("`cpu`"), "{stderr}");
        }
    }
}

mod profile {
    use super::*;

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
}

mod explain {
    use super::*;

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
}
