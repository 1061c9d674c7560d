//! Lanes on real loop devices, with real filesystems.

mod common;

use common::{Scratch, no_stop, privileged, with_lanes};
use lanes::availability::{self, Availability};
use lanes::filesystems::Home;
use lanes::{Cold, FailureKind, LaneSet};
use model::agent::FilesystemProcesses;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Makes, fills and syncs a file in a lane.
fn work_in(directory: &Path) {
    let file = std::fs::File::create(directory.join("f")).unwrap();
    file.write_all_at(&vec![7u8; 4 << 20], 0).unwrap();
    file.sync_all().unwrap();
}

/// The kernel's Documentation/ABI/stable/sysfs-block, `stat`.
fn sectors_written(device: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/sys/block/{device}/stat")).unwrap();
    stat.split_whitespace().nth(6).unwrap().parse().unwrap()
}

#[test]
fn every_filesystem_of_this_kernel_is_formatted_mounted_made_cold_and_closed() {
    if !privileged("every filesystem") {
        return;
    }
    let ready = availability::survey()
        .into_iter()
        .filter(|(row, found)| *found == Availability::Ready && !matches!(row.home, Home::Pool | Home::Library));
    let mut names: Vec<&str> = ready.map(|(row, _)| row.name).collect();
    println!("raced here: {names:?}");
    assert!(names.contains(&"tmpfs"));
    let scratch = Scratch::new();
    // One image serves them all: each is a race of one lane, so that the test stays short.
    names.retain(|name| *name != "tmpfs");
    with_lanes(&scratch, scratch.settings(&["tmpfs"], 64), |lane_set, journal| {
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        work_in(&opened.directory);
        assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Warm);
        assert_eq!(lane_set.raw_target(0), None);
        lane_set.close(0, journal).unwrap();
    });
    with_lanes(&scratch, scratch.settings(&names, 300), |lane_set, journal| {
        assert!(lane_set.side_by_side());
        assert_eq!(lane_set.stores(), names.len());
        for round in 0..2u32 {
            let mut devices = Vec::new();
            for (lane, name) in names.iter().enumerate() {
                let ground = lane_set.store_for(lane, round);
                devices.push(lane_set.raw_target(ground).unwrap());
                let opened = lane_set.open(lane, ground, journal, &no_stop()).unwrap();
                assert!(opened.phases_seconds["mkfs"] > 0.0 && opened.phases_seconds["mount"] > 0.0);
                work_in(&opened.directory);
                let mounts = lanes::mountinfo::read().unwrap();
                let entry = lanes::mountinfo::at(&mounts, &opened.directory).unwrap();
                // A FUSE program takes the place of a driver that the kernel lacks.
                let fuse = *name == "ntfs" && ["ntfs3", "fuseblk"].contains(&entry.filesystem.as_str());
                assert!(fuse || entry.filesystem == *name, "{name}: {entry:?}");
                assert!(entry.mount_options.iter().any(|option| option == "nosuid"), "{entry:?}");
                assert!(!entry.super_options.iter().any(|option| option.starts_with("discard")), "{entry:?}");
                assert_eq!(lane_set.make_cold(lane).unwrap(), Cold::Cold);
                assert_eq!(std::fs::read(opened.directory.join("f")).unwrap().len(), 4 << 20);
            }
            devices.sort();
            devices.dedup();
            assert_eq!(devices.len(), names.len(), "all lanes are open at once on images of their own");
            for (lane, name) in names.iter().enumerate() {
                let closed = lane_set.close(lane, journal).unwrap();
                assert!(closed.unmount_seconds > 0.0);
                assert_eq!(closed.flags, Vec::<model::Flag>::new(), "{name}");
            }
        }
        let described = lane_set.lanes();
        for lane in &described {
            assert_eq!((lane.venue.as_str(), lane.size_bytes), ("image", 300 << 20));
            assert!(lane.mkfs_command.last().unwrap() == "{device}" && !lane.backing.is_empty());
            let told = ["ext2", "ext3", "ext4", "xfs", "btrfs"].contains(&lane.filesystem.as_str());
            assert!(!told || !lane.geometry.is_empty(), "{}", lane.name);
        }
    });
}

