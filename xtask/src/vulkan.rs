//! The step `vulkan`: the conformance tests run on Mesa's software adapter, as all that the step `test` runs; and the kernels
//! of these tests are written as SPIR-V, WGSL, MSL and HLSL, which naga's validator has to accept, and `spirv-val` the SPIR-V.
//!
//! Where no adapter or no `spirv-val` is found on Debian or Ubuntu, their packages are installed. Where that cannot be done
//! either, the tests are built, and say that they were skipped.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{cargo, kernels, run as command};

/// Mesa's drivers, the library that finds them, and what validates SPIR-V.
const PACKAGES: [&str; 3] = ["mesa-vulkan-drivers", "libvulkan1", "spirv-tools"];

/// The program of `spirv-tools`.
const SPIRV_VAL: &str = "spirv-val";

/// Where drivers for Vulkan tell that they are there.
const DRIVERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Runs the step.
pub(crate) fn run() -> Result<(), String> {
    let has_driver =
        |folder: &str| Path::new(folder).read_dir().is_ok_and(|mut files| files.next().is_some());
    if (!DRIVERS.into_iter().any(has_driver) || !has_spirv_val())
        && let Err(why) = install()
    {
        eprintln!(
            "{} cannot be installed: {why}; tests that need what is missing are skipped",
            PACKAGES.join(", ")
        );
    }
    let folder = kernels::written()?;
    if !has_spirv_val() {
        eprintln!("skipped: {SPIRV_VAL} is not there to look at kernels");
        return Ok(());
    }
    let validate = ["run", "--quiet", "-p", "tilewise-naga", "--features", "write", "--example", "validate"];
    cargo(&[&validate[..], &["--", SPIRV_VAL, folder]].concat(), &[])
}

fn has_spirv_val() -> bool {
    let probe = Command::new(SPIRV_VAL).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

fn install() -> Result<(), String> {
    let install = || command(Command::new("apt-get").args(["install", "--yes", "--quiet"]).args(PACKAGES));
    // A new machine has no lists of packages yet.
    install()
        .or_else(|_| command(Command::new("apt-get").args(["update", "--quiet"])).and_then(|()| install()))
}
