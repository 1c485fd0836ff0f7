//! What happens where no device is named and no GPU can be used.

use std::process::Command;

use super::command::{Run, finish, puzzle};

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