#[test]
fn a_filesystem_on_several_images_uses_all_of_them_and_lanes_of_equal_numbers_take_turns() {
    if !privileged("several images") {
        return;
    }
    let scratch = Scratch::new();
    let specs = ["btrfs", "btrfs,-draid1,-mraid1:2", "three=btrfs:3(-d raid0 -m raid1)", "other=btrfs:2(-d raid1)"];
    with_lanes(&scratch, scratch.settings(&specs, 256), |lane_set, journal| {
        assert_eq!((lane_set.stores(), lane_set.bytes_to_write()), (4, 8 * (256 << 20)));
        assert_ne!(lane_set.store_for(1, 0), lane_set.store_for(1, 1));
        assert_eq!(lane_set.store_for(1, 0), lane_set.store_for(3, 1));
        assert_eq!(lane_set.store_for(2, 0), lane_set.store_for(2, 1), "nobody else stands on three");
        for round in 0..2 {
            for (lane, disks) in [(0, 1), (1, 2), (2, 3), (3, 2)] {
                let ground = lane_set.store_for(lane, round);
                let names = lane_set.device_names(ground);
                assert_eq!(1 + names.further.len(), disks, "{names:?}");
                // What several disks do together, no bare one tells.
                assert_eq!(lane_set.raw_target(ground).is_some(), disks == 1);
                let opened = lane_set.open(lane, ground, journal, &no_stop()).unwrap();
                let of_all =
                    || names.device.iter().chain(&names.further).map(|name| sectors_written(name)).collect::<Vec<_>>();
                let before = of_all();
                work_in(&opened.directory);
                let written: Vec<u64> = of_all().iter().zip(&before).map(|(after, before)| after - before).collect();
                let least = match lane {
                    // A copy on each of two.
                    1 | 3 => 4 << 11,
                    0 => 4 << 11,
                    _ => 1,
                };
                assert!(written.iter().all(|sectors| *sectors >= least), "lane {lane}: {written:?} sectors");
                assert_eq!(lane_set.make_cold(lane).unwrap(), Cold::Cold);
                assert_eq!(std::fs::read(opened.directory.join("f")).unwrap().len(), 4 << 20);
            }
            for lane in 0..4 {
                assert_eq!(lane_set.close(lane, journal).unwrap().flags, Vec::<model::Flag>::new(), "{lane}");
            }
        }
        let lanes = lane_set.lanes();
        assert_eq!(lanes.iter().map(|lane| lane.disks).collect::<Vec<_>>(), [1, 2, 3, 2]);
        assert!(lanes.iter().all(|lane| lane.ground == lanes[0].ground && lane.size_bytes == 256 << 20));
    });
}

#[test]
fn btrfs_that_is_told_to_be_degraded_lacks_its_last_disk() {
    if !privileged("degraded") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["btrfs:2(-d raid1 -m raid1),degraded"], 256), |lane_set, journal| {
        let names = lane_set.device_names(0);
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        let before = sectors_written(&names.further[0]);
        work_in(&opened.directory);
        assert_eq!(sectors_written(&names.further[0]), before, "nothing is written to the disk that was taken out");
        assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Cold);
        assert_eq!(std::fs::read(opened.directory.join("f")).unwrap().len(), 4 << 20);
        assert_eq!(lane_set.close(0, journal).unwrap().flags, Vec::<model::Flag>::new());
    });
}

