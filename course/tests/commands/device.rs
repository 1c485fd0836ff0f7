//! `--device` and the environment: devices that are there, that are not, and that cannot do what is asked.

use super::command::{Run, check, finish, puzzle, run};

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
