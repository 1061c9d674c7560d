//! Lanes that a file may ask for: suites, records and kept images come from anywhere, and nothing in them may choose
//! what root starts, reads or overwrites.

use crate::failure::LaneFailure;
use crate::filesystems::{self, FILESYSTEMS, Home};
use crate::mount_words;
use model::aged::{Age, AgedSpec};
use model::lane::{Contestant, LaneSpec, Venue};

/// Mount options of any filesystem, or of several, that change how a lane's own filesystem works and nothing else, whatever
/// their value is; those of single ones stand in their rows (`plain_options`).
static OPTIONS: [&str; 20] = [
    "acl",
    "barrier",
    "commit",
    "data",
    "diratime",
    "dirsync",
    "discard",
    "grpquota",
    "i_version",
    "iversion",
    "lazytime",
    "noatime",
    "nodiratime",
    "prjquota",
    "quota",
    "relatime",
    "strictatime",
    "sync",
    "user_xattr",
    "usrquota",
];

/// A past that was written no oftener than this speaks for itself.
const MOST_UNTYPED: u32 = 10;

/// Whether a lane is a name of the table, with a label at most: what a suite may ask for.
pub fn is_bare(lane: &LaneSpec) -> bool {
    let LaneSpec {
        name,
        contestant,
        mkfs_options,
        mount_options,
        devices,
        aged: _,
        full_percent: _,
        layers,
        above,
        venue,
        server_answers,
    } = lane;
    let Contestant::Filesystem(filesystem) = contestant else { return false };
    // A label that is the name of another filesystem would have its figures taken for that one's.
    let honest = name == filesystem || filesystems::find(name).is_none();
    filesystems::find(filesystem).is_some()
        && honest
        && mkfs_options.is_empty()
        && mount_options.is_empty()
        && *devices == 1
        && layers.is_empty()
        && !lane.has_past()
        && above.is_none()
        && venue.is_none()
        && server_answers.is_none()
}

/// Why a lane that stands in a record has to be typed again before it is raced; `None`: it has not. A device of its own
/// has not, because `--erase` has to be typed for it.
pub fn must_be_typed(lane: &LaneSpec) -> Option<&'static str> {
    match &lane.contestant {
        Contestant::Custom(_) => return Some("its file says which programs run"),
        Contestant::Filesystem(name) if filesystems::find(name).is_none() => {
            return Some("it is no filesystem of Fairlane's table");
        }
        Contestant::Filesystem(_) | Contestant::Directory(_) => {}
    }
    if !lane.mkfs_options.is_empty() {
        return Some("it has options of mkfs");
    }
    // A record may hold what no command line reads: a name with an escape, an option with a comma in it.
    if lane.to_line().parse().as_ref() != Ok(lane) {
        return Some("no command line makes such a lane");
    }
    if lane.server_answers.is_some() {
        return Some("it says when a server confirms a sync, which no client sees");
    }
    if matches!(&lane.venue, Some(Venue::Qemu(Some(_)))) {
        return Some("it names a kernel");
    }
    if lane.vm().is_some() {
        return Some("it sets the kernel of the whole machine");
    }
    if let Some(AgedSpec { profile, age, .. }) = &lane.aged
        && (profile.contains('.') || !matches!(age, Age::Overwrites(times) if *times <= MOST_UNTYPED))
    {
        return Some("its past names a file, or writes much");
    }
    if !has_plain_options(lane) {
        return Some("it has mount options that do not speak for themselves");
    }
    None
}

/// Whether every mount option is one that a file may ask for.
pub fn has_plain_options(lane: &LaneSpec) -> bool {
    lane.mount_options.iter().all(|option| is_plain(option))
}

/// Whether a mount option is one that a file, or an image, may ask for.
pub(crate) fn is_plain(option: &str) -> bool {
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    let known = |key: &str| OPTIONS.contains(&key) || FILESYSTEMS.iter().any(|row| row.plain_options.contains(&key));
    let bare = key.strip_prefix("no").filter(|key| known(key)).unwrap_or(key);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
    (known(bare) || known(key)) && value.chars().all(plain)
}

/// Whether a lane is, by its name alone, a filesystem of the table that stands on a block device: nothing is opened to
/// know it.
pub fn stands_on_a_disk(lane: &LaneSpec) -> bool {
    let Contestant::Filesystem(name) = &lane.contestant else { return false };
    filesystems::find(name).is_some_and(|row| row.home == Home::Block)
}