#[test]
fn images_rotate_and_the_lane_that_is_repeated_has_one_of_its_own() {
    if !privileged("rotation") {
        return;
    }
    let scratch = Scratch::new();
    let mut settings = scratch.settings(&["a=ext4", "b=ext4,nobarrier"], 64);
    settings.with_self = true;
    let lane_set = LaneSet::check(settings).unwrap();
    let lanes = lane_set.lanes();
    assert_eq!(lanes.iter().map(|lane| lane.name.as_str()).collect::<Vec<_>>(), ["a", "b", "a~self"]);
    assert!(lanes[2].is_self && lanes[0].promises == lanes[2].promises);
    assert!(lanes.iter().all(|lane| lane.ground == lanes[0].ground), "images stand on equal ground");
    assert!(!lanes[1].promises.barriers && !lanes[1].promises.fsync_reaches_stable_storage);
    for round in 0..3 {
        let mut used: Vec<usize> = (0..3).map(|lane| lane_set.store_for(lane, round)).collect();
        used.sort_unstable();
        assert_eq!(used, [0, 1, 2]);
    }
    assert_ne!(lane_set.store_for(0, 0), lane_set.store_for(0, 1));
    assert_eq!(lane_set.bytes_to_write(), 3 * (64 << 20));
    let text = lane_set.describe().join("\n");
    for part in
        ["image02 in full (64MiB)", "mkfs.ext4 -q -F -E nodiscard", "mount -t ext4 -o nosuid,nodev,nodiscard,nobarrier"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    scratch.assert_nothing_left();
}

#[test]
fn what_mkfs_zeroes_on_the_host_is_written_again() {
    if !privileged("unwritten extents") {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.path.join("image");
    let image = lanes::image::Image::create(&path, 300 << 20, 1, &mut |_| {}, &no_stop()).unwrap();
    assert_eq!(image.never_written().unwrap(), Some(vec![]), "the first writing leaves nothing unwritten");
    let mut device = lanes::loop_device::LoopDevice::attach(&path, image.direct_io_alignment()).unwrap();
    assert!(device.direct_io().unwrap());
    let mut zeroed_by_any = 0;
    for name in ["ext4", "xfs", "btrfs"] {
        let row = lanes::filesystems::find(name).unwrap();
        if availability::find(row) != Availability::Ready {
            println!("{name}: not here");
            continue;
        }
        let mut command = row.mkfs_command(&[]);
        *command.last_mut().unwrap() = device.path().to_string_lossy().into_owned();
        lanes::command::run(&command, &no_stop()).unwrap();
        device.sync().unwrap();
        let before = std::fs::metadata(&path).unwrap();
        let zeroed: u64 = image.never_written().unwrap().unwrap().iter().map(|(_, length)| length).sum();
        println!("{name}: mkfs left {zeroed} bytes unwritten");
        zeroed_by_any += zeroed;
        image.check_not_shrunk().unwrap();
        let content = std::fs::read(&path).unwrap();
        assert_eq!(image.solidify().unwrap(), zeroed, "{name}");
        device.drop_cache().unwrap();
        assert_eq!(image.never_written().unwrap(), Some(vec![]), "{name}");
        assert!(content == std::fs::read(&path).unwrap(), "{name}: rewriting keeps the content");
        // A count of blocks sees nothing of it.
        assert!(std::os::unix::fs::MetadataExt::blocks(&before) * 512 >= 300 << 20);
    }
    assert!(zeroed_by_any > 0, "the trap that this guards against is gone; look at the loop driver");
    device.detach().unwrap();
    std::fs::remove_file(&path).unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_shrunken_image_fails_the_trial_and_is_whole_again_in_the_next() {
    if !privileged("shrunken image") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["ext4"], 64), |lane_set, journal| {
        let image = scratch.run_directory().join("image00");
        let hurt = |mode| {
            let file = std::fs::OpenOptions::new().write(true).open(&image).unwrap();
            rustix::fs::fallocate(&file, mode, 40 << 20, 1 << 20).unwrap();
        };
        use rustix::fs::FallocateFlags;
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        hurt(FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE);
        let error = lane_set.close(0, journal).unwrap_err();
        assert_eq!(error.kind(), FailureKind::Failed);
        assert!(error.to_string().starts_with("lane ext4: the image shrank: 1MiB of its 64MiB"), "{error}");
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        assert_eq!(lane_set.close(0, journal).unwrap().flags, Vec::<model::Flag>::new());
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        hurt(FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE);
        assert_eq!(lane_set.close(0, journal).unwrap().flags, [model::Flag::from(model::Mark::ImageUnwritten)]);
    });
}

#[test]
fn a_lane_that_discards_on_purpose_may_leave_holes() {
    if !privileged("discard") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["ext4,discard"], 128), |lane_set, journal| {
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        work_in(&opened.directory);
        std::fs::remove_file(opened.directory.join("f")).unwrap();
        assert_eq!(lane_set.close(0, journal).unwrap().flags, Vec::<model::Flag>::new());
    });
}

