//! What `TILEWISE_CHECK=1` makes of a program that knows nothing of checking.

use std::env;
use std::process::Command;

use tilewise::prelude::*;

#[kernel]
fn ring(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, n: usize) {
    let i = thread_idx().x;
    output[i] = a[(i - 1) % n];
}

/// The program: its result is wrong, and nothing in it goes wrong.
fn program() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.tensor_from_slice(row_major([5]), &[0.0f32, 1.0, 2.0, 3.0, 4.0])?;
    let mut output = ctx.zeros(row_major([5]))?;
    ctx.enqueue_function(ring(&mut output, &a, 5), grid_dim(1), block_dim(5))?;
    output.to_host()?;
    Ok(())
}

/// The test runs itself again, with the variable.
#[test]
fn warnings_are_printed() {
    if env::var_os("TILEWISE_CHECK").is_some() {
        return program().unwrap();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "variable::warnings_are_printed", "--nocapture"])
        .env("TILEWISE_CHECK", "1")
        .env_remove("TILEWISE_DEVICE")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("warning: ") && stderr.contains("a[(i - 1) % n]"), "{stderr}");
    assert!(stderr.contains("checked `ring`: 1 warning in 1 block x 5 threads"), "{stderr}");
}
