//! Btrfs.

mod screened;

use super::{BASE, Checker, Filesystem, Replacer};
use crate::command;
use crate::failure::LaneFailure;
use crate::geometry::{all_but, pick, value_of};
use crate::guarantees::GuaranteeOption;
use crate::mkfs_words::Value::Refused;
use crate::mkfs_words::{COPIES_A_FOLDER, Grammar, MAKES_NOTHING};
use crate::other_devices::{Bytes, Image};
use crate::promises::{JOURNALED, barriers_off, last_word, without_barriers};
use crate::same_names::NamePlaces;
use crate::signature::At::Start;
use crate::signature::{Magic, Marks};
use crate::single_lane::{Consistency, Scrub};
use model::lane::{CrashEffect, Promises};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const MAGIC: &[u8] = b"_BHRfS_M";
const MAGICS: &[Magic] = &[(&[Start(SUPERBLOCKS[0] + 64)], MAGIC)];
/// Where it keeps its superblocks: the kernel mounts by the first, its tools may take another.
const SUPERBLOCKS: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];

/// Btrfs.
pub(super) static BTRFS: Filesystem = Filesystem {
    name: "btrfs",
    features: include_str!("../../../../features/btrfs.toml"),
    minimum_bytes: 256 * model::Bytes::MIB,
    mkfs: &["mkfs.btrfs", "-f", "-K"],
    package: "btrfs-progs",
    mkfs_takes: &MKFS,
    mkfs_word_lists: &["-O", "-R", "--features", "--runtime-features"],
    screened: screened::OPTIONS,
    mkfs_looks_around: true,
    least_devices,
    capacity,
    forget: Some(forget),
    geometry: |mkfs_output, _| facts(mkfs_output),
    makes: |mkfs_output, device| all_but(&mkfs_output.replace(&*device.to_string_lossy(), "device"), &["UUID"]),
    module: "btrfs",
    mount_options: &["nodiscard"],
    mount_devices: &["device"],
    mount_refused: &[("fatal_errors", "the kernel would stop at the first error, in one of two ways")],
    plain_options: &[
        "autodefrag",
        "compress",
        "compress-force",
        "datacow",
        "datasum",
        "flushoncommit",
        "max_inline",
        "metadata_ratio",
        "space_cache",
        "ssd",
        "ssd_spread",
        "thread_pool",
        "treelog",
    ],
    // The lesser of the two, and the default.
    careful: Some(&["fatal_errors=bug"]),
    // It knows filesystems by the name that all copies share; since Linux 6.7 it gives each copy one of its own.
    further_device_option: Some("device"),
    degraded_option: Some(model::stack::DEGRADED),
    // From the others wherever they have it, and without a discard, which would make holes in images.
    replace: Some(Replacer { command: &["btrfs", "replace", "start", "-B", "-f", "-r", "-K"], has_copies }),
    copies_need: Some("/sys/fs/btrfs/features/temp_fsid"),
    promises,
    guarantee_options: GUARANTEE_OPTIONS,
    commit_seconds: Some(30),
    metadata_checksums: |_| Some(true),
    // mkfs.btrfs(8), profiles.
    metadata_copies: |geometry| match value_of(geometry, "Metadata")?.split_whitespace().next()? {
        "DUP" => Some(2),
        "single" => Some(1),
        _ => None,
    },
    checker: Some(Checker::from_look("btrfs-progs", &["btrfs", "check", "--readonly", "{device}"])),
    scrub: Some(scrub),
    marks: Marks { magics: MAGICS, joined: MAGICS, begins_with_zeros: true, ..Marks::NONE },
    names: NamePlaces {
        uuids: &[(Start(SUPERBLOCKS[0] + 32), 16)],
        labels: &[(Start(SUPERBLOCKS[0] + 299), 256)],
        ..NamePlaces::NONE
    },
    names_others: Some(names_others),
    ..BASE
};

/// btrfs(5).
const GUARANTEE_OPTIONS: &[GuaranteeOption] = &[
    GuaranteeOption::new("flush", &["flushoncommit"], Some(CrashEffect::CommitsAllData)),
    GuaranteeOption::new("flush", &["noflushoncommit"], None),
    GuaranteeOption::new("log", &["notreelog"], Some(CrashEffect::CommitsAllAtFsync)),
    GuaranteeOption::new("log", &["treelog"], None),
    GuaranteeOption::new("root", &["usebackuproot", "rescue=usebackuproot", "recovery"], Some(CrashEffect::OlderState)),
    GuaranteeOption::new("cow", &["nodatacow"], Some(CrashEffect::OverwritesInPlace)),
    GuaranteeOption::new("cow", &["datacow"], None),
];

