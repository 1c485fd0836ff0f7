//! `TILEWISE_DUMP`: compiled kernels as files.

use std::env;
use std::fs;
use std::process::Command;

use tilewise_ir::Kernel;
use tilewise_layout::row_major;
use tilewise_runtime::*;

use crate::kernels::*;

/// Set in the process that the test starts: an environment belongs to a whole process.
const CHILD: &str = "TILEWISE_TEST_DUMP_CHILD";

#[test]
fn each_compiled_kernel_is_written_once() -> Result<()> {
    if env::var_os(CHILD).is_some() {
        let ctx = DeviceContext::new()?;
        let mut x = ctx.zeros::<i32, 1>(row_major([4]))?;
        for value in 0..3 {
            ctx.enqueue_function(fill(&mut x, value), grid_dim(1), block_dim(4))?;
        }
        ctx.enqueue_function(times_constant(&mut x, 2, 3), grid_dim(1), block_dim(1))?;
        return ctx.synchronize();
    }
    let folder = env::temp_dir().join(format!("tilewise-dumped-{}", std::process::id()));
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "--quiet"])
        .arg("dump::each_compiled_kernel_is_written_once")
        .env(CHILD, "1")
        .env("TILEWISE_DUMP", &folder)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().unwrap(), "ir");
        let kernel: Kernel = fs::read_to_string(path).unwrap().parse().unwrap();
        names.push(kernel.name);
    }
    names.sort();
    assert_eq!(names, ["fill", "times_constant"]);
    fs::remove_dir_all(folder).unwrap();
    Ok(())
}