/// Refuses the mount options of a kept image that nobody gives to one, whether they are typed again or not.
///
/// # Errors
/// [`LaneFailure::Usage`] for the first of them.
pub fn check_kept(lane: &LaneSpec) -> Result<(), LaneFailure> {
    let Contestant::Filesystem(name) = &lane.contestant else { return Ok(()) };
    mount_words::read_alone(name, &lane.mount_options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_suite_asks_for_names_of_the_table_alone() {
        for text in ["ext4", "a=ext4", "btrfs", "old=xfs", "tmpfs", "rsext4", "..=ext4"] {
            assert!(is_bare(&lane(text)), "{text}");
        }
        for text in [
            "./evil.toml",
            "/tmp/evil.toml",
            "x=../evil.toml",
            "./evil.toml,-b1",
            "ext4(-b 1024)",
            "ext4,-b1024",
            "ext4,noatime",
            "ext4/queue,scheduler=bfq",
            "ext4@uml",
            "ext4@qemu",
            "ext4@qemu:/tmp/k",
            "ext4@image",
            "ext4@/tmp",
            "ext4@/dev/sdb",
            "rsext4@library",
            "rsext4,journal",
            "/etc",
            "./x",
            ".",
            "d=/etc",
            "ext9",
            "xfs=ext4",
            "ext4=xfs",
        ] {
            assert!(!is_bare(&lane(text)), "{text}");
        }
    }

    #[test]
    fn a_record_goes_on_with_what_is_harmless_whoever_wrote_it() {
        for text in [
            "ext4",
            "a=ext4",
            "ext4,nobarrier",
            "ext4,barrier=0",
            "ext4,data=journal,commit=30",
            "xfs,noatime",
            "btrfs,compress=zstd:1",
            "btrfs,nodatacow,nodatasum",
            "btrfs,discard=async",
            "btrfs,space_cache=v2",
            "jfs@uml",
            "ext4@qemu",
            "ext4@image",
            "ext4@/mnt/fast",
            "xfs@/dev/sdb2",
            "/mnt/a",
            "rsext4,journal",
            "nilfs2,order=strict",
            "f2fs,fsync_mode=nobarrier",
            "reiserfs,notail",
            "ext4,nodelalloc,lazytime",
        ] {
            assert_eq!(must_be_typed(&lane(text)), None, "{text}");
        }
        for text in [
            "./myfs.toml",
            "x=/tmp/evil.toml",
            "ext4(-b 1024)",
            "xfs,-mreflink=0",
            "ext4@qemu:/tmp/vmlinuz",
            "ext4,errors=panic",
            "btrfs,fatal_errors=panic",
            "ext4,abort",
            "ext4,context=x",
            "ext4,data=../x",
            "xfs,logdev=/dev/sdb",
            "btrfs,device=/dev/sdb",
            "ext4,journal_path=/dev/sdb",
            "ext4,journal_dev=0x801",
            "ntfs,suid",
            "ntfs,dev",
            "ntfs,usermapping=x",
            "tmpfs,size=1T",
            "ext4,x-mount.mkdir",
            "ext9",
            "ext4+aged=churn:1000x",
            "ext4+aged=git:2000",
            "ext4+aged=mine.toml",
            "btrfs,subvol=/",
            "btrfs,compress=a/b",
            "ext4/vm,dirty_ratio=5",
            "/mnt/a,server=sync",
            "a=/mnt/a,server=async",
        ] {
            assert!(must_be_typed(&lane(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn a_lane_that_no_command_line_makes_is_not_raced() {
        let plain = lane("a=ext4,noatime");
        for odd in [
            LaneSpec { name: "x\u{1b}[2J".to_owned(), ..plain.clone() },
            LaneSpec { name: String::new(), ..plain.clone() },
            LaneSpec { name: "../../etc/cron.d/x".to_owned(), ..plain.clone() },
            LaneSpec { name: "x".repeat(65), ..plain.clone() },
            LaneSpec { mount_options: vec!["noatime,suid".to_owned()], ..plain.clone() },
            LaneSpec { mount_options: vec![String::new()], ..plain.clone() },
            LaneSpec { mount_options: vec!["-b1024".to_owned()], ..plain.clone() },
            LaneSpec { mount_options: vec!["noatime".to_owned()], ..lane("/mnt/a") },
            LaneSpec { venue: Some(Venue::Image(Some("relative".into()))), ..plain.clone() },
            LaneSpec { venue: Some(Venue::Device("/tmp/x".into())), ..plain },
        ] {
            assert!(must_be_typed(&odd).is_some(), "{odd:?}");
        }
    }

    #[test]
    fn the_tables_name_nothing_twice() {
        let own = FILESYSTEMS.iter().map(|row| row.plain_options);
        for options in own.chain([OPTIONS.as_slice()]) {
            for (index, name) in options.iter().enumerate() {
                assert!(!options[..index].contains(name), "{name}");
            }
        }
        let shared = |name: &&str| FILESYSTEMS.iter().any(|row| row.plain_options.contains(name));
        assert_eq!(OPTIONS.iter().find(|name| shared(name)), None);
    }
}