#[test]
fn an_option_that_mkfs_refuses_leaves_nothing_behind() {
    if !privileged("mkfs refusal") {
        return;
    }
    let scratch = Scratch::new();
    let mut lane_set = LaneSet::check(scratch.settings(&["ext4", "ext4(-O no_such_feature)"], 64)).unwrap();
    let mut journal = scratch.journal();
    let error = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_err().to_string();
    assert!(error.contains("mkfs.ext4 failed") && error.contains("no_such_feature"), "{error}");
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_mount_that_fails_at_the_device_leaves_nothing_behind() {
    if !privileged("mount failure") {
        return;
    }
    let scratch = Scratch::new();
    let mut lane_set = LaneSet::check(scratch.settings(&["btrfs,subvol=@home"], 256)).unwrap();
    let mut journal = scratch.journal();
    let error = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_err().to_string();
    assert!(error.starts_with("lane btrfs,subvol=@home: mounting btrfs with options"), "{error}");
    drop(lane_set);
    // The net of the lane set took everything; the journal is all that is left.
    assert_eq!(scratch.left().len(), 1, "{:?}", scratch.left());
    journal.finish().unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_busy_lane_names_who_holds_it_and_closes_once_it_is_free() {
    if !privileged("busy lane") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["ext4"], 64), |lane_set, journal| {
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        let held = std::fs::File::create(opened.directory.join("held")).unwrap();
        let error = lane_set.close(0, journal).unwrap_err().to_string();
        assert!(error.contains(&format!("({})", std::process::id())), "{error}");
        drop(held);
        lane_set.close(0, journal).unwrap();
    });
}

#[test]
fn a_lane_that_somebody_else_mounted_too_is_not_called_cold() {
    if !privileged("automounter") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["ext4", "btrfs"], 300), |lane_set, journal| {
        let second = scratch.path.join("automounted");
        std::fs::create_dir(&second).unwrap();
        let mount = |program: &str, words: &[&std::ffi::OsStr]| {
            let done = std::process::Command::new(program).args(words).status().unwrap();
            assert!(done.success(), "{program} {words:?}");
        };
        for lane in 0..2 {
            let opened = lane_set.open(lane, lane, journal, &no_stop()).unwrap();
            work_in(&opened.directory);
            let device = lane_set.raw_target(lane).unwrap();
            mount("mount", &[device.as_os_str(), second.as_os_str()]);
            let said = |error: lanes::LaneFailure| {
                let error = error.to_string();
                assert!(error.contains("stays in use although its lane is not mounted: it is mounted at"), "{error}");
                assert!(error.contains("switch automounting off"), "{error}");
            };
            said(lane_set.make_cold(lane).unwrap_err());
            mount("umount", &[second.as_os_str()]);
            lane_set.close(lane, journal).unwrap();
            lane_set.open(lane, lane, journal, &no_stop()).unwrap();
            mount("mount", &[device.as_os_str(), second.as_os_str()]);
            said(lane_set.close(lane, journal).unwrap_err());
            mount("umount", &[second.as_os_str()]);
            // It is free again.
            lane_set.open(lane, lane, journal, &no_stop()).unwrap();
            assert_eq!(lane_set.make_cold(lane).unwrap(), Cold::Cold);
            lane_set.close(lane, journal).unwrap();
        }
        std::fs::remove_dir(second).unwrap();
    });
}

