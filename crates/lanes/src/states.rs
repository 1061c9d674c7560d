//! States that a race gives all of its lanes: a disk that is gone, or one that is rebuilt beside the work.

use crate::failure::{LaneFailure, usage};
use crate::{filesystems, layers};
use model::lane::{Contestant, LaneSpec};
use model::stack::{DEGRADED, LayerSpec, REBUILDING};

/// What becomes of the last disk of every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is taken out before the work.
    Degraded,
    /// It is rebuilt again and again beside the work.
    Rebuilding,
}

impl State {
    /// As lanes say it.
    pub fn word(self) -> &'static str {
        match self {
            State::Degraded => DEGRADED,
            State::Rebuilding => REBUILDING,
        }
    }

    /// A lane in this state, as if it had been typed: the topmost array of it is told so, or its filesystem where that has
    /// several disks of its own. One that is told so already stays as it is.
    ///
    /// # Errors
    /// [`LaneFailure::Usage`] where no disk of the lane can be taken out, or it says the other state itself.
    pub fn of_lane(self, lane: &LaneSpec) -> Result<LaneSpec, LaneFailure> {
        self.put(lane).map_err(|error| error.in_lane(&lane.name))
    }

    fn put(self, lane: &LaneSpec) -> Result<LaneSpec, LaneFailure> {
        let word = self.word();
        let other = if self == State::Degraded { REBUILDING } else { DEGRADED };
        let said = |word: &str| {
            let mut words = lane.mount_options.iter().chain(lane.layers.iter().flat_map(|layer| &layer.options));
            words.any(|said| said == word)
        };
        if said(word) {
            return Ok(lane.clone());
        }
        if said(other) {
            return Err(usage(format!("it is told `{other}`, and --state {word} another thing; remove one of them")));
        }
        let takes = |layer: &LayerSpec| {
            layers::find(&layer.name).is_some_and(|row| row.options.iter().any(|option| option.key == word))
        };
        let told = match lane.layers.iter().position(takes) {
            Some(array) => lane.told(|lane| lane.layers[array].options.push(word.to_owned())),
            None if lane.layers.is_empty() && self.is_of_filesystem(lane) => {
                lane.told(|lane| lane.mount_options.push(word.to_owned()))
            }
            None => {
                return Err(usage(format!(
                    "--state {word} takes a disk out, and it has none that others stand for; race it on an array, such as \
                     ext4/raid1:2, or Btrfs on several disks, or leave --state out"
                )));
            }
        };
        told.map_err(|error| usage(error.to_string()))
    }

    fn is_of_filesystem(self, lane: &LaneSpec) -> bool {
        let Contestant::Filesystem(name) = &lane.contestant else { return false };
        let Some(row) = filesystems::find(name).filter(|_| lane.devices > 1) else { return false };
        match self {
            // Where the others hold no copy it would not mount, or lose what lies on the last one.
            State::Degraded => {
                let copies = row.replace.as_ref().is_none_or(|replace| (replace.has_copies)(&lane.mkfs_options));
                row.degraded_option.is_some() && copies
            }
            State::Rebuilding => row.replace.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_to_the_topmost_array_or_to_the_filesystem_once() {
        for (state, typed, line) in [
            (State::Degraded, "ext4/raid5:3", "ext4/raid5:3,degraded"),
            (State::Rebuilding, "a=ext4/crypt/raid1:2/raid5:3", "a=ext4/crypt/raid1:2,rebuilding/raid5:3"),
            (State::Degraded, "ext4/raid0:2/raid1:2", "ext4/raid0:2/raid1:2,degraded"),
            (State::Degraded, "ext4/raid1:2/raid5:3,degraded", "ext4/raid1:2/raid5:3,degraded"),
            (State::Degraded, "btrfs:2(-d raid1 -m raid1)", "btrfs:2(-d raid1 -m raid1),degraded"),
            (State::Rebuilding, "btrfs:2(-d raid1 -m raid1)", "btrfs:2(-d raid1 -m raid1),rebuilding"),
            (State::Rebuilding, "btrfs:2(-d raid1),rebuilding", "btrfs:2(-d raid1),rebuilding"),
            (State::Degraded, "btrfs:2/raid1:2", "btrfs:2/raid1:2,degraded"),
        ] {
            let told = state.of_lane(&typed.parse().unwrap()).map(|lane| lane.to_line());
            assert_eq!(told, Ok(line.to_owned()), "{typed}");
        }
        for (state, typed, words) in [
            (State::Degraded, "ext4", "lane ext4: --state degraded takes a disk out"),
            (State::Rebuilding, "ext4/raid0:2", "such as ext4/raid1:2"),
            (State::Degraded, "btrfs", "has none"),
            (State::Degraded, "btrfs:2/crypt", "has none"),
            (State::Degraded, "/mnt/a", "has none"),
            (State::Degraded, "ext4/raid1:2,rebuilding", "it is told `rebuilding`"),
        ] {
            let said = state.of_lane(&typed.parse().unwrap()).unwrap_err().to_string();
            assert!(said.contains(words), "{typed}: {said}");
        }
    }
}
