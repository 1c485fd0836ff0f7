//! The step `vulkan`: the device for Vulkan is checked, and the conformance tests run on Mesa's software adapter.
//!
//! Where no adapter is found on Debian or Ubuntu, its packages are installed. Where that cannot be done either, the tests
//! are built, and say that they were skipped.

use std::path::Path;
use std::process::Command;

use crate::{cargo, run as command};

/// Mesa's drivers, and the library that finds them.
const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];

/// Where drivers for Vulkan tell that they are there.
const DRIVERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Runs the step.
pub(crate) fn run() -> Result<(), String> {
    let has_driver =
        |folder: &str| Path::new(folder).read_dir().is_ok_and(|mut files| files.next().is_some());
    if !DRIVERS.into_iter().any(has_driver)
        && let Err(why) = install()
    {
        eprintln!("no driver for Vulkan, and {}: {why}; its tests are skipped", PACKAGES.join(", "));
    }
    let features = ["--features", "wgpu"];
    let runtime = ["-p", "tilewise-runtime", "--all-targets", "--quiet"];
    cargo(&[&["clippy"], &runtime[..], &features, &["--", "-D", "warnings"]].concat(), &[])?;
    cargo(&[&["test", "--quiet", "-p", "tilewise-runtime", "--lib"], &features[..]].concat(), &[])?;
    cargo(&[&["test", "--quiet", "-p", "tilewise", "--test", "conformance"], &features[..]].concat(), &[])
}

fn install() -> Result<(), String> {
    command(Command::new("apt-get").args(["install", "--yes", "--quiet"]).args(PACKAGES))
}
