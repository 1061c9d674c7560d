//! The table of filesystems: a file each, with all that Fairlane knows of it.
//!
//! To add a filesystem: its file here, its line in [`FILESYSTEMS`], and the package of its mkfs in the Makefile. What it
//! can do stands in `features/`, which its row names. What a row does not say is what [`BASE`] says.

mod bcachefs;
mod btrfs;
mod exfat;
mod ext;
mod f2fs;
mod jfs;
mod nilfs2;
mod ntfs;
mod reiserfs;
mod rsext4;
mod tmpfs;
mod udf;
mod xfs;
mod zfs;

pub(crate) use xfs::free_allocated_ahead;

use crate::abilities::{self, Lack};
use crate::failure::LaneFailure;
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Grammar;
use crate::other_devices::{self, Image, Names};
use crate::promises;
use crate::same_names::NamePlaces;
use crate::screened_options::ScreenedOption;
use crate::signature::Marks;
use crate::single_lane::Scrub;
use model::lane::{Contestant, LaneSpec, Promises};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The table.
pub static FILESYSTEMS: &[&Filesystem] = &[
    &ext::EXT2,
    &ext::EXT3,
    &ext::EXT4,
    &xfs::XFS,
    &ntfs::NTFS,
    &btrfs::BTRFS,
    &tmpfs::TMPFS,
    &f2fs::F2FS,
    &nilfs2::NILFS2,
    &exfat::EXFAT,
    &udf::UDF,
    &jfs::JFS,
    &reiserfs::REISERFS,
    &bcachefs::BCACHEFS,
    &zfs::ZFS,
    &rsext4::RSEXT4,
];

