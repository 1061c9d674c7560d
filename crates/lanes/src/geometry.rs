//! Journal size, allocation groups, profiles: read after mkfs, best effort. What a tool does not
//! tell is left out; geometry explains figures, it decides nothing.

use crate::command;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Where a filesystem's geometry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Geometry {
    /// `dumpe2fs -h`.
    Dumpe2fs,
    /// What mkfs.xfs printed.
    XfsMkfs,
    /// What mkfs.btrfs printed.
    BtrfsMkfs,
    /// The crate that the agent is built with.
    Rsext4,
    /// Nowhere that we read.
    Unknown,
}

/// The version that the workspace pins, and the trap in its figures: the crate caches next to no data.
const RSEXT4: [&str; 2] = ["crate: rsext4 0.9.2, in the agent", "data cache: the kernel's, of the block device"];

/// Reads `name: value` lines.
pub fn read(geometry: Geometry, mkfs_output: &str, device: &Path) -> Vec<String> {
    match geometry {
        Geometry::Dumpe2fs => {
            let arguments = ["dumpe2fs", "-h"].map(str::to_owned).into_iter();
            let arguments: Vec<String> = arguments.chain([device.to_string_lossy().into_owned()]).collect();
            match command::run(&arguments, &AtomicBool::new(false)) {
                Ok(output) => dumpe2fs(&output.stdout),
                Err(_) => Vec::new(),
            }
        }
        Geometry::XfsMkfs => xfs(mkfs_output),
        Geometry::BtrfsMkfs => btrfs(mkfs_output),
        Geometry::Rsext4 => RSEXT4.map(str::to_owned).to_vec(),
        Geometry::Unknown => Vec::new(),
    }
}

/// Picks lines of the form `NAME:   value`.
fn pick(text: &str, names: &[&str]) -> Vec<String> {
    let line = |name: &&str| {
        let value = text.lines().find_map(|line| line.trim().strip_prefix(*name)?.trim_start().strip_prefix(':'))?;
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then(|| format!("{name}: {value}"))
    };
    names.iter().filter_map(line).collect()
}

fn dumpe2fs(text: &str) -> Vec<String> {
    pick(
        text,
        &[
            "Filesystem features",
            "Block count",
            "Block size",
            "Inode count",
            "Inode size",
            "Reserved block count",
            "Total journal size",
            "Journal size",
        ],
    )
}

/// mkfs.xfs prints sections of `key=value`; the section's name stands before the first `=`.
fn xfs(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once('=') else { continue };
        if !head.trim().is_empty() {
            section = head.trim().to_owned();
        }
        let wanted: &[&str] = match section.as_str() {
            "meta-data" => &["isize", "agcount", "agsize", "crc", "reflink", "rmapbt", "finobt", "bigtime"],
            "data" => &["bsize", "blocks"],
            "log" => &["blocks"],
            _ => &[],
        };
        // `isize = 512`, `isize=512    agcount=4, agsize=32768 blks` are all met in the wild.
        let rest = rest.replace("= ", "=");
        for word in rest.split([' ', ',', '\t']) {
            if let Some((key, value)) = word.split_once('=')
                && wanted.contains(&key)
            {
                lines.push(format!("{section} {key}: {value}"));
            }
        }
    }
    lines
}

fn btrfs(text: &str) -> Vec<String> {
    pick(
        text,
        &[
            "Node size",
            "Sector size",
            "Data",
            "Metadata",
            "System",
            "Checksum",
            "Incompat features",
            "Features",
            "Runtime features",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_version_is_the_one_that_is_built_in() {
        let manifest = include_str!("../../../Cargo.toml");
        let pinned = manifest.lines().find_map(|line| line.strip_prefix("rsext4 = \"=")).unwrap().trim_end_matches('"');
        let told = read(Geometry::Rsext4, "", Path::new(""));
        assert!(told[0].contains(&format!("rsext4 {pinned},")), "{told:?} is not {pinned}");
    }

    #[test]
    fn the_three_tools_output_is_read() {
        let text = "Inode count:              32768\nInode size:\t          256\nTotal journal size:       16M\n";
        assert_eq!(dumpe2fs(text), ["Inode count: 32768", "Inode size: 256", "Total journal size: 16M"]);
        let text = "meta-data=/dev/loop0   isize=512    agcount=4, agsize=32768 blks\n\
            \x20        =             crc=1        finobt=1, sparse=1, rmapbt=0\n\
            data     =             bsize=4096   blocks=131072, imaxpct=25\n\
            log      =internal log bsize=4096   blocks=16384, version=2\n";
        let lines = xfs(text);
        assert!(lines.contains(&"meta-data agcount: 4".to_owned()), "{lines:?}");
        assert!(lines.contains(&"log blocks: 16384".to_owned()), "{lines:?}");
        assert!(lines.contains(&"meta-data rmapbt: 0".to_owned()), "{lines:?}");
        let text = "Node size:          16384\nBlock group profiles:\n  Data:             single            8.00MiB\n";
        assert_eq!(btrfs(text), ["Node size: 16384", "Data: single 8.00MiB"]);
    }
}
