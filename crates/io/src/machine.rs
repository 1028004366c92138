//! How much memory there is.

use std::fs;
use std::path::Path;

use bethe_core::MemoryLimit;

/// What a machine is assumed to have if nothing says how much.
const ASSUMED: u64 = 4 << 30;

/// Half of the memory of the machine, or of the container if that has less.
///
/// Linux says both: `/proc/meminfo`, and the limits of control groups of either version. Elsewhere
/// it is 2 GiB.
pub fn half_of_memory() -> MemoryLimit {
    MemoryLimit::of(memory_below(Path::new("/")).unwrap_or(ASSUMED) / 2)
}

/// The memory that the files below a root report.
fn memory_below(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok();
    let machine = machine.as_deref().and_then(total_memory);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| {
        // `number:controllers:path`; version 2 has no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        match controllers {
            "" => lowest_limit(&root.join("sys/fs/cgroup"), path, "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                lowest_limit(&root.join("sys/fs/cgroup/memory"), path, "memory.limit_in_bytes")
            }
            _ => None,
        }
    });
    machine.into_iter().chain(limits).min()
}

/// The line `MemTotal: 1234 kB`.
fn total_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The lowest limit of a group and those around it. Inside a container the group's path may not be
/// there, but its root is the container's.
fn lowest_limit(mount: &Path, path: &str, file: &str) -> Option<u64> {
    let group = mount.join(path.trim_start_matches('/'));
    let around = group.ancestors().take_while(|folder| folder.starts_with(mount));
    // `max` is not a number: there is no limit.
    let limit = |folder: &Path| -> Option<u64> {
        fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    around.filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory that these files report.
    fn memory(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        memory_below(root.path())
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:     8192 kB\n");

    #[test]
    fn the_machine_says_how_much_there_is() {
        assert_eq!(memory(&[]), None);
        assert_eq!(memory(&[("proc/meminfo", "nonsense")]), None);
        assert_eq!(memory(&[MACHINE]), Some(8 << 20));
        assert!(half_of_memory() > MemoryLimit::of(0));
    }

    #[test]
    fn groups_of_either_version_lower_it() {
        let group = ("proc/self/cgroup", "0::/a/b\n");
        let none = ("sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(memory(&[MACHINE, group, none]), Some(8 << 20));
        let outer = ("sys/fs/cgroup/a/memory.max", "4096\n");
        assert_eq!(memory(&[MACHINE, group, none, outer]), Some(4096));
        let group = ("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/12\n");
        let own = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2048\n");
        assert_eq!(memory(&[MACHINE, group, own]), Some(2048));
        // Without a limit, version 1 says a number beyond all memory.
        let none = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(memory(&[MACHINE, group, none]), Some(8 << 20));
    }
}
