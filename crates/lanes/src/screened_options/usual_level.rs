//! Whether the first level of an option, which the default of a screening has, is the one that Fairlane's table calls usual.

use super::dialect::Dialect;
use super::{Level, ScreenedOption, UNSAID, says_nothing};
use model::screening::OptionLevel;

/// What the table calls the usual level of what a first level sets, where that is another one; empty: it is that one, or no table
/// tells it.
pub(super) fn of_table(dialect: &Dialect, first: &OptionLevel) -> String {
    if says_nothing(first) {
        return String::new();
    }
    let is_told = |option: &&ScreenedOption| option.usual.label != UNSAID && is_another(option, first);
    dialect.table.iter().find(is_told).map_or_else(String::new, |option| option.usual.label.to_owned())
}

/// Whether a level is one of the others of an option, or another number of what they set.
fn is_another(option: &ScreenedOption, level: &OptionLevel) -> bool {
    let says_the_same = |other: &Level| {
        let other = other.owned();
        (&other.mkfs, &other.mount, &other.queue, &other.vm) == (&level.mkfs, &level.mount, &level.queue, &level.vm)
    };
    option.others.iter().any(says_the_same) || is_another_number(option, level)
}

/// Of `commit=45`, where the table has seconds too. What 0 stands for nobody knows here.
fn is_another_number(option: &ScreenedOption, level: &OptionLevel) -> bool {
    let Some(other) = option.others.first().map(Level::owned) else { return false };
    let (Some((key, value)), Some((of_table, _))) = (setting(level), setting(&other)) else { return false };
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let both = number(value).zip(number(option.usual.label));
    key == of_table && both.is_some_and(|(value, usual)| value != usual)
}

/// The option of mount that a level sets and nothing else, with its value.
fn setting(level: &OptionLevel) -> Option<(&str, &str)> {
    let [word] = level.mount.as_slice() else { return None };
    let is_alone = level.mkfs.is_empty() && level.queue.is_empty() && level.vm.is_empty();
    word.split_once('=').filter(|_| is_alone)
}

#[cfg(test)]
mod tests {
    use super::super::{as_known, factor, options_of, parse_option};
    use model::lane::LaneSpec;
    use model::screening::Factor;

    #[test]
    fn a_first_level_that_is_not_the_usual_one_is_known_by_the_table() {
        for (lane, text, usual) in [
            ("btrfs", "notreelog|treelog", "on"),
            ("ext4", "commit=30|5", "5"),
            ("ext4", "commit=45|5", "5"),
            ("ext4", "nodelalloc|delalloc", "on"),
            ("ext4", "noatime=on|off", "off"),
            ("xfs", "-m reflink=0|1", "on"),
            ("ext4", "-b 1024|4096", "4K"),
            // These are usual, or nobody knows.
            ("btrfs", "treelog|notreelog", ""),
            ("ext4", "commit=5|45", ""),
            ("ext4", "commit=0|45", ""),
            ("ext4", "commit=5|30", ""),
            ("xfs", "-m reflink=1|0", ""),
            ("ext4", "read_ahead=16K|1M", ""),
            ("ext4", "vm.dirty_ratio=20|5", ""),
            ("ext4", "nombcache", ""),
            ("nilfs2", "order=relaxed|strict", ""),
        ] {
            let base: LaneSpec = lane.parse().unwrap();
            let typed = parse_option(&base, text).unwrap();
            assert_eq!(typed.table_usual, usual, "{lane} {text}");
            // Whatever a record says of it.
            let claimed = Factor { table_usual: "7".to_owned(), ..typed.clone() };
            assert_eq!(as_known(Some(&base), &claimed).table_usual, usual, "{lane} {text}");
        }
        for filesystem in ["ext4", "xfs", "btrfs", "f2fs"] {
            assert!(options_of(filesystem).iter().all(|option| factor(option).table_usual.is_empty()), "{filesystem}");
        }
    }
}