/// mkfs.btrfs(8) and the sources of btrfs-progs 6.2 to 6.14. Further devices are words without an option there, so a lane
/// has one.
const MKFS: Grammar = Grammar {
    flags: "fqvKM",
    texts: "bdlmnsLORU",
    others: &[('r', COPIES_A_FOLDER), ('A', Refused("is no longer heeded")), ('V', MAKES_NOTHING)],
    long_flags: &["force", "quiet", "verbose", "nodiscard", "mixed"],
    long_texts: &[
        "byte-count",
        "checksum",
        "csum",
        "data",
        "device-uuid",
        "features",
        "label",
        "leafsize",
        "metadata",
        "nodesize",
        "runtime-features",
        "sectorsize",
        "uuid",
    ],
    long_others: &[("rootdir", COPIES_A_FOLDER)],
    long_of: &[
        ("byte-count", 'b'),
        ("data", 'd'),
        ("features", 'O'),
        ("force", 'f'),
        ("label", 'L'),
        ("leafsize", 'l'),
        ("metadata", 'm'),
        ("mixed", 'M'),
        ("nodesize", 'n'),
        ("nodiscard", 'K'),
        ("quiet", 'q'),
        ("runtime-features", 'R'),
        ("sectorsize", 's'),
        ("uuid", 'U'),
        ("verbose", 'v'),
    ],
};

/// Profiles of several devices with the fewest that each takes, as mkfs.btrfs has them. raid0 is content with one.
static PROFILES: [(&str, u32); 6] =
    [("raid1", 2), ("raid1c3", 3), ("raid1c4", 4), ("raid10", 2), ("raid5", 2), ("raid6", 3)];

fn least_devices(words: &[String]) -> u32 {
    let of = |word: &String| {
        PROFILES.iter().filter(|(name, _)| word.to_ascii_lowercase().ends_with(name)).map(|(_, least)| *least).max()
    };
    words.iter().filter_map(of).max().unwrap_or(1)
}

/// include/uapi/linux/btrfs.h, `struct btrfs_ioctl_vol_args`.
#[repr(C)]
struct VolumeArguments {
    descriptor: i64,
    name: [u8; 4088],
}

/// `_IOW(BTRFS_IOCTL_MAGIC, 5, struct btrfs_ioctl_vol_args)`.
const FORGET_DEVICE: libc::c_ulong = 0x5000_9405;

/// As `btrfs device scan --forget DEVICE` does, and of an empty name of all that are not mounted: a device that is registered is mounted
/// with others of its filesystem, whoever named it.
fn forget(device: &Path) -> std::io::Result<()> {
    let mut arguments = VolumeArguments { descriptor: 0, name: [0; 4088] };
    let path = device.as_os_str().as_bytes();
    let room = arguments.name.get_mut(..path.len()).filter(|room| room.len() < 4088);
    room.ok_or(std::io::ErrorKind::InvalidInput)?.copy_from_slice(path);
    let control = std::fs::File::options().read(true).write(true).open("/dev/btrfs-control")?;
    // SAFETY: the kernel reads a structure of this size, whose name ends with a zero.
    match unsafe { libc::ioctl(control.as_raw_fd(), FORGET_DEVICE as _, &arguments) } {
        0 => Ok(()),
        _ => match std::io::Error::last_os_error() {
            // It was not registered, or the kernel is older than 5.1 and cannot forget.
            error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTTY)) => Ok(()),
            error => Err(error),
        },
    }
}

/// By the profile of its data; what metadata takes is left out.
fn capacity(words: &[String], each: u64, devices: u64) -> u64 {
    let all = each.saturating_mul(devices);
    // mkfs takes them in capitals too.
    match profile(words, "-d", "--data").unwrap_or_default().to_ascii_lowercase().as_str() {
        "raid5" => all.saturating_sub(each),
        "raid6" => all.saturating_sub(each.saturating_mul(2)),
        "dup" | "raid1" | "raid10" => all / 2,
        "raid1c3" => all / 3,
        "raid1c4" => all / 4,
        _ => all,
    }
}

