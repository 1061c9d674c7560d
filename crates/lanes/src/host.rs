//! What carries a path: its filesystem, its disk, its room.

use crate::disk;
use crate::failure::{LaneFailure, cannot};
use crate::filesystems;
use crate::mountinfo;
use model::machine::Device;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whether this process has the machine's or a container's root's rights. Whoever is root by `unshare -r`, in a user
/// namespace of one user, has that user's rights and no more.
pub fn is_root() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    rustix::process::geteuid().is_root() && !has_one_user(&map)
}

/// Where what nobody keeps is put. Root takes no word of the environment for it: whoever may write the folder above could
/// put another one in its place.
pub(crate) fn temporary_folder() -> PathBuf {
    match is_root() {
        true => PathBuf::from(if Path::new("/run").is_dir() { "/run" } else { "/tmp" }),
        false => std::env::temp_dir(),
    }
}

/// Whether a user namespace with this map (user_namespaces(7)) has a single user, who is not root outside.
pub(crate) fn has_one_user(map: &str) -> bool {
    let mut lines = map.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
    matches!(lines.next().as_deref(), Some([outside, "1"]) if *outside != "0") && lines.next().is_none()
}

/// What carries a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// `ext4`, `overlay`.
    pub filesystem: String,
    /// Its mount options, those of the mount and those of the filesystem.
    pub mount_options: Vec<String>,
    /// The block device as /proc/diskstats names it (`nvme0n1p3`); `None`: it has none.
    pub block: Option<String>,
    /// The whole disk of that device (`nvme0n1`).
    pub disk: Option<String>,
    /// Bytes that an ordinary user may still write.
    pub free_bytes: u64,
    /// Mounted read-only.
    pub read_only: bool,
}

/// Looks at what carries an existing path.
///
/// # Errors
/// [`LaneFailure::Failed`] where the path cannot be looked at.
pub fn find(path: &Path) -> Result<Host, LaneFailure> {
    let look = |error: std::io::Error| cannot(format!("look at {}", path.display()), error);
    let path = path.canonicalize().map_err(look)?;
    let metadata = path.metadata().map_err(look)?;
    let space = rustix::fs::statvfs(&path).map_err(|error| look(error.into()))?;
    let mounts = mountinfo::read().map_err(look)?;
    let (major, minor) = (rustix::fs::major(metadata.dev()), rustix::fs::minor(metadata.dev()));
    // The longest prefix may be hidden under a later mount higher up; the device number decides.
    let entry = mounts
        .iter()
        .rev()
        .filter(|mount| (mount.major, mount.minor) == (major, minor) && path.starts_with(&mount.target))
        .max_by_key(|mount| mount.target.as_os_str().len())
        .or_else(|| mountinfo::holding(&mounts, &path));
    // btrfs shows a number of its own for files; its mount's source is the device.
    let block = block_name(major, minor).or_else(|| {
        let source = Path::new(&entry?.source);
        let device = source.is_absolute().then(|| source.metadata().ok()).flatten()?;
        block_name(rustix::fs::major(device.rdev()), rustix::fs::minor(device.rdev()))
    });
    let mut mount_options: Vec<String> = Vec::new();
    for option in entry.into_iter().flat_map(|entry| entry.mount_options.iter().chain(&entry.super_options)) {
        if !mount_options.contains(option) {
            mount_options.push(option.clone());
        }
    }
    Ok(Host {
        filesystem: entry.map(|entry| entry.filesystem.clone()).unwrap_or_default(),
        disk: block.as_deref().map(whole_disk),
        block,
        free_bytes: space.f_bavail * space.f_frsize,
        read_only: space.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        mount_options,
    })
}

/// The kernel's name of a block device number; `None`: no such device.
pub fn block_name(major: u32, minor: u32) -> Option<String> {
    let link = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(link.file_name()?.to_str()?.to_owned())
}

/// The whole disk that a partition lies on; a disk is its own.
pub fn whole_disk(name: &str) -> String {
    let folder = PathBuf::from(format!("/sys/class/block/{name}"));
    if !folder.join("partition").exists() {
        return name.to_owned();
    }
    let parent = folder.canonicalize().ok().and_then(|real| Some(real.parent()?.file_name()?.to_str()?.to_owned()));
    parent.unwrap_or_else(|| name.to_owned())
}

