//! The solutions by Vulkan. On a machine without an adapter they are skipped, and say so.

use super::command::{PROGRAMS, Run, run};

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