/// Whether data and metadata are on more devices than one: metadata is, unless it is told otherwise.
fn has_copies(words: &[String]) -> bool {
    let copied = |profile: &str| PROFILES.iter().any(|(name, _)| name.eq_ignore_ascii_case(profile));
    profile(words, "-d", "--data").is_some_and(copied) && profile(words, "-m", "--metadata").is_none_or(copied)
}

/// What the last word for it says.
fn profile<'a>(words: &'a [String], short: &str, long: &str) -> Option<&'a str> {
    let at = words.iter().rposition(|word| word.starts_with(short) || word.starts_with(long))?;
    let behind = words[at].strip_prefix(long).or_else(|| words[at].strip_prefix(short)).unwrap_or_default();
    match behind.strip_prefix('=').unwrap_or(behind) {
        "" => words.get(at + 1).map(String::as_str),
        profile => Some(profile),
    }
}

fn facts(text: &str) -> Vec<String> {
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

fn promises(_: &[String], mount: &[String]) -> Promises {
    // `nodatacow` implies `nodatasum`; of the two positive options only `datasum` takes that back.
    let unsummed = last_word(mount, &["nodatasum", "nodatacow"], &["datasum"]).unwrap_or(false);
    without_barriers(Promises { data_checksums: !unsummed, ..JOURNALED }, barriers_off(mount))
}

/// `btrfs scrub`, and the devices' own statistics.
fn scrub(target: &Path, stop: &AtomicBool) -> Result<Scrub, LaneFailure> {
    let run = |words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned());
        command::run(&words.chain([target.display().to_string()]).collect::<Vec<_>>(), stop)
    };
    match run(&["btrfs", "scrub", "start", "-B"]) {
        // What a read found and repaired before the scrub, the devices' own statistics remember.
        Ok(output) if output.stdout.contains("no errors found") => {
            let (said, corrected) = counted(&run(&["btrfs", "device", "stats"])?.stdout);
            let told = if said.is_empty() { Consistency::Clean } else { Consistency::Complaint(said) };
            Ok(Scrub { told, corrected })
        }
        Ok(output) => {
            let (said, corrected) = summary_of(&output.stdout);
            Ok(Scrub { told: Consistency::Complaint(said), corrected })
        }
        Err(LaneFailure::Failed(said)) => Ok(Scrub { told: Consistency::Complaint(said), corrected: 0 }),
        Err(other) => Err(other),
    }
}

/// The lines of a scrub that count errors, and how many it corrected.
fn summary_of(text: &str) -> (String, u64) {
    let told = ["Error summary", "Corrected", "Uncorrectable", "Unverified"];
    let lines = text.lines().map(str::trim).filter(|line| told.iter().any(|word| line.starts_with(word)));
    let lines: Vec<String> = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let corrected = lines.iter().filter_map(|line| line.strip_prefix("Corrected: ")?.parse::<u64>().ok()).sum();
    (lines.join("; "), corrected)
}

/// The counters of `btrfs device stats` that are not zero, over all devices: `corruption_errs 13`; and their sum.
fn counted(text: &str) -> (String, u64) {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(Ok(count))) = (words.next(), words.next().map(str::parse::<u64>)) else { continue };
        let counter = name.rsplit('.').next().unwrap_or(name);
        *sums.entry(counter).or_default() += count;
    }
    let told = sums.iter().filter(|(_, count)| **count > 0).map(|(counter, count)| format!("{counter} {count}"));
    (told.collect::<Vec<_>>().join(", "), sums.values().sum())
}

/// include/uapi/linux/btrfs_tree.h: more devices than one, or a filesystem of which the machine has another device: the
/// kernel joins devices by the UUID of their filesystem, which whoever wrote the image chose.
fn names_others(image: &Image) -> std::io::Result<Option<String>> {
    for at in SUPERBLOCKS {
        let Some(superblock) = superblock(image, at)? else { continue };
        if superblock.le64(136) != 1 {
            return Ok(Some("it has more devices than one, or none".to_owned()));
        }
        if superblock.le64(56) & 1 << 32 != 0 {
            return Ok(Some("it is the seed of other filesystems".to_owned()));
        }
        let own = uuids(&superblock);
        for path in block_devices()?.into_iter().filter(|path| Some(path.as_path()) != image.device) {
            let Some(other) = superblock_of_device(&path) else { continue };
            if uuids(&other).iter().any(|uuid| own.contains(uuid)) {
                return Ok(Some(format!(
                    "{} is, by its UUID, a part of the same filesystem (where that is an earlier look, `fairlane clean` \
                     takes it away)",
                    path.display()
                )));
            }
        }
    }
    Ok(None)
}

