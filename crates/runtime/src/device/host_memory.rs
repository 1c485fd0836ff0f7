//! How much memory the host has left, so that a buffer that cannot be had is an error and not the end of the process.
//!
//! Linux promises memory that it does not have and kills who then uses it. So a large buffer is first compared with
//! what the kernel says is available: of the machine, and of the control group that a container runs in. Where neither
//! is known, nothing is refused here.

use std::fs;

/// Buffers below this are not looked at: reading two files would cost more than the buffer.
const SMALL: u128 = 64 << 20;

/// Whether memory of this size is more than there is.
pub(crate) fn is_too_much(bytes: u128) -> bool {
    bytes >= SMALL && available().is_some_and(|available| bytes > available.into())
}

/// Bytes that are available, if anything is known.
fn available() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| machine_available(&text));
    let group = control_group(
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.current",
        "/sys/fs/cgroup/memory.stat",
    )
    .or_else(|| {
        control_group(
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
            "/sys/fs/cgroup/memory/memory.stat",
        )
    });
    match (machine, group) {
        (Some(machine), Some(group)) => Some(machine.min(group)),
        (machine, group) => machine.or(group),
    }
}

/// What a control group may still use: its limit less its use, where file pages count as free.
fn control_group(limit: &str, used: &str, stat: &str) -> Option<u64> {
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(used)?.trim().parse().ok()?;
    let cached = read(stat).and_then(|text| file_pages(&text)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn machine_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Pages of files in memory that have not been used of late, of a control group's `memory.stat`.
fn file_pages(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("inactive_file "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_what_is_available() {
        let text = "MemTotal:       16384000 kB\nMemFree:         1000 kB\nMemAvailable:    2000 kB\n";
        assert_eq!(machine_available(text), Some(2_048_000));
        assert_eq!(machine_available("MemTotal: 1 kB"), None);
        assert_eq!(file_pages("anon 5\nfile 70\ninactive_file 40\n"), Some(40));
    }

    #[test]
    fn what_no_machine_has_is_too_much() {
        assert!(!is_too_much(1));
        if available().is_some() {
            assert!(is_too_much(1 << 60));
        }
    }
}
