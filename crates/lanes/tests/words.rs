//! What a lane says to mkfs and mount reaches no disk and no file but its own, unless `--erase` names it.

mod common;

use common::{Disk, Scratch, no_stop, privileged, refusal, says, with_lanes};
use lanes::{FailureKind, LaneFailure, LaneSet, Settings};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Every byte of a disk, as the disk has it.
fn bytes_of(disk: &Disk) -> Vec<u8> {
    disk.device.sync().unwrap();
    disk.device.drop_cache().unwrap();
    let mut bytes = vec![0u8; usize::try_from(disk.image.size_bytes()).unwrap()];
    std::fs::File::open(disk.path()).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// A disk with somebody's filesystem on it, which nobody named in `--erase`.
fn somebodys_disk(scratch: &Scratch) -> Disk {
    let disk = Disk::new(scratch, "somebodys", 64);
    disk.run("mkfs.ext4", &["-q", "-F"]);
    disk
}

/// Refused, or not raced here at all.
fn refused(settings: Settings, lane: &str) -> LaneFailure {
    match LaneSet::check(settings) {
        Err(error) => {
            let absent = error.kind() == FailureKind::Privilege
                && ["kernel lacks", "is missing"].iter().any(|words| error.to_string().contains(words));
            assert!(error.kind() == FailureKind::Usage || absent, "{lane}: {error}");
            error
        }
        Ok(_) => panic!("{lane} was not refused"),
    }
}

/// Lanes that hand another disk to mkfs or to mount; `@` stands for its name.
const HANDED_OVER: [&str; 39] = [
    "btrfs(@)",
    "ext4(@)",
    "xfs(@)",
    "btrfs(-m raid1 @)",
    "btrfs(-- @)",
    "btrfs(-L x @)",
    "btrfs(-qK @)",
    "btrfs(-L @)",
    "ext4(-b 1024 @)",
    "ext4(-q @ 1000)",
    "xfs(-l logdev=@)",
    "xfs(-llogdev=@)",
    "xfs,-llogdev=@",
    "xfs(-l size=16m,logdev=@)",
    "xfs(-l logdev=@,size=16m)",
    "xfs(-Kl logdev=@)",
    "xfs(-r rtdev=@)",
    "xfs(-l name=@)",
    "xfs(-d name=@)",
    "xfs(-d file,name=@)",
    "xfs(-i size=512 -dname=@)",
    "ext4(-J device=@)",
    "ext4(-Jdevice=@)",
    "ext4,-Jdevice=@",
    "ext4(-J size=4,device=@)",
    "ext4(-FJ device=@)",
    "ext4(-qFJdevice=@)",
    "f2fs(-c @)",
    "f2fs(-c@)",
    "f2fs(-ic @)",
    "jfs(-j @)",
    "jfs(-J device=@)",
    "reiserfs(-j @)",
    "reiserfs(--journal-device=@)",
    "reiserfs(--journal-device @)",
    "xfs,logdev=@",
    "xfs,rtdev=@",
    "btrfs,device=@",
    "ext4,journal_path=@",
];

#[test]
fn a_disk_that_nobody_named_survives_byte_for_byte() {
    if !privileged("disks that nobody named") {
        return;
    }
    let (place, scratch) = (Scratch::new(), Scratch::new());
    let disk = somebodys_disk(&place);
    let before = bytes_of(&disk);
    let name = disk.path().file_name().unwrap().to_string_lossy().into_owned();
    let link = place.path.join("link");
    std::os::unix::fs::symlink(disk.path(), &link).unwrap();
    let opened = std::fs::File::open(disk.path()).unwrap();
    let spelt = [
        disk.path().display().to_string(),
        format!("/dev/../dev/{name}"),
        format!("/dev//{name}"),
        format!("/proc/self/root/dev/{name}"),
        format!("/proc/self/fd/{}", opened.as_raw_fd()),
        format!("/dev/fd/{}", opened.as_raw_fd()),
        link.display().to_string(),
        // From any working directory.
        format!("../../../../../../../../dev/{name}"),
    ];
    for spelt in &spelt {
        for lane in HANDED_OVER {
            let lane = format!("n={}", lane.replace('@', spelt));
            refused(scratch.settings(&[&lane], 320), &lane);
        }
    }
    assert!(before == bytes_of(&disk), "somebody's disk was written to");
    scratch.assert_nothing_left();
    let lane = format!("xfs(-l logdev={})", disk.path().display());
    let error = refusal(scratch.settings(&[&lane], 320));
    says(&error, FailureKind::Usage, &["holds ext2/ext3/ext4", &format!("pass --erase {}", disk.path().display())]);
}

#[test]
fn a_device_that_is_named_by_no_path_is_refused() {
    let scratch = Scratch::new();
    for (lane, parts) in [
        ("ext4(-J device=UUID=0a0b0c0d-0000-4000-8000-000000000001)", ["is no block device", "by its path"]),
        ("ext4(-J device=LABEL=journal)", ["is no block device", "by its path"]),
        ("ext4(-Jdevice=PARTUUID=0a0b0c0d-01)", ["is no block device", "by its path"]),
        ("jfs(-J device=UUID=0a0b0c0d-0000-4000-8000-000000000001)", ["is no block device", "by its path"]),
        ("jfs(-j LABEL=journal)", ["is no block device", "by its path"]),
        ("ext4,journal_dev=0x801", ["by its number", "journal_path="]),
        ("ext4,journal_dev=2049", ["by its number", "journal_path="]),
        ("ext4,journal_path=UUID=0a0b0c0d", ["is no block device", "by its path"]),
        ("xfs,logdev=/etc/passwd", ["is no block device", "by its path"]),
        ("xfs(-l logdev=/no/such)", ["is no block device", "by its path"]),
    ] {
        let error = refusal(scratch.settings(&[lane], 320));
        says(&error, FailureKind::Usage, &parts);
    }
}

#[test]
fn a_second_device_that_erase_names_passes_the_checks_of_the_first() {
    if !privileged("a second device") {
        return;
    }
    let (place, scratch) = (Scratch::new(), Scratch::new());
    let log = Disk::new(&place, "log", 96);
    log.run("mkfs.ext4", &["-q", "-F"]);
    let link = place.path.join("link");
    std::os::unix::fs::symlink(log.path(), &link).unwrap();
    let lane = format!("a=xfs(-l logdev={0}),logdev={0}", link.display());
    let settings = |lanes: &[&str]| Settings { erase: vec![log.path()], ..scratch.settings(lanes, 320) };
    // In use: `--erase` does not help.
    let target = place.path.join("m");
    std::fs::create_dir(&target).unwrap();
    lanes::mount::mount("ext4", log.path().to_str().unwrap(), &[], &target).unwrap();
    let error = refusal(settings(&[&lane]));
    lanes::mount::unmount_patiently(&target).unwrap();
    wait_until_free(&log.path());
    says(&error, FailureKind::Usage, &["never overwritten", "is mounted at"]);
    let before = bytes_of(&log);
    // One for two lanes.
    let second = lane.replacen("a=", "b=", 1);
    says(&refusal(settings(&[&lane, &second])), FailureKind::Usage, &["a device of its own"]);
    let error = refusal(Settings { with_self: true, ..settings(&[&lane]) });
    says(&error, FailureKind::Usage, &["a device of its own"]);
    says(&refusal(settings(&["xfs"])), FailureKind::Usage, &["names a device that no lane uses"]);
    // A person is asked for it as for any other.
    let mut asked = LaneSet::check(Settings { terminal: true, ..settings(&[&lane]) }).unwrap();
    let error = asked.build(&mut scratch.journal(), &mut |_, _| {}, &no_stop()).unwrap_err();
    says(&error, FailureKind::Usage, &["waits for its confirmation"]);
    drop(asked);
    std::fs::remove_file(scratch.journal_path()).unwrap();
    assert!(before == bytes_of(&log), "the log was written to before it was confirmed");
    with_lanes(&scratch, settings(&[&lane]), |lane_set, journal| {
        // A link that points elsewhere now is nothing to the lane: it keeps the device that was checked.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        std::fs::write(opened.directory.join("f"), "x").unwrap();
        lane_set.make_cold(0).unwrap();
        lane_set.close(0, journal).unwrap();
        assert!(before != bytes_of(&log), "the log lies on it");
        let held = {
            use std::os::unix::fs::OpenOptionsExt;
            std::fs::OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(log.path()).unwrap()
        };
        let error = lane_set.open(0, 0, journal, &no_stop()).unwrap_err();
        drop(held);
        wait_until_free(&log.path());
        says(&error, FailureKind::Failed, &["came into use"]);
    });
}

#[test]
fn files_and_folders_are_nothing_to_mkfs() {
    let scratch = Scratch::new();
    let file = scratch.path.join("disk.img");
    std::fs::write(&file, vec![7u8; 1 << 20]).unwrap();
    let before = std::fs::read(&file).unwrap();
    let file = file.display().to_string();
    for (lane, part) in [
        ("btrfs(@)", "its device from Fairlane alone"),
        ("ext4(@)", "its device from Fairlane alone"),
        ("btrfs(-)", "its device from Fairlane alone"),
        ("xfs(-d name=@)", "the lane's own device"),
        ("xfs(-d file,name=@,size=300m)", "the lane's own device"),
        ("xfs(-l file,name=@,size=16m)", "makes a file"),
        ("xfs(-r file,name=@)", "makes a file"),
        ("xfs(-p @)", "copies files into the lane"),
        ("xfs(-c options=@)", "reads a file"),
        ("xfs(-l logdev=@)", "is no block device"),
        ("ext4(-d @)", "copies files into the lane"),
        ("ext4(-l @)", "reads a file"),
        ("ext4(-z @)", "writes a file"),
        ("ext4(-qz@)", "writes a file"),
        ("ext4(-J device=@)", "is no block device"),
        ("btrfs(-r @)", "copies files into the lane"),
        ("btrfs(--rootdir @)", "copies files into the lane"),
        ("btrfs(--rootdir=@)", "copies files into the lane"),
        // Cut short as getopt_long takes it.
        ("btrfs(--rootd=@)", "none of the options"),
        ("btrfs(--no-such)", "none of the options"),
        ("reiserfs(-B @)", "reads a file"),
        ("reiserfs(--badblocks=@)", "reads a file"),
        ("f2fs(-c @)", "is no block device"),
        ("bcachefs(--source=@)", "copies files into the lane"),
        ("ext4(-E encoding=@)", "holds a slash"),
        ("ext4(-O @)", "holds a slash"),
        ("xfs(-i @)", "holds a slash"),
        ("btrfs({device})", "{device} stands in a file"),
        ("ext4(-L {options}@)", "{options} stands in a file"),
        ("ext4(-L {directory})", "{directory} stands in a file"),
        ("ext4(-L)", "`-L` of mkfs.ext4 wants a value"),
        ("xfs(-f -d)", "`-d` of mkfs.xfs wants a value"),
        ("btrfs(--label)", "`--label` of mkfs.btrfs wants a value"),
    ] {
        let lane = format!("n={}", lane.replace('@', &file));
        says(&refusal(scratch.settings(&[&lane], 320)), FailureKind::Usage, &[part]);
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn mount_options_that_are_not_about_the_lanes_own_filesystem_are_refused() {
    let scratch = Scratch::new();
    let custom = scratch.path.join("my.toml");
    std::fs::write(
        &custom,
        "name = \"my\"\nmount = [\"mount\", \"-o\", \"{options}\", \"{device}\", \"{directory}\"]\n",
    )
    .unwrap();
    for filesystem in ["ext4", "btrfs", "ntfs", custom.to_str().unwrap()] {
        for (option, part) in [
            ("suid", "nosuid and nodev"),
            ("dev", "nosuid and nodev"),
            ("loop", "from Fairlane alone"),
            ("loop=/dev/loop7", "from Fairlane alone"),
            ("source=/dev/sdz", "from Fairlane alone"),
            ("offset=4096", "from Fairlane alone"),
            ("bind", "something else"),
            ("remount", "another mount"),
            ("x-mount.mkdir", "mount(8)"),
            ("X-mount.owner=0", "mount(8)"),
            ("helper=x", "a program"),
            ("sb=8193", "another superblock"),
            ("errors=panic", "machine would stop at the first error"),
            ("fatal_errors=panic", "stop at the first error"),
            ("fatal_errors=bug", "stop at the first error"),
        ] {
            let lane = format!("{filesystem},{option}");
            says(&refusal(scratch.settings(&[&lane], 320)), FailureKind::Usage, &[part, "remove it"]);
        }
    }
    for lane in ["tmpfs,size=1T", "tmpfs,nr_blocks=1000000"] {
        says(&refusal(scratch.settings(&[lane], 320)), FailureKind::Usage, &["as large as the others"]);
    }
}

/// The file is the user's own; what a lane adds to it is looked at.
#[test]
fn options_that_a_lane_adds_to_a_file_of_ones_own_name_no_device_and_no_file() {
    let scratch = Scratch::new();
    let custom = scratch.path.join("my.toml");
    std::fs::write(
        &custom,
        "name = \"my\"\nmkfs = [\"mkfs.ext4\", \"-q\", \"-F\", \"{device}\"]\nmount = [\"mount\", \"-o\", \"{options}\", \"{device}\", \"{directory}\"]\n",
    )
    .unwrap();
    let at = custom.display();
    let device = any_block_device();
    let mut lanes = vec![
        format!("{at}(/etc/passwd)"),
        format!("{at}(-d /etc)"),
        format!("{at}(-d/etc)"),
        format!("{at}(-b 1024 4096)"),
        format!("{at}(4096)"),
        format!("{at}(-- 4096)"),
        format!("{at}(-J device=UUID=0a0b0c0d)"),
        format!("{at}({{device}})"),
    ];
    if let Some(device) = device {
        let device = device.display();
        lanes.extend([
            format!("{at}({device})"),
            format!("{at}(-J device={device})"),
            format!("{at}(-Jdevice={device})"),
            format!("{at}(-fl{device})"),
            format!("{at},journal_path={device}"),
        ]);
    }
    for lane in &lanes {
        assert_eq!(refusal(scratch.settings(&[lane], 320)).kind(), FailureKind::Usage, "{lane}");
    }
    if privileged("options of a file of one's own") {
        let plain = Scratch::new();
        let text = std::fs::read_to_string(&custom).unwrap().replace("[\"mount\",", "[\"mount\", \"-t\", \"ext4\",");
        std::fs::write(&custom, text).unwrap();
        let lane = format!("{at}(-b 1024 -O ^has_journal),noatime");
        with_lanes(&plain, plain.settings(&[&lane], 64), |_, _| {});
    }
}

#[test]
fn sizes_that_overflow_are_refused_and_not_wrapped() {
    if !privileged("sizes that overflow") {
        return;
    }
    let scratch = Scratch::new();
    for (lanes, size) in [
        (&["ext4", "xfs"][..], 1u64 << 63),
        (&["ext4", "xfs", "btrfs", "f=ext4"], 1 << 62),
        (&["tmpfs", "b=tmpfs"], 1 << 63),
    ] {
        let settings = Settings { lane_size: model::Bytes(size), ..scratch.settings(lanes, 320) };
        let error = refusal(settings);
        assert!(error.kind() == FailureKind::Failed && error.to_string().contains("lower --lane-size"), "{error}");
    }
}

/// The kernel lets go of a device a moment after its unmount.
fn wait_until_free(device: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let is_claimed = || std::fs::OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(device).is_err();
    for _ in 0..500 {
        if !is_claimed() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A block device that is there, whatever it is; it is only named.
fn any_block_device() -> Option<PathBuf> {
    let entries = std::fs::read_dir("/sys/class/block").ok()?.flatten();
    entries.map(|entry| Path::new("/dev").join(entry.file_name())).find(|path| path.exists())
}