#[test]
fn the_stop_flag_ends_the_writing_of_images() {
    if !privileged("stop") {
        return;
    }
    let scratch = Scratch::new();
    let mut lane_set = LaneSet::check(scratch.settings(&["ext4"], 256)).unwrap();
    let mut journal = scratch.journal();
    let stop = no_stop();
    let mut seen = 0;
    let mut progress = |done: u64, total: u64| {
        assert_eq!(total, 256 << 20);
        seen = done;
        stop.store(done >= 64 << 20, std::sync::atomic::Ordering::Relaxed);
    };
    let error = lane_set.build(&mut journal, &mut progress, &stop).unwrap_err();
    assert_eq!(error.kind(), FailureKind::Interrupted);
    assert_eq!(seen, 64 << 20);
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    scratch.assert_nothing_left();
}

#[test]
fn a_directory_is_raced_as_it_is_without_any_privilege() {
    let scratch = Scratch::new();
    let folder = scratch.path.join("data");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("precious"), "x").unwrap();
    let mut settings = scratch.settings(&[folder.to_str().unwrap()], 64);
    settings.with_self = true;
    let mut lane_set = LaneSet::check(settings).unwrap();
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap();
    assert!(lane_set.side_by_side());
    assert_eq!((lane_set.stores(), lane_set.bytes_to_write()), (1, 0));
    let first = lane_set.open(0, 0, &mut journal, &no_stop()).unwrap().directory;
    let second = lane_set.open(1, 0, &mut journal, &no_stop()).unwrap().directory;
    assert_eq!(first.as_os_str().len(), second.as_os_str().len(), "equal name lengths");
    work_in(&first);
    assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Warm);
    lane_set.close(0, &mut journal).unwrap();
    let again = lane_set.open(0, 0, &mut journal, &no_stop()).unwrap().directory;
    assert_eq!(std::fs::read_dir(&again).unwrap().count(), 0, "a fresh folder each time");
    let described = &lane_set.lanes()[0];
    assert_eq!((described.venue.as_str(), described.ground.as_str()), ("directory", folder.to_str().unwrap()));
    assert_eq!(described.filesystem, lanes::host::find(&folder).unwrap().filesystem);
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["precious"]);
}

#[test]
fn the_example_filesystem_of_the_documentation_works() {
    if !privileged("custom filesystem") {
        return;
    }
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/myfs.toml");
    let scratch = Scratch::new();
    let lane = format!("{example},noatime");
    with_lanes(&scratch, scratch.settings(&[&lane], 128), |lane_set, journal| {
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        work_in(&opened.directory);
        let mounts = lanes::mountinfo::read().unwrap();
        let entry = lanes::mountinfo::at(&mounts, &opened.directory).unwrap();
        for option in ["nosuid", "nodev", "noatime"] {
            assert!(entry.mount_options.iter().any(|found| found == option), "{entry:?}");
        }
        assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Cold);
        lane_set.close(0, journal).unwrap();
        let described = &lane_set.lanes()[0];
        assert_eq!(described.filesystem, "ext4-bigalloc");
        assert!(described.promises.journal && described.promises.barriers);
    });
}

#[test]
fn images_on_btrfs_and_xfs_hosts_stay_written_and_are_not_copied_on_write() {
    if !privileged("other hosts") {
        return;
    }
    for host in ["btrfs", "xfs"] {
        let row = lanes::filesystems::find(host).unwrap();
        if availability::find(row) != Availability::Ready {
            println!("{host}: not here");
            continue;
        }
        let scratch = Scratch::new();
        with_lanes(&scratch, scratch.settings(&[host], 512), |outer, journal| {
            let directory = outer.open(0, 0, journal, &no_stop()).unwrap().directory;
            let device = outer.device_names(0).device;
            let inner_scratch = Scratch::new();
            let mut settings = inner_scratch.settings(&["ext4"], 64);
            settings.ground = model::plan::Ground::Images(directory.clone());
            with_lanes(&inner_scratch, settings, |lane_set, journal| {
                assert_eq!(lane_set.host().unwrap().filesystem, host);
                assert_eq!(lane_set.device_names(0).backing, device, "{host}: the disk under the image");
                let path = directory.join(format!(".fairlane-{}/image00", inner_scratch.run_id()));
                let file = std::fs::File::open(path).unwrap();
                if host == "btrfs" {
                    let flags = rustix::fs::ioctl_getflags(&file).unwrap();
                    assert!(flags.contains(rustix::fs::IFlags::NOCOW), "{flags:?}");
                }
                for _ in 0..2 {
                    let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
                    work_in(&opened.directory);
                    lane_set.make_cold(0).unwrap();
                    assert_eq!(lane_set.close(0, journal).unwrap().flags, Vec::<model::Flag>::new(), "{host}");
                }
            });
            outer.close(0, journal).unwrap();
        });
    }
}