/// One filesystem that Fairlane knows.
#[derive(Debug)]
pub struct Filesystem {
    /// As lanes, /proc/filesystems and mount name it.
    pub name: &'static str,
    /// What it can do: its file of `features/`.
    pub features: &'static str,
    /// What it stands on.
    pub home: Home,
    /// Smallest lane that mkfs takes or that makes sense.
    pub minimum_bytes: u64,
    /// Smallest lane with the defaults of a larger disk, and what differs below it.
    pub comfortable: Option<(u64, &'static str)>,

    /// mkfs program and the arguments that Fairlane always gives: quiet, forced, without discard,
    /// without lazy initialisation. Empty: nothing to make (tmpfs).
    pub mkfs: &'static [&'static str],
    /// The one of them that keeps mkfs from saying why it fails, and changes nothing else; `None`: it says that all the
    /// same.
    pub mkfs_silencer: Option<&'static str>,
    /// Debian and Ubuntu package of the mkfs program.
    pub package: &'static str,
    /// What a lane may say to it.
    pub mkfs_takes: &'static Grammar,
    /// Arguments of mkfs whose later occurrence replaces the earlier one: what the user gives is
    /// appended to ours with a comma instead.
    pub mkfs_lists: &'static [&'static str],
    /// Options of mkfs whose value is a list of words with commas between, each of which may be said by itself.
    pub mkfs_word_lists: &'static [&'static str],
    /// The option of mkfs, and its word, with which files can be encrypted each by itself; `None`: they cannot.
    pub mkfs_encryption: Option<(&'static str, &'static str)>,
    /// The option of mkfs that sets the block size, where the kernel mounts only blocks of a page.
    pub mkfs_block_of_page: Option<&'static str>,
    /// Its mkfs looks at every mount and loop device of the machine that it runs on, some of which an ordinary
    /// user may not see: for a lane in a guest it runs in the guest, and not on the host.
    pub mkfs_looks_around: bool,
    /// Of what lies beyond a small lane its mkfs writes about this share.
    pub mkfs_writes: f64,
    /// The fewest devices that mkfs takes with these options.
    pub least_devices: fn(&[String]) -> u32,
    /// About how many bytes of files it holds with these options of mkfs, on devices of so many bytes each, so many of them.
    pub capacity: fn(&[String], u64, u64) -> u64,
    /// The mount option by which the kernel is told each further device; `None`: it stands on one.
    pub further_device_option: Option<&'static str>,
    /// The mount option that allows it to lack a device: then the last one is taken out before the mount.
    pub degraded_option: Option<&'static str>,
    /// How it rebuilds a device from the others while it is mounted; `None`: it cannot.
    pub replace: Option<Replacer>,
    /// Has the kernel forget a device that it keeps in mind after the filesystem on it was unmounted; `None`: it keeps none.
    pub forget: Option<fn(&Path) -> std::io::Result<()>>,
    /// Reads `name: value` lines of a fresh filesystem from what mkfs printed, or from the device.
    pub geometry: fn(&str, &Path) -> Vec<String>,
    /// The same of all that tells two fresh filesystems apart, without what differs by chance (UUIDs, times); empty: nobody knows.
    pub makes: fn(&str, &Path) -> Vec<String>,

    /// Kernel module.
    pub module: &'static str,
    /// Another module that mounts it, where that one has this alias.
    pub other_module: Option<(&'static str, &'static str)>,
    /// What the kernel calls it where that is not the module's name or the row's.
    pub kernel_name: Option<&'static str>,
    /// The program that mounts it where the kernel does not.
    pub fuse: Option<Fuse>,
    /// All options that a library takes, which has neither mkfs nor mount.
    pub library_options: &'static [&'static str],

    /// Mount options that Fairlane adds before the user's.
    pub mount_options: &'static [&'static str],
    /// Mount options whose value is a block device.
    pub mount_devices: &'static [&'static str],
    /// Mount options that no lane gives, and why.
    pub mount_refused: &'static [(&'static str, &'static str)],
    /// Mount options that change how this filesystem works and nothing else, whatever their value is: none names a
    /// file or a device, starts anything, or has the machine stop.
    pub plain_options: &'static [&'static str],
    /// Mount options that Fairlane adds behind all others for an image of strangers, which may say itself that the
    /// machine stops at its first error; empty: it has no word for that. `None`: it is never mounted from an image.
    pub careful: Option<&'static [&'static str]>,
    /// Mount options without which the kernel refuses a second copy of a mounted image.
    pub copy_options: &'static [&'static str],
    /// What a kernel has in /sys that mounts several copies of an image at once, where not every kernel does.
    pub copies_need: Option<&'static str>,

    /// What a screening can vary; empty: nobody wrote a table.
    pub screened: &'static [ScreenedOption],

    /// What it promises with these mkfs and mount options.
    pub promises: fn(&[String], &[String]) -> Promises,
    /// Mount options that take no promise away, and change what is there after a crash, or when that is made safe.
    pub guarantee_options: &'static [GuaranteeOption],
    /// Seconds after which it commits by itself what nobody synced, where no `commit=N` says otherwise; `None`: it has no
    /// such option.
    pub commit_seconds: Option<u32>,
    /// Whether metadata has checksums, by its geometry; `None`: that does not tell.
    pub metadata_checksums: fn(&[String]) -> Option<bool>,
    /// How often metadata is kept on one device, by its geometry; `None`: that does not tell.
    pub metadata_copies: fn(&[String]) -> Option<u32>,
    /// Whether the filesystem that is mounted from this block device has a journal, where mount options do not show it.
    pub mounted_journal: fn(&str) -> Option<bool>,
    /// What it lacks of what steps of file operations may ask, with these mkfs and mount options.
    pub lacks: fn(&[String], &[String]) -> Vec<Lack>,
    /// Why images in a folder on it would not measure a disk.
    pub holds_no_images: Option<&'static str>,
    /// How it is checked, after power cuts and damage.
    pub checker: Option<Checker>,
    /// Has a mounted filesystem look at everything that it stores; `None`: it cannot.
    pub scrub: Option<Scrubber>,

    /// By what an image of it is known.
    pub marks: Marks,
    /// Where its UUIDs and labels stand.
    pub names: NamePlaces,
    /// What of an image of it concerns other devices than the image; `None`: nobody knows.
    pub names_others: Option<Names>,
}

/// How a filesystem replaces one of its devices.
#[derive(Debug)]
pub struct Replacer {
    /// The tool, of the mkfs's package, and its arguments; the number of the device, the disk that takes its place and the
    /// mount point follow.
    pub command: &'static [&'static str],
    /// Whether the others hold what is on a device, with these options of mkfs.
    pub has_copies: fn(&[String]) -> bool,
}

