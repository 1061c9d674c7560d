//! Lanes whose filesystems have a past: what every round begins with.

mod common;

use aging::measures::{Extent, extents_of};
use aging::{Life, Profile, Until};
use common::{Scratch, no_stop, privileged};
use lanes::{LaneSet, capacity, kept_images};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What a lane is when it is opened.
struct Beginning {
    uuid: [u8; 16],
    /// How often it was mounted, by itself.
    mounts: u16,
    free_blocks_and_inodes: (u64, u64),
    /// Of each file of its life the size, and where it lies.
    files: BTreeMap<PathBuf, (u64, Vec<Extent>)>,
}

impl Beginning {
    /// The kernel's Documentation/filesystems/ext4/super.rst: s_mnt_count and s_uuid.
    fn read(device: &Path, directory: &Path) -> Beginning {
        let mut superblock = [0; 1024];
        File::open(device).unwrap().read_exact_at(&mut superblock, 1024).unwrap();
        let space = rustix::fs::statvfs(directory).unwrap();
        let mut files = BTreeMap::new();
        walk(directory, Path::new("aged"), &mut files);
        Beginning {
            uuid: superblock[0x68..0x78].try_into().unwrap(),
            mounts: u16::from_le_bytes([superblock[0x34], superblock[0x35]]),
            free_blocks_and_inodes: (space.f_bfree, space.f_ffree),
            files,
        }
    }
}

/// All files below a folder of a lane, which is mounted elsewhere in each round.
fn walk(lane: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, (u64, Vec<Extent>)>) {
    for entry in std::fs::read_dir(lane.join(folder)).unwrap().flatten() {
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            walk(lane, &path, files);
        } else {
            let file = File::open(lane.join(&path)).unwrap();
            files.insert(path, (file.metadata().unwrap().len(), extents_of(&file).unwrap()));
        }
    }
}

/// The control of aged lanes: two rounds that are laid from one image differ by nothing that a filesystem remembers.
#[test]
fn every_round_begins_with_one_filesystem_whatever_was_done_in_the_one_before_and_wherever_it_lies() {
    if !privileged("what rounds begin with") {
        return;
    }
    let scratch = Scratch::new();
    // The second lane brings a second image, on which the first one lies in every other round.
    let mut settings = scratch.settings(&["ext4+aged=churn:1x", "ext4"], 256);
    let life = Life {
        profile: Profile::named("churn").unwrap(),
        seed: 1,
        capacity_bytes: capacity::of_lane(&settings.specs[0], settings.lane_size.get()).1,
        until: Until::Overwrites(1.0),
        full: None,
    };
    settings.lives = vec![Some(life), None];
    let mut lane_set = LaneSet::check(settings).unwrap_or_else(|error| panic!("{error}"));
    let mut journal = scratch.journal();
    lane_set.build(&mut journal, &mut |_, _| {}, &no_stop()).unwrap_or_else(|error| panic!("{error}"));
    let mut beginnings = Vec::new();
    for round in 0..3 {
        let ground = lane_set.store_for(0, round);
        let device = lane_set.raw_target(ground).unwrap();
        let opened = lane_set.open(0, ground, &mut journal, &no_stop()).unwrap();
        assert!(opened.phases_seconds.contains_key("restore"));
        let beginning = Beginning::read(&device, &opened.directory);
        // What the next round must not see.
        for path in beginning.files.keys().step_by(3) {
            std::fs::remove_file(opened.directory.join(path)).unwrap();
        }
        std::fs::write(opened.directory.join("work"), vec![7; 8 << 20]).unwrap();
        lane_set.close(0, &mut journal).unwrap();
        beginnings.push((ground, beginning));
    }
    lane_set.teardown(&mut journal).unwrap();
    journal.finish().unwrap();
    assert_eq!(kept_images::remove_all(&scratch.undo()).images, 1);
    scratch.assert_nothing_left();
    let (ground, first) = &beginnings[0];
    assert!(*ground != beginnings[1].0 && first.files.len() > 100, "{} files", first.files.len());
    for (_, other) in &beginnings[1..] {
        let brief = |of: &Beginning| (of.uuid, of.mounts, of.free_blocks_and_inodes, of.files.len());
        assert_eq!(brief(first), brief(other));
        assert!(first.files == other.files, "files lie elsewhere, or have other sizes");
    }
}
