//! Lives in real folders: what they leave, how they are gone on with, and what is measured of them.

use aging::state::State;
use aging::{EndedBy, Life, Lived, Profile, Until, live, measure};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SIZE: u64 = 24 << 20;
/// Nobody stops.
static GO_ON: AtomicBool = AtomicBool::new(false);

fn life(profile: &str, until: Until) -> Life {
    Life { profile: Profile::named(profile).unwrap(), seed: 5, capacity_bytes: SIZE, until, full: None }
}

fn lived(folder: &Path, life: &Life) -> Lived {
    live(File::open(folder).unwrap().as_fd(), life, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Names and sizes below a folder, but for what a life keeps of itself.
fn tree(folder: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap().flatten() {
            let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let of = entry.metadata().unwrap();
            match of.is_dir() {
                true => folders.push(entry.path()),
                false if name.starts_with(".fairlane") => continue,
                false => {}
            }
            found.insert(name, if of.is_dir() { u64::MAX } else { of.len() });
        }
    }
    found
}

/// Fractions may lose their last digit in JSON.
fn without_time(of: Lived) -> Lived {
    Lived { seconds: 0.0, overwrites: 0.0, ..of }
}

#[test]
fn two_folders_live_the_same_life_of_every_profile() {
    for name in aging::profile::names() {
        let (a, b) = (tempfile::tempdir_in("/var/tmp").unwrap(), tempfile::tempdir_in("/var/tmp").unwrap());
        let life = life(name, Until::Overwrites(1.5));
        let (first, second) = (lived(a.path(), &life), lived(b.path(), &life));
        assert_eq!(first.ended_by, Some(EndedBy::Overwrites));
        assert_eq!(
            (first.operations, first.bytes_written, first.cycles),
            (second.operations, second.bytes_written, second.cycles)
        );
        assert!(first.cycles > 1 && first.overwrites >= 1.5, "{name}: {first:?}");
        assert_eq!((first.refused_for_space, first.skipped_for_space), (0, 0));
        let tree_a = tree(a.path());
        assert!(tree_a.len() > 10 && tree_a == tree(b.path()), "{name}");
        let bytes: u64 = tree_a.values().filter(|bytes| **bytes != u64::MAX).sum();
        assert_eq!(bytes, first.bytes);
        let measures = measure(File::open(a.path()).unwrap().as_fd(), &life, &GO_ON);
        assert_eq!((measures.files, measures.bytes, measures.differing_files), (first.files, bytes, Some(0)), "{name}");
        let used = (first.used_share * life.capacity_bytes as f64).round() as u64;
        assert_eq!(measures.used_bytes, used, "{name}");
    }
}

#[test]
fn what_is_written_is_neither_zero_nor_the_same_twice() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    lived(place.path(), &life("churn", Until::Overwrites(1.0)));
    let mut blocks = std::collections::HashSet::new();
    for name in tree(place.path()).into_iter().filter(|(_, bytes)| *bytes != u64::MAX).map(|(name, _)| name) {
        for block in std::fs::read(place.path().join(name)).unwrap().chunks_exact(4096) {
            assert!(blocks.insert(block.to_vec()), "a block comes twice");
            assert!(block.iter().filter(|byte| **byte == 0).count() < 64);
        }
    }
    assert!(blocks.len() > 1000, "{}", blocks.len());
}