/// What holds where a row says nothing.
const BASE: Filesystem = Filesystem {
    name: "",
    features: "",
    home: Home::Block,
    minimum_bytes: 0,
    comfortable: None,
    mkfs: &[],
    mkfs_silencer: None,
    package: "",
    mkfs_takes: &Grammar::NONE,
    mkfs_lists: &[],
    mkfs_word_lists: &[],
    mkfs_encryption: None,
    mkfs_block_of_page: None,
    mkfs_looks_around: false,
    mkfs_writes: 0.0,
    least_devices: |_| 1,
    capacity: |_, each, _| each,
    forget: None,
    further_device_option: None,
    degraded_option: None,
    replace: None,
    geometry: |_, _| Vec::new(),
    makes: |_, _| Vec::new(),
    module: "",
    other_module: None,
    kernel_name: None,
    fuse: None,
    library_options: &[],
    mount_options: &[],
    mount_devices: &[],
    mount_refused: &[],
    plain_options: &[],
    careful: None,
    copy_options: &[],
    copies_need: None,
    screened: &[],
    promises: promises::nothing,
    guarantee_options: &[],
    commit_seconds: None,
    metadata_checksums: |_| None,
    metadata_copies: |_| None,
    mounted_journal: |_| None,
    lacks: abilities::nothing,
    holds_no_images: None,
    checker: None,
    scrub: None,
    marks: Marks::NONE,
    names: NamePlaces::NONE,
    names_others: None,
};

/// How a filesystem is checked. `{device}` stands for the device.
#[derive(Debug, Clone, Copy)]
pub struct Checker {
    /// Debian and Ubuntu package of its programs.
    pub package: &'static str,
    /// Reads only.
    pub look: &'static [&'static str],
    /// What a boot runs before it mounts a filesystem without a journal; empty: nothing.
    pub repair: &'static [&'static str],
    /// It is this program that puts a journal into effect, and not the kernel: a boot runs it before each mount.
    pub replays: bool,
    /// Whether an image has a journal, which the repair puts into effect.
    pub has_journal: fn(&Image) -> std::io::Result<bool>,
}

impl Checker {
    /// One that only looks.
    const fn from_look(package: &'static str, look: &'static [&'static str]) -> Checker {
        Checker { package, look, repair: &[], replays: false, has_journal: |_| Ok(false) }
    }
}

/// Scrubs what is mounted at a folder.
pub type Scrubber = fn(&Path, &AtomicBool) -> Result<Scrub, LaneFailure>;

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

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Filesystem> {
    FILESYSTEMS.iter().copied().find(|row| row.name == name)
}

/// Whether a lane's filesystem is a library inside the agent, which the kernel does not mount.
pub fn is_library(lane: &LaneSpec) -> bool {
    let Contestant::Filesystem(name) = &lane.contestant else { return false };
    find(name).is_some_and(|row| row.home == Home::Library)
}

/// The names of the libraries.
pub(crate) fn libraries() -> impl Iterator<Item = &'static str> {
    FILESYSTEMS.iter().filter(|row| row.home == Home::Library).map(|row| row.name)
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

    /// What its signature is called.
    pub fn signature(&self) -> &'static str {
        self.marks.name.unwrap_or(self.name)
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

    /// Options for a mkfs that makes it so that files can be encrypted: its word stands behind those that the user gave the
    /// same option, of which the last one counts.
    pub(crate) fn with_encryption(&self, mut options: Vec<String>) -> Vec<String> {
        let Some((flag, word)) = self.mkfs_encryption else { return options };
        match options.iter().rposition(|option| option.starts_with(flag)) {
            Some(at) if options[at] != flag => options[at].push_str(&format!(",{word}")),
            Some(at) if at + 1 < options.len() => options[at + 1].push_str(&format!(",{word}")),
            _ => options.extend([flag.to_owned(), word.to_owned()]),
        }
        options
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

    /// Why an image that a stranger may have written concerns other devices than itself; `None`: it does not.
    ///
    /// # Errors
    /// The error of reading the image.
    pub(crate) fn concerns_others(&self, image: &Image) -> std::io::Result<Option<String>> {
        match self.names_others {
            Some(names) => other_devices::or_beside(names, image, self),
            None => Ok(Some("nobody knows whether it names other devices".to_owned())),
        }
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
            assert!(row.minimum_bytes > 0 && row.minimum_bytes <= 512 * model::Bytes::MIB, "{}", row.name);
            assert_eq!(row.careful.is_some(), row.home == Home::Block, "{}", row.name);
            assert!(!row.features.is_empty(), "{}", row.name);
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