#[test]
fn a_snapshot_of_the_images_place_fails_the_trial_and_is_written_over_for_the_next() {
    if !privileged("snapshot") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["btrfs"], 512), |outer, journal| {
        let directory = outer.open(0, 0, journal, &no_stop()).unwrap().directory;
        let inner_scratch = Scratch::new();
        let mut settings = inner_scratch.settings(&["ext4"], 64);
        settings.ground = model::plan::Ground::Images(directory.clone());
        with_lanes(&inner_scratch, settings, |lane_set, journal| {
            let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
            work_in(&opened.directory);
            let snapshot = directory.join("snapshot");
            let mut made = std::process::Command::new("btrfs");
            made.args(["subvolume", "snapshot", "-r"]).args([&directory, &snapshot]);
            let made = made.output().expect("btrfs-progs");
            assert!(made.status.success(), "{made:?}");
            let error = lane_set.close(0, journal).unwrap_err();
            assert_eq!(error.kind(), FailureKind::Failed);
            assert!(error.to_string().contains("a snapshot was taken of the place of the images"), "{error}");
            let again = lane_set.open(0, 0, journal, &no_stop()).unwrap();
            work_in(&again.directory);
            assert_eq!(lane_set.close(0, journal).unwrap().flags, Vec::<model::Flag>::new());
        });
        outer.close(0, journal).unwrap();
    });
}

#[test]
fn a_filesystem_process_in_the_foreground_lives_as_long_as_its_mount() {
    if !privileged("foreground process") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.path.join("serve.toml");
    // No FUSE program is everywhere; this one behaves as they do with -f: it serves until unmounted.
    let serve = r#"mount -o "$1" "$2" "$3" && while mountpoint -q "$3"; do sleep 0.02; done"#;
    let text = format!(
        "name = \"served\"\nkind = \"fuse\"\nmkfs = [\"mkfs.ext4\", \"-q\", \"-F\", \"{{device}}\"]\nmount = [\"sh\", \"-c\", {serve:?}, \"serve\", \"{{options}}\", \"{{device}}\", \"{{directory}}\"]\nunmount = [\"umount\", \"{{directory}}\"]\n"
    );
    std::fs::write(&file, &text).unwrap();
    let other = Scratch::new();
    with_lanes(&other, other.settings(&[file.to_str().unwrap()], 64), |lane_set, journal| {
        assert_eq!(lane_set.watched(0, 0).filesystem, FilesystemProcesses::None, "nothing is mounted");
        let opened = lane_set.open(0, 0, journal, &no_stop()).unwrap();
        work_in(&opened.directory);
        let served_by = |lane_set: &LaneSet| match lane_set.watched(0, 0).filesystem {
            FilesystemProcesses::Known(processes) => processes,
            other => panic!("{other:?}"),
        };
        let before = served_by(lane_set);
        let command = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(before.iter().any(|pid| command(pid).contains("mountpoint")), "{before:?}");
        let started = std::time::Instant::now();
        assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Cold);
        let after = served_by(lane_set);
        assert!(!after.is_empty() && after.iter().all(|pid| !before.contains(pid)), "mounted again by another process");
        assert_eq!(std::fs::read(opened.directory.join("f")).unwrap().len(), 4 << 20);
        lane_set.close(0, journal).unwrap();
        assert!(started.elapsed().as_secs() < 4, "its end was waited for, not timed out");
    });
    // One that leaves a daemon behind is the filesystem too, and nobody knows which process that is.
    let left = text.replace(" && while mountpoint -q \\\"$3\\\"; do sleep 0.02; done", "");
    assert_ne!(left, text);
    std::fs::write(&file, left).unwrap();
    with_lanes(&other, other.settings(&[file.to_str().unwrap()], 64), |lane_set, journal| {
        lane_set.open(0, 0, journal, &no_stop()).unwrap();
        assert_eq!(lane_set.watched(0, 0).filesystem, FilesystemProcesses::Unknown);
        lane_set.close(0, journal).unwrap();
    });
    std::fs::write(&file, "name = \"dies\"\nkind = \"fuse\"\nmount = [\"ls\", \"/no-such\", \"{directory}\"]\n")
        .unwrap();
    let mut lane_set = LaneSet::check(other.settings(&[file.to_str().unwrap()], 64)).unwrap();
    let mut journal = other.journal();
    let error = lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_err().to_string();
    assert!(error.contains("ls failed") && error.contains("No such file"), "{error}");
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    other.assert_nothing_left();
}

