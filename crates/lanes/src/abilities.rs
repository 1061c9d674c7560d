//! What filesystems lack of what steps of file operations may ask. What is said here is refused before
//! anything is written; what depends on the kernel, or on how a directory's filesystem was made, shows
//! when the steps are rehearsed on the mounted lane.

use crate::above;
use crate::contestant::Contestant;
use crate::filesystems;
use crate::lane_set::{LaneSet, LaneState};
use crate::venues::Venue;
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
pub(crate) fn always(abilities: &[Ability]) -> Vec<Lack> {
    abilities.iter().map(|&ability| Lack { ability, remedy: None }).collect()
}

/// Whether an option that takes a list, such as `-O` or `-m`, leaves a feature on; the last word
/// counts. `off`: a word of the list that switches it off, `on`: one that switches it on.
pub(crate) fn listed(mkfs: &[String], flag: &str, off: &[&str], on: &[&str], usual: bool) -> bool {
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

/// btrfs, bcachefs, and pools whose filesystems a directory carries.
pub(crate) fn nothing(_: &[String], _: &[String]) -> Vec<Lack> {
    Vec::new()
}

/// Files that share no blocks: tmpfs, f2fs.
pub(crate) fn reflink(_: &[String], _: &[String]) -> Vec<Lack> {
    always(&[Ability::Reflink])
}

/// What a lane is known to lack by its specification; of a directory by the filesystem that holds it.
pub(crate) fn lacks(lane: &LaneState, ground: Option<&dyn Venue>) -> Vec<Lack> {
    let mut lacks = below(lane, ground);
    if let Some(Ok((above, options))) = lane.spec.above.as_ref().map(above::read) {
        for ability in (above.lacks)(&options) {
            if !lacks.iter().any(|lack| lack.ability == *ability) {
                lacks.extend(always(&[*ability]));
            }
        }
    }
    lacks
}

/// Whether files of a lane have no holes.
pub(crate) fn lacks_holes(lane: &LaneState, ground: Option<&dyn Venue>) -> bool {
    lacks(lane, ground).iter().any(|lack| lack.ability == Ability::Holes)
}

/// What its filesystem lacks, whatever lies above it.
pub(crate) fn below(lane: &LaneState, ground: Option<&dyn Venue>) -> Vec<Lack> {
    match (&lane.contestant, ground) {
        (Contestant::Row(row), _) => (row.lacks)(&lane.spec.mkfs_options, &lane.mount_options),
        (Contestant::Custom(custom), _) => custom
            .row()
            .and_then(|row| row.fuse)
            .map_or_else(Vec::new, |fuse| (fuse.lacks)(&lane.spec.mkfs_options, &lane.mount_options)),
        // What its mkfs was told is not known: the defaults.
        (Contestant::Directory(_), ground) => {
            let Some(host) = ground.and_then(Venue::existing_filesystem) else { return Vec::new() };
            filesystems::find(&host.filesystem).map_or_else(Vec::new, |row| (row.lacks)(&[], &host.mount_options))
        }
    }
}

impl LaneSet {
    /// What a lane is known to lack before it is made. A filesystem of the user's own is known by trying
    /// alone.
    pub fn lacks(&self, lane: usize) -> Vec<Lack> {
        let state = &self.lanes[lane];
        lacks(state, state.fixed_ground.map(|ground| &*self.stores[ground]))
    }
}