#[test]
fn a_life_that_is_stopped_again_and_again_ends_as_one_that_was_not() {
    let (whole, stopped) = (tempfile::tempdir_in("/var/tmp").unwrap(), tempfile::tempdir_in("/var/tmp").unwrap());
    let life = Life { full: Some(0.6), ..life("churn", Until::Overwrites(2.0)) };
    let reference = lived(whole.path(), &life);
    let folder = File::open(stopped.path()).unwrap();
    let mut parts = 0;
    let last = loop {
        let mut looks = 0;
        let part = live(folder.as_fd(), &life, &mut |_| {
            looks += 1;
            if looks > 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let part = part.unwrap();
        parts += 1;
        if part.ended_by != Some(EndedBy::Interrupted) {
            break part;
        }
        assert!(parts < 1000);
    };
    assert!(parts > 3, "{parts}");
    assert_eq!(tree(stopped.path()), tree(whole.path()));
    assert_eq!(
        (last.operations, last.bytes, last.ended_by),
        (reference.operations, reference.bytes, reference.ended_by)
    );
    assert_eq!(last.repaired, 0, "each part ended in order");
    // It is over: nothing is done again.
    assert_eq!(without_time(lived(stopped.path(), &life)), without_time(last.clone()));
    let on = Life { until: Until::Overwrites(3.0), ..life.clone() };
    let said = live(folder.as_fd(), &on, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(said.contains("last filling"), "{said}");
    let other = Life { seed: 6, ..life };
    let said = live(folder.as_fd(), &other, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(said.contains("another life"), "{said}");
}

#[test]
fn what_a_kill_left_is_repaired_and_what_is_not_its_own_is_not_touched() {
    let (whole, killed) = (tempfile::tempdir_in("/var/tmp").unwrap(), tempfile::tempdir_in("/var/tmp").unwrap());
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::write(outside.path().join("mine"), "kept").unwrap();
    let shorter = life("git", Until::Overwrites(1.0));
    let longer = life("git", Until::Overwrites(2.0));
    lived(whole.path(), &longer);
    lived(killed.path(), &shorter);
    // As a cycle that was cut short leaves it: files too many, missing, of another size, and a folder too many.
    let files: Vec<String> =
        tree(killed.path()).into_iter().filter(|(_, of)| *of != u64::MAX).map(|(name, _)| name).collect();
    std::fs::remove_file(killed.path().join(&files[0])).unwrap();
    std::fs::write(killed.path().join(&files[1]), "short").unwrap();
    std::fs::remove_file(killed.path().join(&files[2])).unwrap();
    std::os::unix::fs::symlink(outside.path().join("mine"), killed.path().join(&files[2])).unwrap();
    std::fs::create_dir_all(killed.path().join("f0000/deep")).unwrap();
    std::os::unix::fs::symlink(outside.path(), killed.path().join("f0000/deep/link")).unwrap();
    std::fs::write(killed.path().join("f0000/more"), "x").unwrap();
    let measures = measure(File::open(killed.path()).unwrap().as_fd(), &shorter, &GO_ON);
    assert_eq!(measures.differing_files, Some(4), "two missing, one short, one too many: {measures:?}");
    let last = lived(killed.path(), &longer);
    assert!(last.repaired >= 4 && last.resumed == 1, "{last:?}");
    assert_eq!(tree(killed.path()), tree(whole.path()));
    assert_eq!(std::fs::read_to_string(outside.path().join("mine")).unwrap(), "kept");
}

#[test]
fn only_a_filling_is_a_life_of_no_overwrites() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let life = Life { full: Some(0.7), ..life("churn", Until::Overwrites(0.0)) };
    let done = lived(place.path(), &life);
    assert!((done.used_share - 0.7).abs() < 0.01 && done.cycles == 1, "{done:?}");
    assert!((done.overwrites - 0.7).abs() < 0.05, "{done:?}");
    let measures = measure(File::open(place.path()).unwrap().as_fd(), &life, &GO_ON);
    assert_eq!(measures.differing_files, Some(0));
}

#[test]
fn the_tree_is_that_of_its_profile_and_another_ones_is_not() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut life = Life { capacity_bytes: 64 << 20, ..life("churn", Until::Overwrites(3.0)) };
    life.profile.groups[0].sizes.most = Some(model::Bytes(256 << 10));
    let done = lived(place.path(), &life);
    let measures = measure(File::open(place.path()).unwrap().as_fd(), &life, &GO_ON);
    let (sizes, ages) = (measures.sizes.unwrap(), measures.ages.unwrap());
    assert!(done.files > 500 && sizes.misplaced_share < 0.1 && sizes.degrees > 5, "{done:?} {sizes:?}");
    assert!(ages.misplaced_share < 0.15 && ages.degrees > 3, "{ages:?}");
    // A state that tells of other sizes.
    let folder = File::open(place.path()).unwrap();
    let mut state = State::read(&folder).unwrap().unwrap();
    let mut other = life.clone();
    other.profile.groups[0].sizes.median = Some(model::Bytes(64 << 10));
    (state.key, state.profile) = (other.endless_key(), other.profile.clone());
    state.write(folder.as_fd()).unwrap();
    let measures = measure(folder.as_fd(), &other, &GO_ON);
    assert!(measures.sizes.unwrap().probability < 1e-6, "{measures:?}");
}

#[test]
fn a_state_that_is_none_is_refused() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let folder = File::open(place.path()).unwrap();
    for text in ["", "{}", "{\"version\":99}", "null"] {
        std::fs::write(place.path().join(".fairlane-age.json"), text).unwrap();
        let said = live(folder.as_fd(), &life("churn", Until::Settled), &mut |_| ControlFlow::Continue(()));
        let said = said.unwrap_err().to_string();
        assert!(said.contains("is no state of a life; remove"), "{said}");
    }
}

#[test]
fn a_folder_with_something_in_it_is_not_taken() {
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::create_dir(place.path().join("lost+found")).unwrap();
    let folder = File::open(place.path()).unwrap();
    let shorter = life("churn", Until::Operations(100));
    lived(place.path(), &shorter);
    assert_eq!(lived(place.path(), &life("churn", Until::Operations(150))).operations, 150);
    assert!(place.path().join("lost+found").is_dir(), "it is the filesystem's own");
    std::fs::remove_file(place.path().join(".fairlane-age.json")).unwrap();
    let said = live(folder.as_fd(), &shorter, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(said.contains("name an empty one"), "{said}");
}

#[test]
fn a_fresh_copy_holds_the_same_files_and_goes() {
    use aging::measures::{Fresh, copy_fresh, has_fresh, read_beside_fresh, read_copied, remove_fresh};
    use std::sync::atomic::Ordering;
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let life = life("churn", Until::Overwrites(1.0));
    let done = lived(place.path(), &life);
    let folder = File::open(place.path()).unwrap();
    let go_on = AtomicBool::new(false);
    let Some(fresh) = copy_fresh(folder.as_fd(), &go_on).unwrap() else {
        panic!("/var/tmp has no room for a copy");
    };
    assert_eq!((fresh.names.len() as u64, fresh.bytes), (done.files, done.bytes));
    let mut asked = 0;
    let mut is_asked = || {
        asked += 1;
        false
    };
    let beside = read_beside_fresh(folder.as_fd(), &fresh, done.files, &mut is_asked, &go_on).unwrap();
    assert_eq!((beside.aged.bytes, beside.fresh.bytes, asked), (done.bytes, done.bytes, 2));
    assert_eq!((beside.aged.files, beside.share_of_files), (done.files, 1.0));
    // What is measured beside a copy is the aged tree alone.
    assert_eq!(measure(folder.as_fd(), &life, &GO_ON).files, done.files);
    // Of a part of it no other folder is listed.
    let [folder_of_some, ..] = &fresh.folders.iter().filter(|name| name.as_c_str() != c"tree").collect::<Vec<_>>()[..]
    else {
        panic!("a life has folders")
    };
    let some = Fresh { folders: [(*folder_of_some).clone()].into(), ..fresh.clone() };
    let part = read_copied(folder.as_fd(), &some, &mut || false, &go_on).unwrap();
    assert!(part.files > 0 && part.files < done.files, "{part:?}");
    go_on.store(true, Ordering::Relaxed);
    assert_eq!(read_copied(folder.as_fd(), &fresh, &mut || false, &go_on).unwrap().files, 0);
    assert_eq!(measure(folder.as_fd(), &life, &go_on).files, 0);
    remove_fresh(folder.as_fd()).unwrap();
    assert!(!has_fresh(folder.as_fd()) && measure(folder.as_fd(), &life, &GO_ON).differing_files == Some(0));
}
