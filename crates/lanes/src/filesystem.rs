//! The table of filesystems: one row each. To add a filesystem, add its row here (and, where its
//! promises or abilities depend on options in a new way, a function in `promises.rs` or `abilities.rs`).

use crate::abilities::{self, Lack};
use crate::geometry::{self, Geometry};
use crate::mkfs_tables;
use crate::mkfs_words::Grammar;
use crate::other_devices::{self, Names};
use crate::promises;
use model::Bytes;
use model::lane::{Contestant, LaneSpec, Promises};

/// One filesystem that Fairlane knows.
#[derive(Debug)]
pub struct Filesystem {
    /// As lanes, /proc/filesystems and mount name it.
    pub name: &'static str,
    /// mkfs program and the arguments that Fairlane always gives: quiet, forced, without discard,
    /// without lazy initialisation. Empty: nothing to make (tmpfs).
    pub mkfs: &'static [&'static str],
    /// Arguments of mkfs whose later occurrence replaces the earlier one: what the user gives is
    /// appended to ours with a comma instead.
    pub mkfs_lists: &'static [&'static str],
    /// The option of mkfs that sets the block size, where the kernel mounts only blocks of a page.
    pub mkfs_block_of_page: Option<&'static str>,
    /// What a lane may say to it.
    pub mkfs_takes: &'static Grammar,
    /// Its mkfs looks at every mount and loop device of the machine that it runs on, some of which an ordinary
    /// user may not see: for a lane in a guest it runs in the guest, and not on the host.
    pub mkfs_looks_around: bool,
    /// Debian and Ubuntu package of the mkfs program.
    pub package: &'static str,
    /// Kernel module.
    pub module: &'static str,
    /// What the kernel calls it where that is not the module's name or the row's.
    pub kernel_name: Option<&'static str>,
    /// The program that mounts it where the kernel does not.
    pub fuse: Option<Fuse>,
    /// Mount options that Fairlane adds before the user's.
    pub mount_options: &'static [&'static str],
    /// Mount options that Fairlane adds behind all others for an image of strangers, which may say itself that the
    /// machine stops at its first error.
    pub careful: &'static [&'static str],
    /// Smallest lane that mkfs takes or that makes sense.
    pub minimum_bytes: u64,
    /// Smallest lane with the defaults of a larger disk, and what differs below it.
    pub comfortable: Option<(u64, &'static str)>,
    /// What it promises with these mkfs and mount options.
    pub promises: fn(&[String], &[String]) -> Promises,
    /// What it lacks of what steps of file operations may ask, with these mkfs and mount options.
    pub lacks: fn(&[String], &[String]) -> Vec<Lack>,
    /// How to read its geometry.
    pub geometry: Geometry,
    /// What it stands on.
    pub home: Home,
    /// What of an image of it concerns other devices than the image.
    pub names_others: Names,
}

/// A program that is a filesystem.
#[derive(Debug, Clone, Copy)]
pub struct Fuse {
    /// What reports call the filesystem then.
    pub name: &'static str,
    /// Mounts `{device}` on `{directory}` with `{options}` and stays in the foreground.
    pub mount: &'static [&'static str],
    /// Debian and Ubuntu package of the program.
    pub package: &'static str,
    /// What the program lacks, as in the row.
    pub lacks: fn(&[String], &[String]) -> Vec<Lack>,
}

/// What a filesystem stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// A block device: an image or a disk.
    Block,
    /// Memory.
    Memory,
    /// A pool of its own making: raced as a directory.
    Pool,
    /// A block device that the agent itself formats, reads and writes: nothing is mounted.
    Library,
}

/// mke2fs takes its small-disk profile (1 KiB blocks below 512 MiB on older versions, a 4 to
/// 16 MiB journal, more inodes) below this size.
const EXT_COMFORTABLE: Option<(u64, &str)> = Some((
    Bytes::GIB,
    "below 1 GiB mke2fs makes a journal of 16 MiB or less, below 512 MiB it takes its small profile",
));

const EXT_EXTENDED: &str = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";

