//! What filesystems lack of what steps of file operations may ask. What is said here is refused before
//! anything is written; what depends on the kernel, or on how a directory's filesystem was made, shows
//! when the steps are rehearsed on the mounted lane.

use crate::backing_store::BackingStore;
use crate::contestant::Contestant;
use crate::filesystem;
use crate::lane_set::{LaneSet, LaneState};
use model::operations::Ability;

/// What a filesystem lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lack {
    /// What it is.
    pub ability: Ability,
    /// What gives the lane it, where its options took it away: `remove -mreflink=0`.
    pub remedy: Option<&'static str>,
}

/// Lacks that no option of the lane changes.
fn always(abilities: &[Ability]) -> Vec<Lack> {
    abilities.iter().map(|&ability| Lack { ability, remedy: None }).collect()
}

/// Whether an option that takes a list, such as `-O` or `-m`, leaves a feature on; the last word
/// counts. `off`: a word of the list that switches it off, `on`: one that switches it on.
fn listed(mkfs: &[String], flag: &str, off: &[&str], on: &[&str], usual: bool) -> bool {
    let mut is_on = usual;
    let mut arguments = mkfs.iter();
    while let Some(argument) = arguments.next() {
        let list = match argument.strip_prefix(flag) {
            Some("") => arguments.next().map_or("", String::as_str),
            Some(list) => list,
            None => continue,
        };
        for word in list.split(',') {
            is_on = (is_on || on.contains(&word)) && !off.contains(&word);
        }
    }
    is_on
}

/// ext2 and ext3 map blocks one by one, and only extents are allocated ahead (ext4_fallocate).
fn ext(mkfs: &[String], mount: &[String], extents: bool) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink]);
    if !listed(mkfs, "-O", &["^extent", "^extents", "none"], &["extent", "extents"], extents) {
        let remedy = extents.then_some("leave extents on");
        lacks.push(Lack { ability: Ability::Allocation, remedy });
    }
    if mount.iter().any(|option| option == "nouser_xattr") {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("remove nouser_xattr") });
    }
    lacks
}

/// The driver of ext2 knows no fallocate, whatever mkfs made.
pub(crate) fn ext2(_: &[String], mount: &[String]) -> Vec<Lack> {
    ext(&[], mount, false)
}

pub(crate) fn ext3(mkfs: &[String], mount: &[String]) -> Vec<Lack> {
    ext(mkfs, mount, false)
}

pub(crate) fn ext4(mkfs: &[String], mount: &[String]) -> Vec<Lack> {
    ext(mkfs, mount, true)
}

/// Blocks are shared with the reverse mapping of mkfs.xfs's default; `crc=0` takes it away too.
pub(crate) fn xfs(mkfs: &[String], _: &[String]) -> Vec<Lack> {
    let reflink = listed(mkfs, "-m", &["reflink=0"], &["reflink=1", "reflink"], true);
    let crc = listed(mkfs, "-m", &["crc=0"], &["crc=1", "crc"], true);
    match (reflink, crc) {
        (true, true) => Vec::new(),
        (false, _) => vec![Lack { ability: Ability::Reflink, remedy: Some("remove reflink=0 from its mkfs options") }],
        (true, false) => vec![Lack { ability: Ability::Reflink, remedy: Some("remove crc=0 from its mkfs options") }],
    }
}

/// btrfs, bcachefs, and pools whose filesystems a directory carries.
pub(crate) fn nothing(_: &[String], _: &[String]) -> Vec<Lack> {
    Vec::new()
}

/// Files that share no blocks: tmpfs, f2fs.
pub(crate) fn reflink(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[Ability::Reflink])
}

pub(crate) fn nilfs2(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[Ability::Reflink, Ability::Attributes, Ability::Allocation])
}

/// Its driver shares no blocks and allocates none ahead.
pub(crate) fn jfs(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[Ability::Reflink, Ability::Allocation])
}

pub(crate) fn reiserfs(_: &[String], mount: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::Allocation]);
    if mount.iter().any(|option| option == "nouser_xattr") {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("remove nouser_xattr") });
    }
    lacks
}

/// The kernel's ntfs3. Names are UTF-16; attributes of users are no namespace that it refuses.
pub(crate) fn ntfs(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[Ability::Reflink, Ability::AnyNames])
}