/// What the kernel tells of a disk, for the record's header. `host_filesystem` and its options are
/// left empty.
pub fn describe_disk(name: &str) -> Device {
    let read =
        |file: &str| std::fs::read_to_string(format!("/sys/block/{name}/{file}")).unwrap_or_default().trim().to_owned();
    let scheduler = read("queue/scheduler");
    let active = scheduler.split('[').nth(1).and_then(|rest| rest.split(']').next()).map(str::to_owned);
    Device {
        name: name.to_owned(),
        model: read("device/model"),
        size_bytes: read("size").parse::<u64>().unwrap_or(0) * 512,
        rotational: read("queue/rotational") == "1",
        write_cache: read("queue/write_cache"),
        fua: read("queue/fua") == "1",
        scheduler: active.unwrap_or(scheduler),
        host_filesystem: String::new(),
        host_mount_options: String::new(),
        queue: disk::queue_limits(name),
        behind: disk::behind(name),
    }
}

/// Why images on this filesystem would not measure a disk; `None`: they would.
pub fn unsuitable(host: &Host) -> Option<String> {
    let kind = host.filesystem.as_str();
    let own = match filesystems::find(kind) {
        Some(row) => row.holds_no_images,
        None => unsuitable_kind(kind),
    };
    let why = own.or_else(|| host.block.is_none().then_some("has no disk of its own"))?;
    Some(format!("is {kind}, which {why}"))
}

/// The same of what is no filesystem of the table.
fn unsuitable_kind(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "overlay" | "aufs" => "copies files between layers",
        "ramfs" | "devtmpfs" => "lies in memory",
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "glusterfs" | "afs" | "9p" | "virtiofs" => {
            "lies on another machine"
        }
        "squashfs" | "erofs" | "iso9660" => "is read-only",
        _ if kind.starts_with("fuse") => "runs through FUSE",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_under_a_path_is_the_one_in_diskstats() {
        let host = find(Path::new("/var/tmp")).unwrap();
        let counters = std::fs::read_to_string("/proc/diskstats").unwrap();
        if let Some(disk) = &host.disk {
            assert!(counters.lines().any(|line| line.split_whitespace().nth(2) == Some(disk)), "{disk}");
            assert!(describe_disk(disk).size_bytes > 0);
        }
        assert!(host.free_bytes > 0 && !host.filesystem.is_empty());
    }

    #[test]
    fn memory_is_no_ground_for_images() {
        let host = find(Path::new("/dev/shm")).unwrap();
        assert!(unsuitable(&host).is_some_and(|why| why.contains("memory")), "{host:?}");
    }

    #[test]
    fn layers_networks_and_fuse_are_named() {
        let host = find(Path::new("/var/tmp")).unwrap();
        for kind in ["overlay", "nfs4", "zfs", "fuse.sshfs"] {
            let host = Host { filesystem: kind.to_owned(), ..host.clone() };
            assert!(unsuitable(&host).is_some_and(|why| why.contains(kind)), "{kind}");
        }
        let host = Host { filesystem: "btrfs".to_owned(), block: Some("sda".to_owned()), ..host };
        assert_eq!(unsuitable(&host), None);
    }

    #[test]
    fn a_namespace_of_one_user_is_told_from_a_container_and_from_the_machine() {
        let maps = [
            ("         0          0 4294967295\n", false),
            ("0 1000 1\n", true),
            ("0 0 1\n", false),
            ("0 1000 1\n1 100000 65536\n", false),
            ("", false),
        ];
        for (map, one) in maps {
            assert_eq!(has_one_user(map), one, "{map:?}");
        }
    }

    #[test]
    fn root_takes_no_word_of_the_environment_for_its_temporary_folder() {
        match is_root() {
            true => assert_eq!(temporary_folder(), Path::new("/run")),
            false => assert_eq!(temporary_folder(), std::env::temp_dir()),
        }
    }
}