/// The table.
pub static FILESYSTEMS: [Filesystem; 15] = [
    Filesystem {
        name: "ext2",
        mkfs: &["mkfs.ext2", "-q", "-F", "-E", EXT_EXTENDED],
        mkfs_lists: &["-E"],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::MKE2FS,
        mkfs_looks_around: false,
        package: "e2fsprogs",
        module: "ext2",
        kernel_name: None,
        fuse: None,
        // The ext2 driver knows no discard at all.
        mount_options: &[],
        careful: &["errors=remount-ro"],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: EXT_COMFORTABLE,
        promises: promises::ext2,
        lacks: abilities::ext2,
        geometry: Geometry::Dumpe2fs,
        home: Home::Block,
        names_others: other_devices::ext,
    },
    Filesystem {
        name: "ext3",
        mkfs: &["mkfs.ext3", "-q", "-F", "-E", EXT_EXTENDED],
        mkfs_lists: &["-E"],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::MKE2FS,
        mkfs_looks_around: false,
        package: "e2fsprogs",
        module: "ext4",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        careful: &["errors=remount-ro"],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: EXT_COMFORTABLE,
        promises: promises::ext4,
        lacks: abilities::ext3,
        geometry: Geometry::Dumpe2fs,
        home: Home::Block,
        names_others: other_devices::ext,
    },
    Filesystem {
        name: "ext4",
        mkfs: &["mkfs.ext4", "-q", "-F", "-E", EXT_EXTENDED],
        mkfs_lists: &["-E"],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::MKE2FS,
        mkfs_looks_around: false,
        package: "e2fsprogs",
        module: "ext4",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        careful: &["errors=remount-ro"],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: EXT_COMFORTABLE,
        promises: promises::ext4,
        lacks: abilities::ext4,
        geometry: Geometry::Dumpe2fs,
        home: Home::Block,
        names_others: other_devices::ext,
    },
    Filesystem {
        name: "xfs",
        // Not quiet: what it prints is the geometry.
        mkfs: &["mkfs.xfs", "-f", "-K"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::XFS,
        mkfs_looks_around: false,
        package: "xfsprogs",
        module: "xfs",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        // It has no such word: what stops at its errors is fs.xfs.panic_mask, the machine's own.
        careful: &[],
        minimum_bytes: 300 * Bytes::MIB,
        comfortable: None,
        promises: promises::xfs,
        lacks: abilities::xfs,
        geometry: Geometry::XfsMkfs,
        home: Home::Block,
        names_others: other_devices::xfs,
    },
    Filesystem {
        name: "ntfs",
        mkfs: &["mkntfs", "-q", "-F", "-Q"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::NTFS,
        mkfs_looks_around: false,
        package: "ntfs-3g",
        module: "ntfs3",
        kernel_name: Some("ntfs3"),
        fuse: Some(Fuse {
            name: "ntfs-3g",
            mount: &["ntfs-3g", "-o", "no_detach,{options}", "{device}", "{directory}"],
            package: "ntfs-3g",
            lacks: abilities::ntfs_3g,
        }),
        mount_options: &[],
        // It has no such word.
        careful: &[],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: None,
        promises: promises::ntfs,
        lacks: abilities::ntfs,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::ntfs,
    },
    Filesystem {
        name: "btrfs",
        mkfs: &["mkfs.btrfs", "-f", "-K"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::BTRFS,
        mkfs_looks_around: true,
        package: "btrfs-progs",
        module: "btrfs",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        // The lesser of the two, and the default.
        careful: &["fatal_errors=bug"],
        minimum_bytes: 256 * Bytes::MIB,
        comfortable: None,
        promises: promises::btrfs,
        lacks: abilities::nothing,
        geometry: Geometry::BtrfsMkfs,
        home: Home::Block,
        names_others: other_devices::btrfs,
    },
    Filesystem {
        name: "tmpfs",
        mkfs: &[],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::NONE,
        mkfs_looks_around: false,
        package: "",
        module: "",
        kernel_name: None,
        fuse: None,
        mount_options: &[],
        careful: &[],
        minimum_bytes: Bytes::MIB,
        comfortable: None,
        promises: promises::nothing,
        lacks: abilities::reflink,
        geometry: Geometry::Unknown,
        home: Home::Memory,
        names_others: other_devices::unknown,
    },
    Filesystem {
        name: "f2fs",
        mkfs: &["mkfs.f2fs", "-q", "-f", "-t", "0"],
        mkfs_lists: &[],
        mkfs_block_of_page: Some("-b"),
        mkfs_takes: &mkfs_tables::F2FS,
        mkfs_looks_around: false,
        package: "f2fs-tools",
        module: "f2fs",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        // It goes on by default, its images say nothing about it, and kernels before 6.5 refuse the word.
        careful: &[],
        minimum_bytes: 128 * Bytes::MIB,
        comfortable: None,
        promises: promises::f2fs,
        lacks: abilities::reflink,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::f2fs,
    },
    Filesystem {
        name: "nilfs2",
        mkfs: &["mkfs.nilfs2", "-q", "-f", "-K"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::NILFS2,
        mkfs_looks_around: false,
        package: "nilfs-tools",
        module: "nilfs2",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        careful: &["errors=remount-ro"],
        minimum_bytes: 192 * Bytes::MIB,
        comfortable: None,
        promises: promises::nilfs2,
        lacks: abilities::nilfs2,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::nilfs2,
    },
    Filesystem {
        name: "exfat",
        mkfs: &["mkfs.exfat"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::EXFAT,
        mkfs_looks_around: false,
        package: "exfatprogs",
        module: "exfat",
        kernel_name: None,
        fuse: None,
        // exfat discards only where told to, and knows no `nodiscard`.
        mount_options: &[],
        careful: &["errors=remount-ro"],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: None,
        promises: promises::exfat,
        lacks: abilities::exfat,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::exfat,
    },
    Filesystem {
        name: "jfs",
        mkfs: &["mkfs.jfs", "-q"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::JFS,
        mkfs_looks_around: false,
        package: "jfsutils",
        module: "jfs",
        kernel_name: None,
        fuse: None,
        // jfs discards only where told to; its `nodiscard` is newer than some kernels.
        mount_options: &[],
        careful: &["errors=remount-ro"],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: None,
        promises: promises::jfs,
        lacks: abilities::jfs,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::jfs,
    },
    Filesystem {
        name: "reiserfs",
        mkfs: &["mkfs.reiserfs", "-q", "-f", "-f"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::REISERFS,
        mkfs_looks_around: false,
        package: "reiserfsprogs",
        module: "reiserfs",
        kernel_name: None,
        fuse: None,
        // It knows no discard at all. Without `user_xattr` it keeps no attributes of users.
        mount_options: &["user_xattr"],
        careful: &["errors=ro-remount"],
        minimum_bytes: 128 * Bytes::MIB,
        comfortable: None,
        promises: promises::reiserfs,
        lacks: abilities::reiserfs,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::reiserfs,
    },
    Filesystem {
        name: "bcachefs",
        mkfs: &["mkfs.bcachefs", "-q", "-f"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::BCACHEFS,
        mkfs_looks_around: false,
        package: "bcachefs-tools",
        module: "bcachefs",
        kernel_name: None,
        fuse: None,
        mount_options: &["nodiscard"],
        careful: &["errors=ro"],
        minimum_bytes: 256 * Bytes::MIB,
        comfortable: None,
        promises: promises::bcachefs,
        lacks: abilities::nothing,
        geometry: Geometry::Unknown,
        home: Home::Block,
        names_others: other_devices::bcachefs,
    },
    Filesystem {
        name: "zfs",
        mkfs: &["zpool"],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::NONE,
        mkfs_looks_around: false,
        package: "zfsutils-linux",
        module: "zfs",
        kernel_name: None,
        fuse: None,
        mount_options: &[],
        careful: &[],
        minimum_bytes: 256 * Bytes::MIB,
        comfortable: None,
        promises: promises::zfs,
        lacks: abilities::nothing,
        geometry: Geometry::Unknown,
        home: Home::Pool,
        names_others: other_devices::unknown,
    },
    Filesystem {
        name: "rsext4",
        // The library formats; its crate has no option for it.
        mkfs: &[],
        mkfs_lists: &[],
        mkfs_block_of_page: None,
        mkfs_takes: &mkfs_tables::NONE,
        mkfs_looks_around: false,
        package: "",
        module: "",
        kernel_name: None,
        fuse: None,
        mount_options: &[],
        careful: &[],
        minimum_bytes: 64 * Bytes::MIB,
        comfortable: None,
        promises: promises::rsext4,
        lacks: abilities::rsext4,
        geometry: Geometry::Rsext4,
        home: Home::Library,
        names_others: other_devices::unknown,
    },
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Filesystem> {
    FILESYSTEMS.iter().find(|row| row.name == name)
}

/// Whether a lane's filesystem is a library inside the agent, which the kernel does not mount.
pub fn is_library(lane: &LaneSpec) -> bool {
    let Contestant::Filesystem(name) = &lane.contestant else { return false };
    find(name).is_some_and(|row| row.home == Home::Library)
}

/// The name of the table that is nearest to a misspelt one; `None` where none is near. Of ext2, ext3 and
/// ext4 the last is the one that people mean.
pub fn nearest(name: &str) -> Option<&'static str> {
    model::nearest(name, FILESYSTEMS.iter().map(|row| row.name))
}

impl Filesystem {
    /// What the kernel calls it.
    pub fn mounted_as(&self) -> &'static str {
        self.kernel_name.unwrap_or(self.name)
    }

    /// The whole mkfs command with `{device}` as its last argument; empty: nothing to make.
    pub fn mkfs_command(&self, options: &[String]) -> Vec<String> {
        if self.mkfs.is_empty() {
            return Vec::new();
        }
        let mut command: Vec<String> = self.mkfs.iter().map(|&word| word.to_owned()).collect();
        command.extend(self.block_of_page(options, rustix::param::page_size()));
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let list = self.mkfs_lists.iter().find(|flag| option.starts_with(**flag));
            let Some(flag) = list else {
                command.push(option.clone());
                continue;
            };
            // `-E stride=4` and `-Estride=4` are the same.
            let value = match option.strip_prefix(flag) {
                Some("") => options.next().cloned().unwrap_or_default(),
                rest => rest.unwrap_or_default().to_owned(),
            };
            match command.iter().position(|word| word == flag) {
                Some(at) if at + 1 < command.len() => {
                    command[at + 1].push(',');
                    command[at + 1].push_str(&value);
                }
                _ => command.extend([(*flag).to_owned(), value]),
            }
        }
        command.push("{device}".to_owned());
        command
    }

    /// The words that make blocks of a page, where the kernel mounts no others and the user chose none. With pages of
    /// 4 KiB mkfs needs no word for it, and older ones do not know it.
    fn block_of_page(&self, options: &[String], page_bytes: usize) -> Vec<String> {
        match self.mkfs_block_of_page {
            Some(word) if page_bytes != 4096 && !options.iter().any(|option| option.starts_with(word)) => {
                vec![word.to_owned(), page_bytes.to_string()]
            }
            _ => Vec::new(),
        }
    }

    /// The mount options: Fairlane's own, then the user's. Where the user speaks of discard, it is
    /// the contestant and Fairlane adds nothing.
    pub fn all_mount_options(&self, options: &[String]) -> Vec<String> {
        let spoken = options.iter().any(|option| is_discard(option) || option == "nodiscard");
        let own = self.mount_options.iter().filter(|own| !(spoken && **own == "nodiscard"));
        own.map(|&option| option.to_owned()).chain(options.iter().cloned()).collect()
    }

    /// Reads the geometry of a fresh filesystem, as far as its tools tell it.
    pub fn read_geometry(&self, mkfs_output: &str, device: &std::path::Path) -> Vec<String> {
        geometry::read(self.geometry, mkfs_output, device)
    }
}

fn is_discard(option: &str) -> bool {
    option == "discard" || option.starts_with("discard=")
}

/// Whether the user made discard the contestant, in mkfs or in mount: then holes are its doing.
pub fn wants_discard(mkfs_options: &[String], mount_options: &[String]) -> bool {
    mount_options.iter().any(|option| is_discard(option))
        || mkfs_options
            .iter()
            .any(|option| option.split([',', '=']).any(|word| word == "discard" || word == "-Ediscard"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_users_extended_options_join_ours() {
        let ext4 = find("ext4").unwrap();
        let command = ext4.mkfs_command(&words("-b 1024 -E stride=4 -O ^has_journal")).join(" ");
        assert_eq!(
            command,
            "mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=4 -b 1024 -O ^has_journal {device}"
        );
        let joined = ext4.mkfs_command(&words("-Estride=4")).join(" ");
        assert!(joined.contains("lazy_journal_init=0,stride=4 {device}"), "{joined}");
    }

    #[test]
    fn f2fs_has_blocks_of_a_page() {
        let f2fs = find("f2fs").unwrap();
        assert_eq!(f2fs.block_of_page(&[], 65_536), ["-b", "65536"]);
        assert!(f2fs.block_of_page(&[], 4096).is_empty());
        assert!(f2fs.block_of_page(&words("-b 16384"), 65_536).is_empty());
        assert!(find("ext4").unwrap().block_of_page(&[], 65_536).is_empty());
    }

    #[test]
    fn discard_is_off_unless_it_is_the_contestant() {
        let btrfs = find("btrfs").unwrap();
        assert_eq!(btrfs.all_mount_options(&words("compress=zstd:1")), ["nodiscard", "compress=zstd:1"]);
        assert_eq!(btrfs.all_mount_options(&words("discard=async")), ["discard=async"]);
        assert!(wants_discard(&[], &words("discard=async")));
        assert!(wants_discard(&words("-E discard"), &[]));
        assert!(wants_discard(&words("-E stride=4,discard"), &[]));
        assert!(!wants_discard(&words("-E nodiscard"), &words("nodiscard")));
    }

    #[test]
    fn every_row_is_complete_and_its_name_unique() {
        for (index, row) in FILESYSTEMS.iter().enumerate() {
            assert!(FILESYSTEMS[..index].iter().all(|earlier| earlier.name != row.name), "{}", row.name);
            assert_eq!(row.mkfs.is_empty(), row.package.is_empty(), "{}", row.name);
            assert_eq!(row.mkfs.is_empty(), matches!(row.home, Home::Memory | Home::Library), "{}", row.name);
            assert!(row.minimum_bytes > 0 && row.minimum_bytes <= 512 * Bytes::MIB, "{}", row.name);
        }
    }

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        for (wrong, right) in
            [("exr4", Some("ext4")), ("brtfs", Some("btrfs")), ("XFS", Some("xfs")), ("hammer", None), ("a", None)]
        {
            assert_eq!(nearest(wrong), right, "{wrong}");
        }
    }
}
