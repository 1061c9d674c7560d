//! What is mounted, as /proc/self/mountinfo tells it. `stat` would hang or fail on a dead FUSE
//! mount; this file does not.

use model::text::mount_word;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountEntry {
    /// Device number of the filesystem.
    pub major: u32,
    /// Device number of the filesystem.
    pub minor: u32,
    /// Which folder of the filesystem is mounted: `/` for all of it.
    pub root: PathBuf,
    /// Where it is mounted.
    pub target: PathBuf,
    /// `ext4`, `fuse.sshfs`.
    pub filesystem: String,
    /// What is mounted: a device path or a word.
    pub source: String,
    /// Options of this mount: `rw,nosuid`.
    pub mount_options: Vec<String>,
    /// Options of the filesystem: `rw,data=ordered`.
    pub super_options: Vec<String>,
}

/// Reads the mount table; a mount that hides another one of the same target comes later.
///
/// # Errors
/// The error of reading /proc/self/mountinfo.
pub fn read() -> std::io::Result<Vec<MountEntry>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

/// Parses mountinfo; lines that do not fit are left out.
pub fn parse(text: &[u8]) -> Vec<MountEntry> {
    text.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<MountEntry> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let (major, minor) = std::str::from_utf8(fields.get(2)?).ok()?.split_once(':')?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(&mount_word(bytes)).into_owned();
    let list = |bytes: &[u8]| text(bytes).split(',').map(str::to_owned).collect::<Vec<String>>();
    Some(MountEntry {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        root: PathBuf::from(OsString::from_vec(mount_word(fields.get(3)?))),
        target: PathBuf::from(OsString::from_vec(mount_word(fields.get(4)?))),
        filesystem: text(fields.get(dash + 1)?),
        source: text(fields.get(dash + 2)?),
        mount_options: list(fields.get(5)?),
        super_options: list(fields.get(dash + 3)?),
    })
}

/// The mount that is visible at exactly this path.
pub fn at<'a>(mounts: &'a [MountEntry], target: &Path) -> Option<&'a MountEntry> {
    mounts.iter().rev().find(|mount| mount.target == target)
}

/// The mount whose filesystem holds this (canonical) path: the longest target that is a prefix,
/// the latest of equals.
pub fn holding<'a>(mounts: &'a [MountEntry], path: &Path) -> Option<&'a MountEntry> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.target))
        .max_by_key(|mount| mount.target.as_os_str().as_bytes().len())
        .map(|longest| at(mounts, &longest.target).unwrap_or(longest))
}

/// Every mount at or below a path.
pub fn below<'a>(mounts: &'a [MountEntry], path: &'a Path) -> impl DoubleEndedIterator<Item = &'a MountEntry> {
    mounts.iter().filter(move |mount| mount.target.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
        30 22 0:44 / /mnt/a\\040b rw,nosuid - tmpfs none rw,size=4k\n\
        broken line\n\
        31 22 7:0 / /mnt/a\\040b rw - xfs /dev/loop0 rw\n";

    #[test]
    fn mounts_are_read_with_escapes_and_the_topmost_counts() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 3);
        assert_eq!(mounts[1].target, Path::new("/mnt/a b"));
        assert_eq!(at(&mounts, Path::new("/mnt/a b")).unwrap().filesystem, "xfs");
        assert_eq!(holding(&mounts, Path::new("/mnt/a b/c")).unwrap().source, "/dev/loop0");
        assert_eq!(holding(&mounts, Path::new("/mnt/a bc")).unwrap().super_options, ["rw", "discard"]);
        assert_eq!(below(&mounts, Path::new("/mnt")).count(), 2);
    }
}