fn superblock(image: &Image, at: u64) -> std::io::Result<Option<Bytes>> {
    let superblock = Bytes::new(image, at, 4096)?;
    Ok((superblock.at::<8>(64) == *MAGIC).then_some(superblock))
}

/// All by which its filesystem is known: of the filesystem, of its metadata, of the one that its device belongs to.
fn uuids(superblock: &Bytes) -> Vec<[u8; 16]> {
    let uuids = [superblock.at::<16>(32), superblock.at::<16>(571), superblock.at::<16>(283)];
    uuids.into_iter().filter(|uuid| *uuid != [0; 16]).collect()
}

/// Every block device of the machine.
fn block_devices() -> std::io::Result<Vec<PathBuf>> {
    let text = std::fs::read_to_string("/proc/partitions")?;
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(3)).filter(|name| *name != "name");
    // The kernel writes `!` for the `/` of names such as cciss/c0d0.
    Ok(names.map(|name| Path::new("/dev").join(name.replace('!', "/"))).collect())
}

/// What cannot be opened or read is no part that the kernel could join.
fn superblock_of_device(path: &Path) -> Option<Bytes> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    let device = File::options().read(true).custom_flags(flags.cast_signed()).open(path).ok()?;
    superblock(&Image { file: device, device: None }, SUPERBLOCKS[0]).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn data_is_checked_unless_told_otherwise() {
        assert!(promises(&[], &words("compress=zstd:1")).data_checksums);
        assert!(!promises(&[], &words("nodatacow")).data_checksums);
        assert!(!promises(&[], &words("nodatasum")).data_checksums);
        assert!(promises(&[], &words("nodatasum datasum")).data_checksums);
    }

    #[test]
    fn what_its_mkfs_prints_is_read() {
        let text = "Node size:          16384\nBlock group profiles:\n  Data:             single            8.00MiB\n";
        assert_eq!(facts(text), ["Node size: 16384", "Data: single 8.00MiB"]);
    }

    #[test]
    fn what_its_mkfs_makes_is_told_without_its_uuid_and_its_device() {
        let told = |device: &str, uuid: &str| {
            let text = format!("Label: (null)\nUUID:               {uuid}\n   1     2.00GiB  {device}\n");
            (BTRFS.makes)(&text, Path::new(device))
        };
        assert_eq!(told("/dev/loop0", "1-2"), ["Label: (null)", "1 2.00GiB device"]);
        assert_eq!(told("/dev/loop0", "1-2"), told("/dev/loop12", "3-4"));
    }

    #[test]
    fn statistics_of_devices_are_added_up_and_zeros_say_nothing() {
        let text = "[/dev/loop0].write_io_errs    0\n[/dev/loop0].corruption_errs  13\n\
            [/dev/loop1].corruption_errs  2\n[/dev/loop1].generation_errs  1\n";
        assert_eq!(counted(text), ("corruption_errs 15, generation_errs 1".to_owned(), 16));
        assert_eq!(counted("[/dev/loop0].write_io_errs 0\n"), (String::new(), 0));
    }

    #[test]
    fn a_scrub_says_what_it_corrected() {
        let text = "Scrub started:    x\nError summary:    csum=9\n  Corrected:      7\n  Uncorrectable:  2\n";
        assert_eq!(summary_of(text), ("Error summary: csum=9; Corrected: 7; Uncorrectable: 2".to_owned(), 7));
    }

    #[test]
    fn what_is_on_one_device_alone_is_not_rebuilt_from_the_others() {
        for (options, copies) in [
            ("-d raid1 -m raid1", true),
            ("-draid1", true),
            ("--data=raid5 --metadata raid1c3", true),
            ("", false),
            ("-d single -m raid1", false),
            ("-d raid1 -m dup", false),
            ("-d raid0", false),
        ] {
            assert_eq!(has_copies(&words(options)), copies, "{options}");
        }
    }

    #[test]
    fn a_profile_of_several_devices_says_how_many() {
        for (options, least) in
            [("", 1), ("-m dup", 1), ("-d raid0", 1), ("-m raid1 -d raid1", 2), ("--data=raid1c3", 3)]
        {
            assert_eq!(least_devices(&words(options)), least, "{options}");
        }
    }
}
