//! What a longer interval between commits costs: known of every number of seconds, whether a table has it or not.

use super::dialect::Dialect;
use model::screening::OptionLevel;

/// The option of mount in all of them.
const COMMIT: &str = "commit=";

/// A filesystem, the seconds that it takes by itself, and where 0 is said (ext4(5) and btrfs(5), `commit`), and what a crash takes
/// of them.
const INTERVALS: [(&str, u64, Lost); 3] =
    [("ext3", 5, Lost::Metadata), ("ext4", 5, Lost::Metadata), ("btrfs", 30, Lost::Everything)];

/// What was not made durable when the interval ends.
#[derive(Clone, Copy)]
enum Lost {
    /// Data is written back at the kernel's own pace.
    Metadata,
    Everything,
}

/// What the other level costs beside the usual one, empty where it commits no later; `None`: they are no such levels.
pub(super) fn costs(dialect: &Dialect, usual: &OptionLevel, other: &OptionLevel) -> Option<String> {
    // What a file of the user's own calls itself says nothing of it.
    dialect.takes?;
    let (_, by_itself, lost) = INTERVALS.into_iter().find(|(name, ..)| *name == dialect.name)?;
    let before = if super::says_nothing(usual) { by_itself } else { seconds(usual, by_itself)? };
    let seconds = seconds(other, by_itself)?;
    Some(match lost {
        _ if seconds <= before => String::new(),
        Lost::Metadata => format!(
            "a crash takes up to {seconds} s of metadata that nobody synced, instead of {before}; data waits to be written \
             back either way"
        ),
        Lost::Everything => format!("a crash takes up to {seconds} s of what nobody synced, instead of {before}"),
    })
}

/// The interval that a level says and nothing else.
fn seconds(level: &OptionLevel, by_itself: u64) -> Option<u64> {
    let [option] = level.mount.as_slice() else { return None };
    let told = option.strip_prefix(COMMIT)?.parse().ok()?;
    let is_alone = level.mkfs.is_empty() && level.queue.is_empty() && level.vm.is_empty();
    is_alone.then_some(if told == 0 { by_itself } else { told })
}

#[cfg(test)]
mod tests {
    use super::super::{factor, options_of, parse_option};
    use super::*;

    #[test]
    fn an_interval_costs_what_the_tables_say_of_theirs() {
        for name in ["ext4", "btrfs"] {
            let known = factor(options_of(name).iter().find(|option| option.name == "commit").unwrap());
            let dialect = Dialect::from(crate::filesystems::find(name).unwrap());
            assert_eq!(costs(&dialect, &known.usual, &known.other), Some(known.costs), "{name}");
        }
    }

    #[test]
    fn a_longer_interval_costs_what_a_crash_takes_and_a_shorter_one_nothing() {
        let costs = |lane: &str, text: &str| parse_option(&lane.parse().unwrap(), text).unwrap().costs;
        for (lane, text, says) in [
            ("ext4", "commit=5|45", "up to 45 s of metadata that nobody synced, instead of 5; data waits"),
            ("ext4", "commit=5|60", "up to 60 s of metadata that nobody synced, instead of 5; data waits"),
            ("ext4", "commit=30|60", "up to 60 s of metadata that nobody synced, instead of 30; data waits"),
            ("ext4", "commit=0|45|90", "up to 45 s of metadata that nobody synced, instead of 5; data waits"),
            ("ext3", "commit=5|45", "up to 45 s of metadata that nobody synced, instead of 5; data waits"),
            ("btrfs", "commit=90", "up to 90 s of what nobody synced, instead of 30"),
            ("btrfs", "commit=60|600", "up to 600 s of what nobody synced, instead of 60"),
        ] {
            let said = costs(lane, text);
            assert!(said.starts_with("a crash takes ") && said.contains(says), "{lane} {text}: {said}");
        }
        for (lane, text) in [
            ("ext4", "commit=5|1"),
            ("ext4", "commit=60|30"),
            ("ext4", "commit=default|1"),
            ("ext4", "commit=5|0|60"),
            ("btrfs", "commit=300|0"),
            // Nobody knows, or it costs nothing.
            ("ext4", "commit=5|soon"),
            ("xfs", "logbsize=32k|48k"),
            ("nilfs2", "commit=5|60"),
        ] {
            assert_eq!(costs(lane, text), "", "{lane} {text}");
        }
    }
}
