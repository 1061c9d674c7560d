//! Limits that somebody else set on a device: a lane on it would be measured with them.

use super::mechanism::{limited_in, v1_limits, v1_roots};
use crate::device::DeviceNumber;
use crate::mountinfo::{self, MountEntry};
use std::path::{Path, PathBuf};

/// A limit, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The kernel's file.
    pub(crate) file: PathBuf,
    /// What it says of the device: `1048576`, `wbps=1048576`.
    pub(crate) limit: String,
}

/// What limits a device for this process, or for the kernel's own threads. Nothing where no control group is mounted.
pub(crate) fn on(device: DeviceNumber) -> Vec<Standing> {
    let mounts = mountinfo::read().unwrap_or_default();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found: Vec<Standing> = Vec::new();
    for group in groups_of_v1(&mounts, &own).iter().flat_map(|group| v1_limits(group, device)) {
        if !found.contains(&group) {
            found.push(group);
        }
    }
    for file in groups_of_v2(&mounts, &own).into_iter().map(|group| group.join("io.max")) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let lines = text.lines().filter(|line| limited_in(line).next() == Some(device));
        let words = lines.flat_map(|line| line.split_whitespace().skip(1)).filter(|word| !word.ends_with("=max"));
        let words: Vec<&str> = words.collect();
        if !words.is_empty() {
            found.push(Standing { limit: words.join(" "), file });
        }
    }
    found
}

/// The root group, in which the kernel's threads write, and the process's own: of v1 a group is not limited by those
/// above it.
fn groups_of_v1(mounts: &[MountEntry], own: &str) -> Vec<PathBuf> {
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let controllers = fields.nth(1)?;
        controllers.split(',').any(|name| name == "blkio").then(|| fields.next())?
    });
    let Some(root) = v1_roots(mounts).next() else { return Vec::new() };
    let below = path.and_then(|path| path.strip_prefix('/')).filter(|path| !path.is_empty());
    std::iter::once(root.to_owned()).chain(below.map(|path| root.join(path))).collect()
}

/// The process's own group and those above it.
fn groups_of_v2(mounts: &[MountEntry], own: &str) -> Vec<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let root = mounts.iter().find(|mount| mount.filesystem == "cgroup2").map(|mount| mount.target.as_path());
    let (Some(path), Some(root)) = (path, root) else { return Vec::new() };
    Path::new(path).ancestors().map(|group| root.join(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_counts_and_of_cgroup_v2_all_above_it() {
        let mounts = mountinfo::parse(b"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        let groups = groups_of_v2(&mounts, "7:blkio:/x\n0::/user.slice/a.scope\n");
        let names = ["user.slice/a.scope", "user.slice", ""].map(|path| Path::new("/sys/fs/cgroup").join(path));
        assert_eq!(groups, names);
        assert_eq!(groups_of_v2(&mounts, "7:blkio:/x\n"), Vec::<PathBuf>::new());
        assert_eq!(groups_of_v1(&mounts, "7:blkio:/x\n"), Vec::<PathBuf>::new(), "it is not mounted");
    }
}
