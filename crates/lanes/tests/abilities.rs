//! What the table says that filesystems lack, asked of the real ones; and that files are encrypted where they are to be.

mod common;

use common::{Scratch, no_stop, privileged, with_lanes};
use lanes::availability::{self, Availability};
use lanes::filesystems::Home;
use model::operations::Ability;
use rustix::fs::{Dir, FallocateFlags, FileType, XattrFlags, fallocate, ioctl_ficlone, setxattr};
use rustix::mount::{FsOpenFlags, fsconfig_create, fsconfig_set_string, fsopen};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

/// Whether a mounted filesystem has it.
fn has(ability: Ability, folder: &Path) -> bool {
    let file = |name: &str| folder.join(format!("{ability:?}-{name}"));
    let made = |name: &str| {
        let mut made = File::create(file(name)).unwrap();
        made.write_all(&[7; 8192]).unwrap();
        made
    };
    match ability {
        Ability::Reflink => {
            made("a");
            ioctl_ficlone(File::create(file("b")).unwrap(), File::open(file("a")).unwrap()).is_ok()
        }
        Ability::Attributes => {
            made("a");
            setxattr(file("a"), "user.fairlane", &[1; 32], XattrFlags::empty()).is_ok()
        }
        Ability::Links => {
            made("a");
            std::fs::hard_link(file("a"), file("b")).is_ok()
        }
        Ability::SymbolicLinks => symlink("a", file("b")).is_ok(),
        Ability::Allocation => fallocate(made("a"), FallocateFlags::empty(), 8192, 8192).is_ok(),
        Ability::Holes => {
            let file = made("a");
            file.set_len(16 << 20).unwrap();
            file.sync_all().unwrap();
            file.metadata().unwrap().blocks() * 512 < 1 << 20
        }
        Ability::LargeFiles => made("a").set_len(3 << 30).is_ok(),
        Ability::AnyNames => File::create(file("new\nline*?\u{1}")).is_ok(),
        Ability::Owners => {
            made("a");
            let changed = std::os::unix::fs::chown(file("a"), Some(65534), Some(65534));
            changed.is_ok() && file("a").metadata().unwrap().uid() == 65534
        }
        Ability::Overlays => {
            let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).unwrap();
            for key in ["lowerdir", "upperdir", "workdir"] {
                std::fs::create_dir(file(key)).unwrap();
                fsconfig_set_string(&context, key, file(key).as_os_str()).unwrap();
            }
            // Without types of entries it is mounted, and lists what was removed.
            let mut entries = Dir::new(File::open(folder).unwrap()).unwrap();
            let has_types = entries.all(|entry| entry.unwrap().file_type() != FileType::Unknown);
            fsconfig_create(&context).is_ok() && has_types
        }
    }
}

const ALL: [Ability; 10] = [
    Ability::Reflink,
    Ability::Attributes,
    Ability::Links,
    Ability::SymbolicLinks,
    Ability::Allocation,
    Ability::Holes,
    Ability::AnyNames,
    Ability::LargeFiles,
    Ability::Owners,
    Ability::Overlays,
];

#[test]
fn what_the_table_says_of_the_filesystems_of_this_kernel_is_so() {
    if !privileged("abilities") {
        return;
    }
    let ready = availability::survey()
        .into_iter()
        .filter(|(row, found)| *found == Availability::Ready && matches!(row.home, Home::Block | Home::Memory));
    let mut specs: Vec<String> = ready.map(|(row, _)| row.name.to_owned()).collect();
    let with = |name: &str| specs.iter().any(|spec| spec == name);
    let more = [("xfs", "lean=xfs,-mreflink=0"), ("ext4", "blocks=ext4(-O ^extent,^64bit)")];
    let more: Vec<String> = more.iter().filter(|(row, _)| with(row)).map(|(_, spec)| (*spec).to_owned()).collect();
    specs.extend(more);
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let scratch = Scratch::new();
    with_lanes(&scratch, scratch.settings(&specs, 320), |lane_set, journal| {
        for (lane, spec) in specs.iter().enumerate() {
            let lacks = lane_set.lacks(lane);
            let opened = lane_set.open(lane, lane_set.store_for(lane, 0), journal, &no_stop()).unwrap();
            for ability in ALL {
                let said = lacks.iter().all(|lack| lack.ability != ability);
                assert_eq!(has(ability, &opened.directory), said, "{ability:?} on {spec}");
            }
            lane_set.close(lane, journal).unwrap();
        }
    });
}

#[test]
fn a_directory_lacks_what_its_filesystem_lacks_and_another_one_is_tried() {
    let scratch = Scratch::new();
    let memory = tempfile_in_memory(&scratch);
    let lane_set = lanes::LaneSet::check(scratch.settings(&[&format!("m={}", memory.display())], 64)).unwrap();
    let lacks: Vec<Ability> = lane_set.lacks(0).iter().map(|lack| lack.ability).collect();
    assert_eq!(lacks, [Ability::Reflink], "tmpfs");
    drop(lane_set);
    std::fs::remove_dir(memory).unwrap();
    std::fs::write(scratch.path.join("my.toml"), "name = \"my\"\nmount = [\"true\", \"{directory}\"]\n").unwrap();
    if !privileged("a filesystem of the user's own") {
        return;
    }
    let spec = format!("my={}", scratch.path.join("my.toml").display());
    let lane_set = lanes::LaneSet::check(scratch.settings(&[&spec], 64)).unwrap();
    assert_eq!(lane_set.lacks(0), []);
}

/// A folder in /dev/shm.
fn tempfile_in_memory(scratch: &Scratch) -> std::path::PathBuf {
    let path = Path::new("/dev/shm").join(scratch.run_id());
    std::fs::create_dir(&path).unwrap();
    path
}

#[test]
fn what_lies_above_a_filesystem_encrypts_files_and_reads_them_again_after_a_cold_mount() {
    if !privileged("encrypted files") {
        return;
    }
    let scratch = Scratch::new();
    const SAID: &[u8] = b"these words stand on the disk of the lane that does not encrypt";
    with_lanes(&scratch, scratch.settings(&["ext4", "fscrypt(ext4(-O ^has_journal))"], 64), |lane_set, journal| {
        let mkfs = lane_set.lanes()[1].mkfs_command.join(" ");
        assert!(mkfs.contains("-O ^has_journal,encrypt "), "{mkfs}");
        for (lane, shows) in [(0, true), (1, false)] {
            let ground = lane_set.store_for(lane, 0);
            let opened = lane_set.open(lane, ground, journal, &no_stop()).unwrap();
            let file = opened.directory.join("said");
            std::fs::write(&file, SAID.repeat(100)).unwrap();
            assert_eq!(lane_set.make_cold(lane).unwrap(), lanes::Cold::Cold);
            assert_eq!(std::fs::read(&file).unwrap(), SAID.repeat(100), "lane {lane}");
            let device = std::fs::read(lane_set.raw_target(ground).unwrap()).unwrap();
            assert_eq!(device.windows(SAID.len()).any(|window| window == SAID), shows, "lane {lane}");
            lane_set.close(lane, journal).unwrap();
        }
    });
    scratch.assert_nothing_left();
}
