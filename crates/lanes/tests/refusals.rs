//! Everything that is refused before anything is written, with its sentence and its sort.

mod common;

use common::{Disk, Scratch, no_stop, privileged, refusal, says, with_lanes};
use lanes::availability::Availability;
use lanes::device::Confirm;
use lanes::{FailureKind, LaneSet};
use model::plan::Ground;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn names_that_make_no_sense_are_refused_with_the_remedy() {
    let scratch = Scratch::new();
    let long: Vec<String> = (0..65).map(|number| format!("n{number}=ext4")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    for (specs, parts) in [
        (vec!["exr4"], vec!["no filesystem is called `exr4`", "did you mean ext4?"]),
        (vec!["mine.toml"], vec!["to race a filesystem of your own write ./mine.toml"]),
        (vec!["data/"], vec!["no filesystem is called `data/`", "to race a directory write ./data/"]),
        (vec!["src"], vec!["`src`", "write ./src"]),
        (vec!["hammer"], vec!["`hammer`", "fairlane doctor"]),
        (vec!["ext4", "ext4"], vec!["two lanes are called ext4", "NAME=ext4"]),
        (vec!["a=ext4", "a=xfs"], vec!["two lanes are called a", "NAME=xfs"]),
        (vec!["ext4@qemu:/etc/passwd"], vec!["/etc/passwd is no kernel image", "name a vmlinuz"]),
        (vec!["ext4@qemu:/no/such"], vec!["/no/such", "name a kernel image"]),
        (vec!["ext4@library"], vec!["lane ext4", "the venue library is for rsext4", "remove @library"]),
        (vec!["rsext4,noatime"], vec!["rsext4 has no option `noatime`", "journal or nojournal"]),
        (vec!["rsext4,-b1024"], vec!["rsext4 has no option `-b1024`", "journal or nojournal"]),
        (vec!["rsext4(-b 1024)"], vec!["rsext4 has no option `-b`"]),
        (vec!["rsext3"], vec!["did you mean rsext4?"]),
        (vec!["zfs"], vec!["fairlane race /tank/dir"]),
        (vec!["tmpfs@image"], vec!["takes no venue"]),
        (vec!["tmpfs,-b1"], vec!["has no mkfs"]),
        (vec!["./no-such.toml"], vec!["no-such.toml", "name a TOML file"]),
        (vec![], vec!["no lane to race"]),
        (long, vec!["65 lanes"]),
    ] {
        says(&refusal(scratch.settings(&specs, 1024)), FailureKind::Usage, &parts);
    }
    scratch.assert_nothing_left();
}

#[test]
fn what_a_filesystem_cannot_stand_on_is_refused_with_what_it_can() {
    let scratch = Scratch::new();
    for (spec, parts) in [
        ("ext4/raid7:4", vec!["there is no layer `raid7`, did you mean raid6?", "layers are raid0, raid1"]),
        ("ext4/cript", vec!["no layer `cript`, did you mean crypt?"]),
        ("ext4:2", vec!["ext4 stands on one device", "ext4/raid0:2"]),
        ("btrfs,-draid1", vec!["take at least 2 disks", "given 1", "write :2 behind btrfs"]),
        ("btrfs,-draid1c4,-mraid1:2", vec!["take at least 4 disks", "given 2"]),
        ("ext4/raid5:4,consistency=journal", vec!["makes holes in images of this machine", "--disks", "--on qemu"]),
        ("ext4/raid5:2@qemu", vec!["raid5 (md RAID 5) stands on 3 to 24", "write /raid5:3"]),
        ("ext4/raid5:3,stripe=1@qemu", vec!["raid5 has no option `stripe=1`", "chunk="]),
        ("ext4/raid0:5/raid0:5@qemu", vec!["stands on 25 disks", "24 are the most"]),
        ("tmpfs/crypt@qemu", vec!["tmpfs stands on no disk"]),
        ("rsext4/crypt", vec!["a library works on one disk"]),
        ("ext4/bcache:2", vec!["bcache is raced in a guest alone", "--on qemu"]),
        ("ext4/raid1:2@/dev/null", vec!["stands on 2 disks", "one device is named for it"]),
        ("btrfs:2@/dev/null", vec!["stands on 2 disks", "one device is named for it", "--disks /dev/a,/dev/b"]),
        ("/tmp/raid1:2", vec!["/tmp/raid1:2"]),
    ] {
        says(&refusal(scratch.settings(&[spec], 1024)), FailureKind::Usage, &parts);
    }
    for (spec, parts) in [
        ("ext4/crypt", vec!["stands on crypt", "built in a guest"]),
        ("xfs:3", vec!["is given 3 disks", "xfs stands on one", "leave the number out"]),
        ("btrfs,-draid1c4,-mraid1:3", vec!["take at least 4"]),
    ] {
        let spec = spec.parse().unwrap();
        says(&lanes::SingleLane::resolve(&spec).map(drop).unwrap_err(), FailureKind::Usage, &parts);
    }
    for (layer, state) in lanes::availability::layers_here() {
        let spec = format!("ext4/{layer}:2");
        // Those of this number of disks that this kernel has are raced here.
        if state == Some(Availability::KernelLacks) && ["raid1", "stripe", "cache"].contains(&layer) {
            says(
                &refusal(scratch.settings(&[&spec], 1024)),
                FailureKind::Privilege,
                &["this machine's kernel lacks", "race all lanes in a guest", "--on"],
            );
        }
    }
    let two = "btrfs,-draid1,-mraid1:2".parse().unwrap();
    assert_eq!(lanes::SingleLane::resolve(&two).map(|lane| lane.disks()).ok(), Some(2));
    scratch.assert_nothing_left();
}

#[test]
fn several_disks_are_throttled_each_and_none_that_is_rebuilt() {
    if !privileged("several throttled disks") {
        return;
    }
    let scratch = Scratch::new();
    let held = |lane: &str| {
        let mut settings = scratch.settings(&[lane], 256);
        settings.throttles.base = Some("100MiB/s".parse().unwrap());
        settings
    };
    assert!(LaneSet::check(held("btrfs:2")).is_ok_and(|set| set.describe().join("\n").contains("to 100MiB/s")));
    let rebuilt = held("btrfs:2(-d raid1 -m raid1),rebuilding");
    says(&refusal(rebuilt), FailureKind::Usage, &["rebuilds a disk beside it", "without --throttle"]);
    scratch.assert_nothing_left();
}

#[test]
fn a_name_that_with_self_takes_is_refused() {
    let scratch = Scratch::new();
    let mut settings = scratch.settings(&["a=ext4", "a~self=ext4"], 1024);
    settings.with_self = true;
    says(&refusal(settings), FailureKind::Usage, &["two lanes are called a~self"]);
}

#[test]
fn a_lane_that_is_too_small_is_refused() {
    let scratch = Scratch::new();
    says(
        &refusal(scratch.settings(&["xfs"], 256)),
        FailureKind::Usage,
        &["lane xfs", "at least 300MiB", "--lane-size"],
    );
    let mut settings = scratch.settings(&["ext4"], 512);
    settings.largest_work = lanes::LargestWork { title: "large files".to_owned(), bytes: 300 << 20 };
    says(
        &refusal(settings),
        FailureKind::Usage,
        &["the work (large files) needs 300 MiB", "half of a lane of 512 MiB", "--lane-size to 600MiB or more"],
    );
    let mut settings = scratch.settings(&["ext4"], 512);
    settings.lane_size.0 += 1;
    says(&refusal(settings), FailureKind::Usage, &["no multiple of 4KiB"]);
}

#[test]
fn what_the_kernel_or_the_machine_lacks_is_named_with_the_command_that_brings_it() {
    use lanes::availability::{Availability, survey};
    let scratch = Scratch::new();
    for (row, availability) in survey() {
        if row.home != lanes::filesystems::Home::Block {
            continue;
        }
        let settings = scratch.settings(&[row.name], 1024);
        match availability {
            Availability::Ready => {}
            Availability::KernelLacks => {
                says(&refusal(settings), FailureKind::Privilege, &["the kernel lacks", row.name]);
            }
            Availability::ToolMissing { package, .. } => {
                says(&refusal(settings), FailureKind::Privilege, &["apt install", package]);
            }
        }
    }
    let file = scratch.path.join("x.toml");
    std::fs::write(
        &file,
        "name = \"x\"\nmkfs = [\"mkfs.no-such-x\", \"{device}\"]\nmount = [\"mount\", \"{directory}\"]\n",
    )
    .unwrap();
    let error = refusal(scratch.settings(&[file.to_str().unwrap()], 1024));
    says(&error, FailureKind::Privilege, &["mkfs.no-such-x", "missing"]);
    std::fs::write(&file, "name = \"x\"\nmount = [\"mount\", \"{directory}\"]\nmodule = \"nosuchfs\"\n").unwrap();
    let error = refusal(scratch.settings(&[file.to_str().unwrap()], 1024));
    says(&error, FailureKind::Privilege, &["the kernel lacks nosuchfs"]);
}

#[test]
fn grounds_that_measure_no_disk_are_refused() {
    if !privileged("unsuitable grounds") {
        return;
    }
    let scratch = Scratch::new();
    let on = |folder: &Path| {
        let mut settings = scratch.settings(&["ext4"], 128);
        settings.ground = Ground::Images(folder.to_owned());
        settings
    };
    says(&refusal(on(Path::new("/dev/shm"))), FailureKind::Usage, &["is tmpfs", "lies in memory", "--on DIR"]);
    says(&refusal(on(Path::new("/no/such"))), FailureKind::Usage, &["/no/such", "No such file", "--on DIR"]);
    says(&refusal(on(Path::new("/etc/passwd"))), FailureKind::Usage, &["it is no directory"]);
    // A real overlay over the real disk.
    let folder = |name: &str| {
        let path = scratch.path.join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (lower, upper, work, merged) = (folder("lower"), folder("upper"), folder("work"), folder("merged"));
    let options = [("lowerdir", &lower), ("upperdir", &upper), ("workdir", &work)]
        .map(|(key, path)| format!("{key}={}", path.display()));
    lanes::mount::mount("overlay", "overlay", &options, &merged).unwrap();
    let error = refusal(on(&merged));
    lanes::mount::unmount_patiently(&merged).unwrap();
    says(&error, FailureKind::Usage, &["is overlay", "copies files between layers", "--on DIR"]);
    let mut settings = scratch.settings(&["ext4", "xfs@/var/tmp"], 512);
    settings.specs[1].venue = Some(model::lane::Venue::Image(Some(lower.clone())));
    says(&refusal(settings), FailureKind::Usage, &["equal ground", "--on DIR"]);
}

#[test]
fn a_full_disk_and_a_read_only_directory_are_refused() {
    if !privileged("full disk") {
        return;
    }
    let scratch = Scratch::new();
    let settings = scratch.settings(&["ext4"], 100 << 20);
    says(&refusal(settings), FailureKind::Failed, &["free", "--lane-size", "--on DIR"]);
    with_lanes(&scratch, scratch.settings(&["ext4"], 128), |lane_set, journal| {
        let directory = lane_set.open(0, 0, journal, &no_stop()).unwrap().directory;
        // On a real disk that is nearly full, the sum is refused before anything is written …
        let mut settings = scratch.settings(&["ext4"], 100);
        settings.run_id = "inner".to_owned();
        settings.ground = Ground::Images(directory.clone());
        says(&refusal(settings.clone()), FailureKind::Failed, &["100MiB needs 164 MiB"]);
        // … and a disk that fills up meanwhile is found out while allocating, at once.
        let path = directory.join("image");
        let error = lanes::image::Image::create(&path, 200 << 20, 1, &mut |_| {}, &no_stop()).unwrap_err();
        says(&error, FailureKind::Failed, &["is full", "200MiB", "--lane-size"]);
        let lane = directory.to_str().unwrap();
        let mut settings = scratch.settings(&[lane], 64);
        settings.run_id = "inner".to_owned();
        settings.largest_work.bytes = 1 << 30;
        says(&refusal(settings.clone()), FailureKind::Failed, &["the work needs", "choose another directory"]);
        remount_read_only(&directory);
        settings.largest_work.bytes = 1 << 20;
        says(&refusal(settings), FailureKind::Usage, &[lane, "read-only"]);
        says(&refusal(scratch_on(&scratch, &directory)), FailureKind::Usage, &["read-only", "--on DIR"]);
    });
    says(&refusal(scratch.settings(&["/no/such"], 64)), FailureKind::Usage, &["/no/such", "No such file"]);
}

fn scratch_on(scratch: &Scratch, folder: &Path) -> lanes::Settings {
    let mut settings = scratch.settings(&["ext4"], 64);
    settings.run_id = "inner".to_owned();
    settings.ground = Ground::Images(folder.to_owned());
    settings
}

fn remount_read_only(directory: &Path) {
    let output = Command::new("mount").args(["-o", "remount,ro"]).arg(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_unknown_mount_option_is_refused_by_name_before_anything_is_written() {
    if !privileged("unknown option") {
        return;
    }
    let scratch = Scratch::new();
    for (lane, option) in [
        ("ext4,no_such_option", "no_such_option"),
        ("xfs,nobarrier", "nobarrier"),
        ("btrfs,compress=potato", "compress=potato"),
        ("tmpfs,bananas=1", "bananas=1"),
    ] {
        let error = refusal(scratch.settings(&[lane], 512));
        says(&error, FailureKind::Usage, &[&format!("lane {lane}: "), &format!("refuses the mount option `{option}`")]);
    }
    says(&refusal(scratch.settings(&["ext4,no_such_option"], 64)), FailureKind::Usage, &["Unknown parameter"]);
    says(&refusal(scratch.settings(&["ext4,ro"], 64)), FailureKind::Usage, &["a race writes"]);
    scratch.assert_nothing_left();
}

#[test]
fn options_of_the_mount_reach_the_mount() {
    if !privileged("mount options") {
        return;
    }
    let scratch = Scratch::new();
    let target = scratch.path.join("m");
    std::fs::create_dir(&target).unwrap();
    for (given, shown, hidden) in [
        ("", "relatime", "noexec"),
        ("noatime,nodiratime,noexec", "noatime nodiratime noexec", "relatime"),
        ("noatime,relatime", "relatime", "noatime"),
        ("noexec,exec", "relatime", "noexec"),
        ("ro", "ro", "rw"),
    ] {
        let options: Vec<String> = given.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        lanes::mount::mount("tmpfs", "fairlane", &options, &target).unwrap();
        let mounts = lanes::mountinfo::read().unwrap();
        let found = lanes::mountinfo::at(&mounts, &target).unwrap().mount_options.clone();
        lanes::mount::unmount_patiently(&target).unwrap();
        for word in shown.split(' ').chain(["nosuid", "nodev"]) {
            assert!(found.iter().any(|option| option == word), "{given}: {word} is not in {found:?}");
        }
        assert!(!found.iter().any(|option| option == hidden), "{given}: {hidden} is in {found:?}");
    }
}

#[test]
fn a_device_in_use_is_refused_always() {
    if !privileged("devices in use") {
        return;
    }
    let scratch = Scratch::new();
    let refused = |path: &Path| {
        let mut settings = scratch.settings(&["ext4"], 64);
        settings.ground = Ground::Device(path.to_owned());
        settings.erase = vec![path.to_owned()];
        refusal(settings)
    };
    let disk = Disk::new(&scratch, "disk", 128);
    disk.run("mkfs.ext4", &["-q", "-F"]);
    let target = scratch.path.join("m");
    std::fs::create_dir(&target).unwrap();
    lanes::mount::mount("ext4", disk.path().to_str().unwrap(), &[], &target).unwrap();
    let error = refused(&disk.path());
    lanes::mount::unmount_patiently(&target).unwrap();
    says(&error, FailureKind::Usage, &["never overwritten", "is mounted at", target.to_str().unwrap()]);

    let exclusive = {
        use std::os::unix::fs::OpenOptionsExt;
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(disk.path()).unwrap()
    };
    says(&refused(&disk.path()), FailureKind::Usage, &["opened exclusively"]);
    drop(exclusive);

    disk.run("mkswap", &["-q"]);
    disk.run("swapon", &[]);
    let error = refused(&disk.path());
    disk.run("swapoff", &[]);
    says(&error, FailureKind::Usage, &["is swap"]);

    // A device that carries another loop device.
    let outer = lanes::loop_device::LoopDevice::attach(&disk.path(), Some(512)).unwrap();
    let error = refused(&disk.path());
    drop(outer);
    says(&error, FailureKind::Usage, &["carries /dev/loop"]);

    // The disk that carries this test.
    if let Some(block) = lanes::host::find(&scratch.path).unwrap().block {
        says(&refused(Path::new(&format!("/dev/{block}"))), FailureKind::Usage, &["is mounted at"]);
    }
    disk.run("blockdev", &["--setro"]);
    let error = refused(&disk.path());
    disk.run("blockdev", &["--setrw"]);
    says(&error, FailureKind::Usage, &["is read-only"]);
    says(&refused(Path::new("/dev/null")), FailureKind::Usage, &["no block device"]);
    says(&refused(Path::new("/dev/no-such")), FailureKind::Usage, &["No such file"]);
}

#[test]
fn a_device_is_overwritten_only_where_erase_names_it() {
    if !privileged("erase") {
        return;
    }
    let scratch = Scratch::new();
    let (disk, other) = (Disk::new(&scratch, "disk", 320), Disk::new(&scratch, "other", 16));
    disk.run("mkfs.btrfs", &["-q", "-f"]);
    let settings = |erase: &[PathBuf]| {
        let mut settings = scratch.settings(&["ext4", "xfs"], 64);
        settings.ground = Ground::Device(disk.path());
        settings.erase = erase.to_vec();
        settings
    };
    let wanted = format!("holds btrfs; pass --erase {}", disk.path().display());
    says(&refusal(settings(&[])), FailureKind::Usage, &[&wanted]);
    says(&refusal(settings(&[other.path()])), FailureKind::Usage, &[&wanted]);
    let error = refusal(settings(&[disk.path(), other.path()]));
    says(&error, FailureKind::Usage, &["names a device that no lane uses"]);
    with_lanes(&scratch_without_disks(&scratch), settings(&[disk.path()]), |lane_set, journal| {
        assert!(!lane_set.side_by_side(), "lanes on one device take turns");
        assert_eq!((lane_set.stores(), lane_set.bytes_to_write()), (1, 0));
        let names = lane_set.device_names(0);
        assert_eq!(names.device, disk.path().file_name().map(|name| name.to_string_lossy().into_owned()));
        assert_eq!(names.backing, lanes::host::find(&scratch.path).unwrap().disk);
        for lane in [0, 1, 0] {
            let opened = lane_set.open(lane, 0, journal, &no_stop()).unwrap();
            std::fs::write(opened.directory.join("f"), "x").unwrap();
            lane_set.make_cold(lane).unwrap();
            lane_set.close(lane, journal).unwrap();
        }
    });
}

/// The disks lie in `scratch`; what a lane set leaves is looked for in a folder of its own.
fn scratch_without_disks(_: &Scratch) -> Scratch {
    Scratch::new()
}

#[test]
fn a_device_that_came_into_use_is_not_formatted() {
    if !privileged("device taken meanwhile") {
        return;
    }
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, "disk", 128);
    let other = Scratch::new();
    let mut settings = other.settings(&["ext4"], 64);
    settings.ground = Ground::Device(disk.path());
    settings.erase = vec![disk.path()];
    with_lanes(&other, settings, |lane_set, journal| {
        let target = scratch.path.join("m");
        std::fs::create_dir(&target).unwrap();
        lanes::mount::mount("ext4", disk.path().to_str().unwrap(), &[], &target).unwrap();
        let error = lane_set.open(0, 0, journal, &no_stop()).unwrap_err();
        lanes::mount::unmount_patiently(&target).unwrap();
        says(&error, FailureKind::Failed, &["came into use", "is mounted at"]);
    });
}

struct Types(&'static str);
impl Confirm for Types {
    fn ask(&mut self, shown: &[String], must_type: &str) -> Option<String> {
        assert!(shown.iter().any(|line| line.contains("now holds  xfs")), "{shown:?}");
        Some(if self.0 == "right" { must_type.to_owned() } else { self.0.to_owned() })
    }
}

#[test]
fn on_a_terminal_a_device_waits_for_what_must_be_typed() {
    if !privileged("typed confirmation") {
        return;
    }
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, "disk", 320);
    disk.run("mkfs.xfs", &["-q", "-f"]);
    let other = Scratch::new();
    let mut settings = other.settings(&["ext4"], 64);
    settings.ground = Ground::Device(disk.path());
    settings.erase = vec![disk.path()];
    settings.terminal = true;
    let mut lane_set = LaneSet::check(settings).unwrap();
    let mut journal = other.journal();
    let error = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_err();
    says(&error, FailureKind::Usage, &["waits for its confirmation"]);
    says(
        &lane_set.confirm(&mut Types("yes")).unwrap_err(),
        FailureKind::Usage,
        &["not confirmed", "nothing was written"],
    );
    assert!(lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).is_err());
    lane_set.confirm(&mut Types("right")).unwrap();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    other.assert_nothing_left();
}

#[test]
fn signatures_are_read_from_what_real_tools_write() {
    if !privileged("signatures") {
        return;
    }
    let scratch = Scratch::new();
    let disk = Disk::new(&scratch, "disk", 320);
    let signature = || {
        let found = lanes::device::inspect(&disk.path()).unwrap();
        (found.uses, found.signature)
    };
    assert_eq!(signature(), (vec![], None), "random bytes are nothing known");
    for (program, arguments, wanted) in [
        ("mkfs.ext4", vec!["-q", "-F"], "ext2/ext3/ext4"),
        ("mkfs.xfs", vec!["-q", "-f"], "xfs"),
        ("mkfs.btrfs", vec!["-q", "-f"], "btrfs"),
        ("mkfs.f2fs", vec!["-q", "-f"], "f2fs"),
        ("mkfs.nilfs2", vec!["-q", "-f"], "nilfs2"),
        ("mkfs.exfat", vec![], "exfat"),
        ("mkswap", vec!["-q"], "swap"),
    ] {
        if lanes::command::find_program(program).is_none() {
            println!("{program}: not here");
            continue;
        }
        let file = std::fs::OpenOptions::new().write(true).open(disk.path()).unwrap();
        for (offset, length) in lanes::signature::signature_areas(320 << 20) {
            std::os::unix::fs::FileExt::write_all_at(&file, &vec![0u8; length as usize], offset).unwrap();
        }
        drop(file);
        assert_eq!(signature(), (vec![], None), "after wiping for {program}");
        disk.run(program, &arguments);
        assert_eq!(signature().1.as_deref(), Some(wanted), "{program}");
    }
}

/// Runs as an ordinary user; as root it starts itself again as one.
#[test]
fn an_ordinary_user_is_told_what_needs_root_and_what_does_not() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let scratch = Scratch::new();
    if rustix::process::geteuid().is_root() {
        std::fs::set_permissions(&scratch.path, PermissionsExt::from_mode(0o755)).unwrap();
        // The build folder may be closed to others.
        let binary = scratch.path.join("tests");
        std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
        let name = "an_ordinary_user_is_told_what_needs_root_and_what_does_not";
        let mut child = Command::new(&binary);
        child.args(["--exact", name]).current_dir("/var/tmp").gid(65534).uid(65534);
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    for lane in ["ext4", "tmpfs", "ext4@/dev/loop0"] {
        let error = refusal(scratch.settings(&[lane], 1024));
        says(&error, FailureKind::Privilege, &["needs root", "sudo fairlane", "--on uml", "in a directory"]);
    }
    says(&refusal(scratch.settings(&["/etc"], 64)), FailureKind::Usage, &["/etc", "you may not write there"]);
    assert!(LaneSet::check(scratch.settings(&[scratch.path.to_str().unwrap()], 64)).is_ok());
}