#[test]
fn a_library_stands_on_an_image_that_is_checked_and_never_mounted() {
    if !privileged("library") {
        return;
    }
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&["rsext4", "ext4", "j=rsext4,journal@library"], 64), |lane_set, journal| {
        assert_eq!((lane_set.stores(), lane_set.side_by_side()), (3, true));
        let described = lane_set.lanes();
        let [plain, ext4, journalled] = &described[..] else { panic!("{described:?}") };
        assert_eq!(
            (plain.venue.as_str(), ext4.venue.as_str(), journalled.venue.as_str()),
            ("library", "image", "library")
        );
        assert_eq!(plain.ground, ext4.ground);
        assert!(!plain.promises.journal && journalled.promises.journal && plain.promises.fsync_reaches_stable_storage);
        assert!(plain.geometry[0].starts_with("crate: rsext4"), "{:?}", plain.geometry);
        for round in 0..2 {
            let ground = lane_set.store_for(0, round);
            let opened = lane_set.open(0, ground, journal, &no_stop()).unwrap();
            let target = opened.library.unwrap();
            assert_eq!((target.filesystem.as_str(), target.format), ("rsext4", true));
            assert_eq!(Some(&target.device), lane_set.raw_target(ground).as_ref());
            assert_eq!(opened.directory, Path::new(""));
            // The agent's part, done here by the kernel's own tool.
            let device = &target.device;
            let mut made = std::process::Command::new("/sbin/mkfs.ext4");
            assert!(made.args(["-q", "-F", "-E", "nodiscard"]).arg(device).status().unwrap().success());
            assert_eq!(lane_set.make_cold(0).unwrap(), Cold::Cold);
            assert!(lane_set.check_disk(0, &no_stop()).unwrap().unwrap() > 0.0);
            assert_eq!(lane_set.check_disk(1, &no_stop()).unwrap(), None);
            // A group's count that is wrong: the kernel would mount it all the same.
            let disk = std::fs::OpenOptions::new().write(true).open(device).unwrap();
            disk.write_all_at(&[0xff; 4096], 64 * 4096).unwrap();
            disk.write_all_at(&[0xff; 4096], 4096).unwrap();
            disk.sync_all().unwrap();
            drop(disk);
            let error = lane_set.check_disk(0, &no_stop()).unwrap_err();
            let text = error.to_string();
            assert_eq!(error.kind(), FailureKind::Failed);
            assert!(text.contains("lane rsext4: the disk that rsext4 left is not whole: e2fsck"), "{text}");
            assert!(!text.contains("Pass 1") && !text.contains('\n'), "{text}");
            lane_set.close(0, journal).unwrap();
            assert_eq!(lane_set.check_disk(0, &no_stop()).unwrap(), None, "a closed lane has no disk");
        }
        let text = lane_set.describe().join("\n");
        assert!(text.contains("rsext4: format /dev/loopN and work on it inside the agent"), "{text}");
        assert!(!text.contains("mount -t rsext4"), "{text}");
    });
}