/// The program: its FUSE interface has no fallocate, and without its option `permissions` it takes a change of
/// the owner and forgets it. The kernel lays no overlay on a filesystem whose names may change behind its back.
pub(crate) fn ntfs_3g(_: &[String], mount: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::Allocation, Ability::Overlays]);
    if !mount.iter().any(|option| option == "permissions") {
        lacks.push(Lack { ability: Ability::Owners, remedy: Some("add the mount option permissions") });
    }
    lacks
}

/// Names are UTF-16 without control characters, a file is an entry of one directory, and every cluster
/// up to a file's end is allocated.
pub(crate) fn exfat(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[
        Ability::Reflink,
        Ability::Attributes,
        Ability::Links,
        Ability::SymbolicLinks,
        Ability::Holes,
        Ability::AnyNames,
        Ability::Owners,
        Ability::Overlays,
    ])
}

/// The library never sets the feature `large_file`, so that e2fsck finds its larger files wrong; its
/// calls by path, which work without the journal, know no attributes.
pub(crate) fn rsext4(_: &[String], options: &[String]) -> Vec<Lack> {
    let mut lacks = always(&[Ability::Reflink, Ability::LargeFiles]);
    let journal = options.iter().rev().find_map(|option| match option.as_str() {
        "journal" => Some(true),
        "nojournal" => Some(false),
        _ => None,
    });
    if journal != Some(true) {
        lacks.push(Lack { ability: Ability::Attributes, remedy: Some("race rsext4,journal, which has them") });
    }
    lacks
}

/// What a lane is known to lack by its specification; of a directory by the filesystem that holds it.
pub(crate) fn of(lane: &LaneState, ground: Option<&BackingStore>) -> Vec<Lack> {
    match (&lane.contestant, ground) {
        (Contestant::Row(row), _) => (row.lacks)(&lane.spec.mkfs_options, &lane.mount_options),
        (Contestant::Custom(custom), _) => custom
            .row()
            .and_then(|row| row.fuse)
            .map_or_else(Vec::new, |fuse| (fuse.lacks)(&lane.spec.mkfs_options, &lane.mount_options)),
        // What its mkfs was told is not known: the defaults.
        (Contestant::Directory(_), Some(BackingStore::Directory { host, .. })) => {
            filesystem::find(&host.filesystem).map_or_else(Vec::new, |row| (row.lacks)(&[], &host.mount_options))
        }
        _ => Vec::new(),
    }
}

impl LaneSet {
    /// What a lane is known to lack before it is made. A filesystem of the user's own is known by trying
    /// alone.
    pub fn lacks(&self, lane: usize) -> Vec<Lack> {
        let state = &self.lanes[lane];
        of(state, state.fixed_ground.map(|ground| &self.stores[ground]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn abilities(lacks: &[Lack]) -> Vec<Ability> {
        lacks.iter().map(|lack| lack.ability).collect()
    }

    #[test]
    fn options_of_mkfs_take_abilities_away_and_give_them_back() {
        for (mkfs, has) in [
            ("", true),
            ("-mreflink=0", false),
            ("-m reflink=0", false),
            ("-m crc=1,reflink=0", false),
            ("-m crc=0", false),
            ("-m reflink=0 -m reflink=1", true),
            ("-i size=512", true),
        ] {
            assert_eq!(xfs(&words(mkfs), &[]).is_empty(), has, "{mkfs}");
        }
        assert_eq!(xfs(&words("-m reflink=0"), &[])[0].remedy, Some("remove reflink=0 from its mkfs options"));
        for (mkfs, has) in [("", true), ("-O ^extent", false), ("-O^extents,^has_journal", false)] {
            assert_eq!(!abilities(&ext4(&words(mkfs), &[])).contains(&Ability::Allocation), has, "{mkfs}");
        }
        assert!(!abilities(&ext3(&words("-O extent"), &[])).contains(&Ability::Allocation));
        assert!(abilities(&ext2(&words("-O extent"), &[])).contains(&Ability::Allocation));
        assert!(abilities(&ext4(&[], &words("nouser_xattr"))).contains(&Ability::Attributes));
    }

    #[test]
    fn the_library_keeps_attributes_with_its_journal_alone() {
        for (options, has) in
            [("", false), ("journal", true), ("journal nojournal", false), ("nojournal journal", true)]
        {
            assert_eq!(!abilities(&rsext4(&[], &words(options))).contains(&Ability::Attributes), has, "{options}");
        }
    }
}
